//! Transitions that know nothing of anyone: how often arms moved from s under a to s′, over all of them.
//!
//! What a model must beat. A row counts with one move more, spread evenly, so that nothing is impossible; a row of pulls that nobody
//! made is that of arms left alone. Where states are seen at pulls only, they are the transitions [fitted] to the sightings of
//! all arms as if they were one.

use super::record::Record;
use super::sightings::fitted;
use ndarray::{Array3, Array4, Axis};

/// `[M,2,M]`, over all arms of the records, which have as many states.
pub fn frequencies(records: &[&Record]) -> Array3<f64> {
    let mut moves: Option<Array3<f64>> = None;
    let mut seen: Option<Array3<f64>> = None;
    for record in records {
        match record {
            Record::Moves(counts) => {
                let sum = counts.view().sum_axis(Axis(0));
                moves = Some(moves.map_or_else(|| sum.clone(), |moves| moves + &sum));
            }
            Record::Sightings { seen: counts, .. } => {
                let sum = counts.sum_axis(Axis(0)).insert_axis(Axis(0));
                seen = Some(seen.map_or_else(|| sum.clone(), |seen| seen + &sum));
            }
        }
    }
    if let Some(seen) = seen {
        return fitted(seen.view(), None).view().index_axis(Axis(0), 0).to_owned();
    }
    let mut p = moves.expect("at least one record");
    let m = p.shape()[0];
    for s in 0..m {
        if p.index_axis(Axis(0), s).row(1).sum() == 0.0 {
            let passive = p.index_axis(Axis(0), s).row(0).to_owned();
            p.index_axis_mut(Axis(0), s).row_mut(1).assign(&passive);
        }
    }
    for mut row in p.rows_mut() {
        let total = row.sum() + 1.0;
        row.mapv_inplace(|n| (n + 1.0 / m as f64) / total);
    }
    p
}

/// The same for each of n arms, `[N,M,2,M]`.
pub fn alike(row: &Array3<f64>, n: usize) -> Array4<f64> {
    let (m, _, _) = row.dim();
    row.view().insert_axis(Axis(0)).broadcast((n, m, 2, m)).expect("[M,2,M]").to_owned()
}
