//! (4) Subgroup: those whom the rules treat differently, against their like in the other arm.
//!
//! After the idea of Boehmer et al. (2024). R is the outcome from the week of divergence V on. Given where the lists ended (the first not
//! called), the people of both arms with equal V are alike but for what was done to them from V on, so
//! Δ = Σ_g n_g(R̄_g − R̄′_g) over strata g of V, se² = Σ_g n_g²(s²/n_g + s′²/n′_g). Neighbouring weeks are one stratum until each
//! arm has 10 people in it. Against another policy it is refused: in 2,000 simulated trials its interval covered 91 %.

use super::complete::completed;
use super::cut::Edge;
use super::difference::moments;
use super::divergence::{Divergence, divergence};
use super::effect::Effect;
use super::record::{Group, Record};
use super::refusal::Refusal;
use ndarray::Array2;

/// The fewest people of each arm whom the rules would treat differently, in all and in a stratum.
pub(super) const LEAST: usize = 10;

/// People of both arms with a like divergence: outcomes from V on of the policy arm, and of the control arm.
type Stratum = [Vec<f64>; 2];

/// Those whom the rules treat differently, by strata of when.
pub fn subgroup(record: &Record) -> Result<Effect, Refusal> {
    if matches!(&record.parts().rules, Ok(rules) if rules.control.is_some()) {
        return Err(Refusal::AnotherPolicy);
    }
    let parted = divergence(record, Edge::FirstNotCalled)?;
    parted.check(record, LEAST)?;
    let outcome = completed(record, |i, t| parted.week[i] <= t)?;
    let found = strata(record, &parted, &outcome).unwrap_or_default();
    let (mut estimate, mut variance) = (0.0, 0.0);
    for [ours, theirs] in &found {
        let (n, m) = (ours.len() as f64, theirs.len() as f64);
        let [(mean, spread), (other, others)] = [moments(ours), moments(theirs)];
        estimate += n * (mean - other);
        variance += n * n * (spread / n + others / m);
    }
    Ok(Effect::new(record, estimate, variance.sqrt()))
}

/// The outcome of a person from her week of divergence on.
pub(super) fn since(parted: &Divergence, outcome: &Array2<f64>, i: usize) -> f64 {
    outcome.row(i).iter().skip(parted.week[i]).sum()
}

/// Strata of the weeks of divergence: none where people are too few for one; empty where there is nobody.
fn strata(record: &Record, parted: &Divergence, outcome: &Array2<f64>) -> Option<Vec<Stratum>> {
    let (mut done, mut open): (Vec<Stratum>, Stratum) = (Vec::new(), Stratum::default());
    for week in 0..record.weeks() {
        for i in (0..record.people()).filter(|&i| parted.week[i] == week) {
            let arm = usize::from(record.parts().group[i] == Group::Control);
            open[arm].push(since(parted, outcome, i));
        }
        if open[0].len().min(open[1].len()) >= LEAST {
            done.push(std::mem::take(&mut open));
        }
    }
    if open.iter().all(Vec::is_empty) {
        return Some(done);
    }
    // what is left over belongs to the last stratum
    let last = done.last_mut()?;
    for (arm, rest) in last.iter_mut().zip(open) {
        arm.extend(rest);
    }
    Some(done)
}
