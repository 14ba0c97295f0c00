//! One loop, compiled for several processors, chosen when it runs.
//!
//! The crate is built for the oldest x86-64 or aarch64, so that one binary runs everywhere; `for_cpu!` compiles
//! a loop again for AVX2 and for AVX-512 and picks the widest that the machine has. The loops use no fused
//! multiply-add and fix the order of their sums, so every version gives the same bits. Only matrix products
//! fuse multiply-adds, so that their last bits depend on the instructions.
//!
//! The environment variable `RESTIVE_PORTABLE=1` selects the instructions that every processor has, for tests that compare
//! the results of two processors on one machine. It is read once, before the first loop runs.

/// Instruction sets that loops are compiled for, narrowest first.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Instructions {
    /// Instructions of every x86-64.
    Baseline,
    /// AVX2, BMI2 and FMA.
    Avx2,
    /// AVX-512 F, DQ, VL and BW, and all of [`Avx2`](Self::Avx2).
    Avx512,
}

/// Returns the widest instruction set of this machine, or the baseline if `RESTIVE_PORTABLE` is `1`.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn instructions() -> Instructions {
    static WIDEST: std::sync::LazyLock<Instructions> = std::sync::LazyLock::new(|| {
        let has_avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("fma");
        let has_avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw");
        let is_portable = std::env::var_os("RESTIVE_PORTABLE").is_some_and(|value| value == "1");
        match (is_portable, has_avx2, has_avx512) {
            (true, ..) | (_, false, _) => Instructions::Baseline,
            (_, _, false) => Instructions::Avx2,
            _ => Instructions::Avx512,
        }
    });
    *WIDEST
}

/// Defines `$name` with the widest instructions of the machine; `$body` must be `#[inline(always)]`.
macro_rules! for_cpu {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:path) => {
        $(#[$meta])*
        $vis fn $name($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,bmi2")]
                fn wide($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                #[target_feature(enable = "avx2,bmi2")]
                fn medium($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                match $crate::simd::instructions() {
                    // SAFETY: the processor has every feature `wide` is compiled for: that is what `Avx512` says.
                    $crate::simd::Instructions::Avx512 => return unsafe { wide($($arg),*) },
                    // SAFETY: the processor has AVX2 and BMI2: that is what `Avx2` says.
                    $crate::simd::Instructions::Avx2 => return unsafe { medium($($arg),*) },
                    $crate::simd::Instructions::Baseline => {}
                }
            }
            $body($($arg),*)
        }
    };
}
pub(crate) use for_cpu;

/// Copies numbers to memory that will not be read soon, past the caches: a line that is written whole need not be read first. Whoever
/// calls it must call [`fence`] before others may look.
#[inline(always)]
pub(crate) fn stream(from: &[f64], to: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_loadu_pd, _mm_stream_pd};
        let head = to.as_ptr().align_offset(16).min(to.len());
        to[..head].copy_from_slice(&from[..head]);
        let (from, to) = (&from[head..], &mut to[head..]);
        let pairs = from.as_chunks::<2>().0.iter().zip(to.as_chunks_mut::<2>().0);
        for (from, to) in pairs {
            // SAFETY: SSE2 is part of x86-64; either pointer is to two numbers that are borrowed here, and `to` is aligned to
            // the 16 bytes of a pair, as `head` numbers were skipped for. That the store is weakly ordered is [`fence`]'s concern.
            unsafe { _mm_stream_pd(to.as_mut_ptr(), _mm_loadu_pd(from.as_ptr())) };
        }
        let done = from.len() / 2 * 2;
        to[done..].copy_from_slice(&from[done..]);
    }
    #[cfg(not(target_arch = "x86_64"))]
    to.copy_from_slice(from);
}

/// Asks memory for the line in which a slice begins.
#[inline(always)]
pub(crate) fn prefetch(numbers: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and asking for a line neither reads nor faults.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(numbers.as_ptr().cast());
    }
}

/// Waits until all that was [streamed](stream) can be seen.
#[inline(always)]
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// eˣ to about one unit in the last place, in operations that every vector unit has.
///
/// x = n·ln 2 + r with |r| ≤ ln 2/2, and eʳ by its Taylor polynomial of degree 13 (remainder below 5e-18). The
/// argument is held within ±708, where the result is a normal number.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    // adding 1.5·2⁵² rounds to an integer and leaves it in the low bits
    const ROUND: f64 = 6755399441055744.0;
    // ln 2 in two parts, the first with 32 bits, so that n times it is exact
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let x = x.clamp(-708.0, 708.0);
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let mut sum = INVERSE_FACTORIALS[13];
    let mut k = 13;
    while k > 0 {
        k -= 1;
        sum = sum * r + INVERSE_FACTORIALS[k];
    }
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    sum * power
}

/// ln(1 + u) for u from 0 to 1, to a few units in the last place: 2 artanh(u/(2 + u)) by its series, of which 9⁻¹⁶/33 is left.
#[inline(always)]
pub(crate) fn ln_1p(u: f64) -> f64 {
    let s = u / (2.0 + u);
    let square = s * s;
    let mut sum = 1.0 / 31.0;
    let mut k = 15;
    while k > 0 {
        k -= 1;
        sum = sum * square + 1.0 / (2 * k + 1) as f64;
    }
    2.0 * s * sum
}

/// ln σ(z) for any z, infinite ones included; [`exp`] holds its argument, so that ln σ(∞) is −3·10⁻³⁰⁸.
#[inline(always)]
pub(crate) fn log_sigmoid(z: f64) -> f64 {
    z.min(0.0) - ln_1p(exp(-z.abs()))
}

/// 1/k!
const INVERSE_FACTORIALS: [f64; 14] = {
    let mut inverse = [1.0; 14];
    let mut factorial = 1.0;
    let mut k = 1;
    while k < 14 {
        factorial *= k as f64;
        inverse[k] = 1.0 / factorial;
        k += 1;
    }
    inverse
};

#[cfg(test)]
mod tests {
    use super::{exp, ln_1p, log_sigmoid};

    #[test]
    fn exp_is_the_exponential_to_a_few_units_in_the_last_place() {
        for k in -700_000..=700_000 {
            let x = k as f64 * 1.000_123e-3;
            let error = (exp(x) / x.exp() - 1.0).abs();
            assert!(error < 6e-16, "exp({x}) is off by {error:e}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f64::MAX).is_finite() && exp(f64::MIN) > 0.0);
    }

    #[test]
    fn ln_1p_and_log_sigmoid_are_those_of_the_standard_library() {
        for k in 0..=100_000 {
            let u = f64::from(k) * 1e-5;
            // five roundings at 1.1e-16 each, and one of the standard library
            assert!((ln_1p(u) - u.ln_1p()).abs() <= 6.7e-16 * u.ln_1p(), "ln_1p({u})");
        }
        for k in -900_000..=900_000 {
            let z = f64::from(k) * 1.000_123e-3;
            let truth = crate::policy::odds::log_sigmoid(z);
            // below e^-708 the exponential is held
            assert!((log_sigmoid(z) - truth).abs() <= 1e-15 * truth.abs() + 1e-307, "log_sigmoid({z})");
        }
        assert_eq!(log_sigmoid(f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert!(log_sigmoid(f64::INFINITY) > -1e-300);
    }
}
