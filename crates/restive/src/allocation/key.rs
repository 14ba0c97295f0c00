//! The key that breaks ties, and numbers drawn from keys.
//!
//! # The algorithm
//! The text is `seed/period/id`: the seed in decimal, a slash, the period, a slash, the id, in UTF-8. Over its bytes runs FNV-1a in 64
//! bits, and the finaliser of SplitMix64 follows; all products are modulo 2⁶⁴.
//!
//! ```text
//! h = 0xcbf29ce484222325
//! for each byte b:   h = (h xor b) · 0x100000001b3
//! h = (h xor (h >> 30)) · 0xbf58476d1ce4e5b9
//! h = (h xor (h >> 27)) · 0x94d049bb133111eb
//! key = h xor (h >> 31)
//! ```
//!
//! In Python, with `M = 2**64 - 1`: `for b in f"{seed}/{period}/{id}".encode(): h = (h ^ b) * 0x100000001b3 & M`, and so on. The
//! key is no secret keeper: whoever knows the seed can compute it, which is the point.

/// The key of a person in a period: everybody who knows the seed can compute it, on any machine.
///
/// ```
/// use restive::allocation::tie_key;
///
/// assert_ne!(tie_key(7, "2026-W03", "a-17"), tie_key(7, "2026-W04", "a-17"));
/// ```
pub fn tie_key(seed: u64, period: &str, id: &str) -> u64 {
    let text = format!("{seed}/{period}/{id}");
    let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
    mix(text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// The finaliser of SplitMix64.
pub(super) fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A uniform number from 0 to below 1 that belongs to a pair of keys, in this order.
pub(super) fn uniform(a: u64, b: u64) -> f64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let hash = mix(mix(a.wrapping_add(GOLDEN)).wrapping_add(mix(b ^ GOLDEN).rotate_left(32)));
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

/// The key that decides the position of a person among the people of a list, given the [`tie_key`] of the person.
///
/// A draw takes the smallest tie keys. Places need numbers that do not depend on the size of these keys, otherwise the people drawn
/// would be first.
///
/// ```
/// use restive::allocation::{place_key, tie_key};
///
/// let key = tie_key(7, "2026-W03", "a-17");
/// assert_ne!(place_key(key), key);
/// ```
pub fn place_key(key: u64) -> u64 {
    // ASCII of "place"
    mix(mix(key ^ 0x0070_6c61_6365).wrapping_add(0x9e37_79b9_7f4a_7c15))
}

/// The fresh key of a repetition: as if the seed were another one.
pub(super) fn fresh(key: u64, repetition: u64) -> u64 {
    mix(key ^ mix(repetition.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}
