//! Arms that can be pulled at some steps only: simulated values against enumeration of joint chains, and choices among available arms.

use crate::arms::{Kind, random, transitions};
use ndarray::{Array2, Array4, array};
use rand::RngExt;
use restive::Reward;
use restive::belief::Motion;
use restive::evaluation::{Certified, World};
use restive::instance::{Layout, Logged, NO_ACTION, Observation, Trajectories, Transition, UNSEEN};
use restive::policy::{Chooser, Policy};
use restive::random::stream;
use restive::simulation::{Availability, AvailabilityChain, Initial, Setting, values, values_available};

const DISCOUNT: f64 = 0.9;

/// Chance of each arm to be the one that is pulled among the available: one pull at a step, written without the library.
pub(crate) fn chances(policy: &Policy, state: &[usize], available: &[bool], t: usize) -> Vec<f64> {
    let n = state.len();
    let among: Vec<usize> = (0..n).filter(|i| available[*i]).collect();
    let mut chance = vec![0.0; n];
    if among.is_empty() {
        return chance;
    }
    let best = |score: &dyn Fn(usize) -> f64, chance: &mut [f64]| {
        let top = among.iter().map(|&i| score(i)).fold(f64::NEG_INFINITY, f64::max);
        let tied: Vec<usize> = among.iter().copied().filter(|&i| score(i) == top).collect();
        tied.iter().for_each(|&i| chance[i] = 1.0 / tied.len() as f64);
    };
    match policy {
        Policy::NoAction => (),
        Policy::Random => among.iter().for_each(|&i| chance[i] = 1.0 / among.len() as f64),
        Policy::RoundRobin => {
            let turn = (0..n).map(|k| (t + k) % n).find(|i| available[*i]).unwrap();
            chance[turn] = 1.0;
        }
        Policy::Strict(table) => best(&|i| table[[i, state[i]]], &mut chance),
        Policy::Horizon(tables) => best(&|i| tables[[t, i, state[i]]], &mut chance),
        Policy::Soft(table, temperature) => {
            let pull = |i: usize, threshold: f64| {
                1.0 / (1.0 + ((threshold - table[[i, state[i]]]) / temperature).exp())
            };
            let sum = |threshold: f64| among.iter().map(|&i| pull(i, threshold)).sum::<f64>();
            let (mut low, mut high) = (-100.0, 100.0);
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                if sum(middle) > 1.0 { low = middle } else { high = middle }
            }
            among.iter().for_each(|&i| chance[i] = if among.len() == 1 { 1.0 } else { pull(i, low) });
        }
    }
    chance
}

/// Policies of three arms with two states.
pub(crate) fn policies(seed: u64) -> Vec<Policy> {
    let mut random = random(seed);
    let mut table = || Array2::from_shape_simple_fn((3, 2), || random.random::<f64>());
    let (first, second) = (table(), table());
    let tables = ndarray::stack![ndarray::Axis(0), first, second, first, second];
    vec![
        Policy::NoAction,
        Policy::Random,
        Policy::RoundRobin,
        Policy::Strict(first.clone()),
        Policy::Strict(Array2::zeros((3, 2))),
        Policy::Horizon(tables),
        Policy::Soft(second, 0.2),
    ]
}

/// Expected value over all joint states and availabilities of three arms with two states; one pull at a step.
fn enumerated(p: &Array4<f64>, policy: &Policy, availability: &Availability, horizon: usize) -> f64 {
    let bits = |code: usize| -> Vec<usize> { (0..3).map(|i| code >> i & 1).collect() };
    let Availability { initial, chain } = availability;
    let begin: usize = (0..3).map(|i| usize::from(initial[i]) << i).sum();
    let mut mass = Array2::zeros((8, 8));
    (0..8).for_each(|states| mass[[states, begin]] = 1.0 / 8.0);
    let mut value = 0.0;
    for t in 0..horizon {
        let mut next = Array2::zeros((8, 8));
        for ((states, present), &here) in mass.indexed_iter() {
            let state = bits(states);
            let available: Vec<bool> = bits(present).iter().map(|v| *v == 1).collect();
            value += DISCOUNT.powi(t as i32) * here * state.iter().sum::<usize>() as f64;
            let chance = chances(policy, &state, &available, t);
            let nobody = 1.0 - chance.iter().sum::<f64>();
            for (pulled, chance) in chance.into_iter().chain([nobody]).enumerate() {
                for ((to, then), next) in next.indexed_iter_mut() {
                    let (to, then) = (bits(to), bits(then));
                    let arm = |i: usize| {
                        let up = if available[i] { chain.stays } else { chain.returns };
                        let moves = if then[i] == 1 { up } else { 1.0 - up };
                        moves * p[[i, state[i], usize::from(i == pulled), to[i]]]
                    };
                    *next += here * chance * arm(0) * arm(1) * arm(2);
                }
            }
        }
        mass = next;
    }
    value
}

#[test]
fn the_mean_of_values_with_availability_is_that_of_the_joint_chain() {
    let p = transitions(Kind::Dense, 3, 2, &mut random(381));
    let reward = Reward::linear(2);
    let setting = Setting {
        motion: p.view().into(),
        reward: (&reward).into(),
        discount: DISCOUNT,
        budget: 1,
        horizon: 4,
    };
    let chain = AvailabilityChain { stays: 0.7, returns: 0.4 };
    for initial in [vec![true, false, true], vec![false; 3]] {
        let availability = Availability { initial, chain };
        for policy in policies(382) {
            let truth = enumerated(&p, &policy, &availability, 4);
            let runs = values_available(&setting, &Initial::Uniform, &availability, &policy, 40_000, 1);
            let error = runs.std(1.0) / (runs.len() as f64).sqrt();
            let mean = runs.mean().unwrap();
            // four standard errors, at a fixed seed
            assert!((mean - truth).abs() < 4.0 * error, "{policy:?}: {mean} not {truth} ± {error}");
        }
    }
}

#[test]
fn states_meet_the_same_noise_with_and_without_availability() {
    let p = transitions(Kind::Dense, 3, 2, &mut random(383));
    let reward = Reward::linear(2);
    let motion = Motion::from(p.view());
    let run = |budget: usize, availability: Option<&Availability>, policy: &Policy| {
        let setting = Setting { motion, reward: (&reward).into(), discount: DISCOUNT, budget, horizon: 6 };
        match availability {
            None => values(&setting, &Initial::Uniform, policy, 100, 5),
            Some(known) => values_available(&setting, &Initial::Uniform, known, policy, 100, 5),
        }
    };
    let chain = |stays, returns| AvailabilityChain { stays, returns };
    let sometimes = Availability { initial: vec![true; 3], chain: chain(0.6, 0.3) };
    let always = Availability { initial: vec![true; 3], chain: chain(1.0, 1.0) };
    let never = Availability { initial: vec![false; 3], chain: chain(1.0, 0.0) };
    assert_eq!(run(1, Some(&sometimes), &Policy::NoAction), run(1, None, &Policy::NoAction));
    for policy in policies(384) {
        for budget in [0, 1, 2, 5] {
            // also ties are broken alike
            assert_eq!(run(budget, Some(&always), &policy), run(budget, None, &policy), "{policy:?}");
            assert_eq!(
                run(budget, Some(&never), &policy),
                run(budget, None, &Policy::NoAction),
                "{policy:?}"
            );
        }
    }
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let [one, three] = [1, 3].map(|k| pool(k).install(|| run(2, Some(&sometimes), &Policy::Random)));
    assert_eq!(one, three);
}

#[test]
fn policies_pull_as_many_of_the_available_arms_as_the_budget_allows() {
    let mut random = random(385);
    let n = 7;
    let table = Array2::from_shape_simple_fn((n, 2), || f64::from(random.random_range(0..3u8)));
    let tables = ndarray::stack![ndarray::Axis(0), table, table];
    let policies = [
        Policy::NoAction,
        Policy::Random,
        Policy::RoundRobin,
        Policy::Strict(table.clone()),
        Policy::Horizon(tables),
        Policy::Soft(table, 0.7),
    ];
    for case in 0..60 {
        let state: Vec<u16> = (0..n).map(|_| random.random_range(0..2)).collect();
        let available: Vec<bool> = (0..n).map(|_| random.random_bool(0.1 * (case % 11) as f64)).collect();
        let count = available.iter().filter(|available| **available).count();
        for policy in &policies {
            for budget in [0, 1, 3, 7, 9] {
                let mut chooser = Chooser::new(policy, budget);
                let (mut inclusion, mut pull) = (vec![f64::NAN; n], vec![true; n]);
                chooser.inclusion_available(&state, &available, case, &mut inclusion);
                chooser.choose_available(&state, &available, case, &mut stream(1, &[]), &mut pull);
                let expected = if *policy == Policy::NoAction { 0 } else { budget.min(count) };
                let what = format!("{policy:?}, budget {budget}: {inclusion:?} {pull:?}");
                assert!((inclusion.iter().sum::<f64>() - expected as f64).abs() < 1e-9, "{what}");
                assert_eq!(pull.iter().filter(|pull| **pull).count(), expected, "{what}");
                for i in 0..n {
                    assert!(available[i] || (!pull[i] && inclusion[i] == 0.0), "{what}");
                    // what is drawn is possible, and what is certain is drawn
                    assert!(if pull[i] { inclusion[i] > 0.0 } else { inclusion[i] < 1.0 }, "{what}");
                }
                if count == n {
                    let (mut all, mut chosen) = (vec![0.0; n], vec![false; n]);
                    chooser.inclusion(&state, case, &mut all);
                    chooser.choose(&state, case, &mut stream(1, &[]), &mut chosen);
                    assert_eq!((all, chosen), (inclusion, pull), "{what}");
                }
            }
        }
    }
}

#[test]
fn steps_without_a_record_say_nothing_of_availability() {
    // the second arm has no record at the second step, the third arm one that says that it is not available
    let state = array![[[0, 0, 0], [0, UNSEEN, UNSEEN], [1, 0, 0]]];
    let none = NO_ACTION;
    let action = array![[[0, 0, 0], [0, none, none], [none, none, none]]];
    let available = Some(array![[[true, true, true], [true, true, false], [false, true, false]]]);
    let log =
        Trajectories::new(Logged { state, action, propensity: None, reward: None, available }, 2).unwrap();
    let chain = AvailabilityChain::fit(&[&log]).unwrap();
    // 1 → 1 and 1 → 0 of the first arm, 1 → 0 and 0 → 0 of the third
    assert_eq!((chain.stays, chain.returns), (2.0 / 5.0, 1.0 / 3.0));
    let plain = Logged {
        state: log.state().to_owned(),
        action: log.action().to_owned(),
        propensity: None,
        reward: None,
        available: None,
    };
    let plain = Trajectories::new(plain, 2).unwrap();
    assert_eq!(AvailabilityChain::fit(&[&plain]), None);
    assert_eq!(AvailabilityChain::fit(&[&plain, &log]), Some(chain));
}

#[test]
fn a_certificate_knows_who_can_be_pulled() {
    let p = transitions(Kind::Dense, 5, 2, &mut random(393));
    let (reward, transition) = (Reward::linear(2), Transition::new(p, Layout::Nsas).unwrap());
    let world = World::new(Observation::Full, &reward, &transition);
    let state = [0, 1, 0, 1, 0];
    let certified = Certified {
        world: &world,
        discount: 0.95,
        budget: 2,
        steps: 5,
        state: &state,
        first: None,
        index: None,
    };
    let known = |initial: bool, stays: f64, returns: f64| Availability {
        initial: vec![initial; 5],
        chain: AvailabilityChain { stays, returns },
    };
    let always = certified.certificate(3);
    assert_eq!(certified.certificate_available(&known(true, 1.0, 0.0), 3), always);
    let never = certified.certificate_available(&known(false, 1.0, 0.0), 3);
    assert_eq!((never.value.mean, never.bound), (never.no_action, always.bound));
    assert_ne!(always.value.mean, always.no_action); // a test that could not fail
}
