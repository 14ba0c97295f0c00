//! (4b) Subgroup, adjusted: what the called had, against what a regression on the uncalled expects of them.
//!
//! Among those of the control arm whom the rules treat differently, the outcome R from the week of divergence on is regressed on what was
//! known before it: a constant, the fitted model's expectation for a person who is not called, the covariates, and, with another policy as
//! control, which of the two rules calls. With e the residuals of the people of the policy arm (n of them) from that regression,
//!
//! ```text
//! Δ = Σ e          se² = n·s²(e) + Σ_j (x_jᵀw)² e_j²/(1 − leverage_j),   w = (X′ᵀX′)⁻¹ Σ x
//! ```
//!
//! with j over the control arm. The fit is asked for at least 10 people and 5 more for each column, the constant among them. Columns that are the same for
//! everybody are left out.

use super::complete::completed;
use super::cut::Edge;
use super::difference::moments;
use super::divergence::{Divergence, divergence};
use super::effect::Effect;
use super::ols::{Ols, dot};
use super::record::{Group, Record};
use super::refusal::{Gap, Refusal};
use super::subgroup::{LEAST, since};
use ndarray::Array2;

/// Those whom the rules treat differently, with a regression on what was known of them before.
pub fn subgroup_adjusted(record: &Record) -> Result<Effect, Refusal> {
    let parted = divergence(record, Edge::FirstNotCalled)?;
    let rules = record.parts().rules.as_ref().map_err(|gap| Refusal::Gap(*gap))?;
    let prognosis = rules.prognosis.as_ref().ok_or(Refusal::Gap(Gap::NotLogged))?;
    parted.check(record, LEAST)?;
    let outcome = completed(record, |i, t| parted.week[i] <= t)?;
    let of = |group: Group| -> Vec<usize> {
        let is_in = |i: &usize| record.parts().group[*i] == group && parted.week[*i] < record.weeks();
        (0..record.people()).filter(is_in).collect()
    };
    let (ours, theirs) = (of(Group::Policy), of(Group::Control));
    let columns = columns(record, &parted, prognosis, &ours, &theirs)?;
    let expected = LEAST + 5 * columns.len();
    if theirs.len() < expected {
        return Err(Refusal::TooFewPeople { group: Group::Control, found: theirs.len(), expected });
    }
    let [x, x_control] =
        [0..ours.len(), ours.len()..ours.len() + theirs.len()].map(|part| -> Vec<Vec<f64>> {
            columns.iter().map(|column| column[part.clone()].to_vec()).collect()
        });
    let ols = Ols::new(&x_control).ok_or(Refusal::Collinear)?;
    let of_people =
        |people: &[usize]| -> Vec<f64> { people.iter().map(|&i| since(&parted, &outcome, i)).collect() };
    let (y, y_control) = (of_people(&ours), of_people(&theirs));
    let beta = ols.coefficients(&y_control);
    let residuals = |x: &[Vec<f64>], y: &[f64]| -> Vec<f64> {
        let fitted = |i: usize| x.iter().zip(&beta).map(|(x, b)| x[i] * b).sum::<f64>();
        y.iter().enumerate().map(|(i, y)| y - fitted(i)).collect()
    };
    let (e, e_control) = (residuals(&x, &y), residuals(&x_control, &y_control));
    // the sum of what is expected of the policy arm is linear in the outcomes of the control arm
    let weights = ols.weights(&x.iter().map(|column| column.iter().sum()).collect::<Vec<f64>>());
    let terms: Vec<f64> = (0..theirs.len()).map(|j| weights[j] * e_control[j] / ols.freedom(j)).collect();
    let left: Vec<f64> = (0..theirs.len()).map(|j| weights[j] * e_control[j]).collect();
    let variance = e.len() as f64 * moments(&e).1 + dot(&terms, &left);
    Ok(Effect::new(record, e.iter().sum(), variance.sqrt()))
}

/// The columns of the regression over the people of the policy arm and then those of the control arm.
fn columns(
    record: &Record,
    parted: &Divergence,
    prognosis: &Array2<f64>,
    ours: &[usize],
    theirs: &[usize],
) -> Result<Vec<Vec<f64>>, Refusal> {
    let everybody = || ours.iter().chain(theirs).copied();
    let expected_of = |i: usize| {
        let week = parted.week[i];
        let value = prognosis[[i, week]];
        if value.is_finite() { Ok(value) } else { Err(Refusal::NoPrognosis { person: i, week }) }
    };
    let mut candidates = vec![everybody().map(expected_of).collect::<Result<Vec<f64>, _>>()?];
    candidates.push(everybody().map(|i| f64::from(u8::from(parted.is_by_policy[i]))).collect());
    for covariate in record.parts().covariates.columns() {
        candidates.push(everybody().map(|i| covariate[i]).collect());
    }
    // among those whom the rules treat differently columns may be the same or determine each other that are not among everybody: of
    // those the first say it all. The regression is fitted on the control arm, so they must add something there
    let mut columns = vec![vec![1.0; ours.len() + theirs.len()]];
    let of_control = |columns: &[Vec<f64>]| -> Vec<Vec<f64>> {
        columns.iter().map(|column| column[ours.len()..].to_vec()).collect()
    };
    for candidate in candidates {
        columns.push(candidate);
        if Ols::new(&of_control(&columns)).is_none() {
            columns.pop();
        }
    }
    Ok(columns)
}
