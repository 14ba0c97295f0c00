//! Reproducible random numbers (xorshift), independent of the generators under test.

/// Random numbers in [0, 1) that are identical on every machine.
pub struct Chance(u64);

impl Chance {
    /// Creates a generator; different seeds give different numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns the next number.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Returns an integer from 0 to `end` − 1.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() * end as f64) as usize
    }

    /// Returns `true` with probability 1/`count`.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Returns one of `all` at random.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// Puts `all` in random order (Fisher–Yates).
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for i in (1..all.len()).rev() {
            all.swap(i, self.below(i + 1));
        }
    }
}
