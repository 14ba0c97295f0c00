//! Checks of what was logged.

use super::made::{Choice, Made, PEOPLE, WEEKS, Written, finding, of_twenty};
use ndarray::Array2;
use rand::RngExt;
use rand::seq::SliceRandom;
use restive::instance::UNSEEN;
use restive::random::stream;
use restive_pipeline::Severity;
use restive_tables::StudyBehaviour;

const WARNING: Severity = Severity::Warning;
const SERIOUS: Severity = Severity::Serious;

fn by(choice: Choice) -> impl Fn(u64) -> Written {
    move |seed| Made { choice, seed, ..Made::default() }.written()
}

fn shuffled(seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..PEOPLE).collect();
    order.shuffle(&mut stream(seed, &[9]));
    order
}

#[test]
fn rows_that_are_off_are_serious_however_people_were_chosen() {
    for choice in [Choice::Lot, Choice::Rota, Choice::Worse] {
        assert!(of_twenty("alignment", SERIOUS, |seed| by(choice)(seed).early()) >= 19, "{choice:?}");
        assert_eq!(of_twenty("alignment", WARNING, by(choice)), 0, "{choice:?}");
    }
}

#[test]
fn names_that_were_dealt_anew_are_found() {
    let every_week = |seed: u64| {
        let mut written = by(Choice::Lot)(seed);
        for t in 0..=WEEKS {
            let row = written.state.row(t).select(ndarray::Axis(0), &shuffled(100 * seed + t as u64));
            written.state.row_mut(t).assign(&row);
        }
        written
    };
    let once = |seed: u64| {
        let mut written = by(Choice::Lot)(seed);
        let order = shuffled(seed);
        for t in 9..=WEEKS {
            let row = written.state.row(t).select(ndarray::Axis(0), &order);
            written.state.row_mut(t).assign(&row);
        }
        written
    };
    let features = |seed: u64| {
        let mut written = by(Choice::Lot)(seed);
        let order = shuffled(seed);
        written.state = written.state.select(ndarray::Axis(1), &order);
        written.action = written.action.select(ndarray::Axis(1), &order);
        written
    };
    // states without a memory do not tell
    assert_eq!(of_twenty("ids-shuffled", WARNING, every_week), 0);
    let found = every_week(3).finding("ids-shuffled");
    assert_eq!(found.severity, Severity::Note);
    let explanations = "Either states have no memory, or names were shuffled at every step";
    assert!(found.found.starts_with("Cannot tell") && found.found.contains(explanations), "{}", found.found);
    assert!(of_twenty("ids-shuffled", WARNING, once) >= 19);
    assert!(once(3).finding("ids-shuffled").found.contains("from step 8 to the next"));
    // something of the features foretells by chance once in twenty, and together once in forty
    assert!(of_twenty("ids-shuffled", WARNING, features) >= 16);
    for choice in [Choice::Lot, Choice::Rota, Choice::Worse] {
        assert_eq!(of_twenty("ids-shuffled", WARNING, by(choice)), 0, "{choice:?}");
    }
}

#[test]
fn how_people_were_chosen_is_seen() {
    let said = |choice, words: &str| {
        (0..20).filter(|seed| by(choice)(*seed).finding("chosen").found.starts_with(words)).count()
    };
    assert_eq!(said(Choice::Lot, "As by lot"), 20);
    assert_eq!(said(Choice::Rota, "In turn"), 20);
    assert_eq!(said(Choice::Worse, "By something that is seen: the state (the worse off"), 20);
}

#[test]
fn what_is_said_of_the_choice_is_held_against_the_log() {
    let severity = |choice, behaviour| {
        let mut written = by(choice)(1);
        written.behaviour = behaviour;
        written.finding("behaviour").severity
    };
    use StudyBehaviour::*;
    assert_eq!(severity(Choice::Worse, Uniform), SERIOUS);
    assert_eq!(severity(Choice::Worse, RoundRobinAsUniform), SERIOUS);
    assert_eq!(severity(Choice::Rota, Uniform), WARNING);
    assert_eq!(severity(Choice::Lot, RoundRobinAsUniform), WARNING);
    for (choice, behaviour) in
        [(Choice::Lot, Uniform), (Choice::Rota, RoundRobinAsUniform), (Choice::Worse, Estimated)]
    {
        assert_eq!(severity(choice, behaviour), Severity::Fine, "{choice:?}");
    }
    // propensities of actions: those of a lot, and the same number for calls and for none
    for (of_call, of_none, expected) in [(0.1, 0.9, Severity::Fine), (0.5, 0.5, SERIOUS)] {
        let mut written = by(Choice::Lot)(1);
        written.behaviour = Logged;
        written.propensity = Some(written.action.mapv(|a| if a == 1 { of_call } else { of_none }));
        assert_eq!(written.finding("behaviour").severity, expected);
    }
}

#[test]
fn who_could_not_be_called_is_counted() {
    let mut all = by(Choice::Lot)(1);
    for t in 0..WEEKS {
        all.action.row_mut(t).fill(u8::from(t % 2 == 0));
    }
    assert_eq!(all.finding("overlap").severity, SERIOUS);
    // only those below 28 are called
    let mut some = by(Choice::Lot)(1);
    let mut random = stream(3, &[]);
    let restive::data::features::Column::Number(age) = &some.columns[0].1 else { panic!("numbers") };
    let young: Vec<bool> = age.iter().map(|age| *age < 28.0).collect();
    let called =
        Array2::from_shape_fn((WEEKS, PEOPLE), |(_, i)| u8::from(young[i] && random.random::<f64>() < 0.3));
    some.action.slice_mut(ndarray::s![..WEEKS, ..]).assign(&called);
    let study = some.study();
    assert_eq!(finding(&study, "overlap").severity, WARNING);
    assert!(finding(&study, "chosen").found.contains("feature age"));
    assert_eq!(by(Choice::Worse)(1).finding("overlap").severity, Severity::Fine);
}

#[test]
fn few_calls_are_named_with_what_they_could_show() {
    let with = |calls| Made { calls, ..Made::default() }.written().finding("few-calls");
    assert_eq!(with(0).severity, SERIOUS);
    assert_eq!(with(5).severity, WARNING);
    let enough = with(60);
    assert!(enough.severity < WARNING, "{}", enough.found);
    // of a lot: chances are about 0.25 and 0.65, so p(1 − p) is about 0.2 within states; √(0.2·(1/1200 + 1/10800)) is 1.36
    // points, and 2.8 times that 3.8: the slope's own error is estimated, within a tenth or so
    let (_, points) = enough.found.split_once("at least ").unwrap();
    let points: f64 = points.split(' ').next().unwrap().parse().unwrap();
    assert!((3.4..4.2).contains(&points), "{}", enough.found);
}

#[test]
fn memory_is_found_where_there_is_some() {
    let made = |memory| move |seed| Made { memory, seed, spread: 0.0, ..Made::default() }.written();
    assert_eq!(of_twenty("memory", WARNING, made(0.5)), 20);
    assert_eq!(of_twenty("memory", Severity::Note, made(0.0)), 0);
}

#[test]
fn a_change_is_found_with_its_date() {
    let made = |change| move |seed| Made { change, seed, ..Made::default() }.written();
    assert_eq!(of_twenty("drift", WARNING, made(Some((12, -0.15)))), 20);
    let dated = (0..20)
        .filter(|seed| made(Some((12, -0.15)))(*seed).finding("drift").found.contains("from step 12 "));
    assert!(dated.count() >= 15);
    assert_eq!(of_twenty("drift", Severity::Note, made(None)), 0);
}

#[test]
fn what_was_not_seen_is_counted() {
    let lost = |is_lost: &dyn Fn(usize, usize, &Written) -> bool| {
        let mut written = by(Choice::Lot)(2);
        let gone = Array2::from_shape_fn((WEEKS + 1, PEOPLE), |(t, i)| is_lost(t, i, &written));
        written.state.zip_mut_with(&gone, |s, gone| *s = if *gone { UNSEEN } else { *s });
        written.study()
    };
    // one week of which little is known
    let week = lost(&|t, i, _| t == 7 && i % 5 > 0);
    assert_eq!(finding(&week, "coverage").severity, WARNING);
    assert!(finding(&week, "coverage").found.contains("step 7 "));
    // a third leaves after week 5
    let left = lost(&|t, i, _| t > 5 && i % 3 == 0);
    assert_eq!(finding(&left, "joining-and-leaving").severity, WARNING);
    assert_eq!(finding(&left, "not-seen-for-long").severity, WARNING);
    // a tenth leaves, each after a bad week
    let worse = lost(&|t, i, written| i % 5 == 0 && (6..t).any(|past| written.state[[past, i]] == 0));
    assert!(finding(&worse, "joining-and-leaving").found.contains("worse off"));
    // outcomes of those who were called only
    let revealed = lost(&|t, i, written| t > 0 && written.action[[t - 1, i]] == 0);
    assert_eq!(finding(&revealed, "revealed-by-calls").severity, SERIOUS);
    // nobody is seen again after the first week in state 1
    let ended = lost(&|t, i, written| (0..t).any(|past| written.state[[past, i]] == 1));
    let found = finding(&ended, "states-never-change");
    assert_eq!(found.severity, WARNING);
    assert!(found.found.contains("No next state was ever seen from state 1."), "{}", found.found);
    assert!(!finding(&worse, "states-never-change").found.contains("No next state"));
    let everything = lost(&|_, _, _| true);
    assert_eq!(finding(&everything, "alignment").severity, Severity::Note);
    let mut still = by(Choice::Lot)(1);
    still.state.columns_mut().into_iter().for_each(|mut states| {
        let first = states[0];
        states.fill(first);
    });
    assert_eq!(still.finding("states-never-change").severity, SERIOUS);
}

/// Pulls by lot; states without a memory, in which a call adds `effect`.
fn forgetful(effect: f64, seed: u64) -> Written {
    let mut written = by(Choice::Lot)(seed);
    let mut random = stream(seed, &[11]);
    for t in 0..WEEKS {
        for i in 0..PEOPLE {
            let chance = 0.4 + effect * f64::from(written.action[[t, i]]);
            written.state[[t + 1, i]] = u16::from(random.random::<f64>() < chance);
        }
    }
    written
}

#[test]
fn names_are_kept_if_calls_go_with_states_that_have_no_memory() {
    for seed in 0..20 {
        let found = forgetful(0.2, seed).finding("ids-shuffled");
        assert_eq!(found.severity, Severity::Fine, "{}", found.found);
        assert!(found.found.contains("names are kept"), "{}", found.found);
    }
    assert_eq!(of_twenty("ids-shuffled", WARNING, |seed| forgetful(0.0, seed)), 0);
}

#[test]
fn steps_before_the_first_recorded_state_do_not_count() {
    let without_first = |steps: usize| {
        let mut written = by(Choice::Lot)(2);
        for t in 0..steps {
            written.state.row_mut(t).fill(UNSEEN);
        }
        written.study()
    };
    let complete = without_first(0);
    let found = finding(&complete, "coverage").found;
    assert!(found.contains("at 21 steps") && !found.contains("not counted"), "{found}");
    let empty = without_first(2);
    let found = finding(&empty, "coverage");
    assert_eq!(found.severity, Severity::Fine, "{}", found.found);
    let expected = "at 19 steps are known; fewest at step 2 (counted from 0), 100.0 %; steps before 2 have no recorded state and are not \
                    counted.";
    assert!(found.found.contains(expected), "{}", found.found);
    let found = finding(&empty, "joining-and-leaving");
    assert_eq!(found.severity, Severity::Fine, "{}", found.found);
    assert!(found.found.ends_with("Steps before the first recorded state do not count."), "{}", found.found);
}

#[test]
fn step_that_records_one_state_only_is_no_change() {
    let mut written = by(Choice::Lot)(2);
    written.state.row_mut(WEEKS).fill(0);
    let found = written.finding("drift");
    assert_eq!(found.severity, Severity::Fine, "{}", found.found);
    let expected = format!("Left out: step {} (counted from 0), with one next state only.", WEEKS - 1);
    assert!(found.found.contains("at all 19 steps") && found.found.ends_with(&expected), "{}", found.found);
}
