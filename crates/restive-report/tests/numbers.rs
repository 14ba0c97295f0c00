//! Numbers as people read them, and round numbers for the ticks of an axis.

use proptest::prelude::*;
use restive_report::axis::{Scale, ticks};
use restive_report::number::{fixed, short};

#[test]
fn numbers_read_well() {
    for (x, decimals, text) in [
        (1_234_567.0, 0, "1,234,567"),
        (999.95, 1, "1,000.0"),
        (-0.04, 1, "0.0"),
        (f64::INFINITY, 1, "∞"),
        (0.5, 2, "0.50"),
    ] {
        assert_eq!(fixed(x, decimals), text);
    }
    for (x, text) in
        [(0.0, "0"), (100.0, "100"), (1e9, "10⁹"), (-1234.5678, "−1,235"), (0.000_123_4, "0.0001234")]
    {
        assert_eq!(short(x), text);
    }
}

proptest! {
    /// Ticks are inside, rise, are as many as allowed, equally far apart, and 1, 2 or 5 times a power of ten.
    #[test]
    fn ticks_are_round_numbers(low in -1e6..1e6f64, span in 1e-6..1e6f64, at_most in 2usize..12) {
        prop_assume!(span > 1e-4 * low.abs());
        let high = low + span;
        let found = ticks(Scale::Linear, low, high, at_most);
        prop_assert!(found.len() <= at_most && !found.is_empty() && (at_most < 6 || found.len() >= 2), "{:?}", found);
        prop_assert!(found.iter().all(|x| (low..=high).contains(x)));
        for w in found.windows(2) {
            let step = w[1] - w[0];
            let digit = step / 10f64.powf(step.log10().floor());
            let digit = if digit > 9.9 { 1.0 } else { digit };
            // a step is a difference of numbers up to 10⁴ times its size
            prop_assert!([1.0, 2.0, 5.0].iter().any(|d| (digit - d).abs() < 1e-6), "{step}");
            prop_assert!(((w[0] / step) - (w[0] / step).round()).abs() < 1e-4);
        }
    }

    #[test]
    fn ticks_of_logarithms_are_inside_and_few(low in -12.0..12.0f64, decades in 0.01..20.0f64, at_most in 2usize..12) {
        let (low, high) = (10f64.powf(low), 10f64.powf(low + decades));
        let found = ticks(Scale::Log, low, high, at_most);
        prop_assert!(found.len() <= at_most, "{:?}", found);
        prop_assert!(found.windows(2).all(|w| w[0] < w[1]));
        prop_assert!(found.iter().all(|x| *x >= low * (1.0 - 1e-8) && *x <= high * (1.0 + 1e-8)));
        prop_assert!(decades < 1.0 || at_most < 4 || found.len() >= 2, "{:?}", found);
    }
}
