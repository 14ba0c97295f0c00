//! Logged decision problems: what the estimators take, one of them or a batch.
//!
//! Pulls are `[...,J,H,N]`. Everything else that a log has comes with the same axes in front, of every problem its own, or without them,
//! shared by all. Where all of it is shared the log is laid out once, however many targets are judged by it.

use crate::arms::{give, reward_of, slice};
use crate::border::{Numbers, PerPlace, Whole, array, bools, floats, position, read};
use crate::error::wrong;
use crate::laid::{Given, Laid, NOWHERE, Part, Rewards};
use crate::threads;
use crate::trajectories::records;
use ndarray::{Array2, Array3, ArrayD, ArrayView3};
use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rayon::prelude::*;
use restive::evaluation::Decisions;
use restive::policy;

/// How an error calls the axes in front.
pub(crate) const PROBLEMS: &str = "one for each problem, as the axes of pull before [J, H, N]";

/// Logged decision problems and the targets to be judged by them.
pub(crate) struct Problems {
    /// before trajectory, step and arm
    pub(crate) axes: Vec<usize>,
    /// (J, H, N)
    pub(crate) dim: (usize, usize, usize),
    /// of every problem, or one for all
    logs: Vec<Laid>,
    /// `[...,J,H,N]`: probabilities of pulls, or their log-odds
    target: Py<PyArrayDyn<f64>>,
    pub(crate) is_log_odds: bool,
    pub(crate) discount: PerPlace,
    /// the shape of the rewards as given
    rewards: Vec<usize>,
    /// `[...,J,H,N]`, where it was given
    mask: Option<Vec<bool>>,
}

impl Problems {
    pub(crate) fn new<'py>(
        pull: &Bound<'py, PyAny>,
        state: &Bound<'py, PyAny>,
        action: &Bound<'py, PyAny>,
        rewards: &Bound<'py, PyAny>,
        budget: Option<&Bound<'py, PyAny>>,
        propensity: Option<&Bound<'py, PyAny>>,
        discount: Numbers<'py>,
        is_log_odds: bool,
        mask: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let pull = floats("pull", pull)?;
        let (axes, every) = axes_of(pull.shape())?;
        let discount = discount
            .over("discount", axes, PROBLEMS, "a number from 0 to 1", |g| (0.0..=1.0).contains(&g))?;
        let mask = mask.map(|mask| broadcast(mask, pull.shape())).transpose()?;
        check_pulls(slice(&pull), pull.shape(), mask.as_deref(), is_log_odds)?;
        let ([j, h, n], axes) = (every, axes.to_vec());
        let dim = (j, h, n);
        let state = Part::new("state", records("state", state)?, &axes, &[[j, h + 1, n], every])?;
        let action = Part::new("action", records("action", action)?, &axes, &[[j, h + 1, n], every])?;
        let propensity = match propensity {
            // the library looks at those of actions that were taken; others may be anything, NaN say
            Some(given) => Some(Part::new("propensity", floats("propensity", given)?, &axes, &[every])?),
            None => None,
        };
        let budget = budget.map(|budget| budget_of(budget, &axes, n)).transpose()?;
        match (&budget, &propensity) {
            (Some(_), Some(_)) => return Err(wrong("budget", "None where propensity is given", "both")),
            (None, None) => {
                return Err(wrong("propensity", "an array, or budget for pulls at random", "neither"));
            }
            _ => {}
        }
        let earned = floats("rewards", rewards)?;
        let shape = earned.shape().to_vec();
        let earned = match *shape {
            [m] | [m, _] if m > 0 => Rewards::Table(reward_of("rewards", Some(rewards), m)?),
            [_, _, _, ..] => Rewards::Logged(Part::new("rewards", earned, &axes, &[every])?),
            _ => return Err(wrong("rewards", "[M], [M, 2] or [J, H, N]", format_args!("shape {shape:?}"))),
        };
        let is_shared = state.is_shared
            && action.is_shared
            && propensity.as_ref().is_none_or(|part| part.is_shared)
            && budget.as_ref().is_none_or(PerPlace::is_shared)
            && mask.is_none()
            && !matches!(&earned, Rewards::Logged(part) if !part.is_shared);
        let problems = if is_shared { 1 } else { axes.iter().product() };
        let given = Given { dim, state, action, propensity, budget, earned, mask: mask.as_deref() };
        let logs = (0..problems)
            .map(|k| {
                given
                    .laid(k)
                    .map_err(|error| if is_shared { error } else { located(error, k, &axes, pull.py()) })
            })
            .collect::<PyResult<_>>()?;
        Ok(Self { axes, dim, logs, target: give(&pull), is_log_odds, discount, rewards: shape, mask })
    }

    /// The number of problems.
    pub(crate) fn len(&self) -> usize {
        self.axes.iter().product()
    }

    /// Runs a kernel on the decisions of every problem and the log-odds of its target.
    pub(crate) fn each<T: Send>(
        &self,
        py: Python<'_>,
        kernel: impl Fn(usize, &Decisions, ArrayView3<'_, f64>) -> T + Sync,
    ) -> PyResult<Vec<T>> {
        let target = read("pull", self.target.bind(py))?;
        let (numbers, dim, is_log_odds) = (slice(&target), self.dim, self.is_log_odds);
        let size = dim.0 * dim.1 * dim.2;
        threads::run(py, || {
            let one = |problem: usize| {
                let view = ArrayView3::from_shape(dim, &numbers[problem * size..][..size]);
                let (view, log) = (view.expect("as many numbers"), &self.log(problem).decisions);
                match is_log_odds {
                    true => kernel(problem, log, view),
                    false => kernel(problem, log, view.mapv(policy::log_odds).view()),
                }
            };
            (0..self.len()).into_par_iter().with_min_len(threads::grain(size)).map(one).collect()
        })
    }

    fn log(&self, problem: usize) -> &Laid {
        &self.logs[if self.logs.len() == 1 { 0 } else { problem }]
    }

    /// Whether each arm is there at some of the J decisions of a step, `[H,N]`; none where nobody is ever absent.
    pub(crate) fn present(&self, problem: usize) -> Option<Array2<bool>> {
        let (j, h, n) = self.dim;
        let mask = &self.mask.as_ref()?[problem * j * h * n..][..j * h * n];
        let mask = ArrayView3::from_shape(self.dim, mask).expect("as many");
        Some(Array2::from_shape_fn((h, n), |(t, i)| (0..j).any(|j| mask[[j, t, i]])))
    }

    /// Cotangents of what was earned at every decision of every problem, `[J,H,N]`, in the shape of the rewards.
    pub(crate) fn d_rewards(&self, d_earned: &[Array3<f64>]) -> ArrayD<f64> {
        let mut d_rewards = ArrayD::zeros(self.rewards.clone());
        let d = d_rewards.as_slice_mut().expect("new");
        let is_by_action = self.rewards.len() == 2;
        for (problem, d_earned) in d_earned.iter().enumerate() {
            let Some(cells) = &self.log(problem).cells else {
                let start = if self.rewards.len() == 3 { 0 } else { problem * d_earned.len() };
                d[start..].iter_mut().zip(d_earned).for_each(|(sum, d)| *sum += d);
                continue;
            };
            for (&cell, &x) in cells.iter().zip(d_earned).filter(|(cell, _)| **cell != NOWHERE) {
                let (s, a) = (cell as usize / 3, cell as usize % 3);
                match (is_by_action, a) {
                    (false, _) => d[s] += x,
                    // without an action the reward is known where both are the same, and each has half of it
                    (true, 2) => (0..2).for_each(|a| d[2 * s + a] += 0.5 * x),
                    (true, a) => d[2 * s + a] += x,
                }
            }
        }
        d_rewards
    }
}

/// The axes of the problems, and (J, H, N).
fn axes_of(shape: &[usize]) -> PyResult<(&[usize], [usize; 3])> {
    match *shape {
        [ref axes @ .., j, h, n] if j > 0 && h > 0 && n > 0 => Ok((axes, [j, h, n])),
        _ => {
            let expected = "[J, H, N] (trajectory, decision, arm), none of them 0";
            Err(wrong("pull", expected, format_args!("shape {shape:?}")))
        }
    }
}

/// The mask in the shape of the pulls.
fn broadcast(mask: &Bound<'_, PyAny>, shape: &[usize]) -> PyResult<Vec<bool>> {
    let py = mask.py();
    let given = array("mask", mask)?;
    let whole = py.import("numpy")?.call_method1("broadcast_to", (&given, PyTuple::new(py, shape)?));
    let whole = whole.map_err(|_| {
        let n = shape.last().copied().unwrap_or_default();
        let expected = format!("[{n}], or a shape that broadcasts to {shape:?}, that of pull");
        wrong("mask", &expected, format_args!("shape {:?}", given.shape()))
    })?;
    Ok(slice(&bools("mask", &whole)?).to_vec())
}

/// A whole number; what is none is told with the name of the argument, as where Python's own call finds it.
fn whole_of(budget: &Bound<'_, PyAny>) -> PyResult<Whole> {
    let named =
        |error: PyErr| PyTypeError::new_err(format!("argument 'budget': {}", error.value(budget.py())));
    budget.extract::<Whole>().map_err(named)
}

/// The budget of every problem or of all: whole numbers from 0 to N.
fn budget_of<'py>(budget: &Bound<'py, PyAny>, axes: &[usize], n: usize) -> PyResult<PerPlace> {
    let expected = format!("a whole number from 0 to {n}");
    let given = match budget.extract::<Numbers<'py>>()? {
        // a whole number, or what says that it is none
        Numbers::One(_) => Numbers::One(whole_of(budget)?.between("budget", 0, n)? as f64),
        many => many,
    };
    given.over("budget", axes, PROBLEMS, &expected, |k| (0.0..=n as f64).contains(&k) && k.fract() == 0.0)
}

/// Refuses the first pull of an arm that is there and that is none.
fn check_pulls(pulls: &[f64], shape: &[usize], mask: Option<&[bool]>, is_log_odds: bool) -> PyResult<()> {
    let is_fit = |x: f64| if is_log_odds { !x.is_nan() } else { (0.0..=1.0).contains(&x) };
    if pulls.iter().fold(true, |all, x| all & is_fit(*x)) {
        return Ok(());
    }
    let is_there = |flat: usize| mask.is_none_or(|mask| mask[flat]);
    match pulls.iter().enumerate().position(|(flat, x)| !is_fit(*x) && is_there(flat)) {
        None => Ok(()),
        Some(flat) => {
            let place = position(flat, shape);
            let (problem, at) = place.split_at(place.len() - 3);
            let problem = if problem.is_empty() { String::new() } else { format!("problem {problem:?}, ") };
            let place = format!("pull: {problem}trajectory {}, step {}, arm {}", at[0], at[1], at[2]);
            match is_log_odds {
                true => Err(wrong(&place, "log-odds, infinite ones included", pulls[flat])),
                false => Err(wrong(&place, "a probability from 0 to 1", pulls[flat])),
            }
        }
    }
}

/// The error of one problem of many.
fn located(error: PyErr, problem: usize, axes: &[usize], py: Python<'_>) -> PyErr {
    match axes.is_empty() {
        true => error,
        false => {
            let place = position(problem, axes);
            PyValueError::new_err(format!("problem {place:?}: {}", error.value(py)))
        }
    }
}
