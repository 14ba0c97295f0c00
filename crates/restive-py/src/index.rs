//! Whittle indices of a batch of arms, and the way back.
//!
//! The forward pass keeps nothing for the backward one, unless it is told that there will be one: two states are solved again
//! faster than anything kept could be read, and other arms are solved again, with what their gradient needs, when
//! [`Indices::pullback`] is called. So a forward pass without a gradient costs a forward pass. What is kept is the caller's
//! array itself, not a copy.
//!
//! Arms are checked where they are read: for two states in the same pass over memory that computes the indices. Rows that sum
//! to 1 but for rounding, which is how they nearly always come, are used where they lie; others are copied and scaled.

use crate::arms::{Form, arms, checked, give, scaled, slice, view};
use crate::border::{Numbers, Whole, floats, output};
use crate::error::{check_memory, raise, wrong};
use crate::horizon::horizon_index;
use crate::indices::{Indices, Verdict, packing};
use crate::inputs::{Inputs, arms_of};
use crate::threads;
use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use rayon::prelude::*;
use restive::index::{self, Algorithm, DifferentiableIndex, differentiable_index, two_state};
use restive::instance::Chain;
use restive::{CompactTransition, Layout};

/// Arms that are checked and solved together while they are in the processor's cache.
const TILE: usize = 1 << 12;

/// Whittle indices of N arms, exact and differentiable.
///
/// Parameters
/// ----------
/// P : array, [...,N,M,2,M] or [...,N,4]
///     Transition probabilities P(state, action, next state), action 1 being the pull; or, for two states, the probabilities
///     of moving to state 1 from (0, passive), (0, active), (1, passive), (1, active). Axes in front are batches of arms. An array that
///     ends in [4,2,4] holds arms of four states. float64 that is contiguous is used without a copy; other real numbers are
///     converted, and answers are float64 whatever was given.
/// rewards : array, [M] or [M,2], or each arm's own: [...,N,M] or [...,N,M,2], optional
///     R(s) or R(s, a). By default linear: s/(M-1). With two arms of two states and no batch, [2,2] could be either and is
///     refused: expand it to [N,M,2].
/// discount : float, or each arm's own: array, [...,N]
///     From 0 to 1; 1 is the average reward per step.
/// layout : "nsas" or "nass"
///     The order of the axes of P: (arm, state, action, next state), or (arm, action, state, next state). With two states
///     nothing but you can tell the two apart.
/// observation : "full" or "collapsing"
///     Whether states are always seen, or at pulls only; in the second case the indices are those of beliefs.
/// chain : int or "infinite", for collapsing observation
///     Beliefs of each chain, the last of which stays as it is; or beliefs without end (two states, R(s)).
/// algorithm : "auto", "two-state", "general" or "bisection"
///     "auto" takes the closed form for two states and the sweep over subsidies otherwise, both exact; "bisection" is the
///     approximate algorithm of the literature, for comparison.
/// out : array, [...,N,M], optional
///     Where to write the indices: contiguous float64. Undefined if an error is raised.
/// beliefs : int, optional
///     With chain="infinite": how many beliefs of each chain get an index, 10 by default.
///
/// differentiable : bool
///     Keep what `pullback` needs, some numbers per arm and state. It works without, but then solves the arms again; two states
///     need nothing kept.
/// horizon : int, optional
///     H, where only so many decisions are left: the answer is that of `horizon_index`, with indices [H,...,N,M], one table for each step.
///     For states that are always seen, in the default layout; algorithm, out and differentiable have nothing to say there.
/// ending : "nothing" or "state", with horizon
///     What the state after the last decision counts for: nothing, which is the default, or R(s, passive).
///
/// Returns
/// -------
/// Indices, or HorizonIndices with a horizon
///     `.index` [...,N,M] (collapsing: [...,N,M*T]), `.is_indexable`, `.residual` and `.status` [...,N], `.pullback(d_index)` to P and
///     `.pullback_all(d_index)` to P, rewards and discount.
///
/// Examples
/// --------
/// >>> import numpy as np, restive
/// >>> arm = np.array([[0.2, 0.8, 0.5, 0.5]])
/// >>> indices = restive.whittle_index(arm, discount=0.5)
/// >>> indices.index.round(6)
/// array([[0.352941, 0.      ]])
/// >>> indices.pullback(np.array([[1.0, 0.0]])).round(6)
/// array([[-0.795848,  0.588235,  0.207612,  0.      ]])
/// >>> two = restive.whittle_index(arm.repeat(2, axis=0), rewards=np.array([[0.0, 0.0], [0.0, 3.0]])[:, :, None].repeat(2, axis=2), discount=0.5)
/// >>> two.index.round(6)  # each arm has rewards of its own
/// array([[0.      , 0.      ],
///        [1.058824, 0.      ]])
/// >>> restive.whittle_index(arm, discount=0.5, horizon=3).index[:, 0].round(6)  # a pull before the end has no time to pay
/// array([[0.345, 0.   ],
///        [0.3  , 0.   ],
///        [0.   , 0.   ]])
#[pyfunction]
#[pyo3(signature = (P, rewards=None, discount=Numbers::One(0.99), layout="nsas", observation="full", chain=None, algorithm="auto", out=None, *, beliefs=None, differentiable=false, horizon=None, ending=None))]
#[pyo3(
    text_signature = "(P, rewards=None, discount=0.99, layout='nsas', observation='full', chain=None, algorithm='auto', out=None, *, beliefs=None, differentiable=False, horizon=None, ending=None)"
)]
#[expect(non_snake_case, reason = "P is how the literature and the users write it")]
fn whittle_index<'py>(
    py: Python<'py>,
    P: &Bound<'py, PyAny>,
    rewards: Option<&Bound<'py, PyAny>>,
    discount: Numbers<'py>,
    layout: &str,
    observation: &str,
    chain: Option<&Bound<'py, PyAny>>,
    algorithm: &str,
    out: Option<&Bound<'py, PyAny>>,
    beliefs: Option<Whole>,
    differentiable: bool,
    horizon: Option<Whole>,
    ending: Option<&str>,
) -> PyResult<Py<PyAny>> {
    if let Some(horizon) = horizon {
        let refused = [
            ("layout", layout != "nsas", format!("{layout:?}"), "'nsas'"),
            ("observation", observation != "full", format!("{observation:?}"), "'full'"),
            ("chain", chain.is_some(), "a chain".into(), "None"),
            ("beliefs", beliefs.is_some(), "a number".into(), "None"),
            ("algorithm", algorithm != "auto", format!("{algorithm:?}"), "'auto'"),
            ("out", out.is_some(), "an array".into(), "None"),
            ("differentiable", differentiable, "True".into(), "False"),
        ];
        if let Some((what, _, found, expected)) = refused.into_iter().find(|(_, is_asked, ..)| *is_asked) {
            return Err(wrong(what, &format!("{expected} with a horizon"), found));
        }
        let discount = match discount {
            Numbers::One(shared) => shared.into_bound_py_any(py)?,
            Numbers::Many(own) => own,
        };
        let ending = ending.unwrap_or("nothing");
        return horizon_index(py, P, horizon, rewards, Some(&discount), ending)?.into_py_any(py);
    }
    if let Some(ending) = ending {
        return Err(wrong("ending", "None without a horizon", format_args!("{ending:?}")));
    }
    let raw = floats("P", P)?;
    let (form, m, axes) = arms_of(raw.shape(), layout)?;
    let inputs = Inputs::new(rewards, discount, m, axes)?;
    let (name, algorithm) = (algorithm, algorithm_of(algorithm)?);
    let algorithm = match chain_of(observation, chain, beliefs)? {
        Some(_) if algorithm != Algorithm::Auto => {
            return Err(wrong("algorithm", "'auto' for collapsing observation", format_args!("{name:?}")));
        }
        Some(chain) => Algorithm::Collapsing(chain),
        None => algorithm.resolve(m),
    };
    algorithm.check(inputs.rewards.borrow(), inputs.discounts.borrow()).map_err(raise)?;
    let axes = axes.to_vec();
    let flat = one_axis_of_arms(&raw, axes.len())?;
    Problem { form, algorithm, inputs, axes, m }.solve(py, flat, out, differentiable)?.into_py_any(py)
}

/// The same memory with one axis of arms instead of so many.
fn one_axis_of_arms<'py>(
    raw: &PyReadonlyArrayDyn<'py, f64>,
    axes: usize,
) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    if axes == 1 {
        return Ok(raw.clone());
    }
    let (arms, rest) = raw.shape().split_at(axes);
    let shape: Vec<usize> = std::iter::once(arms.iter().product()).chain(rest.iter().copied()).collect();
    Ok(raw.reshape(shape)?.readonly())
}

/// What is asked of the arms.
struct Problem {
    form: Form,
    /// never `Auto`
    algorithm: Algorithm,
    inputs: Inputs,
    /// the arms axes
    axes: Vec<usize>,
    m: usize,
}

impl Problem {
    fn solve<'py>(
        self,
        py: Python<'py>,
        raw: PyReadonlyArrayDyn<'py, f64>,
        out: Option<&Bound<'py, PyAny>>,
        differentiable: bool,
    ) -> PyResult<Indices> {
        let n = raw.shape()[0];
        let labels = match self.algorithm {
            Algorithm::Collapsing(chain) => self.m * chain.beliefs(),
            _ => self.m,
        };
        check_memory("index", &[n, labels, 2])?;
        let shape: Vec<usize> = self.axes.iter().copied().chain([labels]).collect();
        let (rewards, discounts) = (&self.inputs.rewards, &self.inputs.discounts);
        if let Some(packing) = packing(self.algorithm, self.form) {
            let mut index = output(py, "out", out, &shape)?;
            let (p, w) = (slice(&raw), index.as_slice_mut().expect("contiguous"));
            let solve = |p: &[f64], w: &mut [f64]| {
                two_state::index_into(p, packing, rewards.borrow(), discounts.borrow(), w);
            };
            let shared = self.inputs.shared();
            let is_ready = threads::run(py, || {
                let Some((reward, discount)) = shared else {
                    solve(p, w);
                    return two_state::are_ready(p, packing);
                };
                let arms = p.par_chunks(TILE * packing.width()).zip(w.par_chunks_mut(TILE * 2));
                arms.map(|(p, w)| {
                    two_state::index_into(p, packing, reward, discount, w);
                    two_state::are_ready(p, packing)
                })
                .reduce(|| true, |left, right| left & right)
            })?;
            let transition = if is_ready { raw } else { self.mend(py, &raw)? };
            if !is_ready {
                let (p, w) = (slice(&transition), index.as_slice_mut().expect("contiguous"));
                threads::run(py, || solve(p, w))?;
            }
            let (index, transition) = (give(&index), give(&transition));
            return Ok(self.answer(transition, index, PyOnceLock::new(), None));
        }
        let m = self.m;
        let transition = checked(py, raw, self.form, m)?;
        let mut index = out.map(|out| output(py, "out", Some(out), &shape)).transpose()?;
        let p = slice(&transition);
        let arms = arms(p, m);
        let algorithm = self.algorithm;
        let (mut solved, tape) = threads::run(py, || {
            if !differentiable {
                return (index::whittle_index(arms, rewards.borrow(), discounts.borrow(), algorithm), None);
            }
            let solved =
                differentiable_index(arms, rewards.borrow(), discounts.borrow(), algorithm).into_owned();
            (solved.indices().clone(), Some(solved))
        })?;
        let answer = match &mut index {
            Some(index) => {
                let rows = solved.index.as_slice().expect("row-major");
                index.as_slice_mut().expect("contiguous").copy_from_slice(rows);
                give(index)
            }
            None => {
                let index = std::mem::take(&mut solved.index).into_shape_with_order(shape);
                PyArrayDyn::from_owned_array(py, index.expect("as many numbers")).unbind()
            }
        };
        let verdict = PyOnceLock::new();
        let _ = verdict.set(py, Verdict::new(py, solved, &self.axes));
        let transition = give(&transition);
        Ok(self.answer(transition, answer, verdict, tape))
    }

    /// A copy of two-state arms in the same form, with rows that sum to 1; or what is wrong with them.
    fn mend<'py>(
        &self,
        py: Python<'py>,
        raw: &PyReadonlyArrayDyn<'py, f64>,
    ) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
        let (raw, fixed) = (view(raw).to_owned(), "the form was checked");
        let values = match self.form {
            Form::Compact => {
                let compact = CompactTransition::new(raw.into_dimensionality().expect(fixed));
                compact.map_err(raise)?.view().to_owned().into_dyn()
            }
            _ => scaled(raw.into_dimensionality().expect(fixed), Layout::Nsas)?,
        };
        Ok(PyArrayDyn::from_owned_array(py, values).readonly())
    }

    fn answer(
        self,
        transition: Py<PyArrayDyn<f64>>,
        index: Py<PyArrayDyn<f64>>,
        verdict: PyOnceLock<Verdict>,
        tape: Option<DifferentiableIndex<'static>>,
    ) -> Indices {
        let Self { form, algorithm, inputs, axes, .. } = self;
        Indices { transition, form, algorithm, inputs, axes, index, verdict, tape }
    }
}

fn algorithm_of(name: &str) -> PyResult<Algorithm> {
    match name {
        "auto" => Ok(Algorithm::Auto),
        "two-state" => Ok(Algorithm::TwoState),
        "general" => Ok(Algorithm::General),
        "bisection" => Ok(Algorithm::Bisection(Default::default())),
        _ => {
            Err(wrong("algorithm", "'auto', 'two-state', 'general' or 'bisection'", format_args!("{name:?}")))
        }
    }
}

/// The chain of beliefs, where states are seen at pulls only.
pub(crate) fn chain_of(
    observation: &str,
    chain: Option<&Bound<'_, PyAny>>,
    beliefs: Option<Whole>,
) -> PyResult<Option<Chain>> {
    let expected = "a number of beliefs, or 'infinite', for collapsing observation";
    let chain = match (observation, chain) {
        ("full", None) if beliefs.is_none() => return Ok(None),
        ("full", None) => return Err(wrong("beliefs", "None for full observation", "a number")),
        ("full", Some(found)) => return Err(wrong("chain", "None for full observation", found)),
        ("collapsing", Some(chain)) => chain,
        ("collapsing", None) => return Err(wrong("chain", expected, "None")),
        _ => return Err(wrong("observation", "'full' or 'collapsing'", format_args!("{observation:?}"))),
    };
    let longest = u32::MAX as usize;
    match chain.extract::<&str>() {
        Ok("infinite") => {
            let beliefs = beliefs.unwrap_or(Whole(10)).between("beliefs", 1, longest)?;
            Ok(Some(Chain::Infinite { beliefs }))
        }
        Ok(found) => Err(wrong("chain", expected, format_args!("{found:?}"))),
        Err(_) if beliefs.is_some() => Err(wrong("beliefs", "None for a finite chain", "a number")),
        Err(_) => Ok(Some(Chain::Finite(chain.extract::<Whole>()?.between("chain", 1, longest)?))),
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Indices>()?;
    module.add_function(wrap_pyfunction!(whittle_index, module)?)
}
