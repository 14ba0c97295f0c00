//! Harness for a program: own temporary folder, bounded time and memory.
//!
//! [`Cli`] takes the path of the program from the test, because cargo names it only to the tests of its own package:
//!
//! ```
//! use restive_testkit::Cli;
//!
//! let cli = Cli::new("echo");
//! assert_eq!(cli.run("one two").success().stdout, "one two\n");
//! ```

use crate::folder::Folder;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::ops::Deref;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Longest time of a run. A test machine may be shared by several builds, so that this is a multiple of what any run needs.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// Largest address space of a run, in bytes (Linux only).
const MEMORY_LIMIT: u64 = 16 << 30;

/// A program, run in a folder of its own; derefs to the folder.
///
/// The output has no colour, and by default the width that it has without a terminal.
#[derive(Debug, Clone)]
pub struct Cli {
    program: PathBuf,
    folder: Folder,
    subfolder: PathBuf,
    time_limit: Duration,
    memory_limit: u64,
    environment: Vec<(OsString, OsString)>,
    input: Vec<u8>,
}

/// Output of a run that has ended.
#[derive(Debug, Clone)]
pub struct Run {
    /// Command line, for messages.
    pub command: String,
    /// Exit status.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Deref for Cli {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

impl Cli {
    /// Creates a harness with an empty folder.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self::in_folder(program, Folder::new())
    }

    /// Creates a harness that runs the program in `folder`.
    pub fn in_folder(program: impl Into<PathBuf>, folder: Folder) -> Self {
        Self {
            program: program.into(),
            folder,
            subfolder: PathBuf::new(),
            time_limit: TIME_LIMIT,
            memory_limit: MEMORY_LIMIT,
            environment: vec![("NO_COLOR".into(), "1".into()), ("COLUMNS".into(), "80".into())],
            input: Vec::new(),
        }
    }

    /// Returns a harness that runs the program in a folder below this one; the methods of the folder are unchanged.
    pub fn in_subfolder(&self, name: impl Into<PathBuf>) -> Self {
        Self { subfolder: name.into(), ..self.clone() }
    }

    /// Returns the harness with another time limit. Default: 300 seconds.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Returns the harness with another limit of the address space in bytes, which Linux keeps. Default: 16 GiB.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Returns the harness with a variable in the environment of the program.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Returns the harness with a standard input. Default: empty.
    pub fn stdin(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Runs the program with arguments that are separated by white space.
    ///
    /// # Panics
    /// If the program cannot be started, or exceeds the time limit: then it is killed.
    pub fn run(&self, arguments: &str) -> Run {
        self.run_args(arguments.split_whitespace())
    }

    /// Like [`run`](Self::run), but with arguments that may contain white space.
    pub fn run_args(&self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Run {
        let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        let name = self.program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let words = arguments.iter().map(|argument| format!(" {}", argument.to_string_lossy()));
        let described = words.fold(name, |command, word| command + &word);
        let mut command = Command::new(&self.program);
        command
            .args(&arguments)
            .current_dir(self.root().join(&self.subfolder))
            .envs(self.environment.iter().cloned());
        limit_memory(&mut command, self.memory_limit);
        let (status, stdout, stderr) = self.wait(&mut command, &described);
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).unwrap_or_else(|_| panic!("{described}: the output is not UTF-8"))
        };
        Run { stdout: text(stdout), stderr: text(stderr), command: described, status }
    }

    /// Starts the command, feeds its input and collects its output until it ends or the time is over.
    fn wait(&self, command: &mut Command, described: &str) -> (ExitStatus, Vec<u8>, Vec<u8>) {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{described}: {error}"));
        let (mut stdin, stdout, stderr) =
            (child.stdin.take().unwrap(), child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let input = self.input.clone();
        // a program need not read its input
        let writer = thread::spawn(move || _ = stdin.write_all(&input));
        let [stdout, stderr] = [collect(stdout), collect(stderr)];
        let status = wait_until(&mut child, Instant::now() + self.time_limit);
        if status.is_none() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        writer.join().unwrap();
        let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().unwrap());
        let Some(status) = status else {
            panic!(
                "{described}: killed after the time limit of {:?}; standard error: {}",
                self.time_limit,
                String::from_utf8_lossy(&stderr)
            );
        };
        (status, stdout, stderr)
    }
}

/// Reads a stream to its end in a thread.
fn collect(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

/// Waits for the end of a process; `None` if it still runs at `deadline`.
fn wait_until(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

#[cfg(target_os = "linux")]
fn limit_memory(command: &mut Command, bytes: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use std::os::unix::process::CommandExt;
    let outer = getrlimit(Resource::As).maximum.unwrap_or(u64::MAX);
    let limit = Rlimit { current: Some(bytes.min(outer)), maximum: Some(bytes.min(outer)) };
    let set = move || Ok(setrlimit(Resource::As, limit)?);
    // SAFETY: between fork and exec the closure makes one system call, and touches no memory of the parent.
    unsafe { command.pre_exec(set) };
}

#[cfg(not(target_os = "linux"))]
fn limit_memory(_: &mut Command, _: u64) {}

impl Run {
    /// Checks that the program succeeded.
    ///
    /// # Panics
    /// If it failed; the message contains its output. The other checks do likewise.
    #[track_caller]
    pub fn success(self) -> Self {
        assert!(self.status.success(), "{}", self.described("expected success"));
        self
    }

    /// Checks that the program failed with an exit code.
    #[track_caller]
    pub fn failure(self) -> Self {
        let code = self.status.code();
        assert!(code.is_some_and(|code| code != 0), "{}", self.described("expected a failure"));
        self
    }

    /// Checks the exit code.
    #[track_caller]
    pub fn code(self, expected: i32) -> Self {
        let code = self.status.code();
        assert_eq!(code, Some(expected), "{}", self.described(&format!("expected exit code {expected}")));
        self
    }

    /// Parses standard output as JSON.
    ///
    /// # Panics
    /// If it is not JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{}: {error}", self.described("expected JSON")))
    }

    fn described(&self, expected: &str) -> String {
        format!(
            "{}: {}, {expected}\nstandard output:\n{}\nstandard error:\n{}",
            self.command, self.status, self.stdout, self.stderr
        )
    }
}

/// Returns standard output.
pub fn stdout(run: &Run) -> String {
    run.stdout.clone()
}

/// Returns standard error.
pub fn stderr(run: &Run) -> String {
    run.stderr.clone()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Message of the panic of `run`.
    fn refused<T>(run: impl FnOnce() -> T) -> String {
        let payload = catch_unwind(AssertUnwindSafe(run)).err().expect("a panic");
        *payload.downcast::<String>().unwrap()
    }

    #[test]
    fn output_status_and_files_are_those_of_the_program() {
        let cli = Cli::new("sh");
        std::fs::create_dir(cli.path("below")).unwrap();
        let below = cli.in_subfolder("below").run_args(["-c", "pwd"]).success();
        assert!(below.stdout.ends_with("/below\n") && cli.path("below").exists(), "{}", below.stdout);
        let cli = Cli::new("sh").env("WORD", "set").stdin("typed");
        let run = cli.run_args(["-c", "cat; echo $WORD $COLUMNS; echo bad >&2; echo 1 > made; exit 3"]);
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("typedset 80\n", "bad\n"));
        assert_eq!((cli.listing(), cli.read("made")), (vec!["made".to_string()], "1\n".into()));
        assert!(refused(|| run.clone().success()).contains("standard error:\nbad"));
        assert!(refused(|| run.clone().code(2)).contains("expected exit code 2"));
        run.code(3).failure();
        assert!(refused(|| cli.run_args(["-c", "true"]).failure()).contains("expected a failure"));
        assert_eq!(cli.run_args(["-c", "echo '{\"a\": 1}'"]).json()["a"], 1);
        assert!(refused(|| cli.run_args(["-c", "echo no"]).json()).contains("expected JSON"));
    }

    #[test]
    fn program_is_killed_after_the_time_limit() {
        let cli = Cli::new("sh").time_limit(Duration::from_millis(200));
        let start = Instant::now();
        let message = refused(|| cli.run_args(["-c", "echo begun >&2; exec sleep 60"]));
        assert!(start.elapsed() < Duration::from_secs(30));
        assert!(message.contains("killed after the time limit of 200ms"), "{message}");
        assert!(message.contains("begun"), "{message}");
    }

    #[test]
    fn output_larger_than_a_pipe_does_not_block() {
        let cli = Cli::new("sh").stdin(vec![b'x'; 1 << 20]);
        assert_eq!(cli.run("-c cat").success().stdout, "x".repeat(1 << 20));
        // input that is not read
        cli.run("-c true").success();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn address_space_is_limited() {
        let cli = Cli::new("sh").memory_limit(256 << 20);
        let kilobytes = cli.run_args(["-c", "ulimit -v"]).success().stdout;
        assert_eq!(kilobytes.trim(), (256 * 1024).to_string());
        // dd takes its block from the heap
        cli.run("-c true").success();
        let dd =
            |block: &str| cli.run_args(["-c", &format!("dd if=/dev/zero of=/dev/null count=1 bs={block}")]);
        dd("1M").success();
        dd("512M").failure();
    }
}
