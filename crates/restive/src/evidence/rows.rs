//! The decisions that evidence is made of: a row for every judged person at every logged decision in a state that was seen.
//!
//! Rows stand by group, decision and person. A *block* is a group at a decision, a *cell* a block in one state; whatever is compared
//! is compared within cells, so that weeks, groups and states cannot pass for knowledge of people.

use super::called::Called;
use super::clusters::Clusters;
use super::course::{CourseMeans, Courses};
use super::design::{Deal, Design, Recorded};
use super::judge::{Foresight, Judge, Outlook};
use super::logged::logged;
use crate::error::{Error, Result};
use crate::instance::{Assignment, Instance, NO_ACTION, UNSEEN};
use crate::planning::Ending;
use std::ops::Range;

/// Some people of an instance who are judged together, and the judge who has never seen them.
#[derive(Clone, Copy)]
pub struct Judged<'a> {
    /// the whole instance
    pub instance: &'a Instance,
    /// who of it
    pub arms: &'a [usize],
    /// fitted to others
    pub judge: &'a Judge,
}

/// An instance, and which of its arms.
pub(super) type Group<'a> = (&'a Instance, &'a [usize]);

/// What evidence is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvidenceSettings {
    /// how calls came to whom they came
    pub design: Design,
    /// whether chances that the log records go before the design, decision by decision; with the logged design they always do
    pub uses_recorded: bool,
    /// H, the decisions of the programme that gains are counted over
    pub horizon: usize,
    /// whether the state after the last call counts
    pub ending: Ending,
    /// Seed of ties in a ranking and of redrawn calls.
    pub seed: u64,
    /// Whether pulls are assigned at every decision or once per person.
    pub assignment: Assignment,
}

/// One person at one decision.
pub(super) struct Row {
    /// among all who are judged
    pub person: u32,
    /// in the group
    pub arm: u32,
    pub decision: u32,
    pub cell: u32,
    pub state: u16,
    /// Whether the next state was seen; of a course, whether any later state was.
    pub is_seen: bool,
    /// Value of the person, left alone and called.
    pub worth: [f64; 2],
    /// Next reward, left alone and called.
    pub reward: [f64; 2],
    /// Observed value (of a course, its outcome) and next reward; NaN if not seen.
    pub came: [f64; 2],
    /// what a call brings at once, by the rewards themselves
    pub immediate: f64,
}

impl Row {
    /// Whether the next state was seen.
    pub(super) fn has_next(&self) -> bool {
        !self.came[1].is_nan()
    }
}

/// People who are ranked together.
pub(super) struct GroupRows {
    pub people: Range<usize>,
    pub rows: Range<usize>,
    /// rows of each decision
    pub blocks: Vec<Range<usize>>,
    pub deal: Deal,
    /// calls a decision, in proportion: not whole
    pub budget: f64,
}

/// Scores of a log, against which any number of rankings can be held.
pub struct Evidence {
    pub(super) settings: EvidenceSettings,
    pub(super) states: usize,
    pub(super) rows: Vec<Row>,
    pub(super) groups: Vec<GroupRows>,
    pub(super) people: usize,
    pub(super) clusters: Clusters,
    pub(super) cells: usize,
    pub(super) called: Option<Called>,
    pub(super) scores: super::scores::Scores,
    /// `None` if pulls are assigned at every decision.
    pub(super) means: Option<CourseMeans>,
    pub(super) changed: usize,
}

impl Evidence {
    /// Scores the logged decisions of people; states must be seen at every step, and a logged design needs recorded
    /// propensities.
    pub fn new(judged: &[Judged<'_>], settings: EvidenceSettings) -> Result<Self> {
        let groups: Vec<Group<'_>> = judged.iter().map(|group| (group.instance, group.arms)).collect();
        Self::of_groups(&groups, settings, |k, part| {
            let Judged { instance, judge, .. } = judged[k];
            let rate = instance.budget() as f64 / instance.arms() as f64;
            judge.foresee(part, Outlook { horizon: settings.horizon, ending: settings.ending, rate })
        })
    }

    /// Scores the logged decisions of people without an outcome model, for the checks that need none: [`balance`](Self::balance)
    /// without a ranking, [`calls`](Self::calls) and [`out_of_turn`](Self::out_of_turn). Every expected reward is 0.
    ///
    /// # Errors
    /// Like [`new`](Self::new).
    pub fn without_judge(groups: &[(&Instance, &[usize])], settings: EvidenceSettings) -> Result<Self> {
        Self::of_groups(groups, settings, |_, part| logged(part))
    }

    fn of_groups(
        judged: &[Group<'_>],
        settings: EvidenceSettings,
        foresee: impl Fn(usize, &Instance) -> Vec<Vec<Foresight>>,
    ) -> Result<Self> {
        check(judged, settings)?;
        let states = judged[0].0.states();
        let (mut rows, mut groups) = (Vec::new(), Vec::new());
        let (mut people, mut cells, mut changed) = (0, 0, 0);
        for (k, &(instance, arms)) in judged.iter().enumerate() {
            let part = instance.select_arms(arms);
            let budget = instance.budget() as f64 * arms.len() as f64 / instance.arms() as f64;
            let foreseen = foresee(k, &part);
            let courses = Courses::new(instance, settings.assignment);
            let first = courses.as_ref().map(Courses::first);
            changed += courses.as_ref().map_or(0, |courses| courses.changed(arms));
            let deal = Deal::new(instance, arms, settings.design, settings.uses_recorded, first);
            let decisions = deal.is_called.nrows();
            let first_row = rows.len();
            let mut next = vec![0; foreseen.len()];
            let mut blocks = Vec::with_capacity(decisions);
            for d in 0..decisions {
                let begin = rows.len();
                for (i, mine) in foreseen.iter().enumerate() {
                    let Some(found) = mine.get(next[i]).filter(|found| found.decision as usize == d) else {
                        continue;
                    };
                    next[i] += 1;
                    if first.is_some_and(|first| first[arms[i]] != Some(d as u32)) {
                        continue;
                    }
                    let cell = cells + usize::from(found.state);
                    let mut own =
                        row(found, people + i, i, cell, immediate(instance, settings.horizon, found));
                    if let Some(courses) = &courses {
                        courses.complete(&mut own, arms[i]);
                    }
                    rows.push(own);
                }
                blocks.push(begin..rows.len());
                cells += states;
            }
            let everyone = people..people + arms.len();
            people = everyone.end;
            groups.push(GroupRows { people: everyone, rows: first_row..rows.len(), blocks, deal, budget });
        }
        let called = match settings.design {
            Design::Estimated => Some(Called::fit(&rows, &mut groups, judged)),
            _ => None,
        };
        let scores = super::scores::Scores::empty();
        let clusters = Clusters::new(judged);
        let means = (settings.assignment == Assignment::PerPerson)
            .then(|| CourseMeans::new(&rows, |row| clusters.of(row.person as usize)));
        let mut evidence =
            Self { settings, states, rows, groups, people, clusters, cells, called, scores, means, changed };
        let deals: Vec<&Deal> = evidence.groups.iter().map(|group| &group.deal).collect();
        evidence.scores = evidence.score(&deals);
        for (row, expected) in evidence.rows.iter_mut().zip(&evidence.scores.expected) {
            row.worth = *expected;
        }
        Ok(evidence)
    }

    /// How many people are judged.
    pub fn people(&self) -> usize {
        self.people
    }

    /// Calls that evidence rests on: of people who might as well not have been called, with a next state that was seen.
    pub fn calls(&self) -> usize {
        self.rows
            .iter()
            .zip(&self.scores.is_scored)
            .filter(|(row, scored)| **scored && self.is_called(row))
            .count()
    }

    /// All logged calls of the judged people; of pulls that are assigned once per person, the people who were assigned them.
    pub fn logged_calls(&self) -> usize {
        self.groups.iter().map(|group| group.deal.is_called.iter().filter(|called| **called).count()).sum()
    }

    /// What the log records of its chances.
    pub fn recorded(&self) -> Recorded {
        let mut all = Recorded::default();
        for group in &self.groups {
            let Recorded { decisions, sure, not_called, unlisted, untold, .. } = group.deal.recorded;
            all.decisions = all.decisions.max(decisions);
            all.sure += sure;
            all.not_called += not_called;
            all.unlisted += unlisted;
            all.untold += untold;
            let is_one = |k: &usize| {
                let row = &self.rows[*k];
                let is_recorded = group.deal.is_recorded[row.decision as usize];
                is_recorded && self.scores.is_scored[*k] && super::scores::called(group, row)
            };
            all.calls += group.rows.clone().filter(is_one).count();
        }
        all
    }

    /// Whether chances that were recorded are used at any decision.
    pub(super) fn has_recorded(&self) -> bool {
        self.groups.iter().any(|group| group.deal.recorded.decisions > 0)
    }

    /// Whether a row's decision has recorded chances, `[rows]`.
    pub(super) fn is_recorded(&self) -> Vec<bool> {
        let of_group = |group: &GroupRows| -> Vec<bool> {
            let rows = self.rows[group.rows.clone()].iter();
            rows.map(|row| group.deal.is_recorded[row.decision as usize]).collect()
        };
        self.groups.iter().flat_map(of_group).collect()
    }

    /// Calls that were made out of turn, where turns were taken.
    pub fn out_of_turn(&self) -> usize {
        self.groups.iter().map(|group| group.deal.out_of_turn()).sum()
    }

    /// Logged decisions, the most of a group.
    pub fn decisions(&self) -> usize {
        self.groups.iter().map(|group| group.blocks.len()).max().unwrap_or(0)
    }

    /// H ΣK: the calls of a programme; ΣK if pulls are assigned once per person.
    pub fn programme_calls(&self) -> f64 {
        let calls = self.groups.iter().map(|group| group.budget).sum::<f64>();
        match self.settings.assignment {
            Assignment::PerDecision => self.settings.horizon as f64 * calls,
            Assignment::PerPerson => calls,
        }
    }

    pub(super) fn is_called(&self, row: &Row) -> bool {
        self.group_of(row).deal.is_called[[row.decision as usize, row.arm as usize]]
    }

    pub(super) fn group_of(&self, row: &Row) -> &GroupRows {
        let person = row.person as usize;
        &self.groups[self.groups.partition_point(|group| group.people.end <= person)]
    }
}

fn row(found: &Foresight, person: usize, arm: usize, cell: usize, immediate: f64) -> Row {
    let &Foresight { decision, state, next, worth, reward, came, .. } = found;
    debug_assert!(found.action != NO_ACTION);
    Row {
        person: person as u32,
        arm: arm as u32,
        decision,
        cell: cell as u32,
        state,
        is_seen: next != UNSEEN,
        worth,
        reward,
        came,
        immediate,
    }
}

/// R(s, 1) − R(s, 0), discounted as decisions are on average.
fn immediate(instance: &Instance, horizon: usize, found: &Foresight) -> f64 {
    let reward = instance.reward().view();
    let s = usize::from(found.state);
    let difference = reward[[s, 1]] - reward[[s, 0]];
    if difference == 0.0 {
        return 0.0;
    }
    let discounts: f64 = (0..horizon).map(|t| instance.discount().powi(t as i32)).sum();
    difference * discounts / horizon as f64
}

fn check(judged: &[Group<'_>], settings: EvidenceSettings) -> Result<()> {
    let unsuitable = |what, found: &str, expected: &str| {
        Err(Error::Unsuitable { what, found: found.into(), expected: expected.into() })
    };
    if judged.iter().all(|(_, arms)| arms.is_empty()) {
        return unsuitable("people to judge", "none", "some");
    }
    if settings.assignment == Assignment::PerPerson && settings.design == Design::Rota {
        return unsuitable(
            "design",
            "a rota, with pulls that are assigned once per person",
            "a lot, recorded propensities or estimated propensities",
        );
    }
    if settings.horizon == 0 {
        return Err(Error::Range { what: "horizon", expected: "at least 1", found: 0.0 });
    }
    for (instance, _) in judged {
        if instance.observation().chain().is_some() {
            return unsuitable(
                "observation",
                "states that are seen at pulls only",
                "states seen at every step",
            );
        }
        if instance.trajectories().steps() < 2 {
            return unsuitable("trajectories", "no decision with a step after it", "at least one");
        }
        if settings.design == Design::Logged && instance.trajectories().propensity().is_none() {
            return unsuitable("propensities", "none in the log", "those of some decisions");
        }
    }
    Ok(())
}
