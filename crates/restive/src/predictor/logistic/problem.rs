//! The objective of the fit, −Σ n·ln P + penalty, with its gradient and its curvature in one direction.
//!
//! Parameters lie as [`Layout`] says.
//!
//! **Gradient and curvature.** With X·W the log-odds of all states are one product. The gradient by the logits of a row (s, a)
//! with n moves is n·P − counts; the curvature turns a change u of the logits into n·P·(u − Σ P·u). Either is carried back by one
//! product with Xᵀ. No matrix of curvatures is made.

use super::super::chunks::{CHUNK, in_order, sum};
use super::super::softmax::softmax;
use super::design::{Columns, Design};
use super::layout::Layout;
use super::ridge::Ridge;
use super::{Arms, Held, Logistic};
use ndarray::{Array2, ArrayView2, Axis};

/// Arms to fit to, and a penalty.
pub(super) struct Problem {
    pub columns: Columns,
    pub parts: Vec<Part>,
    pub ridge: Ridge,
    pub layout: Layout,
    /// moves that were seen, at least 1
    pub observed: f64,
}

/// At most 1,024 arms.
pub(super) struct Part {
    pub design: Design,
    /// `[n,2M²]`
    counts: Array2<f64>,
    /// `[n,2M]`: moves from s under a
    pub totals: Array2<f64>,
}

/// Parameters, and what they predict.
pub(super) struct Point {
    /// in the layout of a fit
    pub params: Vec<f64>,
    /// of the objective
    pub value: f64,
    /// of each part, `[n,2M²]`
    pub p: Vec<Array2<f64>>,
}

impl Problem {
    pub(super) fn new((features, counts): Arms<'_>, held: Held) -> Self {
        let (n, m) = (features.nrows(), counts.len_of(Axis(1)));
        let columns = Columns::new(features);
        let counts = counts.to_shape((n, 2 * m * m)).expect("[N,M,2,M]");
        let chunk = |(design, counts): (Design, ArrayView2<'_, f64>)| {
            let counts = counts.to_owned();
            let total = |(i, row): (usize, usize)| counts.row(i).iter().skip(row * m).take(m).sum();
            Part { totals: Array2::from_shape_fn((counts.nrows(), 2 * m), total), design, counts }
        };
        let parts: Vec<Part> = columns
            .cut(features)
            .into_iter()
            .zip(counts.axis_chunks_iter(Axis(0), CHUNK))
            .map(chunk)
            .collect();
        let observed = counts.sum().max(1.0);
        let ridge = Ridge::new(columns.len(), m, held);
        let layout = Layout { columns: columns.len(), states: m, is_by_state: held.is_by_state() };
        Self { columns, parts, ridge, layout, observed }
    }

    /// What a pull adds to the k-th log-odds of state s, where X·W of an arm is z.
    fn shift(&self, z: &[f64], params: &[f64], s: usize, k: usize) -> f64 {
        let (m, q) = (self.layout.states, self.layout.odds());
        let own = match self.layout.is_by_state {
            true => z[(m + 1 + s) * q + k],
            false => params[self.layout.levels() + s * q + k],
        };
        own + z[m * q + k]
    }

    /// The objective at some parameters.
    pub(super) fn at(&self, params: Vec<f64>) -> Point {
        let (m, q) = (self.layout.states, self.layout.odds());
        let parts = in_order(self.parts.iter().collect(), |_, part: &Part| {
            let logits = part.design.times(self.layout.matrix(&params));
            let mut p = Array2::zeros((logits.nrows(), 2 * m * m));
            for (z, mut p) in logits.outer_iter().zip(p.outer_iter_mut()) {
                let z = z.to_slice().expect("contiguous");
                for (s, k) in (0..m).flat_map(|s| (0..q).map(move |k| (s, k))) {
                    p[2 * s * m + k + 1] = z[s * q + k];
                    p[(2 * s + 1) * m + k + 1] = z[s * q + k] + self.shift(z, &params, s, k);
                }
            }
            softmax(p.as_slice_mut().expect("contiguous"), m);
            let seen = p.iter().zip(&part.counts).filter(|(_, n)| **n > 0.0);
            let value = -seen.map(|(p, n)| n * p.ln()).sum::<f64>();
            (value, p)
        });
        let value = parts.iter().map(|(value, _)| value).sum::<f64>() + self.ridge.value(&params);
        Point { params, value, p: parts.into_iter().map(|(_, p)| p).collect() }
    }

    /// The gradient of the objective.
    pub(super) fn gradient(&self, point: &Point) -> Vec<f64> {
        let m = self.layout.states;
        let mut slope = self.carry_back(|c, i, row, d| {
            let (part, p) = (&self.parts[c], &point.p[c]);
            let total = part.totals[[i, row]];
            let next = row * m + 1;
            (0..m - 1).for_each(|k| d[k] = p[[i, next + k]] * total - part.counts[[i, next + k]]);
        });
        self.ridge.add_gradient(&point.params, &mut slope);
        slope
    }

    /// The largest change of a logit, at rows with moves, that a change of the parameters makes.
    pub(super) fn largest_change(&self, step: &[f64]) -> f64 {
        let q = self.layout.odds();
        let parts = in_order(self.parts.iter().collect(), |_, part: &Part| {
            let logits = part.design.times(self.layout.matrix(step));
            let mut largest = 0.0f64;
            for (z, totals) in logits.outer_iter().zip(part.totals.outer_iter()) {
                let z = z.to_slice().expect("contiguous");
                for (row, _) in totals.iter().enumerate().filter(|(_, total)| **total > 0.0) {
                    let first = row / 2 * q;
                    for k in 0..q {
                        let pull = if row % 2 == 1 { self.shift(z, step, row / 2, k) } else { 0.0 };
                        largest = largest.max((z[first + k] + pull).abs());
                    }
                }
            }
            largest
        });
        parts.into_iter().fold(0.0, f64::max)
    }

    /// The Hessian times a vector.
    pub(super) fn curvature_times(&self, point: &Point, direction: &[f64]) -> Vec<f64> {
        let (m, q) = (self.layout.states, self.layout.odds());
        let matrix = self.layout.matrix(direction);
        let logits = in_order(self.parts.iter().collect(), |_, part: &Part| part.design.times(matrix));
        let mut bent = self.carry_back(|c, i, row, d| {
            let total = self.parts[c].totals[[i, row]];
            if total == 0.0 {
                d.fill(0.0);
                return;
            }
            let z = logits[c].row(i).to_slice().expect("contiguous");
            let (s, p) = (row / 2, point.p[c].row(i).to_slice().expect("contiguous"));
            let p = &p[row * m + 1..(row + 1) * m];
            d.copy_from_slice(&z[s * q..(s + 1) * q]);
            if row % 2 == 1 {
                (0..q).for_each(|k| d[k] += self.shift(z, direction, s, k));
            }
            let mean: f64 = p.iter().zip(&*d).map(|(p, u)| p * u).sum();
            d.iter_mut().zip(p).for_each(|(u, p)| *u = total * p * (*u - mean));
        });
        self.ridge.add_gradient(direction, &mut bent);
        bent
    }

    /// From log-odds to parameters: `d_row(c, i, 2s + a, d)` says what arm i of part c has at its row (s, a).
    fn carry_back(&self, d_row: impl Fn(usize, usize, usize, &mut [f64]) + Sync) -> Vec<f64> {
        let (m, q, columns) = (self.layout.states, self.layout.odds(), self.columns.len());
        let (width, is_by_state) = (self.layout.width(), self.layout.is_by_state);
        let parts = in_order(self.parts.iter().collect(), |c, part: &Part| {
            let mut d_logits = Array2::<f64>::zeros((part.design.arms(), width));
            let mut d_level = vec![0.0; self.layout.len() - self.layout.levels()];
            let mut d = vec![0.0; q];
            for (i, mut out) in d_logits.outer_iter_mut().enumerate() {
                let out = out.as_slice_mut().expect("contiguous");
                for row in 0..2 * m {
                    d_row(c, i, row, &mut d);
                    let s = row / 2;
                    add(&mut out[s * q..(s + 1) * q], &d);
                    if row % 2 == 1 {
                        add(&mut out[m * q..(m + 1) * q], &d);
                        let own = if is_by_state { &mut out[(m + 1) * q..] } else { &mut d_level[..] };
                        add(&mut own[s * q..(s + 1) * q], &d);
                    }
                }
            }
            let mut all = part.design.transposed_times(d_logits.view(), columns).into_raw_vec_and_offset().0;
            all.extend(d_level);
            all
        });
        let mut all = sum(parts, self.layout.len());
        if !is_by_state {
            all[m * q..width].fill(0.0);
        }
        all
    }

    /// The parameters of a model, in the layout of a fit.
    pub(super) fn take(&self, model: &Logistic) -> Vec<f64> {
        self.layout.take(&self.columns.features, model)
    }

    /// And back.
    pub(super) fn give(&self, params: &[f64], model: &mut Logistic) {
        self.layout.give(&self.columns.features, params, model);
    }
}

fn add(out: &mut [f64], d: &[f64]) {
    out.iter_mut().zip(d).for_each(|(out, d)| *out += d);
}
