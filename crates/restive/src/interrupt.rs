//! Stopping a kernel in the middle.
//!
//! A kernel is one call that may last for minutes: bisection at a discount of 1 − 10⁻⁸ makes a billion sweeps for each halving. A
//! caller who hears of Ctrl-C meanwhile raises the [flag](Interruption); every kernel of the process looks at it between arms, sweeps,
//! runs and steps, and ends by unwinding with [`Interrupted`] as its payload, which no panic hook hears of. [`catch`] turns that
//! into an `Err`. What a kernel was writing to is left unfinished; nothing else is.
//!
//! The look is a relaxed load of one number, which costs nothing beside the work of an arm. It needs no argument in any signature, at
//! the price that all kernels of the process that run at that moment are interrupted together. Where several people share a process that is
//! too much: what runs in a [`Scope`] can be told to stop by itself. A scope has threads of its own, on which everything that its work splits
//! off stays, and each of them knows whose it is; only while something is raised does a look go beyond the one number.
//!
//! ```standalone_crate
//! use restive::interrupt::{Interruption, catch};
//! use restive::{Layout, Reward, Transition, index::bisection};
//!
//! let p = ndarray::array![[[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]];
//! let arm = Transition::new(p, Layout::Nsas)?;
//! let endless = || bisection::index(arm.view(), Reward::linear(2).view(), 1.0 - 1e-12, Default::default());
//! let found = std::thread::scope(|threads| {
//!     let kernel = threads.spawn(|| catch(endless));
//!     let _raised = Interruption::raise();
//!     kernel.join().expect("no panic")
//! });
//! assert!(found.is_err());
//! # Ok::<(), restive::Error>(())
//! ```

use rayon::ThreadPoolBuilder;
use std::cell::OnceCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many interruptions are raised, of whatever reach.
static RAISED: AtomicUsize = AtomicUsize::new(0);

/// How many of them reach every kernel.
static EVERYWHERE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The scope that this thread belongs to, from its first moment to its last.
    static HERE: OnceCell<Scope> = const { OnceCell::new() };
}

/// A kernel was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

/// While this lives, the kernels that it reaches end as soon as they look.
#[derive(Debug)]
pub struct Interruption(Option<Scope>);

impl Interruption {
    /// Tells all running kernels to stop.
    pub fn raise() -> Self {
        Self::begin(None)
    }

    fn begin(scope: Option<Scope>) -> Self {
        let this = Self(scope);
        // a kernel that sees the second number before the first goes on until its next look
        this.count().fetch_add(1, Ordering::Relaxed);
        RAISED.fetch_add(1, Ordering::Relaxed);
        this
    }

    fn count(&self) -> &AtomicUsize {
        self.0.as_ref().map_or(&EVERYWHERE, |scope| &scope.0)
    }
}

impl Drop for Interruption {
    fn drop(&mut self) {
        RAISED.fetch_sub(1, Ordering::Relaxed);
        self.count().fetch_sub(1, Ordering::Relaxed);
    }
}

/// Kernels that are told to stop together, and without others.
///
/// ```
/// use restive::interrupt::{Scope, catch};
/// use restive::{Layout, Reward, Transition, index::bisection};
///
/// let p = ndarray::array![[[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]];
/// let arm = Transition::new(p, Layout::Nsas)?;
/// let index = |discount| bisection::index(arm.view(), Reward::linear(2).view(), discount, Default::default());
/// let [one, other] = [Scope::default(), Scope::default()];
/// let _raised = one.raise();
/// assert!(catch(|| one.run(|| index(1.0 - 1e-12))).is_err());
/// assert!(catch(|| other.run(|| index(0.9))).is_ok() && catch(|| index(0.9)).is_ok());
/// # Ok::<(), restive::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Scope(Arc<AtomicUsize>);

impl Scope {
    /// Does some work on threads of the scope's own, as many as there would be without it, and waits for it. An error says that the system
    /// gives no threads. What runs in a scope within this one is of that one alone.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        let scope = self.clone();
        let belongs = move |_| HERE.with(|here| drop(here.set(scope.clone())));
        let threads = ThreadPoolBuilder::new().num_threads(rayon::current_num_threads());
        let pool = threads.start_handler(belongs).build().map_err(io::Error::other)?;
        Ok(pool.install(work))
    }

    /// Tells the kernels that run in it to stop.
    pub fn raise(&self) -> Interruption {
        Interruption::begin(Some(self.clone()))
    }

    /// Whether they are told to.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

/// Runs a kernel to its end, or until it is interrupted. Other panics pass through.
pub fn catch<T>(kernel: impl FnOnce() -> T) -> Result<T, Interrupted> {
    // what the kernel was writing to is lost with it, or known to be unfinished by whoever gets the error
    catch_unwind(AssertUnwindSafe(kernel)).map_err(|payload| match payload.downcast::<Interrupted>() {
        Ok(interrupted) => *interrupted,
        Err(panic) => resume_unwind(panic),
    })
}

/// Ends the kernel that calls it if it was told to stop.
#[inline(always)]
pub(crate) fn check() {
    if RAISED.load(Ordering::Relaxed) != 0 {
        look_closer();
    }
}

/// Something is raised: ends the kernel if that reaches it.
#[cold]
fn look_closer() {
    let is_here = || HERE.try_with(|here| here.get().is_some_and(Scope::is_raised)).unwrap_or(false);
    if EVERYWHERE.load(Ordering::Relaxed) != 0 || is_here() {
        resume_unwind(Box::new(Interrupted))
    }
}
