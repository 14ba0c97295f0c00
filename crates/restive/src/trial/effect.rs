//! What a trial found, with its interval.
//!
//! **Estimand.** The sum over the people of the policy arm of what they had less what they would have had under the control arm's rule. It is
//! printed first, because it is what the programme got; per person called and per call are the same number divided, and
//! per call exists only where the control arm makes none: else calls are subtracted that nobody counted.
//!
//! **Interval.** estimate ± q·se, with q = 1.96, or Student's quantile with clusters. **Detectable** with 80 % power at 5 %:
//! (q + .84)·se, 2.80·se. **For another draw of people** from the same programme, the effect on the people who happened to be called varies
//! too: se² + (1 − called/n)·estimate²/called. Differences and regressions hold that already.

use super::record::{Group, Record};
use crate::statistics::normal_quantile;

/// A number with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// the number
    pub estimate: f64,
    /// its standard error
    pub se: f64,
    /// lower end of the 95 % interval
    pub low: f64,
    /// upper end of the 95 % interval
    pub high: f64,
}

/// The effect of a policy on the people of its arm, all together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// outcome gained by all people of the policy arm
    pub estimate: f64,
    /// its standard error
    pub se: f64,
    /// lower end of the 95 % interval
    pub low: f64,
    /// upper end of the 95 % interval
    pub high: f64,
    /// q: how many standard errors the interval reaches
    pub reach: f64,
    /// people of the policy arm
    pub people: usize,
    /// those of them who were assigned a call at any time
    pub called: usize,
    /// calls that they were assigned; none where the control arm makes calls too
    pub calls: Option<usize>,
}

impl Effect {
    /// An effect on the policy arm of a record, with a normal interval.
    pub(super) fn new(record: &Record, estimate: f64, se: f64) -> Self {
        Self::reaching(record, estimate, se, normal_quantile(0.975))
    }

    /// The same with another quantile.
    pub(super) fn reaching(record: &Record, estimate: f64, se: f64, reach: f64) -> Self {
        let parts = record.parts();
        let calls_of = |i: usize| parts.call.row(i).iter().filter(|call| **call).count();
        let (mut called, mut calls, mut others) = (0, 0, 0);
        for (i, group) in parts.group.iter().enumerate() {
            match group {
                Group::Policy => {
                    called += usize::from(calls_of(i) > 0);
                    calls += calls_of(i);
                }
                Group::Control => others += calls_of(i),
            }
        }
        let (low, high) = (estimate - reach * se, estimate + reach * se);
        let calls = (others == 0).then_some(calls);
        Self { estimate, se, low, high, reach, people: record.size(Group::Policy), called, calls }
    }

    /// Per person who was assigned a call; none where nobody was.
    pub fn per_person_called(&self) -> Option<Interval> {
        self.divided(self.called)
    }

    /// Per call; none where nobody was called, or where the control arm makes calls too.
    pub fn per_call(&self) -> Option<Interval> {
        self.divided(self.calls?)
    }

    /// The effect that such a trial finds in four of five cases.
    pub fn detectable(&self) -> f64 {
        (self.reach + normal_quantile(0.8)) * self.se
    }

    /// The same with the standard error for another draw of people; none where nobody was called.
    pub fn for_population(&self) -> Option<Effect> {
        let (called, people) = (self.called as f64, self.people as f64);
        let between = (1.0 - called / people) * self.estimate * self.estimate / called;
        let se = (self.se * self.se + between).sqrt();
        let (low, high) = (self.estimate - self.reach * se, self.estimate + self.reach * se);
        (self.called > 0).then_some(Effect { se, low, high, ..*self })
    }

    /// Whether the interval leaves out zero.
    pub fn is_beyond_zero(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    fn divided(&self, by: usize) -> Option<Interval> {
        let by = (by > 0).then_some(by as f64)?;
        let [estimate, se, low, high] = [self.estimate, self.se, self.low, self.high].map(|x| x / by);
        Some(Interval { estimate, se, low, high })
    }
}
