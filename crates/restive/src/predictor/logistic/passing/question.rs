//! What is to be summed over all arms: plain data that may travel.
//!
//! The log-odds of a row (s, a) are linear in the features of an arm, whichever model they belong to, so that a question is the
//! weights of all rows, `[F+1,2M(M−1)]`, the intercept first: at (s, a) and k the column (2s + a)(M − 1) + k. Beside them it may have
//! the change by which the fit came there from where it stood, whose largest effect on a logit is then asked for too.

use super::super::layout::Layout;
use crate::bytes::{Reader, Writer};
use crate::error::Result;
use ndarray::Array2;

/// What is to be summed over all arms next: value, gradient and curvature of the likelihood at some weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// which one of the fit, from 1
    pub(super) number: u64,
    /// F
    pub(super) features: usize,
    /// M
    pub(super) states: usize,
    /// `[F+1,2M(M−1)]`
    pub(super) weights: Array2<f64>,
    /// of the weights; none where its reach is not asked for
    pub(super) change: Option<Array2<f64>>,
    pub(super) asks_held_out: bool,
}

const NAME: &str = "question 1";

impl Question {
    /// Which one of the fit it is, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// F
    pub fn features(&self) -> usize {
        self.features
    }

    /// M
    pub fn states(&self) -> usize {
        self.states
    }

    /// Whether held-out arms are asked too: what [`Sums::add_held_out`](super::Sums::add_held_out) adds up.
    pub fn asks_held_out(&self) -> bool {
        self.asks_held_out
    }

    /// As bytes, to be sent to partitions.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME);
        writer.whole(self.number);
        writer.count(self.features);
        writer.count(self.states);
        writer.whole(u64::from(self.asks_held_out));
        writer.numbers(self.weights.as_slice().expect("contiguous"));
        writer.numbers(self.change.as_ref().map_or(&[], |change| change.as_slice().expect("contiguous")));
        writer.finish()
    }

    /// And back.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(NAME, bytes)?;
        let (number, features, states) = (reader.whole()?, reader.count()?, reader.count()?);
        let asks_held_out = reader.whole()? == 1;
        let odds = states.checked_sub(1).ok_or_else(|| reader.refuse("no states"))?;
        let shape = [features.checked_add(1), states.checked_mul(2).and_then(|rows| rows.checked_mul(odds))];
        let [Some(columns), Some(width)] = shape else {
            return Err(reader.refuse("sizes that no memory has"));
        };
        let (weights, change) = (reader.numbers()?, reader.numbers()?);
        let has_change = !change.is_empty();
        let matrix = |numbers: Vec<f64>| {
            Array2::from_shape_vec((columns, width), numbers).map_err(|_| reader.refuse("other sizes"))
        };
        let weights = matrix(weights)?;
        let change = if has_change { Some(matrix(change)?) } else { None };
        reader.finish()?;
        Ok(Self { number, features, states, weights, change, asks_held_out })
    }
}

/// From parameters, or a change of them, to the weights of all rows.
pub(super) fn row_weights(layout: &Layout, params: &[f64]) -> Array2<f64> {
    let (m, q, width) = (layout.states, layout.odds(), layout.width());
    let mut weights = Array2::zeros((layout.columns, 2 * m * q));
    for (g, s, k) in places(layout) {
        let passive = params[g * width + s * q + k];
        let has_own = layout.is_by_state || g == 0;
        let own = if has_own { params[layout.own(g, s, k)] } else { 0.0 };
        weights[[g, 2 * s * q + k]] = passive;
        weights[[g, (2 * s + 1) * q + k]] = passive + (params[g * width + m * q + k] + own);
    }
    weights
}

/// And a slope back: from that by the weights of all rows to that by the parameters. The common shift of the effect model has no
/// intercept.
pub(super) fn carry_back(layout: &Layout, by_rows: impl Fn(usize, usize, usize) -> f64) -> Vec<f64> {
    let (m, q, width) = (layout.states, layout.odds(), layout.width());
    let mut slope = vec![0.0; layout.len()];
    for (g, s, k) in places(layout) {
        let (passive, active) = (by_rows(2 * s, k, g), by_rows(2 * s + 1, k, g));
        slope[g * width + s * q + k] = passive + active;
        if layout.is_by_state || g > 0 {
            slope[g * width + m * q + k] += active;
        }
        if layout.is_by_state || g == 0 {
            slope[layout.own(g, s, k)] = active;
        }
    }
    slope
}

fn places(layout: &Layout) -> impl Iterator<Item = (usize, usize, usize)> {
    let (columns, m, q) = (layout.columns, layout.states, layout.odds());
    (0..columns).flat_map(move |g| (0..m).flat_map(move |s| (0..q).map(move |k| (g, s, k))))
}
