//! Proportions: Wilson's interval, the difference of two, the ratio of two.
//!
//! **One.** With p = x/n and z the normal quantile, the interval holds every π that a score test does not reject, |p − π| ≤ z√(π(1 − π)/n):
//!
//! ```text
//! (p + z²/2n ± z√(p(1 − p)/n + z²/4n²)) / (1 + z²/n)                                   Wilson (1927)
//! ```
//!
//! It stays between 0 and 1, and 0 of n is no certainty: its upper end is z²/(n + z²). Where the n are not independent, weeks of the
//! same people, n is the number of independent observations that would tell as much: [`proportion_of`].
//!
//! **Difference.** With intervals (l, u) of p and (l′, u′) of p′, square and add the distances that face each other (Newcombe 1998,
//! method 10), less what the two have in common where they correlate by ρ (Zou 2007):
//!
//! ```text
//! low = p − p′ − √((p − l)² − 2ρ(p − l)(u′ − p′) + (u′ − p′)²)        high likewise with u − p and p′ − l′
//! ```
//!
//! **Ratio.** ln(p/p′) has the variance (1 − p)/x + (1 − p′)/x′ (Katz 1978). Where x or n − x is 0 a half is added to both counts and both
//! numbers of the interval, never to the ratio itself. A rate below four fifths of another's is a common mark of adverse impact.

use super::{Undefined, normal_quantile};

/// A share with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proportion {
    /// p
    pub share: f64,
    /// lower end of the 95 % interval
    pub low: f64,
    /// upper end of the 95 % interval
    pub high: f64,
    /// n, the independent observations it rests on
    pub of: f64,
}

/// A difference of two shares with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// the first share less the second
    pub difference: f64,
    /// lower end of the 95 % interval
    pub low: f64,
    /// upper end of the 95 % interval
    pub high: f64,
}

/// A ratio of two shares with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// the first share by the second
    pub ratio: f64,
    /// lower end of the 95 % interval, 0 where the first share is
    pub low: f64,
    /// upper end of the 95 % interval
    pub high: f64,
}

/// The share of `count` in `of`, at least one.
///
/// ```
/// let said = restive::statistics::proportion(0, 20)?;
/// assert_eq!((said.share, said.low), (0.0, 0.0));
/// assert!((said.high - 0.161_125).abs() < 1e-6); // nobody of twenty is not nobody at all
/// # Ok::<(), restive::statistics::Undefined>(())
/// ```
pub fn proportion(count: u64, of: u64) -> Result<Proportion, Undefined> {
    assert!(count <= of, "a count is at most what it is of");
    if of == 0 {
        return Err(Undefined::TooFew { found: 0, expected: 1 });
    }
    Ok(proportion_of(count as f64 / of as f64, of as f64))
}

/// A share between 0 and 1 that is known as well as by `of` independent observations, a number above 0.
pub fn proportion_of(share: f64, of: f64) -> Proportion {
    assert!((0.0..=1.0).contains(&share) && of > 0.0, "a share of something");
    let z = normal_quantile(0.975);
    let extra = z * z / of;
    let middle = (share + 0.5 * extra) / (1.0 + extra);
    let reach = (extra * (share * (1.0 - share) + 0.25 * extra)).sqrt() / (1.0 + extra);
    // an end that rounding would push past the share, or outside
    let low = if share == 0.0 { 0.0 } else { (middle - reach).clamp(0.0, share) };
    let high = if share == 1.0 { 1.0 } else { (middle + reach).clamp(share, 1.0) };
    Proportion { share, low, high, of }
}

/// The first share less the second; the two correlate by `correlation`, 0 where different people are in them.
///
/// ```
/// use restive::statistics::{proportion, proportion_difference};
///
/// // Newcombe (1998), table II (a): 56/70 and 48/80 differ by 0.2, from 0.0524 to 0.3339
/// let said = proportion_difference(&proportion(56, 70)?, &proportion(48, 80)?, 0.0);
/// assert!((said.low - 0.0524).abs() < 5e-5 && (said.high - 0.3339).abs() < 5e-5);
/// # Ok::<(), restive::statistics::Undefined>(())
/// ```
pub fn proportion_difference(first: &Proportion, second: &Proportion, correlation: f64) -> Difference {
    assert!((-1.0..=1.0).contains(&correlation), "a correlation is from -1 to 1");
    let reach = |a: f64, b: f64| (a * a - 2.0 * correlation * a * b + b * b).max(0.0).sqrt();
    let difference = first.share - second.share;
    let below = reach(first.share - first.low, second.high - second.share);
    let above = reach(first.high - first.share, second.share - second.low);
    Difference { difference, low: (difference - below).max(-1.0), high: (difference + above).min(1.0) }
}

/// The first share by the second, which is above 0; different people are in them.
///
/// ```
/// use restive::statistics::{proportion, proportion_ratio};
///
/// let said = proportion_ratio(&proportion(48, 80)?, &proportion(60, 80)?)?;
/// assert!((said.ratio - 0.8).abs() < 1e-15 && said.low < 0.8 && said.high > 0.8);
/// # Ok::<(), restive::statistics::Undefined>(())
/// ```
pub fn proportion_ratio(first: &Proportion, second: &Proportion) -> Result<Ratio, Undefined> {
    if second.share == 0.0 {
        return Err(Undefined::TooFew { found: 0, expected: 1 });
    }
    let is_inside = |of: &Proportion| of.share > 0.0 && of.share < 1.0;
    let half = if is_inside(first) && is_inside(second) { 0.0 } else { 0.5 };
    let [(x, n), (y, m)] = [first, second].map(|of| (of.share * of.of + half, of.of + half));
    let error = (1.0 / x - 1.0 / n + 1.0 / y - 1.0 / m).max(0.0).sqrt();
    let (middle, factor) = (x / n / (y / m), (normal_quantile(0.975) * error).exp());
    let low = if first.share == 0.0 { 0.0 } else { middle / factor };
    Ok(Ratio { ratio: first.share / second.share, low, high: middle * factor })
}
