//! The sums of some thousand arms, by one thread.
//!
//! Arms come 1,024 at a time. Of these the log-odds are one product with the [design](Design); then each row (s, a) takes the arms
//! that were seen to move from it, most of which were never pulled, and adds their [rank update](super::rank), 64 arms at a time so that
//! they stay near. Columns that are [listed](Columns) are added one by one.

use super::super::design::{Columns, Design};
use super::question::Question;
use super::rank::{HIGH, WIDE, filled, update};
use super::rows::Row;
use ndarray::{Array2, ArrayView2, Axis};

/// Arms whose features stay near.
const NEAR: usize = 64;

/// A question in the order of the columns of a piece.
pub(super) struct Asked<'a> {
    pub columns: &'a Columns,
    pub states: usize,
    /// `[F+1,2M(M−1)]`
    weights: Array2<f64>,
    change: Option<Array2<f64>>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(question: &Question, columns: &'a Columns) -> Self {
        let order: Vec<usize> = columns.places().collect();
        let turned = |weights: &Array2<f64>| weights.select(Axis(0), &order);
        let (weights, change) = (turned(&question.weights), question.change.as_ref().map(turned));
        Self { columns, states: question.states, weights, change }
    }
}

/// What is summed, in the order of the columns of a piece.
#[derive(Clone)]
pub(super) struct Tally {
    pub value: f64,
    pub observed: f64,
    /// the largest change of a logit at a row with moves
    pub reach: f64,
    /// `[2M,M−1,F+1]`
    pub slope: Vec<f64>,
    /// lower halves, `[2M,pairs,F+1,F+1]`
    pub grams: Vec<f64>,
}

impl Tally {
    pub(super) fn new(asked: &Asked<'_>) -> Self {
        let (columns, m) = (asked.columns.len(), asked.states);
        let q = m - 1;
        Self {
            value: 0.0,
            observed: 0.0,
            reach: 0.0,
            slope: vec![0.0; 2 * m * q * columns],
            grams: vec![0.0; m * q * (q + 1) * columns * columns],
        }
    }

    /// At most 1,024 arms: features `[n,F]`, counts `[n,2M²]`.
    pub(super) fn add(
        &mut self,
        asked: &Asked<'_>,
        features: ArrayView2<'_, f64>,
        counts: ArrayView2<'_, f64>,
    ) {
        let (columns, m) = (asked.columns.len(), asked.states);
        let q = m - 1;
        let pairs = q * (q + 1) / 2;
        let design = Design::new(asked.columns, features);
        let mut rank = Rank::new(asked.columns.dense);
        let mut curvatures = Vec::new();
        for (at, row) in self.rows(asked, &design, counts).into_iter().enumerate() {
            for (pair, (k, l)) in (0..q).flat_map(|k| (0..=k).map(move |l| (k, l))).enumerate() {
                row.curvatures(k, l, &mut curvatures);
                let d = (k == l).then_some((&row.odds[..], k, q));
                let slope = &mut self.slope[(at * q + k) * columns..][..columns];
                let gram = &mut self.grams[(at * pairs + pair) * columns * columns..][..columns * columns];
                rank.add(&design, &row.arms, &curvatures, d, slope, gram);
            }
        }
    }

    /// The value alone.
    pub(super) fn add_value(
        &mut self,
        asked: &Asked<'_>,
        features: ArrayView2<'_, f64>,
        counts: ArrayView2<'_, f64>,
    ) {
        self.rows(asked, &Design::new(asked.columns, features), counts);
    }

    /// Each row's arms, whose likelihood is counted.
    fn rows(&mut self, asked: &Asked<'_>, design: &Design, counts: ArrayView2<'_, f64>) -> Vec<Row> {
        let m = asked.states;
        let q = m - 1;
        let logits = design.times(asked.weights.view());
        let changes = asked.change.as_ref().map(|change| design.times(change.view()));
        let mut rows: Vec<Row> = (0..2 * m).map(|_| Row::new(q)).collect();
        for (i, (counts, logits)) in counts.outer_iter().zip(logits.outer_iter()).enumerate() {
            let logits = logits.to_slice().expect("contiguous");
            for (at, row) in rows.iter_mut().enumerate() {
                let moves: f64 = (0..m).map(|next| counts[at * m + next]).sum();
                if moves > 0.0 {
                    row.arms.push(i);
                    row.moves.push(moves);
                    row.seen.extend((1..m).map(|next| counts[at * m + next]));
                    row.odds.extend(&logits[at * q..(at + 1) * q]);
                }
            }
        }
        for (at, row) in rows.iter_mut().enumerate() {
            self.observed += row.moves.iter().sum::<f64>();
            self.value += row.likelihood();
            if let Some(changes) = &changes {
                let changes =
                    row.arms.iter().flat_map(|i| (at * q..(at + 1) * q).map(|at| changes[[*i, at]].abs()));
                self.reach = changes.fold(self.reach, f64::max);
            }
        }
        rows
    }

    /// Adds another.
    pub(super) fn merge(&mut self, other: &Self) {
        self.value += other.value;
        self.observed += other.observed;
        self.reach = self.reach.max(other.reach);
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        add(&mut self.slope, &other.slope);
        add(&mut self.grams, &other.grams);
    }
}

/// Rank updates, and their scratch.
struct Rank {
    dense: usize,
    width: usize,
    height: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    out: Vec<f64>,
}

impl Rank {
    fn new(dense: usize) -> Self {
        let (width, height) = (filled(dense, WIDE), filled(dense + 1, HIGH));
        let [x, y, out] = [NEAR * width, NEAR * height, height * width].map(|length| vec![0.0; length]);
        Self { dense, width, height, x, y, out }
    }

    /// Adds Xᵀ·diag(w)·X of some arms to the lower half of `gram`, and Xᵀ·d to `slope`, where d is the k-th of every q numbers.
    fn add(
        &mut self,
        design: &Design,
        arms: &[usize],
        w: &[f64],
        d: Option<(&[f64], usize, usize)>,
        slope: &mut [f64],
        gram: &mut [f64],
    ) {
        let Self { dense, width, height, x, y, out } = self;
        let (dense, width, height, columns) = (*dense, *width, *height, slope.len());
        let residual = |j: usize| d.map_or(0.0, |(d, k, q)| d[j * q + k]);
        out.fill(0.0);
        for first in (0..arms.len()).step_by(NEAR) {
            let near = NEAR.min(arms.len() - first);
            let filled = x.chunks_exact_mut(width).zip(y.chunks_exact_mut(height)).take(near);
            for (j, (x, y)) in (first..).zip(filled) {
                let row = design.dense(arms[j]);
                x[..dense].copy_from_slice(row);
                y.iter_mut().zip(row).for_each(|(y, x)| *y = w[j] * x);
                y[dense] = residual(j);
            }
            update(&x[..near * width], width, &y[..near * height], height, out);
        }
        for g in 0..dense {
            let to = &mut gram[g * columns..][..=g];
            to.iter_mut().zip(&out[g * width..]).for_each(|(to, sum)| *to += sum);
        }
        slope.iter_mut().zip(&out[dense * width..][..dense]).for_each(|(to, sum)| *to += sum);
        if columns == dense {
            return;
        }
        for (j, i) in arms.iter().enumerate() {
            let (list, row) = (design.list(*i), design.dense(*i));
            for (at, (g, x)) in list.iter().enumerate() {
                let to = &mut gram[g * columns..][..columns];
                to.iter_mut().zip(row).for_each(|(to, y)| *to += w[j] * x * y);
                list[..=at].iter().for_each(|(h, y)| to[*h] += w[j] * x * y);
                slope[*g] += residual(j) * x;
            }
        }
    }
}
