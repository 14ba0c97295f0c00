//! A world that does not cooperate: the disk is full, the folder cannot be written to, descriptors are closed.
//!
//! Whatever happens, a command that cannot write says so, leaves nothing half-written and touches nothing else; and one that can
//! write, but has nobody to tell, writes the same bytes.

use super::Tally;
use super::folder::{Prepared, RESTIVE, contents};
use super::kills::{note_panic, wait};
use std::process::{Command, Stdio};

/// Commands that write `out`, with what it is called.
const COMMANDS: [(&str, &str); 6] = [
    ("out", "generate two-state --instances 3 --arms 300 --trajectories 4 --format csv --out out"),
    ("out", "generate two-state --instances 3 --arms 300 --trajectories 4 --format parquet --out out"),
    ("out", "train study --epochs 3 --out out"),
    ("out.csv", "plan model study --out out.csv"),
    ("out.parquet", "evaluate model study --estimators published --part all --runs 50 --out out.parquet"),
    ("out.npy", "index arms.csv --out out.npy"),
];

/// What the shell does to the program before it starts, and whether it can still write its output.
const WORLDS: [(&str, &str, bool); 6] = [
    ("no standard error", "exec \"$@\" 2>&-", true),
    ("no standard output", "exec \"$@\" >&-", true),
    ("no descriptors at all", "exec \"$@\" <&- >&- 2>&-", true),
    ("standard output on a full disk", "exec \"$@\" >/dev/full 2>/dev/full", true),
    // files can hold half a kilobyte, then writing fails as on a full disk
    ("a full disk", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", false),
    ("no more files can be opened", "ulimit -n 4; exec \"$@\"", false),
];

pub(crate) fn run(prepared: &Prepared, tally: &mut Tally) {
    for (output, arguments) in COMMANDS {
        let undisturbed = outcome(prepared, "exec \"$@\"", arguments, "", tally);
        for (world, script, can_write) in WORLDS {
            let context = format!("{arguments} with {world}");
            let found = outcome(prepared, script, arguments, &context, tally);
            let is_whole = found == undisturbed;
            let is_absent =
                found.as_ref().is_some_and(|found| !found.keys().any(|path| path.starts_with(output)));
            if !(is_whole || is_absent && !can_write) {
                tally.differing.push(format!("{context}: the output differs"));
            }
        }
    }
    // a folder in which nobody can make anything
    for (output, arguments) in COMMANDS {
        let arguments = arguments.replace(output, &format!("/proc/{output}"));
        let context = format!("{arguments}: a folder that cannot be written to");
        outcome(prepared, "\"$@\" && exit 101; exit 0", &arguments, &context, tally);
    }
}

/// Runs a command in a world of its own: what it wrote. What else has changed is counted.
fn outcome(
    prepared: &Prepared,
    script: &str,
    arguments: &str,
    context: &str,
    tally: &mut Tally,
) -> Option<super::folder::Contents> {
    let folder = prepared.copied();
    let before = contents(folder.path());
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", RESTIVE]).args(arguments.split_whitespace()).current_dir(folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    tally.runs += 1;
    let mut child = command.spawn().expect("a shell");
    let Some(status) = wait(&mut child) else {
        tally.hangs.push(context.into());
        return None;
    };
    note_panic(status, context, tally);
    let after = contents(folder.path());
    let touched = before.iter().filter(|(path, bytes)| after.get(*path) != Some(bytes));
    tally.foreign.extend(touched.map(|(path, _)| format!("{context}: {}", path.display())));
    let drafts = after.keys().filter(|path| path.to_string_lossy().contains(".restive-"));
    tally.drafts.extend(drafts.map(|path| format!("{context}: {}", path.display())));
    Some(after.into_iter().filter(|(path, _)| !before.contains_key(path)).collect())
}
