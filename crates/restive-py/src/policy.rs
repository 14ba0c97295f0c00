//! From scores to pulls: the best K of N, softly with a gradient, or strictly.
//!
//! Scores come with any axes in front of the arms; each row is a problem of its own, and rows are shared among threads. Like
//! the indices, a soft policy keeps its scores (a copy is small here) and is solved again when its pullback is asked for.

use crate::arms::{give, slice};
use crate::border::{Number, Seed, Whole, check_all, check_finite, check_shape, floats, output, read};
use crate::error::wrong;
use crate::threads;
use ndarray::ArrayD;
use numpy::{PyArrayDyn, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use restive::policy::soft_top_k;
use restive::policy::strict::strict_top_k;

/// Soft pulls and the way back to their scores: what `soft_top_k` returns.
///
/// It keeps the array of scores that it was given, not a copy: do not change that array before the last `pullback`.
#[pyclass(frozen, module = "restive")]
struct SoftTopK {
    score: Py<PyArrayDyn<f64>>,
    budget: f64,
    temperature: f64,
    /// float64 [...,N]: the probability with which each arm is pulled, summing to the budget over the arms.
    #[pyo3(get)]
    pull: Py<PyArrayDyn<f64>>,
}

/// Pulls as many arms as the budget allows, those with the highest scores, softly.
///
/// pull_i = sigmoid((score_i - threshold)/temperature), with the threshold at which the pulls sum to the budget: the entropic optimal
/// transport of Xie et al. (2020). As the temperature falls to 0 the strict top k emerges.
///
/// Parameters
/// ----------
/// scores : array, [...,N]
///     Finite. Axes before the last are problems of their own.
/// budget : float
///     The budget, from 0 to N; it need not be whole.
/// temperature : float
///     At least 0, in the unit of the scores.
///
/// Returns
/// -------
/// SoftTopK
///     `.pull` [...,N], `.log_odds` [...,N] and `.pullback(d_pull)`.
///
/// Examples
/// --------
/// >>> import numpy as np, restive
/// >>> soft = restive.soft_top_k(np.array([0.9, 0.1, 0.4, 0.4, -0.3]), 2, 0.1)
/// >>> bool(abs(soft.pull.sum() - 2.0) < 1e-14)
/// True
/// >>> d_scores, d_temperature = soft.pullback(np.array([1.0, 0.0, 0.0, 0.0, 0.0]))
/// >>> bool(d_scores[0] > 0.0 and d_scores[2] < 0.0)
/// True
#[pyfunction(name = "soft_top_k")]
fn soft_top_k_of<'py>(
    py: Python<'py>,
    scores: &Bound<'py, PyAny>,
    budget: Number,
    temperature: Number,
) -> PyResult<SoftTopK> {
    let (score, n) = scores_of(py, scores, f64::is_finite)?;
    let (budget, temperature) = (budget.0, temperature.0);
    if !(0.0..=n as f64).contains(&budget) {
        return Err(wrong("budget", &format!("a number from 0 to {n}, the number of arms"), budget));
    }
    if !(temperature >= 0.0) {
        return Err(wrong("temperature", "a number of at least 0", temperature));
    }
    let mut pull = output(py, "pull", None, score.shape())?;
    let (x, y) = (slice(&score), pull.as_slice_mut().expect("contiguous"));
    threads::run(py, || {
        x.par_chunks(n.max(1)).zip(y.par_chunks_mut(n.max(1))).for_each(|(x, y)| {
            y.copy_from_slice(&soft_top_k::soft_top_k(x, budget, temperature).pull);
        });
    })?;
    Ok(SoftTopK { score: give(&score), budget, temperature, pull: give(&pull) })
}

/// Scores, all of which are fit to use, and the number of their arms.
fn scores_of<'py>(
    py: Python<'py>,
    scores: &Bound<'py, PyAny>,
    is_fit: fn(f64) -> bool,
) -> PyResult<(PyReadonlyArrayDyn<'py, f64>, usize)> {
    let score = floats("scores", scores)?;
    let Some(&n) = score.shape().last() else {
        return Err(wrong("scores", "an array with the arms as its last axis, [...,N]", "a single number"));
    };
    let (values, shape) = (slice(&score), score.shape());
    threads::run(py, || check_all("scores", values, shape, is_fit))??;
    Ok((score, n))
}

#[pymethods]
impl SoftTopK {
    /// float64 [...,N]: ln pull/(1 - pull), computed when asked for. It keeps the chance of not being pulled, which a pull
    /// near 1 has lost: hand these to importance sampling.
    #[getter]
    fn log_odds(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<f64>>> {
        let score = read("scores", self.score.bind(py))?;
        let shape = score.shape();
        let n = shape.last().copied().unwrap_or_default().max(1);
        let mut log_odds = output(py, "log_odds", None, shape)?;
        let (x, z) = (slice(&score), log_odds.as_slice_mut().expect("contiguous"));
        threads::run(py, || {
            check_finite("scores", x, shape)?;
            x.par_chunks(n).zip(z.par_chunks_mut(n)).for_each(|(x, z)| {
                z.copy_from_slice(&soft_top_k::soft_top_k(x, self.budget, self.temperature).log_odds());
            });
            PyResult::Ok(())
        })??;
        Ok(give(&log_odds))
    }

    /// What a cotangent of the pulls, or of their log-odds, becomes on scores and temperature.
    ///
    /// Parameters
    /// ----------
    /// d_pull : array of the shape of `pull`
    /// out : array of the same shape, optional
    ///     Where to write `d_scores`: contiguous float64.
    /// log_odds : bool
    ///     Whether `d_pull` belongs to `log_odds` instead of `pull`.
    ///
    /// Returns
    /// -------
    /// d_scores : float64 array of the shape of the scores
    ///     Summing to zero over the arms.
    /// d_temperature : float
    ///     Summed over all problems.
    #[pyo3(signature = (d_pull, out=None, *, log_odds=false))]
    fn pullback<'py>(
        &self,
        py: Python<'py>,
        d_pull: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        log_odds: bool,
    ) -> PyResult<(Py<PyArrayDyn<f64>>, f64)> {
        let d_pull = floats("d_pull", d_pull)?;
        let score = read("scores", self.score.bind(py))?;
        let expected = score.shape();
        check_shape("d_pull", &format!("shape {expected:?}"), d_pull.shape(), d_pull.shape() == expected)?;
        let n = expected.last().copied().unwrap_or_default().max(1);
        let mut d_score = output(py, "out", out, expected)?;
        let (x, c) = (slice(&score), slice(&d_pull));
        let (d, budget, temperature) =
            (d_score.as_slice_mut().expect("contiguous"), self.budget, self.temperature);
        let d_temperature = threads::run(py, || {
            // the array is the caller's, who may have changed it since
            check_finite("scores", x, expected)?;
            let rows = x.par_chunks(n).zip(c.par_chunks(n)).zip(d.par_chunks_mut(n));
            let each: Vec<f64> = rows
                .map(|((x, c), d)| {
                    let soft = soft_top_k::soft_top_k(x, budget, temperature);
                    let cotangent = if log_odds { soft.pullback_log_odds(c) } else { soft.pullback(c) };
                    d.copy_from_slice(&cotangent.d_score);
                    cotangent.d_temperature
                })
                .collect();
            PyResult::Ok(each.iter().sum())
        })??;
        Ok((give(&d_score), d_temperature))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<restive.SoftTopK of {}, pull {:?}>", self.budget, self.pull.bind(py).shape())
    }
}

/// Strict pulls: what `strict_top_k` returns.
#[pyclass(frozen, get_all, module = "restive")]
struct StrictTopK {
    /// bool [...,N]: who is pulled, exactly as many arms as the budget.
    pull: Py<PyArrayDyn<bool>>,
    /// float64 [...,N]: the probability, over the tie-break, that each arm is pulled.
    inclusion: Py<PyArrayDyn<f64>>,
}

#[pymethods]
impl StrictTopK {
    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<restive.StrictTopK, pull {:?}>", self.pull.bind(py).shape())
    }
}

/// Pulls as many arms as the budget allows, those with the highest scores; ties for the last places are broken at random.
///
/// Parameters
/// ----------
/// scores : array, [...,N]
///     Not NaN. Axes before the last are problems of their own, with a tie-break of their own.
/// budget : int
///     The budget, from 0 to N.
/// seed : int
///     Of the tie-break, at least 0.
///
/// Returns
/// -------
/// StrictTopK
///     `.pull` bool [...,N] and `.inclusion` [...,N].
///
/// Examples
/// --------
/// >>> import numpy as np, restive
/// >>> plan = restive.strict_top_k(np.array([0.7, 0.2, 0.2, 0.9]), 3, seed=42)
/// >>> int(plan.pull.sum()), plan.inclusion.tolist()
/// (3, [1.0, 0.5, 0.5, 1.0])
#[pyfunction(name = "strict_top_k")]
#[pyo3(signature = (scores, budget, seed=Seed(0)), text_signature = "(scores, budget, seed=0)")]
fn strict_top_k_of<'py>(
    py: Python<'py>,
    scores: &Bound<'py, PyAny>,
    budget: Whole,
    seed: Seed,
) -> PyResult<StrictTopK> {
    let (score, n) = scores_of(py, scores, |x| !x.is_nan())?;
    let (budget, seed, shape) = (budget.between("budget", 0, n)?, seed.0, score.shape());
    let x = slice(&score);
    let (mut pull, mut inclusion) = (ArrayD::from_elem(shape, false), ArrayD::zeros(shape));
    let (chosen, likely) = (pull.as_slice_mut().expect("new"), inclusion.as_slice_mut().expect("new"));
    threads::run(py, || {
        let n = n.max(1);
        let rows = x.par_chunks(n).zip(chosen.par_chunks_mut(n)).zip(likely.par_chunks_mut(n));
        rows.enumerate().for_each(|(row, ((x, chosen), likely))| {
            // the first row has the seed itself, others one that shares no bits with it
            let own = seed ^ (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let plan = strict_top_k(x, budget, own);
            chosen.copy_from_slice(&plan.pull);
            likely.copy_from_slice(&plan.inclusion);
        });
    })?;
    Ok(StrictTopK {
        pull: PyArrayDyn::from_owned_array(py, pull).unbind(),
        inclusion: PyArrayDyn::from_owned_array(py, inclusion).unbind(),
    })
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SoftTopK>()?;
    module.add_class::<StrictTopK>()?;
    module.add_function(wrap_pyfunction!(soft_top_k_of, module)?)?;
    module.add_function(wrap_pyfunction!(strict_top_k_of, module)?)
}
