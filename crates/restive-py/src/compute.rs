//! Where work is done: without the interpreter's lock, on the threads of a pool.

use pyo3::prelude::*;
use rayon::ThreadPool;
use std::sync::Arc;

/// The pool to compute on; none: rayon's own.
pub(crate) fn pool() -> PyResult<Option<Arc<ThreadPool>>> {
    Ok(None)
}

/// Computes without the interpreter's lock, on the pool.
pub(crate) fn compute<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool()?;
    Ok(py.detach(|| match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }))
}
