//! Random numbers that do not depend on who asks first.
//!
//! Every use has a stream of its own, named by a seed and a path of numbers (a purpose, a run, an instance, …). Work may
//! then be shared among threads in any way and give the same numbers, and two policies may be held against each other on the
//! same noise. Equal seeds and paths give equal streams: the path of every room begins with a constant of its own.

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers.
pub type Random = Xoshiro256PlusPlus;

/// The stream with this seed and path; other paths give independent streams.
///
/// ```
/// use rand::RngExt;
/// use restive::random::stream;
///
/// let draw = |path: &[u64]| stream(7, path).random::<f64>();
/// assert_eq!(draw(&[1, 2]), draw(&[1, 2]));
/// assert_ne!(draw(&[1, 2]), draw(&[2, 1]));
/// ```
pub fn stream(seed: u64, path: &[u64]) -> Random {
    Random::seed_from_u64(mixed(seed, path))
}

/// One number for a seed and a path, as good as drawn: where an arm is dealt by its key, whoever has it.
pub(crate) fn mixed(seed: u64, path: &[u64]) -> u64 {
    let join = |state: u64, step: &u64| mix(state ^ mix(step.wrapping_add(0x9e37_79b9_7f4a_7c15)));
    path.iter().fold(mix(seed), join)
}

/// The finaliser of SplitMix64: every bit of the input moves every bit of the output.
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
