//! `truth.{csv,parquet}`: the true transitions of synthetic arms.
//!
//! Columns `instance` (may be left out where there is one), `arm` and the probabilities `p_S_A_NEXT` of every arm, in full or,
//! for two states, only those of moving to state 1.

use super::arms::{Arms, ONLY, Roster};
use super::table::{Batch, Origin, Table, Want};
use crate::columns::Columns;
use crate::error::{Error, Place, Result, RowNumber};
use crate::memory::require;
use crate::show::{self, quoted_name};
use ndarray::Array4;
use restive::error::{FaultKind, RowFault};
use restive::index::two_state::Packing;
use restive::{Layout, Transition};

/// A table of true transitions.
pub(super) struct TruthTable {
    pub(super) table: Table,
    columns: Columns,
    /// whether rows name their instance
    pub(super) has_instance: bool,
    /// where the probabilities stand among the wanted columns
    first: usize,
}

impl TruthTable {
    /// Opens it and looks for the columns of M states; `instances` is how many there are.
    pub(super) fn open(origin: Origin<'_>, instances: usize, m: usize) -> Result<Self> {
        let path = origin.path();
        let mut table = Table::open(origin)?;
        let names = table.header().iter().map(String::as_str);
        let columns = Columns::parse(names).map_err(|fault| Error::Columns { path: path.into(), fault })?;
        if columns.states != m {
            let found = format!("probabilities of {} states", columns.states);
            return Err(Error::content(
                path,
                "",
                found,
                format!("those of {m}, as {} says", super::SETTINGS),
            ));
        }
        let mut wanted = vec![(table.need("arm")?, Want::Name)];
        let instance = table.find("instance");
        if instance.is_none() && instances > 1 {
            table.need("instance")?;
        }
        wanted.extend(instance.map(|c| (c, Want::Name)));
        let first = wanted.len();
        wanted.extend(columns.probabilities.iter().map(|(column, _)| (*column, Want::Number)));
        table.select(wanted)?;
        Ok(Self { table, columns, has_instance: instance.is_some(), first })
    }

    /// The instance and the arm that a row names.
    pub(super) fn names<'a>(&self, batch: &'a Batch, row: usize) -> [&'a str; 2] {
        [if self.has_instance { batch.cells[1].text(row) } else { ONLY }, batch.cells[0].text(row)]
    }

    /// A fault of a row.
    pub(super) fn bad(&self, batch: &Batch, row: usize, found: String, expected: &str) -> Error {
        let arm = Some(batch.cells[0].text(row).to_string()).filter(|name| !name.is_empty());
        let place = Place { row: batch.row(row), arm };
        Error::content(&self.table.path, place.to_string(), found, expected)
    }

    /// The probabilities of a row, `[M,2,M]`.
    pub(super) fn fill(&self, batch: &Batch, row: usize, p: &mut [f64]) -> Result<()> {
        for (cells, &(_, position)) in batch.cells[self.first..].iter().zip(&self.columns.probabilities) {
            let probability = cells.number(row);
            match self.columns.packing {
                Packing::Full => p[position] = probability,
                Packing::Compact if !(0.0..=1.0).contains(&probability) => {
                    let kind = FaultKind::Entry { next: 1, found: probability };
                    let fault = RowFault { state: position / 2, action: position % 2, kind };
                    return Err(self.refused(batch.row(row), batch.cells[0].text(row), fault));
                }
                Packing::Compact => {
                    p[2 * position] = 1.0 - probability;
                    p[2 * position + 1] = probability;
                }
            }
        }
        Ok(())
    }

    /// Transitions that are none.
    pub(super) fn refused(&self, row: RowNumber, arm: &str, fault: RowFault) -> Error {
        let place = Place { row, arm: Some(arm.into()) };
        Error::Transition { path: self.table.path.clone(), place, fault }
    }

    /// An arm without a row.
    pub(super) fn absent(&self, instance: &str, arm: &str) -> Error {
        let place = format!("instance {}, arm {}", show::name(instance), show::name(arm));
        Error::content(&self.table.path, place, "no row", "one for every arm of the table of arms")
    }
}

/// What is wrong with a row of nobody.
pub(super) fn unknown(instance: Option<&str>, arm: &str) -> String {
    match instance {
        None => format!("instance {}", quoted_name(arm)),
        Some(instance) => format!("arm {} of instance {}", quoted_name(arm), quoted_name(instance)),
    }
}

/// The true transitions of every instance.
pub(super) fn read(origin: Origin<'_>, arms: &mut Arms, m: usize) -> Result<Vec<Transition>> {
    let path = origin.path();
    let mut truth = TruthTable::open(origin, arms.instances.len(), m)?;
    let count: usize = arms.arms.iter().map(Roster::len).sum();
    let what = format!("the transitions of {count} arms of {m} states");
    require(path.display(), what, 16.0 * count as f64 * (m as f64).powi(2))?;
    let mut all: Vec<Array4<f64>> =
        arms.arms.iter().map(|arms| Array4::zeros((arms.len(), m, 2, m))).collect();
    let mut rows: Vec<Vec<Option<RowNumber>>> = arms.arms.iter().map(|arms| vec![None; arms.len()]).collect();
    while let Some(batch) = truth.table.next_batch()? {
        for row in 0..batch.rows {
            let [name, arm] = truth.names(&batch, row);
            let bad = |found: String, expected: &str| Err(truth.bad(&batch, row, found, expected));
            let k = if truth.has_instance { arms.instances.find(name) } else { Some(0) };
            let Some(k) = k else {
                let expected = arms.instances.expected(name, "an instance of the table of arms");
                return bad(unknown(None, name), &expected);
            };
            let Some(i) = arms.arms[k].find(arm) else {
                let expected = arms.arms[k].expected(arm, "an arm of the table of arms");
                return bad(unknown(Some(name), arm), &expected);
            };
            if rows[k][i].replace(batch.row(row)).is_some() {
                return bad(second(name), ONE_ROW);
            }
            let mut values = all[k].index_axis_mut(ndarray::Axis(0), i);
            truth.fill(&batch, row, values.as_slice_mut().expect("one arm is contiguous"))?;
        }
    }
    let mut checked = Vec::with_capacity(all.len());
    for (k, values) in all.into_iter().enumerate() {
        if let Some(i) = rows[k].iter().position(Option::is_none) {
            return Err(truth.absent(arms.instances.name(k), arms.arms[k].name(i)));
        }
        checked.push(Transition::new(values, Layout::Nsas).map_err(|error| match error {
            restive::Error::Transition { arm, fault } => {
                truth.refused(rows[k][arm].expect("read"), arms.arms[k].name(arm), fault)
            }
            other => unreachable!("the shape was made here: {other}"),
        })?);
    }
    Ok(checked)
}

/// What is expected of the rows of an arm.
pub(super) const ONE_ROW: &str = "one row per instance and arm";

/// A second row of an arm.
pub(super) fn second(instance: &str) -> String {
    format!("the arm of instance {} a second time", quoted_name(instance))
}
