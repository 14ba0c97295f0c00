//! Minibatches: of instances with very many arms a step takes some of them, in an order that is drawn anew for every epoch.
//!
//! With whole instances a step down the loss of a million arms costs a pass over all of them, and thousands of steps are needed. The
//! gradient of a few thousand arms says nearly the same: with B of N arms its noise is that of a mean over B, and it is scaled by N/B, so
//! that what a step descends is the loss of the whole instance, in expectation exactly. So [`Config::batch`](super::Config::batch) cuts
//! every instance that has more arms into as few pieces of nearly the same size as keep within it; an epoch still meets every arm once,
//! and the schedule, the validation loss after each epoch (of *all* validation arms) and the patience are as they were.
//!
//! The order of an epoch's arms comes from the seed, the number of the epoch and that of the instance, and from nothing else: training
//! that goes on from a snapshot meets the same pieces, and so does any number of threads.

use super::prepared::Prepared;
use super::two_stage::dropout_seed;
use crate::predictor::Predictor;
use crate::random::stream;
use ndarray::Axis;
use rand::RngExt;
use std::sync::Arc;

/// The stream of orders: no other use of a seed begins with it.
const ORDER: u64 = 0x006f_7264_6572;

/// Arms of one instance, for one step.
pub(super) struct Piece {
    /// which instance
    pub instance: usize,
    /// in the order drawn; none: all of them
    pub arms: Option<Vec<usize>>,
}

/// How many pieces an instance is cut into.
pub(super) fn pieces_of(arms: usize, batch: Option<usize>) -> usize {
    batch.map_or(1, |batch| arms.div_ceil(batch.max(1))).max(1)
}

/// The pieces of an epoch, instance by instance.
pub(super) fn pieces(train: &[Arc<Prepared>], batch: Option<usize>, seed: u64, epoch: usize) -> Vec<Piece> {
    let cut = |(instance, prepared): (usize, &Arc<Prepared>)| {
        let n = prepared.arms();
        let count = pieces_of(n, batch);
        if count == 1 {
            return vec![Piece { instance, arms: None }];
        }
        let mut order: Vec<usize> = (0..n).collect();
        let mut random = stream(seed, &[ORDER, epoch as u64, instance as u64]);
        (1..n).rev().for_each(|i| order.swap(i, random.random_range(0..=i)));
        // sizes differ by one at most
        let from = |k: usize| k * n / count;
        (0..count).map(|k| Piece { instance, arms: Some(order[from(k)..from(k + 1)].to_vec()) }).collect()
    };
    train.iter().enumerate().flat_map(cut).collect()
}

/// The loss per trajectory of a piece's own arms, and the gradient of the whole instance's loss as these arms tell it.
pub(super) fn step(
    predictor: &Predictor,
    prepared: &Prepared,
    arms: Option<&[usize]>,
    seed: u64,
    steps: u64,
) -> (f64, Vec<f64>) {
    let seed = dropout_seed(seed, steps);
    let Some(arms) = arms else {
        let forward = predictor.forward_with_dropout(prepared.features.view(), seed);
        let loss = prepared.record.loss(forward.transition.view());
        return (loss.per_trajectory, forward.pullback(loss.pullback(1.0).d_transition.view()).d_params);
    };
    let (features, record) = (prepared.features.select(Axis(0), arms), prepared.record.select_arms(arms));
    let forward = predictor.forward_with_dropout(features.view(), seed);
    let loss = record.loss(forward.transition.view());
    let scale = prepared.arms() as f64 / arms.len() as f64;
    (loss.per_trajectory, forward.pullback(loss.pullback(scale).d_transition.view()).d_params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::domain::Domain;
    use crate::predictor::{Architecture, PredictorKind};

    fn prepared(arms: usize) -> Vec<Arc<Prepared>> {
        let domain = Domain { instances: 2, arms, budget: 2, trajectories: 3, ..Domain::two_state() };
        let instances = domain.generate(4).unwrap();
        instances.iter().map(|instance| Arc::new(Prepared::new(instance, None).unwrap())).collect()
    }

    #[test]
    fn an_epoch_meets_every_arm_once_in_pieces_of_nearly_one_size() {
        let train = prepared(10);
        let cut = pieces(&train, Some(4), 7, 3);
        let sizes: Vec<usize> = cut.iter().map(|piece| piece.arms.as_ref().unwrap().len()).collect();
        assert_eq!(sizes, [3, 3, 4, 3, 3, 4]);
        for instance in 0..2 {
            let of = cut.iter().filter(|piece| piece.instance == instance);
            let mut met: Vec<usize> = of.flat_map(|piece| piece.arms.clone().unwrap()).collect();
            met.sort_unstable();
            assert_eq!(met, (0..10).collect::<Vec<_>>());
        }
        let order = |seed, epoch| pieces(&train, Some(4), seed, epoch)[0].arms.clone();
        assert_eq!(order(7, 3), cut[0].arms);
        assert!((0..9).any(|epoch| order(7, epoch) != cut[0].arms));
        assert!((0..9).any(|seed| order(seed, 3) != cut[0].arms));
        assert!(
            pieces(&train, Some(10), 7, 3)
                .iter()
                .chain(&pieces(&train, None, 7, 3))
                .all(|p| p.arms.is_none())
        );
    }

    #[test]
    fn the_gradients_of_pieces_are_the_differences_of_their_loss_and_their_mean_is_the_whole() {
        let train = prepared(11);
        let kind = PredictorKind::Network { hidden: vec![5], dropout: 0.0 };
        let features = train[0].features.ncols();
        let predictor = Predictor::new(&Architecture { features, states: 2, kind }, 3).unwrap();
        let (whole_loss, whole) = step(&predictor, &train[0], None, 1, 0);
        let cut = pieces(&train[..1], Some(4), 9, 0);
        let (mut loss, mut mean) = (0.0, vec![0.0; whole.len()]);
        for piece in &cut {
            let arms = piece.arms.as_deref();
            let size = arms.unwrap().len() as f64;
            let (own, gradient) = step(&predictor, &train[0], arms, 1, 0);
            loss += own;
            mean.iter_mut().zip(&gradient).for_each(|(mean, d)| *mean += d * size / 11.0);
            for at in 0..whole.len() {
                let moved = |by: f64| {
                    let mut moved = predictor.clone();
                    moved.update(|params| params[at] += by);
                    step(&moved, &train[0], arms, 1, 0).0 * 11.0 / size
                };
                let by = 1e-4;
                let [near, far] = [by, 2.0 * by].map(|by| (moved(by) - moved(-by)) / (2.0 * by));
                // Richardson's differences: the error is of fourth order, and rounding 1e-12/1e-4
                let difference = (4.0 * near - far) / 3.0;
                assert!(
                    (difference - gradient[at]).abs() < 1e-6 * (1.0 + difference.abs()),
                    "parameter {at}"
                );
            }
        }
        assert!((loss - whole_loss).abs() < 1e-12 * whole_loss);
        for (mean, whole) in mean.iter().zip(&whole) {
            assert!((mean - whole).abs() < 1e-11 * (1.0 + whole.abs()));
        }
    }
}
