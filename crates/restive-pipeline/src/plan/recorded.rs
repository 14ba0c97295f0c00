//! Recorded scores, from which an audit makes a plan again.
//!
//! Scores come from matrix products, logarithms and exponentials. Their last bits depend on the processor. Everything that follows
//! from them uses sums, products and comparisons in a fixed order. An audit therefore compares recomputed scores with the recorded
//! ones [up to rounding](is_rounding), and makes choice, draw, order and probabilities again from the recorded ones, bit for bit.

use super::gather::Assessed;
use ndarray::ArrayView2;
use std::collections::HashMap;

/// Relative difference up to which two numbers are one number that was rounded differently.
const RELATIVE: f64 = 1e-9;
/// Part of the unit of two numbers up to which their difference is rounding: differences of large numbers are near 0 and not 0.
const OF_UNIT: f64 = 1e-12;

/// Whether two numbers differ by at most the roundings of two processors: 1e-9 of the larger, or 1e-12 of their unit.
pub fn is_rounding(a: f64, b: f64, unit: f64) -> bool {
    a == b || (a - b).abs() <= (RELATIVE * a.abs().max(b.abs())).max(OF_UNIT * unit)
}

/// Scores of arms as a plan recorded them, by name: of a study of one instance.
#[derive(Debug, Clone, Default)]
pub struct RecordedScores {
    /// Score; and value, if the plan states effects.
    of: HashMap<String, (f64, Option<f64>)>,
    unconfirmed: Vec<String>,
}

impl RecordedScores {
    /// From name, score and value of each arm; a plan that states no effects has recorded no values.
    pub fn new<'a>(all: impl Iterator<Item = (&'a str, f64, Option<f64>)>) -> Self {
        let of = all.map(|(arm, score, value)| (arm.to_string(), (score, value))).collect();
        Self { of, unconfirmed: Vec::new() }
    }

    /// Names of the arms whose recorded scores differ from the computed ones by more than rounding.
    pub fn unconfirmed(&self) -> &[String] {
        &self.unconfirmed
    }

    /// Puts recorded scores and values in the place of computed ones; arms without a record keep theirs. The unit of both is the range
    /// of the rewards `[M,2]`.
    pub(super) fn replace(&mut self, arms: &[String], computed: &mut Assessed, reward: ArrayView2<'_, f64>) {
        let ends = reward.iter().fold([f64::MAX, f64::MIN], |[low, high], r| [low.min(*r), high.max(*r)]);
        let unit = ends[1] - ends[0];
        for (i, arm) in arms.iter().enumerate() {
            let Some(&(score, value)) = self.of.get(arm) else {
                // an arm can be without a record because a pull does not pay: its score of 0 is not above 0 on any processor
                if is_rounding(computed.score[i], 0.0, unit) {
                    computed.score[i] = 0.0;
                }
                continue;
            };
            let value = value.unwrap_or(computed.value[i]);
            let is_confirmed =
                is_rounding(score, computed.score[i], unit) && is_rounding(value, computed.value[i], unit);
            if !is_confirmed {
                self.unconfirmed.push(arm.clone());
            }
            (computed.score[i], computed.value[i]) = (score, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_rounding;

    #[test]
    fn rounding_is_a_billionth_of_the_larger_number_or_next_to_nothing() {
        assert!(is_rounding(2.0, 2.0 + 1.9e-9, 1.0) && !is_rounding(2.0, 2.0 + 2.1e-9, 1.0));
        assert!(is_rounding(-2e6, -2e6 - 1.9e-3, 1.0) && !is_rounding(-2e6, 2e6, 1.0));
        assert!(is_rounding(0.0, 9e-13, 1.0) && !is_rounding(0.0, 1.1e-12, 1.0));
        assert!(is_rounding(0.0, -0.0, 0.0) && !is_rounding(0.0, 1e-300, 0.0));
        assert!(!is_rounding(f64::NAN, 1.0, 1.0) && !is_rounding(1.0, f64::NAN, 1.0));
    }
}
