//! (3) Exchange: the difference in means, averaged over all re-dealings that leave every list as it was.
//!
//! After the idea of Mate et al. (2023). Until her week of divergence V a person could as well have stood in the other arm: her path would
//! be the same, and so would every list. With other people dealt into the arms, but all calls so far as they were, the
//! difference in means of week t would have come out otherwise by nothing but chance; its average over those deals has the
//! same expectation and much less of that chance.
//!
//! **In closed form.** In week t those with V > t are dealt anew among those who had the same calls so far (without calls in the control
//! arm: among all of them). The average gives each of them the mean outcome of that class, of both arms together:
//!
//! ```text
//! x_it = outcome of i in week t        where V_i ≤ t
//! x_it = mean outcome of i's class     where V_i > t
//! ```
//!
//! and the estimate is the difference in means of X = Σ_t x_t, times n, with its standard error. Without calls in the control arm this
//! is Σ a − f Σ b with a = Σ_{t≥V} (outcome − mean of those with V > t) in the policy arm, b likewise in the control arm and f the
//! ratio of the arms' sizes. Cuts are those of the last called.
//!
//! **The standard error** knows that places are given. How many of an arm stand above a fixed cut is chance; how many its rule calls
//! is not: the cut moves with the arm's own people, and the other arm is read at the same cut. To first order the arm's people
//! count as if a call had brought nothing: those whom only their own rule calls are moved to the mean of their like in the other arm before the
//! variance is taken. Where calls bring nothing this changes nothing. Without it, with calls that bring something to
//! people who fare badly, intervals covered 90 % instead of 95.

use super::complete::completed;
use super::cut::Edge;
use super::difference::between_arms;
use super::divergence::{Divergence, divergence};
use super::effect::Effect;
use super::record::{Group, Record};
use super::refusal::Refusal;
use super::subgroup::LEAST;
use std::collections::BTreeMap;

/// The average over all exchanges of people between the arms.
pub fn exchange(record: &Record) -> Result<Effect, Refusal> {
    let parted = divergence(record, Edge::LastCalled)?;
    parted.check(record, LEAST)?;
    averaged(record, &parted)
}

/// The average, however few the people are.
fn averaged(record: &Record, parted: &Divergence) -> Result<Effect, Refusal> {
    let outcome = completed(record, |i, t| parted.week[i] <= t)?;
    let n = record.people();
    let (mut class, mut total) = (vec![0usize; n], vec![0.0; n]);
    for t in 0..record.weeks() {
        // classes of equal calls so far, numbered as they appear
        let mut numbers = BTreeMap::new();
        let mut sums: Vec<(f64, f64)> = Vec::new();
        let is_free = |i: usize| parted.week[i] > t;
        for i in (0..n).filter(|&i| is_free(i)) {
            let next = numbers.len();
            class[i] = *numbers.entry((class[i], record.parts().call[[i, t]])).or_insert(next);
            if class[i] == sums.len() {
                sums.push((0.0, 0.0));
            }
            let (sum, people) = &mut sums[class[i]];
            *sum += outcome[[i, t]];
            *people += 1.0;
        }
        for i in 0..n {
            total[i] += if is_free(i) { sums[class[i]].0 / sums[class[i]].1 } else { outcome[[i, t]] };
        }
    }
    let estimate = between_arms(record, &total).estimate;
    Ok(Effect::new(record, estimate, between_arms(record, &levelled(record, parted, total)).se))
}

/// The same numbers, with those whom only the rule of their own arm calls moved to the mean of their like in the other arm.
fn levelled(record: &Record, parted: &Divergence, mut total: Vec<f64>) -> Vec<f64> {
    for own in [Group::Policy, Group::Control] {
        let is_kind =
            |i: &usize| parted.week[*i] < record.weeks() && parted.is_by_policy[*i] == (own == Group::Policy);
        let all = 0..record.people();
        let (ours, theirs): (Vec<usize>, Vec<usize>) =
            all.filter(is_kind).partition(|&i| record.parts().group[i] == own);
        if ours.is_empty() || theirs.is_empty() {
            continue;
        }
        let mean = |people: &[usize]| people.iter().map(|&i| total[i]).sum::<f64>() / people.len() as f64;
        let gain = mean(&ours) - mean(&theirs);
        ours.iter().for_each(|&i| total[i] -= gain);
    }
    total
}

#[cfg(test)]
#[path = "redealings.rs"]
mod redealings;
