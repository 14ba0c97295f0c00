//! One trajectory, sparse pulls: the case the effect model is for.
//!
//! People are called once at most in seven weeks. Their features explain 40 % of how they fare when left alone and 30 % of
//! what a call does; on both sides the rest is their own. The generator is logistic, which favours the effect model.

use ndarray::{Array1, Array2, Array4};
use rand::RngExt;
use restive::index::{Algorithm, whittle_index};
use restive::instance::{Observation, Parts};
use restive::policy::Policy;
use restive::predictor::{Precision, PredictorKind};
use restive::random::{Random, stream};
use restive::simulation::{Initial, Setting, trajectories, values};
use restive::training::{Config, fit};
use restive::{Instance, Layout, Reward, Transition};

const ARMS: usize = 639;
const FEATURES: usize = 43;
const BUDGET: usize = 18;
const WEEKS: usize = 7;

fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

fn direction(random: &mut Random) -> Array1<f64> {
    let v = Array1::from_shape_simple_fn(FEATURES, || normal(random));
    &v / v.dot(&v).sqrt()
}

fn setting<'a>(truth: &'a Transition, reward: &'a Reward) -> Setting<'a> {
    Setting {
        motion: truth.view().into(),
        reward: reward.into(),
        discount: 0.99,
        budget: BUDGET,
        horizon: WEEKS,
    }
}

fn group(baseline: &Array1<f64>, effect: &Array1<f64>, random: &mut Random) -> Instance {
    let x = Array2::from_shape_simple_fn((ARMS, FEATURES), || normal(random));
    let mut p = Array4::zeros((ARMS, 2, 2, 2));
    for (i, x) in x.rows().into_iter().enumerate() {
        let fares = 0.4f64.sqrt() * x.dot(baseline) + 0.6f64.sqrt() * normal(random);
        let gains = 0.3f64.sqrt() * x.dot(effect) + 0.7f64.sqrt() * normal(random);
        for s in 0..2 {
            let passive = [-1.0, 1.0][s] + fares;
            for (a, z) in [passive, passive + [0.6, 0.4][s] + 0.8 * gains].into_iter().enumerate() {
                p[[i, s, a, 1]] = 1.0 / (1.0 + (-z).exp());
                p[[i, s, a, 0]] = 1.0 - p[[i, s, a, 1]];
            }
        }
    }
    let (truth, reward) = (Transition::new(p, Layout::Nsas).unwrap(), Reward::linear(2));
    let seed = random.random();
    let trajectories =
        trajectories(&setting(&truth, &reward), &Initial::Uniform, &Policy::RoundRobin, 1, seed);
    let truth = Some(truth);
    Instance::new(Parts {
        features: x,
        trajectories,
        reward,
        budget: BUDGET,
        discount: 0.99,
        truth,
        observation: Observation::Full,
        clusters: None,
    })
    .unwrap()
}

/// The value of the strict policy for these transitions, on the true ones; `None`: random pulls.
fn value(instance: &Instance, transition: Option<Array4<f64>>) -> f64 {
    let (truth, reward) = (instance.truth().unwrap(), instance.reward());
    let matched = 1.0 - 1.0 / WEEKS as f64;
    let policy = transition.map_or(Policy::Random, |p| {
        Policy::Strict(whittle_index(p.view(), reward.view(), matched, Algorithm::Auto).index)
    });
    values(&setting(truth, reward), &Initial::Uniform, &policy, 200, 5).mean().unwrap()
}

#[test]
fn with_one_trajectory_and_sparse_pulls_the_effect_model_leads() {
    let effect = |precision| PredictorKind::Effect { precision };
    let kinds = [
        effect(Precision::DEFAULT),
        effect(Precision::HeldOut { cap: 300.0 }),
        effect(Precision::Fixed(1e6)),
        PredictorKind::Network { hidden: vec![64], dropout: 0.0 },
    ];
    let seeds = 4;
    let mut scores = Array2::zeros((seeds, kinds.len()));
    for seed in 0..seeds {
        let mut random = stream(seed as u64, &[71]);
        let (baseline, effect) = (direction(&mut random), direction(&mut random));
        let groups: Vec<Instance> = (0..15).map(|_| group(&baseline, &effect, &mut random)).collect();
        let (train, validation, test) = (&groups[..8], &groups[8..9], &groups[9..]);
        let total = |predict: &dyn Fn(&Instance) -> Option<Array4<f64>>| {
            test.iter().map(|instance| value(instance, predict(instance))).sum::<f64>()
        };
        let nobody = total(&|_| None);
        let oracle = total(&|instance| Some(instance.truth().unwrap().view().to_owned()));
        for (k, kind) in kinds.iter().enumerate() {
            let config = Config { kind: kind.clone(), seed: seed as u64, ..Config::recommended(train) };
            let predictor = fit(config, train, validation).unwrap().predictor;
            let reached = total(&|instance| Some(predictor.predict(instance.features())));
            scores[[seed, k]] = 100.0 * (reached - nobody) / (oracle - nobody);
        }
    }
    let mean = scores.mean_axis(ndarray::Axis(0)).unwrap();
    println!("{scores:.1}\n{mean:.1}");
    // a precision chosen on one validation group is neither far better nor far worse than the default
    assert!((mean[0] - mean[1]).abs() < 5.0);
    let leads = |k: usize| {
        let lead = &scores.column(0) - &scores.column(k);
        (lead.mean().unwrap(), lead.std(1.0) / (seeds as f64).sqrt())
    };
    for k in [2, 3] {
        // two standard errors of the paired difference: over an effect that is the same for all, and over the network
        let (lead, error) = leads(k);
        assert!(lead > 2.0 * error, "{:?}: {lead:.1} ± {error:.1}", kinds[k]);
    }
}
