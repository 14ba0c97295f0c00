//! The fit of the effect model: Newton's method with step halving on a convex objective.
//!
//! The objective is −Σ n·ln P + penalty. With r = P·Σn − n the gradient by the logits, its curvature by the logits of one row
//! is Σn·(diag P − P·Pᵀ), and the logits are linear in the parameters: the Hessian is made of weighted products of features,
//! Xᵀ·diag(w)·X, one for each state, action and pair of next states. A step is halved until the objective does not grow. The fit
//! has converged when the largest derivative, per observed transition, is below 10⁻¹⁰ and the last step was short (10⁻⁶): the
//! distance that is left is of the order of its square.

use super::super::cholesky;
use super::{Effect, Precision};
use crate::error::{Error, Result};
use ndarray::{Array2, ArrayView2, ArrayView4, Axis};
use rayon::prelude::*;

/// Precision of the passive weights, for uniqueness only.
const WEIGHT_RIDGE: f64 = 1e-3;
/// Precision of the passive biases and of δ, for existence only.
const BIAS_RIDGE: f64 = 1e-6;
/// Largest derivative per observed transition of a fit that has converged.
const CONVERGED: f64 = 1e-10;
/// Largest last step of such a fit, against the size of the parameter.
const SHORT: f64 = 1e-6;
const MOST_STEPS: usize = 100;
/// Precisions that are tried on held-out arms, as far as the cap allows, and the cap.
const GRID: [f64; 7] = [0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

/// How a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitStatus {
    /// at the minimum
    Converged,
    /// the derivatives did not vanish: see the fit's `gradient`
    NotConverged,
}

/// A fitted model, and how well that went.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// the model
    pub effect: Effect,
    /// whether it is at the minimum
    pub status: FitStatus,
    /// the largest derivative of the objective, per observed transition
    pub gradient: f64,
    /// Newton steps made
    pub steps: usize,
    /// the precisions tried, each with the negative log-likelihood of the held-out arms
    pub held_out: Vec<(f64, f64)>,
}

/// Features `[N,F]` and counts `[N,M,2,M]` of some arms.
type Arms<'a> = (ArrayView2<'a, f64>, ArrayView4<'a, f64>);

/// Fits the model to arms with features `[N,F]`, seen to move so often from s under a to s′ (`counts`, `[N,M,2,M]`).
///
/// [`Precision::HeldOut`] needs other arms (`held_out`: features and counts) to be judged on.
pub fn fit(
    features: ArrayView2<'_, f64>,
    counts: ArrayView4<'_, f64>,
    precision: Precision,
    held_out: Option<Arms<'_>>,
) -> Result<Fit> {
    let (f, m) = (features.ncols(), counts.len_of(Axis(1)));
    assert_eq!(counts.shape(), [features.nrows(), m, 2, m], "counts: [N,M,2,M]");
    let mut effect = Effect::new(f, m, precision)?;
    let cap = match precision {
        Precision::Fixed(precision) => return Ok(newton(effect, (features, counts), precision)),
        Precision::HeldOut { cap } => cap,
    };
    let Some(held_out) = held_out else {
        let expected = "arms to judge the precision on, or a fixed precision".into();
        return Err(Error::Unsuitable { what: "held-out arms", found: "none".into(), expected });
    };
    let mut tried = Vec::new();
    let mut best: Option<Fit> = None;
    for precision in GRID.into_iter().filter(|p| *p < cap).chain([cap]) {
        let fitted = newton(effect, (features, counts), precision);
        effect = fitted.effect.clone(); // the next one starts here
        let loss = negative_log_likelihood(&fitted.effect, held_out);
        if best.is_none() || tried.iter().all(|(_, other)| loss < *other) {
            best = Some(fitted);
        }
        tried.push((precision, loss));
    }
    Ok(Fit { held_out: tried, ..best.expect("the cap is always tried") })
}

fn negative_log_likelihood(effect: &Effect, (features, counts): Arms<'_>) -> f64 {
    let p = effect.predict(features);
    -p.iter().zip(counts).filter(|(_, n)| **n > 0.0).map(|(p, n)| n * p.ln()).sum::<f64>()
}

fn newton(mut effect: Effect, data: Arms<'_>, precision: f64) -> Fit {
    effect.precision = Precision::Fixed(precision);
    let observed: f64 = data.1.sum().max(1.0);
    let ridge = Ridge::new(&effect, precision);
    let mut value = objective(&effect, data, &ridge);
    let (mut steps, mut was_short) = (0, false);
    loop {
        let slope = gradient(&effect, data, &ridge);
        let size = slope.iter().fold(0.0f64, |a, g| a.max(g.abs())) / observed;
        let is_flat = size <= CONVERGED;
        let end = if is_flat { FitStatus::Converged } else { FitStatus::NotConverged };
        let done = |status, effect| Fit { effect, status, gradient: size, steps, held_out: Vec::new() };
        if is_flat && was_short || steps == MOST_STEPS || slope.is_empty() || size.is_nan() {
            return done(end, effect);
        }
        let mut curvature = hessian(&effect, data, &ridge);
        let Some(step) = cholesky::solve(&mut curvature, &slope) else {
            return done(FitStatus::NotConverged, effect);
        };
        was_short = step.iter().zip(&effect.params).all(|(d, x)| d.abs() <= SHORT * (1.0 + x.abs()));
        let here = effect.params.clone();
        let mut share = 1.0;
        loop {
            let moved = here.iter().zip(&step).map(|(x, d)| x - share * d);
            effect.params = moved.collect();
            let there = objective(&effect, data, &ridge);
            // near the minimum the objective stands still to rounding
            if there <= value + 1e-13 * value.abs() {
                value = there;
                break;
            }
            share *= 0.5;
            if share < 1e-10 {
                effect.params = here;
                return done(end, effect);
            }
        }
        steps += 1;
    }
}

/// The penalty ½·Σ ρ·uᵀ·Q·u over stretches u of M − 1 log-odds, Q = 2·(I − 1·1ᵀ/M).
struct Ridge {
    /// ρ of each stretch
    precision: Vec<f64>,
    m: usize,
}

impl Ridge {
    fn new(effect: &Effect, precision: f64) -> Self {
        let (f, m) = (effect.features, effect.states);
        let repeat = std::iter::repeat_n;
        let ridges = repeat(WEIGHT_RIDGE, m * f).chain(repeat(BIAS_RIDGE, 2 * m)).chain(repeat(precision, f));
        Self { precision: ridges.collect(), m }
    }

    /// Q·u of each stretch, times ρ.
    fn gradient(&self, params: &[f64]) -> Vec<f64> {
        let q = self.m - 1;
        let stretches = params.chunks_exact(q.max(1)).zip(&self.precision);
        stretches
            .flat_map(|(u, rho)| {
                let mean = u.iter().sum::<f64>() / self.m as f64;
                u.iter().map(move |u| 2.0 * rho * (u - mean))
            })
            .collect()
    }

    fn value(&self, params: &[f64]) -> f64 {
        0.5 * self.gradient(params).iter().zip(params).map(|(g, u)| g * u).sum::<f64>()
    }
}

fn objective(effect: &Effect, data: Arms<'_>, ridge: &Ridge) -> f64 {
    negative_log_likelihood(effect, data) + ridge.value(&effect.params)
}

fn gradient(effect: &Effect, (features, counts): Arms<'_>, ridge: &Ridge) -> Vec<f64> {
    let n = features.nrows();
    let mut d_z = effect.predict(features);
    for (mut p, n) in d_z.rows_mut().into_iter().zip(counts.rows()) {
        let total = n.sum();
        p.zip_mut_with(&n, |p, n| *p = *p * total - n);
    }
    let width = 2 * effect.states * effect.states;
    let d_z = d_z.into_shape_with_order((n, width)).expect("contiguous");
    let mut slope = effect.pull_logits(features, d_z.view());
    slope.iter_mut().zip(ridge.gradient(&effect.params)).for_each(|(slope, d)| *slope += d);
    slope
}

fn hessian(effect: &Effect, (features, counts): Arms<'_>, ridge: &Ridge) -> Array2<f64> {
    let (n, f, m, q) = (features.nrows(), effect.features, effect.states, effect.states - 1);
    let at = effect.offsets();
    let p = effect.predict(features);
    // features and a one: [N,F+1]
    let x =
        Array2::from_shape_fn((n, f + 1), |(i, f)| if f < features.ncols() { features[[i, f]] } else { 1.0 });
    let rows: Vec<(usize, usize)> = (0..m).flat_map(|s| [(s, 0), (s, 1)]).collect();
    let products: Vec<Vec<Array2<f64>>> = rows
        .par_iter()
        .map(|&(s, a)| {
            let pairs = (0..q).flat_map(|k| (0..=k).map(move |l| (k, l)));
            pairs
                .map(|(k, l)| {
                    let mut weighted = x.clone();
                    for (i, mut row) in weighted.rows_mut().into_iter().enumerate() {
                        let total: f64 = (0..m).map(|next| counts[[i, s, a, next]]).sum();
                        let (pk, pl) = (p[[i, s, a, k + 1]], p[[i, s, a, l + 1]]);
                        row *= total * (if k == l { pk - pk * pl } else { -pk * pl });
                    }
                    x.t().dot(&weighted)
                })
                .collect()
        })
        .collect();
    let passive =
        |s: usize, g: usize, k: usize| if g < f { (s * f + g) * q + k } else { at.bias + s * q + k };
    let shift =
        |s: usize, g: usize, k: usize| if g < f { at.weight + g * q + k } else { at.level + s * q + k };
    let mut hessian = Array2::zeros((at.len, at.len));
    for (&(s, a), products) in rows.iter().zip(&products) {
        for (k, l) in (0..q).flat_map(|k| (0..q).map(move |l| (k, l))) {
            let (high, low) = (k.max(l), k.min(l));
            let product = &products[high * (high + 1) / 2 + low];
            for ((g, h), &value) in product.indexed_iter() {
                hessian[[passive(s, g, k), passive(s, h, l)]] += value;
                if a == 1 {
                    hessian[[passive(s, g, k), shift(s, h, l)]] += value;
                    hessian[[shift(s, g, k), passive(s, h, l)]] += value;
                    hessian[[shift(s, g, k), shift(s, h, l)]] += value;
                }
            }
        }
    }
    for (stretch, rho) in ridge.precision.iter().enumerate() {
        for (k, l) in (0..q).flat_map(|k| (0..q).map(move |l| (k, l))) {
            hessian[[stretch * q + k, stretch * q + l]] += 2.0 * rho * (f64::from(k == l) - 1.0 / m as f64);
        }
    }
    hessian
}
