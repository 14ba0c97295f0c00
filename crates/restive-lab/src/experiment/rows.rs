//! Raw results: one number per row, in tables that other tools can read.
//!
//! | column | |
//! |---|---|
//! | `domain`, `run`, `seed` | where the number comes from; `domain` is a [`Regime`] |
//! | `method`, `metric` | whose it is, and of what |
//! | `epoch`, `arms`, … | where on an axis it stands, in tables that have one |
//! | `value` | the number |

use super::units::Unit;
use crate::{Method, Metric, Regime};
use anyhow::{Context, bail};
use restive_tables::{Cells, recognise_table, write_table};
use std::path::Path;

/// What a number is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Key {
    pub(crate) regime: Regime,
    pub(crate) method: Method,
    pub(crate) metric: Metric,
    /// where on the table's axis; NaN: nowhere
    pub(crate) at: f64,
}

impl Key {
    pub(crate) fn new(regime: Regime, method: Method, metric: Metric) -> Self {
        Self { regime, method, metric, at: f64::NAN }
    }

    pub(crate) fn at(self, at: f64) -> Self {
        Self { at, ..self }
    }

    pub(crate) fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    fn is_series_of(&self, row: &Row) -> bool {
        let key = &row.key;
        (key.regime, key.method, key.metric) == (self.regime, self.method, self.metric)
    }

    fn is_of(&self, row: &Row) -> bool {
        self.is_series_of(row) && (row.key.at == self.at || row.key.at.is_nan() && self.at.is_nan())
    }
}

/// One number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    pub(crate) key: Key,
    pub(crate) run: usize,
    pub(crate) seed: u64,
    pub(crate) value: f64,
}

/// The rows of a unit in the making.
pub(crate) struct Rows {
    regime: Regime,
    run: usize,
    seed: u64,
    rows: Vec<Row>,
}

impl Rows {
    pub(crate) fn new(unit: &Unit, seed: u64) -> Self {
        Self { regime: unit.regime, run: unit.run, seed, rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, method: Method, metric: Metric, at: f64, value: f64) {
        let key = Key { regime: self.regime, method, metric, at };
        self.rows.push(Row { key, run: self.run, seed: self.seed, value });
    }

    pub(crate) fn finish(self) -> Vec<Row> {
        self.rows
    }
}

/// How many runs the rows are of.
pub(crate) fn runs(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.run + 1).max().unwrap_or(0)
}

/// The values of a key, in the order of the runs.
pub(crate) fn values(rows: &[Row], key: Key) -> Vec<f64> {
    rows.iter().filter(|row| key.is_of(row)).map(|row| row.value).collect()
}

/// The values of several keys in the runs that have all of them.
pub(crate) fn paired<const N: usize>(rows: &[Row], keys: [Key; N]) -> [Vec<f64>; N] {
    let mut all = [const { Vec::new() }; N];
    for row in rows.iter().filter(|row| keys[0].is_of(row)) {
        let same_run = |key: Key| rows.iter().find(|other| other.run == row.run && key.is_of(other));
        let found = keys.map(same_run);
        if found.iter().all(Option::is_some) {
            found.iter().flatten().zip(&mut all).for_each(|(row, values)| values.push(row.value));
        }
    }
    all
}

/// Where on the axis a method has values, rising; `key` says whose they are, wherever it stands.
pub(crate) fn places(rows: &[Row], key: Key) -> Vec<f64> {
    let mut places: Vec<f64> = rows
        .iter()
        .filter(|row| key.is_series_of(row))
        .map(|row| row.key.at)
        .filter(|at| !at.is_nan())
        .collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// What there is of something, in the order in which it first comes.
pub(crate) fn distinct<T: PartialEq>(rows: &[Row], part: impl Fn(&Key) -> T) -> Vec<T> {
    let mut found = Vec::new();
    for row in rows {
        let part = part(&row.key);
        if !found.contains(&part) {
            found.push(part);
        }
    }
    found
}

const COLUMNS: [&str; 5] = ["domain", "run", "seed", "method", "metric"];

/// Refuses a table that holds no results. An empty file, which is what a power cut may leave of one, holds nothing of anybody.
pub(crate) fn recognise(path: &Path) -> restive_tables::Result<()> {
    if std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0) {
        return Ok(());
    }
    recognise_table(path, "results", |columns| {
        let rest = columns.strip_prefix(&COLUMNS);
        rest.is_some_and(|rest| matches!(rest, ["value"] | [_, "value"]))
    })
}

/// Writes a table as CSV or Parquet, by the ending, in the place of an earlier one; `axis` names the column of [`Key::at`].
pub(crate) fn write(path: &Path, rows: &[Row], axis: Option<&str>) -> restive_tables::Result<()> {
    let text = |cell: fn(&Row) -> String| Cells::Text(rows.iter().map(cell).collect());
    let number = |cell: fn(&Row) -> f64| Cells::Number(rows.iter().map(cell).collect());
    let mut columns = vec![
        (COLUMNS[0], text(|row| row.key.regime.name().into())),
        (COLUMNS[1], Cells::Whole(rows.iter().map(|row| Some(row.run as i32)).collect())),
        // seeds may have 64 bits
        (COLUMNS[2], text(|row| row.seed.to_string())),
        (COLUMNS[3], text(|row| row.key.method.name().into())),
        (COLUMNS[4], text(|row| row.key.metric.to_string())),
    ];
    columns.extend(axis.map(|axis| (axis, number(|row| row.key.at))));
    columns.push(("value", number(|row| row.value)));
    write_table(path, Some(recognise), columns)
}

/// Reads a CSV table that [`write`] wrote.
pub(crate) fn read(path: &Path, axis: Option<&str>) -> anyhow::Result<Vec<Row>> {
    let file = path.display();
    let mut table = csv::Reader::from_path(path).with_context(|| format!("{file}: cannot read"))?;
    let header: Vec<&str> = COLUMNS.into_iter().chain(axis).chain(["value"]).collect();
    let found = table.headers().with_context(|| format!("{file}: cannot read"))?;
    if found != header {
        let found = found.iter().collect::<Vec<_>>().join(",");
        bail!("{file}, line 1: found columns {found:?}, expected {}", header.join(","));
    }
    let row = |record: csv::StringRecord| -> anyhow::Result<Row> {
        let number = |cell: &str| if cell.is_empty() { Ok(f64::NAN) } else { cell.parse::<f64>() };
        let name = anyhow::Error::msg::<String>;
        let (method, metric) = (record[3].parse().map_err(name)?, record[4].parse().map_err(name)?);
        let at = if axis.is_some() { number(&record[5])? } else { f64::NAN };
        let key = Key { regime: record[0].parse().map_err(name)?, method, metric, at };
        let (run, seed) = (record[1].parse()?, record[2].parse()?);
        Ok(Row { key, run, seed, value: number(&record[record.len() - 1])? })
    };
    let line = |(k, record): (usize, Result<csv::StringRecord, csv::Error>)| {
        let wrong = || format!("{file}, line {}: expected {}", k + 2, header.join(","));
        record.map_err(anyhow::Error::from).and_then(row).with_context(wrong)
    };
    table.records().enumerate().map(line).collect()
}
