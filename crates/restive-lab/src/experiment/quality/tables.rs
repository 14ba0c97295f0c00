//! The tables of the page, and those for the terminal.

use super::default::{BASES, FORCED, RECORDS, RULES};
use super::difference::{
    DEFAULT, Difference, HISTORIES, LEVEL, PARTS, SINGLES, TRAININGS, against_best, over, shares,
};
use crate::experiment::page::{aligned, p_value, with_error};
use crate::experiment::rows::{Key, Row, values};
use crate::{Method, Metric, Regime};
use restive::training::Choice;
use restive_report::table::{Cell, Column, Row as Line, Table};

/// Methods, and what they are called above narrow columns.
const TRAINED: [(Method, &str); 9] = [
    (Method::TwoStage, "two-stage, published"),
    (Method::TwoStageConverged, "two-stage, converged"),
    (Method::TwoStageRecommended, "two-stage, converged, 1 − 1/H"),
    (Method::DecisionFocused, "decision-focused, published"),
    (Method::DecisionFocusedFluid, "fluid"),
    (Method::DecisionFocusedRecommended, "recommended"),
    (Method::DecisionFocusedStrong, "strong"),
    (Method::DecisionFocusedControl, "control"),
    (Method::OracleMatched, "oracle, 1 − 1/H"),
];

/// The default and what it is made of.
const PLANNED: [(Method, &str); 6] = [
    (Method::TwoStageHorizon, "two-stage, horizon"),
    (Method::DecisionFocusedHorizon, "recommended, horizon"),
    (Method::TwoStageRecommended, "two-stage, 1 − 1/H"),
    (Method::Auto, "auto, 1 − 1/H"),
    (Method::AutoHorizon, "auto, horizon"),
    (Method::OracleHorizon, "oracle, horizon"),
];

/// All of them, in the order of the page.
pub(super) fn tables(rows: &[Row], regimes: &[Regime]) -> [Table; 5] {
    [
        trained(rows, regimes),
        planned(rows, regimes),
        best_singles(rows, regimes),
        records(rows, regimes),
        differences(rows, regimes),
    ]
}

fn trained(rows: &[Row], regimes: &[Regime]) -> Table {
    let choices = Choice::ALL.map(Choice::name);
    let chosen = |regime| chosen(rows, regime, Method::DecisionFocusedRecommended, Metric::Choice, &choices);
    let columns = TRAINED.map(|(method, name)| (method, 0, name));
    let caption = "% of the way from random to oracle, ± standard error";
    of_methods(rows, regimes, caption, &columns, ("chosen", &chosen))
}

fn planned(rows: &[Row], regimes: &[Regime]) -> Table {
    let chosen = |regime| chosen(rows, regime, Method::Auto, Metric::Base, &BASES);
    let columns = PLANNED.map(|(method, name)| (method, 0, name));
    let caption = "One predictor for everything, and plans for the horizon: % of the way, ± standard error";
    of_methods(rows, regimes, caption, &columns, ("chosen by auto", &chosen))
}

fn records(rows: &[Row], regimes: &[Regime]) -> Table {
    let rule = |method, regime| chosen(rows, regime, method, Metric::Rule, &RULES);
    let chosen = |regime| {
        let [gated, forced] = [DEFAULT, Method::AutoHistoryForced].map(|method| rule(method, regime));
        format!("{gated} (forced: {forced})")
    };
    let columns = [
        (DEFAULT, 0, "no record"),
        (DEFAULT, RECORDS[0], "9 steps"),
        (DEFAULT, RECORDS[1], "27 steps"),
        (Method::AutoHistoryForced, FORCED, "27 steps, forced"),
    ];
    let caption = "auto, planned for the horizon, with the arms' own records: % of the way, ± standard error";
    of_methods(rows, regimes, caption, &columns, ("rule", &chosen))
}

fn of_methods(
    rows: &[Row],
    regimes: &[Regime],
    caption: &str,
    methods: &[(Method, usize, &str)],
    (last, words): (&str, &dyn Fn(Regime) -> String),
) -> Table {
    let mut columns = vec![Column::text("regime")];
    columns.extend(methods.iter().map(|(_, _, name)| Column::text(*name)));
    columns.push(Column::text(last));
    let line = |regime: &Regime| {
        let share = |(method, history, _): &(Method, usize, &str)| {
            Cell::text(with_error(&shares(rows, *regime, *method, *history), 1))
        };
        let mut cells = vec![Cell::text(regime.name())];
        cells.extend(methods.iter().map(share));
        cells.push(Cell::text(words(*regime)));
        Line::new(cells)
    };
    Table { caption: caption.into(), columns, rows: regimes.iter().map(line).collect() }
}

/// How often something was chosen, by its name.
fn chosen(rows: &[Row], regime: Regime, method: Method, metric: Metric, names: &[&str]) -> String {
    let found = values(rows, Key::new(regime, method, metric).at(0.0));
    let count = |k: usize| found.iter().filter(|number| **number == k as f64).count();
    let counts = names.iter().enumerate().map(|(k, name)| (count(k), name)).filter(|(count, _)| *count > 0);
    let words: Vec<String> = counts.map(|(count, name)| format!("{name} {count}")).collect();
    if words.is_empty() { "–".into() } else { words.join(", ") }
}

fn best_singles(rows: &[Row], regimes: &[Regime]) -> Table {
    let mut columns = vec![Column::text("regime")];
    columns.extend(SINGLES.map(|(_, name)| Column::text(name)));
    let more = ["default", "best single", "default − best single", "p (t)", "p (Holm)", "verdict"];
    columns.extend(more.map(Column::text));
    let line = |(name, difference): (&'static str, Difference)| {
        let share = |method: Method| Cell::text(with_error(&shares(rows, difference.regime, method, 0), 1));
        let mut cells = vec![Cell::text(difference.regime.name())];
        cells.extend(SINGLES.map(|(method, _)| share(method)));
        let [t, _] = difference.p();
        let verdict = match difference.corrected_direction() {
            1 => "better",
            -1 => "worse",
            _ => "no difference shown",
        };
        cells.extend([share(DEFAULT), Cell::text(name), Cell::text(with_error(&difference.points(), 2)), t]);
        cells.extend([Cell::text(p_value(Some(difference.holm))), Cell::text(verdict)]);
        if difference.corrected_direction() == 0 { Line::new(cells) } else { Line::highlighted(cells) }
    };
    Table {
        caption: format!(
            "Default training and default plan against the best single predictor with a Whittle plan, which is picked with hindsight, by data \
             set; marked where p < {LEVEL} after Holm's correction over all of them"
        ),
        columns,
        rows: against_best(rows, regimes).into_iter().map(line).collect(),
    }
}

fn differences(rows: &[Row], regimes: &[Regime]) -> Table {
    let all = TRAININGS.into_iter().chain(HISTORIES.map(|(_, comparison)| comparison)).chain(PARTS);
    let all: Vec<_> = all.map(|comparison| (comparison.name, over(rows, regimes, comparison))).collect();
    let mut lines = Vec::new();
    for regime in regimes {
        for (name, found) in &all {
            let Some(difference) = found.iter().find(|difference| difference.regime == *regime) else {
                continue;
            };
            let points = with_error(&difference.points(), 2);
            let mut cells: Vec<Cell> = [regime.name(), name, &points].map(Cell::text).into();
            cells.extend(difference.p());
            cells.push(Cell::text(p_value(Some(difference.holm))));
            lines.push(if difference.direction() == 0 { Line::new(cells) } else { Line::highlighted(cells) });
        }
    }
    let columns = ["regime", "difference", "points ± standard error", "p (t)", "p (Wilcoxon)", "p (t, Holm)"];
    Table {
        caption: "Paired differences, indices at discount 1 − 1/H; marked where p (t) < 0.05. Holm's correction is over the regimes in \
                  which the same difference is asked for"
            .into(),
        columns: columns.map(Column::text).into(),
        rows: lines,
    }
}

/// For the terminal.
pub(super) fn words(rows: &[Row], regimes: &[Regime]) -> String {
    let shown = [TRAINED[0], TRAINED[1], TRAINED[2], TRAINED[3], TRAINED[4], TRAINED[5], TRAINED[7]];
    let short = ["published", "converged", "1 − 1/H", "DF published", "fluid", "recommended", "control"];
    let header = aligned("% to oracle", 30, short.map(String::from), 14);
    let mut text = format!("{header}{:>20}\n", "recommended − 1−1/H");
    let leads = over(rows, regimes, TRAININGS[0]);
    for regime in regimes {
        let cells = shown.map(|(method, _)| with_error(&shares(rows, *regime, method, 0), 1));
        let lead = leads.iter().find(|difference| difference.regime == *regime);
        let line = aligned(regime.name(), 30, cells, 14);
        text += &format!("{line}{:>20}\n", lead.map_or("–".into(), |lead| with_error(&lead.points(), 2)));
    }
    let short = ["1 − 1/H", "auto", "auto, horizon", "9 steps", "27 steps", "oracle, hor."];
    let header = aligned("% to oracle", 30, short.map(String::from), 14);
    text += &format!("\n{header}{:>30}{:>10}\n", "auto, horizon − best single", "p (Holm)");
    let best = against_best(rows, regimes);
    for regime in regimes {
        let cells = [
            (Method::TwoStageRecommended, 0),
            (Method::Auto, 0),
            (DEFAULT, 0),
            (DEFAULT, RECORDS[0]),
            (DEFAULT, RECORDS[1]),
            (Method::OracleHorizon, 0),
        ];
        let cells = cells.map(|(method, steps)| with_error(&shares(rows, *regime, method, steps), 1));
        let line = aligned(regime.name(), 30, cells, 14);
        let lead = best.iter().find(|(_, difference)| difference.regime == *regime);
        let (lead, p) = lead.map_or(("–".into(), "–".into()), |(name, difference)| {
            (format!("{} ({name})", with_error(&difference.points(), 2)), p_value(Some(difference.holm)))
        });
        text += &format!("{line}{lead:>30}{p:>10}\n");
    }
    text
}
