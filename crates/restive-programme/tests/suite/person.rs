//! One person: what is told of her is what the list said, what the exports said and what the rules say.

use crate::common::{WEEKS, now, programme, tell};
use restive_import::demo::CallOutcome;
use restive_ledger::Ledger;
use restive_programme::{Code, Edit, Hold, Person, Programme, Silent, seen};

fn person(programme: &Programme, id: &str) -> Option<Person> {
    let (backdrop, book) = (programme.backdrop().unwrap(), programme.casebook().unwrap());
    programme.person(&backdrop, &book, id).unwrap()
}

fn arm(programme: &Programme, id: &str) -> String {
    programme.backdrop().unwrap().contacts.arm(id).unwrap().into()
}

fn listed(programme: &Programme) -> Vec<String> {
    programme.list(None).unwrap().rows.into_iter().map(|row| row.id).collect()
}

#[test]
fn the_model_says_of_one_what_it_said_of_all() {
    let (_kept, programme) = programme();
    let draft = programme.draft(&programme.backdrop().unwrap(), None).unwrap().unwrap();
    for row in &draft.rows {
        let person = person(&programme, &row.contact.id).unwrap();
        let (said, listed) = (person.said.as_ref().unwrap(), row.said.as_ref().unwrap());
        let (state, listed_effects) = (said.state, listed.effects.as_ref().unwrap());
        let said = said.effects.identified().unwrap();
        let both = [(said.left_alone, listed_effects.left_alone), (said.called, listed_effects.called)];
        for (one, other) in both {
            // one person at a time sums in another order
            assert!((one.value - other.value).abs() < 1e-12);
            let ends = |chance: restive_programme::Chance| chance.interval.unwrap_or([0.0, 1.0]);
            assert!((0..2).all(|k| (ends(one)[k] - ends(other)[k]).abs() < 1e-9));
        }
        assert_eq!(Some(state), listed.state);
        let sentence = said.reason.trim_end_matches('.');
        assert!(listed.reason().starts_with(sentence), "{} / {}", listed.reason(), said.reason);
        // in her own state it is what it is now, and it was enough for a place
        let here = said.in_states.iter().find(|one| one.state == state).unwrap();
        assert_eq!(
            (here.left_alone, here.called, here.is_enough),
            (said.left_alone, said.called, Some(true))
        );
        assert_eq!((said.in_states.len(), said.shares.len()), (2, 5));
        assert!(
            person.was_listed() && person.places[0].row.as_ref().map(|row| row.rank) == Some(listed.rank)
        );
    }
}

#[test]
fn weeks_are_those_of_the_exports_and_of_the_ledger() {
    let (fixture, programme) = programme();
    let truth = fixture.truth();
    let all = listed(&programme);
    tell(&programme, &all[0], Code::NoAnswer, None).unwrap();
    // what was taken back was not said
    tell(&programme, &all[1], Code::Reached, None).unwrap();
    let known = Ledger::read(&programme.ledger())
        .unwrap()
        .part("2026-03-02", &arm(&programme, &all[1]))
        .unwrap()
        .outcome;
    programme.take_back("2026-03-02", &all[1], &seen(known.as_ref()), "Bela", now()).unwrap();
    for (k, known) in truth.people().iter().enumerate() {
        let id = known.id.clone();
        let person = person(&programme, &id).unwrap();
        let (study, last) = person.weeks.split_at(WEEKS);
        for (week, one) in study.iter().enumerate() {
            assert_eq!(one.state, truth.states()[k][week].map(u16::from), "{id} week {week}");
            assert_eq!(one.is_called.unwrap_or(false), truth.is_called(k, week), "{id} week {week}");
            assert_eq!(one.first_day, Some(truth.day(week, 0)));
        }
        // the week of the list, of which no import knows
        let place = &person.places[0];
        assert_eq!((last.len(), last[0].state, last[0].is_listed), (1, None, all.contains(&id)));
        assert_eq!(last[0].outcome, (id == all[0]).then_some(Code::NoAnswer));
        assert_eq!(place.is_listed, all.contains(&id));
        assert!(place.planned.is_some() != place.excluded.is_some(), "{id}");
    }
    assert!(person(&programme, "MB-99999").is_none());
}

#[test]
fn what_keeps_somebody_off_is_named_with_its_end() {
    let (fixture, programme) = programme();
    let truth = fixture.truth();
    let mut found = [false; 4];
    for (k, known) in truth.people().iter().enumerate() {
        let person = person(&programme, &known.id).unwrap();
        let last = truth.calls().filter(|call| call.person == k).last();
        // after a call a person is not called in the two weeks that follow; the next list is of week 8
        let wait = last.filter(|call| call.week + 2 >= WEEKS);
        let wait = wait.map(|call| Hold::CoolDown(Some(truth.day(call.week + 3, 0))));
        let wrong = last.filter(|call| call.outcome == CallOutcome::WrongNumber).map(|_| Hold::WrongNumber);
        let expected: Vec<Hold> = match known.do_not_call {
            true => vec![Hold::NotToBeCalled],
            false => wrong.into_iter().chain(wait).collect(),
        };
        assert_eq!(person.holds, expected, "{}", known.id);
        assert_eq!(person.places[0].excluded.is_some(), !expected.is_empty(), "{}", known.id);
        match expected.first() {
            None => found[0] = true,
            Some(Hold::CoolDown(_)) => found[1] = true,
            Some(Hold::NotToBeCalled) => found[2] = true,
            Some(_) => found[3] = true,
        }
    }
    // one person has a wrong number
    assert_eq!(found, [true; 4]);
}

#[test]
fn changes_by_hand_are_told_of_the_person_they_are_about() {
    let (_kept, programme) = programme();
    let all = listed(&programme);
    programme.edit("2026-03-02", 0, Edit::LeaveOut, &all[1], "Asha", "is away", now()).unwrap();
    let out = person(&programme, &all[1]).unwrap();
    let place = &out.places[0];
    assert!(!place.is_listed && out.was_listed() && !out.weeks.last().unwrap().is_listed);
    assert_eq!(place.changes.iter().map(|change| change.why.as_str()).collect::<Vec<_>>(), ["is away"]);
    assert!(person(&programme, &all[0]).unwrap().places[0].changes.is_empty());
}

#[test]
fn draft_and_record_agree_on_who_was_listed() {
    let (fixture, programme) = programme();
    let all = listed(&programme);
    let others: Vec<String> = fixture.truth().people().iter().map(|one| one.id.clone()).collect();
    // only people that the plan chose from can be added
    let chosen_from = Ledger::read(&programme.ledger()).unwrap().people("2026-03-02").unwrap();
    let addable: Vec<&str> =
        chosen_from.iter().filter(|one| !one.how.is_listed()).map(|one| one.arm.as_str()).collect();
    let edit = |version, edit, id: &str| {
        programme.edit("2026-03-02", version, edit, id, "Asha", "by hand", now()).unwrap();
    };
    // left out; added; added and left out again, so that no list had them
    edit(0, Edit::LeaveOut, &all[0]);
    edit(1, Edit::Add, addable[0]);
    edit(2, Edit::Add, addable[1]);
    edit(3, Edit::LeaveOut, addable[1]);
    let (backdrop, book) = (programme.backdrop().unwrap(), programme.casebook().unwrap());
    let draft = programme.draft(&backdrop, None).unwrap().unwrap();
    let mut found = 0;
    for id in &others {
        let person = programme.person(&backdrop, &book, id).unwrap().unwrap();
        let was_listed = draft.was_listed(backdrop.contacts.arm(id).unwrap());
        assert_eq!(was_listed, person.was_listed(), "{id}");
        found += usize::from(was_listed);
    }
    assert_eq!(found, all.len() + 1);
}

#[test]
fn a_programme_without_a_model_or_a_list_has_people_all_the_same() {
    let (_kept, programme) = programme();
    std::fs::remove_dir_all(programme.models_folder()).unwrap();
    for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
        let _ = std::fs::remove_file(programme.folder().join(name));
    }
    let person = person(&programme, "MB-00001").unwrap();
    assert_eq!(person.said.as_ref().err(), Some(&Silent::NoModel));
    assert!(person.places.is_empty() && !person.was_listed() && person.weeks.len() == WEEKS);
}
