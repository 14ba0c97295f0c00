//! Trials, and whom rules kept out.

use crate::made;
use restive_ledger::{Assigned, Excluded, Input, Ledger, NewPlan, NewTrial, Planned, TrialStatus};

#[test]
fn a_trial_comes_back_as_it_was_begun() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    assert!(ledger.running_trial().unwrap().is_none());
    ledger.begin_trial(&made::trial("first"), &made::assigned()).unwrap();
    let running = ledger.running_trial().unwrap().unwrap();
    assert_eq!((running.status, running.people), (TrialStatus::Running, 3));
    assert_eq!(running.facts, made::trial("first"));
    assert_eq!(ledger.trial_end("first").unwrap(), None);
    let silent = ledger.end_trial("first", "2026-03-02T08:00:00Z", " ").unwrap_err();
    assert!(silent.to_string().ends_with("why: found nothing, expected a text"), "{silent}");
    let mut expected = made::assigned();
    expected.sort_by(|a, b| a.arm.cmp(&b.arm));
    assert_eq!(ledger.assigned("first").unwrap(), expected);

    let said = |error: restive_ledger::Error| error.to_string();
    let second = ledger.begin_trial(&made::trial("second"), &made::assigned()).unwrap_err();
    let at = path.display();
    assert_eq!(said(second), format!("{at}: found trial \"first\", which runs, expected none: end it first"));
    ledger.end_trial("first", "2026-03-02T08:00:00Z", "as planned").unwrap();
    assert!(ledger.running_trial().unwrap().is_none());
    let end = ledger.trial_end("first").unwrap().unwrap();
    assert_eq!((end.at.as_str(), end.why.as_str()), ("2026-03-02T08:00:00Z", "as planned"));
    let again = ledger.end_trial("first", "2026-03-02T08:00:00Z", "as planned").unwrap_err();
    assert_eq!(said(again), format!("{at}: found trial \"first\", which has ended, expected one that runs"));
    let known = ledger.begin_trial(&made::trial("first"), &made::assigned()).unwrap_err();
    assert_eq!(said(known), format!("{at}: found a trial \"first\", expected a name that is new"));
    ledger.begin_trial(&made::trial("second"), &made::assigned()[..1]).unwrap();
    let all: Vec<_> = ledger.trials().unwrap().into_iter().map(|t| (t.facts.id, t.status.word())).collect();
    assert_eq!(all, [("first".into(), "ended"), ("second".into(), "running")]);
    for error in [
        ledger.trial("x").unwrap_err(),
        ledger.assigned("x").unwrap_err(),
        ledger.end_trial("x", "2026-03-02T08:00:00Z", "as planned").unwrap_err(),
        ledger.record(&NewPlan { trial: Some("x".into()), ..made::plan(0) }, &[], &[], false).unwrap_err(),
    ] {
        assert_eq!(said(error), format!("{at}: found no trial \"x\", expected one of those begun"));
    }
}

#[test]
fn what_is_no_trial_is_refused() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let good = made::trial("t");
    let person = |arm: &str, group: &str| Assigned {
        arm: arm.into(),
        group: group.into(),
        stratum: None,
        cluster: None,
    };
    let cases: Vec<(NewTrial, Vec<Assigned>, &str)> = vec![
        (good.clone(), vec![], "people: found nobody, expected somebody who is assigned to a group"),
        (
            good.clone(),
            vec![person("b", "x"), person("a", "x"), person("b", "y")],
            "person \"b\": found this person twice, expected everybody once",
        ),
        (good.clone(), vec![person("b", " ")], "person \"b\": found no group, expected the name of a group"),
        (good.clone(), vec![person("", "x")], "person \"\": found no id, expected the id of a person"),
        (
            NewTrial { id: String::new(), ..good.clone() },
            made::assigned(),
            "id of the trial: found nothing, expected a text",
        ),
        (NewTrial { weeks: 0, ..good.clone() }, made::assigned(), "weeks: found 0, expected a number from 1"),
        (
            NewTrial { starts: "Monday".into(), ..good },
            made::assigned(),
            "starts: found \"Monday\", expected a day such as 2026-03-16",
        ),
    ];
    for (trial, people, expected) in cases {
        let error = ledger.begin_trial(&trial, &people).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: {expected}", path.display()));
    }
    assert!(ledger.trials().unwrap().is_empty());
}

#[test]
fn a_plan_says_what_it_was_made_of_and_whom_rules_kept_out() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.begin_trial(&made::trial("t"), &made::assigned()).unwrap();
    let input = |name: &str, bytes| Input { name: name.into(), digest: "\"é".into(), bytes };
    let plan = NewPlan {
        asked: "{\"at\": 1}".into(),
        inputs: vec![input("b", u64::MAX), input("a", 0)],
        certificate: "[1]".into(),
        trial: Some("t".into()),
        cuts: "{}".into(),
        ..made::plan(0)
    };
    let mut people = made::people();
    people.sort_by(|a, b| a.arm.cmp(&b.arm));
    people[0] = Planned { score: -0.1, tie: 1 << 63, trial: Some("list".into()), ..people[0].clone() };
    let id = ledger.record(&plan, &people, &made::excluded(), false).unwrap();
    assert_eq!(ledger.plan(&id).unwrap().facts, plan);
    assert_eq!(ledger.people(&id).unwrap(), people);
    let mut expected = made::excluded();
    expected.reverse();
    assert_eq!(ledger.excluded(&id).unwrap(), expected);
    for (arm, why, told) in [
        ("", "x", "person \"\": found no id, expected the id of a person"),
        ("z", "x", "person \"z\": found this person excluded twice, expected everybody once"),
        ("a", " ", "person \"a\": found nothing, expected a text"),
    ] {
        let mut excluded = made::excluded();
        excluded.push(Excluded { arm: arm.into(), why: why.into() });
        let error = ledger.record(&made::plan(1), &people[1..], &excluded, false).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: {told}", path.display()));
    }
}
