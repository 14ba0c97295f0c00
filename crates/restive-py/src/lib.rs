//! The Python face of restive: the rooms of the library under the same names, NumPy in and out.

mod arms;
mod border;
mod error;
mod index;
mod policy;
mod threads;

use pyo3::prelude::*;

#[pymodule]
fn _restive(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    threads::register(module)?;
    index::register(module)?;
    policy::register(module)
}
