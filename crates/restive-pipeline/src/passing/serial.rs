//! Whether a column of numbers that passes by is an identifier: whole numbers, each of them once, given in turn or very long.
//!
//! Nearly every column is ruled out by its first thousands of people: a fraction, or a number twice. Of the others, which are rare, it is
//! remembered in a second pass which numbers there were: a bit for each that there could be where they are close together, the
//! numbers themselves where they are long.

use crate::columns::{FEW, LONG, is_close};
use std::collections::HashSet;

/// Numbers among which two that are equal are looked for at first.
const LOOKED_AT: usize = 1 << 16;

/// What is known of a column of numbers.
#[derive(Default)]
pub(super) struct Serial {
    /// whether it cannot be one any more
    is_ruled_out: bool,
    known: usize,
    least: f64,
    most: f64,
    first: HashSet<u64>,
}

impl Serial {
    /// Some numbers pass by, NaN where one is missing.
    pub(super) fn add(&mut self, numbers: &[f64]) {
        for x in numbers.iter().filter(|x| !x.is_nan()) {
            if self.is_ruled_out {
                return;
            }
            (self.least, self.most) = match self.known {
                0 => (*x, *x),
                _ => (self.least.min(*x), self.most.max(*x)),
            };
            self.known += 1;
            let is_new = self.first.len() >= LOOKED_AT || self.first.insert((*x + 0.0).to_bits());
            if x.fract() != 0.0 || !is_new {
                self.is_ruled_out = true;
                self.first = HashSet::new();
            }
        }
    }

    /// How many numbers there are, where it is an identifier as far as that is known.
    pub(super) fn suspected(&self) -> Option<usize> {
        let is_like_one = is_close(self.least, self.most, self.known) || self.least >= LONG;
        (!self.is_ruled_out && self.known >= FEW && is_like_one).then_some(self.known)
    }

    /// What looks at all numbers once more, where that is needed.
    pub(super) fn again(&self) -> Option<Again> {
        let known = self.suspected().filter(|known| *known > LOOKED_AT)?;
        Some(match is_close(self.least, self.most, known) {
            true => {
                let room = (self.most - self.least) as usize / 64 + 1;
                Again::Close { least: self.least, seen: vec![0; room], is_twice: false }
            }
            false => Again::Long(Vec::with_capacity(known)),
        })
    }
}

/// All numbers of a column, once more.
pub(super) enum Again {
    /// a bit for each number that there could be
    Close { least: f64, seen: Vec<u64>, is_twice: bool },
    /// all of them
    Long(Vec<f64>),
}

impl Again {
    pub(super) fn add(&mut self, numbers: &[f64]) {
        let known = numbers.iter().filter(|x| !x.is_nan());
        match self {
            Self::Long(all) => all.extend(known),
            Self::Close { least, seen, is_twice } => known.for_each(|x| {
                let at = (x - *least) as usize;
                // none is outside while the file is the same
                let Some(word) = seen.get_mut(at / 64) else { return };
                let bit = 1 << (at % 64);
                *is_twice |= *word & bit != 0;
                *word |= bit;
            }),
        }
    }

    /// Whether no number was there twice.
    pub(super) fn are_distinct(self) -> bool {
        match self {
            Self::Close { is_twice, .. } => !is_twice,
            Self::Long(mut all) => {
                all.sort_unstable_by(f64::total_cmp);
                all.windows(2).all(|pair| pair[0] != pair[1])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How it is told of numbers that pass by in pieces.
    fn is_serial(numbers: &[f64]) -> bool {
        let mut serial = Serial::default();
        numbers.chunks(1000).for_each(|piece| serial.add(piece));
        let Some(mut again) = serial.again() else { return serial.suspected().is_some() };
        numbers.chunks(1000).for_each(|piece| again.add(piece));
        again.are_distinct()
    }

    #[test]
    fn many_numbers_given_in_turn_or_long_are_an_identifier_unless_one_is_there_twice() {
        const N: usize = 3 * LOOKED_AT / 2;
        let in_turn: Vec<f64> = (0..N).map(|i| (7 * ((i * 7919) % N)) as f64 - 5000.0).collect();
        let long: Vec<f64> =
            (0..N).map(|i| 9e9 + ((i * i) % 1_000_003) as f64 * 1e4 + i as f64 * 1e11).collect();
        for mut numbers in [in_turn, long] {
            numbers[17] = f64::NAN;
            assert!(is_serial(&numbers));
            // far behind what is looked at first
            numbers[N - 1] = numbers[N - 2];
            assert!(!is_serial(&numbers));
            numbers[N - 1] = 0.5;
            assert!(!is_serial(&numbers));
        }
        let apart: Vec<f64> = (0..N).map(|i| (i * 31) as f64).collect();
        assert!(!is_serial(&apart));
        assert!(!is_serial(&[f64::NAN; 30]));
        assert!(is_serial(&(0..20).map(f64::from).collect::<Vec<_>>()));
        assert!(!is_serial(&(0..19).map(f64::from).collect::<Vec<_>>()));
    }
}
