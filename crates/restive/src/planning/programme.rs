//! A programme: whose arms, for how many decisions, within which budgets, and what counts at its end.
//!
//! # Who is there when
//! An arm may be in the programme during some of its steps only, `from..until`. It enters in the state that the initial distribution
//! gives it, and earns nothing, moves nowhere and cannot be pulled outside. Where it leaves, its [`Ending`] counts; one whose
//! range is empty counts for nothing. The advantage of a pull outside is 0, a number like any other, so that tables stay finite:
//! who may be pulled is a question of its own, [`Programme::is_present`].

use crate::belief::Motion;
use crate::instance::RewardView;
use ndarray::ArrayView2;
use std::ops::Range;

/// What the state after the last decision counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ending {
    /// nothing, as in published protocols: a pull at the last step brings R(s,1) − R(s,0) alone
    #[default]
    Nothing,
    /// R(s, passive), once: for programmes that care where people are left
    State,
}

/// Arms with H decisions before them.
#[derive(Debug, Clone, Copy)]
pub struct Programme<'a> {
    /// how the L states (or labels) of N arms move
    pub motion: Motion<'a>,
    /// R(s, a), shared or of each arm
    pub reward: RewardView<'a>,
    /// γ of the value, not of an index
    pub discount: f64,
    /// H, the decisions that are left
    pub horizon: usize,
    /// what counts after the last
    pub ending: Ending,
    /// `[N]`: the group of each arm; all are in group 0 where there is none
    pub group: Option<&'a [usize]>,
    /// `[G]`: the pulls per step of each group; need not be whole
    pub budget: &'a [f64],
    /// `[N]`: the steps in which each arm is in the programme; all steps where there is none
    pub presence: Option<&'a [Range<usize>]>,
}

impl Programme<'_> {
    /// G
    pub fn groups(&self) -> usize {
        self.budget.len()
    }

    /// The group of an arm.
    pub fn group_of(&self, arm: usize) -> usize {
        self.group.map_or(0, |group| group[arm])
    }

    /// The steps in which an arm is in the programme; a range that ends beyond the programme ends with it.
    pub fn span(&self, arm: usize) -> Range<usize> {
        let presence = self.presence.map_or(0..self.horizon, |presence| presence[arm].clone());
        presence.start.min(self.horizon)..presence.end.min(self.horizon)
    }

    /// Whether an arm may be pulled at a step.
    pub fn is_present(&self, arm: usize, step: usize) -> bool {
        self.span(arm).contains(&step)
    }

    /// γ^t, `[H]`.
    pub(super) fn weights(&self) -> Vec<f64> {
        (0..self.horizon).map(|t| self.weight(t)).collect()
    }

    /// γ^t within the programme, 0 after it.
    pub(super) fn weight(&self, t: usize) -> f64 {
        if t < self.horizon { self.discount.powi(t as i32) } else { 0.0 }
    }

    /// The arms of each group, in order.
    pub(super) fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.groups()];
        (0..self.motion.arms()).for_each(|i| members[self.group_of(i)].push(i));
        members
    }

    pub(super) fn check(&self) {
        let n = self.motion.arms();
        assert!(n > 0 && self.horizon > 0, "a programme has an arm and a decision at least");
        assert_eq!(self.reward.states(), self.motion.states(), "reward: [M,2], as the transitions");
        assert!(self.budget.iter().all(|k| *k >= 0.0 && k.is_finite()), "budget: numbers of at least 0");
        assert!(
            self.group.map_or(self.groups() == 1, |group| group.len() == n
                && group.iter().all(|g| *g < self.groups())),
            "group: [N], each below the number of budgets"
        );
        assert!(self.presence.is_none_or(|presence| presence.len() == n), "presence: [N]");
    }

    pub(super) fn check_initial(&self, initial: ArrayView2<'_, f64>) {
        assert_eq!(initial.dim(), (self.motion.arms(), self.motion.states()), "initial: [N,M]");
    }

    pub(super) fn check_price(&self, price: ArrayView2<'_, f64>) {
        assert_eq!(price.dim(), (self.groups(), self.horizon), "price: [G,H]");
        assert!(price.iter().all(|price| *price >= 0.0), "prices: at least 0");
    }
}
