//! A writer that is killed at any instant leaves a ledger that is whole, with everything in it that the writer was told is there.

use crate::child;
use crate::made;
use crate::versions;
use restive_ledger::{Ledger, Reader, Status};
use rusqlite::Connection;
use std::collections::HashSet;
use std::io::{BufRead, Read};
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn a_kill_at_any_instant_leaves_everything_whole() {
    let begun = Instant::now();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut folder, mut path) = made::place();
    let mut done = HashSet::new();
    let mut kills = 0;
    while kills < 60 && begun.elapsed() < Duration::from_secs(50) {
        match kills % 6 {
            // from nothing
            0 => ((folder, path), done) = (made::place(), HashSet::new()),
            // from an earlier version, with enough in it that bringing it up to date takes a while
            2 => {
                ((folder, path), done) = (made::place(), HashSet::from(["recorded 2026-03-09-2".into()]));
                versions::write_v1(&path, 20_000);
            }
            _ => {}
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let delay = (random >> 33) % [40_000, 250_000][usize::from(kills % 6 > 2)];
        let (mut process, mut said) = child::start("write", &path);
        std::thread::sleep(Duration::from_micros(delay));
        process.kill().unwrap();
        process.wait().unwrap();
        let mut text = Vec::new();
        said.read_to_end(&mut text).unwrap();
        // a line that was cut off is no line
        let whole = text.rsplitn(2, |byte| *byte == b'\n').nth(1).unwrap_or_default();
        done.extend(whole.lines().map_while(Result::ok));
        only_the_owner_reads(folder.path());
        let copy = folder.path().join("ledger.db.v1");
        if copy.exists() {
            file_is_sound(&copy, 1);
        }
        if kills % 2 == 0 && path.exists() {
            // a reader comes first: what it sees is whole as well, unless the ledger is not made or not up to date yet
            match Ledger::read(&path) {
                Ok(reader) => plans_are_whole(&reader, &done),
                Err(error) => assert!(done.iter().all(|line| line != "opened"), "{error}"),
            }
        }
        let ledger = Ledger::open(&path).unwrap();
        plans_are_whole(&ledger, &done);
        assert_eq!(ledger.verify().unwrap().faults, []);
        drop(ledger);
        file_is_sound(&path, 4);
        only_the_owner_reads(folder.path());
        kills += 1;
    }
    assert!(kills > 0);
}

/// Every plan has all its people, of those of a batch of outcomes all or nobody, and whatever was done is there.
fn plans_are_whole(ledger: &Reader, done: &HashSet<String>) {
    let mut found = HashSet::new();
    for plan in ledger.plans().unwrap() {
        let people = ledger.people(&plan.id).unwrap();
        assert_eq!(people.len(), plan.people, "{}", plan.id);
        found.insert(format!("recorded {}", plan.id));
        if plan.facts.made_at != made::plan(0).made_at {
            continue; // not of the child's making
        }
        let (facts, mut expected) = child::crowd(plan.facts.period);
        expected.sort_by(|a, b| a.arm.cmp(&b.arm));
        assert_eq!((plan.facts, people), (facts, expected));
        let outcomes = ledger.outcomes(&plan.id).unwrap();
        let sources: HashSet<_> = outcomes.iter().map(|outcome| outcome.source.as_str()).collect();
        let amended = ledger.amended(&plan.id).unwrap();
        let listed = ledger.listed(&plan.id).unwrap().len();
        if plan.status == Status::Replaced {
            assert!(outcomes.is_empty());
            continue;
        }
        match sources.into_iter().collect::<Vec<_>>()[..] {
            [] => assert!(outcomes.is_empty() && amended.is_empty()),
            ["first"] => assert_eq!((outcomes.len(), amended.len()), (listed, 0)),
            ["second"] => {
                assert_eq!((outcomes.len(), amended.len()), (listed, listed));
                found.insert(format!("received {} second", plan.id));
            }
            ref some => panic!("outcomes of {some:?}"),
        }
        if !outcomes.is_empty() {
            found.insert(format!("received {} first", plan.id));
        }
    }
    for line in done.iter().filter(|line| line.starts_with("re")) {
        assert!(found.contains(line), "{line}");
    }
}

/// What SQLite says of the file.
pub fn file_is_sound(path: &Path, version: i64) {
    let connection = Connection::open(path).unwrap();
    let answer: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(answer, "ok");
    let broken: i64 =
        connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
    assert_eq!(broken, 0);
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(found, version);
    let short: i64 = connection
        .query_row(
            "SELECT count(*) FROM plans WHERE people <> (SELECT count(*) FROM people WHERE plan = number)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(short, 0);
}

/// Whatever is in the folder.
fn only_the_owner_reads(folder: &Path) {
    #[cfg(unix)]
    for entry in folder.read_dir().unwrap() {
        use std::os::unix::fs::PermissionsExt;
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.path());
    }
}
