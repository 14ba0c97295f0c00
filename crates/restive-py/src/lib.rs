//! The Python face of restive: the rooms of the library under the same names, NumPy in and out.

#![allow(clippy::too_many_arguments, reason = "a function has as many as its Python signature has keywords")]

mod actions;
mod arms;
mod asked;
mod border;
mod columns;
mod data;
mod doctor;
mod error;
mod estimator;
mod evaluation;
mod horizon;
mod import;
mod index;
mod indices;
mod inputs;
mod laid;
mod likelihood;
mod logs;
mod partition;
mod policy;
mod prices;
mod problems;
mod programme;
mod refusal;
mod rollouts;
mod rows;
mod segmented;
mod simulation;
mod soft;
mod study;
mod threads;
mod trajectories;
mod trial;
mod values;
mod worlds;

use pyo3::prelude::*;

#[pymodule]
fn _restive(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    threads::register(module)?;
    index::register(module)?;
    policy::register(module)?;
    evaluation::register(module)?;
    segmented::register(module)?;
    likelihood::register(module)?;
    simulation::register(module)?;
    horizon::register(module)?;
    prices::register(module)?;
    values::register(module)?;
    actions::register(module)?;
    data::register(module)?;
    study::register(module)?;
    doctor::register(module)?;
    import::register(module)?;
    programme::register(module)?;
    trial::register(module)?;
    partition::register(module)?;
    estimator::register(module)
}
