//! Weeks of a synthetic programme: the ledger returns the lists, outcomes and calls that happened.

use crate::made;
use restive_ledger::{Code, Decided, Excluded, How, LastCall, Ledger, NewPlan, Outcome, Planned};
use restive_testkit::programme::{Call, CallOutcome, ProgrammeOptions, SyntheticProgramme};
use std::collections::BTreeMap;

fn code(call: &Call) -> Code {
    match call.outcome {
        CallOutcome::Reached => Code::Reached,
        CallOutcome::NoAnswer => Code::NoAnswer,
        CallOutcome::WrongNumber => Code::WrongNumber,
    }
}

/// A week of the programme: its plan, with people in an order that is not that of their ids, and the outcomes of its calls.
struct PlannedWeek {
    plan: NewPlan,
    people: Vec<Planned>,
    excluded: Vec<Excluded>,
    calls: BTreeMap<String, Code>,
}

impl PlannedWeek {
    fn new(synthetic: &SyntheticProgramme, week: usize) -> Self {
        let calls = synthetic.calls_of_week(week);
        let calls: BTreeMap<String, Code> =
            calls.iter().map(|call| (synthetic.people()[call.person].id.clone(), code(call))).collect();
        let (mut people, mut excluded) = (Vec::new(), Vec::new());
        for (k, person) in synthetic.people().iter().enumerate().rev() {
            let states = &synthetic.states()[k];
            let (Some(before), Some(_)) = (states[week - 1], states[week]) else { continue };
            if person.do_not_call {
                excluded.push(Excluded { arm: person.id.clone(), why: "not to be called".into() });
                continue;
            }
            let how = if calls.contains_key(&person.id) { How::Draw } else { How::NotListed };
            let (rank, group) = (Some(k as u32 + 1), Some(person.worker.clone()));
            let state = Some(i64::from(before));
            people.push(Planned { rank, state, group, ..made::person(&person.id, how) });
        }
        let middle = people.len() / 2;
        people.rotate_left(middle);
        Self { plan: made::plan(week as i64), people, excluded, calls }
    }

    fn outcomes(&self, plan: &str) -> Vec<Outcome> {
        self.calls.iter().map(|(arm, code)| made::outcome(plan, arm, *code)).collect()
    }
}

/// Records the weeks, each with its plan and outcomes, and compares what is read with what happened.
fn assert_weeks_are_read_as_they_happened(synthetic: &SyntheticProgramme) {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let weeks: Vec<PlannedWeek> =
        (1..synthetic.weeks()).map(|week| PlannedWeek::new(synthetic, week)).collect();
    let mut ids = Vec::new();
    for week in &weeks {
        let id = ledger.record(&week.plan, &week.people, &week.excluded, false).unwrap();
        let received = ledger.receive(&week.outcomes(&id)).unwrap();
        assert_eq!((received.new, received.problems.len()), (synthetic.options().calls, 0));
        assert!(received.outside_list.is_empty());
        ids.push(id);
    }
    drop(ledger);
    let reader = Ledger::read(&path).unwrap();
    let standings = reader.standings().unwrap();
    assert_eq!(standings.plans.len(), weeks.len());
    for ((id, week), standing) in ids.iter().zip(&weeks).zip(&standings.plans) {
        let mut people = week.people.clone();
        people.sort_by(|a, b| a.arm.cmp(&b.arm));
        let called: Vec<&str> = week.calls.keys().map(String::as_str).collect();
        let decided: Vec<Decided> = people
            .iter()
            .map(|person| Decided {
                arm: person.arm.clone(),
                probability: person.probability,
                is_listed: week.calls.contains_key(&person.arm),
                code: week.calls.get(&person.arm).copied(),
            })
            .collect();
        assert!(reader.decided(id).unwrap() == decided, "{id}");
        assert!(reader.people(id).unwrap() == people, "{id}");
        let listed = reader.listed(id).unwrap();
        assert!(listed.is_sorted_by_key(|one| one.rank), "{id}");
        let mut listed = made::arms(&listed);
        listed.sort();
        assert_eq!(listed, called);
        assert_eq!(reader.excluded(id).unwrap().len(), week.excluded.len());
        let counts = (standing.people, standing.listed, standing.outcomes, standing.missing);
        assert_eq!(counts, (people.len(), called.len(), called.len(), 0), "{id}");
    }
    // for each person who was ever called: number of calls, of contacts, and the last call
    let mut expected: BTreeMap<&str, (usize, usize, LastCall)> = BTreeMap::new();
    for (week, (id, planned)) in ids.iter().zip(&weeks).enumerate() {
        for (arm, code) in &planned.calls {
            let last = LastCall { plan: id.clone(), period: week as i64 + 1, day: None, code: *code };
            let entry = expected.entry(arm).or_insert((0, 0, last.clone()));
            *entry = (entry.0 + 1, entry.1 + usize::from(*code == Code::Reached), last);
        }
    }
    let calls = reader.calls().unwrap();
    assert_eq!(calls.len(), expected.len());
    for (found, (arm, (calls, contacts, last))) in calls.iter().zip(expected) {
        assert_eq!((found.arm.as_str(), found.calls, found.contacts), (arm, calls, contacts));
        assert_eq!(found.last, last, "{arm}");
    }
    let verified = reader.verify().unwrap();
    assert_eq!(verified.faults, []);
    // a link for each plan and each outcome
    assert_eq!(verified.links, weeks.len() * (1 + synthetic.options().calls));
}

#[test]
fn weeks_with_people_who_join_and_leave_are_read_as_they_happened() {
    for seed in 0..3 {
        let options = ProgrammeOptions { people: 300, weeks: 15, calls: 24, seed, ..Default::default() };
        assert_weeks_are_read_as_they_happened(&SyntheticProgramme::new(&options).unwrap());
    }
}

#[test]
fn weeks_of_100_000_people_are_read_as_they_happened() {
    let options = ProgrammeOptions {
        people: 100_000,
        weeks: 4,
        calls: 1000,
        turnover: false,
        ..ProgrammeOptions::default()
    };
    assert_weeks_are_read_as_they_happened(&SyntheticProgramme::new(&options).unwrap());
}
