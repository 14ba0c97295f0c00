//! The published estimator for a single trajectory: a metric to compare with, not evidence.

use crate::border::{Number, Whole};
use crate::evaluation::{Problem, array2};
use numpy::{PyArray2, PyArrayDyn};
use pyo3::prelude::*;
use restive::evaluation;

/// The value of a target policy, each step weighted on its own, and the way back: what `segmented` returns.
#[pyclass(frozen, dict, module = "restive")]
struct Segmented {
    problem: Problem,
    /// The value, averaged over trajectories and summed over arms; NaN where every arm was dropped.
    #[pyo3(get)]
    value: f64,
    /// float64 [J,N]: each arm's value in each trajectory; 0 where it was dropped.
    #[pyo3(get)]
    arm_value: Py<PyArray2<f64>>,
    /// How many equally weighted steps an arm's ratios are worth, on average.
    #[pyo3(get)]
    effective_sample_size: f64,
    /// How many arms, over all trajectories, were dropped.
    #[pyo3(get)]
    dropped: usize,
}

/// The published estimator for a single trajectory, in which every step is a trajectory of its own.
///
/// A metric to reproduce published numbers, not evidence: it can be won without knowing anything of the arms. Parameters are
/// those of `cwpdis`.
///
/// Returns
/// -------
/// Segmented
///     `.value`, `.arm_value` [J,N], `.effective_sample_size`, `.dropped` and `.pullback(d_value)`.
#[pyfunction]
#[pyo3(signature = (pull, state, action, rewards, budget=None, propensity=None, discount=Number(0.99), *, log_odds=false))]
#[pyo3(
    text_signature = "(pull, state, action, rewards, budget=None, propensity=None, discount=0.99, *, log_odds=False)"
)]
fn segmented<'py>(
    py: Python<'py>,
    pull: &Bound<'py, PyAny>,
    state: &Bound<'py, PyAny>,
    action: &Bound<'py, PyAny>,
    rewards: &Bound<'py, PyAny>,
    budget: Option<Whole>,
    propensity: Option<&Bound<'py, PyAny>>,
    discount: Number,
    log_odds: bool,
) -> PyResult<Segmented> {
    let problem = Problem::new(pull, state, action, rewards, budget, propensity, discount.0, log_odds)?;
    let discount = problem.discount;
    let (value, arm_value, effective_sample_size, dropped) = problem.run(py, |decisions, log_odds| {
        let solved = evaluation::segmented(decisions, log_odds, discount);
        (solved.value, solved.arm_value, solved.effective_sample_size, solved.dropped)
    })?;
    Ok(Segmented { problem, value, arm_value: array2(py, arm_value), effective_sample_size, dropped })
}

#[pymethods]
impl Segmented {
    /// What a cotangent of the value becomes on the pulls, or on their log-odds where those were given: float64 [J,H,N].
    #[pyo3(signature = (d_value=Number(1.0)), text_signature = "($self, d_value=1.0)")]
    fn pullback<'py>(&self, py: Python<'py>, d_value: Number) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let problem = &self.problem;
        let d_pull = problem.run(py, |decisions, log_odds| {
            let solved = evaluation::segmented(decisions, log_odds, problem.discount);
            problem.cotangent(&solved, |s| s.pullback(d_value.0), |s| s.pullback_pull(d_value.0))
        })?;
        Ok(PyArrayDyn::from_owned_array(py, d_pull.into_dyn()))
    }

    fn __repr__(&self) -> String {
        if self.value.is_nan() {
            return "<restive.Segmented nothing known>".into();
        }
        format!("<restive.Segmented {}>", self.value)
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Segmented>()?;
    module.add_function(wrap_pyfunction!(segmented, module)?)
}
