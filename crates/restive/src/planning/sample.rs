//! Who stands for everybody where there are millions of arms: those with the smallest keys.
//!
//! A key is a number that belongs to an arm and not to its place (a hash of its name, say): whoever holds the same arms, in memory
//! or as a stream, in any order, draws the same sample.

/// As many arms as prices of a programme need: with 50,000, prices differ from those of all arms by the noise of a sample, and any
/// prices give a valid bound.
pub const SAMPLE: usize = 50_000;
/// Of a small group, at least as many arms (all, where it has fewer).
const LEAST: usize = 1_000;

/// Of the arms of one group of `all` arms, its share of a sample of `size`, in order.
pub(super) fn sample(mut members: Vec<usize>, keys: &[u64], size: usize, all: usize) -> Vec<usize> {
    let share = (members.len() as f64 * size as f64 / all as f64).ceil() as usize;
    let share = share.max(LEAST.min(size));
    if share < members.len() {
        // equal keys by their place
        members.select_nth_unstable_by_key(share, |&i| (keys[i], i));
        members.truncate(share);
        members.sort_unstable();
    }
    members
}
