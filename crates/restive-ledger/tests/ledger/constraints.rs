//! What must not be recorded is not: neither by this package, nor by somebody who opens the file by hand.

use crate::made;
use restive_ledger::{Code, Error, How, Kind, Ledger, NewPlan, Planned};
use rusqlite::{Connection, ErrorCode};

/// What spoils a record, and what is said of it then.
type Broken<T> = (fn(&mut T), &'static str);

#[test]
fn a_period_has_one_plan_unless_it_is_replaced() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
    let error = ledger.record(&made::plan(0), &made::people(), &[], false).unwrap_err();
    let expected =
        "found plan 2026-01-05 for the period from 2026-01-05, expected none, or leave to replace it";
    assert_eq!(error.to_string(), format!("{}: {expected}", path.display()));
    assert_eq!(ledger.plans().unwrap().len(), 1);

    ledger.receive(&[made::outcome(&id, "a", Code::Reached)]).unwrap();
    let error = ledger.record(&made::plan(0), &made::people(), &[], true).unwrap_err();
    let expected =
        "found 1 outcome of plan 2026-01-05, expected none: calls were made by it, and it cannot be replaced";
    assert_eq!(error.to_string(), format!("{}: {expected}", path.display()));
    assert_eq!(ledger.plans().unwrap().len(), 1);
    assert_eq!(ledger.latest().unwrap().unwrap().id, id);
}

#[test]
fn what_is_no_plan_is_refused() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let broken: [Broken<NewPlan>; 9] = [
        (
            |plan| plan.made_at = "yesterday".into(),
            "made_at: found \"yesterday\", expected a moment in UTC such as 2026-03-16T08:00:00Z",
        ),
        (
            |plan| plan.made_at = "2026-03-16T08:00:00+05:30".into(),
            "made_at: found \"2026-03-16T08:00:00+05:30\", expected a moment in UTC such as 2026-03-16T08:00:00Z",
        ),
        (
            |plan| plan.period_start = "2026-02-30".into(),
            "period_start: found \"2026-02-30\", expected a day such as 2026-03-16",
        ),
        (
            |plan| plan.period_start = "20260105".into(),
            "period_start: found \"20260105\", expected a day such as 2026-03-16",
        ),
        (
            |plan| plan.period_end = "2026-01-11T00:00".into(),
            "period_end: found \"2026-01-11T00:00\", expected a day such as 2026-03-16",
        ),
        (|plan| plan.period_end = String::new(), "period_end: found \"\", expected a day such as 2026-03-16"),
        (
            |plan| plan.period_end = "2026-01-04".into(),
            "period: found 2026-01-05 after 2026-01-04, expected a first day and a last one",
        ),
        (|plan| plan.value = f64::NAN, "value: found NaN, expected a finite number"),
        (|plan| plan.value = f64::INFINITY, "value: found inf, expected a finite number"),
    ];
    for (spoil, expected) in broken {
        let mut plan = made::plan(0);
        spoil(&mut plan);
        let error = ledger.record(&plan, &made::people(), &[], false).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: {expected}", path.display()));
    }
    assert!(ledger.plans().unwrap().is_empty());
    // a period of a day is one
    let day = NewPlan { period_end: "2026-01-05".into(), ..made::plan(0) };
    ledger.record(&day, &[], &[], false).unwrap();
}

#[test]
fn what_is_no_person_is_refused_with_the_whole_plan() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let broken: [Broken<Planned>; 11] = [
        (|one| one.arm = String::new(), "person \"\": found no id, expected the id of a person"),
        (|one| one.arm = "a".into(), "person \"a\": found this person twice, expected everybody once"),
        (|one| one.probability = 1.000_001, "person \"x\": found 1.000001, expected a number from 0 to 1"),
        (|one| one.probability = -0.25, "person \"x\": found -0.25, expected a number from 0 to 1"),
        (|one| one.probability = f64::NAN, "person \"x\": found NaN, expected a number from 0 to 1"),
        (|one| one.value = f64::NAN, "person \"x\": found NaN, expected a finite number"),
        (|one| one.value = f64::NEG_INFINITY, "person \"x\": found -inf, expected a finite number"),
        (|one| one.score = f64::NAN, "person \"x\": found NaN, expected a finite number"),
        (
            |one| one.trial = Some("b".into()),
            "person \"x\": found a group of a trial, expected none, as the plan is of no trial",
        ),
        (|one| one.rank = Some(0), "person \"x\": found rank 0, expected a rank from 1"),
        (
            |one| one.row = Some("{}".into()),
            "person \"x\": found a row of the list, expected none, as the person is not listed",
        ),
    ];
    for (spoil, expected) in broken {
        let mut people = made::people();
        people.push(made::person("x", How::NotListed));
        spoil(&mut people[5]);
        let error = ledger.record(&made::plan(0), &people, &[], false).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: {expected}", path.display()));
        assert!(matches!(error, Error::Content { .. }));
    }
    assert!(ledger.plans().unwrap().is_empty());
}

#[test]
fn a_plan_that_fails_in_the_middle_is_not_there() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let first = ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
    // somebody's hand makes the fourth person impossible
    let hand = Connection::open(&path).unwrap();
    let trigger =
        "CREATE TRIGGER no BEFORE INSERT ON people WHEN new.arm = 'd' BEGIN SELECT raise(ABORT, 'no d'); END";
    hand.execute_batch(trigger).unwrap();
    let error = ledger.record(&made::plan(0), &made::people(), &[], true).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: cannot record a plan: no d", path.display()));
    let plans = ledger.plans().unwrap();
    assert_eq!(plans.len(), 1);
    assert_eq!((plans[0].id.as_str(), plans[0].status.word()), (first.as_str(), "current"));
    let count = |sql: &str| hand.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM people"), 5);
    // and the ledger goes on
    hand.execute_batch("DROP TRIGGER no").unwrap();
    assert_eq!(ledger.record(&made::plan(0), &made::people(), &[], true).unwrap(), "2026-01-05-2");
}

#[test]
fn the_file_defends_itself() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.record(&made::plan(0), &made::people(), &made::excluded(), false).unwrap();
    ledger.record(&made::plan(1), &made::people(), &[], false).unwrap();
    ledger.receive(&[made::outcome(&id, "a", Code::Reached), made::outcome(&id, "a", Code::Moved)]).unwrap();
    ledger.override_list(&made::change(&id, "a", Kind::Removed)).unwrap();
    ledger.begin_trial(&made::trial("t"), &made::assigned()).unwrap();
    drop(ledger);
    let hand = Connection::open(&path).unwrap();
    hand.pragma_update(None, "foreign_keys", true).unwrap();
    // a plan stays as it is, but for a current one that is replaced
    let stays = [
        "UPDATE plans SET budget = 0",
        "UPDATE plans SET number = number + 7",
        "UPDATE plans SET rowid = rowid + 7",
        "UPDATE plans SET trial = 'x'",
        "UPDATE plans SET status = 'replaced', cuts = 'x'",
        "UPDATE plans SET status = 'current'",
        "UPDATE excluded SET why = 'x'",
        "DELETE FROM excluded",
        "UPDATE overrides SET why = 'x'",
        "DELETE FROM overrides",
        "UPDATE amended SET code = 'x'",
        "DELETE FROM amended",
        "UPDATE trials SET weeks = 2",
        "UPDATE trials SET status = 'ended', weeks = 2",
        "DELETE FROM trials",
        "UPDATE assigned SET \"group\" = 'x'",
        "DELETE FROM assigned",
        "UPDATE chain SET at = 'x'",
        "DELETE FROM chain",
    ];
    for sql in stays {
        let error = hand.execute(sql, []).unwrap_err();
        assert!(error.to_string().contains("never"), "{sql}: {error}");
    }
    hand.execute("UPDATE plans SET status = 'replaced' WHERE number = 2", []).unwrap();
    assert!(hand.execute("UPDATE plans SET status = 'current' WHERE number = 2", []).is_err());
    hand.execute("UPDATE trials SET status = 'ended'", []).unwrap();
    assert!(hand.execute("UPDATE trials SET status = 'running'", []).is_err());
    // without that, its columns still hold what they may
    hand.execute_batch("DROP TRIGGER plans_stay; UPDATE plans SET status = 'current'").unwrap();
    let refused = [
        // of each period one current plan, of each name one
        "UPDATE plans SET period = 0",
        "UPDATE plans SET id = '2026-01-05'",
        "UPDATE plans SET id = ''",
        "UPDATE plans SET status = 'old'",
        "UPDATE plans SET period_end = '2025-12-31'",
        "UPDATE plans SET seed = '-1'",
        "UPDATE plans SET seed = ''",
        "UPDATE plans SET seed = '1.5'",
        "UPDATE plans SET budget = -1",
        "UPDATE plans SET budget = 'many'",
        "UPDATE plans SET places = -1",
        "UPDATE plans SET explore_places = -1",
        "UPDATE plans SET steps = -1",
        "UPDATE plans SET people = -1",
        "UPDATE plans SET value = NULL",
        "UPDATE plans SET value = 'much'",
        "UPDATE plans SET rules = NULL",
        "DELETE FROM plans",
        // people stay as they are
        "UPDATE people SET probability = 1",
        "DELETE FROM people",
        "INSERT INTO people (plan, arm, probability, value) VALUES (3, 'x', 0.5, 0)",
        "INSERT INTO people (plan, arm, probability, value) VALUES (1, 'a', 0.5, 0)",
        "INSERT INTO people (plan, arm, probability, value) VALUES (1, '', 0.5, 0)",
        "INSERT INTO people (plan, arm, probability, value) VALUES (1, x'00', 0.5, 0)",
        "INSERT INTO people (plan, arm, probability, value) VALUES (1, 'x', 1.5, 0)",
        "INSERT INTO people (plan, arm, probability, value) VALUES (1, 'x', -0.5, 0)",
        "INSERT INTO people (plan, arm, probability, value) VALUES (1, 'x', NULL, 0)",
        "INSERT INTO people (plan, arm, probability, value, how) VALUES (1, 'x', 0.5, 0, 'luck')",
        "INSERT INTO people (plan, arm, probability, value, rank) VALUES (1, 'x', 0.5, 0, 0)",
        "INSERT INTO people (plan, arm, probability, value, \"row\") VALUES (1, 'x', 0.5, 0, '{}')",
        // overrides and outcomes are of somebody, and say what they are
        "INSERT INTO overrides (plan, arm, kind, who, why, at) VALUES (1, 'x', 'added', 'a', 'b', 'c')",
        "INSERT INTO overrides (plan, arm, kind, who, why, at) VALUES (1, 'a', 'moved', 'a', 'b', 'c')",
        "INSERT INTO overrides (plan, arm, kind, who, why, at) VALUES (1, 'a', 'added', '', 'b', 'c')",
        "INSERT INTO overrides (plan, arm, kind, who, why, at) VALUES (1, 'a', 'added', 'a', '', 'c')",
        "INSERT INTO outcomes (plan, arm, code, source, received_at) VALUES (1, 'x', 'reached', 'a', 'b')",
        "INSERT INTO outcomes (plan, arm, code, source, received_at) VALUES (1, 'a', 'reached', 'a', 'b')",
        "INSERT INTO outcomes (plan, arm, code, source, received_at) VALUES (1, 'b', 'spoken', 'a', 'b')",
        "DELETE FROM outcomes",
        "INSERT INTO excluded (plan, arm, why) VALUES (3, 'w', 'y')",
        "INSERT INTO excluded (plan, arm, why) VALUES (1, '', 'y')",
        "INSERT INTO excluded (plan, arm, why) VALUES (1, 'w', '')",
        "UPDATE plans SET trial = 'unknown'",
        "INSERT INTO assigned (trial, arm, \"group\") VALUES (2, 'x', 'y')",
        "INSERT INTO assigned (trial, arm, \"group\") VALUES (1, 'x', '')",
        "INSERT INTO amended (plan, arm, code, source, received_at) VALUES (1, 'nobody', 'reached', 'a', 'b')",
    ];
    for sql in refused {
        let error = hand.execute(sql, []).unwrap_err();
        assert_eq!(error.sqlite_error_code(), Some(ErrorCode::ConstraintViolation), "{sql}: {error}");
    }
    // the same sentences without what is wrong with them are accepted
    let accepted = [
        "UPDATE plans SET seed = '18446744073709551615', budget = 0, trial = 't'",
        "INSERT INTO excluded (plan, arm, why) VALUES (1, 'w', 'y')",
        "INSERT INTO assigned (trial, arm, \"group\") VALUES (1, 'x', 'y')",
        "INSERT INTO people (plan, arm, probability, value, rank, how, \"row\") VALUES (1, 'x', 0.5, 0, 1, 'draw', '{}')",
        "INSERT INTO overrides (plan, arm, kind, who, why, at) VALUES (1, 'x', 'removed', 'a', 'b', 'c')",
        "INSERT INTO outcomes (plan, arm, code, source, received_at) VALUES (1, 'x', 'reached', 'a', 'b')",
        "INSERT INTO amended (plan, arm, code, source, received_at) VALUES (1, 'x', 'moved', 'a', 'b')",
        // what is kept among the amended as it is may be withdrawn
        "INSERT INTO amended (plan, arm, code, source, received_at) VALUES (1, 'x', 'reached', 'a', 'b')",
        "DELETE FROM outcomes WHERE arm = 'x'",
    ];
    for sql in accepted {
        hand.execute(sql, []).unwrap();
    }
}

#[test]
fn every_word_that_is_written_may_be_written() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let people: Vec<_> = How::ALL.iter().map(|how| made::person(how.word(), *how)).collect();
    let id = ledger.record(&made::plan(0), &people, &[], false).unwrap();
    assert_eq!(How::ALL.len(), 4);
    for one in ledger.people(&id).unwrap() {
        assert_eq!(one.arm, one.how.word());
    }
    for code in Code::ALL {
        ledger.receive(&[made::outcome(&id, "rank", *code)]).unwrap();
        assert_eq!(ledger.outcomes(&id).unwrap()[0].code, *code);
        assert_eq!(Code::from_word(&code.to_string()), Some(*code));
    }
    let words: Vec<_> = Code::ALL.iter().map(|code| code.word()).collect();
    let listed = "reached no_answer not_found wrong_number refused moved later not_called";
    assert_eq!(words.join(" "), listed);
    assert_eq!(Code::from_word("Reached"), None);
    let told = |is: fn(Code) -> bool| {
        Code::ALL.iter().filter(|code| is(**code)).map(|code| code.word()).collect::<Vec<_>>()
    };
    assert_eq!(told(Code::is_call).len(), 7);
    assert_eq!(told(Code::is_contact), ["reached", "refused", "later"]);
}

#[test]
fn it_is_kept_as_safely_as_sqlite_can() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
    let hand = Connection::open(&path).unwrap();
    let mode: String = hand.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    let loose: i64 = hand
        .query_row("SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(loose, 0);
}
