//! The judge of two states, where all people are gone through most often: its likelihood with the gradient, and its transitions.
//!
//! With two states everything is logistic: in situation c (a state, called or not; or the first one) the chance of state 1 at node k is
//! σ(z_c + r_c u_k), and n_c moves of which n_c1 went to state 1 weigh the node by
//!
//! ```text
//! n_c1 (z_c + r_c u_k) + n_c ln σ(−z_c − r_c u_k)
//! ```
//!
//! The slope of a person's likelihood by z_c is Σ_k w_k (n_c1 − n_c σ(z_c + r_c u_k)), and by r_c the same times u_k. The nine nodes lie
//! side by side in sixteen places, so that a vector unit meets them in two or four steps; what stands in the other places weighs nothing.
//! The rooms [`fit`](super::fit) and [`world`](super::world) say the same for any number of states.

use super::{Judge, NODES, Places, prior};
use crate::simd::{exp, for_cpu, ln_1p};

/// Places of nodes.
const WIDE: usize = 16;
/// A state to move from, called or not; and the first one.
const SITUATIONS: usize = 5;
/// Of a person's gradient: levels, δ, σ, σ₀ and three directions.
pub(super) const SMALL: usize = 10;

/// u_k; 0 in places without a node.
const PLACED: [f64; WIDE] = {
    let mut all = [0.0; WIDE];
    let mut k = 0;
    while k < NODES.len() {
        all[k] = NODES[k];
        k += 1;
    }
    all
};

/// The parameters that are not of features.
#[derive(Clone, Copy)]
pub(super) struct TwoState {
    /// α of both states and of the first one
    alpha: [f64; 3],
    delta: [f64; 2],
    /// σ, σ₀
    sigma: [f64; 2],
    /// h(s)
    scale: [f64; 2],
    /// ln of what a node weighs beforehand; hardly anything in places without one
    prior: [f64; WIDE],
}

impl TwoState {
    pub(super) fn new(place: Places, theta: &[f64], scale: &[f64]) -> Self {
        let mut weights = [f64::NEG_INFINITY; WIDE];
        weights.iter_mut().zip(prior()).for_each(|(place, weight)| *place = weight.ln());
        Self {
            alpha: [0, 1, 2].map(|row| theta[place.alpha(row, 1)]),
            delta: [0, 1].map(|s| theta[place.delta(s)]),
            sigma: [theta[place.sigma()], theta[place.sigma_first()]],
            scale: [scale[0], scale[1]],
            prior: weights,
        }
    }

    /// (z, r) of every situation, for a person with these x·β, x·γ, x·β₀.
    #[inline(always)]
    fn logits(&self, along: [f64; 3]) -> [(f64, f64); SITUATIONS] {
        let up = self.scale[1] - self.scale[0];
        let mut all = [(self.alpha[2] + up * along[2], up * self.sigma[1]); SITUATIONS];
        for s in 0..2 {
            let level = along[0] + self.scale[s] * along[1];
            all[2 * s] = (self.alpha[s] + up * level, up * self.sigma[0]);
            all[2 * s + 1] = (self.alpha[s] + up * (level + self.delta[s]), up * self.sigma[0]);
        }
        all
    }
}

/// σ(z + r u) on all nodes into `high`; adds what the moves weigh them by to `weight`.
#[inline(always)]
fn meet(logit: (f64, f64), moves: f64, to_one: f64, high: &mut [f64; WIDE], weight: &mut [f64; WIDE]) {
    for k in 0..WIDE {
        let z = logit.0 + logit.1 * PLACED[k];
        let e = exp(-z.abs());
        let one = 1.0 / (1.0 + e);
        high[k] = if z >= 0.0 { one } else { e * one };
        // ln σ(−z)
        weight[k] += to_one * z + moves * ((-z).min(0.0) - ln_1p(e));
    }
}

/// Logarithms of weights become weights; the logarithm of their sum.
#[inline(always)]
fn settle(weight: &mut [f64; WIDE]) -> f64 {
    let mut most = f64::NEG_INFINITY;
    weight.iter().for_each(|w| most = if *w > most { *w } else { most });
    for w in weight.iter_mut() {
        *w = exp(*w - most);
    }
    weight[NODES.len()..].fill(0.0);
    let mut sum = 0.0;
    weight.iter().for_each(|w| sum += w);
    weight.iter_mut().for_each(|w| *w /= sum);
    most + sum.ln()
}

/// Of the moves of a person, `[2,2,2]`, and of the first states: (all, to state 1) in every situation.
#[inline(always)]
fn seen(moves: &[f64], first: &[f64]) -> [(f64, f64); SITUATIONS] {
    let mut all = [(first[0] + first[1], first[1]); SITUATIONS];
    for c in 0..4 {
        all[c] = (moves[2 * c] + moves[2 * c + 1], moves[2 * c + 1]);
    }
    all
}

/// Moves `[N,2,2,2]` and first states `[N,2]` of people, of whom the k-th to look at is number `first` + k·`every`, and the directions of
/// those, `[n]` each.
pub(super) struct Seen<'a> {
    pub moves: &'a [f64],
    pub firsts: &'a [f64],
    pub first: usize,
    pub every: usize,
    pub along: [&'a [f64]; 3],
}

impl Seen<'_> {
    #[inline(always)]
    fn along(&self, k: usize) -> [f64; 3] {
        [self.along[0][k], self.along[1][k], self.along[2][k]]
    }

    #[inline(always)]
    fn person(&self, k: usize) -> [(f64, f64); SITUATIONS] {
        let i = self.first + k * self.every;
        seen(&self.moves[8 * i..8 * i + 8], &self.firsts[2 * i..2 * i + 2])
    }
}

for_cpu! {
    /// The log-likelihood of people, and the gradient of each, `[n,10]`.
    pub(super) fn slopes(model: &TwoState, people: &Seen<'_>, slopes: &mut [f64]) -> f64 = slopes_loop
}

#[inline(always)]
fn slopes_loop(model: &TwoState, people: &Seen<'_>, slopes: &mut [f64]) -> f64 {
    let up = model.scale[1] - model.scale[0];
    let mut value = 0.0;
    for (k, slope) in slopes.chunks_exact_mut(SMALL).enumerate() {
        let (logits, seen) = (model.logits(people.along(k)), people.person(k));
        let mut high = [[0.0; WIDE]; SITUATIONS];
        let mut weight = model.prior;
        for c in 0..SITUATIONS {
            let (moves, to_one) = seen[c];
            if moves > 0.0 {
                meet(logits[c], moves, to_one, &mut high[c], &mut weight);
            }
        }
        value += settle(&mut weight);
        slope.fill(0.0);
        for c in 0..SITUATIONS {
            let (moves, to_one) = seen[c];
            if !(moves > 0.0) {
                continue;
            }
            let (mut by_level, mut by_spread) = (0.0, 0.0);
            for j in 0..WIDE {
                let part = weight[j] * (to_one - moves * high[c][j]);
                by_level += part;
                by_spread += part * PLACED[j];
            }
            let (by_eta, by_spread) = (up * by_level, up * by_spread);
            if c == 4 {
                slope[2] += by_level;
                slope[6] += by_spread;
                slope[9] += by_eta;
            } else {
                let s = c / 2;
                slope[s] += by_level;
                slope[3 + s] += if c % 2 == 1 { by_eta } else { 0.0 };
                slope[5] += by_spread;
                slope[7] += by_eta;
                slope[8] += model.scale[s] * by_eta;
            }
        }
    }
    value
}

for_cpu! {
    /// P(s, a, s′) of people, `[n,2,2,2]`: the mean over what their record leaves of the own part, or over all of it where there is no record
    /// to look at.
    pub(super) fn rows(model: &TwoState, people: &Seen<'_>, has_record: bool, rows: &mut [f64]) -> () = rows_loop
}

#[inline(always)]
fn rows_loop(model: &TwoState, people: &Seen<'_>, has_record: bool, rows: &mut [f64]) {
    for (k, row) in rows.chunks_exact_mut(8).enumerate() {
        let logits = model.logits(people.along(k));
        let seen = if has_record { people.person(k) } else { [(0.0, 0.0); SITUATIONS] };
        let mut high = [[0.0; WIDE]; SITUATIONS];
        let mut weight = model.prior;
        for c in 0..SITUATIONS {
            let (moves, to_one) = seen[c];
            meet(logits[c], moves, to_one, &mut high[c], &mut weight);
        }
        settle(&mut weight);
        for c in 0..4 {
            let mut one = 0.0;
            for j in 0..WIDE {
                one += weight[j] * high[c][j];
            }
            // the weights sum to 1 up to rounding, so that a mean of chances near 1 may exceed it by some 1e-16
            let one = if one > 1.0 { 1.0 } else { one };
            row[2 * c] = 1.0 - one;
            row[2 * c + 1] = one;
        }
    }
}

impl Judge {
    /// Of two states, for [`rows`].
    pub(super) fn two_state(&self) -> TwoState {
        TwoState::new(self.place, &self.theta, &self.scale)
    }
}
