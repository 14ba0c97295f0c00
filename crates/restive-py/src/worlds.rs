//! Arms, rewards, discounts and starts in the shapes of the caller, and their cotangents back in them.
//!
//! Arms have axes of their own, `[...,N]`: leading axes are batches, which for arms that do not know each other are more arms. Rewards and
//! discounts are shared by all arms, or each arm's own with the same axes. What is shared gets the sum of the arms' cotangents.

use crate::arms::{Form, all_distributions, checked, give, in_form, slice};
use crate::border::{array, check_finite, check_shape, floats, integers, read};
use crate::error::{raise, wrong};
use crate::threads;
use ndarray::{Array1, Array2, Array3, Array4, ArrayView3, ArrayView4, Axis};
use numpy::{
    PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods, ToPyArray,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use restive::index::IndexStatus;
use restive::planning::Ending;
use restive::{RewardView, check_discount};

/// Rewards beyond this would make values and their squares overflow.
pub(crate) const LARGEST: f64 = 1e100;

/// N arms with A actions, and the shape in which they came.
pub(crate) struct World {
    /// `[N,M,A,M]`, with rows that sum to 1: the caller's numbers where they do
    transition: Py<PyArrayDyn<f64>>,
    is_compact: bool,
    shape: Vec<usize>,
    pub(crate) n: usize,
    pub(crate) m: usize,
    pub(crate) a: usize,
}

impl World {
    /// Arms `[...,N,M,2,M]` or `[...,N,4]`.
    #[expect(non_snake_case, reason = "P is how the literature and the users write it")]
    pub(crate) fn new<'py>(py: Python<'py>, P: &Bound<'py, PyAny>) -> PyResult<Self> {
        let raw = floats("P", P)?;
        let shape = raw.shape().to_vec();
        let (form, m) = match *shape {
            [_, .., s, 2, t] if s == t && s > 0 && shape.len() > 3 => (Form::Nsas, s),
            [_, .., 4] if shape.len() > 1 => (Form::Compact, 2),
            _ => {
                let expected =
                    "[..., N, M, 2, M] (arms, state, action, next state), or [..., N, 4] for two states";
                return Err(wrong("P", expected, format_args!("shape {shape:?}")));
            }
        };
        let width = if form == Form::Compact { 4 } else { 2 * m * m };
        let n = slice(&raw).len() / width;
        let flat = if form == Form::Compact { vec![n, 4] } else { vec![n, m, 2, m] };
        let flat = raw.reshape(flat)?.readonly();
        let ready = checked(py, flat, form, m)?;
        let transition = give(&ready);
        Ok(Self { transition, is_compact: form == Form::Compact, shape, n, m, a: 2 })
    }

    /// Arms with any number of actions, `[...,N,M,A,M]`.
    #[expect(non_snake_case, reason = "P is how the literature and the users write it")]
    pub(crate) fn with_actions<'py>(py: Python<'py>, P: &Bound<'py, PyAny>) -> PyResult<Self> {
        let raw = floats("P", P)?;
        let shape = raw.shape().to_vec();
        let [.., _, s, a, t] = shape[..] else { return Err(no_actions(&shape)) };
        if s != t || s == 0 || a < 2 {
            return Err(no_actions(&shape));
        }
        let rows = slice(&raw);
        check_finite("P", rows, &shape)?;
        let n = rows.len() / (s * a * s);
        let transition = match threads::run(py, || all_distributions(rows, s))? {
            true => raw.reshape([n, s, a, s])?.to_dyn().clone(),
            false => {
                // rows that sum to 1 but for rounding are scaled; others are nobody's probabilities
                let mut copy = Array4::from_shape_vec((n, s, a, s), rows.to_vec()).expect("as many numbers");
                for (k, mut row) in copy.rows_mut().into_iter().enumerate() {
                    let sum = row.sum();
                    if !((sum - 1.0).abs() <= 1e-6) || row.iter().any(|p| *p < 0.0) {
                        let place = format!("P: arm {}, state {}, action {}", k / (a * s), k / a % s, k % a);
                        return Err(wrong(
                            &place,
                            "probabilities of at least 0 that sum to 1",
                            format_args!("a sum of {sum}"),
                        ));
                    }
                    row /= sum;
                }
                PyArrayDyn::from_owned_array(py, copy.into_dyn())
            }
        };
        Ok(Self { transition: transition.unbind(), is_compact: false, shape, n, m: s, a })
    }

    /// `[...,N]`
    pub(crate) fn axes(&self) -> &[usize] {
        &self.shape[..self.shape.len() - if self.is_compact { 1 } else { 3 }]
    }

    /// One problem, with no batches before its arms.
    pub(crate) fn alone(self) -> PyResult<Self> {
        check_shape(
            "P",
            "one problem, [N, M, ...], with one arm at least",
            &self.shape,
            self.axes().len() == 1 && self.n > 0,
        )?;
        Ok(self)
    }

    /// Borrows the arms, which must be what they were.
    pub(crate) fn read<'py>(&self, py: Python<'py>) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
        let transition = read("P", self.transition.bind(py))?;
        let (rows, m) = (slice(&transition), self.m);
        if threads::run(py, || all_distributions(rows, m))? {
            return Ok(transition);
        }
        Err(wrong("P", "the array as it was when it was given", "other numbers"))
    }

    /// The arms of a borrow, `[N,M,A,M]`.
    pub(crate) fn view<'a>(&self, transition: &'a PyReadonlyArrayDyn<'_, f64>) -> ArrayView4<'a, f64> {
        ArrayView4::from_shape((self.n, self.m, self.a, self.m), slice(transition)).expect("[N,M,A,M]")
    }

    /// A cotangent of the arms in the shape of P.
    pub(crate) fn cotangent<'py>(&self, py: Python<'py>, d: Array4<f64>) -> PyResult<Bound<'py, PyAny>> {
        let d = in_form(d, if self.is_compact { Form::Compact } else { Form::Nsas });
        shaped(py, d.into_raw_vec_and_offset().0, &self.shape)
    }
}

fn no_actions(shape: &[usize]) -> PyErr {
    let expected = "[..., N, M, A, M] (arms, state, action, next state), with two actions at least";
    wrong("P", expected, format_args!("shape {shape:?}"))
}

/// Rewards R(s) or R(s, a), shared or of each arm.
pub(crate) struct Rewards {
    /// `[1,M,A]` or `[N,M,A]`
    pub(crate) values: Array3<f64>,
    shape: Vec<usize>,
    is_by_action: bool,
}

impl Rewards {
    /// `[M]`, `[M,A]`, or the axes of the arms and then one of these; linear ones where there are none.
    pub(crate) fn new(rewards: Option<&Bound<'_, PyAny>>, world: &World) -> PyResult<Self> {
        Self::of_arms(rewards, world.m, world.a, world.axes())
    }

    /// The same for arms with these axes, M states and A actions.
    pub(crate) fn of_arms(
        rewards: Option<&Bound<'_, PyAny>>,
        m: usize,
        a: usize,
        axes: &[usize],
    ) -> PyResult<Self> {
        let Some(rewards) = rewards else {
            let top = (m - 1).max(1) as f64;
            let values = Array3::from_shape_fn((1, m, a), |(_, s, _)| s as f64 / top);
            return Ok(Self { values, shape: vec![m], is_by_action: false });
        };
        let found = floats("rewards", rewards)?;
        let (shape, numbers) = (found.shape().to_vec(), slice(&found));
        check_finite("rewards", numbers, &shape)?;
        if let Some(found) = numbers.iter().find(|r| r.abs() > LARGEST) {
            return Err(wrong("rewards", "numbers of at most 1e100 in size", found));
        }
        let with = |tail: &[usize]| [axes, tail].concat();
        let kinds = [
            (vec![m], false, false),
            (vec![m, a], false, true),
            (with(&[m]), true, false),
            (with(&[m, a]), true, true),
        ];
        let fits: Vec<_> = kinds.iter().filter(|(kind, ..)| *kind == shape).collect();
        let &[&(_, is_by_arm, is_by_action)] = &fits[..] else {
            let full = with(&[m, a]);
            let expected = match fits.len() {
                0 => format!("[{m}], [{m}, {a}], {:?} or {full:?}", with(&[m])),
                _ => format!("{full:?}, because it could be of states and actions or of arms and states"),
            };
            return Err(wrong("rewards", &expected, format_args!("shape {shape:?}")));
        };
        let arms = if is_by_arm { axes.iter().product() } else { 1 };
        let at = |i: usize, s: usize, b: usize| if is_by_action { (i * m + s) * a + b } else { i * m + s };
        let values = Array3::from_shape_fn((arms, m, a), |(i, s, b)| numbers[at(i, s, b)]);
        Ok(Self { values, shape, is_by_action })
    }

    /// For kernels with two actions.
    pub(crate) fn view(&self) -> RewardView<'_> {
        match self.values.len_of(Axis(0)) {
            1 => self.values.index_axis(Axis(0), 0).into(),
            _ => RewardView::by_arm(self.values.view()),
        }
    }

    /// Those of each of n arms, `[N,M,A]`.
    pub(crate) fn of_each(&self, n: usize) -> ArrayView3<'_, f64> {
        let (_, m, a) = self.values.dim();
        self.values.broadcast((n, m, a)).expect("one for all, or one for each")
    }

    /// A cotangent `[N,M,A]` in the shape of the rewards.
    pub(crate) fn cotangent<'py>(&self, py: Python<'py>, d: Array3<f64>) -> PyResult<Bound<'py, PyAny>> {
        let is_shared = self.shape.len() == 1 + usize::from(self.is_by_action);
        let d = if is_shared { d.sum_axis(Axis(0)).insert_axis(Axis(0)) } else { d };
        let d: Vec<f64> = match self.is_by_action {
            true => d.iter().copied().collect(),
            false => d.sum_axis(Axis(2)).iter().copied().collect(),
        };
        shaped(py, d, &self.shape)
    }
}

/// A discount, shared or of each arm.
pub(crate) struct Discounts {
    /// `[1]` or `[N]`
    pub(crate) values: Vec<f64>,
    shape: Option<Vec<usize>>,
}

impl Discounts {
    /// A number, or an array with the axes of the arms; the default where there is none.
    pub(crate) fn new(discount: Option<&Bound<'_, PyAny>>, default: f64, world: &World) -> PyResult<Self> {
        let Some(discount) = discount else { return Ok(Self { values: vec![default], shape: None }) };
        let found = match discount.extract::<f64>() {
            Ok(shared) => Self { values: vec![shared], shape: None },
            Err(_) => {
                let own = floats("discount", discount)?;
                let axes = world.axes();
                check_shape("discount", &format!("a number, or {axes:?}"), own.shape(), own.shape() == axes)?;
                Self { values: slice(&own).to_vec(), shape: Some(axes.to_vec()) }
            }
        };
        found.values.iter().try_for_each(|g| check_discount(*g)).map_err(raise)?;
        Ok(found)
    }

    /// A cotangent `[N]` as a number or in the axes of the arms.
    pub(crate) fn cotangent<'py>(&self, py: Python<'py>, d: &Array1<f64>) -> PyResult<Bound<'py, PyAny>> {
        match &self.shape {
            None => Ok(d.sum().into_pyobject(py)?.into_any()),
            Some(shape) => shaped(py, d.to_vec(), shape),
        }
    }
}

/// Where N arms start: states `[N]`, or distributions `[N,M]`, which need not be known as such.
pub(crate) fn mass_of(initial: &Bound<'_, PyAny>, n: usize, m: usize) -> PyResult<Array2<f64>> {
    let kind = array("initial", initial)?;
    if kind.ndim() == 1 && b"iu".contains(&kind.dtype().kind()) {
        let states = integers("initial", initial)?;
        check_shape("initial", &format!("[{n}] or [{n}, {m}]"), states.shape(), states.shape() == [n])?;
        let mut mass = Array2::zeros((n, m));
        for (i, &s) in slice(&states).iter().enumerate() {
            let s = usize::try_from(s).ok().filter(|s| *s < m);
            let s = s.ok_or_else(|| {
                wrong(
                    &format!("initial: arm {i}"),
                    &format!("a state from 0 to {}", m - 1),
                    slice(&states)[i],
                )
            })?;
            mass[[i, s]] = 1.0;
        }
        return Ok(mass);
    }
    let mass = masses("initial", initial, n, m)?;
    for (i, row) in mass.rows().into_iter().enumerate() {
        let sum = row.sum();
        if !((sum - 1.0).abs() <= 1e-6) {
            return Err(wrong(
                &format!("initial: arm {i}"),
                "a distribution that sums to 1",
                format_args!("a sum of {sum}"),
            ));
        }
    }
    Ok(mass)
}

/// Masses of at least 0, `[N,M]`.
pub(crate) fn masses(what: &str, given: &Bound<'_, PyAny>, n: usize, m: usize) -> PyResult<Array2<f64>> {
    let found = floats(what, given)?;
    check_shape(what, &format!("[{n}, {m}]"), found.shape(), found.shape() == [n, m])?;
    let numbers = slice(&found);
    check_finite(what, numbers, found.shape())?;
    if let Some(found) = numbers.iter().find(|x| **x < 0.0) {
        return Err(wrong(what, "numbers of at least 0", found));
    }
    Ok(Array2::from_shape_vec((n, m), numbers.to_vec()).expect("as many numbers"))
}

/// What the state after the last decision counts for, by its name.
pub(crate) fn ending_of(name: &str) -> PyResult<Ending> {
    match name {
        "nothing" => Ok(Ending::Nothing),
        "state" => Ok(Ending::State),
        _ => Err(wrong("ending", "'nothing' or 'state'", format_args!("{name:?}"))),
    }
}

/// The words for how far answers can be trusted, with the axes of the arms.
pub(crate) fn statuses(py: Python<'_>, statuses: &[IndexStatus], axes: &[usize]) -> PyResult<Py<PyAny>> {
    const ALL: [IndexStatus; 4] = [
        IndexStatus::Exact,
        IndexStatus::Approximate,
        IndexStatus::IllConditioned,
        IndexStatus::Undetermined,
    ];
    let codes: Vec<u8> = statuses.iter().map(|status| *status as u8).collect();
    let names = py.import("numpy")?.call_method1("array", (ALL.map(IndexStatus::name),))?;
    let words = names.call_method1("take", (codes.to_pyarray(py),))?;
    Ok(words.call_method1("reshape", (PyTuple::new(py, axes)?,))?.unbind())
}

/// Numbers as an array of this shape.
pub(crate) fn shaped<'py>(
    py: Python<'py>,
    numbers: Vec<f64>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let array = ndarray::ArrayD::from_shape_vec(shape, numbers).expect("as many numbers");
    Ok(PyArrayDyn::from_owned_array(py, array).into_any())
}

/// A named tuple of cotangents, known to the module so that it can be pickled.
pub(crate) struct Cotangents(PyOnceLock<Py<PyAny>>);

impl Cotangents {
    pub(crate) const fn new() -> Self {
        Self(PyOnceLock::new())
    }

    pub(crate) fn register(&self, module: &Bound<'_, PyModule>, name: &str, fields: &[&str]) -> PyResult<()> {
        let py = module.py();
        let options = PyDict::new(py);
        options.set_item("module", module.name()?)?;
        let class =
            py.import("collections")?.call_method("namedtuple", (name, fields.to_vec()), Some(&options))?;
        module.add(name, &class)?;
        let _ = self.0.set(py, class.unbind());
        Ok(())
    }

    pub(crate) fn of<'py>(
        &self,
        py: Python<'py>,
        parts: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let class = self.0.get(py).expect("registered with the module");
        class.bind(py).call1(PyTuple::new(py, parts)?)
    }
}
