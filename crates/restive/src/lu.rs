//! LU factors of one small or large matrix, kept in reused memory.
//!
//! A row permutation of A is LU with L unit lower triangular (partial pivoting). Two kinds of systems are
//! solved with it, each for many right-hand sides at once: X·A = B with the unknowns in rows, and A·X = B with
//! the unknowns in columns. Everything is row-major and every inner loop runs along a row.
//!
//! Up to [`BLOCK`] rows the loops are plain. Beyond, they work on blocks of columns and leave the bulk of the
//! arithmetic to matrix products, which stay in cache: the factors to one product per block, and the unknowns in rows to products
//! that double. When 1, 2, 3, 4, … blocks are solved, the last 1, 2, 1, 4, … of them are eliminated from as many that follow, as
//! a recursion would, so that an unknown is touched log₂ (n/16) times and not n/16 times.
//!
//! The functions are `#[inline(always)]` so that they are compiled with the instructions of their caller
//! (see `simd`).

use crate::product::{Block, Left, Product};
use std::ops::Range;

/// Columns per block.
const BLOCK: usize = 48;
/// The same for unknowns in rows, when there is more than one block.
const NARROW: usize = 16;

/// The factors of an n × n matrix.
#[derive(Debug, Clone)]
pub(crate) struct Lu {
    n: usize,
    /// on entry to [`Lu::factor`] the matrix, afterwards U above and on the diagonal, L below it, `[n,n]`
    pub(crate) factors: Vec<f64>,
    /// row i of LU is row `order[i]` of the matrix
    order: Vec<usize>,
    /// 1/U_ii
    inverse: Vec<f64>,
    /// one row, for permutations
    scratch: Vec<f64>,
    product: Product,
}

impl Lu {
    pub(crate) fn new(n: usize) -> Self {
        let (row, order) = (vec![0.0; n], (0..n).collect());
        let (factors, product) = (vec![0.0; n * n], Product::default());
        Self { n, factors, order, inverse: row.clone(), scratch: row, product }
    }

    /// Factors the matrix that stands in `factors`; false where it is singular to working precision.
    #[inline(always)]
    pub(crate) fn factor(&mut self) -> bool {
        let n = self.n;
        self.order.iter_mut().enumerate().for_each(|(i, o)| *o = i);
        for start in (0..n).step_by(BLOCK) {
            let end = (start + BLOCK).min(n);
            if !self.factor_panel(start, end) {
                return false;
            }
            if end == n {
                break;
            }
            for k in start..end {
                let (top, below) = self.factors.split_at_mut((k + 1) * n);
                let pivot_row = &top[k * n + end..];
                for row in below.chunks_exact_mut(n).take(end - k - 1) {
                    let l = row[k];
                    subtract(&mut row[end..], l, pivot_row);
                }
            }
            let (top, below) = self.factors.split_at_mut(end * n);
            let right = Block { rows: &top[start * n..], stride: n, columns: end..n };
            self.product.add(-1.0, Left::Same(start..end), right, below, n, end..n);
        }
        true
    }

    /// Factors columns `start..end` over all remaining rows; rows are swapped whole.
    #[inline(always)]
    fn factor_panel(&mut self, start: usize, end: usize) -> bool {
        let n = self.n;
        // the entries of all matrices here are of size 1: a pivot of this size is rounding
        let smallest = n as f64 * f64::EPSILON;
        for k in start..end {
            let mut best = k;
            for i in k + 1..n {
                if self.factors[i * n + k].abs() > self.factors[best * n + k].abs() {
                    best = i;
                }
            }
            let pivot = self.factors[best * n + k];
            if !(pivot.abs() > smallest) {
                return false;
            }
            if best != k {
                let (a, b) = self.factors.split_at_mut(best * n);
                a[k * n..][..n].swap_with_slice(&mut b[..n]);
                self.order.swap(k, best);
            }
            let inverse = 1.0 / pivot;
            self.inverse[k] = inverse;
            let (top, below) = self.factors.split_at_mut((k + 1) * n);
            let pivot_row = &top[k * n + k + 1..k * n + end];
            for row in below.chunks_exact_mut(n) {
                let l = row[k] * inverse;
                row[k] = l;
                subtract(&mut row[k + 1..end], l, pivot_row);
            }
        }
        true
    }

    /// Replaces each row b of `rows` (`[r,n]`) by the x with x·A = b.
    #[inline(always)]
    pub(crate) fn solve_rows(&mut self, rows: &mut [f64]) {
        let n = self.n;
        let width = if n <= BLOCK { BLOCK } else { NARROW };
        let blocks = n.div_ceil(width);
        let columns = |from: usize, to: usize| from * width..(to * width).min(n);
        for block in 0..blocks {
            self.solve_upper(rows, columns(block, block + 1));
            let done = block + 1;
            let group = done & done.wrapping_neg(); // the largest power of two that divides it
            if done < blocks {
                self.eliminate(rows, columns(done - group, done), columns(done, (done + group).min(blocks)));
            }
        }
        for block in (0..blocks).rev() {
            self.solve_lower(rows, columns(block, block + 1));
            let done = blocks - block;
            let group = done & done.wrapping_neg();
            if block > 0 {
                self.eliminate(
                    rows,
                    columns(block, block + group),
                    columns(block.saturating_sub(group), block),
                );
            }
        }
        for row in rows.chunks_exact_mut(n) {
            self.scratch.copy_from_slice(row);
            for (x, &to) in self.scratch.iter().zip(&self.order) {
                row[to] = *x;
            }
        }
    }

    /// Solves x·U = b within one block of columns.
    #[inline(always)]
    fn solve_upper(&self, rows: &mut [f64], columns: Range<usize>) {
        let n = self.n;
        for row in rows.chunks_exact_mut(n) {
            for k in columns.clone() {
                let (done, open) = row[..columns.end].split_at_mut(k + 1);
                let x = done[k] * self.inverse[k];
                done[k] = x;
                subtract(open, x, &self.factors[k * n + k + 1..k * n + columns.end]);
            }
        }
    }

    /// Solves x·L = b within one block of columns.
    #[inline(always)]
    fn solve_lower(&self, rows: &mut [f64], columns: Range<usize>) {
        let n = self.n;
        for row in rows.chunks_exact_mut(n) {
            for k in columns.clone().rev() {
                let (open, done) = row.split_at_mut(k);
                subtract(
                    &mut open[columns.start..],
                    done[0],
                    &self.factors[k * n + columns.start..k * n + k],
                );
            }
        }
    }

    /// Subtracts from the columns `to` of `rows` their columns `from` times that block of the factors.
    #[inline(always)]
    fn eliminate(&mut self, rows: &mut [f64], from: Range<usize>, to: Range<usize>) {
        let n = self.n;
        let block =
            Block { rows: &self.factors[from.start * n..from.end * n], stride: n, columns: to.clone() };
        self.product.add(-1.0, Left::Same(from), block, rows, n, to);
    }

    /// Replaces the columns b of `columns` (`[n,c]`) by the x with A·x = b; `permuted` is memory of that size.
    #[inline(always)]
    pub(crate) fn solve_columns(&mut self, columns: &mut [f64], permuted: &mut [f64]) {
        let n = self.n;
        let c = columns.len() / n;
        for (row, &from) in permuted.chunks_exact_mut(c).zip(&self.order) {
            row.copy_from_slice(&columns[from * c..][..c]);
        }
        columns.copy_from_slice(&permuted[..columns.len()]);
        for start in (0..n).step_by(BLOCK) {
            let end = (start + BLOCK).min(n);
            for k in start..end {
                let (done, open) = columns.split_at_mut((k + 1) * c);
                let x = &done[k * c..];
                for (i, row) in open.chunks_exact_mut(c).enumerate().take(end - k - 1) {
                    subtract(row, self.factors[(k + 1 + i) * n + k], x);
                }
            }
            if end < n {
                self.eliminate_columns(columns, start..end, end..n);
            }
        }
        for start in (0..n).step_by(BLOCK).rev() {
            let end = (start + BLOCK).min(n);
            for k in (start..end).rev() {
                let (open, done) = columns.split_at_mut(k * c);
                let x = &mut done[..c];
                x.iter_mut().for_each(|x| *x *= self.inverse[k]);
                for (i, row) in open.chunks_exact_mut(c).enumerate().skip(start) {
                    subtract(row, self.factors[i * n + k], x);
                }
            }
            if start > 0 {
                self.eliminate_columns(columns, start..end, 0..start);
            }
        }
    }

    /// Replaces one right-hand side b by the x with A·x = b.
    #[inline(always)]
    pub(crate) fn solve_vector(&mut self, b: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            self.scratch[i] = b[self.order[i]] - dot(&self.factors[i * n..][..i], &self.scratch[..i]);
        }
        for i in (0..n).rev() {
            let known = dot(&self.factors[i * n + i + 1..][..n - i - 1], &b[i + 1..]);
            b[i] = (self.scratch[i] - known) * self.inverse[i];
        }
    }

    /// Subtracts from the rows `to` of `columns` that block of the factors times their rows `from`.
    #[inline(always)]
    fn eliminate_columns(&mut self, columns: &mut [f64], from: Range<usize>, to: Range<usize>) {
        let n = self.n;
        let c = columns.len() / n;
        let (low, high) = columns.split_at_mut(from.start.max(to.start) * c);
        let (solved, open) = if from.start < to.start {
            (&low[from.start * c..], high)
        } else {
            (&high[..from.len() * c], low)
        };
        let left = Block { rows: &self.factors[to.start * n..to.end * n], stride: n, columns: from };
        let right = Block { rows: solved, stride: c, columns: 0..c };
        self.product.add(-1.0, Left::Rows(left), right, open, c, 0..c);
    }
}

/// y −= a·x
#[inline(always)]
pub(crate) fn subtract(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y -= a * x;
    }
}

/// y·x in a fixed order: eight running sums, added up in pairs.
#[inline(always)]
pub(crate) fn dot(y: &[f64], x: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (y_blocks, x_blocks) = (y.chunks_exact(8), x.chunks_exact(8));
    let rest = y_blocks.remainder().iter().zip(x_blocks.remainder());
    for (y, x) in y_blocks.zip(x_blocks) {
        for k in 0..8 {
            sums[k] += y[k] * x[k];
        }
    }
    for (sum, (y, x)) in sums.iter_mut().zip(rest) {
        *sum += y * x;
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
}
