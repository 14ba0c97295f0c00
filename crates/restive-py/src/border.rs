//! NumPy in and out: what may enter, and how.
//!
//! An array of float64, row-major and aligned, is read where it lies. Other real numbers (float32, integers), other orders and
//! views with gaps are copied into that form once. Complex numbers, text, objects and masked entries are refused, and so is an
//! array that another call is writing at this moment. An array to write to must have exactly the right form, because a copy
//! would not be the caller's.

use crate::error::{no_array, wrong};
use numpy::{
    PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// The kinds of numbers that an array may hold, as NumPy's letters, and how an error calls them.
#[derive(Clone, Copy)]
pub(crate) struct Kinds(&'static str, &'static str);

/// Real numbers.
pub(crate) const REAL: Kinds = Kinds("fiub", "real numbers (float64, or what can become it)");
/// Whole numbers.
pub(crate) const WHOLE: Kinds = Kinds("iub", "integers");

/// Yes and no.
const BOOLEAN: Kinds = Kinds("b", "booleans");

/// The object as an array, whatever it holds; lists and whatever says that it can become an array do.
pub(crate) fn array<'py>(what: &str, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let numpy = object.py().import("numpy")?;
    if !object.is_exact_instance(&numpy.getattr("ndarray")?) {
        let masked = numpy.getattr("ma")?.getattr("MaskedArray")?;
        if object.is_instance(&masked)?
            && numpy.getattr("ma")?.call_method1("is_masked", (object,))?.is_truthy()?
        {
            return Err(wrong(what, "an array without masked entries", "a masked array"));
        }
        let can = object.is_instance_of::<PyList>()
            || object.is_instance_of::<PyTuple>()
            || object.hasattr("__array__")?;
        if !can {
            return Err(no_array(what, object));
        }
    }
    let array = numpy.call_method1("asarray", (object,)).map_err(|error| {
        PyValueError::new_err(format!("{what}: found what cannot become one ({error}), expected an array"))
    })?;
    Ok(array.cast_into::<PyUntypedArray>()?)
}

/// An array of numbers of some kind, converted and copied where it must be.
fn convert<'py, T: numpy::Element>(
    what: &str,
    object: &Bound<'py, PyAny>,
    kinds: Kinds,
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let array = array(what, object)?;
    if array.ndim() > 32 {
        return Err(wrong(what, "at most 32 axes", array.ndim())); // more than ndarray's border can carry
    }
    if let Ok(ready) = array.cast::<PyArrayDyn<T>>()
        && is_plain(ready)
    {
        return Ok(ready.clone());
    }
    let kind = array.dtype().kind() as char;
    if !kinds.0.contains(kind) {
        return Err(wrong(what, kinds.1, format_args!("dtype {}", array.dtype().str()?)));
    }
    let py = object.py();
    let options = PyDict::new(py);
    options.set_item("dtype", numpy::dtype::<T>(py))?;
    options.set_item("order", "C")?;
    let copy = py.import("numpy")?.call_method("array", (array,), Some(&options))?;
    Ok(copy.cast_into::<PyArrayDyn<T>>()?)
}

fn is_plain<T: numpy::Element>(array: &Bound<'_, PyArrayDyn<T>>) -> bool {
    array.is_c_contiguous() && array.is_aligned()
}

/// Real numbers as float64, row-major.
pub(crate) fn floats<'py>(what: &str, object: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, f64>> {
    read(what, &convert(what, object, REAL)?)
}

/// Borrows an array for reading, while nobody writes to it.
pub(crate) fn read<'py, T: numpy::Element>(
    what: &str,
    array: &Bound<'py, PyArrayDyn<T>>,
) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    array
        .try_readonly()
        .map_err(|_| wrong(what, "an array that nobody is writing to", "one that another call writes"))
}

/// Whole numbers as int64, row-major.
pub(crate) fn integers<'py>(
    what: &str,
    object: &Bound<'py, PyAny>,
) -> PyResult<PyReadonlyArrayDyn<'py, i64>> {
    let array = array(what, object)?;
    if array.dtype().kind() == b'u' && array.dtype().itemsize() == 8 && array.len() > 0 {
        let largest: u64 = array.call_method0("max")?.extract()?;
        if i64::try_from(largest).is_err() {
            return Err(wrong(what, "integers of at most 63 bits", largest));
        }
    }
    read(what, &convert(what, array.as_any(), WHOLE)?)
}

/// Booleans, row-major.
pub(crate) fn bools<'py>(what: &str, object: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, bool>> {
    read(what, &convert(what, object, BOOLEAN)?)
}

/// The array to write an answer of this shape to: the caller's, checked, or a new one.
pub(crate) fn output<'py>(
    py: Python<'py>,
    what: &str,
    out: Option<&Bound<'py, PyAny>>,
    shape: &[usize],
) -> PyResult<PyReadwriteArrayDyn<'py, f64>> {
    let Some(object) = out else {
        return Ok(empty(py, shape)?.readwrite());
    };
    let Ok(array) = object.cast::<PyUntypedArray>() else { return Err(no_array(what, object)) };
    if array.shape() != shape {
        return Err(wrong(what, &format!("shape {shape:?}"), format_args!("shape {:?}", array.shape())));
    }
    let Ok(array) = array.cast::<PyArrayDyn<f64>>() else {
        return Err(wrong(what, "float64", format_args!("dtype {}", array.dtype().str()?)));
    };
    if !is_plain(array) {
        return Err(wrong(what, "a contiguous (row-major) array", "one that is not"));
    }
    array.try_readwrite().map_err(|error| match error {
        numpy::BorrowError::NotWriteable => wrong(what, "an array that can be written to", "a read-only one"),
        _ => wrong(what, "memory of its own", "an array that shares memory with an input, or is in use"),
    })
}

/// A new array whose numbers are yet to be written. NumPy's own allocation: it asks for large pages.
pub(crate) fn empty<'py>(py: Python<'py>, shape: &[usize]) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let array = py.import("numpy")?.call_method1("empty", (PyTuple::new(py, shape)?,))?;
    Ok(array.cast_into::<PyArrayDyn<f64>>()?)
}

/// Refuses the first number that is not finite, with its position.
pub(crate) fn check_finite(what: &str, values: &[f64], shape: &[usize]) -> PyResult<()> {
    check_all(what, values, shape, f64::is_finite)
}

/// Refuses the first number that is not fit, with its position.
pub(crate) fn check_all(
    what: &str,
    values: &[f64],
    shape: &[usize],
    is_fit: impl Fn(f64) -> bool,
) -> PyResult<()> {
    if values.iter().fold(true, |all, x| all & is_fit(*x)) {
        return Ok(());
    }
    let flat = values.iter().position(|x| !is_fit(*x)).unwrap_or_default();
    let (place, found) = (position(flat, shape), values[flat]);
    Err(PyValueError::new_err(format!("{what}: entry {place:?}: found {found}, expected a finite number")))
}

/// Where the entry of that number lies in an array of this shape.
pub(crate) fn position(mut flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut place = vec![0; shape.len()];
    for (place, size) in place.iter_mut().zip(shape).rev() {
        *place = flat % size.max(&1);
        flat /= size.max(&1);
    }
    place
}

/// Refuses a shape other than the expected one.
pub(crate) fn check_shape(what: &str, expected: &str, found: &[usize], is_right: bool) -> PyResult<()> {
    if is_right { Ok(()) } else { Err(wrong(what, expected, format_args!("shape {found:?}"))) }
}

/// A real number; one that is too large for float64 is infinite, for the caller's check of its range to refuse.
#[derive(Clone, Copy)]
pub(crate) struct Number(pub(crate) f64);

impl<'py> FromPyObject<'_, 'py> for Number {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        object.extract::<f64>().map(Self).or_else(|error| match error.is_instance_of::<PyOverflowError>(py) {
            true => Ok(Self(if object.lt(0)? { f64::NEG_INFINITY } else { f64::INFINITY })),
            false => Err(error),
        })
    }
}

/// A whole number; one beyond int64 becomes its nearest end, for the caller's check of its range to refuse.
#[derive(Clone, Copy)]
pub(crate) struct Whole(pub(crate) i64);

impl<'py> FromPyObject<'_, 'py> for Whole {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        object.extract::<i64>().map(Self).or_else(|error| match error.is_instance_of::<PyOverflowError>(py) {
            true => Ok(Self(if object.lt(0)? { i64::MIN } else { i64::MAX })),
            false => Err(error),
        })
    }
}

impl Whole {
    /// The number where it lies between the two, both included.
    pub(crate) fn between(self, what: &str, least: usize, most: usize) -> PyResult<usize> {
        let found = usize::try_from(self.0).ok().filter(|found| (least..=most).contains(found));
        found.ok_or_else(|| wrong(what, &format!("a number from {least} to {most}"), self.0))
    }
}

/// A seed: any of the 2⁶⁴ whole numbers that a generator of random numbers can begin with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed(pub(crate) u64);

impl<'py> FromPyObject<'_, 'py> for Seed {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        object.extract::<u64>().map(Self).map_err(|error| match error.is_instance_of::<PyOverflowError>(py) {
            true => wrong("seed", "a whole number from 0 to 2^64 - 1", &*object),
            false => error,
        })
    }
}

/// Whether an object is several numbers: a list, or an array with axes.
pub(crate) fn is_many(object: Borrowed<'_, '_, PyAny>) -> bool {
    let axes = object.getattr("ndim").ok().and_then(|ndim| ndim.extract::<usize>().ok());
    let is_list = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
    is_list || axes.is_some_and(|axes| axes > 0)
}

/// One number, or an array of them.
pub(crate) enum Numbers<'py> {
    One(f64),
    Many(Bound<'py, PyAny>),
}

impl<'py> FromPyObject<'_, 'py> for Numbers<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match is_many(object) {
            true => Ok(Self::Many(object.to_owned())),
            false => Ok(Self::One(object.extract::<Number>()?.0)),
        }
    }
}

impl Numbers<'_> {
    /// One number for all places, or one for each place of these axes; every one of them fit.
    pub(crate) fn over(
        self,
        what: &str,
        axes: &[usize],
        axes_name: &str,
        expected: &str,
        is_fit: impl Fn(f64) -> bool,
    ) -> PyResult<PerPlace> {
        let (values, is_shared) = match self {
            Self::One(number) => (vec![number], true),
            Self::Many(object) => {
                let found = floats(what, &object)?;
                let wanted = format!("a number, or shape {axes:?}: {axes_name}");
                check_shape(what, &wanted, found.shape(), found.shape() == axes)?;
                (found.as_slice()?.to_vec(), false)
            }
        };
        match values.iter().position(|x| !is_fit(*x)) {
            None => Ok(PerPlace { values, is_shared }),
            Some(flat) if is_shared => Err(wrong(what, expected, values[flat])),
            Some(flat) => {
                let (place, found) = (position(flat, axes), values[flat]);
                Err(PyValueError::new_err(format!(
                    "{what}: entry {place:?}: found {found}, expected {expected}"
                )))
            }
        }
    }
}

/// One number for all places, or one for each.
pub(crate) struct PerPlace {
    values: Vec<f64>,
    is_shared: bool,
}

impl PerPlace {
    pub(crate) fn of(&self, place: usize) -> f64 {
        self.values[if self.is_shared { 0 } else { place }]
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    pub(crate) fn into_vec(self) -> Vec<f64> {
        self.values
    }
}
