//! Do the estimators of a trial keep what they say? Repeated trials in known worlds, one JSON line per cell and estimator.
//!
//!     cargo run --release -p restive --example trial_coverage -- [--trials 1000] [--seed 0] [--cell NAME]
//!
//! 2,000 people, 8 weeks, 40 calls a week in the policy arm. Cells: `null`, `half`, `full` (calls do nothing, half, all of what the world
//! says), `unequal` (2:1), `missing` (15 % of outcomes), `policy` (another policy as control), `correlated` (the index is high where
//! people fare badly; calls do nothing), `clusters` (100 clusters that share a shock; regression only). `width` is the mean
//! standard error as a part of that of the difference.

use ndarray::{Array2, Array4};
use rand::RngExt;
use restive::random::stream;
use restive::trial::{Clusters, Design, Estimator, Power, World, power};
use restive::{Layout, Transition};
use serde_json::json;

const PEOPLE: usize = 2_000;
const CELLS: [&str; 8] = ["null", "half", "full", "unequal", "missing", "policy", "correlated", "clusters"];

fn main() -> restive::Result<()> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| asked.iter().position(|text| text == name).and_then(|k| asked.get(k + 1));
    let number = |name, default: u64| value(name).map_or(default, |text| text.parse().expect("a number"));
    let (trials, seed) = (number("--trials", 1_000) as usize, number("--seed", 0));
    for cell in CELLS.into_iter().filter(|cell| value("--cell").is_none_or(|only| only == cell)) {
        let start = std::time::Instant::now();
        let found = run(cell, trials, seed)?;
        let plain = found.iter().find(|power| power.estimator == Estimator::Difference);
        let width = plain.map_or(f64::NAN, |power| power.se.value);
        for power in &found {
            println!("{}", line(cell, power, width));
        }
        eprintln!("{cell}: {:.1} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn line(cell: &str, power: &Power, width: f64) -> serde_json::Value {
    json!({
        "cell": cell,
        "estimator": power.estimator.name(),
        "answered": power.answered,
        "refused": power.refused.map(|refusal| refusal.to_string()),
        "true": power.truth.value,
        "bias": power.bias.value,
        "bias_error": power.bias.error,
        "sd": power.sd,
        "se": power.se.value,
        "coverage": power.coverage.value,
        "coverage_error": power.coverage.error,
        "rejection": power.rejection.value,
        "detectable": power.detectable,
        "width": power.se.value / width,
    })
}

fn run(cell: &str, trials: usize, seed: u64) -> restive::Result<Vec<Power>> {
    let mut random = stream(seed, &[1]);
    // chances of the good state: uncalled from the bad and the good state, and what a call adds
    let mut p = Array4::zeros((PEOPLE, 2, 2, 2));
    let mut gain = Array2::zeros((PEOPLE, 2));
    for i in 0..PEOPLE {
        let (back, stay) = (0.05 + 0.35 * random.random::<f64>(), 0.5 + 0.4 * random.random::<f64>());
        for (s, base) in [back, stay].into_iter().enumerate() {
            gain[[i, s]] = 0.35 * random.random::<f64>() * if s == 0 { 1.0 } else { 0.4 };
            for (a, chance) in [base, f64::min(base + gain[[i, s]], 1.0)].into_iter().enumerate() {
                p[[i, s, a, 0]] = 1.0 - chance;
                p[[i, s, a, 1]] = chance;
            }
        }
    }
    let ill = Array2::from_shape_fn((PEOPLE, 2), |(i, s)| p[[i, s, 0, 0]]);
    let index = if cell == "correlated" { ill.view() } else { gain.view() };
    let transition = Transition::new(p.clone(), Layout::Nsas)?;
    let start = Array2::from_elem((PEOPLE, 2), 0.5);
    let control = (cell == "policy").then_some(ill.view());
    let world = World { transition: &transition, reward: &[0.0, 1.0], start: start.view(), index, control };
    let clusters =
        (cell == "clusters").then(|| Clusters { of: (0..PEOPLE).map(|i| i % 100).collect(), sd: 0.3 });
    let design = Design {
        weeks: 8,
        shares: if cell == "unequal" { [2, 1] } else { [1, 1] },
        budget: [40, 40],
        missing: if cell == "missing" { 0.15 } else { 0.0 },
        clusters,
        sizes: vec![1.0],
    };
    let effect = match cell {
        "null" | "correlated" => 0.0,
        "half" => 0.5,
        _ => 1.0,
    };
    power(&world, &design, &[effect], trials, stream(seed, &[2]).random())
}
