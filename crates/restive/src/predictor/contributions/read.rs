//! Predictors as the coalitions of one state read them.
//!
//! Of a predictor in state s only the logits of its two rows are of interest, those of the other next states against state 0. A logistic model gives them by one affine map of
//! the features, a network by several with ReLUs between them. The first map is affine in x: with h₀ what it makes
//! of the reference and δ_g = (x − x₀)_g·W_g, a coalition S has h₀ + Σ_{g ∈ S} δ_g, which is what it grows from, plus one δ.
//! Scalings of a base are folded into its first map. Means and pools are then formed as when predicting.

use super::super::pool::LEAST;
use super::super::softmax::softmax;
use super::super::{Ensemble, Predictor, Scaling};
use super::coalitions::Coalitions;
use super::kernels::{chances, grow, layer};
use ndarray::{Array1, Array2, ArrayView1};
use std::ops::Range;

/// A predictor, in one state.
pub(super) enum Read {
    Fit(Fit),
    Mean(Vec<Read>),
    /// weights of log-odds
    Pool(Vec<(f64, Read)>),
}

/// Affine maps with ReLUs between them, from the features to `[2,M−1]` logits.
pub(super) struct Fit {
    /// of the first map, `[F,w]`
    first: Array2<f64>,
    /// what it makes of the reference, `[w]`
    reference: Vec<f64>,
    /// weight `[to,from]` and bias `[to]` of the others
    others: Vec<(Vec<f64>, Vec<f64>)>,
}

/// Where an arm is not like the reference.
pub(super) struct Changes {
    /// the group and its features in `moved`
    groups: Vec<(usize, Range<usize>)>,
    /// feature, and x − x₀
    moved: Vec<(usize, f64)>,
}

/// Memory that is used again.
#[derive(Default)]
pub(super) struct Work {
    added: Vec<f64>,
    rows: Vec<f64>,
    next: Vec<f64>,
    spare: Vec<Vec<f64>>,
    /// level and effect of every coalition
    pub(super) values: Vec<[f64; 2]>,
}

impl Changes {
    pub(super) fn new(x: ArrayView1<'_, f64>, reference: ArrayView1<'_, f64>, all: &[Range<usize>]) -> Self {
        let (mut groups, mut moved) = (Vec::new(), Vec::new());
        for (g, group) in all.iter().enumerate() {
            let first = moved.len();
            let differing = group.clone().filter(|f| x[*f] != reference[*f]);
            moved.extend(differing.map(|f| (f, x[f] - reference[f])));
            if moved.len() > first {
                groups.push((g, first..moved.len()));
            }
        }
        Self { groups, moved }
    }

    /// The groups that differ, in order.
    pub(super) fn groups(&self) -> Vec<usize> {
        self.groups.iter().map(|(g, _)| *g).collect()
    }
}

impl Read {
    pub(super) fn ensemble(ensemble: &Ensemble, state: usize, reference: ArrayView1<'_, f64>) -> Self {
        let none = Scaling { shift: vec![0.0; reference.len()], scale: vec![1.0; reference.len()] };
        let member = |member: &Predictor| Self::predictor(member, state, reference, &none);
        Self::Mean(ensemble.members.iter().map(member).collect())
    }

    fn predictor(
        predictor: &Predictor,
        state: usize,
        reference: ArrayView1<'_, f64>,
        outer: &Scaling,
    ) -> Self {
        let pool = match predictor {
            Predictor::Network(network) => {
                return Self::Fit(Fit::new(network.maps(state), reference, outer));
            }
            Predictor::Logistic(model) => {
                return Self::Fit(Fit::new(vec![model.map(state)], reference, outer));
            }
            Predictor::Pool(pool) => pool,
        };
        let mean = |base: &super::super::Base| {
            let scaling = base.scaling.as_ref().map_or_else(|| outer.clone(), |inner| outer.then(inner));
            let fit = |fit: &Predictor| Self::predictor(fit, state, reference, &scaling);
            Self::Mean(base.fits.iter().map(fit).collect())
        };
        match pool.bases() {
            [only] if only.weight == 1.0 => mean(only),
            bases => {
                let used = bases.iter().filter(|base| base.weight > 0.0);
                Self::Pool(used.map(|base| (base.weight, mean(base))).collect())
            }
        }
    }

    /// Level and effect of every coalition.
    pub(super) fn level_and_effect(
        &self,
        coalitions: &Coalitions,
        changes: &Changes,
        good: &[bool],
        work: &mut Work,
    ) -> Vec<[f64; 2]> {
        let m = good.len();
        let mut chances = work.spare.pop().unwrap_or_default();
        self.chances(coalitions, changes, m, &mut chances, work);
        let log_odds = |row: &[f64]| {
            let (mut to_good, mut to_others) = (0.0, 0.0);
            for (p, is_good) in row.iter().zip(good) {
                *(if *is_good { &mut to_good } else { &mut to_others }) += p;
            }
            f64::ln(to_good / to_others)
        };
        let mut values = std::mem::take(&mut work.values);
        values.clear();
        values.extend(chances.chunks_exact(2 * m).map(|rows| {
            let [alone, pulled] = [log_odds(&rows[..m]), log_odds(&rows[m..])];
            [alone, pulled - alone]
        }));
        work.spare.push(chances);
        values
    }

    /// The chances of every next state under both actions, `[R,2,M]` for R coalitions.
    fn chances(
        &self,
        coalitions: &Coalitions,
        changes: &Changes,
        m: usize,
        out: &mut Vec<f64>,
        work: &mut Work,
    ) {
        match self {
            Self::Fit(fit) => {
                fit.logits(coalitions, changes, work);
                out.resize(coalitions.len() * 2 * m, 0.0);
                chances(&work.rows, m, out);
            }
            Self::Mean(fits) => {
                let (first, others) = fits.split_first().expect("at least one fit");
                first.chances(coalitions, changes, m, out, work);
                if others.is_empty() {
                    return;
                }
                let mut one = work.spare.pop().unwrap_or_default();
                for fit in others {
                    fit.chances(coalitions, changes, m, &mut one, work);
                    out.iter_mut().zip(&one).for_each(|(sum, p)| *sum += p);
                }
                work.spare.push(one);
                let scale = 1.0 / fits.len() as f64;
                out.iter_mut().for_each(|sum| *sum *= scale);
            }
            Self::Pool(bases) => {
                let mut one = work.spare.pop().unwrap_or_default();
                out.clear();
                out.resize(coalitions.len() * 2 * m, 0.0);
                for (weight, base) in bases {
                    base.chances(coalitions, changes, m, &mut one, work);
                    out.iter_mut().zip(&one).for_each(|(sum, p)| *sum += weight * p.max(LEAST).ln());
                }
                work.spare.push(one);
                softmax(out, m);
            }
        }
    }
}

impl Fit {
    /// Of maps from the features, scaled as the base that it belongs to has it.
    fn new(maps: Vec<(Array2<f64>, Array1<f64>)>, reference: ArrayView1<'_, f64>, scaling: &Scaling) -> Self {
        let mut maps = maps.into_iter();
        let (mut first, bias) = maps.next().expect("at least one map");
        for (mut row, scale) in first.rows_mut().into_iter().zip(&scaling.scale) {
            row /= *scale;
        }
        let from_shift = &reference - &ArrayView1::from(&scaling.shift);
        let reference = bias + from_shift.dot(&first);
        let transposed = |(weight, bias): (Array2<f64>, Array1<f64>)| {
            let weight = weight.t().iter().copied().collect();
            (weight, bias.to_vec())
        };
        Self { first, reference: reference.to_vec(), others: maps.map(transposed).collect() }
    }

    /// The logits of every coalition, `[R,2(M−1)]`, into `work.rows`.
    fn logits(&self, coalitions: &Coalitions, changes: &Changes, work: &mut Work) {
        let width = self.reference.len();
        let Work { added, rows, next, .. } = work;
        added.clear();
        added.resize(changes.groups.len() * width, 0.0);
        for ((_, moved), added) in changes.groups.iter().zip(added.chunks_exact_mut(width)) {
            for (f, change) in &changes.moved[moved.clone()] {
                let weights = self.first.row(*f);
                added.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += change * weight);
            }
        }
        rows.resize(coalitions.len() * width, 0.0);
        rows[..width].copy_from_slice(&self.reference);
        grow(&coalitions.grown, added, width, rows);
        for (weight, bias) in &self.others {
            next.resize(coalitions.len() * bias.len(), 0.0);
            layer(rows, weight, bias, next);
            std::mem::swap(rows, next);
        }
    }
}
