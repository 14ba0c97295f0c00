//! Indices with a pullback: what `whittle_index` returns.

use crate::arms::{Form, all_distributions, arms, compact, give, in_form, slice};
use crate::border::{check_shape, floats, output, read};
use crate::error::wrong;
use crate::inputs::{Cotangent, Inputs};
use crate::threads;
use ndarray::{Array1, Array3, ArrayD, ArrayView2};
use numpy::{PyArrayDyn, PyUntypedArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use restive::index::two_state::{self, Cotangents, Packing};
use restive::index::{
    self, Algorithm, DifferentiableIndex, IndexStatus, PerArmCotangent, differentiable_index,
};

/// How two-state arms lie in memory where the closed form takes them as they are.
pub(crate) fn packing(algorithm: Algorithm, form: Form) -> Option<Packing> {
    match (algorithm, form) {
        (Algorithm::TwoState, Form::Compact) => Some(Packing::Compact),
        (Algorithm::TwoState, Form::Nsas) => Some(Packing::Full),
        _ => None,
    }
}

/// What is known of the arms beside their indices, each `[...,N]`.
pub(crate) struct Verdict {
    is_indexable: Py<PyArrayDyn<bool>>,
    residual: Py<PyArrayDyn<f64>>,
    status: ArrayD<u8>,
}

/// Whittle indices of N arms, and the way back to their transitions: what `whittle_index` returns.
///
/// It keeps the array of transitions that it was given, not a copy: do not change that array before the last use of
/// `pullback`, `is_indexable`, `residual` and `status`.
#[pyclass(frozen, dict, module = "restive")]
pub(crate) struct Indices {
    /// in the kernel's form
    pub(crate) transition: Py<PyArrayDyn<f64>>,
    pub(crate) form: Form,
    /// never `Auto`
    pub(crate) algorithm: Algorithm,
    pub(crate) inputs: Inputs,
    /// the arms axes
    pub(crate) axes: Vec<usize>,
    /// Whittle indices, float64 `[...,N,M]`: the subsidy for passivity at which either action is as good. For collapsing arms
    /// `[...,N,M*T]`, the index of the label (s, h) at s*T + h: state s was seen at the last pull, h steps ago. NaN where an
    /// index could not be determined (`status`).
    #[pyo3(get)]
    pub(crate) index: Py<PyArrayDyn<f64>>,
    pub(crate) verdict: PyOnceLock<Verdict>,
    pub(crate) tape: Option<DifferentiableIndex<'static>>,
}

#[pymethods]
impl Indices {
    /// bool [...,N]: whether the passive set of the arm only grows with the subsidy. False also where that is not known:
    /// where `status` is "undetermined", or "approximate" (bisection does not look).
    #[getter]
    fn is_indexable(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<bool>>> {
        Ok(self.verdict(py)?.is_indexable.clone_ref(py))
    }

    /// float64 [...,N]: an estimate of the error of the arm's indices, relative to the larger of its largest index and the span of
    /// the rewards; NaN where they are undetermined.
    #[getter]
    fn residual(&self, py: Python<'_>) -> PyResult<Py<PyArrayDyn<f64>>> {
        Ok(self.verdict(py)?.residual.clone_ref(py))
    }

    /// str [...,N]: "exact", "approximate", "ill-conditioned" (see `residual`) or "undetermined" (the indices are NaN).
    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        const ALL: [IndexStatus; 4] = [
            IndexStatus::Exact,
            IndexStatus::Approximate,
            IndexStatus::IllConditioned,
            IndexStatus::Undetermined,
        ];
        let names = py.import("numpy")?.call_method1("array", (ALL.map(IndexStatus::name),))?;
        names.call_method1("take", (self.verdict(py)?.status.to_pyarray(py),))
    }

    /// What a cotangent of the indices becomes on the transitions.
    ///
    /// Parameters
    /// ----------
    /// d_index : array of the shape of `index`
    /// out : array of the shape of P, optional
    ///     Where to write the answer: contiguous float64.
    ///
    /// Returns
    /// -------
    /// d_P : float64 array of the shape of P
    ///     The gradient lives on the simplex: its rows sum to zero. For P in its compact form [...,N,4] it is the plain derivative.
    #[pyo3(signature = (d_index, out=None))]
    fn pullback<'py>(
        &self,
        py: Python<'py>,
        d_index: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.pull_back(py, d_index, out, false)?.0)
    }

    /// What a cotangent of the indices becomes on all inputs: transitions, rewards and discount.
    ///
    /// Parameters
    /// ----------
    /// d_index : array of the shape of `index`
    /// out : array of the shape of P, optional
    ///     Where to write `d_P`: contiguous float64.
    ///
    /// Returns
    /// -------
    /// IndexCotangent
    ///     `(d_P, d_rewards, d_discount)`, each in the shape in which the input was given: summed over the arms where they share
    ///     it, [M] for rewards that were not given, a float for a discount that is one number.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np, restive
    /// >>> arms = np.array([[0.2, 0.8, 0.5, 0.5], [0.1, 0.3, 0.6, 0.9]])
    /// >>> d = restive.whittle_index(arms, discount=np.array([0.5, 0.9])).pullback_all(np.ones((2, 2)))
    /// >>> d.d_P.shape, d.d_rewards.shape, d.d_discount.shape
    /// ((2, 4), (2,), (2,))
    #[pyo3(signature = (d_index, out=None))]
    fn pullback_all<'py>(
        &self,
        py: Python<'py>,
        d_index: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (d_p, cotangent) = self.pull_back(py, d_index, out, true)?;
        let (d_rewards, d_discount) = self.inputs.give(py, cotangent)?;
        py.import("restive._cotangents")?.getattr("IndexCotangent")?.call1((d_p, d_rewards, d_discount))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let shape = self.index.bind(py).shape();
        format!("<restive.Indices of {} arms, index {shape:?}>", self.axes.iter().product::<usize>())
    }
}

impl Indices {
    /// The shape of the caller's P.
    fn shape(&self) -> Vec<usize> {
        let (mut shape, m) = (self.axes.clone(), self.inputs.states());
        match self.form {
            Form::Compact => shape.push(4),
            Form::Nsas => shape.extend([m, 2, m]),
            Form::Nass => shape.extend([2, m, m]),
        }
        shape
    }

    /// Cotangents of P, and of rewards and discount where they are asked for (otherwise what they are is not to be used).
    fn pull_back<'py>(
        &self,
        py: Python<'py>,
        d_index: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        has_inputs: bool,
    ) -> PyResult<(Bound<'py, PyAny>, Cotangent)> {
        let cotangent = floats("d_index", d_index)?;
        let (expected, found) = (self.index.bind(py).shape(), cotangent.shape());
        check_shape("d_index", &format!("shape {expected:?}"), found, found == expected)?;
        let transition = read("P", self.transition.bind(py))?;
        let (p, c) = (slice(&transition), slice(&cotangent));
        let (rewards, discounts) = (&self.inputs.rewards, &self.inputs.discounts);
        if let Some(packing) = packing(self.algorithm, self.form) {
            let mut d_transition = output(py, "out", out, &self.shape())?;
            let d = d_transition.as_slice_mut().expect("contiguous");
            let shared = self.inputs.shared();
            let answer = threads::run(py, || match shared {
                Some((reward, discount)) => {
                    let d = two_state::pullback_into(p, packing, reward, discount, c, d);
                    Cotangent::Shared(d.d_reward, d.d_discount)
                }
                None => {
                    let n = p.len() / packing.width();
                    let (mut d_reward, mut d_discount) = (vec![0.0; 4 * n], vec![0.0; n]);
                    let (r, g) = (rewards.borrow(), discounts.borrow());
                    let out =
                        Cotangents { d_transition: d, d_reward: &mut d_reward, d_discount: &mut d_discount };
                    two_state::pullback_per_arm_into(p, packing, r, g, c, out);
                    let d_reward = Array3::from_shape_vec((n, 2, 2), d_reward).expect("[N,2,2]");
                    Cotangent::PerArm(d_reward, Array1::from(d_discount))
                }
            })?;
            return Ok((give(&d_transition).into_bound(py).into_any(), answer));
        }
        let m = self.inputs.states();
        let mut out = out.map(|out| output(py, "out", Some(out), &self.shape())).transpose()?;
        let arms = arms(p, m);
        let d_index =
            ArrayView2::from_shape((arms.shape()[0], expected[expected.len() - 1]), c).expect("[N,M]");
        let (algorithm, tape) = (self.algorithm, &self.tape);
        let pull_back = |solved: &DifferentiableIndex<'_>| match has_inputs {
            true => solved.pullback_per_arm(d_index),
            false => {
                let d_transition = solved.pullback(d_index).d_transition;
                PerArmCotangent {
                    d_transition,
                    d_reward: Array3::zeros((0, m, 2)),
                    d_discount: Array1::zeros(0),
                }
            }
        };
        let answer = threads::run(py, || match tape {
            Some(kept) => Some(pull_back(kept)),
            // the array is the caller's, who may have changed it since
            None if !all_distributions(p, m) => None,
            None => {
                let solved = differentiable_index(arms, rewards.borrow(), discounts.borrow(), algorithm);
                Some(pull_back(&solved))
            }
        })?;
        let Some(PerArmCotangent { d_transition, d_reward, d_discount }) = answer else {
            return Err(wrong("P", "the array as it was when its indices were computed", "other numbers"));
        };
        let d_transition = in_form(d_transition, self.form);
        let d_transition = match &mut out {
            None => {
                let shaped = d_transition.into_shape_with_order(self.shape()).expect("as many numbers");
                PyArrayDyn::from_owned_array(py, shaped).into_any()
            }
            Some(out) => {
                let numbers = d_transition.as_slice().expect("row-major");
                out.as_slice_mut().expect("contiguous").copy_from_slice(numbers);
                give(out).into_bound(py).into_any()
            }
        };
        Ok((d_transition, Cotangent::PerArm(d_reward, d_discount)))
    }

    fn verdict(&self, py: Python<'_>) -> PyResult<&Verdict> {
        self.verdict.get_or_try_init(py, || {
            // two states only: other kernels give their verdict with the indices
            let transition = read("P", self.transition.bind(py))?;
            let (rewards, discounts) = (&self.inputs.rewards, &self.inputs.discounts);
            let (p, is_compact) = (slice(&transition), transition.ndim() == 2);
            let solved = threads::run(py, || match is_compact {
                true => two_state::index_compact(compact(p), rewards.borrow(), discounts.borrow()),
                false => two_state::index(arms(p, 2), rewards.borrow(), discounts.borrow()),
            })?;
            Ok(Verdict::new(py, solved, &self.axes))
        })
    }
}

impl Verdict {
    pub(crate) fn new(py: Python<'_>, solved: index::Indices, axes: &[usize]) -> Self {
        let status: Array1<u8> = solved.status.iter().map(|status| *status as u8).collect();
        let fits = "one of each arm";
        let is_indexable = solved.is_indexable.into_shape_with_order(axes).expect(fits);
        let residual = solved.residual.into_shape_with_order(axes).expect(fits);
        Self {
            is_indexable: PyArrayDyn::from_owned_array(py, is_indexable).unbind(),
            residual: PyArrayDyn::from_owned_array(py, residual).unbind(),
            status: status.into_shape_with_order(axes).expect(fits),
        }
    }
}
