//! What a log says: the value of a target policy, and the likelihood of transitions.
//!
//! The estimators take the target's pulls at every logged decision, as probabilities or as log-odds, and differentiate by what they
//! were given. Their value is one number, so that what their pullback needs is not kept but computed again when it is called.

use crate::arms::{give, reward_of, slice};
use crate::border::{Number, Whole, check_shape, floats, read};
use crate::error::{raise, wrong};
use crate::threads;
use crate::trajectories::{Log, log_odds, of_decisions, probabilities, records, view3};
use ndarray::{Array1, Array2, Array3, ArrayView3};
use numpy::{PyArray1, PyArray2, PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use restive::evaluation::{
    self, Behaviour, Decisions, LogOddsCotangent, Propensity, PullCotangent, RatioUpTo,
};
use restive::{Reward, check_discount, policy};

/// A logged decision problem: what both estimators take.
pub(crate) struct Problem {
    pub(crate) decisions: Decisions,
    /// probabilities of pulls, or their log-odds
    target: Py<PyArrayDyn<f64>>,
    is_log_odds: bool,
    pub(crate) discount: f64,
}

impl Problem {
    pub(crate) fn new<'py>(
        pull: &Bound<'py, PyAny>,
        state: &Bound<'py, PyAny>,
        action: &Bound<'py, PyAny>,
        rewards: &Bound<'py, PyAny>,
        budget: Option<Whole>,
        propensity: Option<&Bound<'py, PyAny>>,
        discount: f64,
        is_log_odds: bool,
    ) -> PyResult<Self> {
        check_discount(discount).map_err(raise)?;
        let pull = if is_log_odds { log_odds("pull", pull)? } else { probabilities("pull", pull)? };
        let (state, action) = (records("state", state)?, records("action", action)?);
        let (shape, n) = (pull.shape(), pull.shape()[2]);
        check_shape(
            "state",
            &format!("{} trajectories of {n} arms, as pull has", shape[0]),
            state.shape(),
            (state.shape()[0], state.shape()[2]) == (shape[0], n),
        )?;
        // the library looks at those of actions that were taken; others may be anything, NaN say
        let propensity = propensity.map(|given| of_decisions("propensity", given)).transpose()?;
        let earned = floats("rewards", rewards)?;
        for (what, found) in [("propensity", &propensity), ("rewards", &Some(earned.clone()))] {
            if let Some(found) = found.as_ref().filter(|found| found.ndim() == 3) {
                check_shape(
                    what,
                    &format!("shape {shape:?}, as pull has"),
                    found.shape(),
                    found.shape() == shape,
                )?;
            }
        }
        let logged = earned.ndim() == 3;
        let largest = slice(&state).iter().copied().max().unwrap_or(0).max(0);
        let m = if logged {
            (largest as usize).saturating_add(1)
        } else {
            earned.shape().first().copied().unwrap_or(0)
        };
        let table = match logged {
            true => Reward::of_state(&[0.0]).map_err(raise)?, // not read: rewards were logged
            false if m == 0 => {
                return Err(wrong(
                    "rewards",
                    "[M], [M, 2] or [J, H, N]",
                    format_args!("shape {:?}", earned.shape()),
                ));
            }
            false => reward_of("rewards", Some(rewards), m)?,
        };
        let log = Log {
            state: &state,
            action: &action,
            decisions: shape[1],
            propensity: propensity.as_ref().map(view3),
            reward: logged.then(|| view3(&earned)),
        };
        let trajectories = log.trajectories(m)?;
        let propensity = match (budget, &propensity) {
            (Some(k), None) => Propensity::new(&trajectories, Behaviour::Uniform, k.between("budget", 0, n)?),
            (None, Some(_)) => Propensity::new(&trajectories, Behaviour::Logged, n),
            (Some(_), Some(_)) => return Err(wrong("budget", "None where propensity is given", "both")),
            (None, None) => {
                return Err(wrong("propensity", "an array, or budget for pulls at random", "neither"));
            }
        };
        let decisions = Decisions::new(&trajectories, &table, &propensity.map_err(raise)?);
        Ok(Self { decisions, target: give(&pull), is_log_odds, discount })
    }

    /// Runs a kernel on the decisions and the log-odds of the target.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        kernel: impl FnOnce(&Decisions, ArrayView3<'_, f64>) -> T + Send,
    ) -> PyResult<T> {
        let target = read("pull", self.target.bind(py))?;
        let (view, decisions, is_log_odds) = (view3(&target), &self.decisions, self.is_log_odds);
        threads::run(py, || match is_log_odds {
            true => kernel(decisions, view),
            false => kernel(decisions, view.mapv(policy::log_odds).view()),
        })
    }

    /// The cotangent of what was given, pulls or log-odds, from a pullback of each.
    pub(crate) fn cotangent<T>(
        &self,
        solved: T,
        by_log_odds: impl FnOnce(T) -> LogOddsCotangent,
        by_pull: impl FnOnce(T) -> PullCotangent,
    ) -> Array3<f64> {
        if self.is_log_odds { by_log_odds(solved).d_log_odds } else { by_pull(solved).d_pull }
    }
}

/// The value of a target policy by importance sampling, and the way back to its pulls: what `cwpdis` returns.
///
/// It keeps the array of pulls that it was given, not a copy: do not change that array before the last `pullback`.
#[pyclass(frozen, dict, module = "restive")]
struct Cwpdis {
    problem: Problem,
    ratio_up_to: RatioUpTo,
    /// The value over all arms and steps; NaN where every term was dropped, because then nothing is known.
    #[pyo3(get)]
    value: f64,
    /// float64 [N]: each arm's part of the value.
    #[pyo3(get)]
    arm_value: Py<PyArray1<f64>>,
    /// float64 [H,N]: how many equally weighted trajectories the ratios are worth.
    #[pyo3(get)]
    effective_sample_sizes: Py<PyArray2<f64>>,
    /// Their mean over the arms at the last step.
    #[pyo3(get)]
    effective_sample_size: f64,
    /// How many of the H*N terms were dropped: the target never does what was logged, or no reward is known.
    #[pyo3(get)]
    dropped: usize,
}

/// The value of a target policy from the log of another: consistent weighted per-decision importance sampling, arm by arm.
///
/// Parameters
/// ----------
/// pull : array, [J,H,N]
///     The probability that the target pulls each arm at each logged decision, or its log-odds (`log_odds=True`).
/// state : integer array, [J,H+1,N] or [J,H,N]
///     Logged states; -1 (or masked) where unseen.
/// action : integer array, [J,H,N] or [J,H+1,N]
///     0 passive, 1 active; -1 (or masked) where there was none.
/// rewards : array, [M], [M,2] or [J,H,N]
///     R(s), R(s, a), or what was earned at each decision, NaN where that is not known.
/// budget : int, optional
///     The log was made by pulling that many of the N arms at random; or else
/// propensity : array, [J,H,N], optional
///     the probability that the logging policy gave to each logged action, above 0.
/// discount : float
///     From 0 to 1.
/// ratio_up_to : "this-step" or "previous-step"
///     Which decisions enter the ratio of a step; the second is less noisy, for rewards that do not depend on the action.
/// log_odds : bool
///     Whether `pull` holds log-odds, as `soft_top_k(...).log_odds` does. A probability near 1 has lost the chance of not pulling,
///     by which importance sampling divides; log-odds keep both.
///
/// Returns
/// -------
/// Cwpdis
///     `.value`, `.arm_value` [N], `.effective_sample_sizes` [H,N], `.effective_sample_size`, `.dropped` and
///     `.pullback(d_value)`.
///
/// Notes
/// -----
/// Where every term was dropped nothing is known: `.value` is NaN and `.effective_sample_size` 0.
/// Ratios are the arm's own: the competition for the budget never adapts to the target, so that for policies that choose among
/// arms the estimate is biased however many trajectories there are.
///
/// Examples
/// --------
/// >>> import numpy as np, restive
/// >>> state = np.array([[[0, 1], [1, 1]], [[1, 0], [0, 0]]])   # two trajectories, two steps, two arms
/// >>> action = np.array([[[1, 0]], [[0, 1]]])
/// >>> restive.cwpdis(np.full((2, 1, 2), 0.5), state, action, [0.0, 1.0], budget=1).value
/// 1.0
#[pyfunction]
#[pyo3(signature = (pull, state, action, rewards, budget=None, propensity=None, discount=Number(0.99), *, ratio_up_to="this-step", log_odds=false))]
#[pyo3(
    text_signature = "(pull, state, action, rewards, budget=None, propensity=None, discount=0.99, *, ratio_up_to='this-step', log_odds=False)"
)]
fn cwpdis<'py>(
    py: Python<'py>,
    pull: &Bound<'py, PyAny>,
    state: &Bound<'py, PyAny>,
    action: &Bound<'py, PyAny>,
    rewards: &Bound<'py, PyAny>,
    budget: Option<Whole>,
    propensity: Option<&Bound<'py, PyAny>>,
    discount: Number,
    ratio_up_to: &str,
    log_odds: bool,
) -> PyResult<Cwpdis> {
    let ratio_up_to = match ratio_up_to {
        "this-step" => RatioUpTo::ThisStep,
        "previous-step" => RatioUpTo::PreviousStep,
        _ => {
            return Err(wrong(
                "ratio_up_to",
                "'this-step' or 'previous-step'",
                format_args!("{ratio_up_to:?}"),
            ));
        }
    };
    let problem = Problem::new(pull, state, action, rewards, budget, propensity, discount.0, log_odds)?;
    let discount = problem.discount;
    let solved = problem.run(py, |decisions, log_odds| {
        let solved = evaluation::cwpdis(decisions, log_odds, discount, ratio_up_to);
        (
            solved.value,
            solved.arm_value,
            solved.effective_sample_sizes,
            solved.effective_sample_size,
            solved.dropped,
        )
    })?;
    let (value, arm_value, sizes, effective_sample_size, dropped) = solved;
    Ok(Cwpdis {
        problem,
        ratio_up_to,
        value,
        arm_value: array1(py, arm_value),
        effective_sample_sizes: array2(py, sizes),
        effective_sample_size,
        dropped,
    })
}

#[pymethods]
impl Cwpdis {
    /// What a cotangent of the value becomes on the pulls, or on their log-odds where those were given: float64 [J,H,N].
    #[pyo3(signature = (d_value=Number(1.0)), text_signature = "($self, d_value=1.0)")]
    fn pullback<'py>(&self, py: Python<'py>, d_value: Number) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (problem, up_to) = (&self.problem, self.ratio_up_to);
        let d_pull = problem.run(py, |decisions, log_odds| {
            let solved = evaluation::cwpdis(decisions, log_odds, problem.discount, up_to);
            problem.cotangent(&solved, |s| s.pullback(d_value.0), |s| s.pullback_pull(d_value.0))
        })?;
        Ok(PyArrayDyn::from_owned_array(py, d_pull.into_dyn()))
    }

    fn __repr__(&self) -> String {
        if self.value.is_nan() {
            return "<restive.Cwpdis nothing known, effective sample size 0>".into();
        }
        format!("<restive.Cwpdis {}, effective sample size {:.1}>", self.value, self.effective_sample_size)
    }
}

pub(crate) fn array1(py: Python<'_>, values: Array1<f64>) -> Py<PyArray1<f64>> {
    PyArray1::from_owned_array(py, values).unbind()
}

pub(crate) fn array2(py: Python<'_>, values: Array2<f64>) -> Py<PyArray2<f64>> {
    PyArray2::from_owned_array(py, values).unbind()
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Cwpdis>()?;
    module.add_function(wrap_pyfunction!(cwpdis, module)?)
}
