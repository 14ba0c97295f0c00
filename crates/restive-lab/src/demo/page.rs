//! The report of `restive demo`: one page that tells what was compared, what came out, and why the two answers differ.

use super::charts::{gains, learning};
use super::findings::{Findings, METHODS};
use super::why::why;
use crate::{Method, Metric};
use restive_pipeline::Plan;
use restive_report::number::fixed;
use restive_report::table::{Cell, Column, Row};
use restive_report::{Block, Chart, Fact, Interval, Page, Section, Table};
use std::path::Path;

/// The figure that says the most.
pub(crate) fn figure(findings: &Findings<'_>) -> Chart {
    gains(findings)
}

pub(crate) fn text(text: impl Into<String>) -> Block {
    Block::Text(text.into())
}

pub(crate) fn chart(chart: Chart, caption: impl Into<String>) -> Block {
    Block::Figure { chart, caption: caption.into() }
}

pub(crate) fn page(findings: &Findings<'_>, plan: &Plan, command: &str, out: &Path) -> Page {
    let section = |heading: &str, blocks| Section { heading: heading.into(), blocks };
    let seeds: Vec<u64> = findings.runs.iter().map(|run| run.seed).collect();
    let seeds = match &seeds[..] {
        [one] => format!("seed {one}"),
        several => format!("seeds {} to {}", several[0], several[several.len() - 1]),
    };
    Page {
        title: format!("Two-stage and decision-focused learning: the {} domain", findings.name.name()),
        verdict: findings.verdict(),
        sections: vec![
            section("What each method is worth", worth(findings)),
            section(
                "How it was learnt",
                vec![
                    text(
                        "Both trainings as published, judged on the test instances after each epoch. A lower loss is not the same as a better decision, and a higher soft value is not either.",
                    ),
                    chart(learning(findings), bands(findings)),
                ],
            ),
            section("Why the soft metric misleads", why(findings)),
            section("Whom to pull next", whom(plan)),
            section("Do it again", again(command, out)),
        ],
        footer: format!(
            "restive {}, {} domain, {seeds}. The same command gives the same numbers, with any number of threads.",
            env!("CARGO_PKG_VERSION"),
            findings.name.name()
        ),
    }
}

fn bands(findings: &Findings<'_>) -> &'static str {
    match findings.runs.len() {
        1 => "One run. The first ten epochs are all measured, then every fourth.",
        _ => {
            "Mean over the runs; the bands are 95 % intervals. The first ten epochs are all measured, then every fourth."
        }
    }
}

fn worth(findings: &Findings<'_>) -> Vec<Block> {
    let domain = findings.domain;
    let fact = |value: String, name: String| Fact { value, name };
    let signed = |d: Interval| format!("{}{}", if d.value > 0.0 { "+" } else { "" }, fixed(d.value, 1));
    let share = |method| fixed(findings.share(method).value, 1) + " %";
    let matched = findings.matched_oracle();
    let runs = findings.runs.len();
    let intervals = match runs {
        1 => "One run: there are no intervals; several runs have them.".into(),
        _ => format!("Means over {runs} runs with 95 % intervals; differences are paired by run."),
    };
    let [soft, strict, recommended] = findings.sentences();
    vec![
        Block::Facts(vec![
            fact(
                signed(findings.soft_difference()),
                "published metric, decision-focused minus two-stage".into(),
            ),
            fact(signed(findings.strict_difference()), "the same two, deployed".into()),
            fact(
                share(Method::DecisionFocusedRecommended),
                "of the way from random to oracle, recommended".into(),
            ),
            fact(
                format!("{} of {}", domain.budget, domain.arms),
                format!("arms pulled at each of {} steps", domain.horizon),
            ),
        ]),
        text(soft),
        text(strict),
        text(recommended),
        chart(
            gains(findings),
            format!(
                "Reward of {} steps above that of random pulls. {intervals} Left, the soft policy judged from the log, as in the published experiments; right, the strict policy on the true transitions, as a programme would deploy it.",
                domain.horizon
            ),
        ),
        Block::Table(as_published(findings)),
        Block::Table(as_deployed(findings)),
        Block::Note(format!(
            "The oracle has indices at discount 0.99, as the published methods do. At {}, the discount of the recommended profile (1 − 1/{h}), it would stand at {} %: {h} steps are played, and an index for a longer game is not the best for them.",
            fixed(Method::TwoStageRecommended.index_discount(domain.horizon), 3),
            fixed(matched.value, 1),
            h = domain.horizon
        )),
    ]
}

fn row(method: Method, cells: Vec<Interval>) -> Row {
    // a number that is the same in all runs by what it is has no interval
    let bare = |x: Interval| if x.high - x.low < 1e-9 { Interval::bare(x.value) } else { x };
    let cells = cells.into_iter().map(|x| Cell::Estimate(bare(x)));
    let cells = std::iter::once(Cell::text(method.words())).chain(cells);
    match method {
        Method::DecisionFocusedRecommended => Row::highlighted(cells.collect()),
        _ => Row::new(cells.collect()),
    }
}

fn as_published(findings: &Findings<'_>) -> Table {
    let metrics = [Metric::Loss, Metric::Is, Metric::Simulated];
    let line = |method: &Method| row(*method, metrics.map(|metric| findings.worth(*method, metric)).into());
    Table {
        caption: "As published: predictive loss, and the soft policy judged from the log and on estimated transitions".into(),
        columns: vec![
            Column::text("method"),
            Column::number("loss", 1),
            Column::number("soft, is", 1),
            Column::number("soft, simulated", 1),
        ],
        rows: METHODS.iter().map(line).collect(),
    }
}

fn as_deployed(findings: &Findings<'_>) -> Table {
    let line = |method: &Method| {
        let is_recommended = Method::RECOMMENDED.contains(method);
        let base = if is_recommended { Method::TwoStageRecommended } else { Method::TwoStage };
        let difference = match method {
            Method::DecisionFocused | Method::DecisionFocusedRecommended => {
                findings.difference(*method, base, Metric::StrictTrue)
            }
            _ => Interval::bare(f64::NAN),
        };
        row(*method, vec![findings.worth(*method, Metric::StrictTrue), findings.share(*method), difference])
    };
    Table {
        caption: "As deployed: the strict policy on the true transitions; differences are to two-stage of the same profile".into(),
        columns: vec![
            Column::text("method"),
            Column::number("value", 1),
            Column::number("% of way to oracle", 1),
            Column::number("minus two-stage", 1),
        ],
        rows: METHODS.iter().map(line).collect(),
    }
}

fn whom(plan: &Plan) -> Vec<Block> {
    let instance = plan.plan.first().map_or("", |row| &row.instance);
    let line = |row: &restive_pipeline::PlannedArm| {
        let seen = row.place.cells().into_iter().map(|cell| cell.map_or(f64::NAN, f64::from));
        let numbers = seen.chain([row.worth.value(), row.rank as f64, row.inclusion]);
        Row::new(std::iter::once(Cell::text(&row.arm)).chain(numbers.map(Cell::Number)).collect())
    };
    let table = Table {
        caption: format!("Instance {instance} of the first run: {} arms to pull", plan.plan.len()),
        columns: (std::iter::once(Column::text("arm")))
            .chain(plan.columns().iter().map(|name| Column::number(name.replace('_', " "), 0)))
            .chain([("index", 3), ("rank", 0), ("probability", 3)].map(|(name, n)| Column::number(name, n)))
            .collect(),
        rows: plan.plan.iter().map(line).collect(),
    };
    vec![
        text(
            "This is what a programme would take home: the arms whose latest state has the highest index, by the recommended decision-focused training. A probability below 1 means that arms tie for the last places and chance decides.",
        ),
        Block::Table(table),
    ]
}

fn again(command: &str, out: &Path) -> Vec<Block> {
    let file = |name: &str| out.join(name).display().to_string();
    vec![
        text("The same numbers, and what to do next with the study and the models that lie beside this page:"),
        Block::Command(format!(
            "{command} --force\nrestive plan {} {study}\nrestive evaluate {} {study}\nrestive train {study} --objective decision-focused --preset strong --out strong",
            file("decision-focused"), file("two-stage"), study = file("study")
        )),
        Block::Note("These arms are synthetic. On them the truth is known; in a programme it is not, and values come from logs, with wider intervals and with assumptions that the program names.".into()),
    ]
}
