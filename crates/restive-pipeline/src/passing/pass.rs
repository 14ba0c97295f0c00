//! A pass over everybody: something is made of every piece, on all threads, and taken in the order of the file.
//!
//! What is taken does not know how many threads there were, nor how many pieces were made at the same time.

use crate::error::Result;
use rayon::prelude::*;
use restive::data::split::Part;
use restive_tables::{Piece, Pieces};

/// People of a piece.
pub(crate) const ROWS: usize = 1 << 15;
/// Pieces that are made at the same time, for each thread, and altogether.
const EACH: usize = 2;
const MOST: usize = 16;

/// Pieces that there may be at the same time.
pub(crate) fn usual() -> usize {
    (EACH * rayon::current_num_threads()).min(MOST)
}

/// Makes something of every piece, of so many at a time, and takes it.
pub(crate) fn pass<T: Send>(
    mut pieces: Pieces<'_>,
    at_a_time: usize,
    make: impl Fn(Piece) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    loop {
        let (mut wave, mut fault) = (Vec::new(), None);
        while wave.len() < at_a_time.max(1) {
            match pieces.next() {
                Some(Ok(piece)) => wave.push(piece),
                Some(Err(error)) => {
                    fault = Some(error);
                    break;
                }
                None => break,
            }
        }
        let is_over = wave.is_empty();
        let made: Vec<Result<T>> = wave.into_par_iter().map(&make).collect();
        made.into_iter().try_for_each(|made| made.and_then(&mut take))?;
        if let Some(fault) = fault {
            return Err(fault.into());
        }
        if is_over {
            return Ok(());
        }
    }
}

/// The people of a piece that are of a part, by their place in it.
pub(crate) fn of_part(parts: &[Part], piece: &Piece, part: Part) -> Vec<usize> {
    let is_of = |i: &usize| parts[piece.positions[*i] as usize] == part;
    (0..piece.positions.len()).filter(is_of).collect()
}
