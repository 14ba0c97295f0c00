//! The beta distribution: what is known of a chance after some successes and failures.
//!
//! I_x(a, b) = x^a y^b/(a B(a, b)) · fraction with y = 1 − x, the continued fraction on the side where it is quick; B by Stirling's series. Good to
//! about 1e-12: the logarithms of gamma functions lose digits where a or b is large. The quantile is found by Newton's method,
//! held between bounds that every step narrows.

use super::tails::{beta_fraction, stirling};
use std::f64::consts::PI;

/// P(X < x) of a beta distribution with a and b above 0.
///
/// ```
/// assert!((restive::statistics::beta_cdf(0.3, 2.0, 1.0) - 0.09).abs() < 1e-13); // x²
/// ```
pub fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    if !(x > 0.0) {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let factor = density_by_xy(x, a, b);
    if x < (a + 1.0) / (a + b + 2.0) {
        factor / a * beta_fraction(a, b, x)
    } else {
        1.0 - factor / b * beta_fraction(b, a, 1.0 - x)
    }
}

/// The x with P(X < x) = p of a beta distribution with a and b above 0, p between 0 and 1; to about 1e-15.
///
/// ```
/// assert!((restive::statistics::beta_quantile(0.05, 1.0, 1.0) - 0.05).abs() < 1e-14);
/// ```
pub fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    let mut x = a / (a + b);
    for _ in 0..200 {
        let gap = beta_cdf(x, a, b) - p;
        *(if gap < 0.0 { &mut low } else { &mut high }) = x;
        let next = x - gap * x * (1.0 - x) / density_by_xy(x, a, b);
        // where the curve is flat or a step leaves the bounds, their middle
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        let step = next - x;
        x = next;
        if step.abs() < 1e-15 * x || high - low < 1e-16 {
            break;
        }
    }
    x
}

/// x^a (1 − x)^b/B(a, b)
fn density_by_xy(x: f64, a: f64, b: f64) -> f64 {
    (a * x.ln() + b * (-x).ln_1p() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)).exp()
}

/// ln Γ(x) for x above 0.
pub(super) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 20.0 {
        product *= x;
        x += 1.0;
    }
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + stirling(x) - f64::ln(product)
}
