//! The t-tests: paired, and Welch's for two samples.
//!
//! **Paired.** Two methods run on the same n seeds: the differences d have mean d̄ and standard error s/√n, and
//! t = d̄/(s/√n) has n − 1 degrees of freedom where the methods do not differ.
//!
//! **Welch.** Two samples with variances of their own: the standard error of x̄ − ȳ is √(u + v) with u = s²/n and v = s′²/n′, and
//! the degrees of freedom are (u + v)²/(u²/(n − 1) + v²/(n′ − 1)) (Satterthwaite).

use super::mean::moments;
use super::{Undefined, check, differences, tails};

/// A difference of means, and whether it may be chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TTest {
    /// the first mean less the second
    pub difference: f64,
    /// of the difference
    pub standard_error: f64,
    /// lower end of the 95 % interval of the difference
    pub low: f64,
    /// upper end of the 95 % interval of the difference
    pub high: f64,
    /// t: the difference in standard errors
    pub statistic: f64,
    /// degrees of freedom
    pub freedom: f64,
    /// probability of a |t| as large where there is no difference
    pub p: f64,
}

impl TTest {
    fn new(difference: f64, standard_error: f64, freedom: f64) -> Self {
        let statistic = difference / standard_error;
        let reach = tails::student_quantile(freedom) * standard_error;
        let (low, high) = (difference - reach, difference + reach);
        Self { difference, standard_error, low, high, statistic, freedom, p: tails::t(statistic, freedom) }
    }
}

/// The paired t-test of two methods on the same runs: at least two pairs, whose differences are not all the same.
pub fn paired_t(first: &[f64], second: &[f64]) -> Result<TTest, Undefined> {
    let differences = differences(first, second, 2)?;
    let (mean, variance) = moments(&differences);
    if variance == 0.0 {
        return Err(Undefined::NoSpread);
    }
    let n = differences.len() as f64;
    Ok(TTest::new(mean, (variance / n).sqrt(), n - 1.0))
}

/// Welch's t-test of two samples: at least two numbers in each, not all the same in both.
///
/// ```
/// let test = restive::statistics::welch_t(&[1.0, 2.0, 3.0, 4.0], &[2.0, 4.0, 6.0])?;
/// assert_eq!(test.difference, -1.5);
/// assert!((test.freedom - 3.2347).abs() < 1e-4);
/// # Ok::<(), restive::statistics::Undefined>(())
/// ```
pub fn welch_t(first: &[f64], second: &[f64]) -> Result<TTest, Undefined> {
    check(first, 2)?;
    check(second, 2)?;
    let [(mean, u, n), (other, v, m)] = [first, second].map(|values| {
        let (mean, variance) = moments(values);
        (mean, variance / values.len() as f64, values.len() as f64)
    });
    if u + v == 0.0 {
        return Err(Undefined::NoSpread);
    }
    // as shares, so that small variances do not underflow when squared
    let (a, b) = (u / (u + v), v / (u + v));
    let freedom = 1.0 / (a * a / (n - 1.0) + b * b / (m - 1.0));
    Ok(TTest::new(mean - other, (u + v).sqrt(), freedom))
}
