//! What is known of arms where the log has gaps: labels that age and never look ahead, and the values that rest on them.

use ndarray::{Array2, Array3, s};
use proptest::prelude::*;
use restive::data::domain::Domain;
use restive::evaluation::*;
use restive::index::whittle_index;
use restive::instance::{Chain, Instance, Logged, NO_ACTION, Observation, Parts, Trajectories, UNSEEN};
use restive::policy::Policy;
use restive::simulation::{Initial, Setting, trajectories, values};

fn labels(chain: usize) -> Observation {
    Observation::Collapsing(Chain::Finite(chain))
}

/// The label at step t, by the rule in words, from the whole lane of an arm and a tally of all pulls of the log.
fn by_the_rule(log: &Trajectories, t_length: usize, (j, t, i): (usize, usize, usize)) -> u16 {
    let (state, action) = (log.state(), log.action());
    if let Some(known) = (0..=t).rev().find(|u| state[[j, *u, i]] != UNSEEN) {
        let label = usize::from(state[[j, known, i]]);
        return (label / t_length * t_length + (label % t_length + t - known).min(t_length - 1)) as u16;
    }
    let count = |x: usize| {
        let saw = |&(j, t, i): &(usize, usize, usize)| {
            t + 1 < log.steps()
                && action[[j, t, i]] == 1
                && state[[j, t + 1, i]] != UNSEEN
                && usize::from(state[[j, t + 1, i]]) / t_length == x
        };
        ndarray::indices(state.dim()).into_iter().filter(saw).count()
    };
    // the first of the states with the highest count
    let states = log.states() / t_length;
    let best = (0..states).rev().max_by_key(|x| count(*x)).unwrap();
    (best * t_length + t_length - 1) as u16
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn labels_are_filled_in_by_the_rule(
        (length, cells) in (1usize..5).prop_flat_map(|length| {
            let label = prop_oneof![3 => Just(UNSEEN), 1 => 0..3 * length as u16];
            let action = prop_oneof![0u8..2, Just(NO_ACTION)];
            (Just(length), prop::collection::vec((label, action), 2 * 6 * 3))
        }),
    ) {
        let shape = (2, 6, 3);
        let state = Array3::from_shape_vec(shape, cells.iter().map(|c| c.0).collect()).unwrap();
        let action = Array3::from_shape_vec(shape, cells.iter().map(|c| c.1).collect()).unwrap();
        let logged = Logged { state, action, propensity: None, reward: None, available: None };
        let log = Trajectories::new(logged.clone(), 3 * length).unwrap();
        let found = known_states(&log, labels(length));
        for (at, &found) in found.indexed_iter() {
            prop_assert_eq!(found, by_the_rule(&log, length, at), "{:?}", at);
        }
        // nothing looks ahead: what an arm's lane says later does not change what is known of it before, pulls unchanged
        let mut later = logged;
        later.state.slice_mut(s![.., 4.., ..]).fill(UNSEEN);
        let cut = Trajectories::new(later, 3 * length).unwrap();
        if unknown_label(&cut, Chain::Finite(length)) == unknown_label(&log, Chain::Finite(length)) {
            let shorter = known_states(&cut, labels(length));
            prop_assert_eq!(shorter.slice(s![.., ..4, ..]), found.slice(s![.., ..4, ..]));
        }
        // a log that is filled in has no gaps left, and stays as it is
        let whole = labelled(&log, labels(length));
        prop_assert_eq!(whole.state(), found.view());
        prop_assert_eq!(known_states(&whole, labels(length)), found);
        let full = known_states(&log, Observation::Full);
        prop_assert!(full.iter().zip(log.state()).all(|(a, b)| *b == UNSEEN || a == b));
    }
}

/// An instance whose log starts with every arm at the last label of `state`, rewards logged, and the same with the labels
/// withheld that a log of calls does not have: those before an arm's first pull.
fn withheld(state: usize, length: usize, seed: u64) -> (Instance, Instance) {
    let size =
        Domain { instances: 1, arms: 20, budget: 6, trajectories: 60, horizon: 12, ..Domain::collapsing() };
    let domain = Domain { observation: labels(length), ..size };
    let instance = domain.generate(seed).unwrap().remove(0);
    let world = World::new(labels(length), instance.reward(), instance.truth().unwrap());
    let setting = setting(&instance, &world);
    let start = Initial::States(Array2::from_elem((1, 20), (state * length + length - 1) as u16));
    let log = trajectories(&setting, &start, &Policy::Random, 60, seed);
    let reward = Array3::from_shape_fn(log.state().dim(), |(j, t, i)| match log.action()[[j, t, i]] {
        NO_ACTION => f64::NAN,
        a => world.reward().at(i, log.state()[[j, t, i]].into(), a.into()),
    });
    let logged = Logged {
        state: log.state().to_owned(),
        action: log.action().to_owned(),
        propensity: log.propensity().map(|p| p.to_owned()),
        reward: Some(reward),
        available: None,
    };
    let mut bare = logged.clone();
    for j in 0..60 {
        for i in 0..20 {
            let first = (0..12).find(|t| logged.action[[j, *t, i]] == 1).map_or(13, |t| t + 1);
            bare.state.slice_mut(s![j, ..first, i]).fill(UNSEEN);
        }
    }
    let with = |logged| {
        let trajectories = Trajectories::new(logged, 2 * length).unwrap();
        Instance::new(Parts { trajectories, ..instance.parts().clone() }).unwrap()
    };
    (with(logged), with(bare))
}

fn setting<'a>(instance: &Instance, world: &'a World) -> Setting<'a> {
    Setting {
        motion: world.motion(),
        reward: world.reward(),
        discount: instance.discount(),
        budget: instance.budget(),
        horizon: 12,
    }
}

fn policies(instance: &Instance) -> Vec<(String, Policy)> {
    let truth = instance.truth().unwrap().view();
    let index = whittle_index(truth, instance.reward().view(), 0.9, instance.observation());
    vec![
        ("no-action".into(), Policy::NoAction),
        ("random".into(), Policy::Random),
        ("strict".into(), Policy::Strict(index.index.clone())),
    ]
}

#[test]
fn a_log_without_its_first_labels_is_worth_what_it_is_worth_with_them() {
    for seed in [2, 3] {
        // started at the label of the state that is seen most often, which is what the rule fills in
        let (whole, bare) = [0, 1]
            .map(|state| withheld(state, 10, seed))
            .into_iter()
            .find(|(whole, bare)| {
                let start = whole.trajectories().state()[[0, 0, 0]];
                start == unknown_label(bare.trajectories(), Chain::Finite(10))
            })
            .expect("one of two states");
        assert_eq!(known_states(bare.trajectories(), labels(10)), whole.trajectories().state());
        let settings = EvaluationSettings { runs: 200, resamples: 20, ..EvaluationSettings::new(12) };
        let [whole, bare] = [&whole, &bare].map(|instance| {
            evaluate(&[Case { instance, policies: policies(instance), prediction: None }], &settings).unwrap()
        });
        // every estimator, every interval; the drift alone is that of the labels that are known
        assert_eq!(format!("{:?}", whole.policies), format!("{:?}", bare.policies));
        assert_eq!(whole.policies[0].1.len(), 4);
    }
}

/// Beliefs of a chain of 30 have forgotten what was seen: arms whose labels are withheld, started by the rule, do as well as
/// arms that all start at the last label of the other state.
#[test]
fn it_does_not_matter_what_was_seen_longer_ago_than_the_chain_remembers() {
    let (whole, bare) = withheld(0, 30, 5);
    let other = 1 - unknown_label(bare.trajectories(), Chain::Finite(30)) / 30;
    let start = Initial::States(Array2::from_elem((1, 20), other * 30 + 29));
    let world = World::new(labels(30), whole.reward(), whole.truth().unwrap());
    let settings = EvaluationSettings { runs: 4000, resamples: 2, seed: 9, ..EvaluationSettings::new(12) };
    let case = Case { instance: &bare, policies: policies(&bare), prediction: None };
    let found = evaluate(&[case], &settings).unwrap();
    for (name, policy) in policies(&whole) {
        let runs = values(&setting(&whole, &world), &start, &policy, 4000, 77).to_vec();
        let (mean, variance) = moments(&runs);
        let score = found.score(&name, Estimator::True).unwrap().value;
        // two independent samples of 4,000 runs; four standard errors of their difference, and what beliefs
        // may still remember after 30 steps where there is no noise
        let tolerance = 4.0 * (2.0 * variance / 4000.0).sqrt() + 1e-3;
        assert!((score.value - mean).abs() < tolerance, "{name}: {} not {mean} ± {tolerance}", score.value);
    }
}
