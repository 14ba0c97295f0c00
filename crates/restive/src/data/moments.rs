//! Mean and spread of numbers that come in pieces: what a [survey](super::survey) keeps of a column of numbers.

use crate::bytes::{Reader, Writer};
use crate::error::Result;
use crate::twofold::Twofold;

/// Of the numbers that were seen, NaN left out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Moments {
    /// how many
    pub known: u64,
    /// how many of them are 0, and 1
    zeros: u64,
    ones: u64,
    pub first: f64,
    smallest: f64,
    largest: f64,
    /// no number is above 2 to this power
    power: i32,
    /// of numbers divided by that: their mean, and the sum of their squared distances from it
    mean: Twofold,
    distances: Twofold,
}

/// Powers of 2 that are used: beyond them numbers, or what divides them, would leave the normal ones.
const POWERS: [i32; 2] = [-1000, 1023];

impl Default for Moments {
    fn default() -> Self {
        Self {
            known: 0,
            zeros: 0,
            ones: 0,
            first: f64::NAN,
            smallest: f64::INFINITY,
            largest: f64::NEG_INFINITY,
            power: POWERS[0],
            mean: Twofold::default(),
            distances: Twofold::default(),
        }
    }
}

impl Moments {
    /// Adds numbers, NaN where one is missing: two passes over them.
    pub(super) fn add(&mut self, values: &[f64]) {
        let known = || values.iter().copied().filter(|x| !x.is_nan());
        let mut piece = Self::default();
        let mut size = 0.0f64;
        for x in known() {
            piece.known += 1;
            piece.zeros += u64::from(x == 0.0);
            piece.ones += u64::from(x == 1.0);
            piece.smallest = piece.smallest.min(x);
            piece.largest = piece.largest.max(x);
            size = size.max(x.abs());
        }
        let Some(first) = known().next() else { return };
        piece.first = first;
        piece.power = power_above(size);
        let (scale, n) = (2f64.powi(-piece.power), piece.known as f64);
        let mean = Twofold::sum(known().map(|x| x * scale)).get() / n;
        // what is left of the mean, to far below its last digit
        let rest = Twofold::sum(known().map(|x| x * scale - mean)).get() / n;
        piece.mean = Twofold { high: mean, low: rest };
        piece.distances = Twofold::sum(known().map(|x| (x * scale - mean).powi(2)));
        piece.distances.add(-n * rest * rest);
        self.merge(&piece);
    }

    /// Adds those of others.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.known == 0 {
            return;
        }
        if self.known == 0 {
            *self = other.clone();
            return;
        }
        let power = self.power.max(other.power);
        self.rescale(power);
        let mut other = other.clone();
        other.rescale(power);
        let (n, more) = (self.known as f64, other.known as f64);
        let apart = (other.mean.high - self.mean.high) + (other.mean.low - self.mean.low);
        self.mean.add(apart * (more / (n + more)));
        self.distances.merge(other.distances);
        self.distances.add(apart * apart * (n * (more / (n + more))));
        self.known += other.known;
        self.zeros += other.zeros;
        self.ones += other.ones;
        self.smallest = self.smallest.min(other.smallest);
        self.largest = self.largest.max(other.largest);
    }

    /// Divides by a larger power of 2: nothing is rounded that is not far below what is added.
    fn rescale(&mut self, power: i32) {
        let scale = 2f64.powi(self.power - power);
        self.mean = self.mean.scaled(scale);
        self.distances = self.distances.scaled(scale).scaled(scale);
        self.power = power;
    }

    /// Whether all numbers are the same.
    pub(super) fn is_alike(&self) -> bool {
        self.smallest == self.largest
    }

    /// Whether all numbers are zeros and ones.
    pub(super) fn is_binary(&self) -> bool {
        self.zeros + self.ones == self.known
    }

    /// Mean and standard deviation, divided by their number; of zeros and ones the mean is exact.
    pub(super) fn mean_and_sd(&self) -> (f64, f64) {
        let (scale, n) = (2f64.powi(self.power), self.known as f64);
        let sd = (self.distances.get().max(0.0) / n).sqrt() * scale;
        let mean = if self.is_binary() { self.ones as f64 / n } else { self.mean.get() * scale };
        (mean, sd)
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        [self.known, self.zeros, self.ones].into_iter().for_each(|count| writer.whole(count));
        let Self { first, smallest, largest, mean, distances, .. } = self;
        writer.numbers(&[*first, *smallest, *largest, f64::from(self.power)]);
        writer.numbers(&[mean.high, mean.low, distances.high, distances.low]);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let (known, zeros, ones) = (reader.whole()?, reader.whole()?, reader.whole()?);
        let (bounds, sums) = (reader.numbers()?, reader.numbers()?);
        let (&[first, smallest, largest, power], &[mean, mean_low, distances, distances_low]) =
            (&bounds[..], &sums[..])
        else {
            return Err(reader.refuse("other sizes"));
        };
        let is_possible = zeros.checked_add(ones).is_some_and(|both| both <= known)
            && power >= f64::from(POWERS[0])
            && power <= f64::from(POWERS[1]);
        if !is_possible {
            return Err(reader.refuse("counts that cannot be"));
        }
        Ok(Self {
            known,
            zeros,
            ones,
            first,
            smallest,
            largest,
            power: power as i32,
            mean: Twofold { high: mean, low: mean_low },
            distances: Twofold { high: distances, low: distances_low },
        })
    }
}

/// The least power of 2 that is not below a size, within those that are used (of nothing the least).
fn power_above(size: f64) -> i32 {
    (size.log2().ceil() as i32).clamp(POWERS[0], POWERS[1])
}
