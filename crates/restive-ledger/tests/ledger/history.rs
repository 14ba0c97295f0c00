//! What the next plan and the next import are told, by hand.

use crate::made;
use restive_ledger::{Code, Decided, How, Kind, LastCall, Ledger, Outcome, Planned};

#[test]
fn the_last_call_is_that_of_the_latest_period() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let ids: Vec<_> = [2, 0, 1]
        .map(|period| ledger.record(&made::plan(period), &made::people(), &[], false).unwrap())
        .into();
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
    let id = ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
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
    let id = ledger.record(&made::plan(0), &[], &[], false).unwrap();
    assert!(ledger.people(&id).unwrap().is_empty() && ledger.decided(&id).unwrap().is_empty());
}

/// As many people as a large programme has, in an order that is not that of the file: nobody is lost on the way.
#[test]
fn many_people() {
    const PEOPLE: usize = 100_000;
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let name = |i: usize| format!("{:016x}", i * 0x9e37_79b9);
    let people: Vec<_> = (0..PEOPLE)
        .map(|i| {
            let i = i * 7919 % PEOPLE;
            let how = if i.is_multiple_of(100) { How::Rank } else { How::NotListed };
            Planned { rank: Some(i as u32 + 1), state: Some(i as i64), ..made::person(&name(i), how) }
        })
        .collect();
    for period in 0..2 {
        let id = ledger.record(&made::plan(period), &people, &[], false).unwrap();
        let listed = ledger.listed(&id).unwrap();
        let expected: Vec<_> = (0..PEOPLE).step_by(100).map(name).collect();
        assert_eq!(made::arms(&listed), expected);
        let outcomes: Vec<_> = listed.iter().map(|one| made::outcome(&id, &one.arm, Code::Reached)).collect();
        assert_eq!(ledger.receive(&outcomes).unwrap().new, PEOPLE / 100);
    }
    drop(ledger);
    let reader = Ledger::read(&path).unwrap();
    for plan in reader.plans().unwrap() {
        let decided = reader.decided(&plan.id).unwrap();
        assert_eq!(decided.len(), PEOPLE);
        for (one, person) in decided.iter().zip(reader.people(&plan.id).unwrap()) {
            let i = person.state.unwrap() as usize;
            assert_eq!((&one.arm, &person.arm), (&name(i), &name(i)));
            let chosen = i.is_multiple_of(100);
            assert_eq!((one.is_listed, one.code.is_some()), (chosen, chosen));
        }
    }
    assert!(reader.calls().unwrap().iter().all(|one| one.calls == 2));
    let standings = reader.standings().unwrap();
    assert!(standings.plans.iter().all(|plan| plan.listed == PEOPLE / 100 && plan.missing == 0));
}
