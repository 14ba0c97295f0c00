//! Logs as arrays become the library's trajectories.
//!
//! States and actions are integers `[J,T,N]`: trajectory, step, arm. What was not observed is -1, or masked in a masked array.
//! A log of H decisions has states at H + 1 steps, of which the last may be left out where nothing depends on it.

use crate::arms::slice;
use crate::border::integers;
use crate::error::{raise, wrong};
use ndarray::{Array3, ArrayView3};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use restive::instance::{Logged, NO_ACTION, Trajectories, UNSEEN};

/// Integers `[...,J,T,N]`, -1 where they are masked.
pub(crate) fn records<'py>(what: &str, object: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, i64>> {
    let ma = object.py().import("numpy")?.getattr("ma")?;
    let found = if object.is_instance(&ma.getattr("MaskedArray")?)? {
        let kind: String = object.getattr("dtype")?.getattr("kind")?.extract()?;
        if !"iub".contains(&kind) {
            return Err(wrong(what, "integers", format_args!("dtype kind {kind:?}")));
        }
        let whole = object.call_method("astype", ("int64",), None)?;
        integers(what, &whole.call_method1("filled", (-1,))?)?
    } else {
        integers(what, object)?
    };
    if found.ndim() < 3 {
        return Err(wrong(
            what,
            "[J, T, N] (trajectory, step, arm)",
            format_args!("shape {:?}", found.shape()),
        ));
    }
    Ok(found)
}

/// The same of one log.
pub(crate) fn one_log<'a>(
    what: &str,
    records: &'a PyReadonlyArrayDyn<'_, i64>,
) -> PyResult<ArrayView3<'a, i64>> {
    match *records.shape() {
        [j, t, n] => Ok(ArrayView3::from_shape((j, t, n), slice(records)).expect("as many numbers")),
        ref found => Err(wrong(what, "[J, T, N] (trajectory, step, arm)", format_args!("shape {found:?}"))),
    }
}

/// A log of that many decisions: one state more, or as many; as many actions, or one more.
pub(crate) struct Log<'a> {
    pub(crate) state: ArrayView3<'a, i64>,
    pub(crate) action: ArrayView3<'a, i64>,
    pub(crate) decisions: usize,
    /// of each decision, `[J,H,N]`
    pub(crate) propensity: Option<ArrayView3<'a, f64>>,
    pub(crate) reward: Option<ArrayView3<'a, f64>>,
}

impl Log<'_> {
    /// Checks all of it; `states` is M.
    pub(crate) fn trajectories(&self, states: usize) -> PyResult<Trajectories> {
        let h = self.decisions;
        let (j, n) = (self.state.shape()[0], self.state.shape()[2]);
        for (what, found) in [("state", self.state.shape()), ("action", self.action.shape())] {
            if !(found == [j, h, n] || found == [j, h + 1, n]) {
                let expected = format!("[{j}, {}, {n}] or [{j}, {h}, {n}] (trajectory, step, arm)", h + 1);
                return Err(wrong(what, &expected, format_args!("shape {found:?}")));
            }
        }
        if states > usize::from(UNSEEN) {
            return Err(wrong("state", &format!("fewer than {UNSEEN} states"), states));
        }
        let state = filled("state", &self.state, h + 1, UNSEEN, |s| {
            u16::try_from(s).ok().filter(|s| usize::from(*s) < states)
        })
        .map_err(|fault| fault.raise(format!("a state below {states}, or -1 where it was not seen")))?;
        let action =
            filled("action", &self.action, h + 1, NO_ACTION, |a| u8::try_from(a).ok().filter(|a| *a < 2))
                .map_err(|fault| fault.raise("0, 1, or -1 where there was none".into()))?;
        let longer = |values: ArrayView3<'_, f64>| {
            let mut all = Array3::from_elem((j, h + 1, n), f64::NAN);
            all.slice_mut(ndarray::s![.., ..h, ..]).assign(&values);
            all
        };
        let (propensity, reward) = (self.propensity.map(longer), self.reward.map(longer));
        Trajectories::new(Logged { state, action, propensity, reward, available: None }, states)
            .map_err(raise)
    }
}

/// A record that is not what it should be.
struct Fault {
    what: &'static str,
    at: (usize, usize, usize),
    found: i64,
}

impl Fault {
    fn raise(self, expected: String) -> PyErr {
        let Self { what, at: (trajectory, step, arm), found } = self;
        raise(restive::Error::Step { what, trajectory, step, arm, expected, found: found.to_string() })
    }
}

/// The records in that many steps; -1, and steps that are not there, become `none`.
fn filled<T: Copy>(
    what: &'static str,
    records: &ArrayView3<'_, i64>,
    steps: usize,
    none: T,
    check: impl Fn(i64) -> Option<T>,
) -> Result<Array3<T>, Fault> {
    let (j, t, n) = records.dim();
    let mut all = Array3::from_elem((j, steps, n), none);
    for (j, (mut all, records)) in all.outer_iter_mut().zip(records.outer_iter()).enumerate() {
        for (k, (to, &found)) in all.iter_mut().zip(records.iter()).take(t * n).enumerate() {
            if found != -1 {
                *to = check(found).ok_or_else(|| Fault { what, at: (j, k / n, k % n), found })?;
            }
        }
    }
    Ok(all)
}
