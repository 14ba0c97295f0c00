//! What a log says of the transitions, and the predictive loss of transitions held against it.
//!
//! With full observation a log records *moves*: [`Counts`] of s → s′, and the loss is their [`likelihood()`]. Where states are seen
//! at pulls only, it records *sightings*: how often a pull at a [label](crate::belief) showed each state. The loss of
//! transitions is then that of the beliefs b they lead to,
//!
//! ```text
//! per trajectory = −Σ n(i, l, x) ln b_i(l)(x) / J
//! ```
//!
//! and steps without a pull say nothing. Its pullback is −n/(J b) on the beliefs, and from there to the transitions.

use super::likelihood::{Likelihood, likelihood};
use super::world::seen_at_pulls;
use crate::belief::{Beliefs, beliefs};
use crate::instance::{Chain, Counts, Instance, Observation, Trajectories};
use ndarray::{Array3, Array4, ArrayView4, Axis};

/// What a log says of the transitions.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// from state to state
    Moves(Counts),
    /// of states at pulls
    Sightings {
        /// `[N,L,M]`
        seen: Array3<f64>,
        /// the labels
        chain: Chain,
        /// J
        trajectories: usize,
    },
}

/// The predictive loss of transitions on a record.
pub struct Loss<'a> {
    /// −Σ n ln p over the number of trajectories
    pub per_trajectory: f64,
    /// −Σ n ln p over the number of moves or sightings; NaN where there was none
    pub per_transition: f64,
    way: Way<'a>,
}

enum Way<'a> {
    Moves(Likelihood<'a>),
    Sightings { beliefs: Beliefs<'a>, seen: &'a Array3<f64>, trajectories: f64 },
}

impl Record {
    /// The record of an instance's log.
    pub fn new(instance: &Instance) -> Self {
        Self::of(instance.trajectories(), instance.observation(), instance.states())
    }

    /// The record of a log of arms with M states, seen when they are.
    pub fn of(log: &Trajectories, observation: Observation, states: usize) -> Self {
        match observation {
            Observation::Full => Record::Moves(log.counts()),
            Observation::Collapsing(chain) => Record::Sightings {
                seen: seen_at_pulls(log, chain, states),
                chain,
                trajectories: log.trajectories(),
            },
        }
    }

    /// Counts and what transitions `[N,M,2,M]` predict of them, row by row, for [`fit_strength`](super::fit_strength): moves as
    /// they stand; or the sightings at each label and its belief, `[N,L,2,M]`, of which nothing is counted without a pull.
    pub fn rows(&self, prediction: ArrayView4<'_, f64>) -> (Array4<f64>, Array4<f64>) {
        match self {
            Record::Moves(counts) => (counts.view().to_owned(), prediction.to_owned()),
            Record::Sightings { seen, chain, .. } => {
                let (n, l, m) = seen.dim();
                let (mut counted, mut believed) = (Array4::zeros((n, l, 2, m)), Array4::zeros((n, l, 2, m)));
                counted.index_axis_mut(Axis(2), 1).assign(seen);
                let belief = beliefs(prediction, chain.beliefs()).belief;
                believed.index_axis_mut(Axis(2), 1).assign(&belief.view());
                (counted, believed)
            }
        }
    }

    /// As many moves or sightings, but of what was predicted (`[N,M,2,M]`): the record that was to be expected.
    pub fn expected(&self, prediction: ArrayView4<'_, f64>) -> Self {
        match self {
            Record::Moves(counts) => Record::Moves(counts.expected(prediction)),
            Record::Sightings { seen, chain, trajectories } => {
                let mut expected = beliefs(prediction, chain.beliefs()).belief.view().to_owned();
                for (mut row, seen) in expected.rows_mut().into_iter().zip(seen.rows()) {
                    row *= seen.sum();
                }
                Record::Sightings { seen: expected, chain: *chain, trajectories: *trajectories }
            }
        }
    }

    /// How many moves or sightings there are.
    pub fn total(&self) -> f64 {
        match self {
            Record::Moves(counts) => counts.view().sum(),
            Record::Sightings { seen, .. } => seen.sum(),
        }
    }

    /// The loss of transitions `[N,M,2,M]`.
    pub fn loss<'a>(&'a self, transition: ArrayView4<'a, f64>) -> Loss<'a> {
        match self {
            Record::Moves(counts) => {
                let found = likelihood(counts, transition);
                let (per_trajectory, per_transition) = (found.per_trajectory, found.per_transition);
                Loss { per_trajectory, per_transition, way: Way::Moves(found) }
            }
            Record::Sightings { seen, chain, trajectories } => {
                let beliefs = beliefs(transition, chain.beliefs());
                let mut loss = 0.0;
                ndarray::Zip::from(seen).and(beliefs.belief.view()).for_each(|&n, &b| {
                    if n > 0.0 {
                        loss -= n * b.ln();
                    }
                });
                let trajectories = *trajectories as f64;
                let (per_trajectory, per_transition) = (loss / trajectories, loss / seen.sum());
                Loss { per_trajectory, per_transition, way: Way::Sightings { beliefs, seen, trajectories } }
            }
        }
    }
}

impl Loss<'_> {
    /// What a cotangent of the loss per trajectory becomes on the transitions, `[N,M,2,M]`; rows sum to zero.
    pub fn pullback(&self, d_per_trajectory: f64) -> Array4<f64> {
        match &self.way {
            Way::Moves(likelihood) => likelihood.pullback(d_per_trajectory),
            Way::Sightings { beliefs, seen, trajectories } => {
                let factor = -d_per_trajectory / trajectories;
                let mut d_belief = Array3::zeros(seen.raw_dim());
                let cells = ndarray::Zip::from(&mut d_belief).and(*seen).and(beliefs.belief.view());
                cells.for_each(|d, &n, &b| {
                    if n > 0.0 {
                        *d = factor * n / b;
                    }
                });
                beliefs.pullback(d_belief.view())
            }
        }
    }
}
