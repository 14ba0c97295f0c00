//! Outcomes in any order, number and state of confusion, against a model that keeps them in plain lists.

use crate::made;
use proptest::prelude::*;
use restive_ledger::{Code, Kind, Ledger, Outcome};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn late_partial_and_repeated_entries_are_fine() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
    let said = |code, day: Option<&str>, note: Option<&str>| Outcome {
        day: day.map(Into::into),
        note: note.map(Into::into),
        ..made::outcome(&id, "a", code)
    };
    let now = |ledger: &Ledger| {
        let outcome = ledger.outcomes(&id).unwrap().remove(0);
        (outcome.code, outcome.day, outcome.note, ledger.amended(&id).unwrap().len())
    };
    let (day, note) = (Some("2026-01-06".to_string()), Some("busy".to_string()));
    let mut receive = |outcome| {
        let received = ledger.receive(&[outcome]).unwrap();
        ((received.new, received.same, received.amended), now(&ledger))
    };
    let steps = [
        (said(Code::Later, None, None), (1, 0, 0), (Code::Later, None, None, 0)),
        (said(Code::Later, None, None), (0, 1, 0), (Code::Later, None, None, 0)),
        // more is said of the same
        (said(Code::Later, Some("2026-01-06"), None), (0, 0, 1), (Code::Later, day.clone(), None, 1)),
        (said(Code::Later, None, Some("busy")), (0, 0, 1), (Code::Later, day.clone(), note.clone(), 2)),
        // less is said of the same
        (said(Code::Later, None, None), (0, 1, 0), (Code::Later, day.clone(), note.clone(), 2)),
        (said(Code::Later, Some("2026-01-06"), Some("busy")), (0, 1, 0), (Code::Later, day, note, 2)),
        // something else is said
        (said(Code::Reached, None, None), (0, 0, 1), (Code::Reached, None, None, 3)),
    ];
    for (outcome, counts, then) in steps {
        assert_eq!(receive(outcome), (counts, then));
    }
}

#[test]
fn one_bad_entry_does_not_spoil_the_others() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let old = ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
    let id = ledger.record(&made::plan(0), &made::people(), &[], true).unwrap();
    let entries = [
        made::outcome(&id, "a", Code::Reached),
        made::outcome(&id, "zed", Code::Reached),
        made::outcome("2025-01-06", "a", Code::Reached),
        made::outcome(&old, "a", Code::Reached),
        Outcome { day: Some("6.1.2026".into()), ..made::outcome(&id, "b", Code::Reached) },
        Outcome { received_at: "now".into(), ..made::outcome(&id, "b", Code::Reached) },
        made::outcome(&id, "d", Code::Reached),
        made::outcome(&id, "e", Code::NotCalled),
        made::outcome(&id, "", Code::Reached),
    ];
    let received = ledger.receive(&entries).unwrap();
    assert_eq!((received.new, received.same, received.amended), (3, 0, 0));
    // a call to d was outside the list; none to e was
    assert_eq!(received.outside_list, [6]);
    let told: Vec<_> = received.problems.iter().map(|problem| (problem.entry, problem.to_string())).collect();
    let expected = [
        (1, r#"plan "2026-01-05-2", "zed": found nobody of this id in the plan, expected one of its people"#),
        (2, r#"plan "2025-01-06", "a": found no such plan, expected one of those recorded"#),
        (
            3,
            r#"plan "2026-01-05", "a": found a plan that was replaced, expected the one that took its place"#,
        ),
        (4, r#"plan "2026-01-05-2", "b": found "6.1.2026", expected a day such as 2026-03-16"#),
        (
            5,
            r#"plan "2026-01-05-2", "b": found "now", expected a moment in UTC such as 2026-03-16T08:00:00Z"#,
        ),
        (8, r#"plan "2026-01-05-2", "": found nobody of this id in the plan, expected one of its people"#),
    ];
    assert_eq!(told, expected.map(|(entry, text)| (entry, text.to_string())));
    assert_eq!(made::arms(&ledger.missing(&id).unwrap()), ["b", "c"]);
    // the whole file once more
    let again = ledger.receive(&entries).unwrap();
    assert_eq!((again.new, again.same, again.amended), (0, 3, 0));
    assert_eq!((again.outside_list, again.problems), (received.outside_list, received.problems));
}

#[test]
fn what_is_withdrawn_is_missing_again() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.record(&made::plan(0), &made::people(), &[], false).unwrap();
    let at = "2026-01-13T08:00:00Z";
    let error = ledger.withdraw(&id, "a", "Meera", at).unwrap_err().to_string();
    let expected = "found no outcome of \"a\" in plan 2026-01-05, expected one to withdraw";
    assert_eq!(error, format!("{}: {expected}", path.display()));
    let noted = Outcome { note: Some("her sister".into()), ..made::outcome(&id, "a", Code::Later) };
    ledger.receive(&[noted.clone(), made::outcome(&id, "a", Code::Reached)]).unwrap();
    assert!(ledger.withdraw(&id, "a", "", at).is_err() && ledger.withdraw(&id, "a", "Meera", "now").is_err());
    assert!(ledger.withdraw("none", "a", "Meera", at).is_err());

    // the word before holds again, as it was said; and then none
    assert_eq!(ledger.withdraw(&id, "a", "Meera", at).unwrap(), Some(noted.clone()));
    assert_eq!(ledger.outcomes(&id).unwrap(), std::slice::from_ref(&noted));
    assert_eq!(ledger.withdraw(&id, "a", "Asha", at).unwrap(), None);
    assert!(ledger.outcomes(&id).unwrap().is_empty() && ledger.calls().unwrap().is_empty());
    assert_eq!(made::arms(&ledger.missing(&id).unwrap()), ["b", "a", "c"]);
    let standing = ledger.standing(&id).unwrap();
    assert_eq!([standing.listed, standing.outcomes, standing.missing], [3, 0, 3]);
    assert!(ledger.decided(&id).unwrap().iter().all(|one| one.code.is_none()));
    assert!(ledger.part(&id, "a").unwrap().outcome.is_none());
    let gone: Vec<_> =
        ledger.withdrawn(&id).unwrap().into_iter().map(|one| (one.outcome.code, one.who)).collect();
    assert_eq!(gone, [(Code::Reached, "Meera".to_string()), (Code::Later, "Asha".to_string())]);
    assert_eq!(ledger.amended(&id).unwrap().len(), 3);

    // told anew, it is a first word; and a plan of which nothing holds can be replaced
    assert_eq!(ledger.receive(&[noted]).unwrap().new, 1);
    assert_eq!(ledger.withdraw(&id, "a", "Asha", at).unwrap(), None);
    ledger.record(&made::plan(0), &made::people(), &[], true).unwrap();
    assert_eq!(ledger.verify().unwrap().faults, []);
}

/// What may happen to a ledger with two current plans and one that was replaced.
#[derive(Debug, Clone)]
enum Event {
    Receive(Vec<Outcome>),
    Override(usize, usize, Kind),
    Withdraw(usize, usize),
}

const PLANS: [&str; 4] = ["2026-01-05", "2026-01-05-2", "2026-01-12", "none"];
const ARMS: [&str; 6] = ["a", "b", "c", "d", "e", "nobody"];

fn any_outcome() -> impl Strategy<Value = Outcome> {
    let day = prop_oneof![Just(None), Just(Some("2026-01-06")), Just(Some("2026-01-07")), Just(Some("Tue"))];
    let note = prop_oneof![2 => Just(None), 1 => Just(Some("x")), 1 => Just(Some("y"))];
    let code = proptest::sample::select(Code::ALL);
    ((0..12_usize), (0..11_usize), code, day, note, 0..1000_u32).prop_map(
        |(plan, arm, code, day, note, source)| {
            // those that are there more often than not
            let plan = PLANS[[1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 0, 3][plan]];
            let arm = ARMS[[0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5][arm]];
            let (day, note, source) = (day.map(Into::into), note.map(Into::into), source.to_string());
            Outcome { day, note, source, ..made::outcome(plan, arm, code) }
        },
    )
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => proptest::collection::vec(any_outcome(), 0..12).prop_map(Event::Receive),
        1 => (0..4_usize, 0..6_usize, proptest::sample::select(Kind::ALL))
            .prop_map(|(plan, arm, kind)| Event::Override(plan, arm, kind)),
        2 => (0..4_usize, 0..6_usize).prop_map(|(plan, arm)| Event::Withdraw(plan, arm)),
    ]
}

/// All words that ever held on each person of the two current plans, the last one last; and who is on which list.
#[derive(Default)]
struct Model {
    words: BTreeMap<(String, String), Vec<Outcome>>,
    /// in the order in which they ceased to hold
    gone: Vec<Outcome>,
    listed: BTreeSet<(String, String)>,
}

impl Model {
    /// Returns new, same, amended, outside, problem.
    fn hear(&mut self, said: &Outcome) -> [usize; 5] {
        let there = said.plan == PLANS[1] || said.plan == PLANS[2];
        if !there || said.arm == "nobody" || said.day.as_deref() == Some("Tue") {
            return [0, 0, 0, 0, 1];
        }
        let key = (said.plan.clone(), said.arm.clone());
        let outside = usize::from(!self.listed.contains(&key) && said.code != Code::NotCalled);
        let words = self.words.entry(key).or_default();
        let Some(last) = words.last().cloned() else {
            words.push(said.clone());
            return [1, 0, 0, outside, 0];
        };
        let mut holds = said.clone();
        if last.code == said.code {
            let has_new_day = said.day.is_some() && said.day != last.day;
            let has_new_note = said.note.is_some() && said.note != last.note;
            if !has_new_day && !has_new_note {
                return [0, 1, 0, outside, 0];
            }
            if said.day.is_none() {
                holds.day = last.day.clone();
            }
            if said.note.is_none() {
                holds.note = last.note.clone();
            }
        }
        self.gone.push(last);
        words.push(holds);
        [0, 0, 1, outside, 0]
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_sequence_leaves_what_a_simple_model_says(events in proptest::collection::vec(any_event(), 0..12)) {
        let (_folder, path) = made::place();
        let mut ledger = Ledger::open(&path).unwrap();
        for (period, replace) in [(0, false), (0, true), (1, false)] {
            ledger.record(&made::plan(period), &made::people(), &[], replace).unwrap();
        }
        let mut model = Model::default();
        for plan in [PLANS[1], PLANS[2]] {
            model.listed.extend(["a", "b", "c"].map(|arm| (plan.to_string(), arm.to_string())));
        }
        for event in events {
            match event {
                Event::Receive(entries) => {
                    let received = ledger.receive(&entries).unwrap();
                    let mut expected = [0; 5];
                    for entry in &entries {
                        let one = model.hear(entry);
                        (0..5).for_each(|k| expected[k] += one[k]);
                    }
                    let (outside, problems) = (received.outside_list.len(), received.problems.len());
                    prop_assert_eq!([received.new, received.same, received.amended, outside, problems], expected);
                }
                Event::Withdraw(plan, arm) => {
                    let key = (PLANS[plan].to_string(), ARMS[arm].to_string());
                    let holds = ledger.withdraw(PLANS[plan], ARMS[arm], "Meera", "2026-01-13T08:00:00Z");
                    match model.words.get_mut(&key) {
                        None => prop_assert!(holds.is_err()),
                        Some(words) => {
                            model.gone.extend(words.pop());
                            prop_assert_eq!(holds.unwrap(), words.last().cloned());
                            if words.is_empty() {
                                model.words.remove(&key);
                            }
                        }
                    }
                }
                Event::Override(plan, arm, kind) => {
                    let key = (PLANS[plan].to_string(), ARMS[arm].to_string());
                    let possible = (plan == 1 || plan == 2)
                        && arm < 5
                        && model.listed.contains(&key) == (kind == Kind::Removed);
                    let change = made::change(PLANS[plan], ARMS[arm], kind);
                    prop_assert_eq!(ledger.override_list(&change).is_ok(), possible);
                    if possible && kind == Kind::Added {
                        model.listed.insert(key);
                    } else if possible {
                        model.listed.remove(&key);
                    }
                }
            }
        }
        for (plan, period) in [(PLANS[1], 0), (PLANS[2], 1)] {
            let of = |(key, words): (&(String, String), &Vec<Outcome>)| (key.0 == plan).then(|| words.last().unwrap().clone());
            let holds: Vec<_> = model.words.iter().filter_map(of).collect();
            let gone: Vec<_> = model.gone.iter().filter(|outcome| outcome.plan == plan).cloned().collect();
            prop_assert_eq!(&ledger.outcomes(plan).unwrap(), &holds);
            prop_assert_eq!(ledger.amended(plan).unwrap(), gone);
            let listed: BTreeSet<_> = ledger.listed(plan).unwrap().into_iter().map(|one| (plan.to_string(), one.arm)).collect();
            let expected: BTreeSet<_> = model.listed.iter().filter(|key| key.0 == plan).cloned().collect();
            prop_assert_eq!(&listed, &expected);
            let missing: BTreeSet<_> = ledger.missing(plan).unwrap().into_iter().map(|one| (plan.to_string(), one.arm)).collect();
            let expected: BTreeSet<_> = expected.into_iter().filter(|key| !model.words.contains_key(key)).collect();
            prop_assert_eq!(&missing, &expected);
            for decided in ledger.decided(plan).unwrap() {
                let key = (plan.to_string(), decided.arm.clone());
                prop_assert_eq!(decided.is_listed, model.listed.contains(&key));
                prop_assert_eq!(decided.code, model.words.get(&key).map(|words| words.last().unwrap().code));
            }
            let standings = ledger.standings().unwrap();
            let standing = standings.plans.iter().find(|standing| standing.plan == plan).unwrap();
            prop_assert_eq!(standing.period, period);
            prop_assert_eq!([standing.people, standing.listed, standing.outcomes, standing.missing], [5, listed.len(), holds.len(), missing.len()]);
        }
        // each person's calls, counted by hand
        let calls = ledger.calls().unwrap();
        let mut expected = Vec::new();
        for arm in ARMS {
            let of = |plan: &str| model.words.get(&(plan.to_string(), arm.to_string())).map(|words| words.last().unwrap());
            let made: Vec<_> = [of(PLANS[1]), of(PLANS[2])].into_iter().flatten().filter(|word| word.code != Code::NotCalled).collect();
            if let Some(last) = made.last() {
                let contacts = made.iter().filter(|word| [Code::Reached, Code::Refused, Code::Later].contains(&word.code)).count();
                expected.push((arm.to_string(), made.len(), contacts, last.plan.clone(), last.day.clone(), last.code));
            }
        }
        let found: Vec<_> = calls.into_iter().map(|one| (one.arm, one.calls, one.contacts, one.last.plan, one.last.day, one.last.code)).collect();
        prop_assert_eq!(found, expected);
    }
}
