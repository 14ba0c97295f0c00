//! Predictive loss: how likely some transitions make what was logged.

use crate::arms::{Form, arms, checked, form_of, in_form, slice};
use crate::border::{Number, floats};
use crate::error::wrong;
use crate::threads;
use crate::trajectories::{Log, one_log, records};
use numpy::{PyArrayDyn, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use restive::evaluation::likelihood;
use restive::instance::Counts;

/// The loss of some transitions on a log, and the way back: what `negative_log_likelihood` returns.
#[pyclass(frozen, dict, module = "restive")]
struct Likelihood {
    counts: Counts,
    transition: ndarray::Array4<f64>,
    form: Form,
    /// The loss over the number of trajectories: as published, it grows with arms and steps. Infinite where a transition was
    /// logged that has probability 0.
    #[pyo3(get)]
    per_trajectory: f64,
    /// The loss over the number of transitions seen: ln M is knowing nothing. NaN where none was seen.
    #[pyo3(get)]
    per_transition: f64,
}

/// The negative log-likelihood of logged transitions.
///
/// Parameters
/// ----------
/// P : array, [N,M,2,M] or [N,4]
///     Transition probabilities, as for `whittle_index`.
/// state : integer array, [J,H+1,N]
///     Logged states; -1 (or masked) where unseen.
/// action : integer array, [J,H,N] or [J,H+1,N]
///     0 passive, 1 active; -1 (or masked) where there was none.
/// layout : "nsas" or "nass"
///     The order of the axes of P.
///
/// Returns
/// -------
/// Likelihood
///     `.per_trajectory`, `.per_transition` and `.pullback(d_per_trajectory)`. Where a transition was logged that has
///     probability 0 the loss is infinite and has no gradient: that arm's is NaN.
///
/// Examples
/// --------
/// >>> import numpy as np, restive
/// >>> coin = np.full((2, 4), 0.5)
/// >>> state = np.array([[[0, 1], [1, 1], [0, -1]]])   # one trajectory, two decisions, two arms
/// >>> action = np.array([[[1, 0], [0, 0]]])
/// >>> loss = restive.negative_log_likelihood(coin, state, action)
/// >>> bool(np.isclose(loss.per_transition, np.log(2))), bool(np.isclose(loss.per_trajectory, 3 * np.log(2)))
/// (True, True)
#[pyfunction]
#[pyo3(signature = (P, state, action, layout="nsas"))]
#[expect(non_snake_case, reason = "P is how the literature and the users write it")]
fn negative_log_likelihood<'py>(
    py: Python<'py>,
    P: &Bound<'py, PyAny>,
    state: &Bound<'py, PyAny>,
    action: &Bound<'py, PyAny>,
    layout: &str,
) -> PyResult<Likelihood> {
    let raw = floats("P", P)?;
    let (form, m) = form_of(raw.shape(), layout)?;
    let transition = checked(py, raw, form, m)?;
    let (state, action) = (records("state", state)?, records("action", action)?);
    let (state, action) = (one_log("state", &state)?, one_log("action", &action)?);
    let n = transition.shape()[0];
    if state.shape()[1] < 2 || state.shape()[2] != n {
        let expected = format!("[J, H+1, {n}] with at least one decision, for {n} arms as P has");
        return Err(wrong("state", &expected, format_args!("shape {:?}", state.shape())));
    }
    let log = Log { state, action, decisions: state.dim().1 - 1, propensity: None, reward: None };
    let trajectories = log.trajectories(m)?;
    let transition = owned(&transition, m);
    let (counts, per_trajectory, per_transition) = threads::run(py, || {
        let counts = trajectories.counts();
        let loss = likelihood(&counts, transition.view());
        let (per_trajectory, per_transition) = (loss.per_trajectory, loss.per_transition);
        (counts, per_trajectory, per_transition)
    })?;
    Ok(Likelihood { counts, transition, form, per_trajectory, per_transition })
}

fn owned(transition: &PyReadonlyArrayDyn<'_, f64>, m: usize) -> ndarray::Array4<f64> {
    arms(slice(transition), m).to_owned()
}

#[pymethods]
impl Likelihood {
    /// What a cotangent of the loss per trajectory becomes on the transitions, float64 in the shape of P; rows sum to zero.
    #[pyo3(signature = (d_per_trajectory=Number(1.0)), text_signature = "($self, d_per_trajectory=1.0)")]
    fn pullback<'py>(
        &self,
        py: Python<'py>,
        d_per_trajectory: Number,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let Self { counts, transition, .. } = self;
        let d = threads::run(py, || {
            likelihood(counts, transition.view()).pullback(d_per_trajectory.0).d_transition
        })?;
        Ok(PyArrayDyn::from_owned_array(py, in_form(d, self.form)))
    }

    fn __repr__(&self) -> String {
        format!("<restive.Likelihood {} per transition>", self.per_transition)
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Likelihood>()?;
    module.add_function(wrap_pyfunction!(negative_log_likelihood, module)?)
}
