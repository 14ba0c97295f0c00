//! The transitions of people in the eyes of the judge: as it is, and as it might be.
//!
//! The own part of a person is what all of his record says, calls included; a row is the mean over what is left of it. A draw moves
//! all parameters together within their uncertainty, the effect of a call with them.

use super::foresee::weigh;
use super::people::first_states;
use super::{Judge, NODES, prior};
use crate::instance::{Instance, Layout, Transition};
use crate::random::stream;
use crate::statistics::normal_quantile;
use ndarray::{Array4, Axis};
use rand::RngExt;
use rayon::prelude::*;

/// The stream of draws: no other use of a seed begins with it.
const DRAWN: u64 = 0x6a75_6467;

/// Times that a move may have been seen before likelihoods are taken in logarithms.
const FEW: f64 = 300.0;

impl Judge {
    /// P(s, a, s′) of everybody, given all of their record.
    pub fn transition(&self, instance: &Instance) -> Transition {
        let (counts, first) = (instance.trajectories().counts(), first_states(instance));
        let (counts, m) = (counts.view(), self.place.states);
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
        self.mixed(instance, |_, _, _| prior())
    }

    /// Rows averaged over the nodes, by the weights of each person given `[9,M,2,M]` moves and `[9,M]` first states.
    fn mixed(
        &self,
        instance: &Instance,
        weights: impl Fn(usize, &[f64], &[f64]) -> [f64; NODES.len()] + Sync,
    ) -> Transition {
        let x = self.columns.read(instance.features());
        let along = [0, 1, 2].map(|which| x.dot(&ndarray::aview1(&self.theta[self.place.block(which)])));
        let m = self.place.states;
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

    /// Another judge that the same people might have led to.
    pub fn drawn(&self, seed: u64) -> Self {
        let mut random = stream(seed, &[DRAWN]);
        let mut step: Vec<f64> = self
            .theta
            .iter()
            .map(|_| normal_quantile(random.random::<f64>().clamp(1e-12, 1.0 - 1e-12)))
            .collect();
        self.factor.backward_one(&mut step);
        let theta = self.theta.iter().zip(&step).map(|(x, step)| x + step).collect();
        Self { theta, ..self.clone() }
    }
}
