//! What is recorded is what is read.

use crate::made;
use proptest::prelude::*;
use restive_ledger::{Code, Error, How, Kind, Ledger, NewPlan, Outcome, Override, Plan, Planned, Status};

#[test]
fn a_plan_comes_back_as_it_was_recorded() {
    let (_folder, path) = made::place();
    let plan = NewPlan {
        seed: u64::MAX,
        period: -3,
        value: -0.1,
        budget: u32::MAX,
        rules: "# ключ\n[a]\nb = \"\u{0}\"\n".into(),
        summary: String::new(),
        ..made::plan(4)
    };
    let people = vec![
        Planned {
            arm: "a".into(),
            probability: 1.0 / 3.0,
            how: How::Must,
            rank: Some(u32::MAX),
            state: Some(i64::MIN),
            value: -1e-300,
            group: Some("Asha 👩‍⚕️".into()),
            row: Some("{\"note\": \"it's \\\"so\\\"\"}".into()),
            score: f64::MAX,
            tie: u64::MAX,
            trial: None,
        },
        Planned { probability: 0.0, ..made::person("b", How::NotListed) },
        Planned { probability: 1.0, row: None, ..made::person("c", How::Rank) },
    ];
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.record(&plan, &people, &[], false).unwrap();
    assert_eq!(ledger.people(&id).unwrap(), people);
    drop(ledger);
    let ledger = Ledger::read(&path).unwrap();
    let expected = Plan { id: id.clone(), status: Status::Current, people: 3, facts: plan };
    assert_eq!(ledger.plan(&id).unwrap(), expected);
    assert_eq!(ledger.plans().unwrap(), [expected]);
    assert_eq!(ledger.people(&id).unwrap(), people);
    // to the last bit
    assert_eq!(ledger.people(&id).unwrap()[0].probability.to_bits(), (1.0_f64 / 3.0).to_bits());
}

#[test]
fn seeds_beyond_the_integers_of_sqlite_come_back() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let seeds = [0, 1, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX - 1, u64::MAX];
    for (period, seed) in (0..).zip(seeds) {
        ledger.record(&NewPlan { seed, ..made::plan(period) }, &[], &[], false).unwrap();
    }
    let found: Vec<u64> = ledger.plans().unwrap().iter().map(|plan| plan.facts.seed).collect();
    assert_eq!(found, seeds);
}

#[test]
fn plans_are_named_by_their_first_day() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let mut record = |plan: &NewPlan, replace| ledger.record(plan, &made::people(), &[], replace).unwrap();
    assert_eq!(record(&made::plan(0), false), "2026-01-05");
    assert_eq!(record(&made::plan(0), true), "2026-01-05-2");
    assert_eq!(record(&made::plan(0), true), "2026-01-05-3");
    // leave to replace is no need to
    assert_eq!(record(&made::plan(1), true), "2026-01-12");
    // periods that are counted anew
    assert_eq!(record(&NewPlan { period: 100, ..made::plan(1) }, false), "2026-01-12-2");
    let status: Vec<_> = ledger.plans().unwrap().iter().map(|plan| plan.status.word()).collect();
    assert_eq!(status, ["replaced", "replaced", "current", "current", "current"]);
    assert_eq!(ledger.latest().unwrap().unwrap().id, "2026-01-12-2");
}

#[test]
fn the_latest_plan_is_that_of_the_latest_period() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    assert_eq!(ledger.latest().unwrap(), None);
    for period in [3, 5, 4] {
        ledger.record(&made::plan(period), &[], &[], false).unwrap();
    }
    assert_eq!(ledger.latest().unwrap().unwrap().facts.period, 5);
}

#[test]
fn lists_come_by_rank() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
    assert_eq!(made::arms(&ledger.people(&id).unwrap()), ["a", "b", "c", "d", "e"]);
    assert_eq!(made::arms(&ledger.listed(&id).unwrap()), ["b", "a", "c"]);
    ledger.receive(&[made::outcome(&id, "a", Code::Moved)]).unwrap();
    assert_eq!(made::arms(&ledger.missing(&id).unwrap()), ["b", "c"]);
}

#[test]
fn overrides_change_the_list_and_no_probability() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
    let before = ledger.people(&id).unwrap();
    let changes = [("d", Kind::Added), ("b", Kind::Removed), ("c", Kind::Removed), ("c", Kind::Added)]
        .map(|(arm, kind)| made::change(&id, arm, kind));
    for change in &changes {
        ledger.override_list(change).unwrap();
    }
    assert_eq!(ledger.overrides(&id).unwrap(), changes);
    let listed = ledger.listed(&id).unwrap();
    assert_eq!(made::arms(&listed), ["a", "d", "c"]);
    assert_eq!(listed[1].how, How::NotListed);
    assert_eq!(ledger.people(&id).unwrap(), before);

    let refuse = |ledger: &mut Ledger, arm: &str, kind, expected: &str| {
        let error = ledger.override_list(&made::change("2026-01-05", arm, kind)).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: {expected}", path.display()));
    };
    let on = "found \"d\" on the list of plan 2026-01-05, expected somebody to add who is not on it";
    refuse(&mut ledger, "d", Kind::Added, on);
    let off = "found no \"b\" on the list of plan 2026-01-05, expected somebody to remove who is on it";
    refuse(&mut ledger, "b", Kind::Removed, off);
    let nobody = "found no \"x\" in plan 2026-01-05, expected one of its people";
    refuse(&mut ledger, "x", Kind::Added, nobody);
    refuse(&mut ledger, "x", Kind::Removed, nobody);
    for (who, why, at) in
        [("", "b", "2026-01-05T07:00:00Z"), ("a", " ", "2026-01-05T07:00:00Z"), ("a", "b", "today")]
    {
        let change = Override {
            who: who.into(),
            why: why.into(),
            at: at.into(),
            ..made::change(&id, "e", Kind::Added)
        };
        assert!(matches!(ledger.override_list(&change).unwrap_err(), Error::Content { .. }));
    }
    assert_eq!(ledger.overrides(&id).unwrap(), changes);

    ledger.record(&made::plan(0), &made::people(), &[], true).unwrap();
    let expected = "found plan 2026-01-05, which was replaced, expected a current one";
    refuse(&mut ledger, "e", Kind::Added, expected);
}

#[test]
fn everything_of_a_plan_that_is_not_there_is_refused() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
    let errors = [
        ledger.plan("x").unwrap_err(),
        ledger.people("x").unwrap_err(),
        ledger.listed("x").unwrap_err(),
        ledger.missing("x").unwrap_err(),
        ledger.overrides("x").unwrap_err(),
        ledger.outcomes("x").unwrap_err(),
        ledger.amended("x").unwrap_err(),
        ledger.decided("x").unwrap_err(),
        ledger.override_list(&made::change("x", "a", Kind::Added)).unwrap_err(),
    ];
    for error in errors {
        let expected = ": found no plan \"x\", expected one of those recorded";
        assert_eq!(error.to_string(), format!("{}{expected}", path.display()));
    }
}

#[test]
fn ids_may_be_anything() {
    let hostile = [
        "'; DROP TABLE people; --",
        "\"",
        "?1",
        "\u{0}",
        "a\u{0}b",
        "a\u{0}c",
        " ",
        "A",
        "a",
        "é",
        "e\u{301}",
        "नीता",
        "👩‍👩‍👧",
        "\u{202e}gnp",
        "%",
        "_",
        "NULL",
        "007",
        "7",
        "\n",
        "\u{10ffff}",
    ];
    let long = "x".repeat(100_000);
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let all = || hostile.into_iter().chain([long.as_str()]);
    let people: Vec<_> = all().map(|arm| made::person(arm, How::Rank)).collect();
    let id = ledger.record(&made::plan(0), &people, &[], false).unwrap();
    let mut expected: Vec<_> = all().collect();
    expected.sort();
    assert_eq!(made::arms(&ledger.people(&id).unwrap()), expected);
    for arm in all() {
        ledger.override_list(&made::change(&id, arm, Kind::Removed)).unwrap();
        ledger.override_list(&made::change(&id, arm, Kind::Added)).unwrap();
        let note = Some(arm.to_string());
        let outcome = Outcome { note, source: arm.into(), ..made::outcome(&id, arm, Code::Reached) };
        assert_eq!(ledger.receive(&[outcome]).unwrap().new, 1, "{arm:?}");
    }
    let outcomes = ledger.outcomes(&id).unwrap();
    assert_eq!(outcomes.iter().map(|outcome| outcome.arm.as_str()).collect::<Vec<_>>(), expected);
    assert!(outcomes.iter().all(|outcome| outcome.note.as_ref() == Some(&outcome.arm)));
    assert_eq!(ledger.calls().unwrap().len(), expected.len());
    for id in ["'", "2026-01-05' OR '1'='1", "%", "\u{0}"] {
        assert!(matches!(ledger.plan(id).unwrap_err(), Error::UnknownPlan { .. }));
    }
}

prop_compose! {
    fn any_person()(
        arm in "\\PC{1,6}|[ab]{1,3}",
        probability in 0.0..=1.0,
        how in proptest::sample::select(How::ALL),
        rank in proptest::option::of(1_u32..),
        state in any::<Option<i64>>(),
        value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO,
        group in any::<Option<String>>(),
        row in any::<String>(),
        score in proptest::num::f64::NORMAL | proptest::num::f64::ZERO,
        tie: u64,
    ) -> Planned {
        let row = how.is_listed().then_some(row);
        Planned { arm, probability, how, rank, state, value, group, row, score, tie, trial: None }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn whoever_is_recorded_is_read(mut people in proptest::collection::vec(any_person(), 0..40), seed: u64) {
        people.sort_by(|a, b| a.arm.as_bytes().cmp(b.arm.as_bytes()));
        people.dedup_by(|a, b| a.arm == b.arm);
        let (_folder, path) = made::place();
        let mut ledger = Ledger::open(&path).unwrap();
        let plan = NewPlan { seed, ..made::plan(1) };
        let mut shuffled = people.clone();
        shuffled.reverse();
        let id = ledger.record(&plan, &shuffled, &[], false).unwrap();
        prop_assert_eq!(ledger.people(&id).unwrap(), people.clone());
        prop_assert_eq!(ledger.plan(&id).unwrap().facts, plan);
        let mut listed: Vec<_> = people.into_iter().filter(|one| one.how != How::NotListed).collect();
        listed.sort_by_key(|one| (one.rank.is_none(), one.rank));
        prop_assert_eq!(ledger.listed(&id).unwrap(), listed);
    }
}
