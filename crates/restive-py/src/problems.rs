//! Several problems in one call: which arguments are of each of them, which of all, and their answers side by side.
//!
//! `problems` is the shape of the problems' axes. An array whose shape begins with it, and whose other axes are ones that the argument may
//! have, holds one part for each problem; any other is that of all. A number may be an array of that shape.

use crate::border::{Whole, array, check_shape, is_many, position};
use crate::error::{check_memory, wrong};
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// A number of all problems, or one of each.
pub(crate) enum Each<'py, T> {
    One(T),
    Many(Bound<'py, PyAny>),
}

impl<'py, T: for<'a> FromPyObject<'a, 'py, Error = PyErr>> FromPyObject<'_, 'py> for Each<'py, T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match is_many(object) {
            true => Ok(Self::Many(object.to_owned())),
            false => Ok(Self::One(object.to_owned().extract::<T>()?)),
        }
    }
}

impl<T> Each<'_, T> {
    /// The number of one problem alone.
    pub(crate) fn alone(self, what: &str, expected: &str) -> PyResult<T> {
        match self {
            Self::One(number) => Ok(number),
            Self::Many(_) => Err(wrong(what, expected, "an array, and no problems=")),
        }
    }
}

/// An argument of all problems, or of each.
pub(crate) enum Part<'py> {
    Shared(Option<Bound<'py, PyAny>>),
    /// `[B,...]`
    Own(Bound<'py, PyAny>),
}

impl<'py> Part<'py> {
    pub(crate) fn of(&self, b: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self {
            Self::Shared(argument) => Ok(argument.clone()),
            Self::Own(arguments) => arguments.get_item(b).map(Some),
        }
    }
}

/// The axes of some problems.
pub(crate) struct ProblemAxes {
    axes: Vec<usize>,
    /// B, how many there are
    pub(crate) count: usize,
}

impl ProblemAxes {
    /// A number of problems, or the shape of their axes.
    pub(crate) fn new(problems: &Bound<'_, PyAny>) -> PyResult<Self> {
        let expected = "a number of problems of at least 1, or several: the shape of their axes";
        let axes: Vec<i64> = problems
            .extract::<Vec<i64>>()
            .or_else(|_| Ok::<_, PyErr>(vec![problems.extract::<Whole>()?.0]))?;
        let axes: Option<Vec<usize>> =
            axes.iter().map(|n| usize::try_from(*n).ok().filter(|n| *n > 0)).collect();
        let axes =
            axes.filter(|axes| !axes.is_empty()).ok_or_else(|| wrong("problems", expected, problems))?;
        let count = axes.iter().try_fold(1usize, |product, n| product.checked_mul(*n));
        let count = count.ok_or_else(|| wrong("problems", expected, problems))?;
        check_memory("problems", &[count, 64])?; // their numbers and answers
        Ok(Self { axes, count })
    }

    /// Whether an argument is of each problem: its shape begins with theirs, and the rest is one that it may have. Where the whole shape is one
    /// that it may have for all problems too, nobody can tell, and `otherwise` says how to write it.
    pub(crate) fn part<'py>(
        &self,
        what: &str,
        argument: Option<&Bound<'py, PyAny>>,
        is_fit: impl Fn(&[usize]) -> bool,
        otherwise: &str,
    ) -> PyResult<Part<'py>> {
        let Some(argument) = argument else { return Ok(Part::Shared(None)) };
        let found = array(what, argument)?;
        let shape = found.shape().to_vec();
        match shape.strip_prefix(&self.axes[..]) {
            Some(rest) if is_fit(rest) && is_fit(&shape) => {
                let expected = format!("{otherwise}, because it could be of each problem or of all");
                Err(wrong(what, &expected, format_args!("shape {shape:?}")))
            }
            Some(rest) if is_fit(rest) => {
                let flat = PyTuple::new(argument.py(), [&[self.count], rest].concat())?;
                Ok(Part::Own(found.call_method1("reshape", (flat,))?))
            }
            _ => Ok(Part::Shared(Some(argument.clone()))),
        }
    }

    /// The number of each problem.
    pub(crate) fn numbers<'py, T: Clone + for<'a> FromPyObject<'a, 'py, Error = PyErr>>(
        &self,
        what: &str,
        numbers: Each<'py, T>,
    ) -> PyResult<Vec<T>> {
        let given = match numbers {
            Each::One(number) => return Ok(vec![number; self.count]),
            Each::Many(given) => given,
        };
        // as Python's own numbers: NumPy would make floating-point numbers of seeds beyond int64 in a list
        let options = PyDict::new(given.py());
        options.set_item("dtype", "object")?;
        array(what, &given)?;
        let given = given.py().import("numpy")?.call_method("asarray", (given,), Some(&options))?;
        let shape: Vec<usize> = given.getattr("shape")?.extract()?;
        check_shape(what, &format!("a number, or shape {:?}", self.axes), &shape, shape == self.axes)?;
        given.call_method0("ravel")?.try_iter()?.map(|number| number?.extract()).collect()
    }

    /// The place of problem b: a number, or several.
    pub(crate) fn place<'py>(&self, py: Python<'py>, b: usize) -> PyResult<Bound<'py, PyAny>> {
        match position(b, &self.axes)[..] {
            [b] => Ok(b.into_pyobject(py)?.into_any()),
            ref place => Ok(PyTuple::new(py, place)?.into_any()),
        }
    }

    /// A caller's function that is told of which problem it is asked.
    pub(crate) fn told<'py>(&self, function: &Bound<'py, PyAny>, b: usize) -> PyResult<Bound<'py, PyAny>> {
        let py = function.py();
        let keywords = PyDict::new(py);
        keywords.set_item("problem", self.place(py, b)?)?;
        py.import("functools")?.call_method("partial", (function,), Some(&keywords))
    }

    /// An error of the data that names its problem; a caller's own errors are the caller's.
    pub(crate) fn named(&self, py: Python<'_>, b: usize, error: PyErr) -> PyErr {
        match (error.get_type(py).is(py.get_type::<PyValueError>()), self.place(py, b)) {
            (true, Ok(place)) => {
                let named = PyValueError::new_err(format!("problem {place}: {}", error.value(py)));
                named.set_cause(py, Some(error));
                named
            }
            _ => error,
        }
    }

    /// Arrays of all problems as one, their axes in front.
    pub(crate) fn stacked<'py>(&self, py: Python<'py>, parts: Vec<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let stacked = py.import("numpy")?.call_method1("stack", (PyList::new(py, parts)?,))?;
        let shape: Vec<usize> = stacked.getattr("shape")?.extract()?;
        let shape = PyTuple::new(py, [&self.axes[..], &shape[1..]].concat())?;
        Ok(stacked.call_method1("reshape", (shape,))?.unbind())
    }
}
