//! Where a row of the trajectories stands, found by reading the table once more.
//!
//! Rows come in any order, and what is wrong between two of them shows when all have been read. Positions are not kept for
//! that: a message is worth a second reading, a table without faults is not worth the memory.

use crate::error::RowNumber;
use crate::study::table::{Origin, Table, Want};

/// The row of an arm at a step, where there is one.
pub(super) fn row_of(
    origin: Origin<'_>,
    instance: &str,
    trajectory: &str,
    t: usize,
    arm: &str,
) -> Option<RowNumber> {
    let mut table = Table::open(origin).ok()?;
    let mut wanted = vec![(table.find("trajectory")?, Want::Name), (table.find("t")?, Want::Number)];
    wanted.push((table.find("arm")?, Want::Name));
    let has_instance = table.find("instance");
    wanted.extend(has_instance.map(|column| (column, Want::Name)));
    table.select(wanted).ok()?;
    while let Some(batch) = table.next_batch().ok()? {
        let is_it = |row: &usize| {
            let text = |column: usize| batch.cells[column].text(*row);
            batch.cells[1].number(*row) == t as f64
                && text(2) == arm
                && text(0) == trajectory
                && (has_instance.is_none() || text(3) == instance)
        };
        if let Some(row) = (0..batch.rows).find(is_it) {
            return Some(batch.row(row));
        }
    }
    None
}
