//! `limited-data`: what training through the decision gains over two-stage training when few trajectories were logged.
//!
//! Training and validation instances keep their first J trajectories; the test log keeps all. Every number of trajectories of a
//! run meets the same instances, the same seed and the same luck. With one trajectory importance sampling becomes its
//! segmented variant.

use super::comparison::{as_published, means, recipe, test_instances};
use super::page::{difference, interval, p_value, paired, text};
use super::rows::{Row, Rows, names, runs};
use super::units::{Settings, Unit};
use super::{Asked, Experiment, Shares, Shown, page};
use crate::lab::learn;
use crate::lab::metrics::{PUBLISHED_DISCOUNT, TestInstance};
use crate::lab::problem::Problem;
use restive::Instance;
use restive::instance::Parts;
use restive::predictor::Predictor;
use restive::report::number::fixed;
use restive::report::table::{Cell, Column, Row as Line, Table};
use restive::report::{Axis, Block, Chart, Curves, Ink, Section, curves};
use restive::statistics::{paired_t, wilcoxon};
use restive::training::Decision;
use restive_pipeline::Profile;

pub(super) const EXPERIMENT: Experiment =
    Experiment { name: "limited-data", axis: Some("trajectories"), units, compute, owns: |_| true, show };

/// J
const TRAJECTORIES: [usize; 7] = [1, 2, 5, 10, 20, 50, 100];
/// Soft, as published; strict, on counted and on true transitions.
const METRICS: [&str; 4] = ["is", "simulated", "strict_simulated", "strict_true"];
const PAIR: [&str; 2] = ["decision-focused", "two-stage"];

/// Two-state, or those of the synthetic domains that were asked for.
fn units(asked: &Asked) -> Vec<Unit> {
    let is_ours = |problem: &&Problem| match asked.is_selected {
        true => matches!(problem, Problem::Domain(..)),
        false => problem.name() == "two-state",
    };
    let of = |problem: &Problem| {
        let domain = problem.name();
        let weight = if domain == "two-state" { 1 } else { 3 };
        (0..asked.runs).map(move |run| Unit { kind: "limited-data", domain: domain.into(), run, weight })
    };
    asked.problems.iter().filter(is_ours).flat_map(of).collect()
}

/// The instances with their first trajectories only.
fn with_first(instances: &[Instance], trajectories: usize) -> restive::Result<Vec<Instance>> {
    let shorter = |instance: &Instance| {
        let log = instance.trajectories();
        let first: Vec<usize> = (0..trajectories.min(log.trajectories())).collect();
        Instance::new(Parts { trajectories: log.select(&first), ..instance.parts().clone() })
    };
    instances.iter().map(shorter).collect()
}

fn compute(asked: &Asked, unit: &Unit, shares: Shares<'_>) -> anyhow::Result<Vec<Row>> {
    let problem = asked.problem(&unit.domain);
    let seed = asked.settings.seed.wrapping_add(unit.run as u64);
    let [train, validation, test] = problem.parts(seed)?;
    let tests = test_instances(problem, &test, seed)?;
    let mut rows = Rows::new(unit, seed);
    for (k, j) in TRAJECTORIES.into_iter().enumerate() {
        let (train, validation) = (with_first(&train, j)?, with_first(&validation, j)?);
        let both = [&train[..], &validation[..]];
        let mut measure = |method: &str, predictor: &Predictor, discount: f64| {
            let of = |test: &TestInstance<'_>| {
                test.metrics(predictor.predict(test.instance().features()).view(), discount)
            };
            for (metric, value) in means(&tests, of).filter(|(metric, _)| METRICS.contains(&metric.name())) {
                rows.push(method, metric.name(), j as f64, value);
            }
        };
        if asked.profile == Profile::Recommended {
            let (selected, _) = learn::recommended(recipe(problem, &train, seed), both, |_| ())?;
            let discount = Decision::recommended(problem.horizon()).index_discount;
            measure("two-stage", &selected.two_stage.predictor, discount);
            measure("decision-focused", &selected.fitted.predictor, discount);
        } else {
            let (config, decision) = as_published(asked.profile, problem, seed);
            let first = learn::two_stage(config.clone(), both, |_, _| ())?;
            measure("two-stage", &first, PUBLISHED_DISCOUNT);
            let through = learn::decision_focused(config, decision, None, both, |_, _| ())?;
            measure("decision-focused", &through, PUBLISHED_DISCOUNT);
        }
        shares((k + 1) as f64 / TRAJECTORIES.len() as f64);
    }
    Ok(rows.finish())
}

/// The rows of one number of trajectories.
fn of(rows: &[Row], trajectories: usize) -> Vec<Row> {
    rows.iter().filter(|row| row.at == trajectories as f64).cloned().collect()
}

fn show(settings: &Settings, rows: &[Row]) -> Shown {
    let domains = names(rows, |row| &row.domain);
    let by_number = TRAJECTORIES.map(|j| (j, of(rows, j)));
    let line = |domain: &str, metric: &str| curves::Line {
        name: format!("{} − {}", PAIR[0], PAIR[1]),
        ink: Ink::Orange,
        points: (by_number.iter())
            .map(|(j, rows)| (*j as f64, difference(rows, domain, PAIR, metric)))
            .collect(),
        continued: Vec::new(),
    };
    let panel = |domain: &str, metric: &str| curves::Panel {
        title: format!(
            "{domain}: {metric}, {}",
            if metric.starts_with("strict") { "strict" } else { "soft" }
        ),
        x: Axis::log("trajectories"),
        y: Axis::linear("reward more than two-stage"),
        lines: vec![line(domain, metric)],
    };
    let panels = domains.iter().flat_map(|domain| METRICS.map(|metric| panel(domain, metric))).collect();
    let title = "Decision-focused less two-stage, by trajectories to learn from";
    let chart = Chart::Curves(Curves { title: title.into(), panels });
    let mut blocks = vec![text(about(settings, rows)), page::figure(&chart)];
    blocks.extend(domains.iter().map(|domain| Block::Table(tests(&by_number, domain))));
    Shown {
        section: Section { heading: "Few trajectories to learn from".into(), blocks },
        figure: (chart, Some(2)),
        text: words(&by_number, &domains),
    }
}

fn about(settings: &Settings, rows: &[Row]) -> String {
    let runs = runs(rows);
    format!(
        "{runs} runs with the profile {}. Training and validation instances keep their first 1 to 100 trajectories; the test log keeps \
         all. Differences are paired by run, bands are 95 %. is and simulated: the soft policy, as published; strict_simulated and \
         strict_true: the strict top K, on transitions counted in the test log and on the true ones. With one trajectory the \
         training's importance sampling is the segmented variant.",
        settings.profile
    )
}

fn tests(by_number: &[(usize, Vec<Row>)], domain: &str) -> Table {
    let mut lines = Vec::new();
    for metric in METRICS {
        for (j, rows) in by_number {
            let [first, second] = paired(rows, domain, PAIR, metric);
            if first.is_empty() {
                continue;
            }
            lines.push(Line::new(vec![
                Cell::text(metric),
                Cell::text(j.to_string()),
                Cell::Estimate(interval(&second)),
                Cell::Estimate(difference(rows, domain, PAIR, metric)),
                Cell::text(p_value(paired_t(&first, &second).ok().map(|test| test.p))),
                Cell::text(p_value(wilcoxon(&first, &second).ok().map(|test| test.p))),
            ]));
        }
    }
    let columns = vec![
        Column::text("metric"),
        Column::text("trajectories"),
        Column::number("two-stage", 1),
        Column::number("difference, mean", 2),
        Column::text("p (t)"),
        Column::text("p (Wilcoxon)"),
    ];
    let caption = format!("{domain}: paired differences, with Student's and Wilcoxon's tests");
    Table { caption, columns, rows: lines }
}

fn words(by_number: &[(usize, Vec<Row>)], domains: &[&str]) -> String {
    let mut text = String::from("decision-focused less two-stage, by trajectories\n");
    for domain in domains {
        text += &format!("{domain:<14}");
        METRICS.iter().for_each(|metric| text += &format!("{metric:>18}"));
        text.push('\n');
        for (j, rows) in by_number {
            text += &format!("{j:<14}");
            for metric in METRICS {
                let gain = difference(rows, domain, PAIR, metric);
                let shown = match gain.has_ends() {
                    true => format!("{} ± {}", fixed(gain.value, 1), fixed(gain.high - gain.value, 1)),
                    false => fixed(gain.value, 1),
                };
                text += &format!("{shown:>18}");
            }
            text.push('\n');
        }
    }
    text
}
