//! `arms.{csv,parquet}`: who there is, and what is known of them.
//!
//! Columns `instance` (may be left out where there is one instance), `arm`, perhaps `split`, and the column of clusters if `study.toml`
//! names one with `cluster`, in which every arm has a name; every other column is a feature. In Parquet
//! a feature is what its type says; in memory too, where its cells do not contradict it. In CSV a feature is numbers or text, and all
//! its cells must agree (blanks and NaN are missing in either), unless `study.toml` lists it under `text`: a misspelt number must
//! not turn a measurement into categories. Where they do not agree, the first cell of the rarer kind is named. Rows come in any order:
//! instances and arms are numbered by their [names](crate::by_name).

mod feature;
mod roster;

pub(super) use feature::Growing;
pub(super) use roster::{Roster, expected_name};

use super::StudySettings;
use super::table::{Cells, Origin, Table, Want, number};
use crate::error::{Error, Place, Result, RowNumber};
use crate::names::{SHORTER, too_long};
use crate::show::{self, quoted};
use feature::Seen;
use restive::data::features::{Column, Features};
use restive::data::split::Part;
use std::path::Path;

/// The name of the one instance of a study that does not name it.
pub(super) const ONLY: &str = "0";

/// The arms of all instances.
pub(super) struct Arms {
    pub(super) instances: Roster,
    /// by instance
    pub(super) arms: Vec<Roster>,
    pub(super) features: Vec<Features>,
    /// of every arm, by instance
    pub(super) split: Option<Vec<Vec<Part>>>,
    /// Name of the cluster of every arm, by instance; `None` if `study.toml` names no column of clusters.
    pub(super) clusters: Option<Vec<Vec<String>>>,
}

impl Arms {
    /// Puts instances and arms in the order of their names, and their rows with them.
    fn sort(&mut self, rows: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let (instances, before) = std::mem::take(&mut self.instances).sorted();
        self.instances = instances;
        let mut arms: Vec<Option<Roster>> = std::mem::take(&mut self.arms).into_iter().map(Some).collect();
        let sorted = before.into_iter().map(|k| {
            let (arms, before) = arms[k].take().expect("every instance once").sorted();
            self.arms.push(arms);
            before.into_iter().map(|i| rows[k][i]).collect()
        });
        sorted.collect()
    }
}

/// The columns of a table of arms.
pub(super) struct Header {
    pub(super) instance: Option<usize>,
    pub(super) arm: usize,
    pub(super) split: Option<usize>,
    pub(super) cluster: Option<usize>,
    /// of the features
    pub(super) features: Vec<usize>,
    pub(super) names: Vec<String>,
    /// whether `study.toml` lists a feature as text
    pub(super) is_category: Vec<bool>,
}

impl Header {
    /// Finds them; `text` and `cluster` are lines of `study.toml`.
    pub(super) fn find(table: &Table, text: &[String], cluster: Option<&str>) -> Result<Self> {
        let (instance, arm, split) = (table.find("instance"), table.need("arm")?, table.find("split"));
        let find_cluster = |name: &str| table.find(name).ok_or_else(|| absent_cluster(table, name));
        let cluster = cluster.map(find_cluster).transpose()?;
        let reserved = [instance, Some(arm), split, cluster];
        let features: Vec<usize> =
            (0..table.header().len()).filter(|c| !reserved.contains(&Some(*c))).collect();
        let names: Vec<String> = features.iter().map(|c| table.header()[*c].clone()).collect();
        if let Some(name) = text.iter().find(|name| !names.contains(name)) {
            let (place, found) = (
                format!("text in {}", super::SETTINGS),
                format!("{}, which is no feature here", show::quoted_name(name)),
            );
            return Err(Error::content(&table.path, place, found, "the names of columns"));
        }
        let is_category = names.iter().map(|name| text.contains(name)).collect();
        Ok(Self { instance, arm, split, cluster, features, names, is_category })
    }

    /// The columns of names: `arm`, and `instance`, the clusters and `split` if present, in this order.
    pub(super) fn named(&self) -> Vec<(usize, Want)> {
        let columns = [Some(self.arm), self.instance, self.cluster, self.split];
        columns.into_iter().flatten().map(|c| (c, Want::Name)).collect()
    }

    /// The columns of features.
    pub(super) fn wanted(&self) -> Vec<(usize, Want)> {
        let want = |listed: &bool| if *listed { Want::Name } else { Want::Any };
        self.features.iter().zip(&self.is_category).map(|(c, listed)| (*c, want(listed))).collect()
    }

    /// Features of which nothing has been read.
    pub(super) fn growing(&self) -> Vec<Growing> {
        let new = |listed: &bool| if *listed { Growing::Category(Vec::new()) } else { Growing::Unknown(0) };
        self.is_category.iter().map(new).collect()
    }
}

/// The column of clusters that `study.toml` names is not in the table.
fn absent_cluster(table: &Table, name: &str) -> Error {
    let quoted = show::quoted_name(name);
    let expected = format!("a column of that name: study.toml has the line cluster = {quoted}");
    let expected = expected_name(name, &expected, table.header().iter().map(String::as_str));
    Error::content(&table.path, "", format!("no column {quoted}"), expected)
}

/// Refuses text that is longer than any may be.
pub(super) fn refuse_long(
    path: &Path,
    row: impl FnOnce() -> RowNumber,
    column: &str,
    text: &str,
) -> Result<()> {
    if too_long(text).is_none() {
        return Ok(());
    }
    let place = format!("{}, column {}", Place { row: row(), arm: None }, show::name(column));
    Err(Error::content(path, place, show::quoted_name(text), SHORTER))
}

/// A second row of an arm.
pub(super) fn second(path: &Path, row: RowNumber, arm: &str, instance: &str) -> Error {
    let place = format!("{}, instance {}", Place { row, arm: Some(arm.into()) }, show::name(instance));
    Error::content(path, place, "the arm a second time", "one row per arm and instance")
}

/// Refuses an instance of fewer arms than the budget.
pub(super) fn refuse_few(path: &Path, instance: &str, arms: usize, budget: usize) -> Result<()> {
    if arms >= budget {
        return Ok(());
    }
    let place = format!("instance {}", show::name(instance));
    Err(Error::content(path, place, format!("{arms} arms"), format!("at least the budget of {budget}")))
}

pub(super) fn read(origin: Origin<'_>, settings: &StudySettings) -> Result<Arms> {
    let path = origin.path();
    let mut table = Table::open(origin)?;
    let cluster = settings.cluster.as_deref();
    let header = Header::find(&table, &settings.text, cluster)?;
    let mut wanted = header.named();
    let first_feature = wanted.len();
    wanted.extend(header.wanted());
    table.select(wanted)?;
    let mut columns = header.growing();
    let Header { instance, split, features, names, .. } = header;
    let cluster = cluster.map(|name| (name, first_feature - 1 - usize::from(split.is_some())));

    let is_typed: Vec<bool> = features.iter().map(|c| table.is_typed(*c)).collect();
    let mut read = Arms {
        instances: Roster::default(),
        arms: Vec::new(),
        features: Vec::new(),
        split: None,
        clusters: None,
    };
    // rows of the table by instance, in the order in which they came
    let (mut rows, mut row_count) = (Vec::<Vec<usize>>::new(), 0);
    let (mut parts, mut clusters) = (Vec::new(), Vec::new());
    while let Some(batch) = table.next_batch()? {
        for row in 0..batch.rows {
            let name = batch.cells[0].text(row);
            let bad = |column: &str, found: &str, expected| {
                let arm = Some(name.to_string()).filter(|name| !name.is_empty());
                bad_cell(path, batch.row(row), arm, column, found, expected)
            };
            if name.is_empty() {
                return Err(bad("arm", "", "a name"));
            }
            let long = |column: &str, cells: &Cells| match cells {
                Cells::Text(_) => refuse_long(path, || batch.row(row), column, cells.text(row)),
                Cells::Number(_) => Ok(()),
            };
            long("arm", &batch.cells[0])?;
            instance.map_or(Ok(()), |_| long("instance", &batch.cells[1]))?;
            names
                .iter()
                .zip(&batch.cells[first_feature..])
                .try_for_each(|(name, cells)| long(name, cells))?;
            let k = match instance {
                None => read.instances.find_or_add(ONLY),
                Some(_) => match batch.cells[1].text(row) {
                    "" => return Err(bad("instance", "", "a name")),
                    instance => read.instances.find_or_add(instance),
                },
            };
            if k == read.arms.len() {
                read.arms.push(Roster::default());
                rows.push(Vec::new());
            }
            let i = read.arms[k].find_or_add(name);
            if i < rows[k].len() {
                return Err(second(path, batch.row(row), name, read.instances.name(k)));
            }
            rows[k].push(row_count);
            row_count += 1;
            if let Some((column, at)) = cluster {
                long(column, &batch.cells[at])?;
                let found = batch.cells[at].text(row);
                if number(found.as_bytes()).is_some_and(f64::is_nan) {
                    return Err(bad(column, found.trim(), "the name of a cluster: each arm belongs to one"));
                }
                clusters.push(found.to_string());
            }
            if split.is_some() {
                let found = batch.cells[first_feature - 1].text(row);
                match Part::ALL.into_iter().find(|part| part.name() == found) {
                    Some(part) => parts.push(part),
                    None => return Err(bad("split", found, "train, validation or test")),
                }
            }
            let cells = batch.cells[first_feature..].iter().zip(&is_typed);
            for (column, (cells, is_typed)) in columns.iter_mut().zip(cells) {
                column.push(cells, row, *is_typed, || (batch.row(row), name.to_string()));
            }
        }
    }
    refuse_mixed(path, &columns, &names)?;
    let columns: Vec<Column> = columns.into_iter().map(Growing::finish).collect();
    let named = names.iter().cloned().zip(columns).collect();
    let all = Features::new(row_count, named).map_err(|source| infinite(path, source, &names))?;
    let rows = read.sort(rows);
    read.features = rows.iter().map(|rows| all.select_arms(rows)).collect();
    read.split =
        split.map(|_| rows.iter().map(|rows| rows.iter().map(|row| parts[*row]).collect()).collect());
    let of_rows = |rows: &Vec<usize>| rows.iter().map(|row| clusters[*row].clone()).collect();
    read.clusters = cluster.map(|_| rows.iter().map(of_rows).collect());
    Ok(read)
}

/// Refuses features of numbers and text.
pub(super) fn refuse_mixed(path: &Path, columns: &[Growing], names: &[String]) -> Result<()> {
    for (column, name) in columns.iter().zip(names) {
        if let Growing::Mixed(kinds) = column {
            let (Seen { place: (row, arm), cell, .. }, expected) = kinds.culprit();
            return Err(bad_cell(path, *row, Some(arm.clone()), name, cell, expected));
        }
    }
    Ok(())
}

pub(super) fn bad_cell(
    path: &Path,
    row: RowNumber,
    arm: Option<String>,
    column: &str,
    found: &str,
    expected: &'static str,
) -> Error {
    let found = if found.is_empty() { "an empty cell".into() } else { quoted(found.as_bytes()) };
    let column = show::name(column).into();
    Error::Cell { path: path.into(), place: Place { row, arm }, column, found, expected }
}

/// What the library refuses in a table of features: an infinite number.
pub(super) fn infinite(path: &Path, source: restive::Error, names: &[String]) -> Error {
    let place = match &source {
        restive::Error::Feature { column, .. } => format!("column {}", show::name(column)),
        _ => show::sentence(&format!("columns {}", names.join(", "))),
    };
    Error::content(path, place, "an infinite number", "finite numbers")
}
