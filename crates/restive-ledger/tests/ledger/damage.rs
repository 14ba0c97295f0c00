//! A file that was damaged gives an answer or an error, never a panic.

use crate::chain::history;
use crate::made;
use restive_ledger::{Code, Kind, Ledger, Reader};
use rusqlite::Connection;
use rusqlite::types::Value;
use std::path::Path;

fn use_all_of(ledger: &Reader) {
    let _ = (ledger.latest(), ledger.calls(), ledger.standings());
    let _ = (ledger.chain(), ledger.head(), ledger.verify(), ledger.trials(), ledger.running_trial());
    for plan in ledger.plans().unwrap_or_default() {
        let _ = (
            ledger.excluded(&plan.id),
            ledger.people(&plan.id),
            ledger.listed(&plan.id),
            ledger.missing(&plan.id),
        );
        let _ = (
            ledger.overrides(&plan.id),
            ledger.outcomes(&plan.id),
            ledger.amended(&plan.id),
            ledger.decided(&plan.id),
        );
    }
}

#[test]
fn damage_is_told_and_survived() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
    ledger.override_list(&made::change(&id, "d", Kind::Added)).unwrap();
    ledger.receive(&[made::outcome(&id, "a", Code::Reached), made::outcome(&id, "a", Code::Later)]).unwrap();
    drop(ledger);
    let whole = std::fs::read(&path).unwrap();
    let mut random = 1_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    let mut errors = 0;
    for case in 0..300 {
        let mut bytes = whole.clone();
        match case % 3 {
            0 => bytes.truncate(next(whole.len())),
            1 => (0..8).for_each(|_| bytes[next(whole.len())] = next(256) as u8),
            // pages other than the first: the header stays what it is
            _ => (0..40).for_each(|_| bytes[4096 + next(whole.len() - 4096)] ^= 1 << next(8)),
        }
        let (_folder, path) = made::place();
        std::fs::write(&path, &bytes).unwrap();
        match Ledger::read(&path) {
            Ok(reader) => use_all_of(&reader),
            Err(_) => errors += 1,
        }
        if let Ok(mut ledger) = Ledger::open(&path) {
            use_all_of(&ledger);
            let _ = ledger.record(&made::plan(1), &made::people(), &[], false);
            let _ = ledger.record(&made::plan(0), &made::people(), &[], true);
            let _ = ledger.receive(&[made::outcome(&id, "b", Code::Reached)]);
            let _ = ledger.override_list(&made::change(&id, "a", Kind::Removed));
        }
    }
    assert!(errors > 0);
}

#[test]
fn a_word_that_nobody_wrote_is_told() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
    ledger.receive(&[made::outcome(&id, "a", Code::Reached)]).unwrap();
    let hand = rusqlite::Connection::open(&path).unwrap();
    hand.pragma_update(None, "ignore_check_constraints", true).unwrap();
    hand.execute("UPDATE outcomes SET code = 'spoken'", []).unwrap();
    let error = ledger.outcomes(&id).unwrap_err().to_string();
    assert!(error.contains("found \"spoken\", expected one of reached, no_answer"), "{error}");
}

/// All that a reader could read of a file, or nothing where SQLite refuses.
fn dump(path: &Path) -> Option<Vec<Vec<Value>>> {
    let connection = Connection::open(path).ok()?;
    let all = |sql: &str| -> rusqlite::Result<Vec<Vec<Value>>> {
        let mut statement = connection.prepare(sql)?;
        let columns = statement.column_count();
        statement.query_map([], |row| (0..columns).map(|column| row.get(column)).collect())?.collect()
    };
    let mut found = all("SELECT type, name, sql FROM sqlite_schema ORDER BY name").ok()?;
    for table in
        ["plans", "people", "excluded", "overrides", "outcomes", "amended", "trials", "assigned", "chain"]
    {
        found.extend(all(&format!("SELECT * FROM {table}")).ok()?);
    }
    found.extend(all("SELECT plan, arm FROM listed ORDER BY plan, arm").ok()?);
    Some(found)
}

#[test]
fn every_flip_that_can_be_read_is_found() {
    let (folder, path) = made::place();
    history(&path);
    let before = dump(&path).unwrap();
    assert!(!folder.path().join("ledger.db-wal").exists());
    let whole = std::fs::read(&path).unwrap();
    let mut random = 2_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    // pages are mostly empty: flip where something stands
    let said: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0).collect();
    let (mut seen, mut unseen) = (0, 0);
    for case in 0..1500 {
        let mut bytes = whole.clone();
        let at = if case % 4 == 0 { next(whole.len()) } else { said[next(said.len())] };
        bytes[at] ^= 1 << next(8);
        let (_folder, path) = made::place();
        std::fs::write(&path, &bytes).unwrap();
        let found = Ledger::read(&path).and_then(|reader| reader.verify());
        let now = dump(&path);
        if now.as_ref() != Some(&before) {
            seen += 1;
            let differs = now.map(|now| now.into_iter().zip(&before).find(|(now, before)| now != *before));
            let is_found = found.as_ref().map_or(true, |found| !found.faults.is_empty());
            assert!(is_found, "byte {at}: {differs:?}");
        } else {
            unseen += 1;
        }
    }
    assert!(seen > 500 && unseen > 0, "{seen} {unseen}");
}
