//! The Python face of restive: the rooms of the library under the same names, NumPy in and out.

mod asked;
mod columns;
mod compute;
mod estimator;
mod refusal;
mod study;

use pyo3::prelude::*;

#[pymodule]
fn _restive(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    study::register(module)?;
    estimator::register(module)
}
