//! How much is drawn: fewer resamples, runs and deals where people are so many that more of them say nothing new.
//!
//! Up to [`MANY`] people nothing is spared. Beyond, unless a number was asked for:
//!
//! | drawn | up to 20,000 people | beyond | what that costs |
//! |---|---|---|---|
//! | resamples | 200, percentiles | 50, ± 1.96 standard errors | nothing: see below |
//! | runs | 200 | 4,000,000 over the people, at least 20 | covered by the interval of `simulated` |
//! | deals | 999 | none where there are [`ENOUGH_PULLS`]: p is by the normal law | less than the noise of the deals |
//!
//! **Resamples.** A mean over N arms is normal but for terms of 1/√N, so that an interval of ± 1.96 standard errors has the same ends as
//! percentiles, and only how well B resamples tell them differs. Half the width has a relative standard error of 1/√(2B) from standard
//! errors, and of √(p(1 − p)/B)/(z φ(z)) from percentiles, p = 2.5 %, z = 1.96: 10 % of 50 resamples the first way, 9.7 % of 200 the
//! second. A resample of so many people [weighs](restive::evaluation) them instead of copying them, and has no simulated runs of its own:
//! the interval of `simulated` is that of the fluid values and of the noise of its own runs.
//!
//! **Runs.** The noise of R runs is Var/R, is measured, and is a part of the interval; the spread of a run over its value falls as 1/√N.
//! Values of the fluid limit, which the answer shows, have no runs.
//!
//! **Deals.** p by D deals has the standard error √(p(1 − p)/D): 0.007 at p = 0.05 for 999 of them. The statistic is a sum over pulls
//! and its law leaves the normal one by skewness/(6√n) (z² − 1) φ(z): of 2,000 pulls and a skewness of 1, by 0.0007.

use super::asked::{EstimatorsName, EvaluateAsked};
use crate::words::grouped;
use restive::evaluation::Ends;

/// People up to whom nothing is spared.
pub(super) const MANY: usize = 20_000;
/// Pulls whose statistic follows the normal law.
pub(super) const ENOUGH_PULLS: usize = 2_000;

const RESAMPLES: usize = 200;
const RESAMPLES_OF_MANY: usize = 50;
const RUNS: usize = 200;
const RUNS_AS_PUBLISHED: usize = 1_000;
const LEAST_RUNS: usize = 20;
const DEALS: usize = 999;

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effort {
    pub runs: usize,
    pub resamples: usize,
    pub ends: Ends,
}

impl EvaluateAsked {
    /// What is drawn for so many judged people.
    pub(crate) fn effort(&self, people: usize) -> Effort {
        let is_many = people > MANY && self.estimators == EstimatorsName::Judged;
        let runs = match self.estimators {
            EstimatorsName::Published => RUNS_AS_PUBLISHED,
            EstimatorsName::Judged if is_many => (RUNS * MANY / people).max(LEAST_RUNS),
            EstimatorsName::Judged => RUNS,
        };
        let ends = if is_many && self.resamples.is_none() { Ends::StandardErrors } else { Ends::Percentiles };
        Effort {
            runs: self.runs.unwrap_or(runs),
            resamples: self.resamples.unwrap_or(if is_many { RESAMPLES_OF_MANY } else { RESAMPLES }),
            ends,
        }
    }

    /// How often the pulls of so many people are dealt anew; none: p is by the normal law.
    pub(crate) fn dealt(&self, people: usize, pulls: usize) -> Option<usize> {
        match self.deals {
            Some(deals) => Some(deals),
            None => (people <= MANY || pulls < ENOUGH_PULLS).then_some(DEALS),
        }
    }

    /// What was spared, in words; none where nothing was.
    pub(crate) fn spared(&self, people: usize) -> Option<String> {
        let Effort { runs, resamples, ends } = self.effort(people);
        let is_spared = people > MANY && self.estimators == EstimatorsName::Judged;
        let resampled = (ends == Ends::StandardErrors)
            .then(|| format!("{resamples} resamples, whose intervals are ± 1.96 standard errors"));
        let run = (self.runs.is_none() && runs < RUNS).then(|| format!("{runs} simulated runs"));
        let parts: Vec<String> = [resampled, run].into_iter().flatten().collect();
        (is_spared && !parts.is_empty()).then(|| {
            format!(
                "more than {} people are judged: {}; more of them would leave the answer as it is",
                grouped(MANY as u64),
                parts.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_spared_of_few_people_nor_of_what_was_asked_for() {
        let usual = EvaluateAsked::default();
        let full = Effort { runs: 200, resamples: 200, ends: Ends::Percentiles };
        assert_eq!(usual.effort(MANY), full);
        assert_eq!((usual.dealt(MANY, 1_000_000), usual.dealt(MANY + 1, 1_999)), (Some(999), Some(999)));
        assert_eq!(usual.spared(MANY), None);
        let told = EvaluateAsked { runs: Some(200), resamples: Some(200), deals: Some(999), ..usual.clone() };
        assert_eq!((told.effort(100_000), told.dealt(100_000, 2_000)), (full, Some(999)));
        assert_eq!(told.spared(100_000), None);
        let published = EvaluateAsked { estimators: EstimatorsName::Published, ..usual };
        assert_eq!(published.effort(100_000), Effort { runs: 1000, ..full });
    }

    #[test]
    fn of_many_people_less_is_drawn_and_it_is_said() {
        let usual = EvaluateAsked::default();
        let few = Effort { runs: 40, resamples: 50, ends: Ends::StandardErrors };
        assert_eq!((usual.effort(100_000), usual.effort(10_000_000).runs), (few, 20));
        assert_eq!(usual.dealt(MANY + 1, 2_000), None);
        let said = usual.spared(100_000).unwrap();
        assert!(said.contains("50 resamples") && said.contains("40 simulated runs"), "{said}");
    }
}
