//! Lists that are edited: moved up, left out, added, final, and by two people at once.

use crate::common::{now, programme, tell};
use restive_ledger::Ledger;
use restive_programme::{Code, Done, Draft, Edit, Edited, Entered, OneOutcome, Programme};

fn draft(programme: &Programme) -> Draft {
    programme.draft(&programme.backdrop().unwrap(), None).unwrap().unwrap()
}

fn ids(draft: &Draft) -> Vec<String> {
    draft.rows.iter().map(|row| row.contact.id.clone()).collect()
}

/// A change by Asha from the version that is on record.
fn edit(programme: &Programme, edit: Edit, id: &str) -> Edited {
    let now_there = draft(programme);
    programme.edit(&now_there.record.id, now_there.version(), edit, id, "Asha", "a reason", now()).unwrap()
}

#[test]
fn a_draft_is_the_list_that_was_planned() {
    let (_kept, programme) = programme();
    let draft = draft(&programme);
    assert_eq!((draft.rows.len(), draft.version(), draft.worker.as_deref()), (6, 0, Some("worker")));
    assert!(draft.is_final().is_none() && draft.rows.iter().all(|row| row.is_new && !row.is_overdue));
    let list = programme.list(None).unwrap();
    assert_eq!(ids(&draft), list.rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>());
    assert!(
        draft.rows.iter().all(|row| row.said.is_some() && row.by_hand.is_none() && row.outcome.is_none())
    );
}

#[test]
fn whoever_is_moved_up_is_called_first_and_the_last_move_counts_most() {
    let (_kept, programme) = programme();
    let before = ids(&draft(&programme));
    assert_eq!(edit(&programme, Edit::MoveUp, &before[4]), Edited::Done(1));
    assert_eq!(edit(&programme, Edit::MoveUp, &before[2]), Edited::Done(2));
    let after = draft(&programme);
    let expected = [2, 4, 0, 1, 3, 5].map(|k| before[k].clone());
    assert_eq!(ids(&after), expected);
    assert_eq!(after.rows[0].by_hand.as_ref().unwrap().done, Done::MovedUp);
    // the list for people has the same order, and its ranks count from 1
    assert_eq!(after.list.rows.iter().map(|row| row.rank).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    // moved twice she is not there twice
    edit(&programme, Edit::MoveUp, &before[4]);
    assert_eq!(ids(&draft(&programme)), [4, 2, 0, 1, 3, 5].map(|k| before[k].clone()));
}

#[test]
fn people_are_left_out_and_added_and_probabilities_stay() {
    let (_kept, programme) = programme();
    let before = draft(&programme);
    let (plan, all) = (before.record.id.clone(), ids(&before));
    let probabilities = || {
        let people = Ledger::read(&programme.ledger()).unwrap().people(&plan).unwrap();
        people.into_iter().map(|one| (one.arm, one.probability)).collect::<Vec<_>>()
    };
    let drawn = probabilities();
    assert_eq!(edit(&programme, Edit::LeaveOut, &all[0]), Edited::Done(1));
    assert_eq!(ids(&draft(&programme)), all[1..]);
    // somebody from whom the plan chose and who is not on the list
    let backdrop = programme.backdrop().unwrap();
    let reader = Ledger::read(&programme.ledger()).unwrap();
    let other = reader.people(&plan).unwrap().into_iter().find(|one| !one.how.is_listed()).unwrap();
    drop(reader);
    let id = backdrop.contacts.person(&other.arm).unwrap().id.clone();
    assert_eq!(edit(&programme, Edit::Add, &id), Edited::Done(2));
    let after = draft(&programme);
    let added = after.rows.last().unwrap();
    assert!(added.contact.id == id && added.said.is_none());
    assert_eq!(
        added.by_hand.as_ref().map(|change| (change.done, change.who.as_str())),
        Some((Done::Added, "Asha"))
    );
    assert_eq!(probabilities(), drawn);
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let (fixture, programme) = programme();
    let before = draft(&programme);
    let (plan, all) = (before.record.id.clone(), ids(&before));
    let on = all[0].as_str();
    let mut everybody = fixture.truth().people().iter().map(|person| person.id.clone());
    let off = everybody.find(|id| !all.contains(id)).unwrap();
    for (kind, id, who, why) in [
        (Edit::Add, on, "Asha", "why"),
        (Edit::LeaveOut, &off, "Asha", "why"),
        (Edit::MoveUp, &off, "Asha", "why"),
        (Edit::LeaveOut, "MB-99999", "Asha", "why"),
        (Edit::LeaveOut, on, "Asha", " "),
        (Edit::MoveUp, on, "Asha", ""),
        (Edit::LeaveOut, on, "", "why"),
    ] {
        assert!(
            programme.edit(&plan, 0, kind, id, who, why, now()).is_err(),
            "{kind:?} {id} {who:?} {why:?}"
        );
    }
    assert!(programme.edit("2020-01-06", 0, Edit::LeaveOut, on, "Asha", "why", now()).is_err());
    assert_eq!((draft(&programme).version(), ids(&draft(&programme))), (0, all));
}

#[test]
fn an_editor_of_another_version_is_told_what_came_between() {
    let (_kept, programme) = programme();
    let seen = draft(&programme);
    let (plan, all) = (seen.record.id.clone(), ids(&seen));
    edit(&programme, Edit::LeaveOut, &all[0]);
    let stale = programme.edit(&plan, seen.version(), Edit::MoveUp, &all[2], "Bela", "asked", now()).unwrap();
    let Edited::Stale(between) = stale else { panic!("{stale:?}") };
    assert_eq!((between.len(), between[0].done, between[0].who.as_str()), (1, Done::Removed, "Asha"));
    // neither a final word nor a version that nobody has seen yet is taken
    assert!(matches!(programme.finalise(&plan, 0, "Bela", now()).unwrap(), Edited::Stale(_)));
    assert!(matches!(programme.finalise(&plan, 7, "Bela", now()).unwrap(), Edited::Stale(_)));
    assert_eq!(draft(&programme).version(), 1);
}

#[test]
fn a_final_list_stays_as_it_is() {
    let (_kept, programme) = programme();
    let all = ids(&draft(&programme));
    let plan = draft(&programme).record.id;
    edit(&programme, Edit::LeaveOut, &all[5]);
    assert_eq!(programme.finalise(&plan, 1, "Asha", now()).unwrap(), Edited::Done(2));
    let done = draft(&programme);
    assert_eq!(done.is_final().map(|change| change.who.as_str()), Some("Asha"));
    for kind in [Edit::MoveUp, Edit::LeaveOut, Edit::Add] {
        let id = if kind == Edit::Add { &all[5] } else { &all[0] };
        let error = programme.edit(&plan, 2, kind, id, "Asha", "late", now()).unwrap_err().to_string();
        assert!(error.contains("final"), "{error}");
    }
    assert!(programme.finalise(&plan, 2, "Asha", now()).is_err());
    let again = restive_programme::WeekAsked { again: true, ..Default::default() };
    assert!(programme.plan(&again, now()).is_err());
    assert_eq!(ids(&draft(&programme)), all[..5]);
    assert!(Ledger::read(&programme.ledger()).unwrap().verify().unwrap().faults.is_empty());
}

#[test]
fn outcomes_are_told_again_and_otherwise() {
    let (_kept, programme) = programme();
    let (plan, all) = (draft(&programme).record.id, ids(&draft(&programme)));
    assert_eq!(tell(&programme, &all[0], Code::NoAnswer, Some("  rang twice ")).unwrap(), Entered::Done);
    assert_eq!(tell(&programme, &all[0], Code::NoAnswer, None).unwrap(), Entered::Same);
    assert_eq!(tell(&programme, &all[0], Code::Reached, None).unwrap(), Entered::Done);
    let outcome = draft(&programme).rows.swap_remove(0).outcome.unwrap();
    assert_eq!(
        (outcome.code, outcome.day.as_deref(), outcome.note.clone()),
        (Code::Reached, Some("2026-03-02"), None)
    );
    let before = Ledger::read(&programme.ledger()).unwrap().amended(&plan).unwrap();
    assert_eq!((before.len(), before[0].note.as_deref()), (1, Some("rang twice")));
    assert!(tell(&programme, "MB-99999", Code::Reached, None).is_err());
    let told = OneOutcome { plan: "2020-01-06", id: &all[0], code: Code::Reached, day: None, note: None };
    assert!(programme.tell(&told, "none", "Bela", now()).is_err());
    // whoever has not seen what is known is told, and writes nothing
    let told = OneOutcome { plan: &plan, ..told };
    let stale = programme.tell(&told, "none", "Bela", now()).unwrap();
    assert!(matches!(&stale, Entered::Stale(Some(known)) if known.code == Code::Reached), "{stale:?}");
    // who says what she has said disagrees with nobody; somebody else may
    let told = OneOutcome { day: Some(jiff::civil::date(2026, 3, 2)), ..told };
    assert_eq!(programme.tell(&told, "none", "Bela", now()).unwrap(), Entered::Same);
    assert!(matches!(programme.tell(&told, "none", "Mina", now()).unwrap(), Entered::Stale(Some(_))));
}

#[test]
fn a_draft_after_another_is_the_draft_made_anew() {
    let (_kept, programme) = programme();
    let backdrop = programme.backdrop().unwrap();
    let mut now = programme.draft(&backdrop, None).unwrap().unwrap();
    let ids = ids(&now);
    let step = |now: &Draft| {
        let after = programme.draft_after(&backdrop, now).unwrap().unwrap();
        let anew = draft(&programme);
        assert_eq!(format!("{:?}", after.rows), format!("{:?}", anew.rows));
        assert_eq!(after.version(), anew.version());
        assert_eq!(format!("{:?}", after.list), format!("{:?}", anew.list));
        after
    };
    for code in [Code::NoAnswer, Code::Reached] {
        tell(&programme, &ids[0], code, None).unwrap();
        let after = step(&now);
        assert_eq!(after.rows[0].outcome.as_ref().unwrap().code, code);
        // nothing but the outcome is another
        assert!(std::sync::Arc::ptr_eq(&after.list, &now.list));
        now = after;
    }
    edit(&programme, Edit::LeaveOut, &ids[1]);
    let after = step(&now);
    assert!(after.rows.iter().all(|row| row.contact.id != ids[1]));
    edit(&programme, Edit::MoveUp, &ids[2]);
    assert_eq!(step(&after).rows[0].contact.id, ids[2]);
}
