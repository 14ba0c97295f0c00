//! Who gets which arm: blocks of like people, and a chance that anybody can compute again.
//!
//! Units are people, or clusters where clusters are assigned. They are sorted by stratum, then by a prognostic score, and cut into blocks
//! of neighbours: pairs for two equal arms, else as many as the shares sum to. A block gives each arm its share, and who of the block goes
//! where is decided by a [key](tie_key) of seed and id. So every unit has the chance of an arm that its share says, the order of
//! rows does not matter, and arms have their sizes to within 1. Blocks at the seam of two strata hold units of both.
//!
//! **The last block** may be short: with r units left of a block of b, and S the sums of the shares up to an arm, the arms up to
//! it get ⌊(r·S + u)/b⌋, u a number from 0 to b − 1 by another key. Each arm gets its part rounded up or down, in the mean exactly its part; a full block
//! gets its shares.
//!
//! There is no rule that draws again where [`balance`] displeases: the blocks have made the draws that would be thrown away
//! rare, and an interval does not know of those that were.

use super::difference::moments;
use super::record::{Group, unsuitable};
use crate::allocation::tie_key;
use crate::error::{Error, Result};
use ndarray::ArrayView2;

/// A person, or a cluster of people.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit<'a> {
    /// its name, which nobody else has
    pub id: &'a str,
    /// units of a stratum are dealt together
    pub stratum: usize,
    /// what is expected of it without calls
    pub score: f64,
}

/// The arm of each unit, by its position in `shares`: `[2, 1]` are two arms, the first twice as large.
///
/// ```
/// use restive::trial::{Unit, assign};
///
/// let unit = |id, score| Unit { id, stratum: 0, score };
/// let units = [unit("ada", 3.1), unit("bo", 0.2), unit("cy", 2.9), unit("di", 0.3)];
/// let arm = assign(&units, &[1, 1], 7)?;
/// assert_ne!(arm[0], arm[2]); // neighbours by score are a pair
/// assert_ne!(arm[1], arm[3]);
/// # Ok::<(), restive::Error>(())
/// ```
pub fn assign(units: &[Unit<'_>], shares: &[usize], seed: u64) -> Result<Vec<usize>> {
    let common = shares.iter().copied().fold(0, divisor);
    if shares.len() < 2 || shares.contains(&0) {
        return Err(unsuitable("shares", format!("{shares:?}"), "at least two, none of them 0"));
    }
    if let Some(position) = units.iter().position(|unit| !unit.score.is_finite()) {
        return Err(Error::NotFinite { what: "score", position, found: units[position].score });
    }
    let mut ids: Vec<&str> = units.iter().map(|unit| unit.id).collect();
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(unsuitable("id", format!("{:?} more than once", pair[0]), "every id once"));
    }
    // equal scores are ordered by chance, and equal keys, which do not happen, by id
    let place = |i: usize| (tie_key(seed, "order", units[i].id), units[i].id);
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_by(|&i, &j| {
        let by_score = units[i].score.total_cmp(&units[j].score);
        units[i].stratum.cmp(&units[j].stratum).then(by_score).then_with(|| place(i).cmp(&place(j)))
    });
    let shares: Vec<usize> = shares.iter().map(|share| share / common).collect();
    let size: usize = shares.iter().sum();
    let mut arm = vec![0; units.len()];
    for block in order.chunks_mut(size) {
        block.sort_by_cached_key(|&i| (tie_key(seed, "arm", units[i].id), units[i].id));
        let shift = tie_key(seed, "rest", units[block[0]].id) % size as u64;
        let (mut so_far, mut dealt) = (0, 0);
        for (k, share) in shares.iter().enumerate() {
            so_far += share;
            let until = (block.len() * so_far + shift as usize) / size;
            block[dealt..until].iter().for_each(|&i| arm[i] = k);
            dealt = until;
        }
    }
    Ok(arm)
}

fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// `[p]`: by how much the arms differ in each covariate `[n,p]`, in standard deviations: (x̄ − x̄′)/√((s² + s′²)/2). A tenth is small
/// talk; 0 where a covariate is the same for everybody.
pub fn balance(group: &[Group], covariates: ArrayView2<'_, f64>) -> Vec<f64> {
    assert_eq!(group.len(), covariates.nrows(), "covariates: [n,p]");
    let differ = |column: ndarray::ArrayView1<'_, f64>| {
        let [ours, theirs] = [Group::Policy, Group::Control].map(|arm| -> Vec<f64> {
            column.iter().zip(group).filter(|(_, g)| **g == arm).map(|(x, _)| *x).collect()
        });
        if ours.len() < 2 || theirs.len() < 2 {
            return 0.0;
        }
        let [(mean, variance), (other, spread)] = [moments(&ours), moments(&theirs)];
        let unit = ((variance + spread) / 2.0).sqrt();
        if mean == other { 0.0 } else { (mean - other) / unit }
    };
    covariates.columns().into_iter().map(differ).collect()
}
