//! The section of the report that tells why the published metric misleads, with the numbers of the runs at hand.

use super::charts::{indices, reach, shifts};
use super::findings::{Findings, Standing};
use super::page::{chart, text};
use crate::trial::PUBLISHED_TEMPERATURE;
use crate::{Method, Metric};
use restive::evaluation::moments;
use restive_pipeline::words::grouped;
use restive_report::number::fixed;
use restive_report::table::{Cell, Column, Row};
use restive_report::{Block, Table};

pub(crate) fn why(findings: &Findings<'_>) -> Vec<Block> {
    let mut blocks = vec![
        text(
            "The soft policy pulls an arm with a probability that rises with its index w; the temperature says how steeply. The published experiments take the temperature from the largest transport cost among all indices, 0.1 · max(w², (w + 1)²)/2. That depends on where the indices lie, not only on how they rank the arms. Add one constant to all of them: the ranking stays, so every pull of the strict policy stays; but the soft policy becomes softer or stricter, and the published metric moves.",
        ),
        constants(findings),
    ];
    blocks.extend(consequence(findings));
    blocks.push(chart(
        indices(findings),
        "All arms and states of the first test instance of the first run; two-stage and decision-focused as published. The tick below each is its median.",
    ));
    blocks.push(Block::Table(temperatures(findings)));
    blocks.extend(lowered(findings));
    blocks.push(text(format!(
        "The recommended training does without: its temperature is a share of the spread of the indices, so that neither shifting nor stretching them changes the policy; its value knows the competition for the budget; and it goes through the decision only where folds of the training instances say that this pays. Here they answered {}.",
        findings.answers()
    )));
    blocks
}

/// How many strict decisions were compared, and how many a constant changed.
fn decisions(findings: &Findings<'_>) -> (usize, usize) {
    let domain = findings.domain;
    let shifted = || findings.runs.iter().flat_map(|run| &run.shifted);
    // every decision of the logs of the test instances
    let decisions = findings.trials * domain.trajectories * domain.horizon * domain.arms;
    (decisions * shifted().count(), shifted().map(|shifted| shifted.changed).sum())
}

fn constants(findings: &Findings<'_>) -> Block {
    let [two_stage, through] = Method::PROFILE.map(|method| reach(findings, method));
    let (compared, changed) = decisions(findings);
    let caption = format!(
        "The metric of two-stage learning moves between {} and {}, that of decision-focused learning between {} and {}. Of {} strict decisions compared, {} changed.",
        fixed(two_stage.low, 1),
        fixed(two_stage.high, 1),
        fixed(through.low, 1),
        fixed(through.high, 1),
        grouped(compared as u64),
        grouped(changed as u64)
    );
    chart(shifts(findings), caption)
}

/// What follows, where it does.
fn consequence(findings: &Findings<'_>) -> Option<Block> {
    let [two_stage, through] = Method::PROFILE.map(|method| reach(findings, method));
    let above = findings.difference(Method::DecisionFocused, Method::Oracle, Metric::Is);
    let is_above = Standing::new(above) == Standing::Ahead;
    let is_reached = two_stage.high >= through.value && decisions(findings).1 == 0;
    let mut words = String::from(
        "So a training that may place its indices as it likes can win the metric without ranking arms any better.",
    );
    if is_reached {
        words += &format!(
            " A constant alone lifts two-stage learning from {} to {} with not one decision changed; decision-focused learning as published has {}.",
            fixed(two_stage.value, 1),
            fixed(two_stage.high, 1),
            fixed(through.value, 1)
        );
    }
    if is_above {
        words += &format!(
            " Decision-focused learning even scores {} more than the true transitions themselves: better knowledge of the arms cannot be the reason.",
            fixed(above.value, 1)
        );
    }
    (is_reached || is_above).then(|| text(words))
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn temperatures(findings: &Findings<'_>) -> Table {
    let line = |(method, numbers): &(Method, Vec<f64>)| {
        let (mean, variance) = moments(numbers);
        let cells = [mean, variance.sqrt(), largest(numbers), PUBLISHED_TEMPERATURE.resolve(numbers)];
        Row::new(std::iter::once(Cell::text(method.words())).chain(cells.map(Cell::Number)).collect())
    };
    Table {
        caption: "The same indices in numbers, and the temperature that the published rule makes of them"
            .into(),
        columns: vec![
            Column::text("method"),
            Column::number("mean", 2),
            Column::number("spread", 2),
            Column::number("largest", 2),
            Column::number("temperature", 2),
        ],
        rows: findings.index.iter().map(line).collect(),
    }
}

/// That training has made the soft policy stricter, where it has.
fn lowered(findings: &Findings<'_>) -> Option<Block> {
    let [two_stage, through] = Method::PROFILE.map(|method| {
        let (_, numbers) = findings.index.iter().find(|(found, _)| *found == method).expect("both are shown");
        (largest(numbers), PUBLISHED_TEMPERATURE.resolve(numbers))
    });
    (through.0 < two_stage.0 && through.1 < two_stage.1).then(|| {
        text(format!(
            "Here decision-focused training has held its largest index down, {} instead of {}, and with it the temperature, {} instead of {}: the soft policy became stricter, which the strict policy always was.",
            fixed(through.0, 2),
            fixed(two_stage.0, 2),
            fixed(through.1, 2),
            fixed(two_stage.1, 2)
        ))
    })
}
