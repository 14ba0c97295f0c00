//! Simulation against exact enumeration of joint chains, and the synthetic domains against their definition.

use crate::arms::{Kind, random, transitions};
use ndarray::{Array1, Array2, Axis};
use rand::RngExt;
use restive::data::domain::Domain;
use restive::policy::soft_top_k::soft_top_k;
use restive::policy::{Chooser, Policy, myopic_index};
use restive::simulation::{Initial, Rollouts, Setting, planned_values, trajectories, values};
use restive::{Reward, index};

/// The exact value of a policy that depends on the joint state: all joint states, all sets of pulls.
pub fn exact_value(setting: &Setting, policy: &Policy) -> f64 {
    let restive::belief::Motion::Rows(p) = setting.motion else { panic!("states that are seen") };
    let (n, m) = (p.shape()[0], p.shape()[1]);
    let joint = m.pow(n as u32);
    let digits = |code: usize| -> Vec<u16> { (0..n).map(|i| (code / m.pow(i as u32) % m) as u16).collect() };
    let mut mass = Array1::from_elem(joint, 1.0 / joint as f64);
    let (mut value, mut weight) = (0.0, 1.0);
    for t in 0..setting.horizon {
        let mut next = Array1::zeros(joint);
        for code in 0..joint {
            let state = digits(code);
            // who is pulled: here at most one arm, so inclusion probabilities are the whole distribution
            let mut inclusion = vec![0.0; n];
            Chooser::new(policy, setting.budget).inclusion(&state, t, &mut inclusion);
            let nobody = 1.0 - inclusion.iter().sum::<f64>();
            for pulled in 0..=n {
                let chance = if pulled == n { nobody } else { inclusion[pulled] };
                if chance < 1e-15 {
                    continue;
                }
                let action = |i: usize| usize::from(i == pulled);
                let reward: f64 =
                    (0..n).map(|i| setting.reward.at(i, usize::from(state[i]), action(i))).sum();
                value += weight * mass[code] * chance * reward;
                for to in 0..joint {
                    let there = digits(to);
                    let chance_there: f64 = (0..n)
                        .map(|i| p[[i, usize::from(state[i]), action(i), usize::from(there[i])]])
                        .product();
                    next[to] += mass[code] * chance * chance_there;
                }
            }
        }
        mass = next;
        weight *= setting.discount;
    }
    value
}

#[test]
fn the_mean_of_simulated_values_is_the_exact_value_of_the_joint_chain() {
    let mut random = random(51);
    for m in [2, 3] {
        let p = transitions(Kind::Dense, 3, m, &mut random);
        let reward = Reward::of_state_and_action(crate::arms::reward(m, true, &mut random)).unwrap();
        let index = index::general::index(p.view(), reward.view(), 0.9).index;
        let myopic = myopic_index(p.view(), reward.view(), 0.9);
        let setting = Setting {
            motion: p.view().into(),
            reward: (&reward).into(),
            discount: 0.9,
            budget: 1,
            horizon: 4,
        };
        let tied = Array2::zeros((3, m)); // everybody ties: a lot at every step
        for policy in [
            Policy::NoAction,
            Policy::Random,
            Policy::RoundRobin,
            Policy::Strict(index.clone()),
            Policy::Strict(myopic),
            Policy::Strict(tied),
            Policy::Soft(index, 0.1),
        ] {
            let truth = exact_value(&setting, &policy);
            let runs = values(&setting, &Initial::Uniform, &policy, 40_000, 1);
            let error = runs.std(1.0) / (runs.len() as f64).sqrt();
            // four standard errors, at a fixed seed
            assert!(
                (runs.mean().unwrap() - truth).abs() < 4.0 * error,
                "{policy:?}: {:?} not {truth} ± {error}",
                runs.mean()
            );
        }
    }
}

#[test]
fn the_soft_policy_pulls_exactly_k_arms_each_with_its_probability() {
    let mut random = random(52);
    let table = Array2::from_shape_simple_fn((12, 2), || random.random::<f64>());
    let state: Vec<u16> = (0..12).map(|_| random.random_range(0..2)).collect();
    let scores: Vec<f64> = state.iter().enumerate().map(|(i, &s)| table[[i, usize::from(s)]]).collect();
    let pull = soft_top_k(&scores, 5.0, 0.1).pull;
    let policy = Policy::Soft(table, 0.1);
    let mut chooser = Chooser::new(&policy, 5);
    let (mut counts, mut chosen, draws) = (vec![0.0; 12], vec![false; 12], 40_000);
    let mut tie_break = restive::random::stream(3, &[]);
    for _ in 0..draws {
        chooser.choose(&state, 0, &mut tie_break, &mut chosen);
        assert_eq!(chosen.iter().filter(|c| **c).count(), 5);
        counts.iter_mut().zip(&chosen).for_each(|(n, c)| *n += f64::from(*c));
    }
    for (count, p) in counts.iter().zip(&pull) {
        let error = 5.0 * (p * (1.0 - p) / draws as f64).sqrt() + 1e-12;
        assert!((count / draws as f64 - p).abs() < error, "{count} of {draws}, expected {p}");
    }
}

#[test]
fn round_robin_serves_everybody_in_turn() {
    let mut chooser = Chooser::new(&Policy::RoundRobin, 3);
    let (mut chosen, mut served) = (vec![false; 7], vec![0; 7]);
    let mut tie_break = restive::random::stream(0, &[]);
    for t in 0..7 {
        chooser.choose(&[0; 7], t, &mut tie_break, &mut chosen);
        assert_eq!(chosen.iter().filter(|c| **c).count(), 3);
        served.iter_mut().zip(&chosen).for_each(|(n, c)| *n += usize::from(*c));
    }
    assert_eq!(served, [3; 7]);
}

#[test]
fn a_plan_that_is_a_rota_has_the_values_of_the_rota() {
    let p = transitions(Kind::Dense, 7, 3, &mut random(53));
    let reward = Reward::linear(3);
    let setting =
        Setting { motion: p.view().into(), reward: (&reward).into(), discount: 0.9, budget: 3, horizon: 5 };
    let plan = Array2::from_shape_fn((5, 7), |(t, i)| (0..3).any(|k| (3 * t + k) % 7 == i));
    let planned = planned_values(&setting, &Initial::Uniform, plan.view(), 50, 4);
    assert_eq!(planned, values(&setting, &Initial::Uniform, &Policy::RoundRobin, 50, 4));
}

#[test]
fn simulated_values_are_the_same_for_every_number_of_threads_and_policies_share_their_luck() {
    let domain = Domain { instances: 1, arms: 20, budget: 4, trajectories: 2, ..Domain::five_state() };
    let instance = &domain.generate(5).unwrap()[0];
    let truth = instance.truth().unwrap();
    let setting = Setting {
        motion: truth.view().into(),
        reward: instance.reward().into(),
        discount: 0.99,
        budget: 4,
        horizon: 9,
    };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let log = trajectories(&setting, &Initial::Uniform, &Policy::Random, 20, 9);
            (
                values(&setting, &Initial::Uniform, &Policy::Random, 50, 9),
                log.state().to_owned(),
                domain.generate(5).unwrap(),
            )
        })
    };
    assert_eq!(run(1), run(3));
    // a budget of 0 is no action, on the same noise to the last bit
    let idle = Setting { budget: 0, ..setting };
    assert_eq!(
        values(&idle, &Initial::Uniform, &Policy::Random, 50, 9),
        values(&setting, &Initial::Uniform, &Policy::NoAction, 50, 9)
    );
}

#[test]
fn a_domain_is_what_it_says() {
    let domain = Domain { instances: 3, arms: 50, budget: 7, trajectories: 4, ..Domain::five_state() };
    for instance in domain.generate(11).unwrap() {
        let (truth, reward) = (instance.truth().unwrap().view(), instance.reward().view());
        for i in 0..50 {
            for s in 0..5 {
                let next = |a: usize| (0..5).map(|t| truth[[i, s, a, t]] * reward[[t, 0]]).sum::<f64>();
                assert!(next(1) > next(0) + 0.2, "a pull must pay");
            }
        }
        let log = instance.trajectories();
        for (t, step) in log.action().axis_iter(Axis(1)).enumerate() {
            for arms in step.rows() {
                let pulls = arms.iter().filter(|a| **a == 1).count();
                assert_eq!(pulls, if t < 9 { 7 } else { 0 });
            }
        }
        let propensity = log.propensity().unwrap();
        for (a, p) in log.action().iter().zip(&propensity) {
            match a {
                1 => assert_eq!(*p, 0.14),
                0 => assert_eq!(*p, 0.86),
                _ => assert_eq!(*p, 1.0),
            }
        }
    }
    assert_eq!(domain.generate(11).unwrap(), domain.generate(11).unwrap());
    assert_ne!(domain.generate(11).unwrap()[0], domain.generate(12).unwrap()[0]);
    assert!(Domain { budget: 51, ..domain.clone() }.generate(1).is_err());
    assert!(Domain { features_kept: 17, ..domain.clone() }.generate(1).is_err());
    assert!(Domain { margin: 0.99, ..domain }.generate(1).is_err());
}

#[test]
fn the_published_domains_have_the_published_value_without_action() {
    // 247.0 and 313.6 are the exact values of the published runs, to the digits given there
    for (domain, published) in [(Domain::two_state(), 247.0), (Domain::five_state(), 313.6)] {
        let domain = Domain { trajectories: 1, ..domain };
        let mut seeds = Vec::new();
        for seed in 0..50 {
            let mut total = 0.0;
            for instance in domain.generate(seed).unwrap() {
                let (truth, reward) = (instance.truth().unwrap().view(), instance.reward().view());
                let m = domain.states;
                for i in 0..domain.arms {
                    let mut mass = Array1::from_elem(m, 1.0 / m as f64);
                    for t in 0..domain.horizon {
                        total += 0.99f64.powi(t as i32) * mass.dot(&reward.column(0));
                        mass = mass.dot(&truth.slice(ndarray::s![i, .., 0, ..]));
                    }
                }
            }
            seeds.push(total / domain.instances as f64);
        }
        let seeds = Array1::from(seeds);
        // two sets of 50 seeds, theirs and ours
        let error = (2.0f64 / 50.0).sqrt() * seeds.std(1.0);
        let mean = seeds.mean().unwrap();
        assert!((mean - published).abs() < 3.0 * error, "{mean} ± {error}, published {published}");
        println!("{mean} ± {error}, published {published}");
    }
}

/// Rollouts that are taken a step at a time are those of `values` and `trajectories`, bit for bit, and transitions may change under way.
#[test]
fn rollouts_by_step_meet_the_same_noise() {
    let mut random = random(96);
    let (p, q) = (transitions(Kind::Dense, 6, 3, &mut random), transitions(Kind::Dense, 6, 3, &mut random));
    let (reward, motion) = (Reward::linear(3), p.view().into());
    let setting = Setting { motion, reward: (&reward).into(), discount: 0.9, budget: 2, horizon: 7 };
    let table = Array2::from_shape_fn((6, 3), |(i, s)| ((i * 3 + s) % 4) as f64); // with ties
    for policy in [Policy::Random, Policy::Strict(table.clone()), Policy::Soft(table.clone(), 0.3)] {
        let mut rollouts = Rollouts::new(&setting, &Initial::Uniform, 40, 7);
        let log = trajectories(&setting, &Initial::Uniform, &policy, 40, 7);
        for t in 0..7 {
            let decision = rollouts.by_policy(&policy);
            for ((r, i), &pull) in decision.pull.indexed_iter() {
                let inclusion = decision.inclusion[[r, i]];
                assert_eq!(rollouts.state()[[r, i]], log.state()[[r, t, i]]);
                let taken = if pull { inclusion } else { 1.0 - inclusion };
                assert_eq!(taken, log.propensity().unwrap()[[r, t, i]]);
            }
            rollouts.step(motion, decision.pull.view());
        }
        assert_eq!(rollouts.values(), values(&setting, &Initial::Uniform, &policy, 40, 7));
    }
    // scores of the moment are the table of the moment
    let mut by_scores = Rollouts::new(&setting, &Initial::Uniform, 40, 8);
    let mut by_table = Rollouts::new(&setting, &Initial::Uniform, 40, 8);
    for _ in 0..7 {
        let scores = Array2::from_shape_fn((40, 6), |(r, i)| table[[i, by_scores.state()[[r, i]] as usize]]);
        let (a, b) = (by_scores.by_scores(scores.view()), by_table.by_policy(&Policy::Strict(table.clone())));
        assert_eq!(a, b);
        by_scores.step(motion, a.pull.view());
        by_table.step(motion, b.pull.view());
    }
    // nobody is pulled and transitions alternate: the expected value is a product of matrices
    let (runs, mut mass) = (40_000, Array2::from_elem((6, 3), 1.0 / 3.0));
    let mut rollouts = Rollouts::new(&setting, &Initial::Uniform, runs, 9);
    let (mut truth, mut weight) = (0.0, 1.0);
    for t in 0..6 {
        let here = if t % 2 == 0 { &p } else { &q };
        let decision = rollouts.by_policy(&Policy::NoAction);
        rollouts.step(here.view().into(), decision.pull.view());
        truth += weight * mass.rows().into_iter().map(|row| 0.5 * row[1] + row[2]).sum::<f64>();
        weight *= 0.9;
        mass =
            Array2::from_shape_fn((6, 3), |(i, to)| (0..3).map(|s| mass[[i, s]] * here[[i, s, 0, to]]).sum());
    }
    let found = rollouts.values();
    let error = found.std(1.0) / (runs as f64).sqrt();
    assert!((found.mean().unwrap() - truth).abs() < 4.0 * error, "{found} ± {error}, not {truth}");
}
