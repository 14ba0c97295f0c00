//! What happens when the system has no memory left.
//!
//! Most sizes are known beforehand and are refused in words ([`restive_tables::memory`]). Where they are not, an allocation fails at a
//! place that cannot go on, and Rust would abort: no exit code, and drafts left behind. So the program's allocator is the system's with one
//! addition. At the first allocation that fails it gives back a reserve, so that there is some memory to end with, says a fixed line,
//! removes the files in the making, and ends with [`CODE`]. Where even that takes memory which is not there, it ends at once, and what is left
//! behind is a draft under its temporary name. A second thread that fails meanwhile waits for the first to end the program, but not for ever:
//! it may hold what the first is waiting for.
//!
//! A system that promises more memory than it has (Linux, as it is set up mostly) kills a process instead of refusing it; then nothing
//! can be said.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::process::exit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;

/// The exit code of a program that has run out of memory, or would.
pub(crate) const CODE: u8 = 3;

const SAID: &[u8] = b"restive: found no memory left, expected more; files in the making are removed\n";

const RESERVE: Layout = match Layout::from_size_align(1 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two"),
};
static RESERVED: AtomicPtr<u8> = AtomicPtr::new(null_mut());
static IS_ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// whether this thread is the one that ends the program; neither initialised nor dropped at run time, so that it takes no memory
    static IS_MINE: Cell<bool> = const { Cell::new(false) };
}

/// Sets some memory aside to end with.
pub(crate) fn keep_a_reserve() {
    // SAFETY: the layout has a size above 0.
    let reserve = unsafe { System.alloc(RESERVE) };
    RESERVED.store(reserve, Ordering::Release);
}

struct OrEnd;

#[global_allocator]
static ALLOCATOR: OrEnd = OrEnd;

// SAFETY: every call is handed to the system's allocator as it came, under the promises that the caller made, and what comes back is
// handed on unless it is null, in which case the call does not return. Nothing here unwinds: `end` only writes, removes files and exits,
// and an allocation that fails within it comes back to `end`, which then exits.
unsafe impl GlobalAlloc for OrEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of the system's allocator.
        given(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; `old` came from the system's allocator, as everything here does.
        given(unsafe { System.realloc(old, layout, size) })
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(old, layout) }
    }
}

fn given(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        end();
    }
    memory
}

#[cold]
fn end() -> ! {
    if IS_MINE.replace(true) {
        exit(CODE.into());
    }
    if IS_ENDING.swap(true, Ordering::AcqRel) {
        std::thread::sleep(Duration::from_secs(5));
        exit(CODE.into());
    }
    let reserve = RESERVED.swap(null_mut(), Ordering::AcqRel);
    if !reserve.is_null() {
        // SAFETY: it was allocated with this layout, and the swap has left nobody else to give it back.
        unsafe { System.dealloc(reserve, RESERVE) };
    }
    // where nobody listens there is nobody to tell
    let _ = std::io::stderr().write_all(SAID);
    restive_tables::abandon_drafts();
    exit(CODE.into())
}
