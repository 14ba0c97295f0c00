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
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "csv" => Ok(Format::Csv),
            "parquet" => Ok(Format::Parquet),
            "npy" => Ok(Format::Npy),
            _ => Err(Error::Ending { path: path.into(), found: ending.into() }),
        }
    }
}
