//! Being told to end: Ctrl-C (SIGINT), `kill` (SIGTERM), a terminal that goes away (SIGHUP).
//!
//! At the first signal the files in the making are removed, one line says what is kept, and the program ends with 128 + the
//! number of the signal. None of this may wait for ever: the list of drafts may be held by a thread that waits for a disk, and
//! standard error may be a pipe that nobody reads. So both happen in a thread of their own, and after [`PATIENCE`] the program
//! ends without them; what is then left behind is removed by the next run in that folder. A second signal ends the program at
//! once. A terminal that is closed may send its signal twice, from the kernel and from the shell: what comes within [`ONE`] of the
//! first belongs to it.
//!
//! A signal that was ignored when the program was started stays ignored, which is what `nohup` asks for, and a shell for what it
//! runs in the background.

use super::say;
use std::sync::Mutex;

static KEPT: Mutex<Option<String>> = Mutex::new(None);

/// What is said at an interruption from now on, instead of "nothing was written".
pub(crate) fn say_when_interrupted(kept: String) {
    if let Ok(mut place) = KEPT.lock() {
        *place = Some(kept);
    }
}

fn clean_up() {
    restive_tables::abandon_drafts();
    let kept = KEPT.lock().ok().and_then(|mut kept| kept.take());
    say::line(format_args!("interrupted, {}", kept.as_deref().unwrap_or("nothing was written")));
}

#[cfg(unix)]
pub(crate) use unix::end_cleanly_when_told;

#[cfg(unix)]
mod unix {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::exit;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::thread;
    use std::time::{Duration, Instant};

    /// How long the program may take to end.
    const PATIENCE: Duration = Duration::from_secs(10);
    /// Signals so close to each other are one.
    const ONE: Duration = Duration::from_millis(200);
    /// How often a second signal is looked for.
    const PAUSE: Duration = Duration::from_millis(10);

    /// From here on the program ends cleanly when it is told to. Where no thread can be had or nothing be installed, the system's
    /// own way applies: the program ends all the same.
    pub(crate) fn end_cleanly_when_told() {
        let (installed, is_installed) = channel();
        let listening = thread::Builder::new().name("signals".into()).spawn(move || {
            let heard = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
            let signals = Signals::new(heard);
            drop(installed);
            if let Ok(mut signals) = signals
                && let Some(signal) = signals.forever().next()
            {
                end(signal, &mut signals);
            }
        });
        if listening.is_ok() {
            // answers when the other end is dropped
            let _: Result<(), _> = is_installed.recv();
        }
    }

    fn end(first: i32, signals: &mut Signals) -> ! {
        let start = Instant::now();
        let (done, is_done) = channel();
        let cleaning = thread::Builder::new().name("ending".into()).spawn(move || {
            super::clean_up();
            let _ = done.send(());
        });
        while cleaning.is_ok() && start.elapsed() < PATIENCE {
            // done, or gone without a word
            if is_done.recv_timeout(PAUSE) != Err(RecvTimeoutError::Timeout) {
                break;
            }
            if let Some(second) = signals.pending().next()
                && start.elapsed() > ONE
            {
                exit(128 + second);
            }
        }
        exit(128 + first)
    }

    /// Whether the program was started with the signal ignored.
    fn is_ignored(signal: i32) -> bool {
        let mut found = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: without a new action the call changes nothing; it fills in the structure behind the pointer, which is of the
        // type it expects and lives until it returns. All zeroes, which is what stays there where the call fails, is a valid value of
        // that structure of numbers, a set of signals and an optional function.
        let found = unsafe {
            libc::sigaction(signal, std::ptr::null(), found.as_mut_ptr());
            found.assume_init()
        };
        found.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(not(unix))]
pub(crate) fn end_cleanly_when_told() {
    // Where no handler can be set, the system's own applies: the program ends all the same.
    let _ = ctrlc::set_handler(|| {
        clean_up();
        std::process::exit(130);
    });
}
