//! Random draws that are the same on every machine: only sums, products and comparisons of uniform numbers.

use rand::RngExt;
use restive::random::{Random, stream};

/// Purposes of random numbers; each has its own stream, so that one never moves another.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    People = 0x7065_6f70,
    Transitions,
    Assignment,
    Outcomes,
    Messages,
    MessageFaults,
    Registry,
    SecondRegistry,
    CallRows,
    CallFaults,
    EarlyCalls,
}

/// A stream of random draws.
pub(super) struct Draws(Random);

impl Draws {
    /// The stream of a purpose and, for example, a week and a person.
    pub(super) fn new(seed: u64, purpose: Purpose, path: &[usize]) -> Self {
        let path: Vec<u64> =
            std::iter::once(purpose as u64).chain(path.iter().map(|step| *step as u64)).collect();
        Self(stream(seed, &path))
    }

    /// A uniform number from 0 to 1.
    pub(super) fn unit(&mut self) -> f64 {
        self.0.random()
    }

    /// An integer from 0 to n − 1.
    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    /// Whether an event of this probability happens.
    pub(super) fn is(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of the items, all with the same probability.
    pub(super) fn choose<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// The place of a share; the last place if rounding leaves the sum below 1.
    pub(super) fn place(&mut self, shares: &[f64]) -> usize {
        let mut left = self.unit();
        for (k, share) in shares.iter().enumerate() {
            left -= share;
            if left < 0.0 {
                return k;
            }
        }
        shares.len() - 1
    }

    /// n of the items in random order, or all of them. An item is drawn sooner if its weight is larger.
    pub(super) fn sample(&mut self, items: &[usize], n: usize, weight: impl Fn(usize) -> f64) -> Vec<usize> {
        let mut tickets: Vec<(f64, usize)> =
            items.iter().map(|item| (self.unit() / weight(*item), *item)).collect();
        tickets.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        tickets.into_iter().take(n).map(|(_, item)| item).collect()
    }
}
