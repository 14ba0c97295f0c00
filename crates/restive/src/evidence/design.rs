//! Who could have been called at a logged decision, and how likely each call was.
//!
//! | design | who could be called | propensity |
//! |---|---|---|
//! | uniform | everybody with a record | calls/people of the group at that decision |
//! | rota | those with the fewest calls so far in their instance | calls/eligible |
//! | logged | everybody | as logged |
//! | estimated | everybody | by a [model](super::called) of who was called |
//!
//! A rota calls everybody once before anybody twice; that its order has nothing to do with what would have come is an assumption.
//! Whoever joins later joins the round that is on its way. Where nobody or everybody who could be called was, nothing is learnt from
//! that decision.
//!
//! Shares are those of the judged group, given how many of it were called: exact where the calls of the whole were dealt by lot.

use crate::instance::{Instance, NO_ACTION};
use ndarray::{Array2, Axis};

/// How calls came to whom they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// by lot, among all
    Uniform,
    /// in turn
    Rota,
    /// with logged propensities
    Logged,
    /// somehow: whatever the log shows of the choice is modelled
    Estimated,
}

/// The calls of a group, `[D,n]` with D = J·H.
#[derive(Clone)]
pub(super) struct Deal {
    pub is_called: Array2<bool>,
    /// who could have been called
    pub is_eligible: Array2<bool>,
    /// the propensity of a call, where it is no share
    pub given: Option<Array2<f64>>,
    /// whether everybody has a record of every decision
    pub is_complete: bool,
}

impl Deal {
    /// The calls of some arms of an instance.
    pub(super) fn new(instance: &Instance, arms: &[usize], design: Design) -> Self {
        let log = instance.trajectories();
        let (trajectories, decisions) = (log.trajectories(), log.steps() - 1);
        let action = log.action();
        let shape = (trajectories * decisions, arms.len());
        let at = |d: usize, i: usize| action[[d / decisions, d % decisions, arms[i]]];
        let is_called = Array2::from_shape_fn(shape, |(d, i)| at(d, i) == 1);
        let has_record = Array2::from_shape_fn(shape, |(d, i)| at(d, i) != NO_ACTION);
        let is_complete = has_record.iter().all(|has| *has);
        let is_eligible = match design {
            Design::Rota => {
                let turns = turns(instance);
                Array2::from_shape_fn(shape, |(d, i)| has_record[[d, i]] && turns[[d, arms[i]]])
            }
            Design::Uniform | Design::Logged | Design::Estimated => has_record,
        };
        let given = (design == Design::Logged).then(|| {
            let propensity = log.propensity().expect("logged propensities");
            Array2::from_shape_fn(shape, |(d, i)| {
                let p = propensity[[d / decisions, d % decisions, arms[i]]];
                match at(d, i) {
                    1 => p,
                    0 => 1.0 - p,
                    _ => 0.0,
                }
            })
        });
        Self { is_called, is_eligible, given, is_complete }
    }

    /// Calls over eligible at each decision, `[D]`; 0 where nobody is eligible.
    pub(super) fn shares(&self) -> Vec<f64> {
        let rows = self.is_called.rows().into_iter().zip(self.is_eligible.rows());
        rows.map(|(called, eligible)| {
            let both = called.iter().zip(eligible).filter(|(_, e)| **e);
            let (calls, people) =
                both.fold((0usize, 0usize), |(c, n), (called, _)| (c + usize::from(*called), n + 1));
            if people == 0 { 0.0 } else { calls as f64 / people as f64 }
        })
        .collect()
    }

    /// Calls of people whose turn it was not.
    pub(super) fn out_of_turn(&self) -> usize {
        self.is_called
            .iter()
            .zip(&self.is_eligible)
            .filter(|(called, eligible)| **called && !**eligible)
            .count()
    }
}

/// Whose turn it is at every decision, `[D,N]`: those with the fewest calls so far.
fn turns(instance: &Instance) -> Array2<bool> {
    let log = instance.trajectories();
    let (trajectories, decisions, n) = (log.trajectories(), log.steps() - 1, log.arms());
    let mut turns = Array2::from_elem((trajectories * decisions, n), false);
    for j in 0..trajectories {
        let mut calls: Vec<Option<u32>> = vec![None; n];
        for t in 0..decisions {
            let action = log.action();
            let action = action.index_axis(Axis(0), j);
            let now = action.row(t);
            let there = || now.iter().enumerate().filter(|(_, a)| **a != NO_ACTION).map(|(i, _)| i);
            let fewest = there().filter_map(|i| calls[i]).min().unwrap_or(0);
            for i in there() {
                let so_far = *calls[i].get_or_insert(fewest);
                turns[[j * decisions + t, i]] = so_far == fewest;
                calls[i] = Some(so_far + u32::from(now[i] == 1));
            }
        }
    }
    turns
}
