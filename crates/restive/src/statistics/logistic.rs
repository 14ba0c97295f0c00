//! Log-odds of yes = offset + w·x, with a penalty λ/2·|w|², by Newton's method; and how well scores tell yes from no.
//!
//! The objective is concave, and with the penalty it has one top. A step is cut to ±2 per weight, so that a first guess far off does
//! not run away. [`Auc`] counts pairs: of a yes and a no of the same group, how often has the yes the higher score? Ties count
//! half. Within groups (the people of one week) nothing is won by knowing the week.
//!
//! ```
//! use ndarray::Array2;
//! use restive::statistics::{Auc, logistic};
//!
//! let x = Array2::from_shape_fn((200, 2), |(i, f)| if f == 0 { 1.0 } else { (i % 10) as f64 });
//! let yes: Vec<bool> = (0..200).map(|i| (i * 7) % 13 < i % 10).collect();
//! let weights = logistic(x.view(), &yes, &[0.0; 200], 1.0);
//! assert!(weights[1] > 0.2);
//! let mut auc = Auc::default();
//! auc.add(&mut x.dot(&weights).into_iter().zip(yes).collect::<Vec<_>>());
//! assert!(auc.value().unwrap() > 0.7);
//! ```

use crate::cholesky::Cholesky;
use ndarray::{Array1, Array2, ArrayView2};

const STEPS: usize = 30;

/// The weights `[P]` of the columns of `x` `[n,P]`; `ridge` is above 0.
pub fn logistic(x: ArrayView2<'_, f64>, yes: &[bool], offset: &[f64], ridge: f64) -> Array1<f64> {
    let (n, width) = x.dim();
    assert!(yes.len() == n && offset.len() == n, "one answer and one offset for each row");
    assert!(ridge > 0.0, "a penalty above 0");
    let mut weights = Array1::<f64>::zeros(width);
    for _ in 0..STEPS {
        let along = x.dot(&weights);
        let mut weighted = Array2::zeros((n, width));
        let mut gradient = &weights * -ridge;
        for k in 0..n {
            let e = 1.0 / (1.0 + (-(along[k] + offset[k])).exp());
            gradient.scaled_add(f64::from(u8::from(yes[k])) - e, &x.row(k));
            weighted.row_mut(k).scaled_add(e * (1.0 - e), &x.row(k));
        }
        let mut matrix = x.t().dot(&weighted);
        matrix.diag_mut().mapv_inplace(|entry| entry + ridge);
        let Some(factor) = Cholesky::new(matrix) else { break };
        let mut step = gradient.to_vec();
        factor.solve(&mut step);
        weights.iter_mut().zip(&step).for_each(|(w, step)| *w += step.clamp(-2.0, 2.0));
        if step.iter().all(|step| step.abs() < 1e-6) {
            break;
        }
    }
    weights
}

/// Pairs of a yes and a no, over groups.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Auc {
    /// in which the yes has the higher score, ties as halves
    pub won: f64,
    /// all
    pub pairs: f64,
    /// the variance of `won` where scores say nothing: n₁n₀(n₁ + n₀ + 1)/12 of each group
    pub variance: f64,
}

impl Auc {
    /// Adds a group of scores and answers, which it sorts.
    pub fn add(&mut self, group: &mut [(f64, bool)]) {
        group.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ones = group.iter().filter(|(_, yes)| *yes).count() as f64;
        let noes = group.len() as f64 - ones;
        let (mut below, mut k) = (0.0, 0);
        while k < group.len() {
            let ties = group[k..].iter().take_while(|(score, _)| *score == group[k].0).count();
            let here = group[k..k + ties].iter().filter(|(_, yes)| *yes).count() as f64;
            let others = ties as f64 - here;
            self.won += here * (below + 0.5 * others);
            below += others;
            k += ties;
        }
        self.pairs += ones * noes;
        self.variance += ones * noes * (group.len() as f64 + 1.0) / 12.0;
    }

    /// The share of pairs that are won, where there are any.
    pub fn value(&self) -> Option<f64> {
        (self.pairs > 0.0).then(|| self.won / self.pairs)
    }

    /// How far that is from a half, in standard errors of scores that say nothing.
    pub fn z(&self) -> Option<f64> {
        (self.variance > 0.0).then(|| (self.won - 0.5 * self.pairs) / self.variance.sqrt())
    }
}
