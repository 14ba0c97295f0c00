//! The transitions of people in the eyes of the judge: as it is, and as it might be.
//!
//! The own part of a person is what all of his record says, calls included; a row is the mean over what is left of it. A draw moves
//! all parameters together within their uncertainty, the effect of a call with them.

use super::{Judge, NODES};
use crate::instance::{Instance, Layout, Transition};
use crate::random::stream;
use crate::statistics::normal_quantile;
use ndarray::Array4;
use rand::RngExt;

/// The stream of draws: no other use of a seed begins with it.
const DRAWN: u64 = 0x6a75_6467;

impl Judge {
    /// P(s, a, s′) of everybody, given all of their record.
    pub fn transition(&self, instance: &Instance) -> Transition {
        self.with_parts(instance, &self.own_parts(instance))
    }

    /// The same without their record: what features alone say.
    pub fn transition_by_features(&self, instance: &Instance) -> Transition {
        self.with_parts(instance, &vec![super::prior(); instance.arms()])
    }

    fn with_parts(&self, instance: &Instance, own: &[[f64; NODES.len()]]) -> Transition {
        let x = self.columns.read(instance.features());
        let along = [0, 1, 2].map(|which| x.dot(&ndarray::aview1(&self.theta[self.place.block(which)])));
        let m = self.place.states;
        let mut all = Array4::zeros((instance.arms(), m, 2, m));
        for (i, mut arm) in all.outer_iter_mut().enumerate() {
            let moves = self.moves_of(along.each_ref().map(|along| along[i]));
            let arm = arm.as_slice_mut().expect("contiguous");
            for (weight, node) in own[i].iter().zip(moves.chunks_exact(2 * m * m)) {
                arm.iter_mut().zip(node).for_each(|(p, at)| *p += weight * at);
            }
            // rows to the last digit
            for row in arm.chunks_exact_mut(m) {
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|p| *p /= sum);
            }
        }
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
