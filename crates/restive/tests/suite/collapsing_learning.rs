//! Learning and evaluation where states are seen at pulls only: the loss by its definition, its gradient, the worlds of truth and
//! log, and the published figures of the domain.

use crate::decision_focused::check;
use crate::gradients::{AGREEMENT, derivative, tangent};
use ndarray::Array4;
use restive::belief::{Motion, beliefs};
use restive::data::domain::Domain;
use restive::evaluation::*;
use restive::instance::{Chain, Logged, Observation, Trajectories};
use restive::policy::Policy;
use restive::predictor::{Architecture, Precision, Predictor, PredictorKind};
use restive::training::{Config, Decision, DecisionFocused, Prior, Recipe, Selection, Value, fit};

fn small(states: usize) -> Domain {
    let size = Domain { instances: 2, arms: 8, budget: 2, trajectories: 6, ..Domain::collapsing() };
    Domain { states, observation: Observation::Collapsing(Chain::Finite(4)), ..size }
}

#[test]
fn the_loss_is_that_of_every_sighting() {
    for states in [2, 3] {
        let instance = &small(states).generate(1).unwrap()[0];
        let truth = instance.truth().unwrap();
        let belief = beliefs(truth.view(), 4).belief;
        let log = instance.trajectories();
        let (mut loss, mut seen) = (0.0, 0);
        for ((j, t, i), &a) in log.action().indexed_iter() {
            if a == 1 {
                let label = usize::from(log.state()[[j, t, i]]);
                let x = usize::from(log.state()[[j, t + 1, i]]) / 4;
                loss -= belief.row(i, label)[x].ln() / 6.0;
                seen += 1;
            }
        }
        assert_eq!(seen, 6 * 9 * 2);
        let record = Record::new(instance);
        let found = record.loss(truth.view());
        assert!((found.per_trajectory - loss).abs() < 1e-12 * loss);
        assert!((found.per_transition - loss * 6.0 / seen as f64).abs() < 1e-12);
        assert_eq!(record.total(), seen as f64);
        // of the record that was to be expected no transitions have a lower loss than the prediction itself
        let expected = record.expected(truth.view());
        let other = small(states).generate(2).unwrap()[0].truth().unwrap().clone();
        assert!(expected.loss(truth.view()).per_trajectory < expected.loss(other.view()).per_trajectory);
        let flat = expected.loss(truth.view()).pullback(1.0).d_transition;
        assert!(flat.iter().all(|d| d.abs() < 1e-12));
    }
}

#[test]
fn its_pullback_is_the_derivative() {
    let mut random = crate::arms::random(4);
    for states in [2, 3] {
        let all = small(states).generate(1).unwrap();
        let record = Record::new(&all[0]);
        let p: Array4<f64> = all[1].truth().unwrap().view().to_owned();
        let d = tangent(&p, 1e-4, &mut random);
        let gradient = record.loss(p.view()).pullback(2.0).d_transition;
        let truth = derivative(|t| 2.0 * record.loss((&p + &(&d * t)).view()).per_trajectory, 1e-5);
        let along = (&gradient * &d).sum();
        let size = gradient.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!((along - truth).abs() < AGREEMENT * (1.0 + size), "{along} {truth}");
    }
}

#[test]
fn the_world_of_a_log_is_that_of_its_sightings() {
    let domain = Domain { trajectories: 4000, ..small(2) };
    let instance = &domain.generate(3).unwrap()[0];
    let (observation, reward) = (instance.observation(), instance.reward());
    let truth = World::new(observation, reward, instance.truth().unwrap());
    let record = Record::new(instance);
    let found = World::estimated(reward, &record, None);
    let belief = |world: &World| match world.motion() {
        Motion::Chains(belief) => belief.view().to_owned(),
        Motion::Rows(_) => panic!("labels move along chains"),
    };
    let gap = belief(&truth) - belief(&found);
    assert!(gap.iter().all(|x| x.abs() < 0.1), "{gap}");
    // 4,000 trajectories pull each label of each arm more than a hundred times
    let gap = belief(&truth) - belief(&World::counted(reward, &record));
    assert!(gap.iter().all(|x| x.abs() < 0.2), "{gap}");
    for i in 0..8 {
        for l in 0..8 {
            assert!((truth.reward().at(i, l, 0) - found.reward().at(i, l, 0)).abs() < 0.2);
        }
    }
    // a prediction that outweighs every log is believed
    let prediction = instance.truth().unwrap();
    let believed = World::estimated(reward, &record, Some((prediction.view(), [1e12; 2])));
    let gap = belief(&truth) - belief(&believed);
    assert!(gap.iter().all(|x| x.abs() < 1e-6));
}

/// By the definition of beliefs: R at x when pulled is that of P₁(x, ·), when left alone that of the belief a step later.
#[test]
fn the_myopic_index_of_a_label_is_its_one_step_gain() {
    for states in [2, 3] {
        let instance = &small(states).generate(5).unwrap()[0];
        let (truth, reward) = (instance.truth().unwrap(), instance.reward());
        let found = World::new(instance.observation(), reward, truth).myopic_index(0.9);
        let (p, belief) = (truth.view(), beliefs(truth.view(), 4).belief);
        for ((i, l), &found) in found.indexed_iter() {
            let (later, r) = (if l % 4 == 3 { l } else { l + 1 }, |x: usize| reward.view()[[x, 0]]);
            let left: f64 = belief.row(i, later).iter().enumerate().map(|(x, b)| b * r(x)).sum();
            let after = |x: usize| (0..states).map(|y| p[[i, x, 1, y]] * r(y)).sum::<f64>();
            let pulled: f64 = belief.row(i, l).iter().enumerate().map(|(x, b)| b * after(x)).sum();
            assert!((found - 0.9 * (pulled - left)).abs() < 1e-14);
        }
    }
}

#[test]
fn no_label_of_an_infinite_chain_stays() {
    let chain = Chain::Infinite { beliefs: 15 };
    let domain = Domain { observation: Observation::Collapsing(chain), trajectories: 40, ..small(2) };
    let log = domain.generate(1).unwrap()[0].trajectories().clone();
    for ((j, t, i), &a) in log.action().indexed_iter() {
        let at = |t: usize| usize::from(log.state()[[j, t, i]]);
        match a {
            0 => assert_eq!(at(t + 1), at(t) + 1),
            1 => assert_eq!(at(t + 1) % 15, 0),
            _ => assert_eq!(t, 9),
        }
    }
    let starts: std::collections::BTreeSet<u16> =
        log.state().index_axis(ndarray::Axis(1), 0).iter().copied().collect();
    assert_eq!(Vec::from_iter(starts), [0, 1, 2, 3, 4, 5, 15, 16, 17, 18, 19, 20]);
    let short = Observation::Collapsing(Chain::Infinite { beliefs: 9 });
    assert!(Domain { observation: short, ..small(2) }.generate(1).is_err());
}

/// PROTOCOL: without action the published domain is worth 224.8; the untrained network has a loss of 124.7 ± .5, two-stage
/// training as published ends at 92.9 ± .2 (50 seeds). Three seeds here, three standard errors of their own.
#[test]
fn the_published_domain_has_its_published_figures() {
    let (mut idle, mut losses) = (Vec::new(), Vec::new());
    for seed in 0..3 {
        let all = Domain::collapsing().generate(seed).unwrap();
        let config = Config { epochs: 20, seed, ..Config::published() };
        let fitted = fit(config, &all[..7], &all[7..8]).unwrap();
        for test in &all[8..] {
            let transition = fitted.predictor.predict(test.features());
            losses.push(Record::new(test).loss(transition.view()).per_trajectory);
        }
        for instance in &all {
            let policies = vec![("no-action".to_string(), Policy::NoAction)];
            let cases = [Case { instance, policies, prediction: None }];
            let settings = EvaluationSettings {
                behaviour: None,
                runs: 50,
                resamples: 2,
                start: Start::Uniform,
                ..EvaluationSettings::new(9)
            };
            let found = evaluate(&cases, &settings).unwrap();
            idle.push(found.score("no-action", Estimator::True).unwrap().value.value);
        }
    }
    let close = |numbers: &[f64], truth: f64, error: f64| {
        let n = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / n;
        let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let own = (variance / n + error * error).sqrt();
        assert!((mean - truth).abs() < 3.0 * own, "{mean} ± {own} not {truth}");
        println!("{mean} ± {own} [{truth}]");
    };
    close(&idle, 224.8, 0.5);
    close(&losses, 92.9, 0.2);
}

/// The whole chain, beliefs included, against differences; kinks are avoided by the choice of the seed.
#[test]
fn the_chain_rule_goes_through_beliefs() {
    for (states, chain) in
        [(2, Chain::Finite(4)), (3, Chain::Finite(3)), (2, Chain::Infinite { beliefs: 12 })]
    {
        let domain = Domain { observation: Observation::Collapsing(chain), ..small(states) };
        let all = domain.generate(7).unwrap();
        let (train, validation) = all.split_at(1);
        for hidden in [vec![], vec![6]] {
            let kind = PredictorKind::Network { hidden, dropout: 0.0 };
            let architecture = Architecture { features: 16, states, kind: kind.clone() };
            let prior = Prior { predictor: Predictor::new(&architecture, 3).unwrap(), strength: [8.0, 2.0] };
            let at = Predictor::new(&architecture, 4).unwrap();
            for value in Value::ALL {
                for prior in [None, Some(&prior)] {
                    let decision =
                        Decision { value, loss_weight: 0.1, index_discount: 0.9, ..Decision::recommended(5) };
                    let config = Config { kind: kind.clone(), ..Config::published() };
                    let training = DecisionFocused::new(config, decision, prior, train, validation).unwrap();
                    check(&training, &at, &format!("{value:?} {states} {chain:?} {}", prior.is_some()));
                }
            }
        }
    }
}

#[test]
fn the_recommended_training_runs_on_labels() {
    let domain = Domain { instances: 4, arms: 20, budget: 4, trajectories: 8, ..Domain::collapsing() };
    let all = domain.generate(2).unwrap();
    let (train, validation) = all.split_at(3);
    let kind = PredictorKind::Network { hidden: vec![], dropout: 0.0 };
    let two_stage = Config { kind, epochs: 20, ..Config::recommended(train) };
    let mut selection = Selection::new(Recipe::new(two_stage, 9), train, validation).unwrap();
    while !selection.is_finished() {
        selection.round();
    }
    let selected = selection.finish();
    assert!(selected.verdict.folds.iter().flatten().all(|value| value.is_finite() && *value > 0.0));
    // the effect model needs moves
    let kind = PredictorKind::Effect { precision: Precision::DEFAULT };
    let refused = fit(Config { kind, ..Config::published() }, train, validation).err().unwrap().to_string();
    assert!(refused.contains("states seen at every step"), "{refused}");
}

#[test]
fn discount_one_has_no_index_of_labels_and_is_refused_in_training() {
    let all = small(2).generate(7).unwrap();
    let truth = all[0].truth().unwrap().view();
    for chain in [Chain::Finite(4), Chain::Infinite { beliefs: 4 }] {
        let found = restive::index::collapsing::index(truth, all[0].reward().view(), 1.0, chain);
        assert!(found.index.iter().all(|w| w.is_nan()));
        assert!((0..found.status.len()).all(|i| found.verdict(i).is_none()));
    }
    let decision = Decision { index_discount: 1.0, ..Decision::recommended(5) };
    let refused = DecisionFocused::new(Config::published(), decision, None, &all[..1], &[]).err().unwrap();
    assert!(refused.to_string().contains("below 1 where states are seen at pulls only"), "{refused}");
}

/// A log in memory may hold no rewards: a pull is worth what it saw.
#[test]
fn without_logged_rewards_a_pull_earns_what_it_saw() {
    let instance = &small(3).generate(4).unwrap()[0];
    let (log, table) = (instance.trajectories(), instance.reward().view());
    let (state, action) = (log.state().to_owned(), log.action().to_owned());
    let (_, steps, _) = state.dim();
    let seen = ndarray::Array3::from_shape_fn(state.dim(), |(j, t, i)| match action[[j, t, i]] {
        1 if t + 1 < steps => table[[usize::from(state[[j, t + 1, i]]) / 4, 1]],
        _ => f64::NAN,
    });
    let propensity = log.propensity().map(|p| p.to_owned());
    let decisions = |reward| {
        let logged = Logged {
            state: state.clone(),
            action: action.clone(),
            propensity: propensity.clone(),
            reward,
            available: None,
        };
        let log = Trajectories::new(logged, log.states()).unwrap();
        let propensity = Propensity::new(&log, Behaviour::Logged, instance.budget()).unwrap();
        Decisions::new(&log, instance.reward(), &propensity)
    };
    assert_eq!(decisions(None), decisions(Some(seen)));
}
