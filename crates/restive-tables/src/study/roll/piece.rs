//! The table of arms once more, piece by piece: features from the file, names and trajectories from the roll.
//!
//! Columns are decoded ahead on a few threads, pieces are made of batches on all of them, and handed over in the order of the file. Where
//! instances alternate in the file, a batch becomes a piece for each. A pass that comes to its end knows the sum of everybody's
//! hashes, which the fingerprint needs.

use super::Roll;
use super::arms::ArmsFile;
use super::unpack::{Part, sum_of};
use crate::error::{Error, Result};
use crate::study::StudyInstance;
use crate::study::table::{Ahead, Batch, Origin, Table};
use rayon::prelude::*;
use std::collections::VecDeque;

/// Batches of which pieces are made at the same time.
const MOST_BATCHES: usize = 8;

/// Some people of one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// the number of the instance
    pub instance: usize,
    /// rows of the table of arms, from 0, in their order
    pub positions: Vec<u32>,
    /// the instance as if it had no others, in the order of the positions; without propensities, rewards and truth
    pub there: StudyInstance,
}

/// The pieces of a roll, on their way.
pub struct Pieces<'a> {
    roll: &'a Roll,
    ahead: Option<Ahead>,
    /// people of a piece at most
    rows: usize,
    /// the people who are wanted, sorted, where not everybody is
    chosen: Option<Vec<u32>>,
    /// rows that were decoded so far
    done: usize,
    made: VecDeque<Result<Piece>>,
    sum: u128,
}

impl<'a> Pieces<'a> {
    pub(super) fn start(roll: &'a Roll, rows: usize, chosen: Option<Vec<u32>>) -> Result<Self> {
        let ArmsFile { path, header, steady, is_typed, .. } = &roll.file;
        let table = Table::open(Origin::File(path))?;
        let mut wanted = header.wanted();
        if wanted.is_empty() {
            wanted = header.named(); // rows must come from somewhere
        }
        let rows_of_file = chosen.as_deref().filter(|_| *is_typed);
        let ahead = match &chosen {
            Some(chosen) if chosen.is_empty() => None,
            _ => Some(table.decode_ahead(wanted, rows_of_file, steady.as_ref())?),
        };
        let rows = rows.min(roll.piece_limit).max(1);
        Ok(Self { roll, ahead, rows, chosen, done: 0, made: VecDeque::new(), sum: 0 })
    }

    /// Makes the pieces of the next batches.
    fn make(&mut self) -> Result<()> {
        let Some(ahead) = &mut self.ahead else { return Ok(()) };
        let (mut batches, mut fault, mut is_over) = (Vec::new(), None, false);
        while batches.len() < rayon::current_num_threads().min(MOST_BATCHES) {
            match ahead.next_batch() {
                Ok(Some(batch)) => batches.push(batch),
                Ok(None) => {
                    is_over = true;
                    break;
                }
                Err(error) => {
                    fault = Some(error);
                    break;
                }
            }
        }
        let mut parts = Vec::new();
        for batch in &batches {
            let positions = self.positions(batch)?;
            parts.extend(self.deal(batch, positions));
            self.done += batch.rows;
        }
        let is_all = self.chosen.is_none();
        let is_summed = is_all && self.roll.person_sum.get().is_none();
        let make = |part: &Part<'_>| {
            self.roll.piece(part).map(|piece| {
                let sum = if is_summed { sum_of(self.roll, &piece) } else { 0 };
                (piece, sum)
            })
        };
        let made: Vec<Result<(Piece, u128)>> = parts.par_iter().map(make).collect();
        for made in made {
            let is_fault = made.is_err();
            self.made.push_back(made.map(|(piece, sum)| {
                self.sum = self.sum.wrapping_add(sum);
                piece
            }));
            if is_fault {
                self.ahead = None;
                return Ok(());
            }
        }
        if let Some(fault) = fault {
            return Err(fault);
        }
        if is_over {
            self.ahead = None;
            let people = self.roll.people();
            if is_all && self.done != people {
                return Err(self.changed());
            }
            if is_summed {
                _ = self.roll.person_sum.set(self.sum);
            }
        }
        Ok(())
    }

    /// The wanted rows of a batch and who they are.
    fn positions(&self, batch: &Batch) -> Result<Vec<(usize, u32)>> {
        let rows = self.done..self.done + batch.rows;
        let wanted: Vec<(usize, u32)> = match &self.chosen {
            None => rows.map(|row| (row - self.done, row as u32)).collect(),
            Some(chosen) if self.roll.file.is_typed => {
                let here = chosen.get(rows).ok_or_else(|| self.changed())?;
                here.iter().enumerate().map(|(row, position)| (row, *position)).collect()
            }
            Some(chosen) => {
                let [first, end] =
                    [rows.start, rows.end].map(|row| chosen.partition_point(|at| (*at as usize) < row));
                chosen[first..end].iter().map(|at| (*at as usize - rows.start, *at)).collect()
            }
        };
        match wanted.last() {
            Some((_, last)) if *last as usize >= self.roll.people() => Err(self.changed()),
            _ => Ok(wanted),
        }
    }

    fn changed(&self) -> Error {
        let expected = "one that stays as it is: is another program writing it?";
        Error::content(&self.roll.file.path, "", "a file that changed while it was read", expected)
    }

    /// Puts the rows of a batch apart by instance, and into pieces.
    fn deal<'b>(&self, batch: &'b Batch, wanted: Vec<(usize, u32)>) -> Vec<Part<'b>> {
        let mut by_instance: Vec<(usize, Vec<(usize, u32)>)> = Vec::new();
        if self.roll.instances.len() == 1 {
            by_instance.push((0, wanted));
        } else {
            let mut place = vec![None; self.roll.instances.len()];
            for row in wanted {
                let k = self.roll.instance_of(row.1 as usize);
                let at = *place[k].get_or_insert_with(|| {
                    by_instance.push((k, Vec::new()));
                    by_instance.len() - 1
                });
                by_instance[at].1.push(row);
            }
        }
        let pieces = |(instance, rows): (usize, Vec<(usize, u32)>)| {
            let part = |rows: &[(usize, u32)]| Part { batch, instance, rows: rows.to_vec() };
            rows.chunks(self.rows).map(part).collect::<Vec<_>>()
        };
        by_instance.into_iter().flat_map(pieces).collect()
    }
}

impl Iterator for Pieces<'_> {
    type Item = Result<Piece>;

    fn next(&mut self) -> Option<Result<Piece>> {
        while self.made.is_empty() && self.ahead.is_some() {
            if let Err(error) = self.make() {
                self.ahead = None;
                self.made.push_back(Err(error));
            }
        }
        self.made.pop_front()
    }
}
