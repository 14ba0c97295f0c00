//! A list on its way: moved up, final, and its history.

use crate::made::{people, place, plan};
use restive_ledger::{Done, Error, Kind, Ledger, Override};

const AT: &str = "2026-01-05T08:00:00Z";

fn change(plan: &str, arm: &str, kind: Kind) -> Override {
    let (plan, arm) = (plan.into(), arm.into());
    Override { plan, arm, kind, who: "Asha".into(), why: "knows her".into(), at: AT.into() }
}

#[test]
fn changes_are_a_history_until_the_list_is_final() {
    let (_folder, path) = place();
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.record(&plan(0), &people(), &[], false).unwrap();
    assert!(ledger.list_changes(&id).unwrap().is_empty());
    ledger.override_list(&change(&id, "d", Kind::Added)).unwrap();
    ledger.move_up(&id, "c", "Asha", "asked for it", AT).unwrap();
    ledger.override_list(&change(&id, "a", Kind::Removed)).unwrap();
    // whoever is not on the list is not moved, and a reason is given
    assert!(matches!(ledger.move_up(&id, "a", "Asha", "x", AT), Err(Error::NotListed { .. })));
    assert!(matches!(ledger.move_up(&id, "z", "Asha", "x", AT), Err(Error::UnknownPerson { .. })));
    assert!(matches!(ledger.move_up(&id, "c", "Asha", " ", AT), Err(Error::Content { .. })));
    assert_eq!(ledger.final_list(&id).unwrap(), None);
    ledger.finalise(&id, "Asha", AT).unwrap();

    let changes = ledger.list_changes(&id).unwrap();
    let told: Vec<(Done, Option<&str>)> = changes.iter().map(|one| (one.done, one.arm.as_deref())).collect();
    assert_eq!(
        told,
        [
            (Done::Added, Some("d")),
            (Done::MovedUp, Some("c")),
            (Done::Removed, Some("a")),
            (Done::Final, None)
        ]
    );
    assert_eq!(ledger.final_list(&id).unwrap().unwrap().who, "Asha");

    // nothing changes a final list, and nothing replaces its plan
    for refused in [
        ledger.finalise(&id, "Asha", AT),
        ledger.move_up(&id, "c", "Asha", "again", AT),
        ledger.override_list(&change(&id, "a", Kind::Added)),
        ledger.record(&plan(0), &people(), &[], true).map(|_| ()),
    ] {
        assert!(matches!(refused, Err(Error::FinalList { .. })), "{refused:?}");
    }
    assert!(ledger.verify().unwrap().faults.is_empty());
}

#[test]
fn one_plan_does_not_tell_of_another() {
    let (_folder, path) = place();
    let mut ledger = Ledger::open(&path).unwrap();
    let first = ledger.record(&plan(0), &people(), &[], false).unwrap();
    ledger.move_up(&first, "b", "Asha", "x", AT).unwrap();
    // its name begins with that of the first
    let second = ledger.record(&plan(0), &people(), &[], true).unwrap();
    assert!(second.starts_with(&first));
    ledger.finalise(&second, "Asha", AT).unwrap();
    assert_eq!(ledger.list_changes(&first).unwrap().len(), 1);
    assert_eq!(ledger.list_changes(&second).unwrap()[0].done, Done::Final);
    assert!(ledger.list_changes("nothing").is_err());
}
