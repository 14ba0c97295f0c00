//! Two sets of people: what they have in common, and in what they differ.
//!
//! A person counts once, however often called: calls to the same person are no independent observations. Numbers are held against each other by Welch's
//! t-test; groupings by chi-square tests of all groups and of each against the others. Somebody may be in both sets, of which the
//! tests, as papers print them, take no notice.

use super::groups::Groups;
use crate::statistics::{ChiSquare, TTest, chi_square, welch_t};
use ndarray::Array2;

/// What some people are like.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// the mean of every number; NaN of nobody
    pub means: Vec<f64>,
    /// per grouping, the share of every group; NaN of nobody
    pub shares: Vec<Vec<f64>>,
}

/// In what two sets of people differ. A test is missing where it has no answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// the share of the first who are in the second as well; NaN of nobody
    pub both: f64,
    /// of every number
    pub numbers: Vec<Option<TTest>>,
    /// per grouping, all groups at once
    pub groupings: Vec<Option<ChiSquare>>,
    /// per grouping, every group against the others
    pub groups: Vec<Vec<Option<ChiSquare>>>,
}

/// Means and shares of some people, who are positions in the numbers and the groupings.
pub fn describe(whom: &[usize], numbers: &[&[f64]], groupings: &[&Groups]) -> Description {
    let count = whom.len() as f64;
    let mean = |values: &&[f64]| whom.iter().map(|i| values[*i]).sum::<f64>() / count;
    let share = |found: u64| found as f64 / count;
    Description {
        means: numbers.iter().map(mean).collect(),
        shares: groupings.iter().map(|groups| groups.counts(whom).into_iter().map(share).collect()).collect(),
    }
}

/// The tests of two sets of people.
///
/// ```
/// use restive::fairness::{Groups, compare};
///
/// let place = Groups::new(vec!["rural".into(), "urban".into()], &[Some(0), Some(0), Some(1), Some(1)], "")?;
/// let found = compare([&[0, 1], &[1, 2, 3]], &[&[1.0, 2.0, 3.0, 4.0]], &[&place]);
/// assert_eq!((found.both, found.numbers[0].expect("numbers that differ").difference), (0.5, -1.5));
/// assert!((found.groupings[0].expect("two groups").statistic - 20.0 / 9.0).abs() < 1e-12);
/// # Ok::<(), restive::Error>(())
/// ```
pub fn compare(people: [&[usize]; 2], numbers: &[&[f64]], groupings: &[&Groups]) -> Comparison {
    let [first, second] = people;
    let mut sorted = second.to_vec();
    sorted.sort_unstable();
    let both = first.iter().filter(|i| sorted.binary_search(i).is_ok()).count();
    let number = |values: &&[f64]| {
        let [a, b] = people.map(|whom| whom.iter().map(|i| values[*i]).collect::<Vec<f64>>());
        welch_t(&a, &b).ok()
    };
    let test = |columns: usize, count: &dyn Fn(usize, usize) -> u64| {
        chi_square(Array2::from_shape_fn((2, columns), |(row, column)| count(row, column)).view()).ok()
    };
    let counts: Vec<[Vec<u64>; 2]> =
        groupings.iter().map(|groups| people.map(|whom| groups.counts(whom))).collect();
    let of_all = |counts: &[Vec<u64>; 2]| test(counts[0].len(), &|row, column| counts[row][column]);
    let of_each = |counts: &[Vec<u64>; 2]| {
        let against_others = |k: usize| {
            test(2, &|row, column| match column {
                0 => counts[row][k],
                _ => people[row].len() as u64 - counts[row][k],
            })
        };
        (0..counts[0].len()).map(against_others).collect()
    };
    Comparison {
        both: both as f64 / first.len() as f64,
        numbers: numbers.iter().map(number).collect(),
        groupings: counts.iter().map(of_all).collect(),
        groups: counts.iter().map(of_each).collect(),
    }
}
