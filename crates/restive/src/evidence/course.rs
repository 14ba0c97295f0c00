//! Courses: treatments that are assigned once per person and last.
//!
//! Only a person's first decision, that is, the first with a recorded action at which the person was available, is a row. Its outcome is
//!
//! ```text
//! y = Σ_u γ^(u − t) R(s_u, 0)
//! ```
//!
//! over the steps u after that decision t, up to the last step of the trajectory at which the state of any arm was seen. For a state that
//! was not seen, R is the mean over the person's later states that were. If there are several trajectories, y is the outcome in the
//! trajectory of the first decision. Rewards are passive, as in the rest of the evidence; R(s_t, 1) − R(s_t, 0) of the first decision is
//! added to its score.
//!
//! **Expected outcomes.** μ_a is the mean outcome of the people with action a in the same cell (group, decision and state) who are not of
//! the person's own cluster. Scores then average to the difference in means of a cell if all of it have one propensity. A cell with
//! fewer than [`LEAST`] clusters of either action is left out. Each permutation of the calls has its own means.

use super::design::Deal;
use super::ranking::Gain;
use super::rows::{Evidence, Row};
use super::scores::{Scores, called_in, gained};
use crate::instance::{Assignment, Instance, NO_ACTION, UNSEEN};
use std::collections::HashMap;

/// Clusters of each action that a cell must have.
const LEAST: usize = 2;

/// First decisions and outcomes of the arms of an instance.
pub(super) struct Courses<'a> {
    instance: &'a Instance,
    /// First decision of each arm, `[N]`.
    first: Vec<Option<u32>>,
    /// Last step of each trajectory at which an arm was seen, `[J]`.
    last: Vec<usize>,
}

impl<'a> Courses<'a> {
    /// Courses of an instance; `None` if pulls are assigned at every decision.
    pub(super) fn new(instance: &'a Instance, assignment: Assignment) -> Option<Self> {
        if assignment == Assignment::PerDecision {
            return None;
        }
        let (log, state) = (instance.trajectories(), instance.trajectories().state());
        let is_seen = |j: usize, t: usize| (0..log.arms()).any(|i| state[[j, t, i]] != UNSEEN);
        let last = |j: usize| (0..log.steps()).rev().find(|t| is_seen(j, *t)).unwrap_or(0);
        let last = (0..log.trajectories()).map(last).collect();
        let first = |i: usize| actions(instance, i).next().map(|(d, _)| d);
        let first = (0..instance.arms()).map(first).collect();
        Some(Self { instance, first, last })
    }

    /// First decision of each arm, `[N]`.
    pub(super) fn first(&self) -> &[Option<u32>] {
        &self.first
    }

    /// Sets the outcome of a row, which must be of the first decision of its arm `i` of the instance.
    pub(super) fn complete(&self, row: &mut Row, i: usize) {
        let reward = self.instance.reward().view();
        let s = usize::from(row.state);
        let outcome = self.outcome(i, row.decision as usize);
        row.is_seen = outcome.is_some();
        row.worth = [0.0; 2];
        row.came[0] = outcome.unwrap_or(f64::NAN);
        row.immediate = reward[[s, 1]] - reward[[s, 0]];
    }

    /// Discounted sum of the rewards after a decision; `None` if no later state was seen.
    fn outcome(&self, i: usize, decision: usize) -> Option<f64> {
        let (log, reward) = (self.instance.trajectories(), self.instance.reward().view());
        let (state, decisions) = (log.state(), log.steps() - 1);
        let (j, t) = (decision / decisions, decision % decisions);
        let later: Vec<Option<f64>> = (t + 1..=self.last[j])
            .map(|u| Some(state[[j, u, i]]).filter(|s| *s != UNSEEN).map(|s| reward[[usize::from(s), 0]]))
            .collect();
        let seen = later.iter().flatten();
        let count = seen.clone().count();
        if count == 0 {
            return None;
        }
        let mean = seen.sum::<f64>() / count as f64;
        let discount = self.instance.discount();
        let mut weight = 1.0;
        let discounted = later.into_iter().map(|reward| {
            weight *= discount;
            weight * reward.unwrap_or(mean)
        });
        Some(discounted.sum())
    }

    /// Number of some arms whose action changes after their first decision.
    pub(super) fn changed(&self, arms: &[usize]) -> usize {
        let is_changed = |i: &&usize| {
            let mut all = actions(self.instance, **i).map(|(_, action)| action);
            all.next().is_some_and(|first| all.any(|action| action != first))
        };
        arms.iter().filter(is_changed).count()
    }
}

/// Recorded actions of an arm at decisions at which it was available, with the number of the decision.
fn actions(instance: &Instance, i: usize) -> impl Iterator<Item = (u32, u8)> {
    let log = instance.trajectories();
    let (action, decisions) = (log.action(), log.steps() - 1);
    (0..log.trajectories() * decisions).filter_map(move |d| {
        let at = [d / decisions, d % decisions, i];
        let is_counted = action[at] != NO_ACTION && log.is_available(at);
        is_counted.then(|| (d as u32, action[at]))
    })
}

/// Index of rows for means of outcomes by cell that leave out the row's own cluster.
pub(super) struct CourseMeans {
    /// Part of a cluster in a cell, of each row: `[rows]`.
    parts: Vec<u32>,
    /// Cell of each part.
    cells: Vec<u32>,
}

impl CourseMeans {
    pub(super) fn new(rows: &[Row], cluster_of: impl Fn(&Row) -> usize) -> Self {
        let mut known: HashMap<(u32, usize), u32> = HashMap::new();
        let mut cells = Vec::new();
        let part = |row: &Row| {
            let next = cells.len() as u32;
            let part = *known.entry((row.cell, cluster_of(row))).or_insert(next);
            if part == next {
                cells.push(row.cell);
            }
            part
        };
        let parts = rows.iter().map(part).collect();
        Self { parts, cells }
    }
}

/// Outcomes of people with one action.
#[derive(Clone, Copy, Default)]
struct Outcomes {
    sum: f64,
    people: f64,
    clusters: usize,
}

impl Evidence {
    /// Mean effect of the whole course on the discounted sum of a person's rewards from the first decision on.
    ///
    /// `None` if pulls are assigned at every decision. `None` also if no cell has two clusters with a pull and two without.
    pub fn course(&self) -> Option<Gain> {
        let is_known = self.means.is_some() && self.scores.is_scored.contains(&true);
        is_known.then(|| self.total_of(1.0, |_| 1.0))
    }

    /// Number of arms whose action changes after their first decision, if pulls are assigned once per person; else 0.
    pub fn changed(&self) -> usize {
        self.changed
    }

    /// Replaces scores of worth by scores of courses under the given calls, and returns the expected outcomes, `[rows]`.
    pub(super) fn score_courses(
        &self,
        means: &CourseMeans,
        deals: &[&Deal],
        scores: &mut Scores,
    ) -> Vec<[f64; 2]> {
        let mut is_called = vec![false; self.rows.len()];
        for (group, deal) in self.groups.iter().zip(deals) {
            group.rows.clone().for_each(|k| is_called[k] = called_in(deal, &self.rows[k]));
        }
        let mut of_parts = vec![[Outcomes::default(); 2]; means.cells.len()];
        for k in (0..self.rows.len()).filter(|k| scores.is_scored[*k]) {
            let outcomes = &mut of_parts[means.parts[k] as usize][usize::from(is_called[k])];
            outcomes.sum += self.rows[k].came[0];
            outcomes.people += 1.0;
        }
        let mut of_cells = vec![[Outcomes::default(); 2]; self.cells];
        for (part, cell) in of_parts.iter().zip(&means.cells) {
            for (all, own) in of_cells[*cell as usize].iter_mut().zip(part) {
                all.sum += own.sum;
                all.people += own.people;
                all.clusters += usize::from(own.people > 0.0);
            }
        }
        let mut expected = vec![[0.0; 2]; self.rows.len()];
        for (k, row) in self.rows.iter().enumerate() {
            if !scores.is_scored[k] {
                continue;
            }
            let (all, own) = (&of_cells[row.cell as usize], &of_parts[means.parts[k] as usize]);
            if all.iter().any(|outcomes| outcomes.clusters < LEAST) {
                (scores.is_scored[k], scores.worth[k]) = (false, 0.0);
                continue;
            }
            expected[k] = [0, 1].map(|a| (all[a].sum - own[a].sum) / (all[a].people - own[a].people));
            let e = scores.propensity[k];
            scores.worth[k] = row.immediate + gained(expected[k], row.came[0], is_called[k], e);
        }
        expected
    }
}
