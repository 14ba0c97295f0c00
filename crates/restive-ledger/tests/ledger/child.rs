//! This very test program once more, as a process of its own: to be killed, to hold a lock, to be somebody else.

use crate::made;
use restive_ledger::{Code, How, Ledger, NewPlan, Planned};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// What a process is to do.
const TASK: &str = "LEDGER_TASK";
/// With which ledger.
const PATH: &str = "LEDGER_PATH";

/// A process with this task.
pub fn command(program: &Path, task: &str, path: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", "child::task", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(TASK, task).env(PATH, path).stdout(Stdio::piped());
    command
}

/// Starts it.
pub fn start(task: &str, path: &Path) -> (Child, BufReader<ChildStdout>) {
    let mut child = command(&std::env::current_exe().unwrap(), task, path).spawn().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap());
    (child, said)
}

/// Waits for a line with this beginning, and returns the rest of it.
pub fn wait_for(said: &mut BufReader<ChildStdout>, beginning: &str) -> String {
    for line in said.lines() {
        if let Some(rest) = line.unwrap().strip_prefix(beginning) {
            return rest.to_string();
        }
    }
    panic!("it ended without a word of {beginning:?}");
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").unwrap();
    out.flush().unwrap();
}

#[test]
#[ignore = "started by other tests"]
fn task() {
    let Ok(task) = std::env::var(TASK) else { return };
    let path = std::env::var_os(PATH).unwrap();
    let path = Path::new(&path);
    say(""); // the test runner leaves its own line open
    match task.as_str() {
        "hold" => {
            let _held = Ledger::open(path).unwrap();
            say("held");
            std::thread::sleep(std::time::Duration::from_secs(600));
        }
        "read" => match Ledger::read(path) {
            Ok(ledger) => {
                let ids: Vec<_> = ledger.plans().unwrap().into_iter().map(|plan| plan.id).collect();
                say(&format!("plans {}", ids.join(" ")));
            }
            Err(error) => say(&format!("error {error}")),
        },
        "open" => match Ledger::open(path) {
            Ok(_) => say("opened"),
            Err(error) => say(&format!("error {error}")),
        },
        "write" => write(path),
        task => panic!("{task}"),
    }
}

/// Everybody of a plan to be killed in: the summary of the plan says who.
pub fn crowd(period: i64) -> (NewPlan, Vec<Planned>) {
    let count = 500 + (period as usize * 337) % 1500;
    let people = (0..count).map(|i| {
        let how = if i % 10 == 0 { How::Rank } else { How::NotListed };
        Planned { state: Some(i as i64 + period), ..made::person(&format!("B{i}"), how) }
    });
    (NewPlan { summary: count.to_string(), ..made::plan(period) }, people.collect())
}

/// Writes for as long as it lives, and says what is done.
fn write(path: &Path) {
    let mut ledger = Ledger::open(path).unwrap();
    say("opened");
    let mut period = ledger.latest().unwrap().map_or(0, |plan| plan.facts.period + 1);
    loop {
        let (plan, people) = crowd(period);
        let first = ledger.record(&plan, &people, &[], false).unwrap();
        say(&format!("recorded {first}"));
        let plan = ledger.record(&plan, &people, &[], true).unwrap();
        say(&format!("recorded {plan}"));
        let listed = ledger.listed(&plan).unwrap();
        for (source, code) in [("first", Code::NoAnswer), ("second", Code::Reached)] {
            let outcomes: Vec<_> = listed
                .iter()
                .map(|one| restive_ledger::Outcome {
                    source: source.into(),
                    ..made::outcome(&plan, &one.arm, code)
                })
                .collect();
            ledger.receive(&outcomes).unwrap();
            say(&format!("received {plan} {source}"));
        }
        period += 1;
    }
}
