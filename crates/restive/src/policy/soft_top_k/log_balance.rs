//! The threshold of a nearly strict policy, to full precision however small the temperature.
//!
//! Let I be the k largest scores, k the whole number next to K, and z = (x − ref)/e with ref an actual score next to the threshold, so that
//! differences are exact. Σ pull = K is the same as E = F with
//!
//! ```text
//! E = max(k − K, 0) + Σ_{i∉I} σ(z_i − θ)      F = max(K − k, 0) + Σ_{i∈I} σ(θ − z_i)
//! ```
//!
//! Nothing cancels in either, and of an arm at the margin the smaller of its two chances is looked for. Newton's method on ln E − ln F = 0 needs a handful of steps, because both logarithms
//! are nearly linear in θ where they are small.

use crate::policy::odds::log_sigmoid;

/// (reference, θ), or none where the temperature is so small that the scores over it overflow: the strict limit.
pub(super) fn solve(score: &[f64], budget: f64, temperature: f64) -> Option<(f64, f64)> {
    let n = score.len();
    let (floor, rest) = (budget.floor(), budget.floor() + 1.0 - budget);
    let fraction = budget - floor;
    let is_up = fraction > rest;
    let k = floor as usize + usize::from(is_up);
    let mut z = score.to_vec();
    // afterwards the k largest come first, and z[k], where there is one, is the next
    z.select_nth_unstable_by(k.min(n - 1), |a, b| b.total_cmp(a));
    let smallest_in = z[..k].iter().fold(f64::INFINITY, |a, x| a.min(*x));
    let next = z.get(k).copied().unwrap_or(smallest_in);
    let reference = if fraction == 0.0 || is_up { smallest_in } else { next };
    z.iter_mut().for_each(|x| *x = (*x - reference) / temperature);
    let (low, high) = z.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
    if !low.is_finite() || !high.is_finite() {
        return None;
    }
    let logit = budget.ln() - (n as f64 - budget).ln(); // a quotient may be too small to be written
    let pad = |x: f64| 1e-10 * (1.0 + x.abs());
    let bracket = (low - logit - pad(low - logit), high - logit + pad(high - logit));
    let start =
        if fraction == 0.0 { 0.5 * ((next - reference) / temperature) } else { -(fraction / rest).ln() };
    let (inside, outside) = z.split_at(k);
    let theta = balance(bracket, start, |theta| {
        let below = log_sum(outside.iter().map(|z| (0.0, z - theta)), if is_up { rest } else { 0.0 });
        let above = log_sum(inside.iter().map(|z| (0.0, theta - z)), if is_up { 0.0 } else { fraction });
        (below, above)
    });
    Some((reference, theta))
}

/// The θ at which ln E = ln F, by Newton's method held in a bracket; `logs` gives both, each with its slope by −θ and θ.
pub(super) fn balance(
    (mut low, mut high): (f64, f64),
    start: f64,
    logs: impl Fn(f64) -> ((f64, f64), (f64, f64)),
) -> f64 {
    let mut theta = start.clamp(low, high);
    for _ in 0..200 {
        let ((log_e, slope_e), (log_f, slope_f)) = logs(theta);
        let excess = log_e - log_f;
        if excess > 0.0 {
            low = theta
        } else {
            high = theta
        }
        if excess.abs() <= f64::max(1e-14, 2e-16 * theta.abs()) {
            break;
        }
        let next = theta + excess / (slope_e + slope_f);
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        if next == theta {
            break;
        }
        theta = next;
    }
    theta
}

/// ln(extra + Σ μ σ(d)) of terms (ln μ, d), and its derivative when every d grows alike.
pub(super) fn log_sum(terms: impl Iterator<Item = (f64, f64)> + Clone, extra: f64) -> (f64, f64) {
    let log_extra = extra.ln();
    let top = terms.clone().fold(log_extra, |top, (log_mass, d)| top.max(log_mass + log_sigmoid(d)));
    let (mut sum, mut slope) = ((log_extra - top).exp(), 0.0);
    for (log_mass, d) in terms {
        let log = log_sigmoid(d);
        let weight = (log_mass + log - top).exp();
        sum += weight;
        slope += weight * -log.exp_m1();
    }
    (top + sum.ln(), slope / sum)
}
