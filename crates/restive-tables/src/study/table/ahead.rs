//! A table decoded ahead, on other threads, and handed over batch by batch in the order of the file.
//!
//! The columns of Parquet are independent of each other: they are dealt to a few threads by their size, each of which reads its own
//! columns from its own handle, and batches are put together again. That keeps all of them busy whatever the row groups are like, and
//! holds a few batches, not row groups. Text has one thread. A handle that finds another file than the first one did is refused.

use super::{Batch, Origin, Source, Table, Want};
use crate::error::{Error, Result};
use crate::read::steady::Steady;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

/// Batches that a thread may be ahead.
const AHEAD: usize = 3;
/// Threads that one table is worth.
const MOST_PARTS: usize = 4;

/// A table that is being decoded.
pub(in crate::study) struct Ahead {
    path: PathBuf,
    parts: Vec<Part>,
    /// for every wanted column: its part, and its place in that
    order: Vec<(usize, usize)>,
}

struct Part {
    batches: Receiver<Result<Option<Batch>>>,
    thread: Option<JoinHandle<()>>,
}

impl Table {
    /// Starts to decode the wanted columns, at least one; of Parquet the `chosen` rows only, sorted, where there are such. `as_before` is
    /// the file as it was read before.
    pub(in crate::study) fn decode_ahead(
        self,
        wanted: Vec<(usize, Want)>,
        chosen: Option<&[u32]>,
        as_before: Option<&Steady>,
    ) -> Result<Ahead> {
        let path = self.path.clone();
        as_before.map_or(Ok(()), |before| self.steady().map_or(Ok(()), |now| before.refuse_other(now)))?;
        let shares = match &self.source {
            Source::Parquet(table) => {
                table.check(&wanted, &self.header)?;
                deal(&table.sizes(&wanted), rayon::current_num_threads().min(MOST_PARTS))
            }
            Source::Csv(_) | Source::Memory(_) => vec![(0..wanted.len()).collect()],
        };
        let mut order = vec![(0, 0); wanted.len()];
        let mut tables = Vec::new();
        for (part, share) in shares.iter().enumerate().skip(1) {
            share.iter().enumerate().for_each(|(place, column)| order[*column] = (part, place));
            let table = Table::open(Origin::File(&path))?;
            if let (Some(first), Some(now)) = (self.steady(), table.steady()) {
                first.refuse_other(now)?;
            }
            tables.push(table);
        }
        shares[0].iter().enumerate().for_each(|(place, column)| order[*column] = (0, place));
        tables.insert(0, self);
        let mut parts = Vec::new();
        for (mut table, share) in tables.into_iter().zip(shares) {
            let wanted = share.iter().map(|column| wanted[*column]).collect();
            match (&mut table.source, chosen) {
                (Source::Parquet(source), Some(chosen)) => {
                    source.select_rows(wanted, &table.header, chosen)?
                }
                _ => table.select(wanted)?,
            }
            parts.push(Part::start(table));
        }
        Ok(Ahead { path, parts, order })
    }

    /// The file as it was when it was opened; none in memory.
    pub(in crate::study) fn steady(&self) -> Option<&Steady> {
        match &self.source {
            Source::Csv(table) => Some(table.steady()),
            Source::Parquet(table) => Some(&table.steady),
            Source::Memory(_) => None,
        }
    }
}

/// Deals columns to at most so many threads: the largest first, each to who has least.
fn deal(sizes: &[u64], threads: usize) -> Vec<Vec<usize>> {
    let mut columns: Vec<usize> = (0..sizes.len()).collect();
    columns.sort_by_key(|column| (std::cmp::Reverse(sizes[*column]), *column));
    let mut shares: Vec<(u64, Vec<usize>)> = vec![(0, Vec::new()); threads.clamp(1, sizes.len())];
    for column in columns {
        let least = shares.iter_mut().min_by_key(|(size, _)| *size).expect("at least one");
        least.0 += sizes[column].max(1);
        least.1.push(column);
    }
    shares.into_iter().map(|(_, columns)| columns).collect()
}

impl Part {
    fn start(mut table: Table) -> Self {
        let (sender, batches) = sync_channel(AHEAD);
        let thread = std::thread::spawn(move || {
            loop {
                let batch = table.next_batch();
                let is_last = !matches!(batch, Ok(Some(_)));
                if sender.send(batch).is_err() || is_last {
                    return;
                }
            }
        });
        Self { batches, thread: Some(thread) }
    }

    fn next(&mut self) -> Result<Option<Batch>> {
        match self.batches.recv() {
            Ok(batch) => batch,
            Err(_) => match self.thread.take().map(JoinHandle::join) {
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                _ => Ok(None), // it has said so before
            },
        }
    }
}

impl Ahead {
    /// The next rows; none after the last.
    pub(in crate::study) fn next_batch(&mut self) -> Result<Option<Batch>> {
        let each = self.parts.iter_mut().map(Part::next).collect::<Result<Vec<_>>>()?;
        let rows = each.iter().map(|batch| batch.as_ref().map(|batch| batch.rows));
        if !rows.clone().all(|rows| rows == each[0].as_ref().map(|batch| batch.rows)) {
            let found = "its columns are not of one length".into();
            return Err(Error::Damaged { path: self.path.clone(), format: "Parquet", found });
        }
        let mut places = None;
        let mut cells: Vec<Vec<Option<super::Cells>>> = Vec::new();
        for batch in each {
            let Some(batch) = batch else { return Ok(None) };
            cells.push(batch.cells.into_iter().map(Some).collect());
            places.get_or_insert((batch.rows, batch.places));
        }
        let (rows, places) = places.expect("at least one part");
        let take = |&(part, place): &(usize, usize)| cells[part][place].take().expect("each column once");
        let cells = self.order.iter().map(take).collect();
        Ok(Some(Batch { rows, cells, places }))
    }
}

#[cfg(test)]
mod tests {
    use super::deal;

    #[test]
    fn columns_are_dealt_by_size_and_each_once() {
        assert_eq!(deal(&[5, 1, 1, 1, 1], 2), [vec![0], vec![1, 2, 3, 4]]);
        assert_eq!(deal(&[0, 0, 0], 2), [vec![0, 2], vec![1]]);
        assert_eq!(deal(&[3], 4), [vec![0]]);
        assert_eq!(deal(&[1, 9, 4, 4], 1), [vec![1, 2, 3, 0]]);
    }
}
