//! Earlier versions are brought up to date with a copy beside them, later ones are refused.

use crate::kill::file_is_sound;
use crate::made;
use restive_ledger::{Code, Error, How, Kind, Ledger, Status};
use rusqlite::Connection;
use std::path::Path;

/// Writes a ledger of version 1, with this many more people in its last plan.
pub fn write_v1(path: &Path, more: usize) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).unwrap();
    let mut connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    let transaction = connection.transaction().unwrap();
    transaction.execute_batch(include_str!("stored/v1.sql")).unwrap();
    let sql = "WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ?1) \
         INSERT INTO people (plan, arm, probability, value) SELECT 2, 'C' || n, 0.5, 0 FROM i WHERE ?1 > 0";
    transaction.execute(sql, [more as i64]).unwrap();
    transaction.execute("UPDATE plans SET people = people + ?1 WHERE number = 2", [more as i64]).unwrap();
    transaction.commit().unwrap();
}

fn schema(path: &Path) -> Vec<(String, String)> {
    let connection = Connection::open(path).unwrap();
    let mut tables =
        connection.prepare("SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name").unwrap();
    tables.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
}

#[test]
fn an_earlier_ledger_is_brought_up_to_date() {
    let (_folder, path) = made::place();
    write_v1(&path, 0);
    let mut ledger = Ledger::open(&path).unwrap();
    // all that was there is there
    let plans = ledger.plans().unwrap();
    assert_eq!(plans.iter().map(|plan| plan.id.as_str()).collect::<Vec<_>>(), ["2026-03-09", "2026-03-09-2"]);
    assert_eq!([plans[0].status, plans[1].status], [Status::Replaced, Status::Current]);
    assert_eq!(plans[0].facts.seed, u64::MAX);
    assert_eq!(plans[1].facts.inclusion, "simulated, 1000 repetitions");
    let people = ledger.people("2026-03-09-2").unwrap();
    assert_eq!(made::arms(&people), ["B1", "B2", "B3"]);
    assert_eq!((people[1].how, people[1].probability, people[1].state), (How::Draw, 0.5, None));
    assert_eq!(people[1].group.as_deref(), Some("Asha"));
    assert_eq!(made::arms(&ledger.listed("2026-03-09-2").unwrap()), ["B1"]);
    assert_eq!(ledger.overrides("2026-03-09-2").unwrap()[0].why, "in hospital");
    let outcomes = ledger.outcomes("2026-03-09-2").unwrap();
    assert_eq!((outcomes[0].code, &outcomes[0].note), (Code::Reached, &None));
    assert_eq!(ledger.amended("2026-03-09-2").unwrap()[0].code, Code::NoAnswer);
    // and what is new can be written
    let note = Some("asked for her sister".to_string());
    let told =
        restive_ledger::Outcome { note: note.clone(), ..made::outcome("2026-03-09-2", "B3", Code::Later) };
    let received = ledger.receive(&[told]).unwrap();
    assert_eq!((received.new, received.outside_list), (1, vec![0]));
    assert_eq!(ledger.outcomes("2026-03-09-2").unwrap()[1].note, note);
    ledger.override_list(&made::change("2026-03-09-2", "B2", Kind::Added)).unwrap();
    drop(ledger);
    file_is_sound(&path, 4);

    let (_folder, new) = made::place();
    Ledger::open(&new).unwrap();
    assert_eq!(schema(&path), schema(&new));
}

/// Makes a ledger of version 3 of one in which nothing was withdrawn: the rows are the same.
fn write_v3(new: &Path, path: &Path) {
    let hand = Connection::open(path).unwrap();
    for step in [
        include_str!("../../src/schema/1.sql"),
        include_str!("../../src/schema/2.sql"),
        include_str!("../../src/schema/3.sql"),
    ] {
        hand.execute_batch(step).unwrap();
    }
    hand.execute("ATTACH ?1 AS new", [new.to_str().unwrap()]).unwrap();
    let tables =
        ["trials", "plans", "people", "excluded", "overrides", "outcomes", "amended", "assigned", "chain"];
    for table in tables {
        let columns: Vec<String> =
            crate::oracle::rows(&hand, &format!("SELECT name FROM pragma_table_info('{table}')"))
                .iter()
                .map(|row| format!("\"{}\"", crate::oracle::word(&row[0])))
                .collect();
        let columns = columns.join(", ");
        let sql = format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}");
        hand.execute_batch(&sql).unwrap();
    }
    hand.pragma_update(None, "user_version", 3).unwrap();
}

#[test]
fn a_ledger_with_a_chain_keeps_its_chain_and_can_withdraw() {
    let (folder, path) = made::place();
    let (_other, new) = made::place();
    let [_, second, _] = crate::chain::history(&new);
    write_v3(&new, &path);
    let mut ledger = Ledger::open(&path).unwrap();
    file_is_sound(&folder.path().join("ledger.db.v3"), 3);
    assert_eq!(ledger.chain().unwrap(), Ledger::read(&new).unwrap().chain().unwrap());
    assert_eq!(ledger.amended(&second).unwrap(), Ledger::read(&new).unwrap().amended(&second).unwrap());
    // c was not reached, reached, and refused
    for expected in [Some(Code::Reached), Some(Code::NoAnswer), None] {
        let holds = ledger.withdraw(&second, "c", "Meera", "2026-01-13T08:00:00Z").unwrap();
        assert_eq!(holds.map(|one| one.code), expected);
    }
    assert_eq!(ledger.verify().unwrap().faults, []);
    drop(ledger);
    assert_eq!(schema(&path), schema(&new));
    file_is_sound(&path, 4);
}

#[test]
fn what_an_outcome_was_before_it_was_sealed_can_hold_again() {
    let (_folder, path) = made::place();
    write_v1(&path, 0);
    let mut ledger = Ledger::open(&path).unwrap();
    for expected in [Some(Code::NoAnswer), None] {
        let holds = ledger.withdraw("2026-03-09-2", "B1", "Meera", "2026-03-13T08:00:00Z").unwrap();
        assert_eq!(holds.map(|one| one.code), expected);
    }
    assert_eq!(ledger.verify().unwrap().faults, []);
}

#[test]
fn a_copy_of_the_earlier_ledger_is_kept_and_never_overwritten() {
    let (folder, path) = made::place();
    write_v1(&path, 0);
    let before = schema(&path);
    Ledger::open(&path).unwrap();
    let copy = folder.path().join("ledger.db.v1");
    assert_eq!(schema(&copy), before);
    file_is_sound(&copy, 1);
    let ids: i64 = Connection::open(&copy)
        .unwrap()
        .query_row("SELECT count(*) FROM people", [], |row| row.get(0))
        .unwrap();
    assert_eq!(ids, 5);

    // somebody puts the copy back, with something else of the same names beside it, and a draft that was cut off
    std::fs::rename(&copy, &path).unwrap();
    std::fs::write(&copy, "mine").unwrap();
    std::fs::write(folder.path().join("ledger.db.v1-2"), "mine too").unwrap();
    std::fs::write(folder.path().join("ledger.db.copy"), "half a co").unwrap();
    Ledger::open(&path).unwrap();
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(folder.path().join("ledger.db.v1-2")).unwrap(), "mine too");
    file_is_sound(&folder.path().join("ledger.db.v1-3"), 1);
    assert!(!folder.path().join("ledger.db.copy").exists());

    // what is up to date needs no copy
    Ledger::open(&path).unwrap();
    assert!(!folder.path().join("ledger.db.v4").exists());
    assert!(!folder.path().join("ledger.db.v1-4").exists());
}

#[test]
fn a_ledger_that_cannot_be_copied_stays_as_it_is() {
    let (folder, path) = made::place();
    write_v1(&path, 0);
    std::fs::create_dir(folder.path().join("ledger.db.copy")).unwrap();
    let error = Ledger::open(&path).unwrap_err();
    assert!(error.to_string().contains("cannot keep a copy of the earlier version beside it"), "{error}");
    file_is_sound(&path, 1);
}

#[test]
fn a_step_that_fails_in_the_middle_is_no_step() {
    let (folder, path) = made::place();
    write_v1(&path, 0);
    // somebody's index has the name of one that version 2 makes last
    let hand = Connection::open(&path).unwrap();
    hand.execute_batch("CREATE INDEX outcomes_of ON outcomes (code)").unwrap();
    let before = schema(&path);
    let error = Ledger::open(&path).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: cannot bring it up to date: ", path.display())), "{error}");
    assert_eq!(schema(&path), before);
    file_is_sound(&path, 1);
    // without it, all is well, and the copy of the failure is a copy as well
    hand.execute_batch("DROP INDEX outcomes_of").unwrap();
    Ledger::open(&path).unwrap();
    file_is_sound(&path, 4);
    file_is_sound(&folder.path().join("ledger.db.v1"), 1);
    file_is_sound(&folder.path().join("ledger.db.v1-2"), 1);
}

#[test]
fn readers_do_not_bring_anything_up_to_date() {
    let (_folder, path) = made::place();
    write_v1(&path, 0);
    let error = Ledger::read(&path).unwrap_err();
    assert!(matches!(error, Error::Older { found: 1, expected: 4, .. }), "{error}");
    let expected =
        ": found version 1, expected 4: opening it for writing brings it up to date and keeps a copy";
    assert_eq!(error.to_string(), format!("{}{expected}", path.display()));
    file_is_sound(&path, 1);
}

#[test]
fn a_later_version_is_refused_and_left_alone() {
    let (folder, path) = made::place();
    Ledger::open(&path).unwrap();
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 7).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let expected = ": found version 7, expected at most 4: it was written by a newer restive";
    for error in [Ledger::open(&path).unwrap_err(), Ledger::read(&path).unwrap_err()] {
        assert_eq!(error.to_string(), format!("{}{expected}", path.display()));
    }
    assert!(std::fs::read(&path).unwrap() == bytes);
    assert!(!folder.path().join("ledger.db.v7").exists());
}
