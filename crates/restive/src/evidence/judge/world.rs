//! The transitions of people in the eyes of the judge: as it is, and as it might be.
//!
//! The own part of a person is what all of his record says, calls included; a row is the mean over what is left of it. A draw moves
//! all parameters together within their uncertainty, the effect of a call with them.

use super::foresee::weigh;
use super::people::first_states;
use super::two_state::{self, Seen};
use super::{Judge, NODES, prior};
use crate::instance::{Instance, Layout, Transition};
use crate::random::stream;
use crate::statistics::normal_quantile;
use ndarray::{Array1, Array2, Array4, ArrayView4, Axis};
use rand::RngExt;
use rayon::prelude::*;

/// The stream of draws: no other use of a seed begins with it.
const DRAWN: u64 = 0x6a75_6467;

/// People of a piece.
const PIECE: usize = 1024;

/// Times that a move may have been seen before likelihoods are taken in logarithms.
const FEW: f64 = 300.0;

impl Judge {
    /// P(s, a, s′) of everybody, given all of their record.
    pub fn transition(&self, instance: &Instance) -> Transition {
        let (counts, first) = (instance.trajectories().counts(), first_states(instance));
        let (counts, m) = (counts.view(), self.place.states);
        if m == 2 {
            let counts = counts.as_standard_layout();
            return self.mixed_two(instance, Some((&counts.view(), &first)));
        }
        self.mixed(instance, |i, moves, firsts| {
            let (counts, first) = (counts.index_axis(Axis(0), i), first.row(i));
            // counts `[M,2,M]` stand as the moves of a node do
            let seen: Vec<(usize, f64)> =
                counts.iter().copied().enumerate().filter(|(_, n)| *n > 0.0).collect();
            let mut weight = prior();
            for (s, n) in first.iter().enumerate().filter(|(_, n)| **n > 0.0) {
                weigh(&mut weight, |k| firsts[k * m + s].powf(*n));
            }
            if seen.iter().map(|(_, n)| n).sum::<f64>() > FEW {
                let log = |k: usize| -> f64 {
                    seen.iter().map(|(at, n)| n * moves[k * 2 * m * m + at].max(f64::MIN_POSITIVE).ln()).sum()
                };
                let logs: [f64; NODES.len()] = std::array::from_fn(log);
                let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                weigh(&mut weight, |k| (logs[k] - most).exp());
            } else {
                for (at, n) in &seen {
                    weigh(&mut weight, |k| moves[k * 2 * m * m + at].powi(*n as i32));
                }
            }
            weight
        })
    }

    /// The same without their record: what features alone say.
    pub fn transition_by_features(&self, instance: &Instance) -> Transition {
        if self.place.states == 2 {
            return self.mixed_two(instance, None);
        }
        self.mixed(instance, |_, _, _| prior())
    }

    /// x·β, x·γ and x·β₀ of everybody.
    pub(super) fn along(&self, instance: &Instance) -> [Array1<f64>; 3] {
        let weights = [0, 1, 2].map(|which| &self.theta[self.place.block(which)]);
        self.columns.along(instance.features(), weights)
    }

    /// Rows averaged over the nodes of two states, by counts `[N,2,2,2]` and first states `[N,2]`, or by features alone.
    fn mixed_two(
        &self,
        instance: &Instance,
        record: Option<(&ArrayView4<'_, f64>, &Array2<f64>)>,
    ) -> Transition {
        let (along, model) = (self.along(instance), self.two_state());
        let (moves, firsts) = match record {
            Some((counts, first)) => {
                (counts.as_slice().expect("row-major"), first.as_slice().expect("row-major"))
            }
            None => (&[][..], &[][..]),
        };
        let mut all = Array4::zeros((instance.arms(), 2, 2, 2));
        let pieces = all.as_slice_mut().expect("contiguous").par_chunks_mut(8 * PIECE).enumerate();
        pieces.for_each(|(k, rows)| {
            let first = k * PIECE;
            let whom = first..first + rows.len() / 8;
            let along = along.each_ref().map(|along| &along.as_slice().expect("contiguous")[whom.clone()]);
            let seen = Seen { moves, firsts, first, every: 1, along };
            two_state::rows(&model, &seen, record.is_some(), rows);
        });
        Transition::new(all, Layout::Nsas).expect("rows that sum to 1")
    }

    /// Rows averaged over the nodes, by the weights of each person given `[9,M,2,M]` moves and `[9,M]` first states.
    fn mixed(
        &self,
        instance: &Instance,
        weights: impl Fn(usize, &[f64], &[f64]) -> [f64; NODES.len()] + Sync,
    ) -> Transition {
        let (along, m) = (self.along(instance), self.place.states);
        let mut all = Array4::zeros((instance.arms(), m, 2, m));
        let arms = all.as_slice_mut().expect("contiguous").par_chunks_mut(2 * m * m).enumerate();
        arms.for_each(|(i, arm)| {
            let along = along.each_ref().map(|along| along[i]);
            let (moves, firsts) = (self.moves_of(along), self.firsts_of(along));
            for (weight, node) in weights(i, &moves, &firsts).iter().zip(moves.chunks_exact(2 * m * m)) {
                arm.iter_mut().zip(node).for_each(|(p, at)| *p += weight * at);
            }
            // rows to the last digit
            for row in arm.chunks_exact_mut(m) {
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|p| *p /= sum);
            }
        });
        Transition::new(all, Layout::Nsas).expect("rows that sum to 1")
    }

    /// Another judge that the same people might have led to. The squares of the spreads are drawn with all the others; one that comes out
    /// below 0 is 0, and the others are where they would then be expected.
    pub fn drawn(&self, seed: u64) -> Self {
        let mut random = stream(seed, &[DRAWN]);
        let mut theta: Vec<f64> = self
            .theta
            .iter()
            .map(|_| normal_quantile(random.random::<f64>().clamp(1e-12, 1.0 - 1e-12)))
            .collect();
        self.factor.backward_one(&mut theta);
        let spreads = [self.place.sigma(), self.place.sigma_first()];
        let square = |at: usize| self.theta[at] * self.theta[at];
        for at in spreads {
            let below = -(square(at) + theta[at]);
            if below > 0.0 {
                let mut along = vec![0.0; theta.len()];
                along[at] = 1.0;
                self.factor.solve(&mut along);
                let by = below / along[at];
                theta.iter_mut().zip(&along).for_each(|(x, along)| *x += by * along);
            }
        }
        for (at, x) in theta.iter_mut().enumerate() {
            *x = if spreads.contains(&at) { (square(at) + *x).max(0.0).sqrt() } else { self.theta[at] + *x };
        }
        Self { theta, ..self.clone() }
    }
}
