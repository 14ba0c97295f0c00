//! What the next plan and the next import are told, by hand.

use crate::made;
use restive_ledger::{Code, Decided, Kind, LastCall, Ledger, Outcome};

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
    assert_eq!(ledger.counts(&id).unwrap(), [3, 2, 2]);
    let mut codes = ledger.codes(&id).unwrap();
    codes.sort_by_key(|(code, _)| code.word());
    assert_eq!(codes, [(Code::Later, 1), (Code::Reached, 1)]);
    let link = ledger.chain().unwrap().into_iter().find(|link| link.event == "plan").unwrap();
    assert_eq!(ledger.plan_links().unwrap().into_iter().collect::<Vec<_>>(), [(id, link.link)]);
}

#[test]
fn one_person_is_told_as_all_of_them_are() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let out = restive_ledger::Excluded { arm: "f".into(), why: "gone".into() };
    let id = ledger.record(&made::plan(0), &made::people(), &[out], false).unwrap();
    ledger.override_list(&made::change(&id, "b", Kind::Removed)).unwrap();
    ledger.override_list(&made::change(&id, "e", Kind::Added)).unwrap();
    ledger.receive(&[made::outcome(&id, "a", Code::Later)]).unwrap();
    let people = ledger.people(&id).unwrap();
    let mut once_listed = ledger.once_listed_arms(&id).unwrap();
    once_listed.sort();
    assert_eq!(once_listed, ["a", "b", "c", "e"]);
    for decided in ledger.decided(&id).unwrap() {
        let part = ledger.part(&id, &decided.arm).unwrap();
        assert_eq!(part.is_listed, decided.is_listed, "{}", decided.arm);
        assert_eq!(part.outcome.as_ref().map(|outcome| outcome.code), decided.code);
        assert_eq!(part.planned.as_ref(), people.iter().find(|person| person.arm == decided.arm));
        assert_eq!(part.was_listed(), decided.arm != "d", "{}", decided.arm);
        assert_eq!(part.excluded, None);
    }
    let part = ledger.part(&id, "f").unwrap();
    assert_eq!((part.excluded.as_deref(), part.was_listed(), part.planned), (Some("gone"), false, None));
    let nobody = ledger.part(&id, "nobody").unwrap();
    assert_eq!((nobody.excluded, nobody.is_listed, nobody.outcome), (None, false, None));
    assert!(ledger.part("2020-01-06", "a").is_err());
}

#[test]
fn one_plan_is_told_as_all_of_them_are() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let first = ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
    ledger.receive(&[made::outcome(&first, "a", Code::Reached)]).unwrap();
    let id = ledger.record(&made::plan(1), &made::people(), &[], false).unwrap();
    let beside = ledger.last_beside(&id).unwrap();
    assert_eq!(beside, 2);
    ledger.override_list(&made::change(&id, "b", Kind::Removed)).unwrap();
    ledger.override_list(&made::change(&id, "e", Kind::Added)).unwrap();
    ledger.receive(&[made::outcome(&id, "a", Code::Later)]).unwrap();
    // what came was about this plan alone
    assert_eq!(ledger.last_beside(&id).unwrap(), beside);
    assert_eq!(ledger.list_changes(&id).unwrap().len(), 2);
    for (plan, told) in [&first, &id].into_iter().zip(ledger.standings().unwrap().plans) {
        assert_eq!(ledger.standing(plan).unwrap(), told);
        let arms = |people: Vec<restive_ledger::Planned>| {
            let mut arms: Vec<String> = people.into_iter().map(|person| person.arm).collect();
            arms.sort();
            arms
        };
        let (mut listed, mut missing) = ledger.listed_arms(plan).unwrap();
        listed.sort();
        missing.sort();
        assert_eq!(listed, arms(ledger.listed(plan).unwrap()));
        assert_eq!(missing, arms(ledger.missing(plan).unwrap()));
        assert_eq!((listed.len(), missing.len()), (told.listed, told.missing));
    }
    ledger.receive(&[made::outcome(&first, "b", Code::Reached)]).unwrap();
    assert!(ledger.last_beside(&id).unwrap() > beside);
    assert!(ledger.standing("2020-01-06").is_err());
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
