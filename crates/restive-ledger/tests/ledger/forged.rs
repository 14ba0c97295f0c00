//! Whoever changes the file by hand is found, and what was changed is named.

use crate::cells::{Cell, cells, forge};
use crate::chain::{act, apply, history};
use crate::made;
use crate::oracle::{self, word};
use proptest::prelude::*;
use restive_ledger::{Fault, Ledger};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::path::{Path, PathBuf};

/// A closed ledger in which everything happened, with the names of its plans.
fn forged_from() -> (tempfile::TempDir, PathBuf, [String; 3]) {
    let (folder, path) = made::place();
    let plans = history(&path);
    (folder, path, plans)
}

fn forge_sql(base: &Path, sql: &str) -> Vec<String> {
    let faults = forge(base, |hand| hand.execute_batch(sql).unwrap());
    faults.iter().map(ToString::to_string).collect()
}

/// Puts something else into a cell: that is found, and named.
fn is_watched(path: &Path, cell: &Cell, other: &Value) {
    let (at, mut given) = cell.at();
    given.insert(0, other.clone());
    let sql = format!("UPDATE {} SET \"{}\" = ? WHERE {at}", cell.table, cell.column);
    let faults = forge(path, |hand| {
        assert_eq!(hand.execute(&sql, params_from_iter(given.iter())).unwrap(), 1);
    });
    let told: Vec<_> = faults.iter().map(ToString::to_string).collect();
    assert!(!told.is_empty(), "{sql} {given:?}");
    let mut names = cell.names(path);
    // a person of a list who is called otherwise, or is of another plan, cannot be told by the old name
    let list = matches!(cell.table, "people" | "excluded" | "assigned");
    if list && cell.key.iter().any(|(key, _)| *key == cell.column) {
        names.truncate(1);
    }
    let named = told.iter().any(|one| names.iter().all(|name| one.contains(name)));
    assert!(named, "{sql} {given:?}\n{names:?}\n{told:#?}");
    if list && cell.column == "arm" {
        let new = format!("{:?}", word(other));
        assert!(told.iter().any(|one| one.contains(&new)), "{sql} {given:?}\n{told:#?}");
    }
    if let ("chain", Some((_, Value::Integer(number)))) = (cell.table, cell.key.first()) {
        let near = |fault: &Fault| fault.link.is_some_and(|link| link == *number || link == number + 1);
        assert!(faults.iter().any(near) || cell.column == "number", "{sql} {given:?}\n{told:#?}");
    }
    // where a column of a plan was changed, it is named and nothing else is told
    if cell.table == "plans" && cell.column != "number" {
        let ours: Vec<_> = told.iter().filter(|one| !one.starts_with("the file: ")).collect();
        assert!(matches!(ours[..], [one] if one.contains(&cell.column)), "{sql}\n{told:#?}");
    }
}

#[test]
fn every_column_of_every_row_is_watched() {
    let (_folder, path, _) = forged_from();
    let mut seen = 0;
    for cell in cells(&path) {
        for other in cell.another() {
            is_watched(&path, &cell, &other);
            seen += 1;
        }
    }
    assert!(seen > 400, "{seen}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_column_of_any_history_is_watched(
        acts in proptest::collection::vec(act(), 1..16),
        picks in proptest::collection::vec(any::<proptest::sample::Index>(), 8),
    ) {
        let (_folder, path) = made::place();
        let mut ledger = Ledger::open(&path).unwrap();
        for act in &acts {
            apply(&mut ledger, act);
        }
        drop(ledger);
        let cells = cells(&path);
        for pick in picks.iter().filter(|_| !cells.is_empty()) {
            let cell = pick.get(&cells);
            cell.another().iter().for_each(|other| is_watched(&path, cell, other));
        }
    }
}

#[test]
fn every_row_that_is_gone_is_missed() {
    let (_folder, path, _) = forged_from();
    let mut before = None;
    for cell in cells(&path) {
        let (at, given) = cell.at();
        if before.replace((cell.table, given.clone())) == Some((cell.table, given.clone())) {
            continue;
        }
        let sql = format!("DELETE FROM {} WHERE {at}", cell.table);
        let faults = forge(&path, |hand| {
            assert_eq!(hand.execute(&sql, params_from_iter(given.iter())).unwrap(), 1);
        });
        let told: Vec<_> = faults.iter().map(ToString::to_string).collect();
        let mut names = cell.names(&path);
        if matches!(cell.table, "people" | "excluded" | "assigned") {
            names.truncate(1);
        }
        let hit = told.iter().any(|one| names.iter().all(|name| one.contains(name)));
        assert!(hit, "{sql} {given:?}\n{names:?}\n{told:#?}");
        if let ("chain", Value::Integer(number @ 1..15)) = (cell.table, &given[0]) {
            let gap = format!("link {number} of the chain: found a gap");
            assert!(told.iter().any(|one| one.starts_with(&gap)), "{told:#?}");
        }
    }
}

#[test]
fn what_was_put_in_by_hand_is_told() {
    let (_folder, path, [first, second, third]) = forged_from();
    let cases = [
        (
            "INSERT INTO people (plan, arm, probability, value) VALUES (1, 'forged', 0.5, 0)",
            format!("plan {first}, people: \"forged\": found what no link tells of, expected what was recorded (link 4)"),
        ),
        (
            "INSERT INTO excluded VALUES (3, 'forged', 'why not')",
            format!("plan {third}, excluded: \"forged\": found what no link tells of, expected what was recorded (link 7)"),
        ),
        (
            "INSERT INTO overrides (plan, arm, kind, who, why, at) VALUES (2, 'b', 'removed', 'x', 'y', 'z')",
            format!("plan {second}, override 4 of \"b\": found what no link tells of, expected nothing"),
        ),
        (
            "INSERT INTO outcomes (plan, arm, code, source, received_at) VALUES (3, 'd', 'reached', 'x', 'y')",
            format!("plan {third}, outcome of \"d\": found what no link tells of, expected nothing"),
        ),
        (
            "INSERT INTO amended (plan, arm, code, source, received_at) VALUES (2, 'b', 'reached', 'x', 'y')",
            format!("plan {second}, amended outcome 3 of \"b\": found what no link tells of, expected nothing"),
        ),
        (
            "INSERT INTO trials SELECT 9, 'forged', 'ended', made_at, starts, weeks, protocol, protocol_digest, seed FROM trials LIMIT 1",
            "trial forged: found what no link tells of, expected nothing".into(),
        ),
        (
            "INSERT INTO assigned VALUES (2, 'forged', 'lot', NULL, NULL)",
            "trial main, assigned: \"forged\": found what no link tells of, expected what was recorded (link 3)".into(),
        ),
        (
            "CREATE TEMP TABLE t AS SELECT * FROM plans WHERE number = 3; UPDATE t SET number = 9, id = 'forged', period = 9; INSERT INTO plans SELECT * FROM t; DROP TABLE t",
            "plan forged: found what no link tells of, expected nothing".into(),
        ),
        (
            "INSERT INTO people (plan, arm, probability, value) VALUES (77, 'forged', 0.5, 0)",
            "plan number 77, 1 row of people: found what no link tells of, expected nothing".into(),
        ),
    ];
    for (sql, expected) in cases {
        assert_eq!(forge_sql(&path, sql), [expected], "{sql}");
    }
    // a link by hand cannot follow from the last
    let sql =
        "INSERT INTO chain SELECT 16, at, event, subject, content, digest, link FROM chain WHERE number = 15";
    let told = forge_sql(&path, sql);
    assert!(
        told[0].starts_with("link 16 of the chain (outcome amended 2026-01-05-2 c): found another link"),
        "{told:#?}"
    );
}

#[test]
fn a_withdrawal_is_watched() {
    let (_folder, path, [_, second, _]) = forged_from();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.withdraw(&second, "b", "Meera", "2026-01-13T08:00:00Z").unwrap();
    drop(ledger);
    // one who puts the word back, or has it never withdrawn, is found
    let back = "INSERT INTO outcomes SELECT plan, arm, code, day, source, received_at, note FROM amended WHERE number = 3";
    let told = format!("plan {second}, outcome of \"b\": found what no link tells of, expected nothing");
    assert_eq!(forge_sql(&path, back), [told]);
    let gone = format!(
        "plan {second}, amended outcome 3 of \"b\": found nothing, expected the row that its link tells of (link 16)"
    );
    assert_eq!(forge_sql(&path, "DELETE FROM amended WHERE number = 3"), [gone]);
    let told = forge_sql(&path, "DELETE FROM chain WHERE number = 16");
    assert_eq!(told.len(), 2, "{told:#?}");
    // one who removes a word by hand is found, though the file would let her
    let by_hand = "INSERT INTO amended (plan, arm, code, day, note, source, received_at) \
        SELECT plan, arm, code, day, note, source, received_at FROM outcomes WHERE arm = 'c'; DELETE FROM outcomes WHERE arm = 'c'";
    let told = forge_sql(&path, by_hand);
    assert!(
        told.iter().any(|one| one.starts_with(&format!("plan {second}, outcome of \"c\": found nothing"))),
        "{told:#?}"
    );
}

#[test]
fn rows_that_changed_places_are_told() {
    let (_folder, path, [first, second, _]) = forged_from();
    let swap = |table: &str, key: &str, a: &str, b: &str, column: &str| {
        let sql = format!(
            "CREATE TEMP TABLE t AS SELECT {key} AS k, \"{column}\" AS x FROM {table} WHERE {key} IN ({a}, {b});
             UPDATE {table} SET \"{column}\" = (SELECT x FROM t WHERE k = {b}) WHERE {key} = {a};
             UPDATE {table} SET \"{column}\" = (SELECT x FROM t WHERE k = {a}) WHERE {key} = {b}; DROP TABLE t"
        );
        forge_sql(&path, &sql)
    };
    let people = swap("people", "plan || arm", "'1a'", "'1b'", "rank");
    let expected = format!(
        "plan {first}, people: \"a\", \"b\": found something else, expected what was recorded (link 4)"
    );
    assert_eq!(people, [expected]);
    let overrides = swap("overrides", "number", "1", "2", "kind");
    let expected = [(1, "d", 8), (2, "a", 9)].map(|(number, arm, link)| {
        let kinds = if number == 1 { ["removed", "added"] } else { ["added", "removed"] };
        let [found, expected] = kinds.map(|kind| format!("kind {kind:?}"));
        format!(
            "plan {second}, override {number} of {arm:?}: found {found}, expected {expected} (link {link})"
        )
    });
    assert_eq!(overrides, expected);
    let outcomes = swap("outcomes", "plan || arm", "'2b'", "'2c'", "code");
    assert_eq!(outcomes.len(), 2, "{outcomes:#?}");
    let plans = "UPDATE plans SET status = 'replaced' WHERE number = 2; UPDATE plans SET status = 'current' WHERE number = 1";
    let expected = [(&first, "current", "replaced", 5), (&second, "replaced", "current", 6)].map(
        |(id, found, expected, link)| {
            format!("plan {id}: found the status {found:?}, expected {expected:?} (link {link})")
        },
    );
    assert_eq!(forge_sql(&path, plans), expected);
    let chain = swap("chain", "number", "4", "6", "content");
    assert!(chain.iter().any(|one| one.contains(&format!("plan {first}"))), "{chain:#?}");
}

#[test]
fn a_forger_who_mends_the_content_is_found_by_the_digest_and_the_link() {
    let (_folder, path, [_, second, _]) = forged_from();
    let rows = "UPDATE outcomes SET code = 'reached' WHERE plan = 2 AND arm = 'c'; ";
    let content =
        "UPDATE chain SET content = replace(content, '\"refused\"', '\"reached\"') WHERE number = 15; ";
    let told = forge_sql(&path, &format!("{rows}{content}"));
    assert!(
        matches!(&told[..], [one] if one.starts_with(&format!("outcome amended {second} c: found the content {{"))),
        "{told:#?}"
    );
    let hand = Connection::open(&path).unwrap();
    let text: String =
        hand.query_row("SELECT content FROM chain WHERE number = 15", [], |row| row.get(0)).unwrap();
    let digest = oracle::event_digest(&text.replace("\"refused\"", "\"reached\""));
    let told =
        forge_sql(&path, &format!("{rows}{content}UPDATE chain SET digest = '{digest}' WHERE number = 15"));
    let expected = format!(
        "link 15 of the chain (outcome amended {second} c): found another link, expected what follows from its digest and the link before it (link 15)"
    );
    assert_eq!(told, [expected]);
}

/// The limit of what a chain can do, and why its head is to be kept elsewhere.
#[test]
fn a_chain_that_was_computed_anew_is_found_by_its_head_alone() {
    let (_folder, path, _) = forged_from();
    let heads: Vec<_> =
        Ledger::read(&path).unwrap().chain().unwrap().into_iter().map(|link| link.link).collect();
    let hand = Connection::open(&path).unwrap();
    hand.execute_batch("DROP TRIGGER chain_stay; DROP TRIGGER overrides_stay").unwrap();
    hand.execute_batch("UPDATE overrides SET who = 'nobody' WHERE number = 1").unwrap();
    hand.execute_batch("UPDATE chain SET content = replace(content, 'Meera', 'nobody') WHERE number = 8")
        .unwrap();
    for (number, (digest, link)) in (1_i64..).zip(oracle::chain(&hand)) {
        hand.execute("UPDATE chain SET digest = ?2, link = ?3 WHERE number = ?1", (number, digest, link))
            .unwrap();
    }
    let schema = include_str!("../../src/schema/3.sql");
    for name in ["chain_stay", "overrides_stay"] {
        let from = schema.find(&format!("CREATE TRIGGER {name} ")).unwrap();
        let to = from + schema[from..].find("END;").unwrap() + 4;
        hand.execute_batch(&schema[from..to]).unwrap();
    }
    let reader = Ledger::read(&path).unwrap();
    assert_eq!(reader.verify().unwrap().faults, []);
    for (number, head) in (1..).zip(&heads) {
        let verified = reader.verify_with_head(head).unwrap();
        assert_eq!(verified.known, Some(number).filter(|number| *number < 8));
        assert_eq!(verified.faults.len(), usize::from(number >= 8));
    }
}

#[test]
fn what_defends_the_tables_is_missed() {
    let (_folder, path, _) = forged_from();
    let hand = Connection::open(&path).unwrap();
    hand.execute_batch("DROP TRIGGER people_stay; DROP VIEW overridden; CREATE VIEW overridden AS SELECT 1; CREATE TABLE mine (x)").unwrap();
    let told: Vec<_> =
        Ledger::read(&path).unwrap().verify().unwrap().faults.iter().map(ToString::to_string).collect();
    let expected = [
        "trigger people_stay: found none, expected that of every ledger",
        "view overridden: found another one, expected that of every ledger",
        "table mine: found it, expected none: it is no part of a ledger",
    ];
    assert_eq!(told, expected);
}
