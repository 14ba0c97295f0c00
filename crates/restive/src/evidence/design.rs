//! Who could have been called at a logged decision, and how likely each call was.
//!
//! | design | who could be called | propensity |
//! |---|---|---|
//! | uniform | everybody with a record | calls/people of the group at that decision |
//! | rota | those with the fewest calls so far in their instance | calls/eligible |
//! | logged | everybody | as recorded |
//! | estimated | everybody | by a [model](super::called) of who was called |
//!
//! A rota calls everybody once before anybody twice; that its order has nothing to do with what would have come is an assumption.
//! Whoever joins later joins the round that is on its way. Where nobody or everybody who could be called was, nothing is learnt from
//! that decision.
//!
//! Decisions at which a person was not available have no call that could have been made: the person is not eligible, has no turn and is
//! not untold. Of pulls that are assigned [once per person](crate::instance::Assignment), only first decisions are eligible.
//!
//! Shares are those of the judged group, given how many of it were called: exact where the calls of the whole were dealt by lot.
//!
//! **Recorded chances.** A log may record for some decisions how likely each action was, because a plan drew who is called and wrote it
//! down. Such a decision needs no assumption, whatever the design of the others: its propensities are the recorded ones. Whoever was sure
//! of a call, or could not be drawn, has a chance of 1 or 0 and teaches nothing; what is learnt is about those who could have been drawn.
//! Whoever has an action there and no recorded chance did not get what was drawn for him (listed and not called, called and not listed):
//! he is left out, and [counted](Recorded). So is a whole decision of which [`TOLD`] drawn calls or more were to be expected and not
//! one is known: nobody has told yet what became of the list. Decisions without any recorded chance go by the design, and with the
//! logged design they are left out.

use crate::instance::{Instance, NO_ACTION, Trajectories, UNSEEN};
use ndarray::{Array2, Axis};

/// How calls came to whom they came, where the log does not record it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// by lot, among all
    Uniform,
    /// in turn
    Rota,
    /// with recorded propensities, and otherwise nobody knows
    Logged,
    /// somehow: whatever the log shows of the choice is modelled
    Estimated,
}

/// Drawn calls that are to be expected at a decision before their absence means that nobody has told: once in 150 times it is chance.
const TOLD: f64 = 5.0;

/// What a log records of its chances, of the judged people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recorded {
    /// decisions with recorded chances, the most of a group
    pub decisions: usize,
    /// calls that evidence rests on and whose chance was recorded, above 0 and below 1
    pub calls: usize,
    /// calls that were certain: recorded with a chance of 1
    pub sure: usize,
    /// left alone without a recorded chance, beside others who have one: listed and not called
    pub not_called: usize,
    /// called without a recorded chance, beside others who have one
    pub unlisted: usize,
    /// in states that were seen before and after, beside others with a recorded chance, and nobody says whether they were called
    pub untold: usize,
}

impl Recorded {
    /// The share of calls that did not go as they were drawn, or of which nobody knows whether they did.
    pub fn share_astray(&self) -> f64 {
        let astray = (self.not_called + self.unlisted + self.untold) as f64;
        let all = astray + (self.calls + self.sure) as f64;
        if all > 0.0 { astray / all } else { 0.0 }
    }
}

/// The calls of a group, `[D,n]` with D = J·H.
#[derive(Clone)]
pub(super) struct Deal {
    /// Whether a call was made at a decision at which one could be assigned.
    pub is_called: Array2<bool>,
    /// who could have been called, as far as that is known
    pub is_eligible: Array2<bool>,
    /// the propensity of a call, where it is no share; NaN: a share
    pub given: Option<Array2<f64>>,
    /// decisions whose chances are those that the log records, `[D]`
    pub is_recorded: Vec<bool>,
    /// whether everybody has a record of every decision and was always available
    pub is_complete: bool,
    /// what is told of recorded decisions; calls are counted by rows
    pub recorded: Recorded,
}

impl Deal {
    /// The calls of some arms of an instance; `uses_recorded` as [`EvidenceSettings`](super::EvidenceSettings) has it. `first`: the
    /// decision of each arm of the instance at which its pulls are assigned, `None`: all.
    pub(super) fn new(
        instance: &Instance,
        arms: &[usize],
        design: Design,
        uses_recorded: bool,
        first: Option<&[Option<u32>]>,
    ) -> Self {
        let log = instance.trajectories();
        let (trajectories, decisions) = (log.trajectories(), log.steps() - 1);
        let action = log.action();
        let shape = (trajectories * decisions, arms.len());
        let is_open = |d: usize, i: usize| {
            first.is_none_or(|first| first[i] == Some(d as u32))
                && log.is_available([d / decisions, d % decisions, i])
        };
        let at = |d: usize, i: usize| match is_open(d, arms[i]) {
            true => action[[d / decisions, d % decisions, arms[i]]],
            false => NO_ACTION,
        };
        let is_called = Array2::from_shape_fn(shape, |(d, i)| at(d, i) == 1);
        let has_record = Array2::from_shape_fn(shape, |(d, i)| at(d, i) != NO_ACTION);
        let is_complete = has_record.iter().all(|has| *has);
        let is_eligible = match design {
            Design::Rota => {
                let turns = turns(instance);
                Array2::from_shape_fn(shape, |(d, i)| has_record[[d, i]] && turns[[d, arms[i]]])
            }
            Design::Uniform | Design::Estimated => has_record,
            Design::Logged => Array2::from_elem(shape, false),
        };
        let is_recorded = vec![false; shape.0];
        let recorded = Recorded::default();
        let mut deal = Self { is_called, is_eligible, given: None, is_recorded, is_complete, recorded };
        if uses_recorded || design == Design::Logged {
            deal.record(log, arms, is_open);
        }
        deal
    }

    /// Takes the chances that the log records, decision by decision, of arms to which a call could be assigned: `is_open(decision, arm)`.
    fn record(&mut self, log: &Trajectories, arms: &[usize], is_open: impl Fn(usize, usize) -> bool) {
        let Some(propensity) = log.propensity() else { return };
        let (action, state) = (log.action(), log.state());
        let decisions = log.steps() - 1;
        let mut given = Array2::from_elem(self.is_called.raw_dim(), f64::NAN);
        for d in 0..self.is_called.nrows() {
            let (j, t) = (d / decisions, d % decisions);
            // the chance of a call; NaN where it is not known
            let chance = |i: usize| match action[[j, t, i]] {
                _ if !is_open(d, i) => f64::NAN,
                1 => propensity[[j, t, i]],
                0 => 1.0 - propensity[[j, t, i]],
                _ => f64::NAN,
            };
            let chances: Vec<f64> = (0..log.arms()).map(chance).collect();
            self.is_recorded[d] = chances.iter().any(|e| !e.is_nan());
            if !self.is_recorded[d] {
                continue;
            }
            self.recorded.decisions += 1;
            let is_drawn = |e: f64| e > 0.0 && e < 1.0;
            let expected: f64 = chances.iter().filter(|e| is_drawn(**e)).sum();
            let is_told =
                expected < TOLD || (0..log.arms()).any(|i| action[[j, t, i]] == 1 && is_drawn(chances[i]));
            for (k, &i) in arms.iter().enumerate() {
                if !is_open(d, i) {
                    (self.is_eligible[[d, k]], given[[d, k]]) = (false, 0.0);
                    continue;
                }
                let (e, is_called) = (chances[i], self.is_called[[d, k]]);
                self.is_eligible[[d, k]] = is_told && !e.is_nan();
                given[[d, k]] = if e.is_nan() { 0.0 } else { e };
                self.recorded.sure += usize::from(is_called && e >= 1.0);
                match action[[j, t, i]] {
                    NO_ACTION => {
                        let is_there = [t, t + 1].iter().all(|t| state[[j, *t, i]] != UNSEEN);
                        self.recorded.untold += usize::from(is_there);
                    }
                    0 => self.recorded.not_called += usize::from(e.is_nan()),
                    _ => self.recorded.unlisted += usize::from(e.is_nan()),
                }
            }
        }
        self.given = Some(given);
    }

    /// The propensity of a call of somebody at a decision; `shares` are those of [`Deal::shares`].
    pub(super) fn propensity(&self, shares: &[f64], at: [usize; 2]) -> f64 {
        let given = self.given.as_ref().map_or(f64::NAN, |given| given[at]);
        if given.is_nan() { shares[at[0]] } else { given }
    }

    /// Calls over eligible at each decision, `[D]`; 0 where nobody is eligible.
    pub(super) fn shares(&self) -> Vec<f64> {
        let rows = self.is_called.rows().into_iter().zip(self.is_eligible.rows());
        rows.map(|(called, eligible)| {
            let both = called.iter().zip(eligible).filter(|(_, e)| **e);
            let (calls, people) =
                both.fold((0usize, 0usize), |(c, n), (called, _)| (c + usize::from(*called), n + 1));
            if people == 0 { 0.0 } else { calls as f64 / people as f64 }
        })
        .collect()
    }

    /// Calls of people whose turn it was not, where turns were taken.
    pub(super) fn out_of_turn(&self) -> usize {
        let rows = self.is_called.rows().into_iter().zip(self.is_eligible.rows()).zip(&self.is_recorded);
        rows.filter(|(_, is_recorded)| !**is_recorded)
            .map(|((called, eligible), _)| called.iter().zip(eligible).filter(|(c, e)| **c && !**e).count())
            .sum()
    }
}

/// Whose turn it is at every decision, `[D,N]`: those with the fewest calls so far.
fn turns(instance: &Instance) -> Array2<bool> {
    let log = instance.trajectories();
    let (trajectories, decisions, n) = (log.trajectories(), log.steps() - 1, log.arms());
    let mut turns = Array2::from_elem((trajectories * decisions, n), false);
    for j in 0..trajectories {
        let mut calls: Vec<Option<u32>> = vec![None; n];
        for t in 0..decisions {
            let action = log.action();
            let action = action.index_axis(Axis(0), j);
            let now = action.row(t);
            let is_there = |i: &usize| now[*i] != NO_ACTION && log.is_available([j, t, *i]);
            let there = || (0..n).filter(is_there);
            let fewest = there().filter_map(|i| calls[i]).min().unwrap_or(0);
            for i in there() {
                let so_far = *calls[i].get_or_insert(fewest);
                turns[[j * decisions + t, i]] = so_far == fewest;
                calls[i] = Some(so_far + u32::from(now[i] == 1));
            }
        }
    }
    turns
}
