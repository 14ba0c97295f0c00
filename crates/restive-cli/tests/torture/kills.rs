//! Commands that write, ended at random instants by random signals.
//!
//! After a kill the output is not there, or it is whole; nobody else's file has changed. The same command run again ends in the
//! bytes of a run that was never disturbed, going on from its checkpoint where it keeps one, and leaves nothing behind: after
//! SIGKILL drafts may lie about until that next run, after any other signal not even so long.

use super::folder::{Contents, Prepared, contents, restive};
use super::{HANG, Plan, Tally};
use rand::RngExt;
use restive::random::stream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Commands that write `out` (or `out` with an extension), where they are run.
const COMMANDS: [(&str, &str); 11] = [
    ("out", "generate two-state --instances 3 --arms 3000 --trajectories 4 --seed 5 --format csv --out out"),
    (
        "out",
        "generate two-state --instances 3 --arms 3000 --trajectories 4 --seed 5 --format parquet --out out",
    ),
    ("out", "train study --epochs 600 --out out"),
    ("out", "train study --predictor effect --profile published --out out"),
    ("out", "train study --objective decision-focused --preset strong --epochs 6 --out out"),
    ("out.csv", "plan model study --out out.csv"),
    ("out.parquet", "plan model study --out out.parquet"),
    ("out.csv", "evaluate model study --estimators published --part all --runs 50 --out out.csv"),
    ("out.npy", "index arms.csv --out out.npy"),
    ("out.parquet", "index arms.csv --out out.parquet"),
    ("out", "experiment bars --domain two-state --arms 10 --runs 1 --quick --out out"),
];

/// A file of somebody else's, beside the output and in the way of nothing.
const FOREIGN: &str = "notes.txt";

pub(crate) fn run(plan: &Plan, prepared: &Prepared, tally: &mut Tally) {
    if plan.kills == 0 {
        return;
    }
    let commands: Vec<Undisturbed> = COMMANDS.iter().map(|each| Undisturbed::new(prepared, *each)).collect();
    for kill in 0..plan.kills {
        if !plan.has_time() {
            return;
        }
        let mut random = stream(plan.seed, &[1, kill as u64]);
        let command = &commands[random.random_range(0..commands.len())];
        let instant = command.took.mul_f64(random.random_range(0.0..1.1));
        let signal = ["KILL", "TERM", "INT", "HUP"][random.random_range(0..4)];
        command.kill(prepared, tally, instant, signal, random.random_bool(0.5));
        tally.kills += 1;
    }
}

/// A command, what it writes and how long it takes when nothing happens.
struct Undisturbed {
    output: &'static str,
    arguments: &'static str,
    written: Contents,
    took: Duration,
}

impl Undisturbed {
    fn new(prepared: &Prepared, (output, arguments): (&'static str, &'static str)) -> Self {
        let folder = prepared.copied();
        let start = Instant::now();
        let done = restive(folder.path(), arguments).status().expect("the program");
        let took = start.elapsed();
        assert!(done.success(), "{arguments}");
        let before = contents(prepared.path());
        let written = contents(folder.path()).into_iter().filter(|(path, _)| !before.contains_key(path));
        Self { output, arguments, written: written.collect(), took }
    }

    fn kill(&self, prepared: &Prepared, tally: &mut Tally, instant: Duration, signal: &str, hears: bool) {
        let folder = prepared.copied();
        let here = folder.path();
        std::fs::write(here.join(FOREIGN), "keep me").expect("a temporary folder");
        let before = contents(here);
        let context = format!("{} after {instant:?} by {signal}, stderr {hears}", self.arguments);
        let mut command = restive(here, self.arguments);
        // a pipe whose other end is gone is what a lost terminal leaves
        let mut child = if hears { command.spawn() } else { command.stderr(Stdio::piped()).spawn() }
            .expect("the program");
        drop(child.stderr.take());
        std::thread::sleep(instant);
        send(signal, &child);
        let Some(status) = wait(&mut child) else {
            return tally.hangs.push(context);
        };
        note_panic(status, &context, tally);
        self.check(here, &before, signal != "KILL", &context, tally);
        // the same command again: on from where it was, or from the beginning
        if here.join(self.output).exists() && self.is_whole(here) {
            return;
        }
        let mut again = restive(here, self.arguments).spawn().expect("the program");
        match wait(&mut again) {
            None => tally.hangs.push(format!("{context}, then again")),
            Some(status) if !status.success() => {
                tally.differing.push(format!("{context}: run again it fails with {status}"));
            }
            Some(_) => {
                self.check(here, &before, true, &context, tally);
                if !self.is_whole(here) {
                    tally.differing.push(format!("{context}: run again it writes something else"));
                }
            }
        }
    }

    /// Whether the output is that of an undisturbed run.
    fn is_whole(&self, here: &Path) -> bool {
        let own = |path: &PathBuf| path.starts_with(self.output);
        let found: Contents = contents(here).into_iter().filter(|(path, _)| own(path)).collect();
        found.iter().eq(self.written.iter().filter(|(path, _)| own(path)))
    }

    /// Counts what should not be there, and what was there and has changed.
    fn check(&self, here: &Path, before: &Contents, is_clean: bool, context: &str, tally: &mut Tally) {
        let after = contents(here);
        let touched = before.iter().filter(|(path, bytes)| after.get(*path) != Some(bytes));
        tally.foreign.extend(touched.map(|(path, _)| format!("{context}: {}", path.display())));
        let checkpoint = format!("{}.checkpoint", self.output);
        let is_own = |path: &PathBuf| self.written.contains_key(path);
        for path in after.keys().filter(|path| !before.contains_key(*path)) {
            let name =
                path.components().next().expect("not empty").as_os_str().to_string_lossy().into_owned();
            if name == self.output {
                let is_resumed = self.arguments.starts_with("experiment");
                if !is_resumed && !is_own(path) {
                    tally.differing.push(format!("{context}: {}", path.display()));
                }
            } else if name != checkpoint && !is_own(path) && (is_clean || !name.starts_with(".restive-")) {
                tally.drafts.push(format!("{context}: {}", path.display()));
            }
        }
    }
}

fn send(signal: &str, child: &Child) {
    // it may have ended by itself
    let _ = Command::new("kill")
        .args([&format!("-{signal}"), &child.id().to_string()])
        .stderr(Stdio::null())
        .status()
        .expect("kill");
}

/// Waits, but not for ever.
pub(crate) fn wait(child: &mut Child) -> Option<ExitStatus> {
    let start = Instant::now();
    // an undisturbed run of the slowest command takes a few seconds
    while start.elapsed() < 3 * HANG {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// Rust's own exit code for a panic is 101.
pub(crate) fn note_panic(status: ExitStatus, context: &str, tally: &mut Tally) {
    if status.code() == Some(101) {
        tally.panics.push(context.into());
    }
}
