//! What the next plan and the next import are told, by hand.

use crate::made;
use restive_ledger::{Code, Decided, Kind, LastCall, Ledger, Outcome};

#[test]
fn the_last_call_is_that_of_the_latest_period() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let ids: Vec<_> =
        [2, 0, 1].map(|period| ledger.record(&made::plan(period), &made::people(), false).unwrap()).into();
    let entries = [
        // made first, and of the latest period
        Outcome { day: Some("2026-01-20".into()), ..made::outcome(&ids[0], "a", Code::NoAnswer) },
        made::outcome(&ids[1], "a", Code::Reached),
        made::outcome(&ids[2], "a", Code::Refused),
        made::outcome(&ids[1], "b", Code::WrongNumber),
        made::outcome(&ids[2], "b", Code::NotCalled),
        made::outcome(&ids[2], "c", Code::NotCalled),
    ];
    assert_eq!(ledger.receive(&entries).unwrap().new, 6);
    let calls = ledger.calls().unwrap();
    assert_eq!(calls.len(), 2);
    assert_eq!((calls[0].arm.as_str(), calls[0].calls, calls[0].contacts), ("a", 3, 2));
    let last =
        LastCall { plan: ids[0].clone(), period: 2, day: Some("2026-01-20".into()), code: Code::NoAnswer };
    assert_eq!(calls[0].last, last);
    assert_eq!((calls[1].arm.as_str(), calls[1].calls, calls[1].contacts), ("b", 1, 0));
    assert_eq!((calls[1].last.period, calls[1].last.code), (0, Code::WrongNumber));
}

#[test]
fn decisions_are_told_with_overrides_and_outcomes() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.record(&made::plan(0), &made::people(), false).unwrap();
    ledger.override_list(&made::change(&id, "b", Kind::Removed)).unwrap();
    ledger.override_list(&made::change(&id, "e", Kind::Added)).unwrap();
    ledger.receive(&[made::outcome(&id, "a", Code::Later), made::outcome(&id, "d", Code::Reached)]).unwrap();
    let one = |arm: &str, is_listed, code| Decided { arm: arm.into(), probability: 0.5, is_listed, code };
    let expected = [
        one("a", true, Some(Code::Later)),
        one("b", false, None),
        one("c", true, None),
        one("d", false, Some(Code::Reached)),
        one("e", true, None),
    ];
    assert_eq!(ledger.decided(&id).unwrap(), expected);
    let standings = ledger.standings().unwrap();
    assert_eq!(standings.latest.unwrap().id, id);
    let plan = &standings.plans[0];
    assert_eq!((plan.people, plan.listed, plan.outcomes, plan.missing), (5, 3, 2, 2));
}

#[test]
fn an_empty_ledger_has_nothing_to_tell() {
    let (_folder, path) = made::place();
    Ledger::open(&path).unwrap();
    let reader = Ledger::read(&path).unwrap();
    assert!(reader.plans().unwrap().is_empty() && reader.calls().unwrap().is_empty());
    let standings = reader.standings().unwrap();
    assert!(standings.latest.is_none() && standings.plans.is_empty());
    // and a plan may have nobody to choose from
    drop(reader);
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.record(&made::plan(0), &[], false).unwrap();
    assert!(ledger.people(&id).unwrap().is_empty() && ledger.decided(&id).unwrap().is_empty());
}

/// As many people as a large programme has, and as many weeks as half a year: nothing is lost on the way.
#[test]
fn many_people_over_many_weeks() {
    const PEOPLE: usize = 100_000;
    let weeks: i64 = if std::env::var_os("LEDGER_LARGE").is_some() { 26 } else { 2 };
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    // in an order that is not that of the file
    let people: Vec<_> = (0..PEOPLE)
        .map(|i| {
            let i = i * 7919 % PEOPLE;
            let how = if i % 100 == 0 { restive_ledger::How::Rank } else { restive_ledger::How::NotListed };
            let (rank, state) = (Some(i as u32 + 1), Some(i as i64 % 3));
            let group = Some(format!("worker {}", i % 40));
            let row = how
                .is_listed()
                .then(|| r#"{"name": "Ada", "phone": "+911234567890", "why": "missed three"}"#.into());
            restive_ledger::Planned {
                rank,
                state,
                group,
                row,
                ..made::person(&format!("{:020x}", i * 0x9e37_79b9), how)
            }
        })
        .collect();
    let clock =
        |what: &str, since: std::time::Instant| eprintln!("{what}: {:.3} s", since.elapsed().as_secs_f64());
    for period in 0..weeks {
        let since = std::time::Instant::now();
        let id = ledger.record(&made::plan(period), &people, false).unwrap();
        clock("record", since);
        let listed = ledger.listed(&id).unwrap();
        assert_eq!(listed.len(), PEOPLE / 100);
        let outcomes: Vec<_> = listed.iter().map(|one| made::outcome(&id, &one.arm, Code::Reached)).collect();
        let since = std::time::Instant::now();
        assert_eq!(ledger.receive(&outcomes).unwrap().new, PEOPLE / 100);
        clock("receive", since);
    }
    drop(ledger);
    let since = std::time::Instant::now();
    let reader = Ledger::read(&path).unwrap();
    let (mut people, mut listed) = (0, 0);
    for plan in reader.plans().unwrap() {
        let decided = reader.decided(&plan.id).unwrap();
        people += decided.len();
        listed += decided.iter().filter(|one| one.is_listed && one.code == Some(Code::Reached)).count();
    }
    clock("decided of all", since);
    assert_eq!((people, listed), (PEOPLE * weeks as usize, PEOPLE / 100 * weeks as usize));
    let since = std::time::Instant::now();
    assert_eq!(reader.calls().unwrap().len(), PEOPLE / 100);
    clock("calls", since);
    let since = std::time::Instant::now();
    assert!(
        reader.standings().unwrap().plans.iter().all(|plan| plan.listed == PEOPLE / 100 && plan.missing == 0)
    );
    clock("standings", since);
    let since = std::time::Instant::now();
    let all: usize = reader.plans().unwrap().iter().map(|plan| reader.people(&plan.id).unwrap().len()).sum();
    clock("people of all", since);
    assert_eq!(all, people);
}
