//! How the penalties of a fit are found: they are given, or held-out arms choose one out of several, or the
//! [evidence](super::evidence) asks for them in rounds. Each Newton fit ends, is judged, and says how the next one is held.

use super::evidence::{CENTRES, MOST_ROUNDS, USUAL_ROUNDS, is_steady};
use super::{Form, GRID, Held, Penalties, Precision};

/// What is tried, and what was.
pub(super) enum Search {
    /// these
    Given(Held),
    /// by held-out arms, out of these precisions; those that were tried, with their losses
    HeldOut { precisions: Vec<f64>, tried: Vec<(f64, f64)> },
    /// by the evidence; rounds that were made, and whether these are the last penalties
    Evidence { now: [f64; 3], rounds: usize, is_last: bool },
}

/// How a fit goes on.
pub(super) struct Next {
    /// whether the fit that has ended is the best so far
    pub is_best: bool,
    /// how firmly the next one holds its weights, and whether it is a rough one; none: that was the last
    pub then: Option<(Held, bool)>,
}

impl Search {
    pub(super) fn new(form: Form, features: usize, states: usize) -> Self {
        match form {
            Form::Effect(Precision::Fixed(precision)) => Self::Given(Held::Effect(precision)),
            Form::Effect(Precision::HeldOut { cap }) => {
                let precisions = GRID.into_iter().filter(|p| *p < cap).chain([cap]).collect();
                Self::HeldOut { precisions, tried: Vec::new() }
            }
            Form::Hierarchical(Penalties::Fixed(penalties)) => Self::Given(Held::Hierarchical(penalties)),
            // without features, or with one state, there is nothing to hold
            Form::Hierarchical(Penalties::Evidence) if features == 0 || states < 2 => {
                Self::Given(Held::Hierarchical(CENTRES))
            }
            Form::Hierarchical(Penalties::Evidence) => {
                Self::Evidence { now: CENTRES, rounds: 0, is_last: false }
            }
        }
    }

    /// The penalties that are tried now, or first.
    pub(super) fn held(&self) -> Held {
        match self {
            Self::Given(held) => *held,
            Self::HeldOut { precisions, tried } => Held::Effect(precisions[tried.len()]),
            Self::Evidence { now, .. } => Held::Hierarchical(*now),
        }
    }

    /// Whether the first fit is a rough one.
    pub(super) fn is_rough(&self) -> bool {
        matches!(self, Self::Evidence { .. })
    }

    /// Whether held-out arms are asked.
    pub(super) fn asks_held_out(&self) -> bool {
        matches!(self, Self::HeldOut { .. })
    }

    /// A fit with the present penalties has ended; `evidence` says which penalties are asked for there, `loss` what held-out
    /// arms lose.
    pub(super) fn next(
        &mut self,
        evidence: impl FnOnce() -> Option<[f64; 3]>,
        loss: impl FnOnce() -> f64,
    ) -> Next {
        match self {
            Self::Evidence { now, rounds, is_last } if !*is_last => {
                let next = evidence().unwrap_or(*now);
                *rounds += 1;
                *is_last = is_steady(*now, next) || *rounds == MOST_ROUNDS;
                *now = next;
                Next { is_best: false, then: Some((Held::Hierarchical(next), !*is_last)) }
            }
            Self::Given(_) | Self::Evidence { .. } => Next { is_best: true, then: None },
            Self::HeldOut { precisions, tried } => {
                let loss = loss();
                let is_best = tried.iter().all(|(_, other)| loss < *other);
                tried.push((precisions[tried.len()], loss));
                let then = precisions.get(tried.len()).map(|next| (Held::Effect(*next), false));
                Next { is_best, then }
            }
        }
    }

    /// How much is done, where the present fit has come so far, from 0 to 1.
    pub(super) fn share(&self, of_fit: f64) -> f64 {
        let (done, all) = match self {
            Self::Given(_) => (0.0, 1.0),
            Self::HeldOut { precisions, tried } => (tried.len() as f64, precisions.len() as f64),
            Self::Evidence { rounds, .. } => (*rounds as f64, USUAL_ROUNDS.max(*rounds as f64 + 1.0)),
        };
        (done + of_fit) / all
    }

    /// The precisions that were tried, each with the loss of the held-out arms.
    pub(super) fn tried(self) -> Vec<(f64, f64)> {
        match self {
            Self::HeldOut { tried, .. } => tried,
            Self::Given(_) | Self::Evidence { .. } => Vec::new(),
        }
    }
}
