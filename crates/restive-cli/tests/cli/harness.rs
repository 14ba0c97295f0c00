//! The harness of the test kit with the program that cargo has built.

pub(crate) use restive_testkit::{Chance, Cli, Run, stderr, stdout};
use std::fmt::Write;

/// Returns a harness of the program with an empty folder.
pub(crate) fn cli() -> Cli {
    Cli::new(env!("CARGO_BIN_EXE_restive"))
}

/// Compares the output of runs, masked, with the snapshot of a name: command line, standard output, standard error and exit code.
///
/// The snapshot tests words and layout. Numbers, exit codes and files need assertions of their own.
pub(crate) fn assert_output(snapshot: &str, runs: &[&Run]) {
    let mut text = String::new();
    for run in runs {
        writeln!(text, "$ {}\n{}", run.command, run.stdout).unwrap();
        if !run.stderr.is_empty() {
            writeln!(text, "standard error:\n{}", run.stderr).unwrap();
        }
        if !run.status.success() {
            writeln!(text, "{}\n", run.status).unwrap();
        }
    }
    restive_testkit::assert_snapshot!(snapshot, &text);
}

/// Returns the headings of a page, a line for each: what does not differ between runs on a page of timings.
pub(crate) fn page_headings(html: &str) -> String {
    let text = restive_testkit::page_text::page_text(html);
    text.lines().filter(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}
