//! The joint baselines beside ours: what a gradient step costs, and what the learnt policies are worth.
//!
//! `cargo run --release -p restive --example joint -- [SEEDS] [FIRST SEED] [BUDGET] [MOST ARMS] [TRAJECTORIES] [TEMPERATURE]`
//!
//! **Cost**: seconds of one gradient step (predictor, plan, importance sampling, and back) on one two-state instance with 100
//! trajectories of 9 decisions, against N, at the parameters of two-stage training. A road stops where a step passes 10 s or does not
//! fit. The joint roads use one core, ours all.
//!
//! **Value**: N = 5, K = 1 on the published two-state domain; 7 instances to train on, 2 to test. All methods have the published
//! network, 50 epochs at 0.01 and objective 0.9 value, 0.1 loss. Values are exact: dynamic programming over the 32 joint states on the
//! true transitions, 9 steps, uniform start. Policies of indices are strict, joint plans greedy.

use ndarray::{Array2, ArrayView4};
use restive::Instance;
use restive::data::domain::Domain;
use restive::index::{Algorithm, whittle_index};
use restive::joint::{
    Joint, JointSettings, JointTask, Limit, Planner, best_value, greedy, optimum, plan, policy_value, strict,
    train, uniform,
};
use restive::predictor::{Architecture, Predictor, PredictorKind};
use restive::simulation::Initial;
use restive::statistics::{mean, paired_t, wilcoxon};
use restive::training::{Config, Decision, DecisionFocused, fit};
use std::time::Instant;

const HORIZON: usize = 9;
const ARMS: usize = 5;
const SLOWEST: f64 = 10.0;
const UNROLLED: Planner = Planner::Unrolled { sweeps: 10 };

fn predictor(seed: u64) -> Predictor {
    let kind = PredictorKind::Network { hidden: vec![64], dropout: 0.0 };
    Predictor::new(&Architecture { features: 16, states: 2, kind }, seed).expect("valid")
}

/// The fastest of some repetitions, in seconds.
fn seconds(mut step: impl FnMut()) -> f64 {
    let (mut best, begin) = (f64::INFINITY, Instant::now());
    loop {
        let start = Instant::now();
        step();
        best = best.min(start.elapsed().as_secs_f64());
        if begin.elapsed().as_secs_f64() > 0.5 {
            return best;
        }
    }
}

fn cost(budget: usize, most_arms: usize) {
    println!("seconds per gradient step, K = {budget}, M = 2, 100 trajectories of {HORIZON} decisions");
    println!(
        "{:>4} {:>9} {:>8} {:>10} {:>7} {:>10} {:>10}",
        "N", "states", "actions", "implicit", "sweeps", "unrolled", "ours"
    );
    let mut is_open = [true; 2];
    for n in (budget + 1).max(2)..=most_arms {
        let domain = Domain { instances: 1, arms: n, budget, ..Domain::two_state() };
        let all = domain.generate(1).expect("a valid domain");
        let network = fit(Config::published(), &all, &[]).expect("valid data").predictor;
        let (mut cells, mut sweeps) = (Vec::new(), 0);
        for (planner, is_open) in [Planner::Implicit, UNROLLED].into_iter().zip(&mut is_open) {
            if !*is_open {
                cells.push("-".to_string());
                continue;
            }
            match JointTask::new(&all[0], &JointSettings::published(planner)) {
                Err(error) => {
                    eprintln!("{error}");
                    cells.push("refused".into());
                    *is_open = false;
                }
                Ok(lesson) => {
                    let taken = seconds(|| {
                        let said = lesson.objective(&network);
                        sweeps = if planner == Planner::Implicit { said.sweeps } else { sweeps };
                    });
                    *is_open = taken < SLOWEST;
                    cells.push(format!("{taken:.2e}"));
                }
            }
        }
        let ours = DecisionFocused::new(Config::published(), Decision::published(HORIZON), None, &all, &[]);
        let ours = ours.expect("valid data");
        let taken = seconds(|| drop(ours.objective(&network, 0, 0)));
        let sizes = restive::joint::Cost::new(n, 2, budget);
        println!(
            "{n:>4} {:>9} {:>8} {:>10} {sweeps:>7} {:>10} {taken:>10.2e}",
            sizes.joint_states, sizes.joint_actions, cells[0], cells[1]
        );
        if is_open == [false; 2] {
            return;
        }
    }
}

/// The mean over the test instances of the exact value of a policy.
fn value(test: &[Instance], policy: impl Fn(&Instance, &Joint) -> Array2<f64>) -> f64 {
    let one = |instance: &Instance| {
        let joint = Joint::from_instance(instance, &Limit::default()).expect("small");
        let truth = instance.truth().expect("synthetic").view();
        let value = policy_value(&joint, truth, policy(instance, &joint).view(), HORIZON);
        let start = joint.start(Initial::Uniform.mass(ARMS, 2).view());
        value.iter().zip(&start).map(|(v, p)| v * p).sum::<f64>()
    };
    test.iter().map(one).sum::<f64>() / test.len() as f64
}

fn by_index(instance: &Instance, joint: &Joint, transition: ArrayView4<'_, f64>) -> Array2<f64> {
    let solved = whittle_index(transition, instance.reward().view(), 0.99, Algorithm::Auto);
    strict(joint, solved.index.view())
}

const METHODS: [&str; 9] = [
    "random",
    "two-stage, index",
    "two-stage, joint plan",
    "decision-focused, index",
    "joint, implicit",
    "joint, unrolled",
    "true transitions, index",
    "true transitions, joint plan",
    "best over 9 steps",
];

/// The values of one seed, in the order of the methods.
fn run(seed: u64, trajectories: usize, temperature: f64) -> [f64; 9] {
    let domain = Domain { arms: ARMS, budget: 1, trajectories, ..Domain::two_state() };
    let all = domain.generate(seed).expect("a valid domain");
    let (train_on, test) = (&all[..7], &all[8..]);
    let config = Config { seed, ..Config::published() };
    let two_stage = fit(config.clone(), train_on, &[]).expect("valid data").predictor;
    let mut focused =
        DecisionFocused::new(config, Decision::published(HORIZON), None, train_on, &[]).expect("valid");
    while !focused.is_finished() {
        focused.epoch();
    }
    let focused = focused.finish().predictor;
    let trained = |planner| {
        let settings = JointSettings { temperature, ..JointSettings::published(planner) };
        let trained = train(train_on, predictor(seed), &settings).expect("it fits");
        value(test, |instance, joint| {
            let predicted = trained.predictor.predict(instance.features());
            greedy(plan(joint, predicted.view(), settings.temperature, planner).q.view())
        })
    };
    let truth = |instance: &Instance| instance.truth().expect("synthetic").view().to_owned();
    let best = |instance: &Instance| {
        let joint = Joint::from_instance(instance, &Limit::default()).expect("small");
        let start = joint.start(Initial::Uniform.mass(ARMS, 2).view());
        let value = best_value(&joint, truth(instance).view(), HORIZON);
        value.iter().zip(&start).map(|(v, p)| v * p).sum::<f64>()
    };
    [
        value(test, |_, joint| uniform(joint)),
        value(test, |i, joint| by_index(i, joint, two_stage.predict(i.features()).view())),
        value(test, |i, joint| greedy(optimum(joint, two_stage.predict(i.features()).view()).q.view())),
        value(test, |i, joint| by_index(i, joint, focused.predict(i.features()).view())),
        trained(Planner::Implicit),
        trained(UNROLLED),
        value(test, |i, joint| by_index(i, joint, truth(i).view())),
        value(test, |i, joint| greedy(optimum(joint, truth(i).view()).q.view())),
        test.iter().map(best).sum::<f64>() / test.len() as f64,
    ]
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| arguments.next().map_or(default, |a| a.parse().expect("a number"));
    let (seeds, first, budget, most_arms) = (number(20), number(100), number(1), number(20));
    let trajectories = number(100) as usize;
    let temperature = arguments.next().map_or(0.3, |a| a.parse().expect("a number"));
    if most_arms > 0 {
        cost(budget as usize, most_arms as usize);
    }
    if seeds < 2 {
        return;
    }
    let start = Instant::now();
    let runs: Vec<[f64; 9]> =
        (first..first + seeds).map(|seed| run(seed, trajectories, temperature)).collect();
    let column = |k: usize| -> Vec<f64> { runs.iter().map(|run| run[k]).collect() };
    println!(
        "\nexact value of {HORIZON} steps, N = {ARMS}, K = 1, {seeds} seeds, {trajectories} trajectories, temperature {temperature}, ± standard error"
    );
    println!(
        "{:<30} {:>16} {:>8}   against two-stage, index: difference, p of t, p of Wilcoxon",
        "", "value", "share %"
    );
    let average = |k: usize| mean(&column(k)).expect("several seeds");
    let (low, high) = (average(0).mean, average(8).mean);
    for (k, name) in METHODS.iter().enumerate() {
        let said = average(k);
        let share = 100.0 * (said.mean - low) / (high - low);
        let against = match (paired_t(&column(k), &column(1)), wilcoxon(&column(k), &column(1))) {
            (Ok(t), Ok(w)) => {
                format!("{:+.4} [{:+.4}, {:+.4}], {:.1e}, {:.1e}", t.difference, t.low, t.high, t.p, w.p)
            }
            (Err(why), _) | (_, Err(why)) => why.to_string(),
        };
        println!("{name:<30} {:>8.4} ± {:.4} {share:>8.2}   {against}", said.mean, said.standard_error);
    }
    println!("{:.1} s a seed", start.elapsed().as_secs_f64() / seeds as f64);
}
