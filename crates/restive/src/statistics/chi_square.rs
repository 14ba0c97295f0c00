//! The chi-square test of independence of a table of counts.
//!
//! With row sums r, column sums c and total n, independence expects e = r·c/n in a cell; χ² = Σ (count − e)²/e has
//! (rows − 1)(columns − 1) degrees of freedom for large counts. Rows and columns without counts say nothing and are dropped. No
//! continuity correction is made. The approximation is good where all cells expect five or more, so the smallest
//! expectation is part of the answer.

use super::{Undefined, tails};
use ndarray::{ArrayView2, Axis};

/// Whether rows and columns may be independent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChiSquare {
    /// χ²
    pub statistic: f64,
    /// (rows − 1)(columns − 1)
    pub freedom: usize,
    /// rows with counts
    pub rows: usize,
    /// columns with counts
    pub columns: usize,
    /// the smallest count that independence expects in a cell
    pub smallest_expected: f64,
    /// probability of a χ² as large where they are independent
    pub p: f64,
}

/// The test of a table of counts, one row per group and one column per category.
///
/// ```
/// let test = restive::statistics::chi_square(ndarray::array![[10, 20, 0], [20, 10, 0]].view())?;
/// assert_eq!((test.columns, test.freedom, test.smallest_expected), (2, 1, 15.0));
/// assert!((test.statistic - 20.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), restive::statistics::Undefined>(())
/// ```
pub fn chi_square(counts: ArrayView2<'_, u64>) -> Result<ChiSquare, Undefined> {
    let sums = |axis| -> Vec<f64> {
        counts.axis_iter(axis).map(|line| line.iter().map(|c| *c as f64).sum()).collect()
    };
    let (row, column) = (sums(Axis(0)), sums(Axis(1)));
    let kept = |sums: &[f64]| sums.iter().filter(|sum| **sum > 0.0).count();
    let (rows, columns) = (kept(&row), kept(&column));
    if rows < 2 || columns < 2 {
        return Err(Undefined::OneCategory { rows, columns });
    }
    let total: f64 = row.iter().sum();
    let (mut statistic, mut smallest_expected) = (0.0, f64::INFINITY);
    for ((r, c), &count) in counts.indexed_iter() {
        let expected = row[r] * column[c] / total;
        if expected > 0.0 {
            statistic += (count as f64 - expected) * (count as f64 - expected) / expected;
            smallest_expected = smallest_expected.min(expected);
        }
    }
    let freedom = (rows - 1) * (columns - 1);
    let p = tails::chi_square(statistic, freedom);
    Ok(ChiSquare { statistic, freedom, rows, columns, smallest_expected, p })
}
