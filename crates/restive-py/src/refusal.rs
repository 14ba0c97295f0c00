//! Errors of files, studies and models as exceptions, in the words of Python.
//!
//! What is wrong with data is a `ValueError`, what the system refuses an `OSError`, what does not fit into memory a `MemoryError`. Where a message names an option,
//! `--index-discount` on the command line, it is written as the keyword, `index_discount`.

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use restive_pipeline::{Error, Message};
use restive_tables::Error as TablesError;
use std::io;

/// An error of files and tables.
pub(crate) fn of_tables(error: TablesError) -> PyErr {
    match error {
        // the place is that of a text which nobody wrote
        TablesError::Settings { path, found, .. }
            if path.parent().is_none_or(|p| p.as_os_str().is_empty()) =>
        {
            PyValueError::new_err(found)
        }
        TablesError::Io { ref answer, .. } => PyErr::from(io::Error::new(answer.kind(), error.to_string())),
        TablesError::Memory { .. } => PyMemoryError::new_err(error.to_string()),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// An error of a training or a plan.
pub(crate) fn of_pipeline(error: Error) -> PyErr {
    match error {
        Error::Tables(error) => of_tables(error),
        Error::Asked(message) | Error::Data(message) => PyValueError::new_err(keywords(&message)),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// A message with options as keywords.
pub(crate) fn keywords(message: &Message) -> String {
    message.with_options(|name| name.replace('-', "_"))
}
