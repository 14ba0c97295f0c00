//! What a log holds, counted over its pages.

use super::cell::{action, state};
use super::log::{InstanceLog, Log};
use super::people::People;
use rayon::prelude::*;
use restive::data::split::Part;
use restive::instance::{NO_ACTION, OverBudget, UNSEEN};

/// People who are looked at at a time.
const PEOPLE: usize = 1 << 14;

/// One instance of a roll: everything but its people.
#[derive(Debug, Clone, PartialEq)]
pub struct RollInstance {
    /// what it is called
    pub name: String,
    /// N
    pub people: usize,
    /// what its trajectories are called, `[J]`, from the first to the latest
    pub trajectory_names: Vec<String>,
    /// T, the number of steps with a state: decisions + 1
    pub steps: usize,
    /// people whose state was seen, `[J][T]`
    pub seen: Vec<Vec<usize>>,
    /// people of whom an action is known, passive or active, `[J][T]`
    pub decisions: Vec<Vec<usize>>,
    /// people who were pulled, `[J][T]`
    pub pulls: Vec<Vec<usize>>,
}

impl RollInstance {
    pub(super) fn new(name: &str, people: usize, log: &InstanceLog) -> Self {
        let count = |j: usize, t: usize| {
            let cells = log.page(j, t).unwrap_or(&[]);
            let some = |cells: &[u8]| {
                cells.iter().fold([0; 3], |[seen, decided, pulled], cell| {
                    let is_seen = usize::from(state(*cell) != UNSEEN);
                    let action = action(*cell);
                    [
                        seen + is_seen,
                        decided + usize::from(action != NO_ACTION),
                        pulled + usize::from(action == 1),
                    ]
                })
            };
            let all = cells.par_chunks(PEOPLE).map(some);
            all.reduce(|| [0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]])
        };
        let steps = |j| (0..log.steps).map(|t| count(j, t)).collect();
        let counts: Vec<Vec<[usize; 3]>> = (0..log.names.len()).map(steps).collect();
        let each = |what: usize| -> Vec<Vec<usize>> {
            counts.iter().map(|run| run.iter().map(|counts| counts[what]).collect()).collect()
        };
        Self {
            name: name.into(),
            people,
            trajectory_names: log.names.clone(),
            steps: log.steps,
            seen: each(0),
            decisions: each(1),
            pulls: each(2),
        }
    }

    /// The step that is planned, as column t counts from 0: the one after the last action of the last trajectory, or the last one with
    /// a state.
    pub fn planned_step(&self) -> usize {
        let (Some(decisions), Some(seen)) = (self.decisions.last(), self.seen.last()) else { return 0 };
        let is_any = |t: usize| if decisions[t] > 0 { Some(t + 1) } else { (seen[t] > 0).then_some(t) };
        (0..self.steps).rev().find_map(is_any).unwrap_or(0)
    }
}

/// What a roll holds, over all instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RollCounts {
    /// people
    pub people: usize,
    /// people of whom no trajectory speaks
    pub newcomers: usize,
    /// trajectories
    pub trajectories: usize,
    /// steps of the longest trajectory that have a decision
    pub decision_steps: usize,
    /// steps of trajectories that have a decision
    pub steps: usize,
    /// actions of single people, passive or active
    pub decisions: usize,
    /// actions that are active
    pub pulls: usize,
    /// of a step
    pub most_pulls: usize,
    /// people and steps, of trajectories as long as the longest of their instance
    pub cells: usize,
    /// those without a state
    pub unobserved: usize,
    /// actions whose propensity is known
    pub known_propensities: usize,
    /// whether the log says how likely its actions were
    pub has_propensity: bool,
    /// whether the log has rewards of its own
    pub has_reward: bool,
    /// people of the parts train, validation and test, where the study says
    pub split: Option<[usize; 3]>,
}

impl RollCounts {
    pub(super) fn new(people: &People, log: &Log, instances: &[RollInstance]) -> Self {
        let runs = || instances.iter().flat_map(|instance| instance.decisions.iter().zip(&instance.pulls));
        let decisions = || runs().flat_map(|(decisions, _)| decisions.iter().copied());
        let pulls = || runs().flat_map(|(_, pulls)| pulls.iter().copied());
        let seen: usize = instances.iter().flat_map(|instance| instance.seen.iter().flatten()).sum();
        let cells = |k: &RollInstance| k.trajectory_names.len() * k.steps * k.people;
        let cells = instances.iter().map(cells).sum();
        let last = |run: &[usize]| run.iter().rposition(|decisions| *decisions > 0).map_or(0, |t| t + 1);
        Self {
            people: people.len(),
            newcomers: newcomers(people, log),
            trajectories: instances.iter().map(|instance| instance.trajectory_names.len()).sum(),
            decision_steps: runs().map(|(decisions, _)| last(decisions)).max().unwrap_or(0),
            steps: decisions().filter(|decisions| *decisions > 0).count(),
            decisions: decisions().sum(),
            pulls: pulls().sum(),
            most_pulls: pulls().max().unwrap_or(0),
            cells,
            unobserved: cells - seen,
            known_propensities: log.known_propensities,
            has_propensity: log.has_propensity,
            has_reward: log.has_reward,
            split: people
                .parts
                .as_ref()
                .map(|parts| Part::ALL.map(|part| parts.par_iter().filter(|other| **other == part).count())),
        }
    }
}

/// The logged steps with more pulls than a budget; none where no step has.
pub(super) fn over_budget(instances: &[RollInstance], budget: usize) -> Option<OverBudget> {
    let pulls = instances.iter().flat_map(|instance| instance.pulls.iter().flatten());
    let over = pulls.filter(|pulls| **pulls > budget);
    over.clone().max().map(|most| OverBudget { steps: over.count(), most: *most })
}

/// How many people the log never speaks of: neither a state nor an action.
fn newcomers(people: &People, log: &Log) -> usize {
    let of = |(log, count): (&InstanceLog, &usize)| {
        let some = |first: usize| {
            let here = first..(*count).min(first + PEOPLE);
            let mut is_known = vec![false; here.len()];
            for j in 0..log.names.len() {
                for page in (0..log.steps).filter_map(|t| log.page(j, t)) {
                    for (is_known, cell) in is_known.iter_mut().zip(&page[here.clone()]) {
                        *is_known |= state(*cell) != UNSEEN || action(*cell) != NO_ACTION;
                    }
                }
            }
            is_known.iter().filter(|is_known| !**is_known).count()
        };
        (0..*count).into_par_iter().step_by(PEOPLE).map(some).sum::<usize>()
    };
    log.instances.iter().zip(&people.counts).map(of).sum()
}
