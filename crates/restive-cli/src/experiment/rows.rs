//! Raw results: one number per row, in tables that other tools can read.
//!
//! | column | |
//! |---|---|
//! | `domain`, `run`, `seed` | where the number comes from |
//! | `method`, `metric` | whose it is, and of what |
//! | `epoch`, `arms`, … | where on an axis it stands, in tables that have one |
//! | `value` | the number |

use super::units::Unit;
use anyhow::{Context, bail};
use restive_tables::{Cells, write_table};
use std::path::Path;

/// One number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) domain: String,
    pub(crate) run: usize,
    pub(crate) seed: u64,
    pub(crate) method: String,
    pub(crate) metric: String,
    /// where on the table's axis; NaN: nowhere
    pub(crate) at: f64,
    pub(crate) value: f64,
}

/// The rows of a unit in the making.
pub(crate) struct Rows<'a> {
    unit: &'a Unit,
    seed: u64,
    rows: Vec<Row>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(unit: &'a Unit, seed: u64) -> Self {
        Self { unit, seed, rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, method: &str, metric: &str, at: f64, value: f64) {
        self.rows.push(Row {
            domain: self.unit.domain.clone(),
            run: self.unit.run,
            seed: self.seed,
            method: method.into(),
            metric: metric.into(),
            at,
            value,
        });
    }

    pub(crate) fn finish(self) -> Vec<Row> {
        self.rows
    }
}

/// How many runs the rows are of.
pub(crate) fn runs(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.run + 1).max().unwrap_or(0)
}

/// The values of a method by a metric, in the order of the runs.
pub(crate) fn values(rows: &[Row], domain: &str, method: &str, metric: &str) -> Vec<f64> {
    let is_asked = |row: &&Row| row.domain == domain && row.method == method && row.metric == metric;
    rows.iter().filter(is_asked).map(|row| row.value).collect()
}

/// The names in a column, in the order in which they first come.
pub(crate) fn names<'a>(rows: &'a [Row], of: impl Fn(&'a Row) -> &'a str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for row in rows {
        let name = of(row);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

const COLUMNS: [&str; 5] = ["domain", "run", "seed", "method", "metric"];

/// Writes a table as CSV or Parquet, by the ending; `axis` names the column of [`Row::at`].
pub(crate) fn write(path: &Path, rows: &[Row], axis: Option<&str>) -> restive_tables::Result<()> {
    let text = |of: &dyn Fn(&Row) -> String| Cells::Text(rows.iter().map(of).collect());
    let mut columns = vec![
        (COLUMNS[0], text(&|row| row.domain.clone())),
        (COLUMNS[1], Cells::Whole(rows.iter().map(|row| Some(row.run as i32)).collect())),
        // seeds may have 64 bits
        (COLUMNS[2], text(&|row| row.seed.to_string())),
        (COLUMNS[3], text(&|row| row.method.clone())),
        (COLUMNS[4], text(&|row| row.metric.clone())),
    ];
    columns.extend(axis.map(|axis| (axis, Cells::Number(rows.iter().map(|row| row.at).collect()))));
    columns.push(("value", Cells::Number(rows.iter().map(|row| row.value).collect())));
    write_table(path, columns)
}

/// Reads a CSV table that [`write`] wrote. Names hold no commas.
pub(crate) fn read(path: &Path, axis: Option<&str>) -> anyhow::Result<Vec<Row>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{}: cannot read", path.display()))?;
    let mut lines = text.lines();
    let header: Vec<&str> = COLUMNS.into_iter().chain(axis).chain(["value"]).collect();
    let found = lines.next().unwrap_or("");
    if found != header.join(",") {
        bail!("{}, line 1: found columns {found:?}, expected {}", path.display(), header.join(","));
    }
    let row = |(k, line): (usize, &str)| -> anyhow::Result<Row> {
        let cells: Vec<&str> = line.split(',').collect();
        let wrong = || format!("{}, line {}: expected {}", path.display(), k + 2, header.join(","));
        if cells.len() != header.len() {
            bail!(wrong());
        }
        let number = |cell: &str| if cell.is_empty() { Ok(f64::NAN) } else { cell.parse::<f64>() };
        Ok(Row {
            domain: cells[0].into(),
            run: cells[1].parse().with_context(wrong)?,
            seed: cells[2].parse().with_context(wrong)?,
            method: cells[3].into(),
            metric: cells[4].into(),
            at: if axis.is_some() { number(cells[5]).with_context(wrong)? } else { f64::NAN },
            value: number(cells[cells.len() - 1]).with_context(wrong)?,
        })
    };
    lines.enumerate().map(row).collect()
}
