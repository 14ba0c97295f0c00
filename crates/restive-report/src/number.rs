//! Numbers as people read them: a true minus sign, commas between thousands, as many decimals as the neighbours have, and a
//! dash where there is no number.
//!
//! ```
//! use restive_report::number::{fixed, short};
//!
//! assert_eq!(fixed(-1234.56, 1), "−1,234.6");
//! assert_eq!(fixed(-0.01, 1), "0.0");
//! assert_eq!(fixed(f64::NAN, 1), "–");
//! assert_eq!(short(348.3519), "348.4");
//! assert_eq!(short(0.000_002_5), "2.5×10⁻⁶");
//! ```

use serde::{Deserialize, Serialize};

/// A number with a nominal 95 % interval; the ends are NaN where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// the number
    pub value: f64,
    /// the lower end
    pub low: f64,
    /// the upper end
    pub high: f64,
}

impl Interval {
    /// A number and both ends of its interval.
    pub fn new(value: f64, low: f64, high: f64) -> Self {
        Self { value, low, high }
    }

    /// A number without an interval.
    pub fn bare(value: f64) -> Self {
        Self { value, low: f64::NAN, high: f64::NAN }
    }

    /// Whether both ends are known.
    pub fn has_ends(&self) -> bool {
        !self.low.is_nan() && !self.high.is_nan()
    }

    /// In words, for readers who do not see the drawing.
    pub(super) fn words(&self) -> String {
        if self.has_ends() {
            format!("{} ({} to {})", short(self.value), short(self.low), short(self.high))
        } else {
            short(self.value)
        }
    }
}

/// With that many decimals.
pub fn fixed(x: f64, decimals: usize) -> String {
    if x.is_nan() {
        return "–".into();
    }
    let sign = if x < 0.0 { "−" } else { "" };
    if x.is_infinite() {
        return format!("{sign}∞");
    }
    if x.abs() >= 1e15 {
        return scientific(x, 3);
    }
    let plain = format!("{:.decimals$}", x.abs());
    let sign = if plain.bytes().any(|b| (b'1'..=b'9').contains(&b)) { sign } else { "" };
    let (whole, fraction) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let mut out = String::from(sign);
    for (k, digit) in whole.chars().enumerate() {
        if k > 0 && (whole.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + fraction
}

/// With four significant digits, trailing zeros left out.
pub fn short(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || !x.is_finite() {
        return fixed(x, 0);
    }
    if !(1e-4..1e7).contains(&size) {
        return scientific(x, 3);
    }
    let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
    let plain = fixed(x, decimals);
    match plain.contains('.') {
        true => plain.trim_end_matches('0').trim_end_matches('.').into(),
        false => plain,
    }
}

/// Mantissa and power of ten; a mantissa of 1 is left out.
fn scientific(x: f64, digits: usize) -> String {
    let text = format!("{:.digits$e}", x.abs());
    let (mantissa, power) = text.split_once('e').expect("an exponent");
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    let raised: String = power.chars().map(superscript).collect();
    let sign = if x < 0.0 { "−" } else { "" };
    if mantissa == "1" { format!("{sign}10{raised}") } else { format!("{sign}{mantissa}×10{raised}") }
}

fn superscript(c: char) -> char {
    match c {
        '-' => '⁻',
        digit => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit.to_digit(10).unwrap_or(0) as usize],
    }
}

/// The decimals that tell multiples of a step apart.
pub(super) fn decimals(step: f64) -> usize {
    if step > 0.0 && step.is_finite() {
        (-(step * 1.000_001).log10().floor()).clamp(0.0, 12.0) as usize
    } else {
        0
    }
}

/// Numbers along an axis, all in the same way.
pub(super) fn along_axis(numbers: &[f64]) -> Vec<String> {
    let largest = numbers.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let step = numbers.windows(2).fold(f64::INFINITY, |m, w| m.min((w[1] - w[0]).abs()));
    if largest >= 1e7 || (largest > 0.0 && largest < 1e-4) {
        return numbers.iter().map(|&x| if x == 0.0 { "0".into() } else { scientific(x, 3) }).collect();
    }
    let smallest = numbers.iter().fold(f64::INFINITY, |m, x| m.min(*x));
    // so far apart are only numbers along a logarithmic axis: no number of decimals suits them all
    if smallest > 0.0 && largest > 9.5 * smallest {
        let plain = smallest >= 1e-3 && largest <= 1e5;
        return numbers.iter().map(|&x| if plain { short(x) } else { scientific(x, 3) }).collect();
    }
    if numbers.len() < 2 {
        return numbers.iter().map(|&x| short(x)).collect();
    }
    numbers.iter().map(|&x| fixed(x, decimals(step))).collect()
}
