//! The features of some arms, as the fit multiplies by them.
//!
//! A column of one category out of a thousand is nearly all zeros, and a product that skips them is a thousand times cheaper. So
//! the columns of X are put into an order of their own: first a column of ones, the intercept; then the columns of which
//! at least a quarter is not zero, which are multiplied as a matrix; then the others, of which each arm has a short list. All
//! that a fit needs are X·W, Xᵀ·D and the Gram matrix Xᵀ·diag(w)·X of some columns, for 1,024 arms at a time.

use super::super::chunks::CHUNK;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, Axis, s};
use std::ops::Range;

/// A column with a smaller share of numbers other than zero is kept as a list.
const SPARSE: f64 = 0.25;

/// Which columns there are, and in which order.
pub(super) struct Columns {
    /// the feature of each column but the intercept, which is column 0
    pub features: Vec<usize>,
    /// how many columns, the intercept among them, are multiplied as a matrix
    pub dense: usize,
    /// numbers other than zero in the other columns, over all arms
    pub listed: usize,
}

impl Columns {
    /// Dense columns first; within either kind in the order of the features.
    pub(super) fn new(features: ArrayView2<'_, f64>) -> Self {
        let n = features.nrows();
        let mut filled = vec![0usize; features.ncols()];
        for row in features.rows() {
            filled.iter_mut().zip(row).for_each(|(filled, x)| *filled += usize::from(*x != 0.0));
        }
        let is_sparse = |f: &usize| (filled[*f] as f64) < SPARSE * n as f64;
        let (listed, dense): (Vec<usize>, Vec<usize>) = (0..features.ncols()).partition(is_sparse);
        let columns = dense.len() + 1;
        let in_lists = listed.iter().map(|f| filled[*f]).sum();
        Self { features: [dense, listed].concat(), dense: columns, listed: in_lists }
    }

    /// F + 1
    pub(super) fn len(&self) -> usize {
        self.features.len() + 1
    }

    /// Where each column lies when the features are in their own order, behind the intercept.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        std::iter::once(0).chain(self.features.iter().map(|f| f + 1))
    }

    /// Features `[N,F]`, 1,024 arms at a time.
    pub(super) fn cut(&self, features: ArrayView2<'_, f64>) -> Vec<Design> {
        features.axis_chunks_iter(Axis(0), CHUNK).map(|chunk| Design::new(self, chunk)).collect()
    }
}

/// X `[n,F+1]` of at most 1,024 arms.
pub(super) struct Design {
    /// `[n,D]`
    dense: Array2<f64>,
    /// of each arm, and of one after the last: where its list begins
    start: Vec<usize>,
    /// columns from D on, and what is in them
    listed: Vec<(usize, f64)>,
}

impl Design {
    pub(super) fn new(columns: &Columns, features: ArrayView2<'_, f64>) -> Self {
        let (n, d) = (features.nrows(), columns.dense);
        let mut dense = Array2::ones((n, d));
        for (mut to, row) in dense.outer_iter_mut().zip(features.outer_iter()) {
            to.iter_mut().skip(1).zip(&columns.features).for_each(|(to, f)| *to = row[*f]);
        }
        let (mut start, mut listed) = (vec![0], Vec::new());
        for row in features.rows() {
            let entries = (d..columns.len()).map(|g| (g, row[columns.features[g - 1]]));
            listed.extend(entries.filter(|(_, x)| *x != 0.0));
            start.push(listed.len());
        }
        Self { dense, start, listed }
    }

    /// n
    pub(super) fn arms(&self) -> usize {
        self.dense.nrows()
    }

    /// The dense columns of an arm, `[D]`.
    pub(super) fn dense(&self, i: usize) -> &[f64] {
        let d = self.dense.ncols();
        &self.dense.as_slice().expect("contiguous")[i * d..(i + 1) * d]
    }

    /// What else it has.
    pub(super) fn list(&self, i: usize) -> &[(usize, f64)] {
        &self.listed[self.start[i]..self.start[i + 1]]
    }

    /// X·W for W `[F+1,r]`.
    pub(super) fn times(&self, w: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut out = self.dense.dot(&w.slice(s![..self.dense.ncols(), ..]));
        for (i, mut row) in out.outer_iter_mut().enumerate() {
            self.list(i).iter().for_each(|(g, x)| row.scaled_add(*x, &w.row(*g)));
        }
        out
    }

    /// Xᵀ·D for D `[n,r]`, with so many columns in X.
    pub(super) fn transposed_times(&self, d: ArrayView2<'_, f64>, columns: usize) -> Array2<f64> {
        let mut out = Array2::zeros((columns, d.ncols()));
        let mut top = out.slice_mut(s![..self.dense.ncols(), ..]);
        general_mat_mul(1.0, &self.dense.t(), &d, 0.0, &mut top);
        for (i, row) in d.outer_iter().enumerate() {
            self.list(i).iter().for_each(|(g, x)| out.row_mut(*g).scaled_add(*x, &row));
        }
        out
    }

    /// Adds Xᵀ·diag(w)·X of some columns to the lower half of `out`.
    pub(super) fn add_gram(&self, columns: &Range<usize>, w: &[f64], out: &mut Array2<f64>) {
        let Range { start, end } = *columns;
        let d = self.dense.ncols();
        let dense = self.dense.slice(s![.., start.min(d)..end.min(d)]);
        let width = dense.ncols();
        if width > 0 {
            let mut weighted = dense.to_owned();
            weighted.outer_iter_mut().zip(w).for_each(|(mut row, w)| row *= *w);
            let mut corner = out.slice_mut(s![..width, ..width]);
            general_mat_mul(1.0, &dense.t(), &weighted, 1.0, &mut corner);
        }
        for (i, w) in w.iter().enumerate().filter(|(i, w)| **w != 0.0 && !self.list(*i).is_empty()) {
            let inside = self.list(i).iter().filter(|(g, _)| columns.contains(g));
            for (at, (g, x)) in inside.clone().enumerate() {
                let mut row = out.row_mut(g - start);
                row.slice_mut(s![..width]).scaled_add(w * x, &dense.row(i));
                inside.clone().take(at + 1).for_each(|(h, y)| row[h - start] += w * x * y);
            }
        }
    }

    /// Adds Σ w·x² of every column.
    pub(super) fn add_squares(&self, w: &[f64], out: &mut [f64]) {
        for ((i, row), w) in self.dense.outer_iter().enumerate().zip(w).filter(|(_, w)| **w != 0.0) {
            out.iter_mut().zip(row).for_each(|(out, x)| *out += w * x * x);
            self.list(i).iter().for_each(|(g, x)| out[*g] += w * x * x);
        }
    }
}
