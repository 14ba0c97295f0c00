//! A = L·Lᵀ for a symmetric positive definite A, and what one solves with it.
//!
//! L is found a stripe of columns at a time: what the columns to its left take away from a stripe is one product of matrices,
//! and only the stripe itself is gone through entry by entry. So nearly all of the n³/3 operations are those of a product.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayViewMut2, Axis, s};

/// Columns of a stripe; part of the arithmetic.
const STRIPE: usize = 32;

/// The lower triangle L of a symmetric positive definite matrix; what is above its diagonal is not read.
#[derive(Clone)]
pub(crate) struct Cholesky(Array2<f64>);

impl Cholesky {
    /// Nothing where A is not positive definite. Reads the lower half of `a`.
    pub(crate) fn new(mut a: Array2<f64>) -> Option<Self> {
        let n = a.nrows();
        assert_eq!(a.dim(), (n, n), "a square matrix");
        for first in (0..n).step_by(STRIPE) {
            let width = STRIPE.min(n - first);
            let (left, mut right) = a.view_mut().split_at(Axis(1), first);
            let mut stripe = right.slice_mut(s![first.., ..width]);
            if first > 0 {
                let beside = left.slice(s![first..first + width, ..]);
                general_mat_mul(-1.0, &left.slice(s![first.., ..]), &beside.t(), 1.0, &mut stripe);
            }
            for i in 0..n - first {
                for j in 0..=i.min(width - 1) {
                    let mut rest = stripe[[i, j]];
                    for k in 0..j {
                        rest -= stripe[[i, k]] * stripe[[j, k]];
                    }
                    if i > j {
                        stripe[[i, j]] = rest / stripe[[j, j]];
                    } else if rest > 0.0 && rest.is_finite() {
                        stripe[[i, i]] = rest.sqrt();
                    } else {
                        return None;
                    }
                }
            }
        }
        Some(Self(a))
    }

    /// B becomes L⁻¹·B.
    pub(crate) fn forward(&self, mut b: ArrayViewMut2<'_, f64>) {
        let Self(l) = self;
        let n = l.nrows();
        for first in (0..n).step_by(STRIPE) {
            let width = STRIPE.min(n - first);
            let (above, mut below) = b.view_mut().split_at(Axis(0), first);
            let mut rows = below.slice_mut(s![..width, ..]);
            if first > 0 {
                let beside = l.slice(s![first..first + width, ..first]);
                general_mat_mul(-1.0, &beside, &above, 1.0, &mut rows);
            }
            for i in 0..width {
                let (done, mut rest) = rows.view_mut().split_at(Axis(0), i);
                let mut row = rest.row_mut(0);
                for (j, done) in done.outer_iter().enumerate() {
                    row.scaled_add(-l[[first + i, first + j]], &done);
                }
                row /= l[[first + i, first + i]];
            }
        }
    }

    /// x becomes L⁻¹·x.
    pub(crate) fn forward_one(&self, x: &mut [f64]) {
        let Self(l) = self;
        for i in 0..x.len() {
            let row = l.row(i);
            let known: f64 = row.iter().zip(&x[..i]).map(|(l, x)| l * x).sum();
            x[i] = (x[i] - known) / row[i];
        }
    }

    /// x becomes L⁻ᵀ·x.
    pub(crate) fn backward_one(&self, x: &mut [f64]) {
        let Self(l) = self;
        for i in (0..x.len()).rev() {
            let row = l.row(i);
            x[i] /= row[i];
            let at = x[i];
            x[..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * at);
        }
    }

    /// x becomes A⁻¹·x.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        self.forward_one(x);
        self.backward_one(x);
    }
}
