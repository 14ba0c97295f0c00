//! The model enters through its ranks alone: normal scores of the rank of each person in a group, state by state.
//!
//! Rank r of n (best first) has the score −Φ⁻¹((r − ½)/n); ties share the mean of theirs. Constants, scales and any rising map of the
//! scores leave them as they are, to the digit.

use super::rows::Evidence;
use crate::error::{Error, Result};
use crate::instance::Assignment;
use crate::policy::strict::strict_top_k;
use crate::random::stream;
use crate::statistics::normal_quantile;
use ndarray::{Array3, Axis};
use rand::RngExt;

/// The stream of ties.
const TIES: u64 = 0x7469_6573;

/// What a ranking says of every row.
pub(super) struct Ranks {
    /// normal score of the rank, in the state that the row is in
    pub z: Vec<f64>,
    /// rank over people, from 0 (best) to 1
    pub place: Vec<f64>,
    /// Whether the plan would call: one of the K highest at that decision. If chances were recorded: one of the highest of those
    /// who could have been drawn, as many in proportion. If pulls are assigned once per person: one of the K highest of the group.
    pub is_top: Vec<bool>,
}

impl Evidence {
    /// The ranks that tables lead to: one for each group, `[1 or D, n, M]`, a number for every person and state; higher is called
    /// first.
    pub(super) fn ranks(&self, tables: &[Array3<f64>]) -> Result<Ranks> {
        self.check_tables(tables)?;
        let rows = self.rows.len();
        let mut ranks = Ranks { z: vec![0.0; rows], place: vec![0.0; rows], is_top: vec![false; rows] };
        let mut ties = stream(self.settings.seed, &[TIES]);
        for (group, table) in self.groups.iter().zip(tables) {
            let quantiles = quantiles(group.people.len());
            let scored = |d: usize| -> Vec<Vec<(f64, f64)>> {
                let by_state = table.index_axis(Axis(0), d);
                by_state
                    .columns()
                    .into_iter()
                    .map(|column| normal_scores(&column.to_vec(), &quantiles))
                    .collect()
            };
            let is_same = table.len_of(Axis(0)) == 1;
            let mut now = scored(0);
            let (mut all_at_hand, mut all_whose) = (Vec::new(), Vec::new());
            let mut choose = |at_hand: &[f64], whose: &[usize], budget: f64| {
                let budget = (budget.round() as usize).max(usize::from(budget > 0.0));
                let top = strict_top_k(at_hand, budget, ties.random());
                whose.iter().zip(&top.pull).for_each(|(k, pull)| ranks.is_top[*k] = *pull);
            };
            for (d, block) in group.blocks.iter().enumerate() {
                if d > 0 && !is_same {
                    now = scored(d);
                }
                let own = table.index_axis(Axis(0), if is_same { 0 } else { d });
                let is_recorded = group.deal.is_recorded[d];
                let (mut at_hand, mut whose) =
                    (Vec::with_capacity(block.len()), Vec::with_capacity(block.len()));
                for k in block.clone() {
                    let (i, s) = (self.rows[k].arm as usize, usize::from(self.rows[k].state));
                    (ranks.z[k], ranks.place[k]) = now[s][i];
                    let e = self.scores.propensity[k];
                    if !is_recorded || (group.deal.is_eligible[[d, i]] && e > 0.0 && e < 1.0) {
                        at_hand.push(own[[i, s]]);
                        whose.push(k);
                    }
                }
                if self.settings.assignment == Assignment::PerPerson {
                    all_at_hand.append(&mut at_hand);
                    all_whose.append(&mut whose);
                    continue;
                }
                // of some of the people, as many calls in proportion
                let budget = match is_recorded {
                    true => group.budget * at_hand.len() as f64 / block.len().max(1) as f64,
                    false => group.budget,
                };
                choose(&at_hand, &whose, budget);
            }
            if self.settings.assignment == Assignment::PerPerson {
                let share = all_at_hand.len() as f64 / group.rows.len().max(1) as f64;
                choose(&all_at_hand, &all_whose, group.budget * share);
            }
        }
        Ok(ranks)
    }

    pub(super) fn check_tables(&self, tables: &[Array3<f64>]) -> Result<()> {
        assert_eq!(tables.len(), self.groups.len(), "a table for every group");
        for (group, table) in self.groups.iter().zip(tables) {
            let (d, n, m) = table.dim();
            let decisions = group.blocks.len();
            if (d != 1 && d != decisions) || n != group.people.len() || m != self.states {
                let expected = format!("[1 or {decisions}, {}, {}]", group.people.len(), self.states);
                return Err(Error::Shape { what: "scores", expected, found: vec![d, n, m] });
            }
            if let Some((position, &found)) = table.iter().enumerate().find(|(_, x)| !x.is_finite()) {
                return Err(Error::NotFinite { what: "scores", position, found });
            }
        }
        Ok(())
    }
}

/// −Φ⁻¹((r + ½)/n), r from 0.
fn quantiles(n: usize) -> Vec<f64> {
    (0..n).map(|r| -normal_quantile((r as f64 + 0.5) / n as f64)).collect()
}

/// The normal score and the place of each number; ties share the mean.
fn normal_scores(values: &[f64], quantiles: &[f64]) -> Vec<(f64, f64)> {
    let n = values.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    let mut scores = vec![(0.0, 0.0); n];
    let mut begin = 0;
    while begin < n {
        let same = order[begin..].iter().take_while(|i| values[**i] == values[order[begin]]).count();
        let mean = quantiles[begin..begin + same].iter().sum::<f64>() / same as f64;
        let place = (begin as f64 + 0.5 * same as f64) / n as f64;
        order[begin..begin + same].iter().for_each(|i| scores[*i] = (mean, place));
        begin += same;
    }
    scores
}
