//! Checked transition probabilities.
//!
//! [`Transition`] holds the probabilities P(s, a, s′) of N arms as `[N,M,2,M]`; [`CompactTransition`] holds
//! two-state arms as the four probabilities of moving to state 1, `[N,4]`. Rows may miss a sum of 1 by
//! [`ROW_TOLERANCE`] (printed decimals, single precision). They are then divided by their sum, because the
//! index kernels rest on rows that sum to 1: a row that misses by r shifts an index by about r/(1−γ).

use crate::error::{Error, FaultKind, ROW_TOLERANCE, Result, RowFault};
use ndarray::{Array, Array2, Array4, ArrayView2, ArrayView4, Axis, Dimension};

/// The order of the axes of a raw transition array.
///
/// With two states both orders have the same shape and rows that sum to 1, so only the person who wrote the
/// file can say which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// `[N, state, action, next state]`, restive's own order and the paper's
    #[default]
    Nsas,
    /// `[N, action, state, next state]`
    Nass,
}

/// Checked transition probabilities P(s, a, s′) of N arms, `[N,M,2,M]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    values: Array4<f64>,
}

impl Transition {
    /// Checks a raw array in the given layout and scales its rows to sum to 1, but for rounding.
    ///
    /// ```
    /// use ndarray::Array4;
    /// use restive::{Layout, Transition};
    ///
    /// let uniform = Array4::from_elem((3, 2, 2, 2), 0.5);
    /// assert_eq!(Transition::new(uniform, Layout::Nsas).unwrap().states(), 2);
    ///
    /// let short = Array4::from_elem((3, 2, 2, 2), 0.4);
    /// let error = Transition::new(short, Layout::Nsas).unwrap_err().to_string();
    /// assert_eq!(error, "transition: arm 0, state 0, passive: found a sum of 0.8, expected 1 within 1e-6");
    /// ```
    pub fn new(values: Array4<f64>, layout: Layout) -> Result<Self> {
        let shape = |expected: &str| Error::Shape {
            what: "transition",
            expected: expected.into(),
            found: values.shape().to_vec(),
        };
        let (m, a) = match layout {
            Layout::Nsas => (values.shape()[1], values.shape()[2]),
            Layout::Nass => (values.shape()[2], values.shape()[1]),
        };
        if m == 0 || a != 2 || values.shape()[3] != m {
            return Err(shape(match layout {
                Layout::Nsas => "[N, M, 2, M] (arm, state, action, next state) with M at least 1",
                Layout::Nass => "[N, 2, M, M] (arm, action, state, next state) with M at least 1",
            }));
        }
        let values = match layout {
            Layout::Nsas => values,
            Layout::Nass => values.permuted_axes([0, 2, 1, 3]),
        };
        let mut values = contiguous(values);
        let flat = values.as_slice_mut().expect("the standard layout is contiguous");
        for (row, p) in flat.chunks_exact_mut(m).enumerate() {
            scale_row(p).map_err(|kind| Error::Transition {
                arm: row / (2 * m),
                fault: RowFault { state: row / 2 % m, action: row % 2, kind },
            })?;
        }
        Ok(Self { values })
    }

    /// N, the number of arms.
    pub fn arms(&self) -> usize {
        self.values.len_of(Axis(0))
    }

    /// M, the number of states.
    pub fn states(&self) -> usize {
        self.values.len_of(Axis(1))
    }

    /// The array, `[N,M,2,M]`.
    pub fn view(&self) -> ArrayView4<'_, f64> {
        self.values.view()
    }

    /// Some of the arms, in the given order and perhaps repeated.
    pub fn select_arms(&self, arms: &[usize]) -> Self {
        Self { values: self.values.select(Axis(0), arms) }
    }
}

/// The array in row-major order, copied only where it is not so already.
pub(super) fn contiguous<T: Clone, D: Dimension>(values: Array<T, D>) -> Array<T, D> {
    if values.is_standard_layout() { values } else { values.as_standard_layout().into_owned() }
}

/// Divides a row by its sum; says what is wrong where it is not a distribution.
fn scale_row(row: &mut [f64]) -> std::result::Result<(), FaultKind> {
    let mut sum = 0.0;
    for (next, &found) in row.iter().enumerate() {
        if !(0.0..=1.0 + ROW_TOLERANCE).contains(&found) {
            return Err(FaultKind::Entry { next, found });
        }
        sum += found;
    }
    if (sum - 1.0).abs() > ROW_TOLERANCE {
        return Err(FaultKind::Sum { found: sum });
    }
    // As good as sums get: a row that was scaled before is left alone, so that it can be written and read back unchanged.
    if (sum - 1.0).abs() > row.len() as f64 * f64::EPSILON {
        row.iter_mut().for_each(|p| *p /= sum);
    }
    Ok(())
}

/// Checked transition probabilities of N two-state arms: `[N,4]`, the probability of moving to state 1 from
/// (state 0, passive), (state 0, active), (state 1, passive), (state 1, active).
#[derive(Debug, Clone, PartialEq)]
pub struct CompactTransition {
    values: Array2<f64>,
}

impl CompactTransition {
    /// Checks a raw array; values above 1 by no more than [`ROW_TOLERANCE`] are rounded to 1.
    ///
    /// ```
    /// let arm = ndarray::array![[0.2, 0.8, 0.5, 1.5]];
    /// let error = restive::CompactTransition::new(arm).unwrap_err().to_string();
    /// assert!(error.contains("arm 0, state 1, active, next state 1: found 1.5"), "{error}");
    /// ```
    pub fn new(values: Array2<f64>) -> Result<Self> {
        if values.shape()[1] != 4 {
            return Err(Error::Shape {
                what: "transition",
                expected: "[N, 4], the probabilities of moving to state 1".into(),
                found: values.shape().to_vec(),
            });
        }
        let mut values = contiguous(values);
        let flat = values.as_slice_mut().expect("the standard layout is contiguous");
        for (row, p) in flat.iter_mut().enumerate() {
            if !(0.0..=1.0 + ROW_TOLERANCE).contains(p) {
                let kind = FaultKind::Entry { next: 1, found: *p };
                let fault = RowFault { state: row / 2 % 2, action: row % 2, kind };
                return Err(Error::Transition { arm: row / 4, fault });
            }
            *p = p.min(1.0);
        }
        Ok(Self { values })
    }

    /// N, the number of arms.
    pub fn arms(&self) -> usize {
        self.values.len_of(Axis(0))
    }

    /// The array, `[N,4]`.
    pub fn view(&self) -> ArrayView2<'_, f64> {
        self.values.view()
    }
}
