//! `truth.{csv,parquet}`: the true transitions of synthetic arms.
//!
//! Columns `instance` (may be left out where there is one), `arm` and the probabilities `p_S_A_NEXT` of every arm, in full or,
//! for two states, only those of moving to state 1.

use super::arms::{Arms, ONLY, Roster};
use super::table::{Origin, Table, Want};
use crate::columns::Columns;
use crate::error::{Error, Place, Result, RowNumber};
use crate::memory::require;
use crate::show::{self, quoted_name};
use ndarray::Array4;
use restive::error::{FaultKind, RowFault};
use restive::index::two_state::Packing;
use restive::{Layout, Transition};

/// The true transitions of every instance.
pub(super) fn read(origin: Origin<'_>, arms: &mut Arms, m: usize) -> Result<Vec<Transition>> {
    let path = origin.path();
    let mut table = Table::open(origin)?;
    let names = table.header().iter().map(String::as_str);
    let columns = Columns::parse(names).map_err(|fault| Error::Columns { path: path.into(), fault })?;
    if columns.states != m {
        let found = format!("probabilities of {} states", columns.states);
        return Err(Error::content(path, "", found, format!("those of {m}, as {} says", super::SETTINGS)));
    }
    let mut wanted = vec![(table.need("arm")?, Want::Name)];
    let instance = table.find("instance");
    if instance.is_none() && arms.instances.len() > 1 {
        table.need("instance")?;
    }
    wanted.extend(instance.map(|c| (c, Want::Name)));
    let first = wanted.len();
    wanted.extend(columns.probabilities.iter().map(|(column, _)| (*column, Want::Number)));
    table.select(wanted)?;

    let count: usize = arms.arms.iter().map(Roster::len).sum();
    let what = format!("the transitions of {count} arms of {m} states");
    require(path.display(), what, 16.0 * count as f64 * (m as f64).powi(2))?;
    let mut all: Vec<Array4<f64>> =
        arms.arms.iter().map(|arms| Array4::zeros((arms.len(), m, 2, m))).collect();
    let mut rows: Vec<Vec<Option<RowNumber>>> = arms.arms.iter().map(|arms| vec![None; arms.len()]).collect();
    while let Some(batch) = table.next_batch()? {
        for row in 0..batch.rows {
            let arm = batch.cells[0].text(row);
            let name = instance.map_or(ONLY, |_| batch.cells[1].text(row));
            let bad = |found: String, expected: &str| {
                let place =
                    Place { row: batch.row(row), arm: Some(arm.to_string()).filter(|name| !name.is_empty()) };
                Err(Error::content(path, place.to_string(), found, expected))
            };
            let k = if instance.is_none() { Some(0) } else { arms.instances.find(name) };
            let Some(k) = k else {
                let expected = arms.instances.expected(name, "an instance of the table of arms");
                return bad(format!("instance {}", quoted_name(name)), &expected);
            };
            let Some(i) = arms.arms[k].find(arm) else {
                let expected = arms.arms[k].expected(arm, "an arm of the table of arms");
                return bad(format!("arm {} of instance {}", quoted_name(arm), quoted_name(name)), &expected);
            };
            if rows[k][i].replace(batch.row(row)).is_some() {
                return bad(
                    format!("the arm of instance {} a second time", quoted_name(name)),
                    "one row per instance and arm",
                );
            }
            let mut truth = all[k].index_axis_mut(ndarray::Axis(0), i);
            let p = truth.as_slice_mut().expect("one arm is contiguous");
            for (cells, &(_, position)) in batch.cells[first..].iter().zip(&columns.probabilities) {
                let probability = cells.number(row);
                match columns.packing {
                    Packing::Full => p[position] = probability,
                    Packing::Compact if !(0.0..=1.0).contains(&probability) => {
                        let place = Place { row: batch.row(row), arm: Some(arm.into()) };
                        let kind = FaultKind::Entry { next: 1, found: probability };
                        let fault = RowFault { state: position / 2, action: position % 2, kind };
                        return Err(Error::Transition { path: path.into(), place, fault });
                    }
                    Packing::Compact => {
                        p[2 * position] = 1.0 - probability;
                        p[2 * position + 1] = probability;
                    }
                }
            }
        }
    }
    let mut truth = Vec::with_capacity(all.len());
    for (k, values) in all.into_iter().enumerate() {
        if let Some(i) = rows[k].iter().position(Option::is_none) {
            let (instance, arm) = (show::name(arms.instances.name(k)), show::name(arms.arms[k].name(i)));
            let place = format!("instance {instance}, arm {arm}");
            return Err(Error::content(path, place, "no row", "one for every arm of the table of arms"));
        }
        let checked = Transition::new(values, Layout::Nsas).map_err(|error| match error {
            restive::Error::Transition { arm, fault } => {
                let name = Some(arms.arms[k].name(arm).to_string());
                Error::Transition {
                    path: path.into(),
                    place: Place { row: rows[k][arm].expect("read"), arm: name },
                    fault,
                }
            }
            other => unreachable!("the shape was made here: {other}"),
        });
        truth.push(checked?);
    }
    Ok(truth)
}
