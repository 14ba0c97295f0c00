//! A file that was damaged gives an answer or an error, never a panic.

use crate::made;
use restive_ledger::{Code, Kind, Ledger, Reader};

fn use_all_of(ledger: &Reader) {
    let _ = (ledger.latest(), ledger.calls(), ledger.standings());
    for plan in ledger.plans().unwrap_or_default() {
        let _ = (ledger.people(&plan.id), ledger.listed(&plan.id), ledger.missing(&plan.id));
        let _ = (
            ledger.overrides(&plan.id),
            ledger.outcomes(&plan.id),
            ledger.amended(&plan.id),
            ledger.decided(&plan.id),
        );
    }
}

#[test]
fn damage_is_told_and_survived() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.record(&made::plan(0), &made::people(), false).unwrap();
    ledger.override_list(&made::change(&id, "d", Kind::Added)).unwrap();
    ledger.receive(&[made::outcome(&id, "a", Code::Reached), made::outcome(&id, "a", Code::Later)]).unwrap();
    drop(ledger);
    let whole = std::fs::read(&path).unwrap();
    let mut random = 1_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    let mut errors = 0;
    for case in 0..300 {
        let mut bytes = whole.clone();
        match case % 3 {
            0 => bytes.truncate(next(whole.len())),
            1 => (0..8).for_each(|_| bytes[next(whole.len())] = next(256) as u8),
            // pages other than the first: the header stays what it is
            _ => (0..40).for_each(|_| bytes[4096 + next(whole.len() - 4096)] ^= 1 << next(8)),
        }
        let (_folder, path) = made::place();
        std::fs::write(&path, &bytes).unwrap();
        match Ledger::read(&path) {
            Ok(reader) => use_all_of(&reader),
            Err(_) => errors += 1,
        }
        if let Ok(mut ledger) = Ledger::open(&path) {
            use_all_of(&ledger);
            let _ = ledger.record(&made::plan(1), &made::people(), false);
            let _ = ledger.record(&made::plan(0), &made::people(), true);
            let _ = ledger.receive(&[made::outcome(&id, "b", Code::Reached)]);
            let _ = ledger.override_list(&made::change(&id, "a", Kind::Removed));
        }
    }
    assert!(errors > 0);
}

#[test]
fn a_word_that_nobody_wrote_is_told() {
    let (_folder, path) = made::place();
    let mut ledger = Ledger::open(&path).unwrap();
    let id = ledger.record(&made::plan(0), &made::people(), false).unwrap();
    ledger.receive(&[made::outcome(&id, "a", Code::Reached)]).unwrap();
    let hand = rusqlite::Connection::open(&path).unwrap();
    hand.pragma_update(None, "ignore_check_constraints", true).unwrap();
    hand.execute("UPDATE outcomes SET code = 'spoken'", []).unwrap();
    let error = ledger.outcomes(&id).unwrap_err().to_string();
    assert!(error.contains("found \"spoken\", expected one of reached, no_answer"), "{error}");
}
