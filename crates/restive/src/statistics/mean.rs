//! Where a sample is, and how surely: mean, standard error, t-interval; median.
//!
//! The mean x̄ of n numbers with variance s² (n − 1 below) has the standard error s/√n, and lies within t·s/√n of the truth in
//! 95 % of samples, where t is the quantile of the t distribution with n − 1 degrees of freedom (exactly so for normal
//! numbers, nearly so for many).

use super::{Undefined, check, tails};

/// A mean with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// x̄
    pub mean: f64,
    /// s/√n
    pub standard_error: f64,
    /// lower end of the 95 % interval
    pub low: f64,
    /// upper end of the 95 % interval
    pub high: f64,
    /// n
    pub numbers: usize,
}

/// The mean of at least two numbers. Equal numbers have an interval of no width.
///
/// ```
/// let said = restive::statistics::mean(&[2.0, 4.0, 6.0])?;
/// assert_eq!(said.mean, 4.0);
/// assert!((said.high - 8.968).abs() < 1e-3); // 4.303 · 2/√3 above it
/// # Ok::<(), restive::statistics::Undefined>(())
/// ```
pub fn mean(values: &[f64]) -> Result<Mean, Undefined> {
    check(values, 2)?;
    let (mean, variance) = moments(values);
    let n = values.len() as f64;
    let standard_error = (variance / n).sqrt();
    let reach = tails::student_quantile(n - 1.0) * standard_error;
    Ok(Mean { mean, standard_error, low: mean - reach, high: mean + reach, numbers: values.len() })
}

/// The middle number, or the mean of the middle two.
pub fn median(values: &[f64]) -> Result<f64, Undefined> {
    check(values, 1)?;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let is_odd = sorted.len() % 2 == 1;
    Ok(if is_odd { sorted[middle] } else { 0.5 * (sorted[middle - 1] + sorted[middle]) })
}

/// x̄ and s², exactly 0 where all numbers are the same.
pub(super) fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    // around the first number: equal numbers have no rounding, and large offsets cost no digits
    let first = values[0];
    let shift = values.iter().map(|x| x - first).sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - first - shift) * (x - first - shift)).sum();
    (first + shift, squares / (n - 1.0))
}
