//! Told to end, the program ends, whoever still listens, and leaves nothing behind; killed, it leaves what the next run removes.
#![cfg(unix)]

use crate::arms::*;
use crate::harness::*;
use crate::running::*;
use std::io::{self, Write};
use std::process::Stdio;
use std::time::Duration;

const SIGNALS: [(&str, i32); 3] = [("HUP", 129), ("INT", 130), ("TERM", 143)];

#[test]
fn an_interrupted_run_ends_at_once_and_leaves_nothing() {
    let folder = cli();
    let command = long_run(&folder);
    let before = folder.listing();
    for (signal, code) in SIGNALS {
        let mut child = start(&folder, command);
        wait_until("the run has begun", || !drafts(&folder).is_empty());
        tell(&child, signal);
        assert_eq!(wait(&mut child), Some(code), "{signal}");
        assert_eq!(folder.listing(), before, "{signal}");
        let said = io::read_to_string(child.stderr.take().unwrap()).unwrap();
        assert_eq!(said, "restive: interrupted, nothing was written\n", "{signal}");
    }
}

#[test]
fn told_to_end_it_ends_where_nobody_reads_standard_error_any_more() {
    let folder = cli();
    let long = long_run(&folder);
    let before = folder.listing();
    for (signal, code) in SIGNALS {
        let (reader, writer) = io::pipe().unwrap();
        let mut child = Running::new(command(&folder, long).stderr(writer));
        drop(reader);
        wait_until("the run has begun", || !drafts(&folder).is_empty());
        tell(&child, signal);
        assert_eq!(wait(&mut child), Some(code), "{signal}");
        assert_eq!(folder.listing(), before, "{signal}");
    }
}

#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    let folder = cli();
    let long = long_run(&folder);
    let before = folder.listing();
    let mut shell = in_shell(&folder, "trap '' HUP INT; exec \"$0\" \"$@\"", long);
    let mut child = Running::new(shell.stderr(Stdio::null()));
    wait_until("the run has begun", || !drafts(&folder).is_empty());
    // of those that count, the first one gives the exit code
    ["HUP", "INT", "TERM"].iter().for_each(|signal| tell(&child, signal));
    assert_eq!(wait(&mut child), Some(143));
    assert_eq!(folder.listing(), before);
}

/// The line that says what is kept goes to a pipe that is full, so the first signal cannot be done with.
#[cfg(target_os = "linux")]
#[test]
fn a_second_signal_ends_it_at_once() {
    let folder = cli();
    let long = long_run(&folder);
    let before = folder.listing();
    let (reader, mut writer) = io::pipe().unwrap();
    writer.write_all(&[b' '; 1 << 16]).unwrap(); // as much as a pipe holds
    let mut child = Running::new(command(&folder, long).stderr(writer));
    wait_until("the run has begun", || !drafts(&folder).is_empty());
    tell(&child, "TERM");
    wait_until("the drafts are removed", || folder.listing() == before);
    std::thread::sleep(Duration::from_millis(300)); // two at once would be one
    tell(&child, "INT");
    assert_eq!(wait(&mut child), Some(130));
    drop(reader);
}

#[test]
fn a_note_that_nobody_reads_does_not_stop_the_work() {
    let folder = cli();
    folder.write("arms.csv", "p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1,age\n0.2,0.8,0.5,0.5,31\n");
    let note = "restive: note: arms.csv: columns not used: age\n";
    assert_eq!(stderr(&folder.run("index arms.csv")), note);
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut child = Running::new(command(&folder, "index arms.csv --out w.csv").stderr(writer));
    assert_eq!(wait(&mut child), Some(0));
    assert_eq!(folder.listing(), ["arms.csv", "w.csv"]);
    // nor does a refusal become another failure
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut child = Running::new(command(&folder, "index none.csv").stderr(writer));
    assert_eq!(wait(&mut child), Some(1));
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_one_in_that_folder() {
    let folder = cli();
    let long = long_run(&folder);
    folder.write("one.csv", csv(&COMPACT, &[0.2, 0.8, 0.5, 0.5]));
    let mut killed = start(&folder, long);
    wait_until("the run has begun", || !drafts(&folder).is_empty());
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = drafts(&folder);
    assert_eq!(left.len(), 1);

    // one that is still at work keeps its own, and so does what only looks like a draft
    let long = long.replace("w.csv", "v.csv");
    folder.write(".restive-notes.tmp", "mine");
    let mut at_work = start(&folder, &long);
    wait_until("the run has begun", || drafts(&folder).len() == 2 && !drafts(&folder).contains(&left[0]));
    let kept = drafts(&folder);
    folder.run("index one.csv --out w.csv").success();
    assert_eq!(drafts(&folder), kept);
    tell(&at_work, "TERM");
    assert_eq!(wait(&mut at_work), Some(143));
    assert_eq!(folder.listing(), [".restive-notes.tmp", "arms.csv", "one.csv", "w.csv"]);
}
