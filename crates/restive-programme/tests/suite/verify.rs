//! Verification of a plan on record: what a change of the record must not escape, where the chain of the ledger is whole.

use crate::common::{now, programme};
use restive_ledger::{Excluded, How, Ledger, NewPlan, Planned};
use restive_pipeline::PlanCertificate;
use restive_programme::{Again, Programme, RecordedEffects, Row, Verified, VerifyAsked, WeekAsked};
use std::fs;

/// The content of a plan on record.
struct Content {
    facts: NewPlan,
    people: Vec<Planned>,
    excluded: Vec<Excluded>,
}

impl Content {
    /// Position of somebody who is listed, or of somebody whose score decides nothing: neither listed nor the next one.
    fn position(&self, is_listed: bool) -> usize {
        let next = self
            .people
            .iter()
            .filter(|one| !one.how.is_listed())
            .map(|one| one.score)
            .fold(f64::MIN, f64::max);
        let is_one = |one: &Planned| one.how.is_listed() == is_listed && (is_listed || one.score < next);
        self.people.iter().position(is_one).unwrap()
    }

    /// Changes the row of somebody who is listed.
    fn change_row(&mut self, change: impl FnOnce(&mut Row)) {
        let listed = self.position(true);
        let row = self.people[listed].row.as_mut().unwrap();
        let mut changed: Row = serde_json::from_str(row).unwrap();
        change(&mut changed);
        *row = serde_json::to_string(&changed).unwrap();
    }

    /// Changes the certificate.
    fn change_certificate(&mut self, change: impl FnOnce(&mut PlanCertificate)) {
        let mut effects: RecordedEffects = serde_json::from_str(&self.facts.certificate).unwrap();
        change(effects.identified_mut().unwrap().certificate.as_mut().unwrap());
        self.facts.certificate = serde_json::to_string(&effects).unwrap();
    }
}

fn verify(programme: &Programme) -> Verified {
    programme.verify(&VerifyAsked::default(), |_, _| {}).unwrap()
}

/// Records a changed plan in a new ledger, whose chain is whole, and verifies it.
fn verify_changed(change: impl FnOnce(&mut Content)) -> Again {
    let (_kept, programme) = programme();
    let reader = Ledger::read(&programme.ledger()).unwrap();
    let plan = reader.latest().unwrap().unwrap();
    let people = reader.people(&plan.id).unwrap();
    let mut content = Content { facts: plan.facts, people, excluded: reader.excluded(&plan.id).unwrap() };
    drop(reader);
    change(&mut content);
    fs::remove_file(programme.ledger()).unwrap();
    let mut ledger = Ledger::open(&programme.ledger()).unwrap();
    ledger.record(&content.facts, &content.people, &content.excluded, false).unwrap();
    drop(ledger);
    let verified = verify(&programme);
    assert_eq!(verified.faults, []);
    assert_eq!(verified.is_well(), verified.plans[0].again == Again::Same);
    verified.plans.into_iter().next().unwrap().again
}

/// Checks that a change is found and what is said of it.
#[track_caller]
fn assert_found(expected: &str, change: impl FnOnce(&mut Content)) {
    match verify_changed(change) {
        Again::Differs(what) => assert!(what.join("; ").contains(expected), "{what:?}"),
        other => panic!("{expected}: {other:?}"),
    }
}

#[test]
fn plan_that_was_not_changed_comes_out_the_same() {
    assert_eq!(verify_changed(|_| {}), Again::Same);
}

#[test]
fn numbers_that_another_processor_rounds_differently_are_confirmed() {
    for share in [1e-15, 3e-10] {
        let again = verify_changed(|content| {
            // below all others, so that no rank changes
            let last = content.people.iter_mut().max_by_key(|one| one.rank).unwrap();
            last.score -= share * last.score.abs();
            last.value *= 1.0 - share;
        });
        assert_eq!(again, Again::Same);
        let again = verify_changed(|content| {
            content.change_row(|row| row.effects.as_mut().unwrap().called.value *= 1.0 - share)
        });
        assert_eq!(again, Again::Same);
        let again = verify_changed(|content| content.change_certificate(|one| one.bound *= 1.0 + share));
        assert_eq!(again, Again::Same);
    }
}

#[test]
fn score_or_value_changed_by_more_than_rounding_is_found() {
    assert_found("scores: 1 row not the same: ", |content| {
        let other = content.position(false);
        content.people[other].score *= 1.0 - 1e-8;
    });
    assert_found("scores: 1 row not the same: ", |content| {
        let other = content.position(false);
        content.people[other].value *= 1.0 + 1e-8;
    });
}

#[test]
fn last_bit_of_what_follows_from_scores_is_found() {
    for change in [f64::next_down, f64::next_up] {
        assert_found("people: 1 row not the same", |content| {
            let other = content.position(false);
            content.people[other].probability = change(content.people[other].probability).abs();
        });
        assert_found("value: recorded ", |content| content.facts.value = change(content.facts.value));
        assert_found("people: 1 row not the same", |content| {
            content.change_row(|row| {
                let effects = row.effects.as_mut().unwrap();
                effects.worth = change(effects.worth);
            });
        });
    }
    assert_found("people: 1 row not the same", |content| {
        let listed = content.position(true);
        content.people[listed].probability = content.people[listed].probability.next_down();
    });
    assert_found("people: 1 row not the same", |content| {
        content.change_row(|row| row.probability = row.probability.next_down());
    });
}

#[test]
fn choice_order_and_reasons_that_do_not_follow_are_found() {
    assert_found("people: 2 rows not the same", |content| {
        let (a, b) = (content.position(true), content.position(false));
        (content.people[a].rank, content.people[b].rank) = (content.people[b].rank, content.people[a].rank);
    });
    assert_found("people: 1 row not the same", |content| {
        let listed = content.position(true);
        content.people[listed].how = How::Must;
    });
    assert_found("people: 1 row not the same", |content| {
        let other = content.position(false);
        content.people[other].tie ^= 1;
    });
    assert_found("people: 1 row not the same", |content| content.change_row(|row| row.rank += 1));
    assert_found("people: 1 row not the same", |content| {
        content.change_row(|row| row.effects.as_mut().unwrap().reason.push('.'))
    });
    assert_found("people: 1 row not the same", |content| {
        content.change_row(|row| row.effects.as_mut().unwrap().left_alone.value *= 1.0 + 1e-8);
    });
    assert_found("cuts is not the same", |content| {
        let (yes, no) = ("\"is_plain\":true", "\"is_plain\":false");
        let (old, new) = if content.facts.cuts.contains(yes) { (yes, no) } else { (no, yes) };
        content.facts.cuts = content.facts.cuts.replacen(old, new, 1);
    });
    assert_found("summary is not the same", |content| {
        content.facts.summary = content.facts.summary.replacen("of 6", "of 7", 1);
    });
}

#[test]
fn certificate_that_the_model_does_not_confirm_is_found() {
    assert_found("certificate is not the same", |content| {
        content.change_certificate(|certificate| certificate.bound *= 1.0 + 1e-8);
    });
    assert_found("certificate is not the same", |content| {
        content.change_certificate(|certificate| certificate.people += 1);
    });
}

#[test]
fn inputs_of_a_plan_that_was_not_finished_are_a_note_and_no_fault() {
    let (_kept, programme) = programme();
    assert_eq!(verify(&programme).notes, Vec::<String>::new());
    fs::remove_file(programme.ledger()).unwrap();
    drop(Ledger::open(&programme.ledger()).unwrap());
    let verified = verify(&programme);
    assert!(verified.is_well() && verified.plans.is_empty(), "{verified:?}");
    assert!(verified.notes[0].contains("a first plan that was not finished"), "{verified:?}");
}

#[test]
fn content_that_the_system_refuses_to_read_is_an_error_and_no_fault() {
    let (_kept, programme) = programme();
    let plan = Ledger::read(&programme.ledger()).unwrap().latest().unwrap().unwrap();
    let digest = &plan.facts.inputs[0].digest;
    let content = programme.folder().join("records").join(&digest[..2]).join(digest);
    fs::remove_file(&content).unwrap();
    fs::create_dir(&content).unwrap();
    let refused = programme.verify(&VerifyAsked::default(), |_, _| {}).unwrap_err().to_string();
    assert!(refused.contains("cannot read: "), "{refused}");
}

#[test]
fn content_that_was_lost_is_kept_again_by_the_next_plan() {
    let (_kept, programme) = programme();
    let plan = Ledger::read(&programme.ledger()).unwrap().latest().unwrap().unwrap();
    for input in &plan.facts.inputs {
        let content = programme.folder().join("records").join(&input.digest[..2]).join(&input.digest);
        fs::write(content, "").unwrap();
    }
    assert!(matches!(verify(&programme).plans[0].again, Again::Lost(_)));
    programme.plan(&WeekAsked { again: true, ..WeekAsked::default() }, now()).unwrap();
    let verified = verify(&programme);
    assert!(verified.is_well() && verified.plans.len() == 2, "{verified:?}");
}
