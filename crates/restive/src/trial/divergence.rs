//! When the two rules would part over a person.
//!
//! **The week of divergence** V is the first week in which the two arms' rules would act differently on a person, given her own
//! path; T where they never do. Until V her path is the same in either arm, so V is a fact about her that was fixed before
//! the arms could make a difference, and it can be computed in both: in the policy arm from the call that was
//! assigned and from where the control's list ended, in the control arm the other way round. Without calls in
//! the control arm, V is the first call there was or would have been.
//!
//! **Two cuts.** "Would have been called" is strictly above the [cut](Cut) of the other arm's week, and an [`Edge`] says which cut. With
//! another policy as control, the last called of either arm count as diverged too where exchanges are asked for: they are the cut, and
//! only while they stay where they are do all re-dealings of the others leave every list as it was.

use super::cut::{Cut, Edge, above};
use super::record::{Group, Record, Rules};
use super::refusal::Refusal;

/// Who was treated differently since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// `[n]`: V, or T
    pub week: Vec<usize>,
    /// `[n]`: whether it is the policy under trial that calls in week V
    pub is_by_policy: Vec<bool>,
}

impl Divergence {
    /// How many people of an arm are treated differently in any week.
    pub fn people(&self, record: &Record, group: Group) -> usize {
        let groups = &record.parts().group;
        (0..groups.len()).filter(|&i| groups[i] == group && self.week[i] < record.weeks()).count()
    }

    /// At least so many of each arm.
    pub(super) fn check(&self, record: &Record, expected: usize) -> Result<(), Refusal> {
        for group in [Group::Control, Group::Policy] {
            let found = self.people(record, group);
            if found < expected {
                return Err(Refusal::TooFewPeople { group, found, expected });
            }
        }
        Ok(())
    }
}

/// V of everybody, by the cuts at an edge.
///
/// ```
/// use ndarray::array;
/// use restive::trial::{Edge, Group, Parts, Record, Rule, Rules, divergence};
///
/// // two weeks; one of two people is called in the policy arm, none in the control arm
/// let group = vec![Group::Policy, Group::Policy, Group::Control, Group::Control];
/// let call = array![[true, false], [false, true], [false, false], [false, false]];
/// let score = array![[0.8, 0.1], [0.3, 0.6], [0.9, 0.9], [0.2, 0.3]];
/// let tie = array![[0.1, 0.1], [0.2, 0.2], [0.3, 0.3], [0.4, 0.4]];
/// let policy = Rule::of_lists(score, &tie, &call, &group, Group::Policy);
/// let rules = Ok(Rules { policy, control: None, tie, prognosis: None });
/// let (outcome, covariates) = (ndarray::Array2::zeros((4, 2)), ndarray::Array2::zeros((4, 0)));
/// let record = Record::new(Parts { group, outcome, call, covariates, cluster: None, rules })?;
/// let week = |edge| divergence(&record, edge).unwrap().week;
/// assert_eq!(week(Edge::LastCalled), [0, 1, 0, 2]); // .3 is not above .6, who was called
/// assert_eq!(week(Edge::FirstNotCalled), [0, 1, 0, 1]); // but above .1, who was not
/// # Ok::<(), restive::Error>(())
/// ```
pub fn divergence(record: &Record, edge: Edge) -> Result<Divergence, Refusal> {
    let parts = record.parts();
    if parts.cluster.is_some() {
        return Err(Refusal::Clusters);
    }
    let rules = parts.rules.as_ref().map_err(|gap| Refusal::Gap(*gap))?;
    check_rules(record, rules)?;
    let (n, weeks) = (record.people(), record.weeks());
    let (mut week, mut is_by_policy) = (vec![weeks; n], vec![false; n]);
    for i in 0..n {
        for t in 0..weeks {
            let own = parts.call[[i, t]];
            let other = rules.would_call(parts.group[i].other(), i, t, edge);
            // the last called is the cut that exchanges must not move; against no calls she has diverged anyway
            let is_cut = own && edge == Edge::LastCalled && rules.is_last_called(parts.group[i], i, t);
            if own != other || is_cut {
                week[i] = t;
                is_by_policy[i] = own == (parts.group[i] == Group::Policy);
                break;
            }
        }
    }
    Ok(Divergence { week, is_by_policy })
}

/// Every call is the rule's: the called, and they alone, are above the first who was not called.
fn check_rules(record: &Record, rules: &Rules) -> Result<(), Refusal> {
    let parts = record.parts();
    for ((person, week), &is_called) in parts.call.indexed_iter() {
        if is_called != rules.would_call(parts.group[person], person, week, Edge::FirstNotCalled) {
            return Err(Refusal::NotByRule { person, week, is_called });
        }
    }
    Ok(())
}

impl Rules {
    /// Whether an arm's rule would call a person on her own path.
    fn would_call(&self, group: Group, i: usize, t: usize, edge: Edge) -> bool {
        let is_above = |(score, tie, cut): (f64, f64, Cut)| above(score, tie, cut.at(edge));
        self.at(group, i, t).is_some_and(is_above)
    }

    fn is_last_called(&self, group: Group, i: usize, t: usize) -> bool {
        self.at(group, i, t).is_some_and(|(score, tie, cut)| (score, tie) == cut.last_called)
    }

    /// Score, tie and cut of a person by an arm's rule; none where the arm is not called.
    fn at(&self, group: Group, i: usize, t: usize) -> Option<(f64, f64, Cut)> {
        let rule = match group {
            Group::Policy => Some(&self.policy),
            Group::Control => self.control.as_ref(),
        };
        rule.map(|rule| (rule.score[[i, t]], self.tie[[i, t]], rule.cut[t]))
    }
}

impl Group {
    /// The arm across.
    fn other(self) -> Self {
        match self {
            Group::Policy => Group::Control,
            Group::Control => Group::Policy,
        }
    }
}
