//! Scores: what a call brings, person by person and decision by decision, whether it was made or not.
//!
//! ```text
//! G = μ₁ − μ₀ + (a/e)(y − μ₁) − ((1 − a)/(1 − e))(y − μ₀)
//! ```
//!
//! with what the judge expects called (μ₁) and left alone (μ₀), what came (y) and the propensity e of a call. Whatever the judge
//! thinks, the mean of G over how calls might have fallen is the effect of a call: a bad judge costs noise, not truth. y is what the
//! next state is worth over a programme, or its reward.

use super::design::Deal;
use super::rows::{Evidence, GroupRows, Row};

/// The scores of every row under some deal of the calls.
pub(super) struct Scores {
    /// whether anything is learnt from the row
    pub is_scored: Vec<bool>,
    /// e
    pub propensity: Vec<f64>,
    /// G of worth; 0 where nothing is learnt
    pub worth: Vec<f64>,
}

impl Scores {
    pub(super) fn empty() -> Self {
        Self { is_scored: Vec::new(), propensity: Vec::new(), worth: Vec::new() }
    }
}

impl Evidence {
    /// The scores, were the calls dealt so.
    pub(super) fn score(&self, deals: &[&Deal]) -> Scores {
        let n = self.rows.len();
        let mut scores = Scores { is_scored: vec![false; n], propensity: vec![0.0; n], worth: vec![0.0; n] };
        for (group, deal) in self.groups.iter().zip(deals) {
            let shares = deal.shares();
            for k in group.rows.clone() {
                let row = &self.rows[k];
                let at = [row.decision as usize, row.arm as usize];
                let e = deal.propensity(&shares, at);
                let is_scored = row.is_seen && deal.is_eligible[at] && e > 0.0 && e < 1.0;
                scores.propensity[k] = e;
                scores.is_scored[k] = is_scored;
                if is_scored {
                    scores.worth[k] = row.immediate + gained(row.worth, row.came[0], deal.is_called[at], e);
                }
            }
        }
        scores
    }

    /// G of the next reward.
    pub(super) fn reward_scores(&self) -> Vec<f64> {
        let mut scores = vec![0.0; self.rows.len()];
        for group in &self.groups {
            for k in group.rows.clone().filter(|k| self.scores.is_scored[*k]) {
                let (row, is_called) = (&self.rows[k], called(group, &self.rows[k]));
                scores[k] = gained(row.reward, row.came[1], is_called, self.scores.propensity[k]);
            }
        }
        scores
    }

    /// x less its mean over the scored rows of the cell; 0 where nothing is learnt.
    pub(super) fn centred(&self, x: &[f64], is_scored: &[bool]) -> Vec<f64> {
        let (mut sum, mut rows) = (vec![0.0; self.cells], vec![0.0; self.cells]);
        let scored = || self.rows.iter().zip(x).zip(is_scored).filter(|(_, scored)| **scored);
        for ((row, x), _) in scored() {
            sum[row.cell as usize] += x;
            rows[row.cell as usize] += 1.0;
        }
        let each = self.rows.iter().zip(x).zip(is_scored);
        each.map(|((row, x), scored)| {
            let cell = row.cell as usize;
            if *scored { x - sum[cell] / rows[cell] } else { 0.0 }
        })
        .collect()
    }

    /// Σ of a person's rows, `[people]`.
    pub(super) fn by_person(&self, x: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut sums = vec![0.0; self.people];
        self.rows.iter().zip(x).for_each(|(row, x)| sums[row.person as usize] += x);
        sums
    }
}

pub(super) fn called(group: &GroupRows, row: &Row) -> bool {
    group.deal.is_called[[row.decision as usize, row.arm as usize]]
}

#[inline]
fn gained([alone, called]: [f64; 2], came: f64, is_called: bool, e: f64) -> f64 {
    called - alone + if is_called { (came - called) / e } else { -(came - alone) / (1.0 - e) }
}
