//! Decision-focused against two-stage training, judged as deployed: the share of the way from random pulls to the oracle.
//!
//! `cargo run --release -p restive --example decision_focused -- [SEEDS] [FIRST SEED] [REGIME …]`
//!
//! For each regime and seed (7 training, 1 validation, 2 test instances): the recommended training with its selection over
//! folds, and two-stage training at the same index discount 1 − 1/H; strict policy, true transitions, 1,000 runs with
//! common noise. Differences are paired by seed. The oracle has indices of the true transitions at discount 0.99.

use ndarray::{Array1, Array4};
use restive::Instance;
use restive::data::domain::Domain;
use restive::evaluation::World;
use restive::index::whittle_index;
use restive::policy::Policy;
use restive::predictor::PredictorKind;
use restive::simulation::{Initial, Setting, values};
use restive::training::{Choice, Config, Recipe, Selection};
use std::time::Instant;

const HORIZON: usize = 9;

/// The mean value over the test instances of the strict policy with indices of these transitions, or of random pulls.
fn value(test: &[Instance], transition: impl Fn(&Instance) -> Option<Array4<f64>>, discount: f64) -> f64 {
    let one = |instance: &Instance| {
        let (observation, reward) = (instance.observation(), instance.reward());
        let policy = transition(instance).map_or(Policy::Random, |p| {
            Policy::Strict(whittle_index(p.view(), reward.view(), discount, observation).index)
        });
        let world = World::new(observation, reward, instance.truth().expect("synthetic"));
        let setting = Setting {
            motion: world.motion(),
            reward: world.reward(),
            discount: instance.discount(),
            budget: instance.budget(),
            horizon: HORIZON,
        };
        values(&setting, &Initial::Uniform, &policy, 1000, 99).mean().expect("runs")
    };
    test.iter().map(one).sum::<f64>() / test.len() as f64
}

fn regimes() -> Vec<(&'static str, Domain, Vec<usize>)> {
    let two = Domain::two_state();
    vec![
        ("two-state", two.clone(), vec![64]),
        ("3-trajectories", Domain { trajectories: 3, ..two.clone() }, vec![64]),
        ("linear-4-features", Domain { features_kept: 4, ..two.clone() }, vec![]),
        ("noise-0.1", Domain { feature_noise: 0.1, ..two }, vec![64]),
        ("five-state", Domain::five_state(), vec![64]),
        ("collapsing", Domain::collapsing(), vec![64]),
        ("collapsing-4", Domain { features_kept: 4, ..Domain::collapsing() }, vec![]),
    ]
}

fn mean(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let numbers: Array1<f64> = numbers.collect();
    (numbers.mean().unwrap_or(f64::NAN), numbers.std(1.0) / (numbers.len() as f64).sqrt())
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| arguments.next().map_or(default, |a| a.parse().expect("a number"));
    let (seeds, first) = (number(20), number(100));
    let named: Vec<String> = arguments.collect();
    println!("{seeds} seeds from {first}; share of the way from random to oracle in %, ± standard error");
    for (name, domain, hidden) in regimes() {
        if !named.is_empty() && !named.iter().any(|asked| asked == name) {
            continue;
        }
        let mut rows = Vec::new();
        let mut chosen = [0; 3];
        let start = Instant::now();
        for seed in first..first + seeds {
            let all = domain.generate(seed).expect("a valid domain");
            let (train, validation, test) = (&all[..7], &all[7..8], &all[8..]);
            let kind = PredictorKind::Network { hidden: hidden.clone(), dropout: 0.0 };
            let two_stage = Config { kind, seed, ..Config::recommended(train) };
            let recipe = Recipe::new(two_stage, HORIZON);
            let discount = recipe.decision.index_discount;
            let mut selection = Selection::new(recipe, train, validation).expect("valid data");
            while !selection.is_finished() {
                selection.round();
            }
            let selected = selection.finish();
            let random = value(test, |_| None, discount);
            let truth = |instance: &Instance| instance.truth().map(|truth| truth.view().to_owned());
            let score = |value: f64| 100.0 * (value - random) / (self::value(test, truth, 0.99) - random);
            let two_stage = |i: &Instance| Some(selected.two_stage.predictor.predict(i.features()));
            let answer = |i: &Instance| Some(selected.fitted.predictor.predict(i.features()));
            let row = [
                score(value(test, truth, discount)),
                score(value(test, two_stage, 0.99)),
                score(value(test, two_stage, discount)),
                score(value(test, answer, discount)),
            ];
            let verdict = &selected.verdict;
            chosen[Choice::ALL.iter().position(|c| *c == verdict.choice).expect("listed")] += 1;
            eprintln!(
                "{name} {seed} {row:.2?} {:?} {:.4?} {:?}",
                verdict.choice, verdict.leads, verdict.strength
            );
            rows.push(row);
        }
        let column = |k: usize| mean(rows.iter().map(|row| row[k]));
        let (gain, error) = mean(rows.iter().map(|row| row[3] - row[2]));
        let shown = |(mean, error): (f64, f64)| format!("{mean:.2} ± {error:.2}");
        println!(
            "{name:<18} matched oracle {} | two-stage .99 {} | two-stage {} | decision-focused {} | difference {gain:+.2} ± {error:.2}{} | two-stage/weak/strong chosen {chosen:?} | {:.1} s a seed",
            shown(column(0)),
            shown(column(1)),
            shown(column(2)),
            shown(column(3)),
            if gain.abs() > 2.0 * error { " *" } else { "" },
            start.elapsed().as_secs_f64() / seeds as f64,
        );
    }
}
