//! What is known of arms before anything is decided: the moves or sightings of their log, and where they began.
//!
//! f, the share of an arm's trajectories whose first seen state is 1, is no move and so not in the [`Record`]; but people who are
//! found engaged are those who engage more, and the [Gaussian rule](super::Gauss) listens to it. A trajectory in which the arm is
//! never seen does not count; an arm of which none counts has no share.

use crate::evaluation::Record;
use crate::evaluation::labelled;
use crate::instance::{Observation, Trajectories, UNSEEN};
use ndarray::Axis;

/// The past of N arms.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// their moves or sightings
    pub record: Record,
    /// `[N]`: the share of trajectories that begin in state 1; none where the arm was never seen, or has not two states that
    /// are seen at every step
    pub first: Vec<Option<f64>>,
}

impl Past {
    /// The past that a log tells, with [unknown labels](crate::evaluation::known) filled in.
    pub fn new(log: &Trajectories, observation: Observation) -> Self {
        let record = Record::from_log(&labelled(log, observation), observation);
        let has_shares = observation == Observation::Full && log.states() == 2;
        let first = if has_shares { first_shares(log) } else { vec![None; log.arms()] };
        Self { record, first }
    }
}

/// f of every arm of a log.
fn first_shares(log: &Trajectories) -> Vec<Option<f64>> {
    let mut tallies = vec![Begun::default(); log.arms()];
    for states in log.state().outer_iter() {
        for (steps, begun) in states.lanes(Axis(0)).into_iter().zip(&mut tallies) {
            if let Some(first) = steps.iter().find(|s| **s != UNSEEN) {
                begun.add(*first);
            }
        }
    }
    tallies.iter().map(Begun::share).collect()
}

/// The trajectories of an arm that have begun so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Begun {
    trajectories: f64,
    in_one: f64,
}

impl Begun {
    /// Another one began in this state.
    pub(super) fn add(&mut self, first: u16) {
        self.trajectories += 1.0;
        self.in_one += f64::from(u8::from(first == 1));
    }

    /// f
    pub(super) fn share(&self) -> Option<f64> {
        (self.trajectories > 0.0).then(|| self.in_one / self.trajectories)
    }
}
