//! Whatever is written is in the chain, and a history that nobody touched verifies.

use crate::made;
use crate::oracle;
use crate::versions;
use proptest::prelude::*;
use restive_ledger::{Code, How, Kind, Ledger, NewPlan, Outcome, Planned, Reader};
use rusqlite::Connection;
use std::path::Path;

/// A history in which everything happens. Returns the names of its plans.
pub fn history(path: &Path) -> [String; 3] {
    let mut ledger = Ledger::open(path).unwrap();
    ledger.begin_trial(&made::trial("pilot"), &made::assigned()[..2]).unwrap();
    ledger.end_trial("pilot", "2026-01-02T08:00:00Z", "as planned").unwrap();
    ledger.begin_trial(&made::trial("main"), &made::assigned()).unwrap();
    let first = ledger.record(&made::plan(0), &made::people(), &made::excluded(), false).unwrap();
    let mut people = made::people();
    people[1] = Planned {
        trial: Some("lot".into()),
        state: Some(3),
        group: Some("Asha".into()),
        ..people[1].clone()
    };
    let plan = NewPlan { trial: Some("main".into()), seed: u64::MAX, ..made::plan(0) };
    let second = ledger.record(&plan, &people, &made::excluded()[..2], true).unwrap();
    let third = ledger
        .record(
            &made::plan(1),
            &people[..3].iter().map(|p| Planned { trial: None, ..p.clone() }).collect::<Vec<_>>(),
            &[],
            false,
        )
        .unwrap();
    ledger.override_list(&made::change(&second, "d", Kind::Added)).unwrap();
    ledger.override_list(&made::change(&second, "a", Kind::Removed)).unwrap();
    ledger.override_list(&made::change(&third, "c", Kind::Removed)).unwrap();
    let noted = Outcome {
        note: Some("her sister".into()),
        day: Some("2026-01-06".into()),
        ..made::outcome(&second, "b", Code::Later)
    };
    ledger.receive(&[noted, made::outcome(&second, "c", Code::NoAnswer)]).unwrap();
    ledger
        .receive(&[made::outcome(&second, "c", Code::Reached), made::outcome(&third, "b", Code::Moved)])
        .unwrap();
    ledger
        .receive(&[made::outcome(&second, "c", Code::Refused), made::outcome(&second, "b", Code::Later)])
        .unwrap();
    [first, second, third]
}

/// The chain is what it is by the plain code, and nothing is found.
fn is_sound(reader: &Reader, path: &Path) {
    let expected = oracle::chain(&Connection::open(path).unwrap());
    let links = reader.chain().unwrap();
    let found: Vec<_> = links.iter().map(|link| (link.digest.clone(), link.link.clone())).collect();
    assert_eq!(found, expected);
    let verified = reader.verify().unwrap();
    assert_eq!(verified.faults, []);
    assert_eq!((verified.links, verified.known), (links.len(), None));
    assert_eq!(verified.head, expected.last().map(|(_, link)| link.clone()));
    assert_eq!(reader.head().unwrap(), verified.head);
}

fn told(reader: &Reader) -> Vec<(String, String)> {
    reader.chain().unwrap().into_iter().map(|link| (link.event, link.subject)).collect()
}

#[test]
fn everything_that_is_written_is_a_link() {
    let (_folder, path) = made::place();
    history(&path);
    let reader = Ledger::read(&path).unwrap();
    let expected = [
        ("trial", "pilot"),
        ("trial ended", "pilot"),
        ("trial", "main"),
        ("plan", "2026-01-05"),
        ("plan replaced", "2026-01-05"),
        ("plan", "2026-01-05-2"),
        ("plan", "2026-01-12"),
        ("override", "2026-01-05-2 d"),
        ("override", "2026-01-05-2 a"),
        ("override", "2026-01-12 c"),
        ("outcome", "2026-01-05-2 b"),
        ("outcome", "2026-01-05-2 c"),
        ("outcome amended", "2026-01-05-2 c"),
        ("outcome", "2026-01-12 b"),
        ("outcome amended", "2026-01-05-2 c"),
    ];
    assert_eq!(told(&reader), expected.map(|(event, subject)| (event.to_string(), subject.to_string())));
    is_sound(&reader, &path);
    // the first two, computed by a few lines of Python from the description
    let first = [
        "f688d8b8762c7e0cff0a0cfe8e300f511406e1959ee770beadf5e52808557c67",
        "6f745244d701f1c27ca87981fe0f90c8e4e0e9f415eda7cf7fc810a3983fcf54",
    ];
    assert_eq!(
        reader.chain().unwrap().iter().take(2).map(|link| link.link.as_str()).collect::<Vec<_>>(),
        first
    );
    let hand = Connection::open(&path).unwrap();
    let content = "SELECT content FROM chain WHERE number IN (5, 9, 13)";
    let content: Vec<_> =
        oracle::rows(&hand, content).iter().map(|row| oracle::word(&row[0]).to_string()).collect();
    assert_eq!(
        content,
        [
            r#"{"plan":"2026-01-05","to":"2026-01-05-2"}"#,
            r#"{"number":2,"plan":"2026-01-05-2","arm":"a","kind":"removed","who":"Meera","why":"she asked for it","at":"2026-01-05T07:00:00Z"}"#,
            r#"{"plan":"2026-01-05-2","arm":"c","code":"reached","day":null,"note":null,"source":"calls.csv","received_at":"2026-01-12T08:00:00Z","amended":1}"#,
        ]
    );
}

#[test]
fn what_is_refused_adds_no_link() {
    let (_folder, path) = made::place();
    let [_, second, _] = history(&path);
    let mut ledger = Ledger::open(&path).unwrap();
    let head = ledger.head().unwrap();
    ledger.record(&made::plan(0), &made::people(), &[], true).unwrap_err();
    ledger.record(&made::plan(1), &made::people(), &[], false).unwrap_err();
    ledger.override_list(&made::change(&second, "d", Kind::Added)).unwrap_err();
    ledger.begin_trial(&made::trial("third"), &made::assigned()).unwrap_err();
    let same =
        ledger.receive(&[made::outcome(&second, "c", Code::Refused), made::outcome("x", "c", Code::Later)]);
    assert_eq!((same.as_ref().unwrap().same, same.unwrap().problems.len()), (1, 1));
    assert_eq!(ledger.head().unwrap(), head);
}

#[test]
fn a_head_of_before_is_found_again() {
    let (_folder, path) = made::place();
    history(&path);
    let mut ledger = Ledger::open(&path).unwrap();
    let noted = ledger.head().unwrap().unwrap();
    ledger.record(&made::plan(2), &made::people(), &[], false).unwrap();
    let verified = ledger.verify_with_head(&noted).unwrap();
    assert_eq!((verified.links, verified.known, verified.faults), (16, Some(15), vec![]));
    let never = ledger.verify_with_head("00").unwrap();
    assert_eq!(never.known, None);
    let told = "the chain: found a chain of 16 links without the head 00, expected that head in it: \
        its end was cut off, or it was computed anew";
    assert_eq!(never.faults.iter().map(ToString::to_string).collect::<Vec<_>>(), [told]);
}

#[test]
fn an_empty_ledger_verifies() {
    let (_folder, path) = made::place();
    let ledger = Ledger::open(&path).unwrap();
    let verified = ledger.verify().unwrap();
    assert_eq!((verified.links, verified.head, verified.faults), (0, None, vec![]));
    assert!(ledger.chain().unwrap().is_empty() && ledger.head().unwrap().is_none());
}

#[test]
fn a_ledger_of_an_earlier_version_is_sealed() {
    for version in [1, 2] {
        let (_folder, path) = made::place();
        versions::write_v1(&path, 100);
        if version == 2 {
            let hand = Connection::open(&path).unwrap();
            hand.execute_batch(include_str!("../../src/schema/2.sql")).unwrap();
            hand.execute_batch(
                "UPDATE outcomes SET note = 'busy'; UPDATE amended SET note = ''; PRAGMA user_version = 2",
            )
            .unwrap();
        }
        let ledger = Ledger::open(&path).unwrap();
        let expected = [
            ("sealed plan", "2026-03-09"),
            ("sealed plan", "2026-03-09-2"),
            ("sealed plan replaced", "2026-03-09"),
            ("sealed override", "2026-03-09-2 B2"),
            ("sealed outcome", "2026-03-09-2 B1"),
            ("sealed amended", "2026-03-09-2 B1"),
        ];
        assert_eq!(told(&ledger), expected.map(|(event, subject)| (event.to_string(), subject.to_string())));
        is_sound(&ledger, &path);
        drop(ledger);
        // and goes on from there
        let mut ledger = Ledger::open(&path).unwrap();
        let id = "2026-03-09-2";
        ledger
            .receive(&[made::outcome(id, "B1", Code::Moved), made::outcome(id, "C7", Code::Later)])
            .unwrap();
        ledger.override_list(&made::change(id, "B3", Kind::Added)).unwrap();
        ledger.record(&made::plan(0), &made::people(), &made::excluded(), false).unwrap();
        is_sound(&ledger, &path);
        // what was changed since is found
        drop(ledger);
        let hand = Connection::open(&path).unwrap();
        hand.execute("UPDATE outcomes SET day = '2026-03-12' WHERE arm = 'C7'", []).unwrap();
        let faults = Ledger::read(&path).unwrap().verify().unwrap().faults;
        let told = "plan 2026-03-09-2, outcome of \"C7\": found day \"2026-03-12\", expected no day (link 8)";
        assert_eq!(faults.iter().map(ToString::to_string).collect::<Vec<_>>(), [told]);
    }
}

/// Something to do to a ledger, if it lets one.
#[derive(Debug, Clone)]
pub enum Act {
    Plan { period: i64, people: Vec<(String, u64, f64)>, excluded: bool, replace: bool },
    Override { plan: usize, arm: usize, kind: Kind },
    Receive(Vec<(usize, usize, Code, Option<String>)>),
    Withdraw { plan: usize, arm: usize },
    Begin(String),
    End(String),
}

pub fn act() -> impl Strategy<Value = Act> {
    let person = ("\\PC{1,4}|[a-d]", any::<u64>(), proptest::num::f64::NORMAL | proptest::num::f64::ZERO);
    let kind = proptest::sample::select(Kind::ALL);
    let entry = (0_usize..4, 0_usize..4, proptest::sample::select(Code::ALL), any::<Option<String>>());
    prop_oneof![
        (0_i64..3, proptest::collection::vec(person, 0..8), any::<bool>(), any::<bool>())
            .prop_map(|(period, people, excluded, replace)| Act::Plan { period, people, excluded, replace }),
        (0_usize..4, 0_usize..4, kind).prop_map(|(plan, arm, kind)| Act::Override { plan, arm, kind }),
        proptest::collection::vec(entry, 0..6).prop_map(Act::Receive),
        (0_usize..4, 0_usize..4).prop_map(|(plan, arm)| Act::Withdraw { plan, arm }),
        "[ab]".prop_map(Act::Begin),
        "[ab]".prop_map(Act::End),
    ]
}

/// Does it, and says how many links that is to add.
pub fn apply(ledger: &mut Ledger, act: &Act) -> usize {
    let plans = ledger.plans().unwrap();
    let plan = |i: usize| plans.get(i).map_or("none".into(), |plan| plan.id.clone());
    let arm = |plan: &str, i: usize| {
        ledger
            .people(plan)
            .ok()
            .and_then(|people| people.get(i).map(|one| one.arm.clone()))
            .unwrap_or("?".into())
    };
    match act {
        Act::Plan { period, people, excluded, replace } => {
            let mut people: Vec<_> = people
                .iter()
                .map(|(arm, tie, score)| Planned {
                    tie: *tie,
                    score: *score,
                    ..made::person(arm, How::ALL[*tie as usize % 4])
                })
                .collect();
            people.sort_by(|a, b| a.arm.cmp(&b.arm));
            people.dedup_by(|a, b| a.arm == b.arm);
            let excluded = if *excluded { made::excluded() } else { vec![] };
            let facts = NewPlan {
                trial: ledger.running_trial().unwrap().map(|trial| trial.facts.id),
                ..made::plan(*period)
            };
            let replaced = plans.iter().any(|plan| plan.facts.period == *period);
            ledger.record(&facts, &people, &excluded, *replace).map_or(0, |_| 1 + usize::from(replaced))
        }
        Act::Override { plan: p, arm: a, kind } => {
            let id = plan(*p);
            let change = made::change(&id, &arm(&id, *a), *kind);
            ledger.override_list(&change).map_or(0, |()| 1)
        }
        Act::Receive(entries) => {
            let outcomes: Vec<_> = entries
                .iter()
                .map(|(p, a, code, note)| Outcome {
                    note: note.clone(),
                    ..made::outcome(&plan(*p), &arm(&plan(*p), *a), *code)
                })
                .collect();
            let received = ledger.receive(&outcomes).unwrap();
            received.new + received.amended
        }
        Act::Withdraw { plan: p, arm: a } => {
            let id = plan(*p);
            let arm = arm(&id, *a);
            ledger.withdraw(&id, &arm, "Meera", "2026-01-13T08:00:00Z").map_or(0, |_| 1)
        }
        Act::Begin(id) => ledger.begin_trial(&made::trial(id), &made::assigned()).map_or(0, |()| 1),
        Act::End(id) => ledger.end_trial(id, "2026-02-01T00:00:00Z", "as planned").map_or(0, |()| 1),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_history_verifies(acts in proptest::collection::vec(act(), 0..16)) {
        let (_folder, path) = made::place();
        let mut ledger = Ledger::open(&path).unwrap();
        let mut links = 0;
        for act in &acts {
            links += apply(&mut ledger, act);
            prop_assert_eq!(ledger.chain().unwrap().len(), links);
        }
        is_sound(&ledger, &path);
    }
}
