//! Soft pulls: the best K of N, or what a budget pays for, with a gradient.
//!
//! Scores come with any axes in front of the arms; each row is a problem of its own, and rows are shared among threads. Like
//! the indices, a soft policy keeps its scores and is solved again when its pullback is asked for.

use crate::arms::{give, slice};
use crate::border::{Numbers, PerPlace, check_shape, floats, output, read};
use crate::rows::{Beside, Present};
use crate::threads;
use ndarray::ArrayD;
use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use restive::policy::soft_top_k::{self as kernel, SoftKnapsackCotangent, SoftTopKCotangent};

/// Soft pulls and the way back to their scores: what `soft_top_k` returns.
///
/// It keeps the array of scores that it was given, not a copy: do not change that array before the last `pullback`.
#[pyclass(frozen, dict, module = "restive")]
pub(crate) struct SoftTopK {
    score: Py<PyArrayDyn<f64>>,
    budget: PerPlace,
    temperature: PerPlace,
    beside: Beside,
    /// float64 [...,N]: the probability with which each arm is pulled, summing to the budget over the arms; with costs, what they
    /// cost does.
    #[pyo3(get)]
    pull: Py<PyArrayDyn<f64>>,
}

/// Pulls as many arms as the budget allows, those with the highest scores, softly.
///
/// pull_i = sigmoid((score_i - threshold)/temperature), with the threshold at which the pulls sum to the budget: the entropic optimal
/// transport of Xie et al. (2020). As the temperature falls to 0 the strict top k emerges. With costs it is a soft knapsack: arms compete
/// by score_i/cost_i, and the threshold is the one at which sum_i cost_i*pull_i is the budget.
///
/// Parameters
/// ----------
/// scores : array, [...,N]
///     Finite, where an arm is there. Axes before the last are problems of their own.
/// budget : float, or one for each problem: array, [...]
///     The budget, from 0 to N; it need not be whole. With costs any number of at least 0. Where it pays for more than there is,
///     everybody is pulled.
/// temperature : float, or one for each problem: array, [...]
///     At least 0, in the unit of the scores (with costs, of scores per cost).
/// costs : array, [...,N] or [N], optional
///     What a pull of each arm costs, above 0.
/// mask : bool array, [...,N] or [N], optional
///     Whether each arm is there. One that is not has pull 0, log-odds -inf and no gradient, and the others are pulled as if it did
///     not exist.
///
/// Returns
/// -------
/// SoftTopK
///     `.pull` [...,N], `.log_odds` [...,N], `.pullback(d_pull)` and `.pullback_all(d_pull)`.
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
/// >>> costs = np.array([1.0, 3.0, 2.0])
/// >>> two = restive.soft_top_k(np.array([[0.9, 0.8, 0.4], [0.1, 0.7, 0.2]]), np.array([2.0, 3.0]), 0.1, costs=costs)
/// >>> (two.pull @ costs).round(9)  # each problem spends its own budget
/// array([2., 3.])
#[pyfunction]
#[pyo3(signature = (scores, budget, temperature, *, costs=None, mask=None))]
pub(crate) fn soft_top_k<'py>(
    py: Python<'py>,
    scores: &Bound<'py, PyAny>,
    budget: Numbers<'py>,
    temperature: Numbers<'py>,
    costs: Option<&Bound<'py, PyAny>>,
    mask: Option<&Bound<'py, PyAny>>,
) -> PyResult<SoftTopK> {
    let score = floats("scores", scores)?;
    let (axes, n) = axes_of(score.shape())?;
    let beside = Beside::new(costs, mask, score.shape())?;
    let (expected, most) = match costs {
        None => (format!("a number from 0 to {n}, the number of arms"), n as f64),
        Some(_) => ("a number of at least 0".to_owned(), f64::MAX),
    };
    let problems = "one for each problem, as the axes of the scores before the arms";
    let budget = budget.over("budget", axes, problems, &expected, |k| (0.0..=most).contains(&k))?;
    let temperature =
        temperature.over("temperature", axes, problems, "a number of at least 0", |e| e >= 0.0)?;
    let mut pull = output(py, "pull", None, score.shape())?;
    let solved = SoftTopK { score: give(&score), budget, temperature, beside, pull: give(&pull) };
    let (x, y, shape) = (slice(&score), pull.as_slice_mut().expect("contiguous"), score.shape());
    threads::run(py, || {
        solved.beside.check_scores(x, shape, "a finite number", f64::is_finite)?;
        let rows = x.par_chunks(n.max(1)).zip(y.par_chunks_mut(n.max(1))).enumerate();
        rows.with_min_len(threads::grain(n)).for_each(|(row, (x, y))| {
            let present = solved.beside.present(row);
            solved.solve(x, row, &present, |soft| present.scatter(soft.pull(), 0.0, y));
        });
        PyResult::Ok(())
    })??;
    Ok(solved)
}

/// The axes before the arms, and the number of arms.
pub(crate) fn axes_of(shape: &[usize]) -> PyResult<(&[usize], usize)> {
    let Some((n, axes)) = shape.split_last() else {
        let expected = "an array with the arms as its last axis, [...,N]";
        return Err(crate::error::wrong("scores", expected, "a single number"));
    };
    Ok((axes, *n))
}

/// One problem, solved.
enum Soft<'a> {
    TopK(kernel::SoftTopK<'a>),
    Knapsack(kernel::SoftKnapsack<'a>),
}

impl Soft<'_> {
    fn pull(&self) -> &[f64] {
        match self {
            Soft::TopK(soft) => &soft.pull,
            Soft::Knapsack(soft) => &soft.pull,
        }
    }

    fn log_odds(&self) -> Vec<f64> {
        match self {
            Soft::TopK(soft) => soft.log_odds(),
            Soft::Knapsack(soft) => soft.log_odds(),
        }
    }

    /// Without costs, those of d_cost are none.
    fn pullback(&self, c: &[f64], is_log_odds: bool) -> SoftKnapsackCotangent {
        match self {
            Soft::TopK(soft) => {
                let SoftTopKCotangent { d_score, d_budget, d_temperature } =
                    if is_log_odds { soft.pullback_log_odds(c) } else { soft.pullback(c) };
                SoftKnapsackCotangent { d_score, d_cost: Vec::new(), d_budget, d_temperature }
            }
            Soft::Knapsack(soft) if is_log_odds => soft.pullback_log_odds(c),
            Soft::Knapsack(soft) => soft.pullback(c),
        }
    }
}

/// Cotangents of all problems.
struct Cotangents {
    d_score: Py<PyArrayDyn<f64>>,
    /// `[...]` each
    d_budget: Vec<f64>,
    d_temperature: Vec<f64>,
    /// `[...,N]`, empty without costs
    d_cost: Vec<f64>,
}

impl SoftTopK {
    /// Solves one problem for the arms that are there.
    fn solve<T>(&self, x: &[f64], row: usize, present: &Present, with: impl FnOnce(Soft<'_>) -> T) -> T {
        let (x, budget, temperature) = (present.gather(x), self.budget.of(row), self.temperature.of(row));
        match self.beside.costs(row) {
            None => with(Soft::TopK(kernel::soft_top_k(&x, budget, temperature))),
            Some(costs) => {
                let costs = present.gather(costs);
                with(Soft::Knapsack(kernel::soft_knapsack(&x, &costs, budget, temperature)))
            }
        }
    }

    fn pull_back<'py>(
        &self,
        py: Python<'py>,
        d_pull: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        is_log_odds: bool,
    ) -> PyResult<Cotangents> {
        let d_pull = floats("d_pull", d_pull)?;
        let score = read("scores", self.score.bind(py))?;
        let shape = score.shape();
        check_shape("d_pull", &format!("shape {shape:?}"), d_pull.shape(), d_pull.shape() == shape)?;
        let (axes, n) = axes_of(shape)?;
        let rows: usize = axes.iter().product();
        let mut d_score = output(py, "out", out, shape)?;
        let (x, c, d) = (slice(&score), slice(&d_pull), d_score.as_slice_mut().expect("contiguous"));
        let has_costs = self.beside.has_own_costs().is_some();
        let (mut d_budget, mut d_temperature) = (vec![0.0; rows], vec![0.0; rows]);
        let mut d_cost = vec![0.0; if has_costs { x.len() } else { 0 }];
        threads::run(py, || {
            // the array is the caller's, who may have changed it since
            self.beside.check_scores(x, shape, "a finite number", f64::is_finite)?;
            let n = n.max(1);
            // without costs every problem has an empty place for theirs
            let mut places: Vec<&mut [f64]> = match has_costs {
                true => d_cost.chunks_mut(n).collect(),
                false => std::iter::repeat_with(|| &mut [][..]).take(x.len() / n).collect(),
            };
            let given =
                x.par_chunks(n).zip(c.par_chunks(n)).zip(d.par_chunks_mut(n)).zip(places.par_iter_mut());
            let each = d_budget.par_iter_mut().zip(d_temperature.par_iter_mut());
            given.zip(each).enumerate().with_min_len(threads::grain(n)).for_each(
                |(row, ((((x, c), d), d_cost), (d_budget, d_temperature)))| {
                    let present = self.beside.present(row);
                    let cotangent =
                        self.solve(x, row, &present, |soft| soft.pullback(&present.gather(c), is_log_odds));
                    present.scatter(&cotangent.d_score, 0.0, d);
                    if has_costs {
                        present.scatter(&cotangent.d_cost, 0.0, d_cost);
                    }
                    (*d_budget, *d_temperature) = (cotangent.d_budget, cotangent.d_temperature);
                },
            );
            PyResult::Ok(())
        })??;
        Ok(Cotangents { d_score: give(&d_score), d_budget, d_temperature, d_cost })
    }

    /// What each problem says of a number, in the shape in which it was given.
    fn shaped<'py>(&self, py: Python<'py>, given: &PerPlace, each: Vec<f64>) -> PyResult<Bound<'py, PyAny>> {
        if given.is_shared() {
            return Ok(each.iter().sum::<f64>().into_pyobject(py)?.into_any());
        }
        let (axes, _) = axes_of(self.pull.bind(py).shape())?;
        let array = ArrayD::from_shape_vec(axes, each).expect("one of each problem");
        Ok(PyArrayDyn::from_owned_array(py, array).into_any())
    }
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
            self.beside.check_scores(x, shape, "a finite number", f64::is_finite)?;
            let rows = x.par_chunks(n).zip(z.par_chunks_mut(n)).enumerate();
            rows.with_min_len(threads::grain(n)).for_each(|(row, (x, z))| {
                let present = self.beside.present(row);
                self.solve(x, row, &present, |soft| present.scatter(&soft.log_odds(), f64::NEG_INFINITY, z));
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
    ///     Without costs it sums to zero over the arms.
    /// d_temperature : float, or array as the temperature was given
    ///     Summed over all problems where they share it.
    #[pyo3(signature = (d_pull, out=None, *, log_odds=false))]
    fn pullback<'py>(
        &self,
        py: Python<'py>,
        d_pull: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        log_odds: bool,
    ) -> PyResult<(Py<PyArrayDyn<f64>>, Bound<'py, PyAny>)> {
        let Cotangents { d_score, d_temperature, .. } = self.pull_back(py, d_pull, out, log_odds)?;
        Ok((d_score, self.shaped(py, &self.temperature, d_temperature)?))
    }

    /// What a cotangent of the pulls, or of their log-odds, becomes on all inputs.
    ///
    /// Parameters are those of `pullback`.
    ///
    /// Returns
    /// -------
    /// SoftTopKCotangent
    ///     `(d_scores, d_budget, d_temperature, d_costs)`, each in the shape in which the input was given, summed over the problems that
    ///     share it; `d_costs` is None without costs.
    #[pyo3(signature = (d_pull, out=None, *, log_odds=false))]
    fn pullback_all<'py>(
        &self,
        py: Python<'py>,
        d_pull: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        log_odds: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Cotangents { d_score, d_budget, d_temperature, d_cost } =
            self.pull_back(py, d_pull, out, log_odds)?;
        let shape = self.pull.bind(py).shape();
        let n = shape.last().copied().unwrap_or_default();
        let d_costs = match self.beside.has_own_costs() {
            None => py.None().into_bound(py),
            Some(true) => {
                let array = ArrayD::from_shape_vec(shape, d_cost).expect("as the scores");
                PyArrayDyn::from_owned_array(py, array).into_any()
            }
            Some(false) => {
                let mut sum = ArrayD::<f64>::zeros(vec![n]);
                d_cost
                    .chunks_exact(n.max(1))
                    .for_each(|row| sum.iter_mut().zip(row).for_each(|(s, d)| *s += d));
                PyArrayDyn::from_owned_array(py, sum).into_any()
            }
        };
        let d_budget = self.shaped(py, &self.budget, d_budget)?;
        let d_temperature = self.shaped(py, &self.temperature, d_temperature)?;
        let cotangent = py.import("restive._cotangents")?.getattr("SoftTopKCotangent")?;
        cotangent.call1((d_score, d_budget, d_temperature, d_costs))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let shape = self.pull.bind(py).shape();
        match self.budget.is_shared() {
            true => format!("<restive.SoftTopK of {}, pull {shape:?}>", self.budget.of(0)),
            false => format!("<restive.SoftTopK of budgets by problem, pull {shape:?}>"),
        }
    }
}
