//! All policies by all estimators: threads, parts of instances, short logs, logs that show no other policy, rotas.

use restive::Instance;
use restive::data::domain::Domain;
use restive::evaluation::*;
use restive::policy::Policy;

#[test]
fn an_evaluation_says_the_same_for_every_number_of_threads() {
    let domain = Domain { instances: 2, arms: 12, budget: 3, trajectories: 10, ..Domain::two_state() };
    let instances = domain.generate(5).unwrap();
    let run = |threads: usize, trajectories: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let cut: Vec<_> = instances
            .iter()
            .map(|x| {
                let which: Vec<usize> = (0..trajectories).collect();
                let log = x.trajectories().select(&which);
                Instance::new(x.features().to_owned(), log, x.reward().clone(), 3, 0.99, x.truth().cloned())
                    .unwrap()
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
        let settings = Settings { runs: 200, resamples: 40, ..Settings::new(9) };
        pool.install(|| evaluate(&cases, &settings).unwrap())
    };
    for trajectories in [10, 1] {
        let once = run(1, trajectories);
        assert_eq!(format!("{once:?}"), format!("{:?}", run(3, trajectories)));
        let by_ratio = if trajectories == 1 { Estimator::Segmented } else { Estimator::Is };
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
    let settings = Settings { runs: 10, resamples: 5, ..Settings::new(4) };
    let cases = [Case { instance: &some, policies, prediction: None }];
    assert!(evaluate(&cases, &settings).unwrap().score("random", Estimator::Segmented).is_some());
}

#[test]
fn logs_of_a_single_decision_have_targets_too() {
    let domain =
        Domain { instances: 1, arms: 6, budget: 2, trajectories: 3, horizon: 1, ..Domain::two_state() };
    let instance = &domain.generate(2).unwrap()[0];
    let table = ndarray::Array2::from_shape_fn((6, 2), |(i, s)| (i + 3 * s) as f64);
    let states = known_states(instance.trajectories());
    for policy in [Policy::Random, Policy::Strict(table.clone()), Policy::Soft(table, 0.5)] {
        let pull = target_pull(states.view(), &policy, 2);
        assert_eq!(pull.dim(), (3, 1, 6));
        for arms in pull.rows() {
            assert!((arms.sum() - 2.0).abs() < 1e-12, "{policy:?}");
        }
    }
}
