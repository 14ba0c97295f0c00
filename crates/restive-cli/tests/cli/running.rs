//! The program while it runs: started beside the test, told to end, killed, waited for.

use crate::arms::full_columns;
use crate::harness::{Chance, Cli};
use std::ops::{Deref, DerefMut};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The program, to be started in the folder; every signal acts as by default, however the tests were started.
pub(crate) fn command(folder: &Cli, arguments: &str) -> Command {
    prepared(folder, Command::new(env!("CARGO_BIN_EXE_restive")), arguments)
}

/// The same within a shell, which finds the program and its arguments in `$0` and `$@`.
pub(crate) fn in_shell(folder: &Cli, script: &str, arguments: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_restive")]);
    prepared(folder, shell, arguments)
}

fn prepared(folder: &Cli, mut command: Command, arguments: &str) -> Command {
    command.current_dir(folder.path("")).args(arguments.split(' ')).stdout(Stdio::null());
    with_default_signals(&mut command);
    command
}

#[cfg(unix)]
fn with_default_signals(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    let reset = || {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: the call changes the disposition of a signal to a valid one, in a process that is about to become another
            // program; it may be made between fork and exec.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: the closure calls nothing but signal(2), which is safe there, and touches no memory of the parent.
    unsafe { command.pre_exec(reset) };
}

#[cfg(not(unix))]
fn with_default_signals(_: &mut Command) {}

/// A process that does not outlive its test.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn new(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

/// Starts the program; what it says on standard error can be read.
pub(crate) fn start(folder: &Cli, arguments: &str) -> Running {
    Running::new(command(folder, arguments).stderr(Stdio::piped()))
}

/// Sends a signal, by its name.
pub(crate) fn tell(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(sent.unwrap().success(), "{signal}");
}

/// Waits for the end, but not for ever; the exit code, where there is one.
pub(crate) fn wait(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(30) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the program did not end");
}

/// Waits until something is so, but not for ever.
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until a file is there.
pub(crate) fn wait_for(folder: &Cli, name: &str) {
    wait_until(name, || folder.path(name).exists());
}

/// A command that writes `w.csv` and would take minutes, and its input: value iteration at a discount next to 1.
pub(crate) fn long_run(folder: &Cli) -> &'static str {
    let mut arms = full_columns(12).join(",");
    let mut chance = Chance::new(9);
    for _ in 0..50 {
        let rows = (0..24).map(|_| {
            let row: Vec<f64> = (0..12).map(|_| chance.next()).collect();
            let sum: f64 = row.iter().sum();
            row.iter().map(|p| (p / sum).to_string()).collect::<Vec<_>>().join(",")
        });
        arms += "\n";
        arms += &rows.collect::<Vec<_>>().join(",");
    }
    folder.write("arms.csv", arms + "\n");
    "index arms.csv --algorithm bisection --discount 0.9999 --out w.csv"
}

/// The drafts in a folder.
pub(crate) fn drafts(folder: &Cli) -> Vec<String> {
    folder.listing().into_iter().filter(|name| name.starts_with(".restive-")).collect()
}
