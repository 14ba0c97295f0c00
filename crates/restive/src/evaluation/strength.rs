//! What a prediction is worth beside an arm's own record, whatever is observed.
//!
//! With full observation the strength κ of a prediction is that of [`fit_strength`]: the likelihood of counts has a closed form
//! there. Sightings of arms that are seen at pulls only have none, for a sighting speaks of several rows at once. But given the
//! transitions they are independent of each other, so half of the sightings, drawn at random, can be foretold from the others: κ is the
//! best of the [`GRID`] by the log-likelihood of either half under the transitions [fitted] to the other half and to the
//! prediction, and by the same weak prior. One κ serves both actions, because most sightings speak of both.

use super::transitions::{best_of_grid, fit_strength};
use super::{GRID, Record, Strength, fitted};
use crate::belief::beliefs;
use crate::random::stream;
use ndarray::{Array3, ArrayView3, ArrayView4, Axis};
use rand::RngExt;

/// The stream that draws the halves: no other use of a seed begins with it.
const HALVES: u64 = 0x6861_6c76;

/// The strength of predictions (`[N,M,2,M]`) for each action, by the records of arms that were not learnt from.
pub fn strength(held_out: &[(&Record, ArrayView4<'_, f64>)]) -> [Strength; 2] {
    let moves: Option<Vec<_>> =
        held_out.iter().map(|(record, p)| Some((record.moves()?.view(), *p))).collect();
    match moves {
        Some(pairs) => fit_strength(&pairs),
        None => [of_sightings(held_out); 2],
    }
}

fn of_sightings(held_out: &[(&Record, ArrayView4<'_, f64>)]) -> Strength {
    let mut pairs = Vec::with_capacity(held_out.len());
    let mut speaking = 0.0;
    for (record, prediction) in held_out {
        if let Record::Sightings { seen, .. } = record {
            let by_arm = seen.axis_iter(Axis(0)).map(|arm| arm.sum());
            speaking += by_arm.filter(|n| *n > 1.0).sum::<f64>();
            pairs.push((halves(seen.view()), prediction));
        }
    }
    let likelihood = |strength: f64| {
        let of_record = |(halves, prediction): &([Array3<f64>; 2], &ArrayView4<'_, f64>)| {
            let foretold = |from: &Array3<f64>, other: &Array3<f64>| {
                let p = fitted(from.view(), Some((**prediction, [strength; 2])));
                let (_, labels, m) = other.dim();
                let b = beliefs(p.view(), labels / m);
                let cells = other.iter().zip(b.belief.view()).filter(|(n, _)| **n > 0.0);
                cells.map(|(n, b)| n * b.max(f64::MIN_POSITIVE).ln()).sum::<f64>()
            };
            foretold(&halves[0], &halves[1]) + foretold(&halves[1], &halves[0])
        };
        pairs.iter().map(of_record).sum()
    };
    let value = if speaking > 0.0 { best_of_grid(likelihood) } else { best_of_grid(|_| 0.0) };
    let is_at_edge = value == GRID[0] || value == GRID[GRID.len() - 1];
    Strength { value, transitions: speaking.round() as usize, is_at_edge }
}

/// Every sighting (`[N,L,M]`), dealt at random to one of two halves. Dealt in turn the halves would resemble each other more
/// than chance allows, and a fit that follows the noise of one would seem to foretell the other.
fn halves(seen: ArrayView3<'_, f64>) -> [Array3<f64>; 2] {
    let mut random = stream(0, &[HALVES]);
    let first = seen.mapv(|n| (0..n.round() as u64).filter(|_| random.random::<bool>()).count() as f64);
    let second = &seen - &first;
    [first, second]
}
