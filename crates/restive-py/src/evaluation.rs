//! What a log says: the value of a target policy, and the likelihood of transitions.
//!
//! The estimators take the target's pull probabilities at every logged decision and differentiate by them. Their value is one
//! number, so that what their pullback needs is not kept but computed again when it is called.

use crate::arms::{give, reward_of, slice};
use crate::border::{Number, Whole, check_shape, floats, read};
use crate::error::{raise, wrong};
use crate::threads;
use crate::trajectories::{Log, of_decisions, probabilities, records, view3};
use ndarray::{Array1, Array2};
use numpy::{PyArray1, PyArray2, PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use restive::evaluation::{self, Behaviour, Decisions, Propensity, RatioUpTo};
use restive::{Reward, check_discount};

/// A logged decision problem: what both estimators take.
pub(crate) struct Problem {
    pub(crate) decisions: Decisions,
    pub(crate) pull: Py<PyArrayDyn<f64>>,
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
    ) -> PyResult<Self> {
        check_discount(discount).map_err(raise)?;
        let pull = probabilities("pull", pull)?;
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
        Ok(Self { decisions, pull: give(&pull), discount })
    }
}

/// The value of a target policy by importance sampling, and the way back to its pulls: what `cwpdis` returns.
///
/// It keeps the array of pulls that it was given, not a copy: do not change that array before the last `pullback`.
#[pyclass(frozen, module = "restive")]
struct Cwpdis {
    problem: Problem,
    ratio_up_to: RatioUpTo,
    /// The value over all arms and steps.
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
///     The probability that the target pulls each arm at each logged decision.
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
///
/// Returns
/// -------
/// Cwpdis
///     `.value`, `.arm_value` [N], `.effective_sample_sizes` [H,N], `.effective_sample_size`, `.dropped` and
///     `.pullback(d_value)`.
///
/// Notes
/// -----
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
#[pyo3(signature = (pull, state, action, rewards, budget=None, propensity=None, discount=Number(0.99), *, ratio_up_to="this-step"))]
#[pyo3(
    text_signature = "(pull, state, action, rewards, budget=None, propensity=None, discount=0.99, *, ratio_up_to='this-step')"
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
    let problem = Problem::new(pull, state, action, rewards, budget, propensity, discount.0)?;
    let pull = read("pull", problem.pull.bind(py))?;
    let (view, decisions, discount) = (view3(&pull), &problem.decisions, problem.discount);
    let solved = threads::run(py, || {
        let solved = evaluation::cwpdis(decisions, view, discount, ratio_up_to);
        (
            solved.value,
            solved.arm_value,
            solved.effective_sample_sizes,
            solved.effective_sample_size,
            solved.dropped,
        )
    })?;
    drop(pull);
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
    /// What a cotangent of the value becomes on the pulls, float64 [J,H,N].
    #[pyo3(signature = (d_value=Number(1.0)), text_signature = "($self, d_value=1.0)")]
    fn pullback<'py>(&self, py: Python<'py>, d_value: Number) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let pull = read("pull", self.problem.pull.bind(py))?;
        let (view, problem, up_to) = (view3(&pull), &self.problem, self.ratio_up_to);
        let (decisions, discount) = (&problem.decisions, problem.discount);
        let d_pull = threads::run(py, || {
            evaluation::cwpdis(decisions, view, discount, up_to).pullback(d_value.0).d_pull
        })?;
        Ok(PyArrayDyn::from_owned_array(py, d_pull.into_dyn()))
    }

    fn __repr__(&self) -> String {
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
