//! Predictions that may be wrong: intervals against worlds that are drawn and valued one by one.
//!
//! The log says nothing of any move, so that every world is what was drawn. A random policy pulls every arm at the same rate
//! whatever the others do, and its gain over no action is a sum over arms of gains that one arm alone can be asked for.

use ndarray::{Array2, Array3, Array4, array};
use rand_distr::{Distribution, StandardNormal};
use restive::evaluation::*;
use restive::instance::{
    Instance, Layout, Logged, NO_ACTION, Observation, Parts, Reward, Trajectories, Transition, UNSEEN,
};
use restive::policy::Policy;
use restive::random::stream;
use std::collections::BTreeSet;
use std::sync::Mutex;

const ARMS: usize = 30;
const BUDGET: usize = 6;
const HORIZON: usize = 6;
const DISCOUNT: f64 = 0.95;

/// Arms that begin in state 0, and are never seen again.
fn unseen(trajectories: usize) -> Instance {
    let dim = (trajectories, 2, ARMS);
    let state = Array3::from_shape_fn(dim, |(_, t, _)| if t == 0 { 0 } else { UNSEEN });
    let action = Array3::from_shape_fn(dim, |(_, t, _)| if t == 0 { 0 } else { NO_ACTION });
    let logged = Logged { state, action, propensity: None, reward: None, available: None };
    let parts = Parts {
        features: Array2::ones((ARMS, 1)),
        trajectories: Trajectories::new(logged, 2).unwrap(),
        reward: Reward::linear(2),
        budget: BUDGET,
        discount: DISCOUNT,
        truth: None,
        observation: Observation::Full,
        clusters: None,
    };
    Instance::new(parts).unwrap()
}

/// Arms that a pull lifts to state 1 more often, each by its own, and all by so many standard deviations of 0.03 more.
fn arms(n: usize, lift: impl Fn(usize) -> f64, deviations: f64) -> Transition {
    let p = Array4::from_shape_fn((n, 2, 2, 2), |(i, s, a, next)| {
        let stay = [0.2, 0.5][s];
        let up = if a == 1 { (stay + lift(i) + 0.03 * deviations).clamp(0.0, 1.0) } else { stay };
        if next == 1 { up } else { 1.0 - up }
    });
    Transition::new(p, Layout::Nsas).unwrap()
}

/// The lift of arms that are all alike.
fn alike(_: usize) -> f64 {
    0.3
}

/// The lift where it is a third of the arms that a pull helps.
fn some(i: usize) -> f64 {
    if i.is_multiple_of(3) { 0.4 } else { 0.0 }
}

fn normal(seed: u64) -> f64 {
    StandardNormal.sample(&mut stream(seed, &[7]))
}

/// What pulls at the rate of the random policy bring an arm.
fn gain(lift: f64, deviations: f64) -> f64 {
    let (transition, reward) = (arms(1, |_| lift, deviations), Reward::linear(2));
    let initial = array![[1.0, 0.0]];
    let value = |budget: f64| {
        let (motion, reward) = (transition.view().into(), (&reward).into());
        let field = MeanField { motion, reward, initial: initial.view(), discount: DISCOUNT, budget };
        fluid(array![[0.0, 0.0]].view(), &field, 0.0, HORIZON).value
    };
    value(BUDGET as f64 / ARMS as f64) - value(0.0)
}

fn case<'a>(instance: &'a Instance, prediction: Foreseen<'a>) -> Case<'a> {
    let policies = [("no-action", Policy::NoAction), ("random", Policy::Random)];
    let policies = policies.map(|(name, policy)| (name.to_string(), policy)).to_vec();
    Case { instance, policies, prediction: Some(prediction) }
}

fn settings(runs: usize, runs_per_resample: usize) -> EvaluationSettings {
    let resamples = 1000;
    let behaviour = None;
    EvaluationSettings { behaviour, runs, resamples, runs_per_resample, ..EvaluationSettings::new(HORIZON) }
}

fn gain_of(cases: &[Case<'_>], settings: &EvaluationSettings, estimator: Estimator) -> Estimate {
    evaluate(cases, settings).unwrap().score("random", estimator).unwrap().gain_over_no_action.unwrap()
}

fn deviation(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    moments(&values).1.sqrt()
}

/// What an interval reaches to one side, in standard errors before it was stretched.
fn reach(estimate: Estimate, stretch: f64) -> f64 {
    (estimate.high - estimate.low) / 2.0 / NORMAL / stretch
}

#[test]
fn intervals_are_as_wide_as_the_draws_of_what_nobody_has_seen() {
    let truth = ARMS as f64 * deviation((0..4000).map(|seed| gain(alike(0), normal(seed))));
    let guess = arms(ARMS, alike, 0.0);
    for (trajectories, instances) in [(1, 1), (3, 1), (1, 2)] {
        let seeds = Mutex::new(Vec::new());
        let drawn = |seed: u64| {
            seeds.lock().unwrap().push(seed);
            arms(ARMS, alike, normal(seed))
        };
        let instance = unseen(trajectories);
        let foreseen = Foreseen { transition: &guess, strength: [16.0; 2], drawn: Some(&drawn) };
        let cases: Vec<Case> = (0..instances).map(|_| case(&instance, foreseen)).collect();
        let found = gain_of(&cases, &settings(2, 2), Estimator::Fluid);
        assert!((found.value - ARMS as f64 * gain(alike(0), 0.0)).abs() < 1e-9);

        // once for each resample, whatever is judged, and for all instances alike: a model is wrong about all of them at once
        let seeds = seeds.lock().unwrap().clone();
        let distinct: BTreeSet<u64> = seeds.iter().copied().collect();
        assert_eq!((seeds.len(), distinct.len()), (1000 * instances, 1000));

        let units = if trajectories == 1 { ARMS } else { trajectories };
        let stretch = stretch(units * instances, units as f64);
        let (covers, words) = match trajectories {
            1 => (Covers::ArmsAndPrediction, "arms, and how well their moves are known"),
            _ => (Covers::TrajectoriesAndPrediction, "trajectories, and how well moves are known"),
        };
        assert_eq!((found.covers, found.covers.words()), (covers, words));
        let worlds: Vec<f64> =
            distinct.iter().map(|seed| ARMS as f64 * gain(alike(0), normal(*seed))).collect();
        let expected = Estimate::percentile(found.value, &worlds, stretch, covers);
        assert!((found.low - expected.low).abs() < 1e-9 && (found.high - expected.high).abs() < 1e-9);
        // three standard errors of the quantiles of 1,000 numbers
        assert!((reach(found, stretch) / truth - 1.0).abs() < 0.1, "{found:?} not ± {truth}");

        // arms that are alike, and no doubt about them
        let certain: Vec<Case> =
            (0..instances).map(|_| case(&instance, Foreseen { drawn: None, ..foreseen })).collect();
        let found = gain_of(&certain, &settings(2, 2), Estimator::Fluid);
        assert!(found.high - found.low < 1e-9, "{found:?}");
        assert_eq!(found.covers, if trajectories == 1 { Covers::Arms } else { Covers::Trajectories });
    }
}

#[test]
fn doubt_about_moves_adds_to_the_chance_of_arms() {
    let instance = unseen(1);
    let guess = arms(ARMS, some, 0.0);
    let drawn = |seed: u64| arms(ARMS, some, normal(seed));
    let foreseen = Foreseen { transition: &guess, strength: [16.0; 2], drawn: Some(&drawn) };
    let certain = Foreseen { drawn: None, ..foreseen };
    let stretch = stretch(ARMS, ARMS as f64);
    // a sum of N arms that are drawn from these N
    let each: Vec<f64> = (0..ARMS).map(|i| gain(some(i), 0.0)).collect();
    let by_arms = (moments(&each).1 * (ARMS - 1) as f64).sqrt();
    let sum = |z: f64| -> f64 { (0..ARMS).map(|i| gain(some(i), z)).sum() };
    let by_guess = deviation((0..4000).map(|seed| sum(normal(seed))));
    let both = by_arms.hypot(by_guess);
    assert!(
        both > 1.1 * by_arms && both > 1.02 * by_guess,
        "{by_arms} {by_guess}: a test that could not fail"
    );
    for (estimator, runs, tolerance) in [(Estimator::Fluid, 2, 0.1), (Estimator::Simulated, 4000, 0.15)] {
        // by simulation the noise of the runs is taken away again, as far as it is known
        let settings = settings(runs, if runs == 2 { 2 } else { 20 });
        for (foreseen, truth) in [(foreseen, both), (certain, by_arms)] {
            let found = gain_of(&[case(&instance, foreseen)], &settings, estimator);
            let noise = if estimator == Estimator::Simulated { 0.25 * truth } else { 0.0 };
            let (least, most) = (truth * (1.0 - tolerance), truth * (1.0 + tolerance) + noise);
            let reach = reach(found, stretch);
            println!("{estimator:?}: {reach} [{truth}]");
            assert!(least < reach && reach < most, "{estimator:?}: {reach} not {truth}");
            let covers = match (estimator, foreseen.is_uncertain()) {
                (Estimator::Fluid, true) => Covers::ArmsAndPrediction,
                (Estimator::Fluid, _) => Covers::Arms,
                (_, true) => Covers::ArmsPredictionAndRollouts,
                _ => Covers::ArmsAndRollouts,
            };
            assert_eq!(found.covers, covers);
        }
    }
}

#[test]
fn drawn_predictions_are_the_same_for_every_number_of_threads() {
    let guess = arms(ARMS, some, 0.0);
    let drawn = |seed: u64| arms(ARMS, some, normal(seed));
    let foreseen = Foreseen { transition: &guess, strength: [4.0, 8.0], drawn: Some(&drawn) };
    for trajectories in [1, 4] {
        let instance = unseen(trajectories);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let settings = EvaluationSettings { resamples: 40, ..settings(20, 4) };
            pool.install(|| evaluate(&[case(&instance, foreseen)], &settings).unwrap())
        };
        let once = run(1);
        assert_eq!(format!("{once:?}"), format!("{:?}", run(3)));
        for estimator in [Estimator::Fluid, Estimator::Simulated] {
            let random = once.score("random", estimator).unwrap();
            let [own, value] = [random.gain_over_random.unwrap(), random.value];
            assert!(own.low == 0.0 && own.high == 0.0 && value.high > value.low);
        }
    }
}
