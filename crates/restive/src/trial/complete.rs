//! Outcomes that are missing.
//!
//! **The assumption.** In a week, whose outcome is missing is chance within a *cell*: within an arm for differences and regressions; within
//! those of an arm who have diverged and those who have not, for the estimators that know V. The rate may differ between cells and
//! weeks. What a cell cannot see (people who fall silent *because* they fare badly) no estimator here repairs, which is
//! why [a test](super::Missing) of whether arms miss differently stands beside the estimates.
//!
//! **The completion.** With m the mean of the outcomes that are seen in a cell of n people, o of them seen, every person gets
//!
//! ```text
//! y* = m                      where the outcome is missing
//! y* = m + (y − m)·n/o        where it is seen
//! ```
//!
//! The mean of y* over the cell is m, and its expectation over who is missing is y for every person, whatever m is. So a mean, a
//! regression or a sum over any part of the cell stays unbiased, and the spread of y*, which is larger than that
//! of y, holds what the missing cost: standard errors are those of the same formula on y*. Where nothing is missing y* is y.

use super::record::{Group, Record};
use super::refusal::Refusal;
use ndarray::Array2;

/// `[n,T]`: the completed outcomes; a cell is an arm, split in two by `is_second(person, week)`.
pub(super) fn completed(
    record: &Record,
    is_second: impl Fn(usize, usize) -> bool,
) -> Result<Array2<f64>, Refusal> {
    let parts = record.parts();
    let mut completed = parts.outcome.clone();
    for week in 0..record.weeks() {
        let (mut people, mut seen, mut sum) = ([0usize; 4], [0usize; 4], [0.0; 4]);
        let cell =
            |i: usize| 2 * usize::from(parts.group[i] == Group::Control) + usize::from(is_second(i, week));
        for i in 0..record.people() {
            let y = parts.outcome[[i, week]];
            people[cell(i)] += 1;
            if !y.is_nan() {
                seen[cell(i)] += 1;
                sum[cell(i)] += y;
            }
        }
        for c in 0..4 {
            if people[c] > 0 && seen[c] == 0 {
                let group = if c < 2 { Group::Policy } else { Group::Control };
                return Err(Refusal::Unobserved { group, week, people: people[c] });
            }
        }
        for i in 0..record.people() {
            let c = cell(i);
            if seen[c] < people[c] {
                let (mean, weight) = (sum[c] / seen[c] as f64, people[c] as f64 / seen[c] as f64);
                let y = &mut completed[[i, week]];
                *y = if y.is_nan() { mean } else { mean + (*y - mean) * weight };
            }
        }
    }
    Ok(completed)
}
