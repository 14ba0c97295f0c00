//! Scores: what a call brings, person by person and decision by decision, whether it was made or not.
//!
//! ```text
//! G = μ₁ − μ₀ + (a/e)(y − μ₁) − ((1 − a)/(1 − e))(y − μ₀)
//! ```
//!
//! with what the judge expects called (μ₁) and left alone (μ₀), what came (y) and the propensity e of a call. Whatever the judge
//! thinks, the mean of G over how calls might have fallen is the effect of a call: a bad judge costs noise, not truth. y is what the
//! next state is worth over a programme, or its reward; of pulls that last, the outcome of the whole [course](super::course).

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
    /// Expected outcomes of courses, left alone and called; empty if pulls are assigned at every decision.
    pub expected: Vec<[f64; 2]>,
}

impl Scores {
    pub(super) fn empty() -> Self {
        Self { is_scored: Vec::new(), propensity: Vec::new(), worth: Vec::new(), expected: Vec::new() }
    }
}

impl Evidence {
    /// The scores, were the calls dealt so.
    pub(super) fn score(&self, deals: &[&Deal]) -> Scores {
        let n = self.rows.len();
        let mut scores = Scores {
            is_scored: vec![false; n],
            propensity: vec![0.0; n],
            worth: vec![0.0; n],
            expected: Vec::new(),
        };
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
        if let Some(means) = &self.means {
            scores.expected = self.score_courses(means, deals, &mut scores);
        }
        scores
    }

    /// G of the next reward, and whether anything is learnt from the row about it.
    pub(super) fn reward_scores(&self) -> (Vec<f64>, Vec<bool>) {
        let (mut scores, mut is_scored) = (vec![0.0; self.rows.len()], vec![false; self.rows.len()]);
        for group in &self.groups {
            for k in group.rows.clone() {
                let (row, e) = (&self.rows[k], self.scores.propensity[k]);
                let is_eligible = group.deal.is_eligible[[row.decision as usize, row.arm as usize]];
                is_scored[k] = row.has_next() && is_eligible && e > 0.0 && e < 1.0;
                if is_scored[k] {
                    scores[k] = gained(row.reward, row.came[1], called(group, row), e);
                }
            }
        }
        (scores, is_scored)
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
}

pub(super) fn called(group: &GroupRows, row: &Row) -> bool {
    called_in(&group.deal, row)
}

pub(super) fn called_in(deal: &Deal, row: &Row) -> bool {
    deal.is_called[[row.decision as usize, row.arm as usize]]
}

#[inline]
pub(super) fn gained([alone, called]: [f64; 2], came: f64, is_called: bool, e: f64) -> f64 {
    called - alone + if is_called { (came - called) / e } else { -(came - alone) / (1.0 - e) }
}
