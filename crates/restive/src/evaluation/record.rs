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

use super::likelihood::{Likelihood, LossCotangent, likelihood};
use super::{empirical, fitted, labelled, smoothed};
use crate::belief::{Beliefs, beliefs};
use crate::instance::{Chain, Counts, Instance, Observation, Trajectories, Transition, UNSEEN};
use ndarray::{Array3, ArrayView4, Axis};

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
    tape: Tape<'a>,
}

enum Tape<'a> {
    Moves(Likelihood<'a>),
    Sightings { beliefs: Beliefs<'a>, seen: &'a Array3<f64>, trajectories: f64 },
}

impl Record {
    /// The record of an instance's log, with [unknown labels](super::known) filled in.
    pub fn new(instance: &Instance) -> Self {
        let observation = instance.observation();
        Self::from_log(&labelled(instance.trajectories(), observation), observation)
    }

    /// The record of a log.
    pub fn from_log(log: &Trajectories, observation: Observation) -> Self {
        match observation {
            Observation::Full => Record::Moves(log.counts()),
            Observation::Collapsing(chain) => {
                Record::Sightings { seen: sightings(log, chain), chain, trajectories: log.trajectories() }
            }
        }
    }

    /// The transitions `[N,M,2,M]` that it speaks of: [shares](empirical), or those [fitted] to sightings; or weighed against a
    /// prediction (`[N,M,2,M]`) that is worth so many transitions for each action.
    pub fn transition(&self, prediction: Option<(ArrayView4<'_, f64>, [f64; 2])>) -> Transition {
        match (self, prediction) {
            (Record::Moves(counts), None) => empirical(counts.view()),
            (Record::Moves(counts), Some((p, strength))) => smoothed(counts.view(), p, strength),
            (Record::Sightings { seen, .. }, prediction) => fitted(seen.view(), prediction),
        }
    }

    /// That of some of the arms, in the given order and perhaps repeated.
    pub fn select_arms(&self, arms: &[usize]) -> Self {
        match self {
            Record::Moves(counts) => {
                Record::Moves(Counts::new(counts.view().select(Axis(0), arms), counts.trajectories()))
            }
            Record::Sightings { seen, chain, trajectories } => Record::Sightings {
                seen: seen.select(Axis(0), arms),
                chain: *chain,
                trajectories: *trajectories,
            },
        }
    }

    /// When states were seen.
    pub fn observation(&self) -> Observation {
        match self {
            Record::Moves(_) => Observation::Full,
            Record::Sightings { chain, .. } => Observation::Collapsing(*chain),
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

    /// The moves, where states are seen at every step.
    pub fn moves(&self) -> Option<&Counts> {
        match self {
            Record::Moves(counts) => Some(counts),
            Record::Sightings { .. } => None,
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
                Loss { per_trajectory, per_transition, tape: Tape::Moves(found) }
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
                Loss { per_trajectory, per_transition, tape: Tape::Sightings { beliefs, seen, trajectories } }
            }
        }
    }
}

impl Loss<'_> {
    /// What a cotangent of the loss per trajectory becomes on the transitions.
    pub fn pullback(&self, d_per_trajectory: f64) -> LossCotangent {
        match &self.tape {
            Tape::Moves(likelihood) => likelihood.pullback(d_per_trajectory),
            Tape::Sightings { beliefs, seen, trajectories } => {
                let factor = -d_per_trajectory / trajectories;
                let mut d_belief = Array3::zeros(seen.raw_dim());
                let cells = ndarray::Zip::from(&mut d_belief).and(*seen).and(beliefs.belief.view());
                cells.for_each(|d, &n, &b| {
                    if n > 0.0 {
                        *d = factor * n / b;
                    }
                });
                LossCotangent { d_transition: beliefs.pullback(d_belief.view()).d_transition }
            }
        }
    }
}

/// How often a pull of each arm at each label showed each state: `[N,L,M]`.
fn sightings(log: &Trajectories, chain: Chain) -> Array3<f64> {
    let (state, action) = (log.state(), log.action());
    let (j, steps, n) = state.dim();
    let mut seen = Array3::zeros((n, log.states(), log.states() / chain.beliefs()));
    for j in 0..j {
        for t in 1..steps {
            for i in 0..n {
                let (before, now) = (state[[j, t - 1, i]], state[[j, t, i]]);
                if action[[j, t - 1, i]] == 1 && before != UNSEEN && now != UNSEEN {
                    // a pull that shows x leads to the first label of its chain
                    seen[[i, usize::from(before), usize::from(now) / chain.beliefs()]] += 1.0;
                }
            }
        }
    }
    seen
}
