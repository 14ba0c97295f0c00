//! What a gradient step costs: seconds of one step of decision-focused training, contender by contender, against a size that grows.
//!
//! | contender | indices by | judged by |
//! |---|---|---|
//! | `fast` | closed form for two states, sweep for more | the log: the published objective |
//! | `fast-fluid`, `fast-decomposed` | the same | the mean-field run; each arm apart |
//! | `bisection` | [bisection and one linear system per state](self::step), as the paper does | the log |
//!
//! A contender starts at the smallest size and stops after the first step that passes the limit; from there it is continued by the
//! exponent of its last decade, dotted. A contender is one unit of work, because where it stops depends on its own course. Steps are
//! timed on one thread while no other unit is at work. Rows have repeats for runs; what is shown is the fastest.

mod page;
pub(crate) mod races;
mod step;

use crate::experiment::rows::{Key, Row};
use crate::experiment::units::{Settings, Unit};
use crate::experiment::{Asked, Shares};
use crate::{Method, Metric, Regime};
use ndarray::{Array2, Array4};
use restive::Reward;
use restive::index::bisection;
use restive::instance::{Instance, Observation, Parts};
use restive::policy::Policy;
use restive::simulation::{Initial, Setting, trajectories};
use restive::training::{Config, Decision, DecisionFocused, Value};
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use step::BisectionStep;

/// Decisions per trajectory, trajectories, features: as in the synthetic domains, but for fewer trajectories.
pub(crate) const HORIZON: usize = 9;
pub(crate) const TRAJECTORIES: usize = 10;
const FEATURES: usize = 16;

/// How a step is taken: what it maximises by exact indices, or by bisection.
#[derive(Clone, Copy)]
pub(crate) enum Contender {
    Fast(Value),
    Bisection,
}

impl Contender {
    pub(crate) const fn method(self) -> Method {
        match self {
            Contender::Fast(Value::Is) => Method::Fast,
            Contender::Fast(Value::Fluid) => Method::FastFluid,
            Contender::Fast(Value::Decomposed) => Method::FastDecomposed,
            Contender::Bisection => Method::Bisection,
        }
    }
}

/// Roads over one size.
pub(crate) struct Race {
    pub(crate) name: &'static str,
    pub(crate) contenders: &'static [Contender],
    /// rising
    pub(crate) sizes: fn(&Settings) -> Vec<usize>,
    /// N and M of a size
    pub(crate) shape: fn(&Settings, usize) -> (usize, usize),
    /// of the size, in the theoretical cost, without ω
    pub(crate) power: f64,
    pub(crate) has_omega: bool,
    pub(crate) heading: &'static str,
    /// the name of the axis
    pub(crate) label: &'static str,
}

/// The seconds of a step after which a contender stops.
pub(crate) fn limit(settings: &Settings) -> f64 {
    match settings {
        Settings { arms: Some(_), .. } => 0.02,
        Settings { is_quick: true, .. } => 1.0,
        _ => 10.0,
    }
}

fn units(race: &Race) -> Vec<Unit> {
    let unit = |contender: &Contender| {
        let (regime, method) = (Regime::Random, Some(contender.method()));
        Unit { kind: race.name, regime, method, run: 0, weight: 1 }
    };
    race.contenders.iter().map(unit).collect()
}

fn compute(race: &Race, asked: &Asked, unit: &Unit, shares: Shares<'_>) -> anyhow::Result<Vec<Row>> {
    let settings = &asked.settings;
    let is_ours = |contender: &&Contender| Some(contender.method()) == unit.method;
    let contender = race.contenders.iter().find(is_ours).expect("a contender of the race");
    let (sizes, limit) = ((race.sizes)(settings), limit(settings));
    alone(|| {
        let mut rows = Vec::new();
        for (k, &size) in sizes.iter().enumerate() {
            let (n, m) = (race.shape)(settings, size);
            let seconds = seconds(*contender, &random_instance(n, m, settings.seed)?, limit)?;
            let key = Key::new(unit.regime, contender.method(), Metric::Seconds).at(size as f64);
            let row = |(run, value): (usize, &f64)| Row { key, run, seed: settings.seed, value: *value };
            rows.extend(seconds.iter().enumerate().map(row));
            shares((k + 1) as f64 / sizes.len() as f64);
            if fastest(&seconds) > limit {
                break;
            }
        }
        Ok(rows)
    })
}

/// One thread, and nobody else at work: a timing hears no neighbours. The thread is a new one because a thread of the pool
/// that waits takes up other units.
fn alone<T: Send>(work: impl FnOnce() -> anyhow::Result<T> + Send) -> anyhow::Result<T> {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let done = std::thread::scope(|scope| scope.spawn(|| pool.install(work)).join());
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The seconds of several steps; of one where that passes the limit.
fn seconds(contender: Contender, instance: &Instance, limit: f64) -> anyhow::Result<Vec<f64>> {
    let mut decision = Decision::published(HORIZON);
    if let Contender::Fast(value) = contender {
        decision.value = value;
    }
    let data = std::slice::from_ref(instance);
    let untrained =
        |decision: &Decision| DecisionFocused::new(Config::published(), decision.clone(), None, data, &[]);
    Ok(match contender {
        Contender::Fast(_) => {
            let training = untrained(&decision)?;
            repeat(limit, || drop(black_box(training.objective(training.predictor(), 0, 0))))
        }
        Contender::Bisection => {
            // the predictor only: nothing of the log is kept twice
            let predictor =
                untrained(&Decision { value: Value::Fluid, ..decision.clone() })?.predictor().clone();
            let step = BisectionStep::new(instance, &decision)?;
            repeat(limit, || {
                drop(black_box(step.gradient(&decision, bisection::Tolerance::published(), &predictor)))
            })
        }
    })
}

fn repeat(limit: f64, mut step: impl FnMut()) -> Vec<f64> {
    let mut time = || {
        let start = Instant::now();
        step();
        start.elapsed().as_secs_f64()
    };
    let first = time();
    let repeats = match first {
        first if first > limit => return vec![first],
        first if first < 0.1 => 11,
        first if first < 1.0 => 5,
        _ => 3,
    };
    (0..repeats).map(|_| time()).collect()
}

/// N arms with random features and a log of random pulls and states: what a step costs does not depend on what they say.
pub(crate) fn random_instance(n: usize, m: usize, seed: u64) -> restive::Result<Instance> {
    let mut state = seed;
    let mut uniform = || {
        // SplitMix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        2.0 * ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 1.0
    };
    let features = Array2::from_shape_simple_fn((n, FEATURES), &mut uniform);
    let (reward, budget) = (Reward::linear(m), (n / 5).max(1));
    let moves = Array4::from_elem((n, m, 2, m), 1.0 / m as f64);
    let setting = Setting {
        motion: moves.view().into(),
        reward: (&reward).into(),
        discount: 0.99,
        budget,
        horizon: HORIZON,
    };
    let log = trajectories(&setting, &Initial::Uniform, &Policy::Random, TRAJECTORIES, seed);
    drop(moves);
    Instance::new(Parts {
        features,
        trajectories: log,
        reward,
        budget,
        discount: 0.99,
        truth: None,
        observation: Observation::Full,
        clusters: None,
    })
}

pub(crate) fn fastest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
