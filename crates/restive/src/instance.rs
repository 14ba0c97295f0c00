//! The border of the library: raw arrays come in here, are checked once, and are trusted afterwards.
//!
//! [`Transition`] holds the probabilities P(s, a, s′) of N arms as `[N,M,2,M]`; [`CompactTransition`] holds
//! two-state arms as the four probabilities of moving to state 1, `[N,4]`. Rows may miss a sum of 1 by
//! [`ROW_TOLERANCE`] (printed decimals, single precision). They are then divided by their sum, because the
//! index kernels rest on rows that sum to 1: a row that misses by r shifts an index by about r/(1−γ).
//! [`Reward`] holds R(s, a) as `[M,2]`.

use crate::error::{Error, FaultKind, ROW_TOLERANCE, Result, RowFault};
use ndarray::{Array, Array2, Array4, ArrayView2, ArrayView4, Axis, Dimension};

/// The order of the axes of a raw transition array.
///
/// With two states both orders have the same shape and rows that sum to 1, so nothing can tell them apart
/// but the person who wrote the file.
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
    /// Checks a raw array in the given layout and scales its rows to sum to 1 exactly.
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
    /// assert_eq!(error, "transition: arm 0, state 0, passive: probabilities sum to 0.8, expected 1 within 1e-6");
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
}

/// The array in row-major order, copied only where it is not so already.
fn contiguous<D: Dimension>(values: Array<f64, D>) -> Array<f64, D> {
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
    if sum != 1.0 {
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

/// Reward R(s, a) of every state and action, `[M,2]`, shared by all arms.
#[derive(Debug, Clone, PartialEq)]
pub struct Reward {
    values: Array2<f64>,
}

impl Reward {
    /// A reward R(s) that does not depend on the action, as in the paper.
    pub fn of_state(values: &[f64]) -> Result<Self> {
        Self::of_state_and_action(Array2::from_shape_fn((values.len(), 2), |(s, _)| values[s]))
    }

    /// A reward R(s, a), `[M,2]`.
    pub fn of_state_and_action(values: Array2<f64>) -> Result<Self> {
        if values.shape()[0] == 0 || values.shape()[1] != 2 {
            return Err(Error::Shape {
                what: "reward",
                expected: "[M, 2] (state, action) with M at least 1".into(),
                found: values.shape().to_vec(),
            });
        }
        if let Some((position, &found)) = values.iter().enumerate().find(|(_, r)| !r.is_finite()) {
            return Err(Error::NotFinite { what: "reward", position, found });
        }
        Ok(Self { values: contiguous(values) })
    }

    /// The paper's reward: R(s) = s/(M−1), from 0 in the worst state to 1 in the best; 0 for one state.
    pub fn linear(states: usize) -> Self {
        assert!(states > 0, "an arm has at least one state");
        let top = (states - 1).max(1) as f64;
        Self { values: Array2::from_shape_fn((states, 2), |(s, _)| s as f64 / top) }
    }

    /// M, the number of states.
    pub fn states(&self) -> usize {
        self.values.len_of(Axis(0))
    }

    /// The array, `[M,2]`.
    pub fn view(&self) -> ArrayView2<'_, f64> {
        self.values.view()
    }
}

/// Checks a discount: a number from 0 to 1, where 1 means the average reward per step.
pub fn check_discount(discount: f64) -> Result<()> {
    if (0.0..=1.0).contains(&discount) {
        return Ok(());
    }
    Err(Error::Range { what: "discount", expected: "a number from 0 to 1", found: discount })
}
