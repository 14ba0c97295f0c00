//! The threads that kernels run on.
//!
//! One pool, made at the first call and again by [`set_threads`]. It is our own rather than rayon's global one for two
//! reasons: the number of threads can change while the interpreter runs, and a child process made by `fork`, in which no
//! thread but the forking one lives on, can be given a new pool instead of waiting for the dead one.
//!
//! The lock is taken only by a thread that holds the interpreter's own, so that no `fork` can find it taken.

use crate::border::Whole;
use crate::refusal::of_pipeline;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use restive::interrupt::{Interrupted, Interruption, catch};
use restive_pipeline::threads::{MOST_THREADS, check_environment};
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

static POOL: Mutex<Option<Arc<ThreadPool>>> = Mutex::new(None);

/// 0 for what the environment says, or one per processor.
fn build(threads: usize) -> PyResult<Arc<ThreadPool>> {
    if threads == 0 {
        check_environment().map_err(of_pipeline)?;
    }
    let builder = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("restive-{i}"));
    builder.build().map(Arc::new).map_err(|error| PyRuntimeError::new_err(format!("threads: {error}")))
}

/// The pool, made with as many threads as there are processors where there is none yet.
pub(crate) fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if pool.is_none() {
        *pool = Some(build(0)?);
    }
    Ok(Arc::clone(pool.as_ref().expect("just made")))
}

/// How many rows of so many numbers a task takes at least. An interruption unwinds every task that is left: of tasks of one small row each
/// there would be millions.
pub(crate) fn grain(numbers: usize) -> usize {
    (16_384 / numbers.max(1)).max(1)
}

/// How often a running kernel's caller looks whether Ctrl-C was pressed.
const LOOK: Duration = Duration::from_millis(50);

/// Runs a kernel on the pool, without the interpreter's lock. Ctrl-C [interrupts](restive::interrupt) it and is raised here.
pub(crate) fn run<T: Send>(py: Python<'_>, kernel: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool()?;
    py.detach(|| {
        let (mut ended, mut raised) = (None, None);
        pool.in_place_scope(|scope| {
            let (end, waiting) = mpsc::sync_channel(1);
            scope.spawn(|_| {
                ended = Some(std::panic::catch_unwind(AssertUnwindSafe(|| catch(kernel))));
                drop(end);
            });
            while waiting.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                // only the interpreter's main thread hears of signals; others ask in vain
                if let Err(error) = Python::attach(|py| py.check_signals()) {
                    raised = Some(error);
                    let _interruption = Interruption::raise();
                    let _ended: Result<(), _> = waiting.recv();
                }
            }
        });
        match (ended.expect("the scope waits for it"), raised) {
            (Err(panic), _) => std::panic::resume_unwind(panic),
            (_, Some(error)) => Err(error),
            (Ok(Ok(done)), None) => Ok(done),
            // another thread's call was interrupted, and this one with it
            (Ok(Err(Interrupted)), None) => Err(PyKeyboardInterrupt::new_err(())),
        }
    })
}

/// Sets the number of threads that all functions use from now on.
///
/// Results are the same bits for every number of threads.
///
/// Parameters
/// ----------
/// threads : int or None
///     From 1 to 1,024; None for one thread per processor, or for what the environment variable `RAYON_NUM_THREADS` says.
///
/// Examples
/// --------
/// >>> import restive
/// >>> restive.set_threads(2)
/// >>> restive.threads()
/// 2
#[pyfunction]
#[pyo3(signature = (threads))]
fn set_threads(threads: Option<Whole>) -> PyResult<()> {
    let threads = threads.map(|threads| threads.between("threads", 1, MOST_THREADS.into())).transpose()?;
    let made = build(threads.unwrap_or(0))?;
    *POOL.lock().unwrap_or_else(PoisonError::into_inner) = Some(made);
    Ok(())
}

/// The number of threads that all functions use.
#[pyfunction]
fn threads() -> PyResult<usize> {
    Ok(pool()?.current_num_threads())
}

/// Forgets the pool of the parent process, whose threads do not exist here.
#[pyfunction]
fn _forget_threads() {
    std::mem::forget(POOL.lock().unwrap_or_else(PoisonError::into_inner).take());
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let forget = wrap_pyfunction!(_forget_threads, module)?;
    let os = module.py().import("os")?;
    if os.hasattr("register_at_fork")? {
        let hooks = pyo3::types::PyDict::new(module.py());
        hooks.set_item("after_in_child", forget)?;
        os.call_method("register_at_fork", (), Some(&hooks))?;
    }
    module.add_function(wrap_pyfunction!(set_threads, module)?)?;
    module.add_function(wrap_pyfunction!(threads, module)?)
}
