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
}
