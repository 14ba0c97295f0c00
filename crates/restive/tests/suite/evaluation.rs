//! The estimators against direct formulas, finite differences and constructed data.

use crate::arms::{Kind, Random, random, transitions};
use crate::gradients::{AGREEMENT, derivative, tangent, uniform};
use ndarray::{Array2, Array3, Array4, ArrayView3, Axis};
use rand::RngExt;
use rand_distr::{Distribution, Gamma};
use restive::data::domain::Domain;
use restive::evaluation::*;
use restive::instance::{Logged, NO_ACTION, Parts, UNSEEN};
use restive::policy::Policy;
use restive::{Instance, Reward, Trajectories};

/// A log with everything that can happen in one: missing states, missing actions, propensities of all sizes.
struct Log {
    trajectories: Trajectories,
    propensity: Propensity,
    reward: Reward,
}

fn log(j: usize, h: usize, n: usize, is_ragged: bool, random: &mut Random) -> Log {
    let dim = (j, h + 1, n);
    let mut state = Array3::from_shape_simple_fn(dim, || random.random_range(0..3u16));
    let mut action = Array3::from_shape_simple_fn(dim, || random.random_range(0..2u8));
    let propensity = Array3::from_shape_simple_fn(dim, || random.random_range(0.2..0.9));
    if is_ragged {
        state.iter_mut().filter(|_| random.random_bool(0.2)).for_each(|s| *s = UNSEEN);
        action.iter_mut().filter(|_| random.random_bool(0.1)).for_each(|a| *a = NO_ACTION);
        state.index_axis_mut(Axis(2), 0).column_mut(1).fill(UNSEEN); // arm 0 is never seen at step 1
    }
    action.index_axis_mut(Axis(1), h).fill(NO_ACTION);
    let logged = Logged { state, action, propensity: Some(propensity), reward: None };
    let trajectories = Trajectories::new(logged, 3).unwrap();
    let propensity = Propensity::new(&trajectories, Behaviour::Logged, 1).unwrap();
    Log { trajectories, propensity, reward: Reward::of_state(&[-0.3, 0.4, 1.0]).unwrap() }
}

impl Log {
    fn decisions(&self) -> Decisions {
        Decisions::new(&self.trajectories, &self.reward, &self.propensity)
    }

    fn ratio(&self, j: usize, t: usize, i: usize, pull: f64) -> f64 {
        let chosen = match self.trajectories.action()[[j, t, i]] {
            NO_ACTION => return 1.0,
            1 => pull,
            _ => 1.0 - pull,
        };
        chosen / self.trajectories.propensity().unwrap()[[j, t, i]]
    }

    fn reward(&self, j: usize, t: usize, i: usize) -> Option<f64> {
        let s = self.trajectories.state()[[j, t, i]];
        (s != UNSEEN).then(|| self.reward.view()[[usize::from(s), 0]])
    }

    /// The definition, as products of ratios: (value, dropped terms).
    fn cwpdis(&self, pull: ArrayView3<f64>, g: f64, up_to: RatioUpTo) -> (f64, usize) {
        let (jj, h, n) = pull.dim();
        let (mut value, mut dropped) = (0.0, 0);
        for t in 0..h {
            for i in 0..n {
                let (mut over, mut under) = (0.0, 0.0);
                for j in 0..jj {
                    let last = if up_to == RatioUpTo::ThisStep { t + 1 } else { t };
                    let rho: f64 = (0..last).map(|u| self.ratio(j, u, i, pull[[j, u, i]])).product();
                    if let Some(r) = self.reward(j, t, i) {
                        over += rho * r;
                        under += rho;
                    }
                }
                if under > 0.0 { value += g.powi(t as i32) * over / under } else { dropped += 1 }
            }
        }
        (value, dropped)
    }

    fn segmented(&self, pull: ArrayView3<f64>, g: f64) -> f64 {
        let (jj, h, n) = pull.dim();
        let mut value = 0.0;
        for j in 0..jj {
            for i in 0..n {
                let seen: Vec<usize> = (0..h).filter(|&t| self.reward(j, t, i).is_some()).collect();
                let ratio = |t: usize| self.ratio(j, t, i, pull[[j, t, i]]);
                let b = seen.iter().map(|&t| ratio(t)).sum::<f64>() / seen.len() as f64;
                if b > 0.0 {
                    let earned = |&t: &usize| g.powi(t as i32) * self.reward(j, t, i).unwrap() * ratio(t) / b;
                    value += seen.iter().map(earned).sum::<f64>() / jj as f64;
                }
            }
        }
        value
    }
}

const BOTH: [RatioUpTo; 2] = [RatioUpTo::ThisStep, RatioUpTo::PreviousStep];

fn pulls(log: &Log, random: &mut Random) -> Array3<f64> {
    Array3::from_shape_simple_fn(log.propensity.values.dim(), || random.random::<f64>())
}

#[test]
fn cwpdis_and_segmented_are_their_definitions() {
    let mut random = random(61);
    for (j, h, n, is_ragged) in [(7, 6, 5, false), (4, 5, 300, true), (1, 7, 10, true), (2, 1, 3, false)] {
        let log = log(j, h, n, is_ragged, &mut random);
        let (decisions, mut pull) = (log.decisions(), pulls(&log, &mut random));
        for is_strict in [false, true] {
            if is_strict {
                pull.mapv_inplace(f64::round); // exact zeros, and arms that no trajectory speaks for
            }
            for up_to in BOTH {
                let found = cwpdis(&decisions, pull.view(), 0.9, up_to);
                let (truth, dropped) = log.cwpdis(pull.view(), 0.9, up_to);
                assert!((found.value - truth).abs() < 1e-12 * n as f64, "{} not {truth}", found.value);
                assert_eq!(found.dropped, dropped);
                assert!(n < 300 || dropped > 0); // arm 0 at step 1, at least
                // each trajectory once is the log itself
                assert!((found.resampled(&vec![1.0; j]) - found.value).abs() < 1e-12 * n as f64);
            }
            let found = segmented(&decisions, pull.view(), 0.9).value;
            let truth = log.segmented(pull.view(), 0.9);
            assert!((found - truth).abs() < 1e-12 * n as f64, "{found} not {truth}");
        }
    }
}

#[test]
fn a_resampled_value_is_the_value_of_the_resampled_log() {
    let mut random = random(62);
    let log = log(8, 5, 9, true, &mut random);
    let (decisions, pull) = (log.decisions(), pulls(&log, &mut random));
    let found = cwpdis(&decisions, pull.view(), 0.9, RatioUpTo::ThisStep);
    let which = [0, 0, 3, 5, 5, 5, 7, 2];
    let trajectories = log.trajectories.select(&which);
    let propensity = Propensity::new(&trajectories, Behaviour::Logged, 1).unwrap();
    let again = Decisions::new(&trajectories, &log.reward, &propensity);
    let pull = pull.select(Axis(0), &which);
    let again = cwpdis(&again, pull.view(), 0.9, RatioUpTo::ThisStep);
    // a term nobody in the resample has seen keeps its average: here the resample has dropped no more than the log
    assert_eq!(again.dropped, found.dropped);
    assert!((found.resampled(&times_drawn(&which, 8)) - again.value).abs() < 1e-12);
}

#[test]
fn the_behaviour_policy_itself_is_worth_what_was_earned() {
    let domain = Domain { instances: 1, arms: 30, budget: 7, trajectories: 12, ..Domain::five_state() };
    let instance = &domain.generate(3).unwrap()[0];
    let log = instance.trajectories();
    let earned = Array2::from_shape_fn((9, 30), |(t, i)| {
        (0..12).map(|j| f64::from(log.state()[[j, t, i]]) / 4.0).sum::<f64>() / 12.0
    });
    for behaviour in [Behaviour::Logged, Behaviour::Uniform, Behaviour::Estimated] {
        let propensity = Propensity::new(log, behaviour, 7).unwrap();
        let decisions = Decisions::new(log, instance.reward(), &propensity);
        let pull = target_pull(known_states(log).view(), &Policy::Random, 7);
        assert_eq!(without_overlap(log, &propensity, pull.view()), 0);
        for up_to in BOTH {
            let found = cwpdis(&decisions, pull.view(), 1.0, up_to);
            // all ratios are 1 to the last bit; only the order of the sum differs
            assert!((found.value - earned.sum()).abs() < 1e-12, "{} not {}", found.value, earned.sum());
            assert_eq!(found.effective_sample_size, 12.0);
        }
        let one = log.select(&[4]);
        let propensity = Propensity::new(&one, behaviour, 7).unwrap();
        let decisions = Decisions::new(&one, instance.reward(), &propensity);
        let pull = target_pull(known_states(&one).view(), &Policy::Random, 7);
        let found = segmented(&decisions, pull.view(), 1.0);
        let earned: f64 =
            one.state().slice(ndarray::s![0, ..9, ..]).iter().map(|&s| f64::from(s) / 4.0).sum();
        assert!((found.value - earned).abs() < 1e-12);
        assert!((found.effective_sample_size - 9.0).abs() < 1e-12);
    }
}

#[test]
fn the_gradients_of_cwpdis_and_segmented_are_those_of_their_values() {
    let mut random = random(63);
    for (j, h, n, is_ragged) in [(7, 6, 5, false), (4, 5, 200, true), (1, 7, 10, true), (10, 9, 12, false)] {
        let log = log(j, h, n, is_ragged, &mut random);
        let decisions = log.decisions();
        for is_strict in [false, true] {
            let mut pull = pulls(&log, &mut random);
            let mut direction = pull.mapv(|_| uniform(&mut random));
            if is_strict {
                // some exact zeros and ones, at which the estimators are smooth as long as no arm dies
                pull.mapv_inplace(|p| if p < 0.2 { 0.0 } else { p.min(0.8) });
                direction.iter_mut().zip(&pull).for_each(|(d, p)| *d *= f64::from(*p > 0.0));
            }
            let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            let check = |what: &str, gradient: Array3<f64>, value: &dyn Fn(ArrayView3<f64>) -> f64| {
                let size = gradient.iter().map(|x| x * x).sum::<f64>().sqrt() * length;
                let found = (&gradient * &direction).sum();
                let truth = derivative(|t| value((&pull + &(&direction * t)).view()), 1e-3);
                assert!((found - truth).abs() <= AGREEMENT * size, "{what} {j} {h} {n}: {found} not {truth}");
                assert!(size > 0.0 || j == 1, "{what}: a gradient to check");
            };
            for up_to in BOTH {
                let gradient = cwpdis(&decisions, pull.view(), 0.9, up_to).pullback(1.0);
                check("cwpdis", gradient, &|pull| cwpdis(&decisions, pull, 0.9, up_to).value);
            }
            let gradient = segmented(&decisions, pull.view(), 0.9).pullback(1.0);
            check("segmented", gradient, &|pull| segmented(&decisions, pull, 0.9).value);
        }
    }
}

#[test]
fn a_pull_of_zero_still_has_a_gradient() {
    // the product form divides by it; here the derivative by a pull that is 0 is that of the value, one-sided or not
    let mut random = random(64);
    let log = log(6, 4, 3, false, &mut random);
    let decisions = log.decisions();
    let mut pull = pulls(&log, &mut random);
    pull[[0, 1, 0]] = 0.0;
    pull[[2, 0, 1]] = 1.0;
    let gradient = cwpdis(&decisions, pull.view(), 0.9, RatioUpTo::ThisStep).pullback(1.0);
    for at in [[0, 1, 0], [2, 0, 1]] {
        let value = |t: f64| {
            let mut moved = pull.clone();
            moved[at] += t;
            cwpdis(&decisions, moved.view(), 0.9, RatioUpTo::ThisStep).value
        };
        let truth = derivative(value, 1e-4);
        assert!((gradient[at] - truth).abs() < 1e-8 * (1.0 + truth.abs()), "{} not {truth}", gradient[at]);
    }
}

#[test]
fn five_hundred_steps_neither_overflow_nor_vanish() {
    let mut random = random(65);
    let (j, h, n) = (20, 500, 4);
    let log = log(j, h, n, false, &mut random);
    let (decisions, pull) = (log.decisions(), pulls(&log, &mut random));
    let found = cwpdis(&decisions, pull.view(), 0.999, RatioUpTo::ThisStep);
    // the definition in logarithms, largest ratio first
    let mut truth = 0.0;
    for i in 0..n {
        let mut rho = vec![0.0; j];
        for t in 0..h {
            rho.iter_mut().enumerate().for_each(|(j, rho)| *rho += log.ratio(j, t, i, pull[[j, t, i]]).ln());
            let top = rho.iter().fold(f64::NEG_INFINITY, |top, x| top.max(*x));
            let weight = |j: usize| (rho[j] - top).exp();
            let over: f64 = (0..j).map(|j| weight(j) * log.reward(j, t, i).unwrap()).sum();
            truth += 0.999f64.powi(t as i32) * over / (0..j).map(weight).sum::<f64>();
        }
    }
    assert!((found.value - truth).abs() < 1e-9 * truth.abs(), "{} not {truth}", found.value);
    assert_eq!(found.dropped, 0);
    assert!(found.pullback(1.0).iter().all(|x| x.is_finite()));
}

#[test]
fn an_arm_that_no_trajectory_speaks_for_is_dropped_and_counted() {
    let mut random = random(66);
    let log = log(5, 4, 2, false, &mut random);
    let decisions = log.decisions();
    let mut pull = pulls(&log, &mut random);
    for j in 0..5 {
        // from step 2 the target never does what was logged for arm 1
        pull[[j, 2, 1]] = if log.trajectories.action()[[j, 2, 1]] == 1 { 0.0 } else { 1.0 };
    }
    let found = cwpdis(&decisions, pull.view(), 0.5, RatioUpTo::ThisStep);
    assert_eq!(found.dropped, 2);
    assert_eq!(found.dropped_discount, 0.25 + 0.125);
    assert_eq!(found.effective_sample_sizes[[3, 1]], 0.0);
    assert!(found.effective_sample_sizes[[3, 0]] >= 1.0);
    assert!(found.pullback(1.0).iter().all(|x| x.is_finite()));
}

#[test]
fn overlap_and_zero_propensities_are_seen() {
    let domain = Domain { instances: 1, arms: 6, budget: 2, trajectories: 3, ..Domain::two_state() };
    let instance = &domain.generate(3).unwrap()[0];
    let log = instance.trajectories();
    let error = Propensity::new(log, Behaviour::Uniform, 6).unwrap_err().to_string();
    assert!(
        error.contains("found 0, expected above 0 for an action that was taken (uniform behaviour)"),
        "{error}"
    );
    // a log whose propensities say that nothing was left to chance
    let certain = Logged {
        state: log.state().to_owned(),
        action: log.action().to_owned(),
        propensity: Some(Array3::ones(log.state().dim())),
        reward: None,
    };
    let certain = Trajectories::new(certain, 2).unwrap();
    let propensity = Propensity::new(&certain, Behaviour::Logged, 2).unwrap();
    let pull = target_pull(known_states(&certain).view(), &Policy::Random, 2);
    assert_eq!(without_overlap(&certain, &propensity, pull.view()), 3 * 9 * 6);
    let passive = target_pull(known_states(&certain).view(), &Policy::NoAction, 2);
    assert_eq!(without_overlap(&certain, &propensity, passive.view()), 3 * 9 * 2);
    let none = Logged {
        propensity: None,
        state: log.state().to_owned(),
        action: log.action().to_owned(),
        reward: None,
    };
    assert!(Propensity::new(&Trajectories::new(none, 2).unwrap(), Behaviour::Logged, 2).is_err());
    let certain = Parts { trajectories: certain, budget: 2, truth: None, ..instance.parts().clone() };
    let certain = Instance::new(certain).unwrap();
    let case =
        || Case { instance: &certain, policies: vec![("random".into(), Policy::Random)], prediction: None };
    let settings = Settings { runs: 20, resamples: 4, ..Settings::new(9) };
    let error = evaluate(&[case()], &settings).unwrap_err().to_string();
    assert!(error.contains("a log in which every action was certain shows no other policy"), "{error}");
    // it counts as uniform where somebody says so, and may be left unjudged by ratios
    for behaviour in [Some(Behaviour::Uniform), None] {
        let evaluation = evaluate(&[case()], &Settings { behaviour, ..settings.clone() }).unwrap();
        assert_eq!(evaluation.evidence.behaviour, behaviour);
        assert_eq!(evaluation.score("random", Estimator::Is).is_some(), behaviour.is_some());
        assert!(evaluation.score("random", Estimator::True).is_none());
    }
}

#[test]
fn drift_is_seen_where_it_is_and_not_where_it_is_not() {
    let steady = Array3::from_shape_fn((1, 8, 600), |(_, t, i)| ((i + 7 * t * (i % 3)) % 2) as u16);
    let falling = Array3::from_shape_fn((1, 8, 600), |(_, t, i)| u16::from(i % 10 > t));
    for (state, is_drifting) in [(steady, false), (falling, true)] {
        let action = Array3::from_elem(state.dim(), 0u8);
        let log = Trajectories::new(Logged { state, action, propensity: None, reward: None }, 2).unwrap();
        assert_eq!(drift(&log).is_visible(), is_drifting, "{:?}", drift(&log));
    }
    // a stationary chain, seen many times: false alarms must be rare
    let p = transitions(Kind::Dense, 1, 2, &mut random(67));
    let (a, b) = (p[[0, 0, 0, 1]], p[[0, 1, 0, 0]]);
    let mut alarms = 0;
    let mut random = random(68);
    for _ in 0..200 {
        let mut state = Array3::zeros((1, 8, 500));
        for i in 0..500 {
            let mut s = u16::from(random.random_bool(a / (a + b)));
            for t in 0..8 {
                state[[0, t, i]] = s;
                s = if random.random_bool(if s == 0 { a } else { b }) { 1 - s } else { s };
            }
        }
        let action = Array3::from_elem(state.dim(), 0u8);
        let log = Trajectories::new(Logged { state, action, propensity: None, reward: None }, 2).unwrap();
        alarms += usize::from(drift(&log).is_visible());
    }
    assert!(alarms <= 10, "{alarms} false alarms in 200");
}

#[test]
fn the_loss_is_the_negative_log_likelihood_and_has_its_gradient() {
    let mut random = random(69);
    let domain = Domain { instances: 1, arms: 20, budget: 4, trajectories: 6, ..Domain::five_state() };
    let log = domain.generate(8).unwrap()[0].trajectories().clone();
    let p = transitions(Kind::Dense, 20, 5, &mut random);
    let (mut truth, mut seen) = (0.0, 0.0);
    for ((j, t, i), &a) in log.action().indexed_iter() {
        if a != NO_ACTION {
            let [s, to] = [t, t + 1].map(|t| usize::from(log.state()[[j, t, i]]));
            truth -= p[[i, s, usize::from(a), to]].ln();
            seen += 1.0;
        }
    }
    let counts = log.counts();
    let found = likelihood(&counts, p.view());
    assert!((found.per_trajectory - truth / 6.0).abs() < 1e-12 * truth);
    assert!((found.per_transition - truth / seen).abs() < 1e-12);
    let gradient = found.pullback(1.0);
    assert!(gradient.rows().into_iter().all(|row| row.sum().abs() < 1e-9));
    let mut direction = tangent(&p, 1e-4, &mut random);
    direction *= &p.mapv(|p| p.min(0.1)); // keep small probabilities in the domain of the logarithm
    direction.rows_mut().into_iter().zip(p.rows()).for_each(|(mut d, p)| {
        let sum = d.sum();
        d.iter_mut().zip(p).for_each(|(d, p)| *d -= sum * p);
    });
    let slope = derivative(|t| likelihood(&counts, (&p + &(&direction * t)).view()).per_trajectory, 1e-3);
    let size = (gradient.mapv(|x| x * x).sum() * direction.mapv(|x| x * x).sum()).sqrt();
    let found = (&gradient * &direction).sum();
    assert!((found - slope).abs() < AGREEMENT * size, "{found} not {slope}");
    let impossible = Array4::from_shape_fn(p.dim(), |(.., to)| f64::from(to == 0));
    assert_eq!(likelihood(&counts, impossible.view()).per_trajectory, f64::INFINITY);
}

#[test]
fn the_strength_of_a_prediction_is_recovered() {
    let mut random = random(70);
    let (n, m, true_strength) = (1500, 3, [8.0, 64.0]);
    let prediction = transitions(Kind::Dense, n, m, &mut random);
    let mut counts = Array4::<f64>::zeros((n, m, 2, m));
    let mut urn = 0.0; // the likelihood as draws from an urn, one after the other
    for i in 0..n {
        for s in 0..m {
            for a in 0..2 {
                let k = true_strength[a];
                let row: Vec<f64> = (0..m)
                    .map(|to| Gamma::new(k * prediction[[i, s, a, to]], 1.0).unwrap().sample(&mut random))
                    .collect();
                let sum: f64 = row.iter().sum();
                for drawn in 0..12 {
                    let mut u = random.random::<f64>() * sum;
                    let to = (0..m - 1).find(|&to| {
                        u -= row[to];
                        u < 0.0
                    });
                    let to = to.unwrap_or(m - 1);
                    if a == 0 {
                        let (there, k) = (counts[[i, s, a, to]], 16.0);
                        urn += ((k * prediction[[i, s, a, to]] + there) / (k + f64::from(drawn))).ln();
                    }
                    counts[[i, s, a, to]] += 1.0;
                }
            }
        }
    }
    let found = log_likelihood(counts.view(), prediction.view(), 0, 16.0);
    assert!((found - urn).abs() < 1e-9 * urn.abs(), "{found} not {urn}");
    assert_eq!(fit_strength(&[(counts.view(), prediction.view())]).map(|fit| fit.value), true_strength);
    let smooth = smoothed(counts.view(), prediction.view(), [8.0, 64.0]);
    let row = smooth.view()[[3, 1, 1, 2]];
    assert!((row - (counts[[3, 1, 1, 2]] + 64.0 * prediction[[3, 1, 1, 2]]) / 76.0).abs() < 1e-15);
    // nothing to learn from: what the prior says
    let nothing = Array4::zeros((n, m, 2, m));
    assert_eq!(fit_strength(&[(nothing.view(), prediction.view())]).map(|fit| fit.value), [16.0; 2]);
    assert_eq!(empirical(nothing.view()).view()[[5, 1, 0, 2]], 1.0 / 3.0);
}

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
