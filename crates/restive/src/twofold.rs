//! A sum, and what rounding has taken from it: about 32 digits, so that a sum of very many numbers, or of sums that were made in many
//! places, rounds no more than one addition does.

/// high + low, of which high is the sum as it was rounded.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Twofold {
    pub(crate) high: f64,
    pub(crate) low: f64,
}

impl Twofold {
    /// Adds a number; what the rounded sum leaves out of either is found exactly (Knuth).
    pub(crate) fn add(&mut self, x: f64) {
        let sum = self.high + x;
        let part = sum - self.high;
        self.low += (self.high - (sum - part)) + (x - part);
        self.high = sum;
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, other: Self) {
        self.add(other.high);
        self.add(other.low);
    }

    /// Of all these.
    pub(crate) fn sum(values: impl Iterator<Item = f64>) -> Self {
        values.fold(Self::default(), |mut sum, x| {
            sum.add(x);
            sum
        })
    }

    /// Times a power of 2, which rounds nothing.
    pub(crate) fn scaled(self, power: f64) -> Self {
        Self { high: self.high * power, low: self.low * power }
    }

    /// As one number.
    pub(crate) fn get(self) -> f64 {
        self.high + self.low
    }
}

#[cfg(test)]
mod tests {
    use super::Twofold;

    #[test]
    fn nothing_is_lost_beside_a_large_number() {
        // 2⁵³ + 1 + 1 + … : a plain sum stands still
        let values = std::iter::once(9007199254740992.0).chain(std::iter::repeat_n(1.0, 1000));
        assert_eq!(Twofold::sum(values.clone()).get(), 9007199254741992.0);
        assert_eq!(values.sum::<f64>(), 9007199254740992.0);
        let mut parts = Twofold::sum([1e100, 3.0].into_iter());
        parts.merge(Twofold::sum([-1e100, 4.0].into_iter()));
        assert_eq!(parts.get(), 7.0);
    }
}
