//! The order of names, which decides nothing by chance: instances, arms and trajectories stand in it, however the rows of a table do.
//!
//! A table is a set of rows. What is drawn at random (splits, ties, simulated steps) is drawn by position, and the latest trajectory is
//! the last one, so positions must come from the names. Names are compared from the left: a run of the digits 0 to 9 as the whole
//! number that it is, any other character by its code point. So `9` comes before `10`, `week 9` before `week 10`, and `2024-05-01`
//! before `2024-11-30`. Names that are equal in that way (`7` and `07`) are compared as plain text.
//!
//! It is a total order: names are sequences of numbers and characters, compared as sequences, where a number stands among characters
//! as its first digit does.

use std::cmp::Ordering;

/// Which of two names comes first.
///
/// ```
/// let mut names = ["week 10", "week 9", "10", "9", "Ada"];
/// names.sort_by(|a, b| restive_tables::by_name(a, b));
/// assert_eq!(names, ["9", "10", "Ada", "week 9", "week 10"]);
/// ```
pub fn by_name(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let order = match (number(left), number(right)) {
            (Some((x, rest_left)), Some((y, rest_right))) => {
                (left, right) = (rest_left, rest_right);
                x.len().cmp(&y.len()).then_with(|| x.cmp(y))
            }
            _ => {
                let (mut x, mut y) = (left.chars(), right.chars());
                let order = x.next().cmp(&y.next());
                if order.is_eq() && left.is_empty() {
                    return a.cmp(b);
                }
                (left, right) = (x.as_str(), y.as_str());
                order
            }
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// The digits that a text begins with, without leading zeros, and what follows them.
fn number(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    (end > 0).then(|| (digits.trim_start_matches('0'), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_within_names_count_as_numbers() {
        let sorted = [
            "",
            " 1",
            "-1",
            "-10",
            "0",
            "00",
            "07",
            "7",
            "9",
            "10",
            "2024-05-01",
            "2024-11-30",
            "18446744073709551616",
            "A9",
            "A10",
            "Ada",
            "Ada 2",
            "Ada 10",
            "a1b2",
            "a1b10",
            "a01c",
            "Ñ2",
            "Ñ10",
            "鳥",
        ];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(by_name(a, b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(proptest::test_runner::Config { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

        #[test]
        fn the_order_is_total(names in prop::collection::vec("[0-3a -]{0,5}|\\PC{0,3}", 3)) {
            let [a, b, c] = [&names[0], &names[1], &names[2]];
            prop_assert_eq!(by_name(a, b), by_name(b, a).reverse());
            prop_assert_eq!(by_name(a, b).is_eq(), a == b);
            if by_name(a, b).is_le() && by_name(b, c).is_le() {
                prop_assert!(by_name(a, c).is_le());
            }
        }

        #[test]
        fn whole_numbers_are_in_their_order(x in any::<u64>(), y in any::<u64>()) {
            prop_assert_eq!(by_name(&x.to_string(), &y.to_string()), x.cmp(&y));
        }
    }
}
