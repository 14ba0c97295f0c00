//! From scores to pulls: the best K of N, strictly; [`soft`](crate::soft) is the one with a gradient.
//!
//! Scores come with any axes in front of the arms; each row is a problem of its own, and rows are shared among threads.

use crate::arms::slice;
use crate::border::{Numbers, Seed, Whole, floats};
use crate::rows::Beside;
use crate::soft::{SoftTopK, axes_of, soft_top_k};
use crate::threads;
use ndarray::ArrayD;
use numpy::{PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use restive::policy::strict::{strict_knapsack, strict_top_k};

/// Strict pulls: what `strict_top_k` returns.
#[pyclass(frozen, get_all, dict, module = "restive")]
struct StrictTopK {
    /// bool [...,N]: who is pulled; without costs exactly as many arms as the budget, or all that are there.
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
/// With costs it is the greedy knapsack: arms in the order of score/cost, the cheaper first where that ties, each pulled if what is
/// left of the budget pays for it. With equal costs that is the top k. In general it is not always the optimum; for scores of at least 0
/// it falls short of it by less than the score of the first arm that could not be paid. Chance decides only among arms with the same
/// score and the same cost, so that inclusion probabilities are exact.
///
/// Parameters
/// ----------
/// scores : array, [...,N]
///     Not NaN, where an arm is there. Axes before the last are problems of their own, with a tie-break of their own.
/// budget : int, or one for each problem: array, [...]
///     The budget, from 0 to N; with costs any number of at least 0. Where it pays for more than there is, everybody is pulled.
/// seed : int
///     Of the tie-break, at least 0.
/// costs : array, [...,N] or [N], optional
///     What a pull of each arm costs, above 0.
/// mask : bool array, [...,N] or [N], optional
///     Whether each arm is there; one that is not is never pulled, and the others are as if it did not exist.
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
/// >>> restive.strict_top_k(np.array([3.0, 4.0, 1.0, 1.0]), 2, costs=[1.0, 4.0, 1.0, 1.0]).inclusion.tolist()
/// [1.0, 0.0, 0.5, 0.5]
#[pyfunction(name = "strict_top_k")]
#[pyo3(signature = (scores, budget, seed=Seed(0), *, costs=None, mask=None), text_signature = "(scores, budget, seed=0, *, costs=None, mask=None)")]
fn strict_top_k_of<'py>(
    py: Python<'py>,
    scores: &Bound<'py, PyAny>,
    budget: &Bound<'py, PyAny>,
    seed: Seed,
    costs: Option<&Bound<'py, PyAny>>,
    mask: Option<&Bound<'py, PyAny>>,
) -> PyResult<StrictTopK> {
    let score = floats("scores", scores)?;
    let (axes, n) = axes_of(score.shape())?;
    let beside = Beside::new(costs, mask, score.shape())?;
    let problems = "one for each problem, as the axes of the scores before the arms";
    let budget = match (costs, budget.extract::<Numbers<'py>>()?) {
        // one whole number, or what says that it is none
        (None, Numbers::One(_)) => {
            let whole = budget.extract::<Whole>()?.between("budget", 0, n)?;
            Numbers::One(whole as f64).over("budget", axes, problems, "", |_| true)?
        }
        (None, many) => {
            let expected = format!("a whole number from 0 to {n}");
            let is_fit = |k: f64| (0.0..=n as f64).contains(&k) && k.fract() == 0.0;
            many.over("budget", axes, problems, &expected, is_fit)?
        }
        (Some(_), given) => given.over("budget", axes, problems, "a number of at least 0", |k| {
            (0.0..f64::INFINITY).contains(&k)
        })?,
    };
    let (seed, shape, x) = (seed.0, score.shape(), slice(&score));
    let (mut pull, mut inclusion) = (ArrayD::from_elem(shape, false), ArrayD::zeros(shape));
    let (chosen, likely) = (pull.as_slice_mut().expect("new"), inclusion.as_slice_mut().expect("new"));
    threads::run(py, || {
        beside.check_scores(x, shape, "a number", |x| !x.is_nan())?;
        let n = n.max(1);
        let rows = x.par_chunks(n).zip(chosen.par_chunks_mut(n)).zip(likely.par_chunks_mut(n));
        rows.enumerate().with_min_len(threads::grain(n)).for_each(|(row, ((x, chosen), likely))| {
            // the first row has the seed itself, others one that shares no bits with it
            let own = seed ^ (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let present = beside.present(row);
            let (x, budget) = (present.gather(x), budget.of(row));
            let plan = match beside.costs(row) {
                None => strict_top_k(&x, budget as usize, own),
                Some(costs) => strict_knapsack(&x, &present.gather(costs), budget, own),
            };
            present.scatter(&plan.pull, false, chosen);
            present.scatter(&plan.inclusion, 0.0, likely);
        });
        PyResult::Ok(())
    })??;
    Ok(StrictTopK {
        pull: PyArrayDyn::from_owned_array(py, pull).unbind(),
        inclusion: PyArrayDyn::from_owned_array(py, inclusion).unbind(),
    })
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SoftTopK>()?;
    module.add_class::<StrictTopK>()?;
    module.add_function(wrap_pyfunction!(soft_top_k, module)?)?;
    module.add_function(wrap_pyfunction!(strict_top_k_of, module)?)
}
