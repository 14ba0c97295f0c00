//! A report of a small synthetic study: `cargo run --release -p restive --example report -- FILE.html [SEEDS]`.
//!
//! Two-stage learning with the network and with the linear predictor, over a few seeds; learning curves, values of the soft policy
//! as published and of the strict one as deployed, the distribution of indices, whom to pull first. Beside `FILE.html` it writes
//! each chart as an SVG file. `scripts/look-at-report` takes its picture.

use restive::Instance;
use restive::data::domain::Domain;
use restive::evaluation::{Covers, Estimate, difference};
use restive::index::{Algorithm, whittle_index};
use restive::policy::{Policy, Temperature};
use restive::predictor::PredictorKind;
use restive::report::{
    Axis, Bars, Block, Chart, Curves, Distribution, Fact, Ink, Interval, Page, Section, Table, bars, curves,
    distribution,
    number::fixed,
    table::{Cell, Column, Row},
};
use restive::simulation::{Initial, Setting, values};
use restive::training::{Config, Fitted, fit};

use ndarray::Array2;

const METHODS: [(&str, Ink); 2] = [("two-stage, network", Ink::Blue), ("two-stage, linear", Ink::Orange)];
const EPOCHS: [usize; 6] = [2, 4, 8, 15, 25, 50];

fn interval(e: Estimate) -> Interval {
    Interval::new(e.value, e.low, e.high)
}

/// The mean over the seeds with its interval.
fn over_seeds(numbers: &[f64]) -> Interval {
    interval(Estimate::mean(numbers, Covers::Rollouts))
}

fn index(transition: ndarray::ArrayView4<'_, f64>, instance: &Instance) -> Array2<f64> {
    whittle_index(transition, instance.reward().view(), 0.99, Algorithm::Auto).index
}

fn value(instance: &Instance, policy: &Policy) -> f64 {
    let setting = Setting {
        motion: instance.truth().expect("synthetic").view().into(),
        reward: instance.reward().into(),
        discount: instance.discount(),
        budget: instance.budget(),
        horizon: instance.trajectories().steps() - 1,
    };
    values(&setting, &Initial::Uniform, policy, 300, 7).mean().expect("runs")
}

fn policies(table: Array2<f64>) -> [Policy; 2] {
    let temperature = Temperature::Published(0.1).resolve(table.as_slice().expect("contiguous"));
    [Policy::Soft(table.clone(), temperature), Policy::Strict(table)]
}

/// What the seeds taught.
#[derive(Default)]
struct Results {
    history: [Vec<Fitted>; 2],
    /// by method, then by number of epochs
    strict_by_epochs: [[Vec<f64>; EPOCHS.len()]; 2],
    /// by method or oracle, soft and strict
    value: [[Vec<f64>; 2]; 3],
    random: Vec<f64>,
    /// of the last seed: by method or oracle
    index: Vec<Array2<f64>>,
}

fn run(seeds: u64) -> Results {
    let mut results = Results::default();
    for seed in 0..seeds {
        let all = Domain { trajectories: 20, ..Domain::two_state() }.generate(seed).expect("a valid domain");
        let (train, validation, test) = (&all[..7], &all[7..8], &all[8]);
        results.index.clear();
        for (k, hidden) in [vec![64], vec![]].into_iter().enumerate() {
            let kind = PredictorKind::Network { hidden, dropout: 0.0 };
            let fitted = |epochs| {
                let config = Config { seed, epochs, kind: kind.clone(), ..Config::published() };
                fit(config, train, validation).expect("valid data")
            };
            for (at, epochs) in EPOCHS.into_iter().enumerate() {
                let predicted = fitted(epochs).predictor.predict(test.features());
                let [_, strict] = policies(index(predicted.view(), test));
                results.strict_by_epochs[k][at].push(value(test, &strict));
            }
            results.history[k].push(fitted(50));
            let predicted = results.history[k][seed as usize].predictor.predict(test.features());
            results.index.push(index(predicted.view(), test));
        }
        results.index.push(index(test.truth().expect("synthetic").view(), test));
        for (k, table) in results.index.iter().enumerate() {
            for (kind, policy) in policies(table.clone()).iter().enumerate() {
                results.value[k][kind].push(value(test, policy));
            }
        }
        results.random.push(value(test, &Policy::Random));
    }
    results
}

fn learning(results: &Results) -> Chart {
    type Loss = fn(&restive::training::EpochReport) -> f64;
    let panel = |title: &str, loss: Loss| curves::Panel {
        title: title.into(),
        x: Axis::linear("epoch"),
        y: Axis::linear("loss (nats per trajectory)"),
        lines: (0..2)
            .map(|k| {
                let at = |epoch: usize| {
                    let of_seeds: Vec<f64> =
                        results.history[k].iter().map(|fitted| loss(&fitted.history[epoch])).collect();
                    (epoch as f64, over_seeds(&of_seeds))
                };
                let points = (0..results.history[k][0].history.len()).map(at).collect();
                curves::Line { name: METHODS[k].0.into(), ink: METHODS[k].1, points, continued: vec![] }
            })
            .collect(),
    };
    let line = |k: usize| {
        let points = EPOCHS.iter().zip(&results.strict_by_epochs[k]);
        let points = points.map(|(epochs, values)| (*epochs as f64, over_seeds(values))).collect();
        curves::Line { name: METHODS[k].0.into(), ink: METHODS[k].1, points, continued: vec![] }
    };
    let decision = curves::Panel {
        title: "Value as deployed".into(),
        x: Axis::log("epochs trained"),
        y: Axis::linear("reward of nine steps"),
        lines: vec![line(0), line(1)],
    };
    Chart::Curves(Curves {
        title: "Learning curves".into(),
        panels: vec![
            panel("Training loss", |e| e.train_loss),
            panel("Validation loss", |e| e.validation_loss.unwrap_or(f64::NAN)),
            decision,
        ],
    })
}

fn worth(results: &Results) -> Chart {
    let reference = |name: &str, numbers: &[f64]| bars::Reference {
        name: name.into(),
        value: Interval::bare(over_seeds(numbers).value),
    };
    let group = |kind: usize, name: &str| bars::Group {
        name: name.into(),
        rows: (0..2)
            .map(|k| bars::Row {
                name: METHODS[k].0.into(),
                ink: METHODS[k].1,
                value: over_seeds(&results.value[k][kind]),
            })
            .collect(),
        references: vec![reference("random", &results.random), reference("oracle", &results.value[2][kind])],
    };
    Chart::Bars(Bars {
        title: "Reward of nine steps".into(),
        panels: vec![bars::Panel {
            title: String::new(),
            label: "reward of nine steps on the true transitions".into(),
            base: None,
            groups: vec![group(0, "Soft, as published"), group(1, "Strict, as deployed")],
        }],
    })
}

fn gains(results: &Results) -> Chart {
    let row = |(name, ink): (&str, Ink), numbers: &[f64]| bars::Row {
        name: name.into(),
        ink,
        value: interval(difference(numbers, &results.random)),
    };
    let panel = |kind: usize, title: &str| bars::Panel {
        title: title.into(),
        label: "reward gained".into(),
        base: Some(0.0),
        groups: vec![bars::Group {
            name: String::new(),
            rows: [METHODS[0], METHODS[1], ("oracle", Ink::Black)]
                .into_iter()
                .enumerate()
                .map(|(k, method)| row(method, &results.value[k][kind]))
                .collect(),
            references: vec![],
        }],
    };
    Chart::Bars(Bars {
        title: "Gain over random pulls".into(),
        panels: vec![panel(0, "Soft, as published"), panel(1, "Strict, as deployed")],
    })
}

fn indices(results: &Results) -> Chart {
    let panel = |state: usize, title: &str| distribution::Panel {
        title: title.into(),
        label: "Whittle index".into(),
        samples: [METHODS[0], METHODS[1], ("oracle", Ink::Black)]
            .into_iter()
            .zip(&results.index)
            .map(|((name, ink), table)| distribution::Sample {
                name: name.into(),
                ink,
                numbers: table.column(state).to_vec(),
            })
            .collect(),
    };
    Chart::Distribution(Distribution {
        title: "How the indices are distributed".into(),
        panels: vec![panel(0, "Arms that are not engaged"), panel(1, "Arms that are engaged")],
    })
}

fn table(results: &Results) -> Table {
    let row = |name: &str, soft: &[f64], strict: &[f64]| {
        let gain = match name {
            "random" => Interval::bare(f64::NAN),
            _ => interval(difference(strict, &results.random)),
        };
        let cells = vec![
            Cell::text(name),
            Cell::Estimate(over_seeds(soft)),
            Cell::Estimate(over_seeds(strict)),
            Cell::Estimate(gain),
        ];
        if name == METHODS[0].0 { Row::highlighted(cells) } else { Row::new(cells) }
    };
    let [network, linear, oracle] = &results.value;
    Table {
        caption: "Reward of nine steps, mean over the seeds with its 95 % interval".into(),
        columns: vec![
            Column::text("method"),
            Column::number("soft, as published", 1),
            Column::number("strict, as deployed", 1),
            Column::number("strict, gain over random", 1),
        ],
        rows: vec![
            row("random", &results.random, &results.random),
            row(METHODS[0].0, &network[0], &network[1]),
            row(METHODS[1].0, &linear[0], &linear[1]),
            row("oracle", &oracle[0], &oracle[1]),
        ],
    }
}

fn whom(results: &Results) -> Table {
    let table = &results.index[0];
    let mut arms: Vec<usize> = (0..table.nrows()).collect();
    arms.sort_by(|a, b| table[[*b, 0]].total_cmp(&table[[*a, 0]]));
    let row = |(rank, arm): (usize, &usize)| {
        let numbers = [rank as f64 + 1.0, table[[*arm, 0]], results.index[2][[*arm, 0]]];
        let name = Cell::text(format!("arm {arm}"));
        Row::new(std::iter::once(name).chain(numbers.map(Cell::Number)).collect())
    };
    Table {
        caption: "The ten arms with the highest index when not engaged".into(),
        columns: vec![
            Column::text("arm"),
            Column::number("rank", 0),
            Column::number("index", 3),
            Column::number("true index", 3),
        ],
        rows: arms.iter().take(10).enumerate().map(row).collect(),
    }
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let file = std::path::PathBuf::from(arguments.next().expect("FILE.html"));
    let seeds: u64 = arguments.next().map_or(5, |n| n.parse().expect("a number of seeds"));
    let results = run(seeds);
    let mean = |numbers: &[f64]| over_seeds(numbers).value;
    let (random, oracle) = (mean(&results.random), mean(&results.value[2][1]));
    let share = |k: usize| 100.0 * (mean(&results.value[k][1]) - random) / (oracle - random);
    let fact = |value: String, name: &str| Fact { value, name: name.into() };
    let figure = |chart: Chart, caption: &str| Block::Figure { chart, caption: caption.into() };
    let charts = [learning(&results), worth(&results), gains(&results), indices(&results)];
    for (chart, name) in charts.iter().zip(["curves", "bars", "gains", "distribution"]) {
        std::fs::write(file.with_extension(format!("{name}.svg")), chart.svg())?;
    }
    let [curves, bars, gains, distribution] = charts;
    let page = Page {
        title: "Two-stage learning on a synthetic programme".into(),
        verdict: format!(
            "Deployed as a programme deploys it, the network goes {} % of the way from random pulls to the oracle; the linear predictor goes {} %.",
            fixed(share(0), 0),
            fixed(share(1), 0)
        ),
        sections: vec![
            Section {
                heading: "What each method is worth".into(),
                blocks: vec![
                    Block::Facts(vec![
                        fact(format!("{} %", fixed(share(0), 1)), "of the way from random to oracle, network"),
                        fact(format!("{} %", fixed(share(1), 1)), "of the way from random to oracle, linear"),
                        fact(seeds.to_string(), "seeds, each with seven training instances"),
                        fact("20 of 100".into(), "arms may be pulled at each step"),
                    ]),
                    figure(bars, "Mean over the seeds with its 95 % interval. The soft policy spreads its pulls, and most of what the indices know is lost with them; the strict one pulls exactly the arms with the highest indices."),
                    Block::Table(table(&results)),
                    figure(gains, "Paired by seed: both policies met the same arms."),
                    Block::Note("These arms are synthetic. On them the truth is known; in a programme it is not, and values come from logs with wider intervals.".into()),
                ],
            },
            Section {
                heading: "How it was learnt".into(),
                blocks: vec![figure(curves, "Mean over the seeds; the bands are 95 % intervals. A lower loss is not the same as a better decision.")],
            },
            Section {
                heading: "What was learnt".into(),
                blocks: vec![
                    Block::Text("The index of an arm in a state is the subsidy for which pulling and leaving it alone are worth the same. The arms with the highest indices are pulled.".into()),
                    figure(distribution, "100 arms of the last seed's test instance."),
                    Block::Table(whom(&results)),
                ],
            },
            Section {
                heading: "Do it again".into(),
                blocks: vec![Block::Command(format!("cargo run --release -p restive --example report -- FILE.html {seeds}"))],
            },
        ],
        footer: format!("restive {}, seeds 0 to {}.", env!("CARGO_PKG_VERSION"), seeds - 1),
    };
    std::fs::write(&file, page.html())
}
