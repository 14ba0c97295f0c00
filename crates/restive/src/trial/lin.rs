//! (2) The regression with covariates (Lin 2013).
//!
//! Y on 1, z, x − x̄ and z(x − x̄), with z = 1 in the policy arm and x̄ the mean over everybody: the coefficient of z is the difference
//! in means less what chance imbalances of x explain, and is never worse for large n. With w the weights of the outcomes in
//! that coefficient and e the residuals, people: HC2, Σ w²e²/(1 − leverage). Clusters: CR1, G/(G − 1)·Σ_g (Σ_{i∈g} w e)², and Student's
//! quantile of G − 1 degrees of freedom. A covariate that is the same for everybody is left out.

use super::complete::completed;
use super::difference::moments;
use super::effect::Effect;
use super::ols::{Ols, dot};
use super::record::{Group, Record};
use super::refusal::Refusal;
use crate::statistics::student_quantile;
use std::collections::BTreeMap;

/// The fewest clusters of an arm.
const LEAST_CLUSTERS: usize = 2;

/// The regression with covariates; the only one that answers for clusters.
pub fn lin(record: &Record) -> Result<Effect, Refusal> {
    let parts = record.parts();
    let n = record.people();
    let y: Vec<f64> = completed(record, |_, _| false)?.outer_iter().map(|row| row.sum()).collect();
    let z: Vec<f64> = parts.group.iter().map(|g| f64::from(u8::from(*g == Group::Policy))).collect();
    let mut columns = vec![vec![1.0; n], z.clone()];
    for covariate in parts.covariates.columns() {
        let (mean, variance) = moments(&covariate.to_vec());
        if variance.sqrt() > 1e-12 * mean.abs().max(f64::MIN_POSITIVE) {
            columns.push(covariate.iter().map(|x| x - mean).collect());
            columns.push(covariate.iter().zip(&z).map(|(x, z)| (x - mean) * z).collect());
        }
    }
    if n <= columns.len() {
        return Err(Refusal::TooManyColumns { found: n, columns: columns.len() });
    }
    let ols = Ols::new(&columns).ok_or(Refusal::Collinear)?;
    let beta = ols.coefficients(&y);
    let mut of_z = vec![0.0; columns.len()];
    of_z[1] = 1.0;
    let weights = ols.weights(&of_z);
    let fitted = |i: usize| columns.iter().zip(&beta).map(|(x, b)| x[i] * b).sum::<f64>();
    let residual: Vec<f64> = (0..n).map(|i| y[i] - fitted(i)).collect();
    let size = record.size(Group::Policy) as f64;
    let estimate = size * dot(&weights, &y);
    let Some(cluster) = &parts.cluster else {
        let term = |i: usize| (weights[i] * residual[i]).powi(2) / ols.freedom(i);
        let variance: f64 = (0..n).map(term).sum();
        return Ok(Effect::new(record, estimate, size * variance.sqrt()));
    };
    let mut sums: BTreeMap<usize, (Group, f64)> = BTreeMap::new();
    for i in 0..n {
        sums.entry(cluster[i]).or_insert((parts.group[i], 0.0)).1 += weights[i] * residual[i];
    }
    for group in [Group::Policy, Group::Control] {
        let found = sums.values().filter(|(g, _)| *g == group).count();
        let expected = LEAST_CLUSTERS + (columns.len() - 2) / 2;
        if found < expected {
            return Err(Refusal::TooFewClusters { group, found, expected });
        }
    }
    let g = sums.len() as f64;
    let variance: f64 = sums.values().map(|(_, sum)| sum * sum).sum::<f64>() * g / (g - 1.0);
    Ok(Effect::reaching(record, estimate, size * variance.sqrt(), student_quantile(g - 1.0)))
}
