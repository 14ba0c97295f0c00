//! A known world for trials: people, how they move, and what the rules think of them.
//!
//! **Effects.** P(s, 1, ·) = P(s, 0, ·) + δ(P(s, 1, ·) − P(s, 0, ·)), negative entries set to 0 and the row divided by its sum: δ = 0 is
//! a world in which calls do nothing, δ = 1 the world that was given.
//!
//! **What the planner knows**: the passive rows, which give the prognosis by backward induction; it is the score that the assignment
//! is blocked on, the covariate of the regression, and what the adjusted subgroup reads at V. A planner who has to learn the rows
//! knows less, and gains less from these.

use super::record::unsuitable;
use crate::error::{Error, Result};
use crate::instance::Transition;
use ndarray::{Array3, Array4, ArrayView2};

/// People, how they move, and what the rules think of them.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    /// `[N,M,2,M]`
    pub transition: &'a Transition,
    /// `[M]`: the outcome of a week that ends in a state
    pub reward: &'a [f64],
    /// `[N,M]`: where a person starts, as chances
    pub start: ArrayView2<'a, f64>,
    /// `[N,M]`: the index by which the policy under trial ranks
    pub index: ArrayView2<'a, f64>,
    /// `[N,M]`: the index of the policy in the control arm; none where it is not called
    pub control: Option<ArrayView2<'a, f64>>,
}

impl World<'_> {
    pub(super) fn check(&self) -> Result<()> {
        let (n, m) = (self.transition.arms(), self.transition.states());
        let shape = |what, found: &[usize], expected: &[usize]| match found == expected {
            true => Ok(()),
            false => Err(Error::Shape { what, expected: format!("{expected:?}"), found: found.to_vec() }),
        };
        shape("reward", &[self.reward.len()], &[m])?;
        shape("start", self.start.shape(), &[n, m])?;
        for index in std::iter::once(&self.index).chain(&self.control) {
            shape("index", index.shape(), &[n, m])?;
            finite("index", index.iter())?;
        }
        finite("reward", self.reward.iter())?;
        finite("start", self.start.iter())?;
        let is_chance = |row: ndarray::ArrayView1<'_, f64>| {
            row.iter().all(|p| *p >= 0.0) && (row.sum() - 1.0).abs() <= crate::error::ROW_TOLERANCE
        };
        match self.start.outer_iter().position(|row| !is_chance(row)) {
            Some(arm) => {
                let found = format!("{} of arm {arm}", self.start.row(arm));
                Err(unsuitable("start", found, "chances that sum to 1"))
            }
            None => Ok(()),
        }
    }

    /// `[N,M,2,M]`: the rows of a world whose calls do δ times as much.
    pub(super) fn scaled(&self, delta: f64) -> Array4<f64> {
        let mut rows = self.transition.view().to_owned();
        for mut arm in rows.outer_iter_mut() {
            for mut state in arm.outer_iter_mut() {
                let passive = state.row(0).to_owned();
                let mut active = state.row_mut(1);
                active.zip_mut_with(&passive, |a, p| *a = (p + delta * (*a - p)).max(0.0));
                let sum = active.sum();
                active /= sum;
            }
        }
        rows
    }

    /// `[N,M,T]`: the outcome that is expected from week t on of people who are not called.
    pub fn prognosis(&self, weeks: usize) -> Array3<f64> {
        let p = self.transition.view();
        let (n, m) = (self.transition.arms(), self.transition.states());
        let mut ahead = Array3::zeros((n, m, weeks));
        for t in (0..weeks).rev() {
            for i in 0..n {
                for s in 0..m {
                    let later = |next: usize| if t + 1 < weeks { ahead[[i, next, t + 1]] } else { 0.0 };
                    ahead[[i, s, t]] =
                        (0..m).map(|next| p[[i, s, 0, next]] * (self.reward[next] + later(next))).sum();
                }
            }
        }
        ahead
    }
}

fn finite<'a>(what: &'static str, mut numbers: impl Iterator<Item = &'a f64>) -> Result<()> {
    match numbers.by_ref().enumerate().find(|(_, x)| !x.is_finite()) {
        Some((position, found)) => Err(Error::NotFinite { what, position, found: *found }),
        None => Ok(()),
    }
}
