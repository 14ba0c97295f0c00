//! Transitions estimated from a log.
//!
//! With n(s, a, s′) the counts of an arm and n(s, a) their sum over s′:
//!
//! - [`empirical`]: n(s, a, s′)/n(s, a), and a row that was never seen is uniform. The published rule.
//! - [`smoothed`]: (n(s, a, s′) + κ_a m(s, a, s′))/(n(s, a) + κ_a), where m is a prediction (from features, say) and κ_a its
//!   strength in pseudo-counts, one per action because pulls are rare. A person's own record decides where there is one, the
//!   prediction where there is none.
//!
//! The strength is chosen by [`fit_strength`] on arms that the predictor has not been trained on. If every arm's row is drawn
//! from a Dirichlet distribution with mean m and concentration κ, the counts of a row have the Dirichlet-multinomial
//! likelihood
//!
//! ```text
//! Γ(κ)/Γ(n + κ) · Π_s′ Γ(n_s′ + κ m_s′)/Γ(κ m_s′)
//! ```
//!
//! and κ is the best of the [`GRID`] 2⁻¹ … 2¹² by this likelihood times a weak prior: log₂ κ is normal around 4 (a prediction is
//! worth 16 transitions, [`PRIOR_STRENGTH`]) with a standard deviation of 3. Of six rows of four transitions the likelihood alone
//! takes an end of the grid nearly every other time and so throws away the prediction or the record; the prior avoids that, which
//! lowers the error of what is smoothed by a tenth to a fifth (`tests/suite/strength.rs`), and many rows outweigh it. A row with a
//! single transition says nothing about κ, and a log of such rows leaves the prior's 16. [`Strength`] says what each κ rests on.
//!
//! ```
//! use ndarray::Array4;
//! use restive::data::domain::Domain;
//! use restive::evaluation::{empirical, smoothed};
//!
//! let domain = Domain { instances: 1, arms: 10, budget: 2, trajectories: 1, ..Domain::two_state() };
//! let counts = domain.generate(1)?[0].trajectories().counts();
//! let prediction = Array4::from_elem((10, 2, 2, 2), 0.5);
//! let weak = smoothed(counts.view(), prediction.view(), [1e-12; 2]); // a prediction that hardly counts: the published rule
//! let gap = &weak.view().to_owned() - &empirical(counts.view()).view();
//! assert!(gap.iter().all(|x| x.abs() < 1e-9));
//! # Ok::<(), restive::Error>(())
//! ```

use crate::instance::{Layout, Transition};
use ndarray::{Array4, ArrayView4, Axis};

/// The strengths that are tried.
pub const GRID: [f64; 14] =
    [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0];

/// The strength where nothing speaks of it, in the middle of the prior.
pub const PRIOR_STRENGTH: f64 = 16.0;

/// Standard deviation of log₂ κ under the prior.
const PRIOR_DEVIATION: f64 = 3.0;

/// How many transitions a prediction is worth in the rows of one action, and what that rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strength {
    /// κ, one of the [`GRID`]
    pub value: f64,
    /// the held-out transitions that speak of it: those of rows that have at least two
    pub transitions: usize,
    /// whether κ is the first or the last of the grid, so that the data ask for one still smaller or larger
    pub is_at_edge: bool,
}

/// Shares of the counts (`[N,M,2,M]`); rows never seen are uniform.
pub fn empirical(counts: ArrayView4<'_, f64>) -> Transition {
    let m = counts.len_of(Axis(3)) as f64;
    let mut p = counts.to_owned();
    for mut row in p.rows_mut() {
        let sum = row.sum();
        if sum > 0.0 { row /= sum } else { row.fill(1.0 / m) }
    }
    checked(p)
}

/// Counts and a prediction (both `[N,M,2,M]`) that is worth `strength[a]` > 0 transitions in the rows of action a.
pub fn smoothed(
    counts: ArrayView4<'_, f64>,
    prediction: ArrayView4<'_, f64>,
    strength: [f64; 2],
) -> Transition {
    assert_eq!(counts.shape(), prediction.shape(), "prediction: [N,M,2,M], as the counts");
    assert!(strength.iter().all(|k| *k > 0.0 && k.is_finite()), "strength: above 0");
    let mut p = counts.to_owned();
    for (a, strength) in strength.into_iter().enumerate() {
        let (mut p, m) = (p.index_axis_mut(Axis(2), a), prediction.index_axis(Axis(2), a));
        for (mut row, m) in p.rows_mut().into_iter().zip(m.rows()) {
            let total = row.sum() + strength;
            row.iter_mut().zip(m).for_each(|(n, m)| *n = (*n + strength * m) / total);
        }
    }
    checked(p)
}

fn checked(p: Array4<f64>) -> Transition {
    Transition::new(p, Layout::Nsas).expect("counts and predictions make rows that sum to 1")
}

/// The strength of the prediction for each action: the best of the [`GRID`] on held-out pairs of counts and predictions, under
/// the prior of the [module](self); [`PRIOR_STRENGTH`] where there are none.
///
/// ```
/// use ndarray::array;
/// use restive::evaluation::fit_strength;
///
/// // one arm, moved twice from state 0 when left alone, never pulled
/// let counts = array![[[[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]];
/// let prediction = counts.mapv(|_: f64| 0.5);
/// let [passive, active] = fit_strength(&[(counts.view(), prediction.view())]);
/// assert_eq!((passive.transitions, passive.value, passive.is_at_edge), (2, 16.0, false));
/// assert_eq!((active.transitions, active.value), (0, 16.0));
/// ```
pub fn fit_strength(held_out: &[(ArrayView4<'_, f64>, ArrayView4<'_, f64>)]) -> [Strength; 2] {
    [0, 1].map(|action| {
        let value = best_of_grid(|strength| {
            held_out.iter().map(|(n, m)| log_likelihood(*n, *m, action, strength)).sum()
        });
        let speaking = |n: &ArrayView4<'_, f64>| {
            let rows = n.index_axis(Axis(2), action);
            rows.rows().into_iter().map(|row| row.sum()).filter(|n| *n > 1.0).sum::<f64>()
        };
        let transitions = held_out.iter().map(|(n, _)| speaking(n)).sum::<f64>().round() as usize;
        Strength { value, transitions, is_at_edge: value == GRID[0] || value == GRID[GRID.len() - 1] }
    })
}

/// ln of the prior density of a strength, but for a constant.
pub(crate) fn log_prior(strength: f64) -> f64 {
    let distance = (strength / PRIOR_STRENGTH).log2() / PRIOR_DEVIATION;
    -0.5 * distance * distance
}

/// The strength of the [`GRID`] that is best by a log-likelihood and the prior.
pub(super) fn best_of_grid(likelihood: impl Fn(f64) -> f64) -> f64 {
    let scored = GRID.map(|strength| (likelihood(strength) + log_prior(strength), strength));
    let better = |best: (f64, f64), next: (f64, f64)| if next.0 > best.0 { next } else { best };
    scored.into_iter().fold((f64::NEG_INFINITY, PRIOR_STRENGTH), better).1
}

/// The Dirichlet-multinomial log-likelihood of the rows of one action (counts as an ordered sequence).
///
/// A predicted probability of 0 counts as the smallest positive number, so that its rows still compare strengths.
pub fn log_likelihood(
    counts: ArrayView4<'_, f64>,
    prediction: ArrayView4<'_, f64>,
    action: usize,
    strength: f64,
) -> f64 {
    assert_eq!(counts.shape(), prediction.shape(), "prediction: [N,M,2,M], as the counts");
    let (n, m) = (counts.index_axis(Axis(2), action), prediction.index_axis(Axis(2), action));
    let mut sum = 0.0;
    for (n, m) in n.rows().into_iter().zip(m.rows()) {
        let total = n.sum();
        // a row with one transition or none has the same likelihood for every strength: no work, and exact ties
        if total <= 1.0 {
            sum += n
                .iter()
                .zip(m)
                .filter(|(n, _)| **n > 0.0)
                .map(|(_, m)| m.max(f64::MIN_POSITIVE).ln())
                .sum::<f64>();
            continue;
        }
        sum -= log_rising(strength, total);
        for (&n, &m) in n.iter().zip(m).filter(|(n, _)| **n > 0.0) {
            sum += log_rising((strength * m).max(f64::MIN_POSITIVE), n);
        }
    }
    sum
}

/// ln Γ(x + n) − ln Γ(x): ln of x(x+1)…(x+n−1) for a count n.
fn log_rising(x: f64, n: f64) -> f64 {
    if n <= 64.0 {
        let mut sum = 0.0;
        let mut product = 1.0f64;
        for k in 0..n as usize {
            product *= x + k as f64;
            if !(1e-100..1e100).contains(&product) {
                sum += product.ln();
                product = 1.0;
            }
        }
        return sum + product.ln();
    }
    log_gamma(x + n) - log_gamma(x)
}

/// ln Γ(x) for x > 0, by Stirling's series after a shift above 15.
fn log_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 15.0 {
        product *= x;
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * (1.0 / 1680.0 - r / 1188.0)))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - f64::ln(product)
}

#[cfg(test)]
mod tests {
    use super::{log_gamma, log_rising};

    #[test]
    fn log_gamma_is_that_of_factorials_and_halves() {
        let mut factorial = 0.0f64;
        for n in 1..100 {
            assert!((log_gamma(n as f64) - factorial).abs() < 1e-13 * (1.0 + factorial), "{n}");
            factorial += (n as f64).ln();
        }
        assert!((log_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-14);
        for x in [1e-9, 0.3, 7.0, 4096.0] {
            let (short, long) = (log_rising(x, 64.0), log_gamma(x + 64.0) - log_gamma(x));
            assert!((short - long).abs() < 1e-10, "{short} {long}");
        }
    }
}
