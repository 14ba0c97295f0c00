//! How often nominal 95 % intervals cover the exact value, and how far CWPDIS is off for policies that choose among arms.
//!
//! `cargo run --release -p restive --example coverage [repetitions] [seed]`: 1,000 repetitions unless said, 50 trajectories each, on
//! chains small enough to enumerate (3 arms, 2 states, 1 pull per step).

use ndarray::{Array1, Array3, Array4, s};
use rand::RngExt;
use restive::belief::Motion;
use restive::data::domain::Domain;
use restive::evaluation::*;
use restive::instance::{Observation, Parts};
use restive::policy::{Chooser, Policy, Temperature, log_odds};
use restive::random::stream;
use restive::simulation::{Initial, Setting, trajectories};
use restive::{Instance, Reward, Transition, index};

const ARMS: usize = 3;
const HORIZON: usize = 4;
const DISCOUNT: f64 = 0.9;

/// The exact value of a policy that pulls one arm: all joint states, all choices.
fn enumerate(setting: &Setting, policy: &Policy) -> f64 {
    let Motion::Rows(p) = setting.motion else { panic!("states that are seen") };
    let joint = 1usize << ARMS;
    let digits = |code: usize| -> Vec<u16> { (0..ARMS).map(|i| (code >> i & 1) as u16).collect() };
    let mut mass = Array1::from_elem(joint, 1.0 / joint as f64);
    let mut value = 0.0;
    for t in 0..setting.horizon {
        let mut next = Array1::zeros(joint);
        for code in 0..joint {
            let state = digits(code);
            let mut inclusion = vec![0.0; ARMS];
            Chooser::new(policy, 1).inclusion(&state, t, &mut inclusion);
            let earned: f64 = state.iter().map(|&s| f64::from(s)).sum();
            value += setting.discount.powi(t as i32) * mass[code] * earned;
            for (pulled, chance) in inclusion.iter().enumerate() {
                for to in 0..joint {
                    let there = digits(to);
                    let step = |i: usize| {
                        let (s, a) = (usize::from(state[i]), usize::from(i == pulled));
                        p[[i, s, a, usize::from(there[i])]]
                    };
                    next[to] += mass[code] * chance * (0..ARMS).map(step).product::<f64>();
                }
            }
        }
        mass = next;
    }
    value
}

/// The exact value where arm i is pulled with probability own[i] whatever happens.
fn uncoupled(p: &Array4<f64>, own: &[f64], horizon: usize) -> f64 {
    let mut value = 0.0;
    for (i, q) in own.iter().enumerate() {
        let mut mass = Array1::from_elem(2, 0.5);
        for t in 0..horizon {
            value += DISCOUNT.powi(t as i32) * mass[1];
            let [passive, active] = [0, 1].map(|a| mass.dot(&p.slice(s![i, .., a, ..])));
            mass = active * *q + passive * (1.0 - q);
        }
    }
    value
}

/// Counts intervals that cover, and averages their centres and widths.
#[derive(Default)]
struct Tally {
    covered: usize,
    values: Vec<f64>,
    width: f64,
}

impl Tally {
    fn add(&mut self, estimate: Estimate, truth: f64) {
        self.covered += usize::from(estimate.low <= truth && truth <= estimate.high);
        self.values.push(estimate.value);
        self.width += estimate.high - estimate.low;
    }

    fn print(&self, what: &str, truth: f64) {
        let n = self.values.len() as f64;
        let (mean, variance) = moments(&self.values);
        println!(
            "{what:<58} covered {:5.1} %  truth {truth:8.4}  bias {:+.4} ± {:.4}  width {:.4}",
            100.0 * self.covered as f64 / n,
            mean - truth,
            (variance / n).sqrt(),
            self.width / n
        );
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a whole number"));
    let repetitions = arguments.next().unwrap_or(1000);
    // the seed of the chain; repetitions with other seeds have other noise as well
    let chain = arguments.next().unwrap_or(7);
    let seeds = chain * 1_000_000..chain * 1_000_000 + repetitions;
    let mut random = stream(chain, &[]);
    let up: Vec<f64> = (0..4 * ARMS).map(|_| random.random_range(0.1..0.9)).collect();
    let p = Array4::from_shape_fn((ARMS, 2, 2, 2), |(i, s, a, to)| {
        let up = up[4 * i + 2 * s + a];
        if to == 1 { up } else { 1.0 - up }
    });
    let reward = Reward::linear(2);
    let setting = Setting {
        motion: p.view().into(),
        reward: (&reward).into(),
        discount: DISCOUNT,
        budget: 1,
        horizon: HORIZON,
    };
    let table = index::two_state::index(p.view(), reward.view(), DISCOUNT).index;
    println!("{repetitions} repetitions, {ARMS} arms, {HORIZON} steps\n");

    let own = [0.2, 0.5, 0.6];
    for trajectories_logged in [50, 200] {
        for up_to in [RatioUpTo::ThisStep, RatioUpTo::PreviousStep] {
            let (mut tally, truth) = (Tally::default(), uncoupled(&p, &own, HORIZON));
            for seed in seeds.clone() {
                let log =
                    trajectories(&setting, &Initial::Uniform, &Policy::Random, trajectories_logged, seed);
                let decisions =
                    Decisions::new(&log, &reward, &Propensity::new(&log, Behaviour::Logged, 1).unwrap());
                let target = Array3::from_shape_fn(decisions.dim(), |(_, _, i)| log_odds(own[i]));
                let found = cwpdis(&decisions, target.view(), DISCOUNT, up_to);
                let units = trajectories_logged;
                let resampled =
                    bootstrap(units, 1000, seed, |which, _| found.resampled(&times_drawn(which, units)));
                let stretch = stretch(units, found.effective_sample_size);
                tally
                    .add(Estimate::percentile(found.value, &resampled, stretch, Covers::Trajectories), truth);
            }
            tally.print(
                &format!("is, uncoupled target, {trajectories_logged} trajectories, {up_to:?}"),
                truth,
            );
        }
    }

    for policy in [Policy::Strict(table.clone()), Policy::Soft(table.clone(), 0.1)] {
        let (mut tally, truth) = (Tally::default(), enumerate(&setting, &policy));
        for seed in seeds.clone() {
            tally.add(Simulated::new(&setting, &Initial::Uniform, &policy, 50, seed).estimate(), truth);
        }
        tally.print(&format!("true transitions, {}, 50 runs", name(&policy)), truth);
    }

    // all estimators together, as `evaluate` reports them
    let policies = vec![
        ("no-action".to_string(), Policy::NoAction),
        ("random".to_string(), Policy::Random),
        ("strict".to_string(), Policy::Strict(table.clone())),
        ("soft".to_string(), Policy::Soft(table, 0.1)),
    ];
    let estimators = [Estimator::Is, Estimator::Simulated, Estimator::True, Estimator::Fluid];
    let truths: Vec<f64> = policies
        .iter()
        .map(|(_, policy)| match policy {
            Policy::NoAction => uncoupled(&p, &[0.0; ARMS], HORIZON),
            policy => enumerate(&setting, policy),
        })
        .collect();
    let mut tallies: Vec<[Tally; 4]> = policies.iter().map(|_| Default::default()).collect();
    let mut gains: Vec<[Tally; 4]> = policies.iter().map(|_| Default::default()).collect();
    for seed in seeds.clone() {
        let trajectories = trajectories(&setting, &Initial::Uniform, &Policy::Random, 50, seed);
        let features = ndarray::Array2::zeros((ARMS, 1));
        let truth = Some(Transition::new(p.clone(), restive::Layout::Nsas).unwrap());
        let reward = reward.clone();
        let parts = Parts {
            features,
            trajectories,
            reward,
            budget: 1,
            discount: DISCOUNT,
            truth,
            observation: Observation::Full,
            clusters: None,
        };
        let instance = Instance::new(parts).unwrap();
        let case = Case { instance: &instance, policies: policies.clone(), prediction: None };
        let settings =
            EvaluationSettings { runs: 200, seed, start: Start::Uniform, ..EvaluationSettings::new(HORIZON) };
        let evaluation = evaluate(&[case], &settings).unwrap();
        for (k, (name, _)) in policies.iter().enumerate() {
            for (e, estimator) in estimators.into_iter().enumerate() {
                let score = evaluation.score(name, estimator).unwrap();
                tallies[k][e].add(score.value, truths[k]);
                gains[k][e].add(score.gain_over_random.unwrap(), truths[k] - truths[1]);
            }
        }
    }
    println!("\nevaluate(), 50 trajectories (is and fluid are biased for policies that choose among arms)");
    for (k, (name, _)) in policies.iter().enumerate() {
        for (e, estimator) in estimators.into_iter().enumerate() {
            tallies[k][e].print(&format!("{}, {name}", estimator.name()), truths[k]);
            if k != 1 {
                gains[k][e]
                    .print(&format!("{}, {name}, gain over random", estimator.name()), truths[k] - truths[1]);
            }
        }
    }

    println!(
        "\nthe bias of CWPDIS for a coupled policy: 100 arms of the published two-state domain, 20 pulls, 9 steps"
    );
    let runs = 20_000;
    for logged in [100, 1000, 10_000] {
        let domain = Domain { instances: 1, trajectories: logged, ..Domain::two_state() };
        let instance = domain.generate(1).expect("the published domain").remove(0);
        let (log, truth) = (instance.trajectories(), instance.truth().expect("synthetic").view());
        let table = index::two_state::index(truth, instance.reward().view(), 1.0 - 1.0 / 9.0).index;
        let spread = Temperature::Spread(0.1).resolve(table.as_slice().expect("contiguous"));
        let setting = Setting {
            motion: truth.into(),
            reward: instance.reward().into(),
            discount: 0.99,
            budget: 20,
            horizon: 9,
        };
        let propensity = Propensity::new(log, Behaviour::Logged, 20).unwrap();
        let decisions = Decisions::new(log, instance.reward(), &propensity);
        for (name, policy) in [("random", Policy::Random), ("soft", Policy::Soft(table.clone(), spread))] {
            let target = target_log_odds(known_states(log, instance.observation()).view(), &policy, 20);
            let exact = Simulated::new(&setting, &Initial::Uniform, &policy, runs, 1).estimate();
            for up_to in [RatioUpTo::ThisStep, RatioUpTo::PreviousStep] {
                let found = cwpdis(&decisions, target.view(), 0.99, up_to);
                let units = logged;
                let resampled =
                    bootstrap(units, 100, 1, |which, _| found.resampled(&times_drawn(which, units)));
                println!(
                    "{logged:6} trajectories  {name:<7} {up_to:<13?} true {:.2} ± {:.2}  is {:.2} ± {:.2}  bias {:+.2}  \
                     effective sample size {:.1}, {} of 900 terms dropped",
                    exact.value,
                    (exact.high - exact.low) / 2.0,
                    found.value,
                    NORMAL * moments(&resampled).1.sqrt(),
                    found.value - exact.value,
                    found.effective_sample_size,
                    found.dropped
                );
            }
        }
    }
}

fn name(policy: &Policy) -> &'static str {
    match policy {
        Policy::Strict(_) => "strict",
        _ => "soft",
    }
}
