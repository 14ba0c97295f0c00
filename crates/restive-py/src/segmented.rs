//! The published estimator for a single trajectory: a metric to compare with, not evidence.

use crate::border::{Number, Numbers, check_shape};
use crate::logs::Problems;
use ndarray::Array3;
use numpy::{PyArray2, PyArrayDyn};
use pyo3::prelude::*;
use restive::evaluation::{self, EarnedCotangent};

/// The value of a target policy, each step weighted on its own, and the way back: what `segmented` returns.
#[pyclass(frozen, dict, module = "restive")]
struct Segmented {
    problems: Problems,
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
/// those of `cwpdis`, for one problem, without `ratio_up_to` and `mask`.
///
/// Returns
/// -------
/// Segmented
///     `.value`, `.arm_value` [J,N], `.effective_sample_size`, `.dropped`, `.pullback(d_value)` to the pulls and `.pullback_all(d_value)` to pulls,
///     rewards and discount.
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
    budget: Option<&Bound<'py, PyAny>>,
    propensity: Option<&Bound<'py, PyAny>>,
    discount: Number,
    log_odds: bool,
) -> PyResult<Segmented> {
    let discount = Numbers::One(discount.0);
    let problems = Problems::new(pull, state, action, rewards, budget, propensity, discount, log_odds, None)?;
    let (axes, (j, h, n)) = (&problems.axes, problems.dim);
    check_shape("pull", "one problem, [J, H, N]", &[axes, &[j, h, n][..]].concat(), axes.is_empty())?;
    let solved = problems.each(py, |_, decisions, log_odds| {
        let solved = evaluation::segmented(decisions, log_odds, problems.discount.of(0));
        (solved.value, solved.arm_value, solved.effective_sample_size, solved.dropped)
    })?;
    let (value, arm_value, effective_sample_size, dropped) = solved.into_iter().next().expect("one problem");
    let arm_value = PyArray2::from_owned_array(py, arm_value).unbind();
    Ok(Segmented { problems, value, arm_value, effective_sample_size, dropped })
}

#[pymethods]
impl Segmented {
    /// What a cotangent of the value becomes on the pulls, or on their log-odds where those were given: float64 [J,H,N].
    #[pyo3(signature = (d_value=Number(1.0)), text_signature = "($self, d_value=1.0)")]
    fn pullback<'py>(&self, py: Python<'py>, d_value: Number) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let d_pull = self.solved(py, |solved| self.d_pull(solved, d_value.0))?;
        Ok(PyArrayDyn::from_owned_array(py, d_pull.into_dyn()))
    }

    /// What it becomes on the pulls (or log-odds), on the rewards in the shape in which they were given, and on the discount.
    ///
    /// Returns
    /// -------
    /// CwpdisCotangent
    ///     Named: (d_pull, d_rewards, d_discount).
    #[pyo3(signature = (d_value=Number(1.0)), text_signature = "($self, d_value=1.0)")]
    fn pullback_all<'py>(&self, py: Python<'py>, d_value: Number) -> PyResult<Bound<'py, PyAny>> {
        let (d_pull, EarnedCotangent { d_reward, d_discount }) =
            self.solved(py, |solved| (self.d_pull(solved, d_value.0), solved.pullback_earned(d_value.0)))?;
        let d_pull = PyArrayDyn::from_owned_array(py, d_pull.into_dyn());
        let d_rewards = PyArrayDyn::from_owned_array(py, self.problems.d_rewards(&[d_reward]));
        let cotangent = py.import("restive._cotangents")?.getattr("CwpdisCotangent")?;
        cotangent.call1((d_pull, d_rewards, d_discount))
    }

    fn __repr__(&self) -> String {
        if self.value.is_nan() {
            return "<restive.Segmented nothing known>".into();
        }
        format!("<restive.Segmented {}>", self.value)
    }
}

impl Segmented {
    /// What is asked of the estimate, made again.
    fn solved<T: Send>(
        &self,
        py: Python<'_>,
        of: impl Fn(&evaluation::Segmented<'_>) -> T + Sync,
    ) -> PyResult<T> {
        let problems = &self.problems;
        let found = problems.each(py, |_, decisions, log_odds| {
            of(&evaluation::segmented(decisions, log_odds, problems.discount.of(0)))
        })?;
        Ok(found.into_iter().next().expect("one problem"))
    }

    /// What a cotangent of the value becomes on the pulls, or on their log-odds.
    fn d_pull(&self, solved: &evaluation::Segmented<'_>, d_value: f64) -> Array3<f64> {
        match self.problems.is_log_odds {
            true => solved.pullback(d_value).d_log_odds,
            false => solved.pullback_pull(d_value).d_pull,
        }
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Segmented>()?;
    module.add_function(wrap_pyfunction!(segmented, module)?)
}
