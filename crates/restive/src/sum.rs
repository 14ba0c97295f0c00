//! Sums that do not depend on the order of what is added, nor on how it was split.
//!
//! # What it is
//! An [`ExactSum`] holds the sum of any number of `f64` without rounding; [`value`](ExactSum::value) rounds once, to the nearest number,
//! ties to even. So the sum of a million parts has the same bits from memory, from a stream in any order, and from partitions whose
//! sums are [merged](ExactSum::merge).
//!
//! # How it is computed
//! Every finite `f64` is a whole number of units of 2⁻¹⁰⁷⁴, below 2²⁰⁹⁸ of them. The sum is one such whole number, in limbs of 32 bits, each
//! in an `i64` that has room for more (a superaccumulator; Kulisch, and in this form Neal 2015):
//!
//! ```text
//! x = ±m 2^p units, m < 2⁵³, p = 32 k + s:      limb k += ±(m 2^s mod 2³²)      limb k+1 += ±⌊m 2^s / 2³²⌋
//! ```
//!
//! An addition is a dozen operations on whole numbers and two limbs read and written, whatever the exponent: about 3 ns, four times a plain sum. What it adds to a limb is below 2⁵³,
//! so that carries wait for 512 additions; carrying is one pass over 67 limbs. After it every limb but the last is from 0 to
//! 2³² − 1, the last has the sign, and equal sums have equal limbs. Room is left for 2⁶⁴ additions of the largest number.
//!
//! # What is not finite
//! A sum with a NaN, or with infinities of both signs, is NaN; one with infinities of one sign is that infinity, whatever else was added,
//! before or after. Finite parts are never lost in between: 10³⁰⁸ + 10³⁰⁸ − 10³⁰⁸ is 10³⁰⁸, and only a sum that is itself beyond all numbers rounds to
//! infinity. A sum of nothing, and one that cancels, is 0, never −0.
//!
//! ```
//! use restive::sum::ExactSum;
//!
//! let parts = [1e100, 1.0, -1e100, 1e-300];
//! assert_eq!(parts.iter().sum::<f64>(), 1e-300); // the 1 was lost
//! let sum: ExactSum = parts.into_iter().collect();
//! assert_eq!(sum.value(), 1.0);
//!
//! let (mut left, right): (ExactSum, ExactSum) = (parts[2..].iter().copied().collect(), parts[..2].iter().copied().collect());
//! left.merge(&right);
//! assert_eq!(left.to_bytes(), sum.to_bytes());
//! ```

/// Limbs: 2098 bits of the largest number, 64 of the additions, and a sign.
const LIMBS: usize = 67;
const LAST: usize = LIMBS - 1;
/// Additions after which carries must go on.
const MOST_PENDING: u32 = 512;
/// The last limb of 2⁶⁴ additions is below this.
const MOST_LAST: u64 = 1 << 51;
const LOW: i64 = 0xffff_ffff;
/// One byte for what is not finite, four for each limb, eight for the last.
const BYTES: usize = 1 + 4 * LAST + 8;
/// What is not finite, as bits of [`ExactSum::beyond`]; a NaN is both infinities.
const POSITIVE: u8 = 1;
const NEGATIVE: u8 = 2;

/// A sum of `f64` without rounding, the same in every order.
#[derive(Debug, Clone)]
pub struct ExactSum {
    limbs: [i64; LIMBS],
    /// additions since carries last went on
    pending: u32,
    /// the infinities that were added
    beyond: u8,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { limbs: [0; LIMBS], pending: 0, beyond: 0 }
    }
}

impl ExactSum {
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, x: f64) {
        let bits = x.to_bits();
        let exponent = bits >> 52 & 0x7ff;
        if exponent == 0x7ff {
            self.beyond |= match x {
                x if x.is_nan() => POSITIVE | NEGATIVE,
                x if x > 0.0 => POSITIVE,
                _ => NEGATIVE,
            };
            return;
        }
        let is_normal = u64::from(exponent > 0);
        let mantissa = bits & ((1 << 52) - 1) | is_normal << 52;
        let place = exponent - is_normal;
        let (limb, shift) = ((place >> 5) as usize, place & 31);
        // all ones where x is negative: (n ^ sign) − sign is then −n
        let sign = (bits as i64) >> 63;
        let (low, high) = ((mantissa << shift) as i64 & LOW, (mantissa >> (32 - shift)) as i64);
        self.limbs[limb] += (low ^ sign) - sign;
        self.limbs[limb + 1] += (high ^ sign) - sign;
        self.pending += 1;
        if self.pending == MOST_PENDING {
            self.carry();
        }
    }

    /// Adds all that another sum holds.
    pub fn merge(&mut self, other: &Self) {
        self.carry();
        let other = other.settled();
        // bytes from elsewhere may hold more than additions can make
        self.limbs.iter_mut().zip(&other.limbs).for_each(|(limb, other)| *limb = limb.wrapping_add(*other));
        self.beyond |= other.beyond;
        self.carry();
    }

    /// The sum, rounded once: to the nearest number, ties to even.
    pub fn value(&self) -> f64 {
        let mut settled = self.settled();
        match settled.beyond {
            0 => {}
            POSITIVE => return f64::INFINITY,
            NEGATIVE => return f64::NEG_INFINITY,
            _ => return f64::NAN,
        }
        let is_negative = settled.limbs[LAST] < 0;
        if is_negative {
            settled.limbs.iter_mut().for_each(|limb| *limb = limb.wrapping_neg());
            settled.carry();
        }
        let size = rounded(&settled.limbs);
        if is_negative { -size } else { size }
    }

    /// The sum in 273 bytes that do not depend on how it came about: equal sums have equal bytes, on every machine.
    pub fn to_bytes(&self) -> Vec<u8> {
        let settled = self.settled();
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.push(settled.beyond);
        settled.limbs[..LAST].iter().for_each(|limb| bytes.extend((*limb as u32).to_le_bytes()));
        bytes.extend(settled.limbs[LAST].to_le_bytes());
        bytes
    }

    /// The sum that [`to_bytes`](Self::to_bytes) wrote; none where it cannot have written these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&beyond, rest) = bytes.split_first().filter(|_| bytes.len() == BYTES)?;
        let (limbs, last) = rest.split_at(4 * LAST);
        let mut sum = Self { beyond, ..Self::default() };
        for (limb, bytes) in sum.limbs.iter_mut().zip(limbs.chunks_exact(4)) {
            *limb = i64::from(u32::from_le_bytes(bytes.try_into().ok()?));
        }
        sum.limbs[LAST] = i64::from_le_bytes(last.try_into().ok()?);
        let is_empty = sum.limbs.iter().all(|limb| *limb == 0);
        let is_possible = beyond <= POSITIVE | NEGATIVE && (beyond == 0 || is_empty);
        (is_possible && sum.limbs[LAST].unsigned_abs() < MOST_LAST).then_some(sum)
    }

    /// The same sum with all carries gone on, and nothing but what is not finite where there is such.
    fn settled(&self) -> Self {
        if self.beyond != 0 {
            return Self { beyond: self.beyond, ..Self::default() };
        }
        let mut settled = self.clone();
        settled.carry();
        settled
    }

    fn carry(&mut self) {
        let mut carried = 0;
        for limb in &mut self.limbs[..LAST] {
            let sum = *limb + carried;
            (*limb, carried) = (sum & LOW, sum >> 32);
        }
        self.limbs[LAST] = self.limbs[LAST].wrapping_add(carried);
        self.pending = 0;
    }
}

/// The number nearest to a sum of at least 0 whose carries have gone on.
fn rounded(limbs: &[i64; LIMBS]) -> f64 {
    let Some(top) = limbs.iter().rposition(|limb| *limb != 0) else { return 0.0 };
    if top == LAST {
        return f64::INFINITY;
    }
    let length = 32 * top as u64 + 64 - u64::from(limbs[top].leading_zeros());
    // the first of the 53 bits that stay
    let place = length.saturating_sub(53);
    if place > 2045 {
        return f64::INFINITY;
    }
    let (limb, shift) = ((place >> 5) as usize, place & 31);
    let window =
        |limb: usize| limbs[limb..limb + 3].iter().rev().fold(0u128, |w, limb| w << 32 | *limb as u128);
    let kept = (window(limb) >> shift) as u64 & ((1 << 53) - 1);
    // a number is its exponent and its bits without the first; that first bit makes the exponent one more
    let number = (place << 52) + kept;
    if place == 0 {
        return f64::from_bits(number);
    }
    let (half_limb, half_shift) = ((place - 1) as usize >> 5, (place - 1) & 31);
    let is_half = limbs[half_limb] >> half_shift & 1 == 1;
    let is_more =
        limbs[half_limb] & ((1 << half_shift) - 1) != 0 || limbs[..half_limb].iter().any(|limb| *limb != 0);
    f64::from_bits(number + u64::from(is_half && (is_more || kept & 1 == 1)))
}

impl PartialEq for ExactSum {
    /// Whether the sums are equal before any rounding; two that are NaN are equal.
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (self.settled(), other.settled());
        one.beyond == other.beyond && one.limbs == other.limbs
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(numbers: I) -> Self {
        let mut sum = Self::default();
        numbers.into_iter().for_each(|x| sum.add(x));
        sum
    }
}
