//! Indices with a pullback: what `whittle_index` returns.

use crate::arms::{Form, all_distributions, arms, compact, give, in_form, slice, view};
use crate::border::{check_shape, floats, output, read};
use crate::error::wrong;
use crate::threads;
use numpy::{PyArray1, PyArrayDyn, PyUntypedArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use restive::Reward;
use restive::index::two_state::{self, Packing};
use restive::index::{self, Algorithm, DifferentiableIndex, IndexStatus, differentiable_index};

/// How two-state arms lie in memory where the closed form takes them as they are.
pub(crate) fn packing(algorithm: Algorithm, form: Form) -> Option<Packing> {
    match (algorithm, form) {
        (Algorithm::TwoState, Form::Compact) => Some(Packing::Compact),
        (Algorithm::TwoState, Form::Nsas) => Some(Packing::Full),
        _ => None,
    }
}

/// What is known of the arms beside their indices, each `[N]`.
pub(crate) struct Verdict {
    is_indexable: Py<PyArray1<bool>>,
    residual: Py<PyArray1<f64>>,
    status: Vec<IndexStatus>,
}

/// Whittle indices of N arms, and the way back to their transitions: what `whittle_index` returns.
///
/// It keeps the array of transitions that it was given, not a copy: do not change that array before the last use of
/// `pullback`, `is_indexable`, `residual` and `status`.
#[pyclass(frozen, module = "restive")]
pub(crate) struct Indices {
    /// in the kernel's form
    pub(crate) transition: Py<PyArrayDyn<f64>>,
    pub(crate) form: Form,
    /// never `Auto`
    pub(crate) algorithm: Algorithm,
    pub(crate) reward: Reward,
    pub(crate) discount: f64,
    /// Whittle indices, float64 `[N,M]`: the subsidy for passivity at which either action is as good. For collapsing arms
    /// `[N,M*T]`, the index of the label (s, h) at s*T + h: state s was seen at the last pull, h steps ago. NaN where an
    /// index could not be determined (`status`).
    #[pyo3(get)]
    pub(crate) index: Py<PyArrayDyn<f64>>,
    pub(crate) verdict: PyOnceLock<Verdict>,
    pub(crate) tape: Option<DifferentiableIndex<'static>>,
}

#[pymethods]
impl Indices {
    /// bool [N]: whether the passive set of the arm only grows with the subsidy. False also where that is not known:
    /// where `status` is "undetermined", or "approximate" (bisection does not look).
    #[getter]
    fn is_indexable(&self, py: Python<'_>) -> PyResult<Py<PyArray1<bool>>> {
        Ok(self.verdict(py)?.is_indexable.clone_ref(py))
    }

    /// float64 [N]: an estimate of the error of the arm's indices, relative to the larger of its largest index and the span of
    /// the rewards; NaN where they are undetermined.
    #[getter]
    fn residual(&self, py: Python<'_>) -> PyResult<Py<PyArray1<f64>>> {
        Ok(self.verdict(py)?.residual.clone_ref(py))
    }

    /// str [N]: "exact", "approximate", "ill-conditioned" (see `residual`) or "undetermined" (the indices are NaN).
    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        const ALL: [IndexStatus; 4] = [
            IndexStatus::Exact,
            IndexStatus::Approximate,
            IndexStatus::IllConditioned,
            IndexStatus::Undetermined,
        ];
        let names = py.import("numpy")?.call_method1("array", (ALL.map(IndexStatus::name),))?;
        let codes: Vec<u8> = self.verdict(py)?.status.iter().map(|status| *status as u8).collect();
        names.call_method1("take", (codes.to_pyarray(py),))
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
    ///     The gradient lives on the simplex: its rows sum to zero. For P in its compact form [N,4] it is the plain derivative.
    #[pyo3(signature = (d_index, out=None))]
    fn pullback<'py>(
        &self,
        py: Python<'py>,
        d_index: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let cotangent = floats("d_index", d_index)?;
        let expected = self.index.bind(py).shape();
        check_shape(
            "d_index",
            &format!("shape {expected:?}"),
            cotangent.shape(),
            cotangent.shape() == expected,
        )?;
        let transition = read("P", self.transition.bind(py))?;
        let (reward, discount) = (self.reward.view(), self.discount);
        if let Some(packing) = packing(self.algorithm, self.form) {
            let mut d_transition = output(py, "out", out, transition.shape())?;
            let (p, c) = (slice(&transition), slice(&cotangent));
            let d = d_transition.as_slice_mut().expect("contiguous");
            threads::run(py, || two_state::pullback_into(p, packing, reward, discount, c, d))?;
            return Ok(give(&d_transition).into_bound(py).into_any());
        }
        let m = self.reward.states();
        let mut out = out.map(|out| output(py, "out", Some(out), &self.shape(py))).transpose()?;
        let p = slice(&transition);
        let arms = arms(p, m);
        let d_index = view(&cotangent).into_dimensionality().expect("[N,M]");
        let (algorithm, tape) = (self.algorithm, &self.tape);
        let d_transition = threads::run(py, || match tape {
            Some(kept) => Some(kept.pullback(d_index).d_transition),
            // the array is the caller's, who may have changed it since
            None if !all_distributions(p, m) => None,
            None => {
                let solved = differentiable_index(arms, reward, discount, algorithm);
                Some(solved.pullback(d_index).d_transition)
            }
        })?;
        let Some(d_transition) = d_transition else {
            return Err(wrong("P", "the array as it was when its indices were computed", "other numbers"));
        };
        let answer = in_form(d_transition, self.form);
        match &mut out {
            None => Ok(PyArrayDyn::from_owned_array(py, answer).into_any()),
            Some(out) => {
                let answer = answer.as_slice().expect("row-major");
                out.as_slice_mut().expect("contiguous").copy_from_slice(answer);
                Ok(give(out).into_bound(py).into_any())
            }
        }
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let shape = self.index.bind(py).shape();
        format!("<restive.Indices of {} arms, index {shape:?}>", shape[0])
    }
}

impl Indices {
    /// The shape of the caller's P.
    fn shape(&self, py: Python<'_>) -> Vec<usize> {
        let (n, m) = (self.index.bind(py).shape()[0], self.reward.states());
        match self.form {
            Form::Compact => vec![n, 4],
            Form::Nsas => vec![n, m, 2, m],
            Form::Nass => vec![n, 2, m, m],
        }
    }

    fn verdict(&self, py: Python<'_>) -> PyResult<&Verdict> {
        self.verdict.get_or_try_init(py, || {
            // two states only: other kernels give their verdict with the indices
            let transition = read("P", self.transition.bind(py))?;
            let (reward, discount) = (self.reward.view(), self.discount);
            let (p, is_compact) = (slice(&transition), transition.ndim() == 2);
            let solved = threads::run(py, || match is_compact {
                true => two_state::index_compact(compact(p), reward, discount),
                false => two_state::index(arms(p, 2), reward, discount),
            })?;
            Ok(Verdict::new(py, solved))
        })
    }
}

impl Verdict {
    pub(crate) fn new(py: Python<'_>, solved: index::Indices) -> Self {
        Self {
            is_indexable: PyArray1::from_owned_array(py, solved.is_indexable).unbind(),
            residual: PyArray1::from_owned_array(py, solved.residual).unbind(),
            status: solved.status,
        }
    }
}
