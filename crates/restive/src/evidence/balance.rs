//! Were those who were called chosen? What is known of people before a decision must not tell whether they were called.
//!
//! Each check is a standard score of the called against the others, Σ (a − e) v/√(Σ e(1 − e) v²), with v centred within groups and
//! decisions, or within cells. Under the design that is claimed it is close to a standard normal number; beyond 3 the claim is not
//! to be believed. If clusters are declared, the variance is Σ_c (Σ_{k∈c} (a − e) v)², over clusters c.

use super::design::Design;
use super::ranking::{Ranking, squares};
use super::rows::Evidence;
use super::scores::called;

/// Standard scores of the called people against the others, each for one property of people. A score is positive if the called people have
/// larger values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Balance {
    /// Score of the number of the state. It is negative if people in lower states were called.
    pub state: f64,
    /// Score of the mean reward of the earlier states.
    pub earlier_states: f64,
    /// Score of the next reward that the outcome model expects without a call; 0 without an outcome model.
    pub expected: f64,
    /// Score of the rank. It is large if the people were called that the model would call. `None` without a ranking.
    pub rank: Option<f64>,
    /// Score of the number of earlier calls; `None` if turns are taken and no propensity was recorded.
    pub earlier_calls: Option<f64>,
    /// Score of observed next states. It is positive if the next states of called people were observed more often.
    pub seen: f64,
}

impl Balance {
    /// What is out of balance by more than 3 standard errors: the largest, by name.
    pub fn objection(&self) -> Option<(&'static str, f64)> {
        let all = [
            ("state", Some(self.state)),
            ("earlier states", Some(self.earlier_states)),
            ("expected reward", Some(self.expected)),
            ("rank", self.rank),
            ("earlier calls", self.earlier_calls),
            ("seen next states", Some(self.seen)),
        ];
        let beyond = all.into_iter().filter_map(|(name, score)| Some((name, score?)));
        beyond.filter(|(_, score)| score.abs() > MOST_SCORE).max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
    }
}

/// What chance does once in 400 times.
pub const MOST_SCORE: f64 = 3.0;

impl Evidence {
    /// Computes the scores; that of ranks only with a ranking.
    pub fn balance(&self, ranking: Option<&Ranking>) -> Balance {
        let by_cell = |k: usize| self.rows[k].cell as usize;
        let by_block = |k: usize| self.rows[k].cell as usize / self.states;
        let (mut earlier, mut so_far) = (vec![0.0; self.rows.len()], vec![0.0; self.people]);
        // a person without an earlier state counts as one with an average one
        let seen = || self.rows.iter().filter(|row| row.has_next());
        let average = seen().map(|row| row.came[1]).sum::<f64>() / seen().count().max(1) as f64;
        let (mut earlier_states, mut states) =
            (vec![0.0; self.rows.len()], vec![(average, 1.0); self.people]);
        for group in &self.groups {
            for k in group.rows.clone() {
                let row = &self.rows[k];
                let person = row.person as usize;
                earlier[k] = so_far[person];
                so_far[person] += f64::from(u8::from(called(group, row)));
                let (sum, count) = &mut states[person];
                earlier_states[k] = *sum / *count;
                if row.has_next() {
                    (*sum, *count) = (*sum + row.came[1], *count + 1.0);
                }
            }
        }
        let of = |value: &dyn Fn(usize) -> f64, cell: &dyn Fn(usize) -> usize, only_seen: bool| {
            self.called_against_others(value, cell, |k| self.rows[k].is_seen || !only_seen)
        };
        // who is called in turn has as many calls as others whose turn it is
        let is_recorded = self.is_recorded();
        let of_earlier = |is_in: &dyn Fn(usize) -> bool| {
            self.called_against_others(&|k| earlier[k], &by_cell, |k| self.rows[k].is_seen && is_in(k))
        };
        Balance {
            state: of(&|k| f64::from(self.rows[k].state), &by_block, true),
            earlier_states: of(&|k| earlier_states[k], &by_cell, true),
            expected: of(&|k| self.rows[k].reward[0], &by_cell, true),
            rank: ranking.map(|ranking| of(&|k| ranking.ranks.z[k], &by_cell, true)),
            earlier_calls: match self.settings.design {
                Design::Rota => self.has_recorded().then(|| of_earlier(&|k| is_recorded[k])),
                Design::Uniform | Design::Logged | Design::Estimated => Some(of_earlier(&|_| true)),
            },
            seen: of(&|k| f64::from(u8::from(self.rows[k].is_seen)), &by_cell, false),
        }
    }

    /// Standard score of the called against the others by a number of each person, in the order of groups and their arms; within
    /// cells.
    pub fn balance_by_person(&self, value: &[f64]) -> f64 {
        let of = |k: usize| value[self.rows[k].person as usize];
        self.called_against_others(&of, &|k| self.rows[k].cell as usize, |k| self.rows[k].is_seen)
    }

    fn called_against_others(
        &self,
        value: &dyn Fn(usize) -> f64,
        cell: &dyn Fn(usize) -> usize,
        is_in: impl Fn(usize) -> bool,
    ) -> f64 {
        let (mut sum, mut rows) = (vec![0.0; self.cells], vec![0.0; self.cells]);
        let mut included = Vec::new();
        for group in &self.groups {
            for k in group.rows.clone() {
                let row = &self.rows[k];
                let e = self.scores.propensity[k];
                let is_eligible = group.deal.is_eligible[[row.decision as usize, row.arm as usize]];
                if is_eligible && e > 0.0 && e < 1.0 && is_in(k) {
                    included.push((k, called(group, row), e));
                    sum[cell(k)] += value(k);
                    rows[cell(k)] += 1.0;
                }
            }
        }
        let (mut difference, mut variance) = (0.0, 0.0);
        let mut by_cluster = vec![0.0; if self.clusters.is_declared { self.clusters.count() } else { 0 }];
        for (k, is_called, e) in included {
            let v = value(k) - sum[cell(k)] / rows[cell(k)];
            let part = (f64::from(u8::from(is_called)) - e) * v;
            difference += part;
            if self.clusters.is_declared {
                by_cluster[self.cluster_of(&self.rows[k])] += part;
            } else {
                variance += e * (1.0 - e) * v * v;
            }
        }
        if self.clusters.is_declared {
            variance = squares(&by_cluster);
        }
        if variance > 1e-12 { difference / variance.sqrt() } else { 0.0 }
    }
}
