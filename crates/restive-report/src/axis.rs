//! Axes: which numbers stand along them, and where.
//!
//! Ticks are multiples of 1, 2 or 5 times a power of ten: the numbers people divide by in their heads. On a logarithmic axis
//! they are powers of ten, with 2 and 5 between where there is room, and every second or third power where there is none.
//!
//! ```
//! use restive_report::axis::{Scale, ticks};
//!
//! assert_eq!(ticks(Scale::Linear, 322.0, 371.0, 6), [330.0, 340.0, 350.0, 360.0, 370.0]);
//! assert_eq!(ticks(Scale::Log, 1.0, 1e6, 4), [1.0, 100.0, 1e4, 1e6]);
//! assert!(ticks(Scale::Linear, f64::NAN, 1.0, 5).is_empty());
//! ```

use serde::{Deserialize, Serialize};

/// How numbers become distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scale {
    /// equal differences, equal distances
    Linear,
    /// equal factors, equal distances; numbers that are not positive are missing
    Log,
}

/// What stands along one side of a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// what is measured, with its unit
    pub label: String,
    /// how numbers become distances
    pub scale: Scale,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log }
    }
}

impl Scale {
    /// Whether a number has a place on this scale: so near the ends of `f64`, sums and powers of ten would overflow.
    pub(super) fn takes(self, x: f64) -> bool {
        match self {
            Scale::Linear => x.abs() < 1e300,
            Scale::Log => x > 1e-150 && x < 1e150,
        }
    }
}

/// At most `at_most` (2 or more) ticks between two numbers, rising.
pub fn ticks(scale: Scale, low: f64, high: f64, at_most: usize) -> Vec<f64> {
    if !(scale.takes(low) && scale.takes(high) && low <= high) {
        return Vec::new();
    }
    match scale {
        Scale::Linear => evenly(low, high, at_most),
        Scale::Log => powers(low, high, at_most),
    }
}

/// The smallest step of 1, 2 or 5 times a power of ten with at most `at_most` multiples in any range of that span.
pub(super) fn step(span: f64, at_most: usize) -> f64 {
    let least = span / (at_most.max(2) - 1) as f64;
    if !(least > 0.0) {
        return 1.0;
    }
    let power = 10f64.powi(least.log10().floor() as i32);
    let enough = |m: &f64| m * power >= least * (1.0 - 1e-12);
    [1.0, 2.0, 5.0].into_iter().find(enough).unwrap_or(10.0) * power
}

/// Multiples of the smallest step that is large enough, or of the next ones below where none of its multiples is inside.
fn evenly(low: f64, high: f64, at_most: usize) -> Vec<f64> {
    let steps = std::iter::successors(Some(step(high - low, at_most)), |s| Some(step(s / 2.5, 2))).take(3);
    steps.map(|step| multiples(low, high, step, at_most)).find(|ticks| !ticks.is_empty()).unwrap_or_default()
}

fn multiples(low: f64, high: f64, step: f64, at_most: usize) -> Vec<f64> {
    let slack = 1e-9;
    let first = (low / step - slack).ceil();
    let mut out: Vec<f64> = (0..at_most.max(2))
        .map(|k| (first + k as f64) * step)
        .take_while(|x| *x <= high + slack * step)
        .map(|x| x.clamp(low, high) + 0.0) // + 0.0: no minus before zero
        .collect();
    out.dedup();
    out
}

fn powers(low: f64, high: f64, at_most: usize) -> Vec<f64> {
    let inside = |x: &f64| *x >= low * (1.0 - 1e-9) && *x <= high * (1.0 + 1e-9);
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let every = |stride: i32, digits: &[f64]| -> Vec<f64> {
        (first..=last)
            .filter(|k| k.rem_euclid(stride) == 0)
            .flat_map(|k| digits.iter().map(move |d| d * 10f64.powi(k)))
            .filter(inside)
            .collect()
    };
    let fine = [&[1.0, 2.0, 5.0][..], &[1.0, 5.0]].into_iter().map(|digits| every(1, digits));
    let coarse = (1..=last - first + 1).map(|stride| every(stride, &[1.0]));
    let found = fine.chain(coarse).find(|ticks| (2..=at_most).contains(&ticks.len()));
    found.unwrap_or_else(|| evenly(low, high, at_most))
}

/// The numbers that an axis covers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub scale: Scale,
    pub low: f64,
    pub high: f64,
}

impl Range {
    /// Covers all numbers that have a place; none where no number has.
    pub fn of(scale: Scale, numbers: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = numbers
            .filter(|x| scale.takes(*x))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        let middle = low.abs().max(high.abs());
        match low <= high {
            false => None,
            // one number, or several that rounding can hardly tell apart
            true if high - low <= (1e-9 * middle).max(1e-290) => Some(match scale {
                Scale::Log => Self { scale, low: low / 2.0, high: high * 2.0 },
                Scale::Linear => {
                    let reach = if middle < 1e-280 { 1.0 } else { middle / 10.0 };
                    Self { scale, low: low - reach, high: high + reach }
                }
            }),
            true => Some(Self { scale, low, high }),
        }
    }

    /// Moved outwards by a share of its length on both sides.
    pub fn padded(self, share: f64) -> Self {
        match self.scale {
            Scale::Linear => {
                let reach = share * (self.high - self.low);
                Self { low: self.low - reach, high: self.high + reach, ..self }
            }
            Scale::Log => {
                let reach = (share * (self.high.ln() - self.low.ln())).exp();
                Self { low: self.low / reach, high: self.high * reach, ..self }
            }
        }
    }

    /// Moved outwards to the next ticks, where the scale is linear.
    pub fn to_ticks(self, at_most: usize) -> Self {
        if self.scale == Scale::Log {
            return self.padded(0.04);
        }
        let step = step(self.high - self.low, at_most.saturating_sub(2).max(2));
        let low = (self.low / step + 1e-9).floor() * step;
        let high = (self.high / step - 1e-9).ceil() * step;
        Self { low, high, ..self }
    }

    /// Where a number stands between `from` and `to`; numbers outside stand at the ends.
    pub fn place(&self, x: f64, from: f64, to: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (x - self.low) / (self.high - self.low),
            Scale::Log if x <= 0.0 => 0.0,
            Scale::Log => (x.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
        };
        from + share.clamp(0.0, 1.0) * (to - from)
    }

    pub fn ticks(&self, at_most: usize) -> Vec<f64> {
        ticks(self.scale, self.low, self.high, at_most)
    }
}
