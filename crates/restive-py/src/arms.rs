//! Raw arrays of transitions: their form, and whether they can be used where they lie.
//!
//! The question "is every row a distribution?" is asked of every array that enters, so it is a loop without branches over
//! memory. Only where its answer is no does the library look for the row that is to blame, or scale a copy.

use crate::border::{check_finite, floats};
use crate::error::{raise, wrong};
use crate::threads;
use ndarray::{Array2, Array4, ArrayD, ArrayView2, ArrayView4, ArrayViewD};
use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use restive::{CompactTransition, Layout, Reward, Transition};

/// The form of the caller's array.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Form {
    /// `[N,4]`
    Compact,
    /// `[N,M,2,M]`
    Nsas,
    /// `[N,2,M,M]`
    Nass,
}

/// The layout by its name.
pub(crate) fn layout_of(name: &str) -> PyResult<Layout> {
    match name {
        "nsas" => Ok(Layout::Nsas),
        "nass" => Ok(Layout::Nass),
        _ => Err(wrong("layout", "'nsas' or 'nass'", format_args!("{name:?}"))),
    }
}

/// The form and the number of states of an array of this shape.
pub(crate) fn form_of(shape: &[usize], layout: &str) -> PyResult<(Form, usize)> {
    let layout = layout_of(layout)?;
    let fits = |states: usize, actions: usize, next: usize| actions == 2 && states == next && states > 0;
    match (shape, layout) {
        ([_, 4], _) => Ok((Form::Compact, 2)),
        (&[_, s, a, t], Layout::Nsas) if fits(s, a, t) => Ok((Form::Nsas, s)),
        (&[_, a, s, t], Layout::Nass) if fits(s, a, t) => Ok((Form::Nass, s)),
        _ => {
            let (expected, other) = match layout {
                Layout::Nsas => ("[N, M, 2, M] (arm, state, action, next state)", "nass"),
                Layout::Nass => ("[N, 2, M, M] (arm, action, state, next state)", "nsas"),
            };
            let is_other = match (shape, layout) {
                (&[_, a, s, t], Layout::Nsas) => fits(s, a, t),
                (&[_, s, a, t], Layout::Nass) => fits(s, a, t),
                _ => false,
            };
            let hint = if is_other { format!("; did you mean layout={other:?}?") } else { String::new() };
            Err(wrong(
                "P",
                &format!("{expected}, or [N, 4] for two states"),
                format_args!("shape {shape:?}{hint}"),
            ))
        }
    }
}

/// Rewards `[M]`, `[M,2]`, or linear ones.
pub(crate) fn reward_of(what: &str, rewards: Option<&Bound<'_, PyAny>>, m: usize) -> PyResult<Reward> {
    let Some(rewards) = rewards else { return Ok(Reward::linear(m)) };
    let found = floats(what, rewards)?;
    check_finite(what, slice(&found), found.shape())?;
    match *found.shape() {
        [states] if states == m => Reward::of_state(slice(&found)).map_err(raise),
        [states, 2] if states == m => {
            let values = view(&found).to_owned().into_dimensionality().expect("two axes");
            Reward::of_state_and_action(values).map_err(raise)
        }
        _ => Err(wrong(what, &format!("[{m}] or [{m}, 2]"), format_args!("shape {:?}", found.shape()))),
    }
}

/// The numbers of a row-major array.
pub(crate) fn slice<'a, T: numpy::Element>(array: &'a PyReadonlyArrayDyn<'_, T>) -> &'a [T] {
    array.as_slice().expect("arrays are contiguous once they have entered")
}

/// The same as a view. Made from the numbers, because NumPy's strides of an empty array are not ones that ndarray accepts.
pub(crate) fn view<'a>(array: &'a PyReadonlyArrayDyn<'_, f64>) -> ArrayViewD<'a, f64> {
    ArrayViewD::from_shape(array.shape(), slice(array)).expect("as many numbers")
}

/// The array behind a borrow, to keep.
pub(crate) fn give<T: numpy::Element>(array: &Bound<'_, PyArrayDyn<T>>) -> Py<PyArrayDyn<T>> {
    array.clone().unbind()
}

/// Arms in the kernels' form, `[N,M,2,M]`.
pub(crate) fn arms(values: &[f64], m: usize) -> ArrayView4<'_, f64> {
    ArrayView4::from_shape((values.len() / (2 * m * m), m, 2, m), values).expect("[N,M,2,M]")
}

/// Compact arms, `[N,4]`.
pub(crate) fn compact(values: &[f64]) -> ArrayView2<'_, f64> {
    ArrayView2::from_shape((values.len() / 4, 4), values).expect("[N,4]")
}

/// Compact arms as `[N,2,2,2]`.
pub(crate) fn full(compact: ArrayView2<'_, f64>) -> Array4<f64> {
    Array4::from_shape_fn((compact.nrows(), 2, 2, 2), |(i, s, a, next)| {
        let p = compact[[i, 2 * s + a]];
        if next == 1 { p } else { 1.0 - p }
    })
}

/// Arms of any form in that of the kernels, `[N,M,2,M]`, with rows that sum to 1: the array itself where it is so already, a
/// copy otherwise; or what is wrong with them.
pub(crate) fn checked<'py>(
    py: Python<'py>,
    raw: PyReadonlyArrayDyn<'py, f64>,
    form: Form,
    m: usize,
) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    if form == Form::Nsas {
        let p = slice(&raw);
        if threads::run(py, || all_distributions(p, m))? {
            return Ok(raw);
        }
    }
    let (raw, fixed) = (view(&raw).to_owned(), "the form was checked");
    let values = match form {
        Form::Compact => {
            let compact = CompactTransition::new(raw.into_dimensionality().expect(fixed)).map_err(raise)?;
            full(compact.view()).into_dyn()
        }
        Form::Nsas => scaled(raw.into_dimensionality().expect(fixed), Layout::Nsas)?,
        Form::Nass => scaled(raw.into_dimensionality().expect(fixed), Layout::Nass)?,
    };
    Ok(PyArrayDyn::from_owned_array(py, values).readonly())
}

/// A copy of the arms with rows that sum to 1, `[N,M,2,M]`; or what is wrong with them.
pub(crate) fn scaled(raw: Array4<f64>, layout: Layout) -> PyResult<ArrayD<f64>> {
    Ok(Transition::new(raw, layout).map_err(raise)?.view().to_owned().into_dyn())
}

/// A cotangent `[N,M,2,M]` in the caller's form, row-major.
pub(crate) fn in_form(d_transition: Array4<f64>, form: Form) -> ArrayD<f64> {
    match form {
        Form::Compact => {
            let d = d_transition.as_slice().expect("row-major");
            let compact: Vec<f64> = d.chunks_exact(2).map(|row| row[1] - row[0]).collect();
            Array2::from_shape_vec((d.len() / 8, 4), compact).expect("[N,4]").into_dyn()
        }
        Form::Nsas => d_transition.into_dyn(),
        Form::Nass => d_transition.permuted_axes([0, 2, 1, 3]).as_standard_layout().into_owned().into_dyn(),
    }
}

/// Whether all rows are distributions but for rounding; shared among threads.
pub(crate) fn all_distributions(rows: &[f64], m: usize) -> bool {
    rows.par_chunks(m * 1024).all(|rows| are_distributions(rows, m))
}

/// Whether rows of m entries are distributions but for rounding.
fn are_distributions(rows: &[f64], m: usize) -> bool {
    rows.chunks_exact(m).all(|row| {
        let (all, sum) = row.iter().fold((true, 0.0), |(all, sum), p| (all & (*p >= 0.0), sum + p));
        all & ((sum - 1.0).abs() <= m as f64 * f64::EPSILON)
    })
}
