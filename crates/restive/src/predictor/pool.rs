//! A pool of predictors: several kinds, each on its own scale, each perhaps the mean of several fits, weighed as log-odds.
//!
//! With P_b the mean of the fits of base b, and weights w_b ≥ 0,
//!
//! ```text
//! ln P(s′) = Σ_b w_b · ln P_b(s′) + constant        (P_b no less than 10⁻⁶)
//! ```
//!
//! A single base of weight 1 is itself. Weights and scalings are settings, not parameters: training goes through the fits alone.
//!
//! **Its pullback.** With d_z = P·(d_P − Σ P·d_P) that of the log-odds, base b has w_b·d_z/P_b, and each of its fits that share of
//! the mean.

use super::params::Block;
use super::scaling::Scaling;
use super::softmax::softmax;
use super::{Architecture, Forward, Predictor, PredictorKind};
use crate::error::{Error, Result};
use ndarray::{Array4, ArrayView2, ArrayView4, ArrayViewD, CowArray, Ix2, Zip};
use std::borrow::Borrow;

/// No logarithm is taken of less.
pub(super) const LEAST: f64 = 1e-6;

/// What one base of a pool is, before any training.
#[derive(Debug, Clone, PartialEq)]
pub struct BaseKind {
    /// the predictor
    pub kind: PredictorKind,
    /// of its log-odds
    pub weight: f64,
    /// of its features; none: as they are
    pub scaling: Option<Scaling>,
    /// whose mean it predicts by
    pub fits: usize,
}

/// One base of a pool.
#[derive(Debug, Clone, PartialEq)]
pub struct Base {
    /// of its log-odds
    pub weight: f64,
    /// of its features; none: as they are
    pub scaling: Option<Scaling>,
    /// whose mean it predicts by; at least one, all of one kind
    pub fits: Vec<Predictor>,
}

/// Several predictors, weighed as log-odds.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    bases: Vec<Base>,
}

impl Pool {
    /// Of at least one base, with weights that are not negative and not all zero.
    pub fn new(bases: Vec<Base>) -> Result<Self> {
        let weights: Vec<f64> = bases.iter().map(|base| base.weight).collect();
        if let Some(found) = weights.iter().find(|weight| !(**weight >= 0.0 && weight.is_finite())) {
            let expected = "numbers of at least 0";
            return Err(Error::Range { what: "weights of a pool", expected, found: *found });
        }
        if bases.iter().any(|base| base.fits.is_empty()) || !weights.iter().any(|weight| *weight > 0.0) {
            let expected = "at least one base with a weight above 0, and a fit of each".into();
            return Err(Error::Unsuitable { what: "pool", found: "none".into(), expected });
        }
        let features = bases[0].fits[0].architecture().features;
        let lengths =
            bases.iter().flat_map(|base| &base.scaling).flat_map(|x| [x.shift.len(), x.scale.len()]);
        if let Some(found) = lengths.into_iter().find(|length| *length != features) {
            let expected = format!("{features} numbers");
            return Err(Error::Shape { what: "scaling of a base", expected, found: vec![found] });
        }
        Ok(Self { bases })
    }

    pub(super) fn untrained(features: usize, states: usize, kinds: &[BaseKind], seed: u64) -> Result<Self> {
        let base = |base: &BaseKind| -> Result<Base> {
            let architecture = Architecture { features, states, kind: base.kind.clone() };
            let fits = (0..base.fits).map(|_| Predictor::new(&architecture, seed)).collect::<Result<_>>()?;
            Ok(Base { weight: base.weight, scaling: base.scaling.clone(), fits })
        };
        Self::new(kinds.iter().map(base).collect::<Result<_>>()?)
    }

    /// Its bases.
    pub fn bases(&self) -> &[Base] {
        &self.bases
    }

    pub(super) fn architecture(&self) -> Architecture {
        let base = |base: &Base| BaseKind {
            kind: base.fits[0].architecture().kind,
            weight: base.weight,
            scaling: base.scaling.clone(),
            fits: base.fits.len(),
        };
        let kind = PredictorKind::Pool { bases: self.bases.iter().map(base).collect() };
        Architecture { kind, ..self.bases[0].fits[0].architecture() }
    }

    /// The pool of the k-th fit of every base alone.
    pub fn of_fit(&self, k: usize) -> Self {
        let base = |base: &Base| Base { fits: vec![base.fits[k].clone()], ..base.clone() };
        Self { bases: self.bases.iter().map(base).collect() }
    }

    fn fits(&self) -> impl Iterator<Item = &Predictor> {
        self.bases.iter().flat_map(|base| &base.fits)
    }

    /// Transitions `[N,M,2,M]` of arms with features `[N,F]`.
    pub fn predict(&self, features: ArrayView2<'_, f64>) -> Array4<f64> {
        let one = |base: &Base| {
            let scaled = base.scaled(features.into());
            let (first, others) = base.fits.split_first().expect("at least one fit");
            let mut mean = first.predict(scaled.view());
            others.iter().for_each(|fit| mean += &fit.predict(scaled.view()));
            mean /= base.fits.len() as f64;
            mean
        };
        if let [only] = &self.bases[..]
            && only.weight == 1.0
        {
            return one(only);
        }
        let used = self.bases.iter().filter(|base| base.weight > 0.0);
        pooled(used.map(|base| (base.weight, logs(one(base).view()))))
    }

    /// The same, so that it can be pulled back; with a seed: as in a training step, with dropout.
    pub(super) fn forward<'a>(
        &'a self,
        features: CowArray<'a, f64, Ix2>,
        dropout: Option<u64>,
    ) -> Forward<'a> {
        let mut forwards = Vec::new();
        let mut means: Vec<Array4<f64>> = Vec::new();
        for base in &self.bases {
            let scaled = base.scaled(features.clone());
            let mut mean: Option<Array4<f64>> = None;
            for fit in &base.fits {
                let forward = match dropout {
                    Some(seed) => fit.forward_with_dropout(scaled.clone(), seed),
                    None => fit.forward(scaled.clone()),
                };
                match &mut mean {
                    Some(mean) => *mean += &forward.transition,
                    None => mean = Some(forward.transition.clone()),
                }
                forwards.push(forward);
            }
            means.push(mean.expect("at least one fit") / base.fits.len() as f64);
        }
        let transition = match &self.bases[..] {
            [only] if only.weight == 1.0 => means[0].clone(),
            bases => {
                let used = bases.iter().zip(&means).filter(|(base, _)| base.weight > 0.0);
                pooled(used.map(|(base, mean)| (base.weight, logs(mean.view()))))
            }
        };
        Forward { transition, tape: super::Tape::Pool(Tape { pool: self, forwards, means }) }
    }

    pub(super) fn flat(&self) -> Vec<f64> {
        self.fits().flat_map(|fit| fit.flat().into_owned()).collect()
    }

    pub(super) fn set_flat(&mut self, mut flat: &[f64]) {
        for fit in self.bases.iter_mut().flat_map(|base| &mut base.fits) {
            let (own, rest) = flat.split_at(fit.flat().len());
            fit.update(|params| params.copy_from_slice(own));
            flat = rest;
        }
    }

    pub(super) fn params(&self) -> Vec<(String, ArrayViewD<'_, f64>)> {
        let views = self.fits().flat_map(Predictor::params).map(|(_, view)| view);
        self.blocks().into_iter().map(|block| block.name).zip(views).collect()
    }

    pub(super) fn blocks(&self) -> Vec<Block> {
        let bases = self.bases.iter().enumerate();
        let fits = bases.flat_map(|(b, base)| base.fits.iter().enumerate().map(move |(k, fit)| (b, k, fit)));
        fits.flat_map(|(b, k, fit)| {
            let blocks = fit.blocks().into_iter();
            blocks.map(move |block| Block::new(format!("base_{b}.fit_{k}.{}", block.name), &block.shape))
        })
        .collect()
    }
}

impl Base {
    fn scaled<'a>(&self, features: CowArray<'a, f64, Ix2>) -> CowArray<'a, f64, Ix2> {
        match &self.scaling {
            Some(scaling) => scaling.apply(features.view()).into(),
            None => features,
        }
    }
}

/// The logarithms of transitions, as a pool weighs them.
pub fn logs(transition: ArrayView4<'_, f64>) -> Array4<f64> {
    transition.mapv(|p| p.max(LEAST).ln())
}

/// The transitions of a pool, from the weight and the [logarithms](logs) of each base; at least one.
pub fn pooled<L: Borrow<Array4<f64>>>(bases: impl IntoIterator<Item = (f64, L)>) -> Array4<f64> {
    let mut sum: Option<Array4<f64>> = None;
    for (weight, logs) in bases {
        let logs = logs.borrow();
        let sum = sum.get_or_insert_with(|| Array4::zeros(logs.raw_dim()));
        Zip::from(sum).and(logs).for_each(|sum, log| *sum += weight * log);
    }
    let mut sum = sum.expect("at least one base");
    let states = sum.shape()[3];
    softmax(sum.as_slice_mut().expect("row-major"), states);
    sum
}

/// What the pullback needs.
pub(super) struct Tape<'a> {
    pool: &'a Pool,
    forwards: Vec<Forward<'a>>,
    means: Vec<Array4<f64>>,
}

impl Tape<'_> {
    pub(super) fn d_params(&self, p: ArrayView4<'_, f64>, d_p: ArrayView4<'_, f64>) -> Vec<f64> {
        let is_alone = matches!(&self.pool.bases[..], [only] if only.weight == 1.0);
        let mut d_z = d_p.as_standard_layout().into_owned();
        if !is_alone {
            let states = d_z.shape()[3];
            let p = p.as_standard_layout();
            let slice = d_z.as_slice_mut().expect("row-major");
            super::softmax::pull_back(p.as_slice().expect("row-major"), slice, states);
        }
        let mut forwards = self.forwards.iter();
        let mut all = Vec::new();
        for (base, mean) in self.pool.bases.iter().zip(&self.means) {
            let mut d_mean = d_z.clone();
            if !is_alone {
                let own = |d: &mut f64, p: &f64| *d = if *p > LEAST { base.weight * *d / p } else { 0.0 };
                Zip::from(&mut d_mean).and(mean).for_each(own);
            }
            d_mean /= base.fits.len() as f64;
            for forward in forwards.by_ref().take(base.fits.len()) {
                all.extend(forward.pullback(d_mean.view()).d_params);
            }
        }
        all
    }
}
