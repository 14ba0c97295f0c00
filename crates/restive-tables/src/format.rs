//! Which format a file has is said by the ending of its name, for reading and for writing alike.

use crate::error::{Error, Result};
use std::path::Path;

/// The three formats of a file of arms or of indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// comma-separated text with a header line
    Csv,
    /// Apache Parquet
    Parquet,
    /// a NumPy array
    Npy,
}

impl Format {
    /// The format that the ending of a path stands for.
    pub fn of(path: &Path) -> Result<Self> {
        match ending(path).to_ascii_lowercase().as_str() {
            "csv" => Ok(Format::Csv),
            "parquet" => Ok(Format::Parquet),
            "npy" => Ok(Format::Npy),
            _ => Err(refused(path, ".csv, .parquet or .npy")),
        }
    }

    /// The same where only a table serves: CSV or Parquet.
    pub fn of_table(path: &Path) -> Result<Self> {
        match Self::of(path) {
            Ok(Format::Npy) | Err(_) => Err(refused(path, ".csv or .parquet")),
            table => table,
        }
    }
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default()
}

fn refused(path: &Path, expected: &'static str) -> Error {
    Error::Ending { path: path.into(), found: ending(path).into(), expected }
}
