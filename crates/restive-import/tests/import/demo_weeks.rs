//! Weeks of synthetic programmes: states follow the stated probabilities, and calls the stated choice.

use crate::demo::{programme, small};
use restive_import::demo::{
    Assignment, Call, CallOutcome, Effect, Person, ProgrammeOptions, SyntheticProgramme,
};
use std::collections::{HashMap, HashSet};

#[test]
fn a_call_changes_nobody_else_and_never_harms() {
    let left_alone = programme(ProgrammeOptions { people: 600, calls: 30, turnover: false, ..small() });
    let (mut with, mut without) = (left_alone.clone(), left_alone);
    let reached: HashSet<String> = with.people().iter().step_by(2).map(|person| person.id.clone()).collect();
    with.advance_week(&reached, true).unwrap();
    without.advance_week(&HashSet::new(), true).unwrap();
    let mut helped = 0;
    for (k, person) in with.people().iter().enumerate() {
        let (after, alone) = (with.states()[k][12].unwrap(), without.states()[k][12].unwrap());
        match reached.contains(&person.id) {
            true => assert!(after >= alone, "{}", person.id),
            false => assert_eq!(after, alone, "{}", person.id),
        }
        helped += usize::from(after && !alone);
    }
    let told: usize =
        with.calls_of_week(12).iter().filter(|call| call.engaged_after && !call.engaged_without).count();
    assert!(helped > 0 && told == helped, "{told} {helped}");
}

/// Each sum below is within five standard errors of its expectation with probability 1 − 6e-7 (normal law).
#[test]
fn states_follow_the_probabilities_of_the_truth() {
    let district = Effect::InDistrict { district: "north".into(), chance: 0.9 };
    for effect in [Effect::Schooling, district] {
        let programme =
            programme(ProgrammeOptions { people: 2000, weeks: 20, calls: 600, effect, ..small() });
        let mut sums: HashMap<(bool, bool), [f64; 2]> = HashMap::new();
        let mut reached = [0.0; 2];
        for (k, (person, states)) in programme.people().iter().zip(programme.states()).enumerate() {
            for week in 1..programme.weeks() {
                let (Some(before), Some(after)) = (states[week - 1], states[week]) else { continue };
                let is_called = programme.is_called(k, week);
                let p = person.probability(before, is_called);
                let sum = sums.entry((before, is_called)).or_default();
                *sum = [sum[0] + f64::from(after) - p, sum[1] + p * (1.0 - p)];
            }
        }
        assert_eq!(sums.len(), 4);
        for (case, [difference, variance]) in sums {
            assert!(variance > 100.0 && difference.abs() < 5.0 * variance.sqrt(), "{case:?}: {difference}");
        }
        for call in programme.calls() {
            let p = Person::REACHED;
            let is_reached = f64::from(call.outcome == CallOutcome::Reached);
            reached = [reached[0] + is_reached - p, reached[1] + p * (1.0 - p)];
        }
        assert!(reached[0].abs() < 5.0 * reached[1].sqrt(), "{reached:?}");
        if let Effect::InDistrict { .. } = programme.options().effect {
            let in_north = |call: &&Call| {
                programme.people()[call.person].district == "north" && call.outcome == CallOutcome::Reached
            };
            let calls: Vec<_> = programme.calls().filter(in_north).collect();
            let engaged = calls.iter().filter(|call| call.engaged_after).count() as f64;
            // probability 0.9, or more for people who are engaged that often without a call
            let n = calls.len() as f64;
            assert!(n > 1000.0 && engaged > 0.9 * n - 5.0 * (0.09 * n).sqrt(), "{engaged} of {n}");
        }
    }
}

/// Standardised mean of the hidden trait among the people who were called, given who could be called each week.
///
/// Among n of m people drawn at random without replacement, the mean of a trait has the mean of all m, and variance
/// s²/n · (1 − n/m). Weeks are independent.
fn standardised_inclination(programme: &SyntheticProgramme) -> f64 {
    let (mut difference, mut variance) = (0.0, 0.0);
    for week in 1..programme.weeks() {
        let trait_of = |k: usize| programme.people()[k].inclination;
        let may_be_called: Vec<usize> = (0..programme.people().len())
            .filter(|k| {
                let (person, states) = (&programme.people()[*k], &programme.states()[*k]);
                states[week - 1].is_some() && states[week].is_some() && !person.do_not_call
            })
            .collect();
        let m = may_be_called.len() as f64;
        let mean = may_be_called.iter().map(|k| trait_of(*k)).sum::<f64>() / m;
        let square = may_be_called.iter().map(|k| (trait_of(*k) - mean).powi(2)).sum::<f64>() / (m - 1.0);
        let calls = programme.calls_of_week(week);
        let n = calls.len() as f64;
        difference += calls.iter().map(|call| trait_of(call.person)).sum::<f64>() / n - mean;
        variance += square / n * (1.0 - n / m);
    }
    difference / variance.sqrt()
}

/// A random choice is beyond five standard errors with probability 6e-7. By hunch, the mean trait of the called is about 0.9
/// standard deviations above that of all, so that less than 20 standard errors have a probability below 1e-100.
#[test]
fn a_random_choice_is_independent_of_the_hidden_trait_and_a_hunch_is_not() {
    for seed in 1..6 {
        let options = ProgrammeOptions { people: 1000, weeks: 20, calls: 60, seed, ..small() };
        let random = standardised_inclination(&programme(options.clone()));
        assert!(random.abs() < 5.0, "seed {seed}: {random}");
        let hunch = standardised_inclination(&programme(ProgrammeOptions {
            assignment: Assignment::Hunch,
            ..options
        }));
        assert!(hunch > 20.0, "seed {seed}: {hunch}");
    }
}

#[test]
fn people_who_object_or_are_away_are_not_called() {
    for assignment in [Assignment::Random, Assignment::Hunch] {
        let programme = programme(ProgrammeOptions { assignment, ..small() });
        for call in programme.calls() {
            let person = &programme.people()[call.person];
            assert!(!person.do_not_call && person.first_week < call.week);
            assert!(person.exit.is_none_or(|day| day > programme.day(call.week, 6)));
        }
        assert!(programme.calls_of_week(0).is_empty() && programme.calls_of_week(99).is_empty());
    }
}
