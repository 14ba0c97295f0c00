//! Statistics: what tables of experiments need.
//!
//! | question | answer |
//! |---|---|
//! | where is the mean, and how sure are we? | [`mean()`]: standard error and t-interval; [`median`] |
//! | do two methods differ, run on the same seeds? | [`paired_t`]; [`wilcoxon`], which asks nothing of the distribution |
//! | and if many pairs of methods are held against each other? | [`holm`] |
//! | do two groups of people differ in a number? | [`welch_t`] |
//! | do they differ in a category? | [`chi_square`]; [`exact_rows`] and [`fisher`] where counts are small |
//! | what is a share, how do two differ? | [`proportion()`], [`proportion_difference`], [`proportion_ratio`] |
//! | how many places would a group have by chance? | [`hypergeometric()`]; [`dealt`], [`shuffled()`] where people count more than once |
//! | does one number explain another, people seen many times? | [`within()`]: a slope within groups, errors by person |
//! | do some numbers tell yes from no? | [`logistic()`], [`Auc`] |
//!
//! All p-values are two-sided, all intervals are 95 %; one-sided ones come from [`normal_tail`]. Where a question has no answer (one run, no differences, a number that is
//! none) the result is an [`Undefined`] that says why: never a NaN.
//!
//! ```
//! use restive::statistics::{Undefined, paired_t, wilcoxon};
//!
//! let (ours, theirs) = ([12.5, 11.5, 13.0, 12.0, 15.0, 14.0], [10.0, 12.0, 12.0, 10.5, 12.0, 12.0]);
//! let t = paired_t(&ours, &theirs)?;
//! assert!(t.low > 0.0 && t.p < 0.05); // the interval of the difference leaves out zero
//! assert_eq!(wilcoxon(&ours, &theirs)?.p, 0.0625); // six pairs, the smallest a loss: 4 of 64 sign patterns
//! assert_eq!(paired_t(&ours, &ours), Err(Undefined::NoSpread));
//! # Ok::<(), Undefined>(())
//! ```

mod beta;
mod chi_square;
mod exact;
mod holm;
mod hypergeometric;
mod logistic;
mod mean;
mod proportion;
mod shuffled;
mod t_test;
mod tails;
mod wilcoxon;
mod within;

pub use beta::{beta_cdf, beta_quantile};
pub use chi_square::{ChiSquare, chi_square};
pub use exact::exact_rows;
pub use holm::holm;
pub use hypergeometric::{Dealt, fisher, hypergeometric};
pub use logistic::{Auc, logistic};
pub use mean::{Mean, mean, median};
pub use proportion::{
    Difference, Proportion, Ratio, proportion, proportion_difference, proportion_of, proportion_ratio,
};
pub use shuffled::{Shuffled, dealt, shuffled};
pub use t_test::{TTest, paired_t, welch_t};
pub use tails::{normal_quantile, normal_tail, student_quantile};
pub use wilcoxon::{Wilcoxon, wilcoxon};
pub use within::{Within, WithinRow, within};

/// Why a question has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Undefined {
    /// there are too few numbers
    #[error("found {found} numbers, expected at least {expected}")]
    TooFew {
        /// how many there are
        found: usize,
        /// how many there must be
        expected: usize,
    },
    /// all numbers are the same, so that nothing can be said of their noise
    #[error("found numbers that are all the same, expected some that differ")]
    NoSpread,
    /// a number is infinite or none
    #[error("number {position}: found one that is not finite, expected a finite one")]
    NotFinite {
        /// where it stands
        position: usize,
    },
    /// fewer than two rows or columns have any counts
    #[error("found {rows} rows and {columns} columns with counts, expected at least 2 of each")]
    OneCategory {
        /// rows with counts
        rows: usize,
        /// columns with counts
        columns: usize,
    },
}

/// At least so many numbers, all finite.
fn check(values: &[f64], expected: usize) -> Result<(), Undefined> {
    if let Some(position) = values.iter().position(|x| !x.is_finite()) {
        return Err(Undefined::NotFinite { position });
    }
    if values.len() < expected {
        return Err(Undefined::TooFew { found: values.len(), expected });
    }
    Ok(())
}

/// Pairs become differences.
fn differences(first: &[f64], second: &[f64], expected: usize) -> Result<Vec<f64>, Undefined> {
    assert_eq!(first.len(), second.len(), "pairs: as many numbers on both sides");
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    check(&differences, expected)?;
    Ok(differences)
}
