//! What a log says of a target policy: its value, by importance sampling.
//!
//! The estimators take the target's pulls at every logged decision, as probabilities or as log-odds, and differentiate by what they
//! were given. Their value is one number, so that what their pullback needs is not kept but computed again when it is called.
//! Axes in front of trajectory, step and arm are problems of their own, each judged as it would be alone.

use crate::border::{Numbers, PerPlace};
use crate::error::wrong;
use crate::logs::{PROBLEMS, Problems};
use crate::worlds::shaped;
use ndarray::{Array1, Array2, Array3, ArrayD};
use numpy::PyArrayDyn;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use restive::evaluation::{self, EarnedCotangent, RatioUpTo};

/// The value of a target policy by importance sampling, and the way back to its pulls: what `cwpdis` returns.
///
/// It keeps the array of pulls that it was given, not a copy: do not change that array before the last `pullback`.
#[pyclass(frozen, dict, module = "restive")]
struct Cwpdis {
    problems: Problems,
    ratio_up_to: RatioUpTo,
    /// float, or float64 [...]: the value over all arms and steps; NaN where every term was dropped, because then nothing is known.
    #[pyo3(get)]
    value: Py<PyAny>,
    /// float64 [...,N]: each arm's part of the value.
    #[pyo3(get)]
    arm_value: Py<PyAny>,
    /// float64 [...,H,N]: how many equally weighted trajectories the ratios are worth; 0 where a term was dropped or the arm absent.
    #[pyo3(get)]
    effective_sample_sizes: Py<PyAny>,
    /// float, or float64 [...]: their mean over the arms at the last step.
    #[pyo3(get)]
    effective_sample_size: Py<PyAny>,
    /// int, or int64 [...]: how many of the H*N terms were dropped: the target never does what was logged, or no reward is known.
    #[pyo3(get)]
    dropped: Py<PyAny>,
}

/// The value of a target policy from the log of another: consistent weighted per-decision importance sampling, arm by arm.
///
/// Parameters
/// ----------
/// pull : array, [...,J,H,N]
///     The probability that the target pulls each arm at each logged decision, or its log-odds (`log_odds=True`). Axes in front are
///     problems of their own; a log without them is shared by all, as when many targets are judged by one log.
/// state : integer array, [...,J,H+1,N] or [...,J,H,N]
///     Logged states; -1 (or masked) where unseen.
/// action : integer array, [...,J,H,N] or [...,J,H+1,N]
///     0 passive, 1 active; -1 (or masked) where there was none.
/// rewards : array, [M], [M,2] or [...,J,H,N]
///     R(s), R(s, a), or what was earned at each decision, NaN where that is not known.
/// budget : int, or one for each problem: array, [...]; optional
///     The log was made by pulling that many of the N arms at random; or else
/// propensity : array, [...,J,H,N], optional
///     the probability that the logging policy gave to each logged action, above 0.
/// discount : float, or one for each problem: array, [...]
///     From 0 to 1.
/// ratio_up_to : "this-step" or "previous-step"
///     Which decisions enter the ratio of a step; the second is less noisy, for rewards that do not depend on the action.
/// log_odds : bool
///     Whether `pull` holds log-odds, as `soft_top_k(...).log_odds` does. A probability near 1 has lost the chance of not pulling,
///     by which importance sampling divides; log-odds keep both.
/// mask : bool array, [N] or what broadcasts to the shape of pull, optional
///     Whether each arm is there. One that is not adds nothing and gets no gradient, whatever its entries say, and the others are judged
///     as if it did not exist; a budget is then that of the arms that are there.
///
/// Returns
/// -------
/// Cwpdis
///     `.value` (a number, or [...]), `.arm_value` [...,N], `.effective_sample_sizes` [...,H,N], `.effective_sample_size` and `.dropped`
///     as the value, `.pullback(d_value)` to the pulls and `.pullback_all(d_value)` to pulls, rewards and discount.
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
/// >>> pull = np.stack([np.full((2, 1, 2), 0.5), np.full((2, 1, 2), 0.9)])          # two targets, one log
/// >>> judged = restive.cwpdis(pull, state, action, [0.0, 1.0], budget=1)
/// >>> judged.value.round(6)
/// array([1. , 0.2])
/// >>> judged.pullback_all([0.0, 1.0]).d_rewards.round(6)                          # of the second
/// array([1.8, 0.2])
#[pyfunction]
#[pyo3(signature = (pull, state, action, rewards, budget=None, propensity=None, discount=Numbers::One(0.99), *, ratio_up_to="this-step", log_odds=false, mask=None))]
#[pyo3(
    text_signature = "(pull, state, action, rewards, budget=None, propensity=None, discount=0.99, *, ratio_up_to='this-step', log_odds=False, mask=None)"
)]
fn cwpdis<'py>(
    py: Python<'py>,
    pull: &Bound<'py, PyAny>,
    state: &Bound<'py, PyAny>,
    action: &Bound<'py, PyAny>,
    rewards: &Bound<'py, PyAny>,
    budget: Option<&Bound<'py, PyAny>>,
    propensity: Option<&Bound<'py, PyAny>>,
    discount: Numbers<'py>,
    ratio_up_to: &str,
    log_odds: bool,
    mask: Option<&Bound<'py, PyAny>>,
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
    let problems = Problems::new(pull, state, action, rewards, budget, propensity, discount, log_odds, mask)?;
    let judged = problems.each(py, |problem, decisions, log_odds| {
        let solved = evaluation::cwpdis(decisions, log_odds, problems.discount.of(problem), ratio_up_to);
        let judged = Judged {
            value: solved.value,
            arm_value: solved.arm_value,
            sizes: solved.effective_sample_sizes,
            size: solved.effective_sample_size,
            dropped: solved.dropped,
        };
        match problems.present(problem) {
            Some(present) => judged.among(&present),
            None => judged,
        }
    })?;
    let (axes, (_, h, n)) = (&problems.axes, problems.dim);
    let arm_value = judged.iter().flat_map(|one| one.arm_value.iter().copied()).collect();
    let sizes = judged.iter().flat_map(|one| one.sizes.iter().copied()).collect();
    Ok(Cwpdis {
        value: per_problem(py, axes, judged.iter().map(|one| one.value).collect())?,
        arm_value: shaped(py, arm_value, &[axes, &[n][..]].concat())?.unbind(),
        effective_sample_sizes: shaped(py, sizes, &[axes, &[h, n][..]].concat())?.unbind(),
        effective_sample_size: per_problem(py, axes, judged.iter().map(|one| one.size).collect())?,
        dropped: per_problem(py, axes, judged.iter().map(|one| one.dropped as i64).collect())?,
        problems,
        ratio_up_to,
    })
}

/// What is known of one problem's target.
struct Judged {
    value: f64,
    arm_value: Array1<f64>,
    /// `[H,N]`
    sizes: Array2<f64>,
    size: f64,
    dropped: usize,
}

impl Judged {
    /// The same, where absent arms have no terms that could be dropped (`[H,N]`: who is there).
    fn among(self, present: &Array2<bool>) -> Self {
        let terms = || self.sizes.iter().zip(present).filter(|(_, there)| **there);
        let dropped = terms().filter(|(size, _)| **size == 0.0).count();
        let is_known = dropped < terms().count() || terms().count() == 0;
        let last = self.sizes.nrows() - 1;
        let there = present.row(last).iter().filter(|there| **there).count().max(1) as f64;
        let size = self.sizes.row(last).sum() / there;
        let value = if is_known { self.arm_value.sum() } else { f64::NAN };
        Self { value, size, dropped, ..self }
    }
}

/// One number, or one for each problem.
fn per_problem<T>(py: Python<'_>, axes: &[usize], each: Vec<T>) -> PyResult<Py<PyAny>>
where
    T: numpy::Element + Copy + for<'py> IntoPyObject<'py>,
{
    if axes.is_empty() {
        return each[0].into_py_any(py);
    }
    let array = ArrayD::from_shape_vec(axes, each).expect("one of each problem");
    Ok(PyArrayDyn::from_owned_array(py, array).into_any().unbind())
}

#[pymethods]
impl Cwpdis {
    /// What a cotangent of the value becomes on the pulls, or on their log-odds where those were given.
    ///
    /// Parameters
    /// ----------
    /// d_value : float, or one for each problem: array, [...]
    ///
    /// Returns
    /// -------
    /// d_pull : float64 array, [...,J,H,N]
    #[pyo3(signature = (d_value=Numbers::One(1.0)), text_signature = "($self, d_value=1.0)")]
    fn pullback<'py>(&self, py: Python<'py>, d_value: Numbers<'py>) -> PyResult<Bound<'py, PyAny>> {
        let d_value = self.of_problems(d_value)?;
        let d_pull = self.back(py, &d_value, |solved, d_value| self.d_pull(solved, d_value))?;
        self.in_shape(py, d_pull)
    }

    /// What a cotangent of the value becomes on pulls, rewards and discount.
    ///
    /// Parameters are those of `pullback`.
    ///
    /// Returns
    /// -------
    /// CwpdisCotangent
    ///     `(d_pull, d_rewards, d_discount)`, each in the shape in which the input was given, summed over the problems that share it. Where
    ///     a reward R(s, a) was earned without an action, because both are the same, each has half of its cotangent.
    #[pyo3(signature = (d_value=Numbers::One(1.0)), text_signature = "($self, d_value=1.0)")]
    fn pullback_all<'py>(&self, py: Python<'py>, d_value: Numbers<'py>) -> PyResult<Bound<'py, PyAny>> {
        let d_value = self.of_problems(d_value)?;
        let back = self.back(py, &d_value, |solved, d_value| {
            let EarnedCotangent { d_reward, d_discount } = solved.pullback_earned(d_value);
            (self.d_pull(solved, d_value), d_reward, d_discount)
        })?;
        let (mut d_pull, mut d_earned, mut d_discount) = (Vec::new(), Vec::new(), Vec::new());
        for (pull, earned, discount) in back {
            d_pull.push(pull);
            d_earned.push(earned);
            d_discount.push(discount);
        }
        let d_rewards = PyArrayDyn::from_owned_array(py, self.problems.d_rewards(&d_earned));
        let d_discount = match self.problems.discount.is_shared() {
            true => d_discount.iter().sum::<f64>().into_py_any(py)?,
            false => shaped(py, d_discount, &self.problems.axes)?.unbind(),
        };
        let cotangent = py.import("restive._cotangents")?.getattr("CwpdisCotangent")?;
        cotangent.call1((self.in_shape(py, d_pull)?, d_rewards, d_discount))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        if !self.problems.axes.is_empty() {
            return Ok(format!("<restive.Cwpdis of problems {:?}>", self.problems.axes));
        }
        let (value, size): (f64, f64) = (self.value.extract(py)?, self.effective_sample_size.extract(py)?);
        Ok(match value.is_nan() {
            true => "<restive.Cwpdis nothing known, effective sample size 0>".into(),
            false => format!("<restive.Cwpdis {value}, effective sample size {size:.1}>"),
        })
    }
}

impl Cwpdis {
    fn of_problems(&self, d_value: Numbers<'_>) -> PyResult<PerPlace> {
        d_value.over("d_value", &self.problems.axes, PROBLEMS, "a number", |_| true)
    }

    /// Solves every problem again, for its pullback.
    fn back<T: Send>(
        &self,
        py: Python<'_>,
        d_value: &PerPlace,
        pullback: impl Fn(&evaluation::Cwpdis<'_>, f64) -> T + Sync,
    ) -> PyResult<Vec<T>> {
        self.problems.each(py, |problem, decisions, log_odds| {
            let discount = self.problems.discount.of(problem);
            let solved = evaluation::cwpdis(decisions, log_odds, discount, self.ratio_up_to);
            pullback(&solved, d_value.of(problem))
        })
    }

    /// By what was given, pulls or log-odds.
    fn d_pull(&self, solved: &evaluation::Cwpdis<'_>, d_value: f64) -> Array3<f64> {
        match self.problems.is_log_odds {
            true => solved.pullback(d_value).d_log_odds,
            false => solved.pullback_pull(d_value).d_pull,
        }
    }

    fn in_shape<'py>(&self, py: Python<'py>, each: Vec<Array3<f64>>) -> PyResult<Bound<'py, PyAny>> {
        let (j, h, n) = self.problems.dim;
        let shape = [&self.problems.axes, &[j, h, n][..]].concat();
        let mut each = each.into_iter().map(|one| one.into_raw_vec_and_offset().0);
        // those of the first, which is the only one where there are no axes, are not copied
        let mut numbers = each.next().unwrap_or_default();
        each.for_each(|mut one| numbers.append(&mut one));
        shaped(py, numbers, &shape)
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Cwpdis>()?;
    module.add_function(wrap_pyfunction!(cwpdis, module)?)
}
