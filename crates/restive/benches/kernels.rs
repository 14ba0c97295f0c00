//! The kernels over the sizes that matter: `cargo bench -p restive`. Timings decide nothing; `bench/` compares with peers.

use divan::Bencher;
use ndarray::{Array2, Array4, Axis};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use restive::belief::Chain;
use restive::belief::beliefs;
use restive::data::domain::Domain;
use restive::evaluation::{
    Behaviour, Decisions, MeanField, Propensity, RatioUpTo, cwpdis, fluid, known_states, target_log_odds,
};
use restive::index::collapsing;
use restive::index::two_state::{Packing, index_into, pullback_into};
use restive::index::{bisection, general};
use restive::policy::Policy;
use restive::policy::soft_top_k::{soft_top_k, soft_top_k_many};
use restive::predictor::{Architecture, Predictor};
use restive::simulation::{Initial, Setting, values};
use restive::training::{Config, Decision, DecisionFocused, Value};
use restive::{Instance, Layout, Reward, Transition};

fn main() {
    divan::main();
}

fn random() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(1)
}

fn arms(n: usize, m: usize) -> Transition {
    let mut random = random();
    let mut p = Array4::from_shape_simple_fn((n, m, 2, m), || -f64::ln(1.0 - random.random::<f64>()));
    p.rows_mut().into_iter().for_each(|mut row| row /= row.sum());
    Transition::new(p, Layout::Nsas).expect("rows sum to 1")
}

/// Index and pullback of N two-state arms, into reused buffers.
#[divan::bench(consts = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000], args = [Packing::Compact, Packing::Full])]
fn two_state<const N: usize>(bencher: Bencher, packing: Packing) {
    let (mut random, reward) = (random(), Reward::linear(2));
    let p: Vec<f64> =
        (0..packing.width() * N / 4).flat_map(|_| [0.3, 0.7].map(|_| random.random())).collect();
    let p: Vec<f64> = p.iter().cycle().take(packing.width() * N).copied().collect();
    let (c, mut index, mut d_p) = (vec![1.0; 2 * N], vec![0.0; 2 * N], vec![0.0; packing.width() * N]);
    bencher.counter(divan::counter::ItemsCount::new(N)).bench_local(|| {
        index_into(&p, packing, reward.view(), 0.99, &mut index);
        pullback_into(&p, packing, reward.view(), 0.99, &c, &mut d_p)
    });
}

/// All indices of one arm, forward only.
#[divan::bench(args = [2, 3, 5, 10, 20, 50, 100, 200, 500, 1000], sample_count = 10)]
fn general_forward(bencher: Bencher, m: usize) {
    let (p, reward) = (arms(1, m), Reward::linear(m));
    bencher.bench(|| general::index(p.view(), reward.view(), 0.99));
}

/// All indices of one arm and their pullback.
#[divan::bench(args = [2, 3, 5, 10, 20, 50, 100, 200, 500, 1000], sample_count = 10)]
fn general_with_pullback(bencher: Bencher, m: usize) {
    let (p, reward, c) = (arms(1, m), Reward::linear(m), Array2::ones((1, m)));
    bencher.bench(|| general::differentiable_index(p.view(), reward.view(), 0.99).pullback(c.view()));
}

/// The paper's road, one arm.
#[divan::bench(args = [2, 5, 10, 20], sample_count = 5)]
fn bisection_with_pullback(bencher: Bencher, m: usize) {
    let (p, reward, c) = (arms(1, m), Reward::linear(m), Array2::ones((1, m)));
    bencher.bench(|| {
        bisection::differentiable_index(p.view(), reward.view(), 0.9, Default::default()).pullback(c.view())
    });
}

/// Two-state arms seen only at pulls, index and pullback, chains of T beliefs. One thread.
#[divan::bench(args = [2, 5, 10, 20, 50, 100, 200, 500, 1000], sample_count = 10)]
fn collapsing_finite(bencher: Bencher, t: usize) {
    collapsing(bencher, (100_000 / (t * t)).clamp(1, 100), Chain::Finite(t));
}

/// The same with infinite chains, T beliefs of each.
#[divan::bench(args = [2, 5, 10, 20, 50, 100, 200, 500, 1000], sample_count = 10)]
fn collapsing_infinite(bencher: Bencher, t: usize) {
    collapsing(bencher, 100, Chain::Infinite { beliefs: t });
}

fn collapsing(bencher: Bencher, n: usize, chain: Chain) {
    let (p, reward, c) = (arms(n, 2), Reward::linear(2), Array2::ones((n, 2 * chain.beliefs())));
    let thread = one_thread();
    bencher.counter(divan::counter::ItemsCount::new(n)).bench_local(|| {
        thread.install(|| {
            collapsing::differentiable_index(p.view(), reward.view(), 0.99, chain).pullback(c.view())
        })
    });
}

/// The general kernel on the explicit process over the beliefs of one such arm.
#[divan::bench(args = [2, 5, 10, 20, 50, 100, 200], sample_count = 5)]
fn collapsing_explicit_general(bencher: Bencher, t: usize) {
    let (p, r) = explicit(t);
    let c = Array2::ones((1, 2 * t));
    bencher.bench(|| general::differentiable_index(p.view(), r.view(), 0.99).pullback(c.view()));
}

/// Bisection on it.
#[divan::bench(args = [2, 5, 10], sample_count = 2)]
fn collapsing_explicit_bisection(bencher: Bencher, t: usize) {
    let (p, r) = explicit(t);
    let c = Array2::ones((1, 2 * t));
    bencher.bench(|| {
        bisection::differentiable_index(p.view(), r.view(), 0.99, Default::default()).pullback(c.view())
    });
}

fn explicit(t: usize) -> (Array4<f64>, Array2<f64>) {
    let p = arms(1, 2);
    let belief = beliefs(p.view(), t).belief;
    (belief.explicit(0), belief.reward(Reward::linear(2).view()).index_axis_move(Axis(0), 0))
}

/// Soft top-k of N scores and its pullback.
#[divan::bench(args = [100, 1_000, 10_000, 100_000, 1_000_000])]
fn soft(bencher: Bencher, n: usize) {
    let mut random = random();
    let score: Vec<f64> = (0..n).map(|_| random.random()).collect();
    let c: Vec<f64> = (0..n).map(|_| random.random()).collect();
    bencher
        .counter(divan::counter::ItemsCount::new(n))
        .bench(|| soft_top_k(&score, 0.2 * n as f64, 0.03).pullback(&c));
}

/// The 900 selections of the published protocol: 100 trajectories of 9 steps over 100 arms, and their pullback.
#[divan::bench]
fn soft_many(bencher: Bencher) {
    let mut random = random();
    let table = Array2::from_shape_simple_fn((100, 2), || random.random::<f64>());
    let state = Array2::from_shape_simple_fn((900, 100), || random.random_range(0..2u16));
    let c = Array2::from_shape_simple_fn((900, 100), || random.random::<f64>());
    bencher.bench(|| soft_top_k_many(table.view(), state.view(), 20.0, 0.03).pullback(c.view()));
}

/// An instance of the published domain with N arms.
fn instance(arms: usize, trajectories: usize) -> Instance {
    let domain = Domain { instances: 1, arms, budget: arms / 5, trajectories, ..Domain::two_state() };
    domain.generate(1).expect("a domain").remove(0)
}

fn one_thread() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread")
}

/// CWPDIS of the soft policy, its pulls included, with (true) or without its pullback: 100 arms, 100 trajectories of 9 steps
/// as published, and many arms with one-hundredth of the trajectories. One thread.
#[divan::bench(args = [(100, 100), (1_000, 100), (10_000, 10), (100_000, 2), (1_000_000, 2)], consts = [false, true], sample_count = 20)]
fn importance_sampling<const GRADIENT: bool>(bencher: Bencher, (n, j): (usize, usize)) {
    let instance = instance(n, j);
    let log = instance.trajectories();
    let truth = instance.truth().expect("synthetic").view();
    let index = restive::index::two_state::index(truth, instance.reward().view(), 0.99).index;
    let policy = Policy::Soft(index, 0.05);
    let propensity = Propensity::new(log, Behaviour::Logged, n / 5).expect("logged");
    let (decisions, states) =
        (Decisions::new(log, instance.reward(), &propensity), known_states(log, instance.observation()));
    let thread = one_thread();
    bencher.counter(divan::counter::ItemsCount::new(n * j * 9)).bench_local(|| {
        thread.install(|| {
            let target = target_log_odds(states.view(), &policy, n / 5);
            let found = cwpdis(&decisions, target.view(), 0.99, RatioUpTo::ThisStep);
            if GRADIENT { found.pullback(1.0).d_log_odds.sum() } else { found.value }
        })
    });
}

/// 1,000 strict rollouts of 9 steps (10 above 1,000 arms). One thread.
#[divan::bench(args = [100, 1_000, 10_000, 100_000, 1_000_000], sample_count = 10)]
fn strict_rollouts(bencher: Bencher, n: usize) {
    let instance = instance(n, 1);
    let truth = instance.truth().expect("synthetic");
    let index = restive::index::two_state::index(truth.view(), instance.reward().view(), 0.99).index;
    let setting = Setting {
        motion: truth.view().into(),
        reward: instance.reward().into(),
        discount: 0.99,
        budget: n / 5,
        horizon: 9,
    };
    let (policy, runs) = (Policy::Strict(index), if n > 1_000 { 10 } else { 1_000 });
    let thread = one_thread();
    bencher
        .counter(divan::counter::ItemsCount::new(n * runs * 9))
        .bench_local(|| thread.install(|| values(&setting, &Initial::Uniform, &policy, runs, 1)));
}

/// The fluid value of 9 steps and its pullback.
#[divan::bench(args = [100, 1_000, 10_000, 100_000, 1_000_000], sample_count = 10)]
fn fluid_with_pullback(bencher: Bencher, n: usize) {
    let (p, reward) = (arms(n, 2), Reward::linear(2));
    let index = restive::index::two_state::index(p.view(), reward.view(), 0.99).index;
    let start = Array2::from_elem((n, 2), 0.5);
    bencher.counter(divan::counter::ItemsCount::new(n)).bench(|| {
        let (motion, reward, initial) = (p.view().into(), (&reward).into(), start.view());
        let field = MeanField { motion, reward, initial, discount: 0.99, budget: n as f64 / 5.0 };
        fluid(index.view(), &field, 0.05, 9).pullback(1.0)
    });
}

/// One decision-focused gradient step, predictor included (16 features, 64 hidden units, two states): importance sampling on
/// (arms, trajectories), the fluid and the decomposed value on the arms alone. One thread.
#[divan::bench(args = [(100, 100), (1_000, 10), (10_000, 10), (100_000, 2), (1_000_000, 1)], consts = [0, 1, 2], sample_count = 20)]
fn gradient_step<const VALUE: usize>(bencher: Bencher, (n, j): (usize, usize)) {
    let instance = instance(n, j);
    let value = Value::ALL[VALUE];
    let decision = match value {
        Value::Is => Decision::published(9),
        _ => Decision { value, ..Decision::recommended(9) },
    };
    let (config, instances) = (Config::published(), [instance]);
    let kind = config.kind.clone();
    let predictor = Predictor::new(&Architecture { features: 16, states: 2, kind }, 1).expect("sizes");
    let training = DecisionFocused::new(config, decision, None, &instances, &[]).expect("a log");
    let thread = one_thread();
    bencher
        .counter(divan::counter::ItemsCount::new(n))
        .bench_local(|| thread.install(|| training.objective(&predictor, 0, 0)));
}

/// The same where states are seen at pulls only: the published collapsing domain (100 arms, chains of 10, 100 trajectories).
#[divan::bench(consts = [0, 1, 2], sample_count = 20)]
fn gradient_step_collapsing<const VALUE: usize>(bencher: Bencher) {
    let domain = Domain { instances: 1, ..Domain::collapsing() };
    let instances = domain.generate(1).expect("a domain");
    let value = Value::ALL[VALUE];
    let decision = match value {
        Value::Is => Decision::published(9),
        _ => Decision { value, ..Decision::recommended(9) },
    };
    let config = Config::published();
    let kind = config.kind.clone();
    let predictor = Predictor::new(&Architecture { features: 16, states: 2, kind }, 1).expect("sizes");
    let training = DecisionFocused::new(config, decision, None, &instances, &[]).expect("a log");
    let thread = one_thread();
    bencher.bench_local(|| thread.install(|| training.objective(&predictor, 0, 0)));
}
