//! What the folds say of the bases, and the choice among them.

use super::Fold;
use super::weights::{Seen, pool_weights};
use crate::evaluation::{Record, alike, frequencies, moments};
use crate::predictor::{Architecture, Predictor, PredictorKind, logs, pooled};
use crate::training::prepared::Prepared;
use ndarray::{Array4, ArrayD, IxDyn};
use std::sync::Arc;

/// No logarithm is taken of less.
const LEAST: f64 = 1e-6;

/// The bases by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseName {
    /// the hierarchical model
    Hierarchical,
    /// the network without hidden layers, where states are seen at pulls only
    Linear,
    /// the network on features as they are
    Network,
    /// the network on standardised features
    StandardisedNetwork,
}

impl BaseName {
    /// All of them.
    pub const ALL: [BaseName; 4] =
        [BaseName::Hierarchical, BaseName::Linear, BaseName::Network, BaseName::StandardisedNetwork];

    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            BaseName::Hierarchical => "hierarchical",
            BaseName::Linear => "linear",
            BaseName::Network => "network",
            BaseName::StandardisedNetwork => "standardised-network",
        }
    }
}

/// What was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// the base under which moves out of fold are likeliest
    Single,
    /// several of them, weighed
    Pool,
    /// none of them: no base is better than the bare frequencies
    Frequencies,
}

/// What the folds said of one base.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BaseVerdict {
    /// which
    pub name: BaseName,
    /// in what was chosen
    pub weight: f64,
    /// in the pool, whether it was chosen or not; none where no pool was tried
    pub pool_weight: Option<f64>,
    /// −ln P of a move (or sighting, where states are seen at pulls only), out of fold
    pub loss: f64,
}

/// What the folds said.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// what was chosen
    pub outcome: Outcome,
    /// the bases
    pub bases: Vec<BaseVerdict>,
    /// by how much the pool's squared error of the next reward is lower than the best base's, in units of twice its mean, and the
    /// standard error of that over the folds; none where no pool was tried
    pub gain: Option<(f64, f64)>,
    /// −ln P of a move out of fold under what was chosen
    pub loss: f64,
    /// and under the frequencies of the other folds
    pub frequencies: f64,
    /// moves, or sightings, that were judged
    pub moves: f64,
    /// folds
    pub folds: usize,
}

/// Every fold's predictions by base and instance.
type Predictions = [Vec<Vec<Array4<f64>>>];

pub(super) fn judge(names: &[BaseName], folds: &[Fold], predictions: &Predictions) -> Verdict {
    let losses: Vec<f64> =
        (0..names.len()).map(|b| total(folds, |k, i| clipped(&predictions[k][b][i]))).collect();
    let moves: f64 = records(folds).map(Record::total).sum();
    let known: Vec<_> = folds.iter().map(|fold| frequencies(&parts(&fold.train))).collect();
    let nothing = total(folds, |k, i| alike(&known[k], folds[k].held_out[i].arms()));
    let best = position_of_least(&losses);
    let mut verdict = Verdict {
        outcome: Outcome::Single,
        bases: names
            .iter()
            .zip(&losses)
            .enumerate()
            .map(|(b, (name, loss))| BaseVerdict {
                name: *name,
                weight: f64::from(u8::from(b == best)),
                pool_weight: None,
                loss: loss / moves,
            })
            .collect(),
        gain: None,
        loss: losses[best] / moves,
        frequencies: nothing / moves,
        moves,
        folds: folds.len(),
    };
    if names.len() > 1 && folds.len() > 1 {
        try_pool(&mut verdict, folds, predictions);
    }
    // written so that what is no number is no model
    if !(verdict.loss < verdict.frequencies) {
        verdict.outcome = Outcome::Frequencies;
        verdict.loss = verdict.frequencies;
        verdict.bases.iter_mut().for_each(|base| base.weight = 0.0);
    }
    verdict
}

/// Takes the pool where it pays; nothing where states are seen at pulls only.
fn try_pool(verdict: &mut Verdict, folds: &[Fold], predictions: &Predictions) {
    let mut groups = Vec::new();
    let mut fold_of = Vec::new();
    for (k, fold) in folds.iter().enumerate() {
        for (i, arms) in fold.held_out.iter().enumerate() {
            let Some(counts) = arms.record.moves() else { return };
            let predictions = predictions[k].iter().map(|base| base[i].view()).collect();
            groups.push(Seen { counts: counts.view(), predictions });
            fold_of.push(k);
        }
    }
    let reward: Vec<f64> = folds[0].held_out[0].reward.view().column(0).to_vec();
    let found = pool_weights(&groups, &reward);
    let mine = found.error.iter().sum::<f64>();
    let alone: Vec<f64> = found.alone.iter().map(|errors| errors.iter().sum()).collect();
    let best = &found.alone[position_of_least(&alone)];
    let unit = 2.0 * mine / found.moves.iter().sum::<f64>().max(1.0);
    let mut by_fold = vec![0.0; folds.len()];
    for ((k, best), mine) in fold_of.iter().zip(best).zip(&found.error) {
        by_fold[*k] += (best - mine) / unit;
    }
    let (mean, variance) = moments(&by_fold);
    let folds_many = by_fold.len() as f64;
    let (gain, error) = (mean * folds_many, (variance * folds_many).sqrt());
    verdict.gain = Some((gain, error));
    for (base, weight) in verdict.bases.iter_mut().zip(&found.weights) {
        base.pool_weight = Some(*weight);
    }
    // a pool in which nobody has a weight is no model: it has every move be as likely as any other, which coins may reward
    if gain > error && found.weights.iter().any(|weight| *weight > 0.0) {
        verdict.outcome = Outcome::Pool;
        verdict.bases.iter_mut().zip(&found.weights).for_each(|(base, weight)| base.weight = *weight);
        verdict.loss = total(folds, |k, i| {
            let bases = found.weights.iter().zip(&predictions[k]);
            clipped(&pooled(bases.map(|(weight, base)| (*weight, logs(base[i].view())))))
        }) / verdict.moves;
    }
}

fn clipped(p: &Array4<f64>) -> Array4<f64> {
    p.mapv(|p| p.max(LEAST))
}

/// −Σ n·ln P over all held-out arms.
fn total(folds: &[Fold], predict: impl Fn(usize, usize) -> Array4<f64>) -> f64 {
    let mut sum = 0.0;
    for (k, fold) in folds.iter().enumerate() {
        for (i, arms) in fold.held_out.iter().enumerate() {
            let moves = arms.record.total();
            if moves > 0.0 {
                sum += moves * arms.record.loss(predict(k, i).view()).per_transition;
            }
        }
    }
    sum
}

fn records(folds: &[Fold]) -> impl Iterator<Item = &Record> {
    folds.iter().flat_map(|fold| fold.held_out.iter().map(|arms| &arms.record))
}

fn parts(arms: &[Arc<Prepared>]) -> Vec<&Record> {
    arms.iter().map(|arms| &arms.record).collect()
}

/// The first of the least; what is no number comes last.
fn position_of_least(values: &[f64]) -> usize {
    let order = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
    (0..values.len()).min_by(|a, b| order(values[*a]).total_cmp(&order(values[*b]))).expect("a base")
}

/// A predictor that has every arm move as all of them do.
pub(super) fn nothing_known(all: &[Arc<Prepared>]) -> Predictor {
    let frequencies = frequencies(&parts(all));
    let (features, states) = (all[0].features.ncols(), all[0].reward.states());
    let kind = PredictorKind::Network { hidden: vec![], dropout: 0.0 };
    let mut predictor =
        Predictor::new(&Architecture { features, states, kind }, 0).expect("a linear predictor");
    let bias: Vec<f64> = frequencies.iter().map(|p| p.max(LEAST).ln()).collect();
    let named: Vec<(String, ArrayD<f64>)> = predictor
        .params()
        .into_iter()
        .map(|(name, block)| {
            let numbers = if block.ndim() == 1 { bias.clone() } else { vec![0.0; block.len()] };
            (name, ArrayD::from_shape_vec(IxDyn(block.shape()), numbers).expect("its shape"))
        })
        .collect();
    predictor.set_params(&named).expect("its own parameters");
    predictor
}
