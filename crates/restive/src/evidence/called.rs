//! A model of who was called, where nobody knows how calls were chosen.
//!
//! Log-odds of a call = log-odds of the decision's share + w·(1, state, called last time, ln(1 + calls so far), x), ridge 1, by
//! Newton's method. Who was less than a tenth as likely to be called as others, or nearly sure of it, says nothing. That the choice
//! looked at nothing else that bears on outcomes is an assumption, and is said. Decisions whose chances were recorded need no model.
//!
//! **Its uncertainty.** An estimate T = Σ k G is moved by the parameters through the propensities; to first order by
//! c·I⁻¹·Σ_t (a − e) z of each person, with c = Σ k ∂G/∂e · e(1 − e) z and I = Σ e(1 − e) z zᵀ. That is added to the influence of
//! the person's cluster.

use super::clusters::Clusters;
use super::judge::Columns;
use super::rows::{Group, GroupRows, Row};
use super::scores::called;
use crate::cholesky::Cholesky;
use crate::instance::Instance;
use ndarray::{Array1, Array2};

const STEPS: usize = 50;
const RIDGE: f64 = 1.0;
/// Propensities below this share of the decision's mean, or above this number, are left out.
const LEAST: f64 = 0.1;
const MOST: f64 = 0.9;

/// The model.
pub(super) struct Called {
    /// what the choice may have looked at, `[rows, P]`
    z: Array2<f64>,
    information: Cholesky,
}

impl Called {
    /// Fits it to all rows, and writes propensities into the deals.
    pub(super) fn fit(rows: &[Row], groups: &mut [GroupRows], judged: &[Group<'_>]) -> Self {
        let z = looked_at(rows, groups, judged);
        let (n, width) = z.dim();
        let mut offset = vec![0.0; n];
        let mut action = vec![0.0; n];
        let mut is_open = vec![false; n];
        for group in groups.iter() {
            let shares = group.deal.shares();
            for k in group.rows.clone() {
                let share = shares[rows[k].decision as usize];
                let is_recorded = group.deal.is_recorded[rows[k].decision as usize];
                let is_eligible = group.deal.is_eligible[[rows[k].decision as usize, rows[k].arm as usize]];
                is_open[k] = is_eligible && share > 0.0 && share < 1.0 && !is_recorded;
                offset[k] = if is_open[k] { (share / (1.0 - share)).ln() } else { 0.0 };
                action[k] = f64::from(u8::from(called(group, &rows[k])));
            }
        }
        let mut w = Array1::<f64>::zeros(width);
        let propensity = |w: &Array1<f64>| -> Vec<f64> {
            let along = z.dot(w);
            along.iter().zip(&offset).map(|(along, offset)| 1.0 / (1.0 + (-(along + offset)).exp())).collect()
        };
        let mut information = None;
        for _ in 0..STEPS {
            let e = propensity(&w);
            let mut gradient = &w * -RIDGE;
            let mut weighted = Array2::zeros((n, width));
            for k in (0..n).filter(|k| is_open[*k]) {
                gradient.scaled_add(action[k] - e[k], &z.row(k));
                weighted.row_mut(k).scaled_add(e[k] * (1.0 - e[k]), &z.row(k));
            }
            let mut matrix = z.t().dot(&weighted);
            matrix.diag_mut().mapv_inplace(|x| x + RIDGE);
            let factor = Cholesky::new(matrix).expect("squares and a penalty above 0");
            let mut step = gradient.to_vec();
            factor.solve(&mut step);
            information = Some(factor);
            w.iter_mut().zip(&step).for_each(|(w, step)| *w += step.clamp(-2.0, 2.0));
            if step.iter().all(|step| step.abs() < 1e-8) {
                break;
            }
        }
        let e = propensity(&w);
        for group in groups.iter_mut() {
            let shares = group.deal.shares();
            let none = || Array2::zeros(group.deal.is_called.raw_dim());
            let mut given = group.deal.given.take().unwrap_or_else(none);
            for k in group.rows.clone().filter(|k| !group.deal.is_recorded[rows[*k].decision as usize]) {
                let (d, i) = (rows[k].decision as usize, rows[k].arm as usize);
                let is_comparable = is_open[k] && e[k] > LEAST * shares[d] && e[k] < MOST;
                given[[d, i]] = if is_comparable { e[k] } else { 0.0 };
            }
            group.deal.given = Some(given);
        }
        Self { z, information: information.expect("at least one step") }
    }

    /// Additions to the influences of clusters on Σ k G of scored rows, `[clusters]`; `propensity` is that of the rows.
    pub(super) fn adjustment(
        &self,
        rows: &[Row],
        clusters: &Clusters,
        factor: &[f64],
        is_called: impl Fn(&Row) -> bool,
        propensity: &[f64],
    ) -> Vec<f64> {
        let mut moved = vec![0.0; self.z.ncols()];
        for (k, row) in rows.iter().enumerate().filter(|(k, _)| factor[*k] != 0.0) {
            let e = propensity[k];
            let by_propensity = match is_called(row) {
                true => -(row.came[0] - row.worth[1]) / (e * e),
                false => -(row.came[0] - row.worth[0]) / ((1.0 - e) * (1.0 - e)),
            };
            let by_logit = factor[k] * by_propensity * e * (1.0 - e);
            moved.iter_mut().zip(self.z.row(k)).for_each(|(moved, z)| *moved += by_logit * z);
        }
        self.information.solve(&mut moved);
        let mut added = vec![0.0; clusters.count()];
        for (k, row) in rows.iter().enumerate().filter(|(k, _)| propensity[*k] > 0.0) {
            let along: f64 = self.z.row(k).iter().zip(&moved).map(|(z, moved)| z * moved).sum();
            added[clusters.of(row.person as usize)] +=
                along * (f64::from(u8::from(is_called(row))) - propensity[k]);
        }
        added
    }
}

/// What the choice may have looked at.
fn looked_at(rows: &[Row], groups: &[GroupRows], judged: &[Group<'_>]) -> Array2<f64> {
    let states = judged[0].0.states();
    let people: Vec<Instance> = judged.iter().map(|(instance, arms)| instance.select_arms(arms)).collect();
    let columns = Columns::learn(&people);
    let features: Vec<Array2<f64>> = people.iter().map(|people| columns.read(people.features())).collect();
    let width = columns.len();
    let own = 1 + (states - 1) + 2;
    let mut z = Array2::zeros((rows.len(), own + width));
    for (group, features) in groups.iter().zip(&features) {
        let people = group.people.len();
        let (mut so_far, mut last) = (vec![0u32; people], vec![None; people]);
        for block in &group.blocks {
            for k in block.clone() {
                let (row, i) = (&rows[k], rows[k].arm as usize);
                let mut z = z.row_mut(k);
                z[0] = 1.0;
                if row.state > 0 {
                    z[usize::from(row.state)] = 1.0;
                }
                z[states] = f64::from(u8::from(last[i] == Some(true)));
                z[states + 1] = f64::from(so_far[i]).ln_1p();
                features.row(i).iter().enumerate().for_each(|(f, x)| z[own + f] = *x);
                let is_called = called(group, row);
                so_far[i] += u32::from(is_called);
                last[i] = Some(is_called);
            }
        }
    }
    z
}
