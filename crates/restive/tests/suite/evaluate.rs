//! All policies by all estimators: threads, parts of instances, short logs, logs that show no other policy, rotas.

use ndarray::{Array2, Array4};
use restive::data::domain::Domain;
use restive::evaluation::*;
use restive::instance::{Instance, Layout, Observation, Parts, Reward, Transition};
use restive::policy::{Policy, sigmoid};
use restive::simulation::{Initial, Setting, trajectories};

#[test]
fn an_evaluation_says_the_same_for_every_number_of_threads() {
    let domain = Domain { instances: 2, arms: 12, budget: 3, trajectories: 10, ..Domain::two_state() };
    let instances = domain.generate(5).unwrap();
    let run = |threads: usize, logged: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let cut: Vec<_> = instances
            .iter()
            .map(|x| {
                let which: Vec<usize> = (0..logged).collect();
                let trajectories = x.trajectories().select(&which);
                Instance::new(Parts { trajectories, ..x.parts().clone() }).unwrap()
            })
            .collect();
        let cases: Vec<Case> = cut
            .iter()
            .map(|instance| {
                let truth = instance.truth().unwrap().view();
                let index = restive::index::two_state::index(truth, instance.reward().view(), 0.9).index;
                let policies = vec![
                    ("no-action".into(), Policy::NoAction),
                    ("random".into(), Policy::Random),
                    ("round-robin".into(), Policy::RoundRobin),
                    ("oracle-soft".into(), Policy::Soft(index.clone(), 0.1)),
                    ("oracle-strict".into(), Policy::Strict(index)),
                ];
                Case { instance, policies, prediction: None }
            })
            .collect();
        let settings = EvaluationSettings { runs: 200, resamples: 40, ..EvaluationSettings::new(9) };
        pool.install(|| evaluate(&cases, &settings).unwrap())
    };
    for logged in [10, 1] {
        let once = run(1, logged);
        assert_eq!(format!("{once:?}"), format!("{:?}", run(3, logged)));
        let by_ratio = if logged == 1 { Estimator::Segmented } else { Estimator::Is };
        for (name, scores) in &once.policies {
            assert_eq!(scores.len(), 4, "{name}");
            for score in scores {
                let v = score.value;
                assert!(v.low <= v.value && v.value <= v.high, "{name} {score:?}");
                assert_eq!(v.effective_sample_size.is_some(), score.estimator == by_ratio);
                let own = if name == "random" { score.gain_over_random } else { score.gain_over_no_action };
                if name == "random" || name == "no-action" {
                    let own = own.unwrap();
                    assert!(own.value == 0.0 && own.low == 0.0 && own.high == 0.0, "{name} {own:?}");
                }
            }
        }
        let oracle = once.score("oracle-strict", Estimator::True).unwrap();
        assert!(oracle.gain_over_random.unwrap().low > 0.0);
        // paired: the gain is far better known than the value
        let width = |e: Estimate| e.high - e.low;
        assert!(width(oracle.gain_over_random.unwrap()) < width(oracle.value));
    }
}

#[test]
fn some_arms_of_a_single_trajectory_can_be_judged() {
    let domain = Domain { instances: 1, arms: 12, budget: 3, trajectories: 1, ..Domain::two_state() };
    let some = domain.generate(2).unwrap()[0].select_arms(&[1, 4, 5, 8, 11]);
    assert!(some.trajectories().state().is_standard_layout());
    let policies = vec![("random".to_string(), Policy::Random)];
    let settings = EvaluationSettings { runs: 10, resamples: 5, ..EvaluationSettings::new(4) };
    let cases = [Case { instance: &some, policies, prediction: None }];
    assert!(evaluate(&cases, &settings).unwrap().score("random", Estimator::Segmented).is_some());
}

#[test]
fn logs_of_a_single_decision_have_targets_too() {
    let domain =
        Domain { instances: 1, arms: 6, budget: 2, trajectories: 3, horizon: 1, ..Domain::two_state() };
    let instance = &domain.generate(2).unwrap()[0];
    let table = ndarray::Array2::from_shape_fn((6, 2), |(i, s)| (i + 3 * s) as f64);
    let states = known_states(instance.trajectories(), instance.observation());
    for policy in [Policy::Random, Policy::Strict(table.clone()), Policy::Soft(table, 0.5)] {
        let pull = target_log_odds(states.view(), &policy, 2).mapv(sigmoid);
        assert_eq!(pull.dim(), (3, 1, 6));
        for arms in pull.rows() {
            assert!((arms.sum() - 2.0).abs() < 1e-12, "{policy:?}");
        }
    }
}

/// Under K of N with K = 0 or K = N nothing was left to chance: what needs no propensities is judged all the same.
#[test]
fn nobody_or_everybody_is_judged_by_what_needs_no_propensities() {
    for (logged, budget, hindrance) in
        [(0, 0, Hindrance::Certain), (6, 6, Hindrance::Certain), (2, 6, Hindrance::Impossible)]
    {
        for trajectories in [1, 4] {
            let domain =
                Domain { instances: 1, arms: 6, budget: logged, trajectories, ..Domain::two_state() };
            let x = &domain.generate(2).unwrap()[0];
            let instance = Instance::new(Parts { budget, ..x.parts().clone() }).unwrap();
            let policies =
                vec![("no-action".to_string(), Policy::NoAction), ("random".into(), Policy::Random)];
            let settings = EvaluationSettings {
                behaviour: Some(Behaviour::Uniform),
                runs: 10,
                resamples: 5,
                ..EvaluationSettings::new(4)
            };
            let cases = [Case { instance: &instance, policies, prediction: None }];
            let evaluation = evaluate(&cases, &settings).unwrap();
            assert_eq!(evaluation.evidence.hindrance, Some(hindrance));
            let judged = Estimator::ALL.map(|e| evaluation.score("random", e).is_some());
            assert_eq!(judged, [false, false, true, true, true]);
        }
    }
}

/// Arms of a rota are seen pulled in their turn and at no other step, so that a rota in another order is another policy.
#[test]
fn the_turns_of_a_rota_stay_with_their_arms_when_arms_are_resampled() {
    let (n, budget, horizon) = (24, 4, 6);
    for seed in 0..10 {
        let domain = Domain { instances: 1, arms: n, budget, trajectories: 1, ..Domain::two_state() };
        let x = &domain.generate(seed).unwrap()[0];
        let truth = x.truth().unwrap();
        let setting = Setting {
            motion: truth.view().into(),
            reward: x.reward().into(),
            discount: 0.99,
            budget,
            horizon,
        };
        let trajectories = trajectories(&setting, &Initial::Uniform, &Policy::RoundRobin, 1, seed);
        let instance = Instance::new(Parts { trajectories, truth: None, ..x.parts().clone() }).unwrap();
        let names = ["no-action", "random", "round-robin"].map(String::from);
        let policies = [Policy::NoAction, Policy::Random, Policy::RoundRobin];
        let policies = names.into_iter().zip(policies).collect();
        let settings = EvaluationSettings {
            behaviour: None,
            runs: 400,
            resamples: 100,
            ..EvaluationSettings::new(horizon)
        };
        let evaluation = evaluate(&[Case { instance: &instance, policies, prediction: None }], &settings);
        let evaluation = evaluation.unwrap();
        for estimator in [Estimator::Fluid, Estimator::Simulated] {
            let score = evaluation.score("round-robin", estimator).unwrap();
            let gains = [score.gain_over_random.unwrap(), score.gain_over_no_action.unwrap()];
            for e in [score.value, gains[0], gains[1]] {
                assert!(e.low <= e.value && e.value <= e.high, "{seed} {estimator:?} {e:?}");
                // and not at its very edge: resampled values lie about the value
                let place = (e.value - e.low) / (e.high - e.low);
                assert!((0.2..0.8).contains(&place), "{seed} {estimator:?} {e:?}");
            }
        }
    }
}

/// Arms that stay where they began: all that a value can be wrong about is where they began.
#[test]
fn intervals_of_simulated_values_know_that_logged_starts_are_a_sample() {
    let (n, j) = (20, 12);
    let stay = Array4::from_shape_fn((n, 2, 2, 2), |(_, s, _, next)| f64::from(s == next));
    let (transition, reward) = (Transition::new(stay, Layout::Nsas).unwrap(), Reward::linear(2));
    let setting = Setting {
        motion: transition.view().into(),
        reward: (&reward).into(),
        discount: 1.0,
        budget: 2,
        horizon: 5,
    };
    let mut widths = 0.0;
    for seed in 0..5 {
        let trajectories = trajectories(&setting, &Initial::Uniform, &Policy::Random, j, seed);
        let features = Array2::ones((n, 1));
        let parts = Parts {
            features,
            trajectories,
            reward: reward.clone(),
            budget: 2,
            discount: 1.0,
            truth: None,
            observation: Observation::Full,
            clusters: None,
        };
        let instance = Instance::new(parts).unwrap();
        let policies = vec![("no-action".to_string(), Policy::NoAction)];
        let cases = [Case { instance: &instance, policies, prediction: None }];
        let settings =
            EvaluationSettings { behaviour: None, runs: 240, resamples: 50, ..EvaluationSettings::new(5) };
        let value =
            evaluate(&cases, &settings).unwrap().score("no-action", Estimator::Simulated).unwrap().value;
        widths += (value.high - value.low) / 2.0 / 5.0;
    }
    // five steps of 20 arms, each at 1 with probability a half, over 12 trajectories
    let truth = 1.96 * 5.0 * (20.0f64 / 4.0 / 12.0).sqrt();
    assert!(widths > 0.7 * truth && widths < 1.5 * truth, "{widths} not {truth}");
}

/// Half the width of an interval from 50 resamples by standard errors, and from 200 by percentiles, are both known to 10 %.
#[test]
fn standard_errors_of_fifty_resamples_end_where_percentiles_of_two_hundred_do() {
    let domain = Domain { instances: 1, arms: 400, budget: 40, trajectories: 1, ..Domain::two_state() };
    let mut ratios = Vec::new();
    for seed in 0..12 {
        let instance = &domain.generate(seed).unwrap()[0];
        let width = |resamples: usize, ends: Ends| {
            let policies =
                vec![("no-action".to_string(), Policy::NoAction), ("random".into(), Policy::Random)];
            let settings = EvaluationSettings {
                behaviour: None,
                runs: 2,
                runs_per_resample: 2,
                resamples,
                ends,
                seed,
                ..EvaluationSettings::new(5)
            };
            let evaluation = evaluate(&[Case { instance, policies, prediction: None }], &settings).unwrap();
            let value = evaluation.score("random", Estimator::Fluid).unwrap().value;
            value.high - value.low
        };
        ratios.push(width(50, Ends::StandardErrors) / width(200, Ends::Percentiles));
    }
    let mean = ratios.iter().sum::<f64>() / 12.0;
    let spread = (ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / 11.0).sqrt();
    // √(0.10² + 0.097²) = 0.14 for one of them if they were independent, 0.04 for the mean of twelve; four of those
    assert!((mean - 1.0).abs() < 0.16, "{mean} {ratios:?}");
    assert!(spread < 0.28, "{spread} {ratios:?}");
}
