//! Whether records are listened to: only where people who were not learnt from say so.

use crate::history::{People, Spread, people};
use ndarray::{Array3, Array4};
use restive::Trajectories;
use restive::belief::beliefs;
use restive::data::domain::Domain;
use restive::evaluation::{Record, fitted};
use restive::history::{Carry, FOLDS, HeldOut, Learnt, Past, Rule, Why, fit_carry, learn};
use restive::instance::{Chain, Logged, NO_ACTION, Observation, UNSEEN};

const DIFFERENT: Spread = Spread { alone: 0.9, called: 0.5, calls: 0.1 };

fn learnt(people: &People) -> Learnt {
    let (log, prediction) = (&people.log, people.prediction.view());
    learn(&[HeldOut { log, observation: Observation::Full, prediction }], None)
}

#[test]
fn the_gate_opens_where_people_differ_and_stays_shut_where_predictions_are_the_truth() {
    for seed in 0..3 {
        let found = learnt(&people(2000, 8, Spread { calls: 0.2, ..DIFFERENT }, false, 330 + seed));
        let [called, all] = found.gauss_lead.map(|lead| [lead.called.unwrap(), lead.all.unwrap()]).unwrap();
        println!("differ: lead {:.4} ± {:.4}", called.mean, called.standard_error);
        assert!(matches!(found.rule, Rule::Gauss(_)) && found.why == Why::Helps);
        assert!(all.mean > 5.0 * all.standard_error, "{all:?}");
    }
    let mut shut = 0;
    for seed in 0..8 {
        let found = learnt(&people(1000, 8, DIFFERENT, true, 350 + seed));
        let lead = found.gauss_lead.unwrap_or(found.carry_lead).called.unwrap();
        println!("known: lead {:.5} ± {:.5}", lead.mean, lead.standard_error);
        shut += usize::from(found.rule == Rule::Alone && found.why == Why::DoesNotHelp);
    }
    // one standard error is passed by chance alone in 16 %, and a rule that follows noise starts below zero
    assert!(shut >= 6, "{shut} of 8 shut");
}

#[test]
fn several_logs_are_one_and_what_it_rests_on_is_counted() {
    let all = people(600, 8, DIFFERENT, false, 317);
    let whole = learnt(&all);
    let arms: Vec<usize> = (0..600).collect();
    let parts: Vec<(Trajectories, Array4<f64>)> = [&arms[..200], &arms[200..]]
        .map(|arms| (all.log.select_arms(arms), all.prediction.select(ndarray::Axis(0), arms)))
        .into();
    let held_out: Vec<HeldOut<'_>> = parts
        .iter()
        .map(|(log, prediction)| HeldOut {
            log,
            observation: Observation::Full,
            prediction: prediction.view(),
        })
        .collect();
    // folds go on from log to log, in another order of arms
    let apart = learn(&held_out, None);
    assert_eq!((whole.rule, whole.why, whole.rests_on), (apart.rule, apart.why, apart.rests_on));
    assert_eq!((whole.rests_on.arms, whole.rests_on.moves), (600, 4800));
    let pulls = all.log.pulls().sum();
    assert_eq!(whole.rests_on.called, pulls);
    let is_later = |i: &usize| (1..8).any(|t| all.log.action()[[0, t, *i]] == 1);
    assert_eq!(whole.rests_on.called_later, arms.iter().filter(|i| is_later(i)).count());
}

#[test]
fn the_lead_is_that_of_a_slow_walk_through_time() {
    let mut domain = Domain { instances: 1, arms: 40, budget: 10, trajectories: 3, ..Domain::five_state() };
    domain.states = 3;
    let instance = &domain.generate(5).unwrap()[0];
    let log = instance.trajectories();
    let prediction = Array4::from_elem((40, 3, 2, 3), 1.0 / 3.0);
    let found =
        learn(&[HeldOut { log, observation: Observation::Full, prediction: prediction.view() }], None);
    assert_eq!((found.gauss, found.gauss_lead), (None, None));
    let counts = log.counts();
    let mut leads = [Vec::new(), Vec::new()];
    for i in 0..40 {
        let others: Vec<usize> = (0..40).filter(|k| k % FOLDS != i % FOLDS).collect();
        let select = |a: ndarray::ArrayView4<'_, f64>| a.select(ndarray::Axis(0), &others);
        let carry = fit_carry(select(counts.view()).view(), select(prediction.view()).view(), None).carry;
        let mut seen = Array4::<f64>::zeros((1, 3, 2, 3));
        let mut lead = [0.0; 2];
        let mut is_called = false;
        for j in 0..3 {
            for t in 0..log.steps() - 1 {
                let (s, a) = (log.state()[[j, t, i]] as usize, log.action()[[j, t, i]] as usize);
                let next = log.state()[[j, t + 1, i]] as usize;
                let p = carry.apply(seen.view(), prediction.slice(ndarray::s![..1, .., .., ..]));
                let gain = p.view()[[0, s, a, next]].ln() - (1.0f64 / 3.0).ln();
                lead[1] += gain;
                if a == 1 {
                    lead[0] += gain;
                    is_called = true;
                }
                seen[[0, s, a, next]] += 1.0;
            }
        }
        if is_called {
            leads[0].push(lead[0]);
        }
        leads[1].push(lead[1]);
    }
    for (found, leads) in [found.carry_lead.called, found.carry_lead.all].into_iter().zip(&leads) {
        let truth = restive::statistics::mean(leads).unwrap();
        let found = found.unwrap();
        assert!((found.mean - truth.mean).abs() < 1e-12 && found.numbers == truth.numbers);
        assert!((found.standard_error - truth.standard_error).abs() < 1e-12);
    }
    assert!(matches!(found.rule, Rule::Carry(_)), "{}", found.why);
}

#[test]
fn what_is_learnt_is_the_same_for_every_number_of_threads() {
    let people = people(300, 8, Spread { calls: 0.2, ..DIFFERENT }, false, 319);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| learnt(&people))
    };
    let one = run(1);
    assert!(one.gauss_lead.is_some() && [2, 7].into_iter().all(|threads| run(threads) == one));
}

#[test]
fn too_few_calls_leave_the_prediction_alone_and_say_so() {
    let few = people(100, 8, Spread { calls: 0.005, ..DIFFERENT }, false, 318);
    let found = learnt(&few);
    assert_eq!((found.rule, found.why), (Rule::Alone, Why::TooLittle { arms: found.rests_on.called_later }));
    assert!(found.why.to_string().ends_with("at least 20 are needed"), "{}", found.why);
    assert_eq!(learn(&[], None).why, Why::TooLittle { arms: 0 });
    let p = found.rule.apply(&Past::new(&few.log, Observation::Full), few.prediction.view()).unwrap();
    assert!(p.view().iter().zip(&few.prediction).all(|(p, m)| (p - m).abs() < 1e-15));
}

#[test]
fn the_first_state_of_a_trajectory_is_the_first_that_was_seen() {
    let u = UNSEEN;
    // arm 0: 1, then first seen in 0; arm 1: first seen in 1, then never; arm 2 never
    let state = ndarray::array![[[1, u, u], [0, 1, u]], [[u, u, u], [0, u, u]]];
    let action = Array3::from_elem((2, 2, 3), NO_ACTION);
    let log = Trajectories::new(Logged { state, action, propensity: None, reward: None, available: None }, 2)
        .unwrap();
    assert_eq!(Past::new(&log, Observation::Full).first, [Some(0.5), Some(1.0), None]);
}

/// A domain that is seen at pulls only.
fn collapsing(arms: usize, seed: u64) -> restive::Instance {
    let observation = Observation::Collapsing(Chain::Finite(6));
    let domain =
        Domain { instances: 1, arms, budget: arms / 3, trajectories: 4, observation, ..Domain::two_state() };
    domain.generate(seed).unwrap().remove(0)
}

#[test]
fn carrying_for_arms_seen_at_pulls_fits_twice() {
    let instance = collapsing(30, 3);
    let prediction = Array4::from_elem((30, 2, 2, 2), 0.5);
    let past = Past::new(instance.trajectories(), instance.observation());
    let Record::Sightings { seen, .. } = &past.record else { panic!("seen at pulls only") };
    let strength = [4.0, 4.0];
    let apply = |rho: f64| Rule::Carry(Carry { strength, rho }).apply(&past, prediction.view()).unwrap();
    let once = fitted(seen.view(), Some((prediction.view(), strength)));
    assert_eq!(apply(0.0), once);
    let mut mean = prediction.clone();
    for i in 0..30 {
        for s in 0..2 {
            let tilted = [0, 1].map(|x| once.view()[[i, s, 0, x]].sqrt());
            (0..2).for_each(|x| mean[[i, s, 1, x]] = tilted[x] / (tilted[0] + tilted[1]));
        }
    }
    let twice = fitted(seen.view(), Some((mean.view(), strength)));
    assert!(apply(0.5).view().iter().zip(twice.view()).all(|(p, q)| (p - q).abs() < 1e-9));
}

#[test]
fn sightings_open_the_gate_where_predictions_know_nothing_and_shut_it_where_they_know_all() {
    let instance = collapsing(120, 4);
    let (log, observation) = (instance.trajectories(), instance.observation());
    let nothing = Array4::from_elem((120, 2, 2, 2), 0.5);
    let found = learn(&[HeldOut { log, observation, prediction: nothing.view() }], None);
    println!("{:?} {:?} {:?}", found.carry, found.carry_lead.called, found.rests_on);
    assert!(matches!(found.rule, Rule::Carry(_)), "{}", found.why);
    assert_eq!(found.rests_on.moves, log.pulls().sum());
    let truth = instance.truth().unwrap();
    let known = learn(&[HeldOut { log, observation, prediction: truth.view() }], None);
    println!("{:?} {:?}", known.carry, known.carry_lead.called);
    assert_eq!((known.rule, known.why), (Rule::Alone, Why::DoesNotHelp));
    // and what was learnt foretells other arms better
    let other = collapsing(120, 5);
    let past = Past::new(other.trajectories(), observation);
    let p = found.rule.apply(&past, nothing.view()).unwrap();
    let believed = |p: ndarray::ArrayView4<'_, f64>| beliefs(p, 6).belief.view().to_owned();
    let truth = believed(other.truth().unwrap().view());
    let error = |p: ndarray::ArrayView4<'_, f64>| (believed(p) - &truth).mapv(|x| x * x).sum();
    assert!(error(p.view()) < 0.8 * error(nothing.view()));
}
