//! Stopping a kernel in the middle.
//!
//! A kernel is one call that may last for minutes: bisection at a discount of 1 − 10⁻⁸ makes a billion sweeps for each halving. A
//! caller who hears of Ctrl-C meanwhile raises the [flag](Interruption); every kernel of the process looks at it between arms, sweeps,
//! runs and steps, and ends by unwinding with [`Interrupted`] as its payload, which no panic hook hears of. [`catch`] turns that
//! into an `Err`. What a kernel was writing to is left unfinished; nothing else is.
//!
//! The look is a relaxed load of one number, which costs nothing beside the work of an arm. It needs no argument in any signature, at
//! the price that all kernels of the process that run at that moment are interrupted together.
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

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many interruptions are raised.
static RAISED: AtomicUsize = AtomicUsize::new(0);

/// A kernel was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

/// While this lives, kernels end as soon as they look.
#[derive(Debug)]
pub struct Interruption(());

impl Interruption {
    /// Tells all running kernels to stop.
    pub fn raise() -> Self {
        RAISED.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Interruption {
    fn drop(&mut self) {
        RAISED.fetch_sub(1, Ordering::Relaxed);
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
        stop();
    }
}

#[cold]
fn stop() -> ! {
    resume_unwind(Box::new(Interrupted))
}
