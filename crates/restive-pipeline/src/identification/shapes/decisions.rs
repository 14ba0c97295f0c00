//! Decisions of a log at which arms could be pulled, with the chance of a pull.
//!
//! The chance of a pull is the recorded one, or the share of arms that were pulled at the decision. A decision at which an arm was not
//! available is no decision of this arm. Decisions d of J trajectories of H steps are numbered j·H + t.

use ndarray::{ArrayView3, Axis};
use restive::Trajectories;
use restive::instance::{Assignment, NO_ACTION};

/// Decisions of the arms of an instance.
pub(super) struct Decisions<'a> {
    action: ArrayView3<'a, u8>,
    propensity: Option<ArrayView3<'a, f64>>,
    available: Option<ArrayView3<'a, bool>>,
    /// H
    steps: usize,
    /// First decision of each arm if no other one counts, `[N]`.
    first: Option<Vec<usize>>,
    /// Share of arms that were pulled, `[D]`.
    share: Vec<f64>,
    /// Whether the chance of any action is recorded, `[D]`.
    is_recorded: Vec<bool>,
}

impl<'a> Decisions<'a> {
    /// All decisions of a log, or only the first of each arm if pulls are assigned per person.
    pub(super) fn new(log: &'a Trajectories, assignment: Assignment) -> Self {
        let mut all = Self {
            action: log.action(),
            propensity: log.propensity(),
            available: log.available(),
            steps: log.steps() - 1,
            first: None,
            share: Vec::new(),
            is_recorded: Vec::new(),
        };
        if assignment == Assignment::PerPerson {
            let mut first = vec![usize::MAX; log.arms()];
            for d in 0..all.len() {
                for (arm, first) in first.iter_mut().enumerate().filter(|(_, first)| **first == usize::MAX) {
                    if all.pulled(d, arm).is_some() {
                        *first = d;
                    }
                }
            }
            all.first = Some(first);
        }
        for d in 0..all.len() {
            let (mut pulls, mut arms, mut is_recorded) = (0usize, 0usize, false);
            for arm in 0..all.arms() {
                let Some(pulled) = all.pulled(d, arm) else { continue };
                (pulls, arms) = (pulls + usize::from(pulled), arms + 1);
                is_recorded |= all.recorded(d, arm).is_some();
            }
            all.share.push(if arms > 0 { pulls as f64 / arms as f64 } else { 0.0 });
            all.is_recorded.push(is_recorded);
        }
        all
    }

    /// D = J·H, the number of decisions.
    pub(super) fn len(&self) -> usize {
        self.action.len_of(Axis(0)) * self.steps
    }

    /// N, the number of arms.
    pub(super) fn arms(&self) -> usize {
        self.action.len_of(Axis(2))
    }

    /// Trajectory and step of a decision.
    pub(super) fn place(&self, d: usize) -> [usize; 2] {
        [d / self.steps, d % self.steps]
    }

    /// Whether an arm was pulled; `None` without a record, if it was not available, or if the decision does not count.
    pub(super) fn pulled(&self, d: usize, arm: usize) -> Option<bool> {
        let [j, t] = self.place(d);
        let is_left_out = self.first.as_ref().is_some_and(|first| first[arm] != d)
            || self.available.as_ref().is_some_and(|available| !available[[j, t, arm]]);
        match self.action[[j, t, arm]] {
            NO_ACTION => None,
            _ if is_left_out => None,
            action => Some(action == 1),
        }
    }

    /// Recorded chance that an arm was pulled.
    pub(super) fn recorded(&self, d: usize, arm: usize) -> Option<f64> {
        let [j, t] = self.place(d);
        let known = self.propensity.as_ref()?[[j, t, arm]];
        match self.action[[j, t, arm]] {
            _ if known.is_nan() => None,
            1 => Some(known),
            0 => Some(1.0 - known),
            _ => None,
        }
    }

    /// Share of arms that were pulled.
    pub(super) fn share(&self, d: usize) -> f64 {
        self.share[d]
    }

    /// Chance that an arm is pulled: as recorded, or the share of the decision.
    pub(super) fn chance(&self, d: usize, arm: usize) -> f64 {
        self.recorded(d, arm).unwrap_or(self.share[d])
    }

    /// Whether the chance of any action of a decision is recorded.
    pub(super) fn is_recorded(&self, d: usize) -> bool {
        self.is_recorded[d]
    }
}

/// Log of one trajectory from rows of actions, `[T,N]`; for tests.
#[cfg(test)]
pub(super) fn log_of(action: ndarray::Array2<u8>) -> Trajectories {
    use restive::instance::Logged;

    let action = action.insert_axis(Axis(0));
    let state = action.mapv(|_| 0);
    let logged = Logged { state, action, propensity: None, reward: None, available: None };
    Trajectories::new(logged, 2).unwrap()
}
