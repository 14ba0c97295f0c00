//! One writer at a time, and readers whenever they like.

use crate::child;
use crate::made;
use restive_ledger::{Error, Ledger, Lock};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The clock of a message: `14:03`, or with the day where a test runs over midnight.
fn is_clock(text: &str) -> bool {
    let time = text.rsplit(' ').next().unwrap();
    time.len() == 5 && jiff::civil::Time::strptime("%H:%M", time).is_ok()
}

/// What a second writer is told that does not wait.
fn refused(path: &Path) -> Error {
    Lock::take_within(path, Duration::ZERO).unwrap_err()
}

#[test]
fn second_writer_is_told_process_command_and_start_of_the_first() {
    let (folder, path) = made::place();
    let first = Ledger::open(&path).unwrap();
    let text = std::fs::read_to_string(folder.path().join("ledger.db.lock")).unwrap();
    assert!(text.starts_with(&format!("process {}\nsince ", std::process::id())), "{text}");
    let program = std::env::current_exe().unwrap();
    let program = program.file_name().unwrap().to_str().unwrap();
    let error = refused(&path).to_string();
    let beginning = format!("{}: process {} ({program}", path.display(), std::process::id());
    let rest = error.strip_prefix(&beginning).unwrap_or_else(|| panic!("{error}"));
    let clock = rest.rsplit_once(") since ").unwrap().1;
    let clock = clock
        .strip_suffix(" is writing to the programme; wait until it ends, or end it, and try again")
        .unwrap();
    assert!(is_clock(clock), "{error}");
    drop(first);
    assert_eq!(std::fs::read_to_string(folder.path().join("ledger.db.lock")).unwrap(), "");
    Ledger::open(&path).unwrap();
}

#[test]
fn second_writer_waits_for_the_first() {
    let (_folder, path) = made::place();
    let first = Ledger::open(&path).unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            tell.send(()).unwrap();
            let mut second = Ledger::open(&path).unwrap();
            second.record(&made::plan(1), &made::people(), &[], false).unwrap();
        });
        told.recv().unwrap();
        // whether or not the second one waits by now, it comes after the first
        let mut first = first;
        first.record(&made::plan(0), &made::people(), &[], false).unwrap();
        drop(first);
    });
    let plans = Ledger::read(&path).unwrap().plans().unwrap();
    assert_eq!(plans.iter().map(|plan| plan.facts.period).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn lock_whose_text_says_nothing_still_locks() {
    let (folder, path) = made::place();
    let _first = Ledger::open(&path).unwrap();
    let file = folder.path().join("ledger.db.lock");
    let unnamed = ["", "process 12", "process x\nsince 2026-01-01T00:00:00Z\ncommand x\n", "\u{0}\n\n"];
    for text in unnamed {
        std::fs::write(&file, text).unwrap();
        let expected =
            ": another process is writing to the programme; wait until it ends, or end it, and try again";
        assert_eq!(refused(&path).to_string(), format!("{}{expected}", path.display()));
    }
    // a process that holds it since another day, with a command that a terminal would obey
    std::fs::write(&file, "process 12\nsince 2020-06-15T12:00:00Z\ncommand restive \u{1b}[2Jplan\n").unwrap();
    let error = refused(&path).to_string();
    assert!(error.contains(": process 12 (restive  [2Jplan) since 2020-06-1"), "{error}");
}

#[test]
fn the_lock_goes_with_the_process_that_holds_it() {
    let (_folder, path) = made::place();
    let (mut process, mut said) = child::start("hold", &path);
    child::wait_for(&mut said, "held");
    match refused(&path) {
        Error::Held { holder: Some(holder), .. } => assert_eq!(holder.process, process.id()),
        error => panic!("{error}"),
    }
    // reading is possible all the time
    assert!(Ledger::read(&path).unwrap().plans().unwrap().is_empty());
    process.kill().unwrap();
    process.wait().unwrap();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
}

#[test]
fn a_link_leads_to_the_same_lock() {
    let (folder, path) = made::place();
    let _first = Ledger::open(&path).unwrap();
    let link = folder.path().join("link");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&path, &link).unwrap();
    #[cfg(unix)]
    assert!(matches!(refused(&link), Error::Held { .. }));
}

#[test]
fn a_reader_sees_one_moment() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
    let before = Ledger::read(&path).unwrap();
    let id = ledger.record(&made::plan(0), &made::people()[..2], &[], true).unwrap();
    let after = Ledger::read(&path).unwrap();
    let ids = |reader: &restive_ledger::Reader| {
        reader.plans().unwrap().into_iter().map(|plan| plan.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&before), ["2026-01-05"]);
    assert_eq!(before.latest().unwrap().unwrap().id, "2026-01-05");
    assert_eq!(ids(&after), ["2026-01-05", id.as_str()]);
    assert_eq!(after.latest().unwrap().unwrap().id, id);
}

#[test]
fn readers_and_the_writer_keep_out_of_each_others_way() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen = 0;
                    loop {
                        let last = done.load(Ordering::SeqCst);
                        let reader = Ledger::read(&path).unwrap();
                        let plans = reader.plans().unwrap();
                        assert!(plans.len() >= seen);
                        seen = plans.len();
                        for plan in plans {
                            assert_eq!(reader.people(&plan.id).unwrap().len(), plan.people);
                        }
                        if last {
                            return seen;
                        }
                    }
                })
            })
            .collect();
        for period in 0..20 {
            let (plan, people) = child::crowd(period);
            ledger.record(&plan, &people, &[], false).unwrap();
        }
        done.store(true, Ordering::SeqCst);
        for reader in readers {
            assert_eq!(reader.join().unwrap(), 20);
        }
    });
    // and the writer is a writer still
    ledger.record(&made::plan(30), &made::people(), &[], false).unwrap();
}

#[test]
fn a_program_that_is_none_of_ours_is_waited_for_and_told() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = ledger.record(&made::plan(1), &made::people(), &[], false).unwrap_err();
    let expected = "cannot record a plan: another program uses it (database is locked); close that program and try again";
    assert_eq!(error.to_string(), format!("{}: {expected}", path.display()));
    assert_eq!(Ledger::read(&path).unwrap().plans().unwrap().len(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    ledger.record(&made::plan(1), &made::people(), &[], false).unwrap();
}
