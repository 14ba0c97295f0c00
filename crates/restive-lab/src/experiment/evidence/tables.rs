//! What the numbers of all worlds and logs say, as tables of the page and for the terminal.
//!
//! Logs of a world share its people and its models, so whatever is a share of logs has its standard error over the worlds' means.

use super::rankings::RANKINGS;
use crate::experiment::page::{aligned, with_error};
use crate::experiment::rows::Row;
use crate::{Method, Metric, Regime};
use restive_report::number::fixed;
use restive_report::table::{Cell, Column, Row as Line, Table};
use std::collections::BTreeMap;

/// Half the width of a 95 % interval in standard errors.
const REACH: f64 = 1.96;
/// What is called significant.
const LEVEL: f64 = 0.05;
/// Two rankings that truly are so far apart in every group should be put in the right order.
const APART: f64 = 10.0;

/// What a log says of a ranking, and the truth.
#[derive(Debug, Clone, Default)]
pub(super) struct One {
    world: usize,
    log: usize,
    truth: f64,
    truth_error: f64,
    within: f64,
    plan: [f64; 2],
    p: f64,
    redealt: f64,
    objected: f64,
    calls: f64,
    groups: f64,
    /// less others: the difference and its standard error
    less: Vec<(Method, [f64; 2])>,
}

impl One {
    pub(super) fn is_covered(&self) -> bool {
        self.holds(self.truth)
    }

    fn holds(&self, value: f64) -> bool {
        (self.plan[0] - value).abs() <= REACH * self.plan[1]
    }

    fn less_mut(&mut self, other: Method) -> &mut [f64; 2] {
        let place = self.less.iter().position(|(method, _)| *method == other).unwrap_or_else(|| {
            self.less.push((other, [f64::NAN; 2]));
            self.less.len() - 1
        });
        &mut self.less[place].1
    }
}

/// All logs of a ranking.
pub(super) struct OfRanking {
    pub(super) method: Method,
    all: Vec<One>,
}

/// All rankings of a regime.
pub(super) struct Answers {
    pub(super) regime: Regime,
    rankings: Vec<OfRanking>,
}

impl OfRanking {
    /// The mean of each world, of logs that have a number.
    pub(super) fn by_world(&self, value: impl Fn(&One) -> f64) -> Vec<f64> {
        let mut worlds: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for one in &self.all {
            let value = value(one);
            if !value.is_nan() {
                let (sum, logs) = worlds.entry(one.world).or_default();
                (*sum, *logs) = (*sum + value, *logs + 1.0);
            }
        }
        worlds.into_values().map(|(sum, logs)| sum / logs).collect()
    }

    fn mean(&self, value: impl Fn(&One) -> f64) -> f64 {
        average(&self.by_world(value))
    }

    /// A share of logs with its standard error over worlds; a dash where there is none.
    fn share(&self, holds: impl Fn(&One) -> Option<bool>) -> String {
        let number = |one: &One| holds(one).map_or(f64::NAN, |holds| f64::from(u8::from(holds)));
        with_error(&self.by_world(number), 3)
    }

    fn less_than(&self, p: fn(&One) -> f64) -> String {
        self.share(|one| (!p(one).is_nan()).then(|| p(one) <= LEVEL))
    }
}

impl Answers {
    pub(super) fn of(rows: &[Row], regime: Regime) -> Self {
        let mut rankings: Vec<OfRanking> = Vec::new();
        let mut found: BTreeMap<(usize, usize, usize), One> = BTreeMap::new();
        let places = |method| RANKINGS.iter().position(|ranking| *ranking == method);
        for row in rows.iter().filter(|row| row.key.regime == regime) {
            let (Some(place), log, value) = (places(row.key.method), row.key.at as usize, row.value) else {
                continue;
            };
            let one = found.entry((place, row.run, log)).or_insert_with(|| One {
                world: row.run,
                log,
                ..One::default()
            });
            match row.key.metric {
                Metric::Truth => one.truth = value,
                Metric::TruthError => one.truth_error = value,
                Metric::TruthWithin => one.within = value,
                Metric::Plan => one.plan[0] = value,
                Metric::PlanError => one.plan[1] = value,
                Metric::PNormal => one.p = value,
                Metric::PRedealt => one.redealt = value,
                Metric::Objected => one.objected = value,
                Metric::Calls => one.calls = value,
                Metric::Groups => one.groups = value,
                Metric::Less(other) => one.less_mut(other)[0] = value,
                Metric::LessError(other) => one.less_mut(other)[1] = value,
                _ => (),
            }
        }
        for ((place, ..), one) in found {
            match rankings.last_mut().filter(|of| of.method == RANKINGS[place]) {
                Some(of) => of.all.push(one),
                None => rankings.push(OfRanking { method: RANKINGS[place], all: vec![one] }),
            }
        }
        Self { regime, rankings }
    }

    pub(super) fn ranking(&self, method: Method) -> Option<&OfRanking> {
        self.rankings.iter().find(|of| of.method == method)
    }

    /// Pairs of rankings on a log: the difference that is said, its standard error, the true one; by world.
    fn pairs(&self) -> Vec<(usize, [f64; 3])> {
        let mut pairs = Vec::new();
        for of in &self.rankings {
            for one in &of.all {
                for (other, [value, error]) in &one.less {
                    let its = self.ranking(*other).into_iter().flat_map(|of| &of.all);
                    let same = its.into_iter().find(|its| (its.world, its.log) == (one.world, one.log));
                    pairs.extend(same.map(|its| (one.world, [*value, *error, one.truth - its.truth])));
                }
            }
        }
        pairs
    }

    /// Of pairs that truly are further apart than that: how many are put in the right order, with the standard error over worlds, and how
    /// many there are.
    fn ordered(&self, least: f64) -> (String, usize) {
        let pairs = self.pairs();
        let apart = pairs.iter().filter(|(_, [.., truly])| truly.abs() > least);
        let right =
            apart.map(|(world, [value, _, truly])| (*world, f64::from(u8::from(value * truly > 0.0))));
        let right: Vec<_> = right.collect();
        (with_error(&means(&right), 3), right.len())
    }

    /// How often the interval of a difference holds the true one.
    fn differences_covered(&self) -> String {
        let covered = |(world, [value, error, truly]): (usize, [f64; 3])| {
            (world, f64::from(u8::from((value - truly).abs() <= REACH * error)))
        };
        with_error(&means(&self.pairs().into_iter().map(covered).collect::<Vec<_>>()), 3)
    }

    /// Judged groups.
    fn groups(&self) -> f64 {
        average(&self.rankings.iter().map(|of| of.mean(|one| one.groups)).collect::<Vec<_>>())
    }

    /// The mean standard error of the plans.
    fn error(&self) -> f64 {
        average(&self.rankings.iter().map(|of| of.mean(|one| one.plan[1])).collect::<Vec<_>>())
    }
}

/// The mean of each world.
fn means(values: &[(usize, f64)]) -> Vec<f64> {
    let mut worlds: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for (world, value) in values {
        let (sum, count) = worlds.entry(*world).or_default();
        (*sum, *count) = (*sum + value, *count + 1.0);
    }
    worlds.into_values().map(|(sum, count)| sum / count).collect()
}

fn average(values: &[f64]) -> f64 {
    if values.is_empty() { f64::NAN } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The columns of a ranking, for the page and the terminal.
const COLUMNS: [&str; 12] = [
    "worlds",
    "calls",
    "true",
    "within",
    "plan",
    "error",
    "covered",
    "within covered",
    "p < .05",
    "dealt anew",
    "refused",
    "noise",
];

fn cells(of: &OfRanking) -> [String; 12] {
    let noise = of.mean(|one| one.truth_error / one.plan[1]);
    [
        of.by_world(|_| 0.0).len().to_string(),
        fixed(of.mean(|one| one.calls), 0),
        fixed(of.mean(|one| one.truth), 1),
        fixed(of.mean(|one| one.within), 1),
        fixed(of.mean(|one| one.plan[0]), 1),
        fixed(of.mean(|one| one.plan[1]), 1),
        of.share(|one| Some(one.is_covered())),
        of.share(|one| Some(one.holds(one.within))),
        of.less_than(|one| one.p),
        of.less_than(|one| one.redealt),
        of.share(|one| Some(one.objected > 0.0)),
        fixed(noise, 3),
    ]
}

/// All of them, in the order of the page.
pub(super) fn tables(answers: &[Answers]) -> Vec<Table> {
    let mut tables = vec![rankings(answers), pairs(answers)];
    tables.extend(by_size(answers));
    tables.push(tenths(answers));
    tables
}

/// Programmes that differ in the number of their people alone.
const SIZES: [(Regime, &str); 3] =
    [(Regime::LotThird, "a third"), (Regime::Lot, "published size"), (Regime::LotTriple, "three times")];

/// How errors and power go with the number of people; none where there are no such regimes.
fn by_size(answers: &[Answers]) -> Option<Table> {
    let of = |regime| answers.iter().find(|answers| answers.regime == regime);
    let sizes: Vec<_> = SIZES.iter().filter_map(|(regime, name)| Some((of(*regime)?, name))).collect();
    if sizes.len() < 2 {
        return None;
    }
    let mut columns = vec![Column::text("ranking")];
    for (_, name) in &sizes {
        columns.push(Column::text(format!("{name}: plan ± error of a log, a group (true)")));
        columns.push(Column::text(format!("{name}: p < .05")));
    }
    let line = |method: &Method| {
        let mut cells = vec![Cell::text(method.name())];
        for (answers, _) in &sizes {
            let Some(of) = answers.ranking(*method) else {
                cells.extend(["–", "–"].map(Cell::text));
                continue;
            };
            let [plan, error, truth] = [
                of.mean(|one| one.plan[0] / one.groups),
                of.mean(|one| one.plan[1] / one.groups),
                of.mean(|one| one.truth / one.groups),
            ]
            .map(|number| fixed(number, 1));
            cells.push(Cell::text(format!("{plan} ± {error} ({truth})")));
            cells.push(Cell::text(of.less_than(|one| one.p)));
        }
        Line::new(cells)
    };
    Some(Table {
        caption: "By the number of people, calls in proportion: what a plan brings to a group, and how often it is found".into(),
        columns,
        rows: RANKINGS.iter().map(line).collect(),
    })
}

fn rankings(answers: &[Answers]) -> Table {
    let mut columns = vec![Column::text("regime"), Column::text("ranking")];
    columns.extend(COLUMNS.map(Column::text));
    let line = |answers: &Answers, of: &OfRanking| {
        let names = [answers.regime.name(), of.method.name()].map(Cell::text);
        Line::new(names.into_iter().chain(cells(of).map(Cell::text)).collect())
    };
    let lines = answers.iter().flat_map(|answers| answers.rankings.iter().map(move |of| line(answers, of)));
    Table {
        caption: "What one log says of a ranking, and the truth: means over worlds and logs. Within: the part of the truth that \
                  comes of whom is called among people in the same state, which is all that the evidence looks at; noise: that of the truth, in standard errors of the \
                  plan"
            .into(),
        columns,
        rows: lines.collect(),
    }
}

fn pairs(answers: &[Answers]) -> Table {
    let columns =
        ["regime", "apart by > 10 a group", "pairs", "apart by > 1 error", "pairs", "differences covered"];
    let line = |answers: &Answers| {
        let cells = pair_cells(answers).map(Cell::text);
        Line::new([Cell::text(answers.regime.name())].into_iter().chain(cells).collect())
    };
    Table {
        caption: "Two rankings on one log: the share put in the right order among pairs that truly are so far apart (error: the mean standard \
                  error of a plan), and of 95 % intervals of the difference of gains that hold the true difference"
            .into(),
        columns: columns.map(Column::text).into(),
        rows: answers.iter().map(line).collect(),
    }
}

fn pair_cells(answers: &Answers) -> [String; 5] {
    let ((ten, of_ten), (error, of_error)) =
        (answers.ordered(APART * answers.groups()), answers.ordered(answers.error()));
    [ten, of_ten.to_string(), error, of_error.to_string(), answers.differences_covered()]
}

/// Shares of p-values in tenths: where a ranking knows nobody, or calls do nothing.
fn tenths(answers: &[Answers]) -> Table {
    let mut columns = vec![Column::text("regime"), Column::text("p"), Column::number("logs", 0)];
    columns.extend((0..10).map(|k| Column::number(format!("≤ .{}", k + 1).replace(".10", "1"), 3)));
    let mut lines = Vec::new();
    for answers in answers {
        for (name, shares, count) in shares_of_p(answers) {
            let mut cells = vec![Cell::text(answers.regime.name()), Cell::text(name), Cell::Number(count)];
            cells.extend(shares.map(Cell::Number));
            lines.push(Line::new(cells));
        }
    }
    Table {
        caption: "p-values of a ranking that knows nobody, and of all rankings where calls do nothing: the share in each tenth, which should be 0.1"
            .into(),
        columns,
        rows: lines,
    }
}

fn shares_of_p(answers: &Answers) -> Vec<(&'static str, [f64; 10], f64)> {
    let is_null = |of: &&OfRanking| of.method == Method::WrongPeople || answers.regime == Regime::NoEffect;
    let null: Vec<&One> = answers.rankings.iter().filter(is_null).flat_map(|of| &of.all).collect();
    let mut found = Vec::new();
    for (k, name) in ["normal", "dealt anew"].into_iter().enumerate() {
        let all: Vec<f64> = null.iter().map(|one| [one.p, one.redealt][k]).filter(|p| !p.is_nan()).collect();
        if all.is_empty() {
            continue;
        }
        let mut shares = [0.0; 10];
        for p in &all {
            // of p dealt anew, .01 to .10 are the first tenth
            shares[((10.0 * p - 1e-9).ceil().max(1.0) as usize - 1).min(9)] += 1.0 / all.len() as f64;
        }
        found.push((name, shares, all.len() as f64));
    }
    found
}

/// For the terminal.
pub(super) fn words(answers: &[Answers]) -> String {
    let mut text = aligned("ranking", 34, COLUMNS.map(String::from), 15) + "\n";
    for answers in answers {
        for of in &answers.rankings {
            let name = format!("{} {}", answers.regime.name(), of.method.name());
            text += &(aligned(&name, 34, cells(of), 15) + "\n");
        }
    }
    let header = ["> 10 a group", "pairs", "> 1 error apart", "pairs", "covered"];
    text += &("\n".to_string() + &aligned("two rankings in order", 34, header.map(String::from), 16) + "\n");
    for answers in answers {
        text += &(aligned(answers.regime.name(), 34, pair_cells(answers), 16) + "\n");
    }
    text += "\np of rankings that know nobody, share in each tenth\n";
    for answers in answers {
        for (name, shares, _) in shares_of_p(answers) {
            let name = format!("{} {name}", answers.regime.name());
            text += &(aligned(&name, 34, shares.map(|share| fixed(share, 3)), 8) + "\n");
        }
    }
    text
}
