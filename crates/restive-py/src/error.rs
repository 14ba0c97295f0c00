//! Errors of the library as exceptions: one way from facts to Python.
//!
//! What is wrong with data is a `ValueError` whose message is the library's own: what, where, what was found, what is
//! expected. Only an object that is no array at all is a `TypeError`.

use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The library's error as a `ValueError`.
pub(crate) fn raise(error: restive::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A `ValueError` of the border itself: `what: found …, expected …`.
pub(crate) fn wrong(what: &str, expected: &str, found: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("{what}: found {found}, expected {expected}"))
}

/// A `TypeError` for an object that is no array.
pub(crate) fn no_array(what: &str, found: &Bound<'_, PyAny>) -> PyErr {
    let name = found.get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string());
    PyTypeError::new_err(format!("{what}: found {name}, expected an array"))
}

/// A `MemoryError` where so many numbers cannot be had, before a kernel asks for them.
pub(crate) fn check_memory(what: &str, numbers: &[usize]) -> PyResult<()> {
    let total = numbers.iter().try_fold(8usize, |product, n| product.checked_mul(*n));
    let fits = total.is_some_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if fits { Ok(()) } else { Err(PyMemoryError::new_err(format!("{what}: {numbers:?} numbers do not fit"))) }
}
