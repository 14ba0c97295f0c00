//! The border of the library: raw arrays come in here, are checked once, and are trusted afterwards.
//!
//! An [`Instance`] is the unit of learning and of planning: N arms with their features, the logged [`Trajectories`] of
//! some past runs, the [`Reward`], the budget, the discount and, in synthetic data, the true [`Transition`].

mod reward;
mod trajectories;
mod transition;

pub use reward::{Reward, check_discount};
pub use trajectories::{Counts, Logged, NO_ACTION, Trajectories, UNSEEN};
pub use transition::{CompactTransition, Layout, Transition};

use crate::error::{Error, Result};
use ndarray::{Array2, ArrayView2, Axis};

/// N arms with what is known of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    features: Array2<f64>,
    trajectories: Trajectories,
    reward: Reward,
    budget: usize,
    discount: f64,
    truth: Option<Transition>,
}

impl Instance {
    /// Checks that the parts fit together: as many arms everywhere, as many states, finite features, no step with more
    /// pulls than the budget, a discount from 0 to 1.
    ///
    /// `features` is `[N,F]`; `truth`, where it is known, `[N,M,2,M]`.
    pub fn new(
        features: Array2<f64>,
        trajectories: Trajectories,
        reward: Reward,
        budget: usize,
        discount: f64,
        truth: Option<Transition>,
    ) -> Result<Self> {
        check_discount(discount)?;
        let n = trajectories.arms();
        let wrong =
            |what, expected: String, found: &[usize]| Error::Shape { what, expected, found: found.to_vec() };
        check_features(&features, n)?;
        if let Some(truth) = &truth {
            let m = reward.states();
            if truth.arms() != n || truth.states() != m {
                return Err(wrong("truth", format!("[{n}, {m}, 2, {m}]"), truth.view().shape()));
            }
        }
        if trajectories.states() != reward.states() {
            let found = [trajectories.states()];
            return Err(wrong(
                "trajectories",
                format!("{} states, as the reward has", reward.states()),
                &found,
            ));
        }
        trajectories.check_budget(budget)?;
        Ok(Self { features, trajectories, reward, budget, discount, truth })
    }

    /// N, the number of arms.
    pub fn arms(&self) -> usize {
        self.features.nrows()
    }

    /// M, the number of states.
    pub fn states(&self) -> usize {
        self.reward.states()
    }

    /// `[N,F]`
    pub fn features(&self) -> ArrayView2<'_, f64> {
        self.features.view()
    }

    /// What was logged.
    pub fn trajectories(&self) -> &Trajectories {
        &self.trajectories
    }

    /// R(s, a)
    pub fn reward(&self) -> &Reward {
        &self.reward
    }

    /// K, the arms that may be pulled at each step.
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// γ
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// The true transitions, where the data are synthetic.
    pub fn truth(&self) -> Option<&Transition> {
        self.truth.as_ref()
    }

    /// Some of the arms, in the given order, with a budget in proportion (rounded, at least 1 where there was any). Chance may
    /// have pulled more of them at a step than that.
    pub fn select_arms(&self, arms: &[usize]) -> Self {
        let share = self.budget as f64 * arms.len() as f64 / self.arms() as f64;
        let budget = if self.budget == 0 { 0 } else { (share.round() as usize).max(1) };
        Self {
            features: self.features.select(Axis(0), arms),
            trajectories: self.trajectories.select_arms(arms),
            reward: self.reward.clone(),
            budget,
            discount: self.discount,
            truth: self.truth.as_ref().map(|truth| truth.select_arms(arms)),
        }
    }

    /// The same arms with other features (`[N,F′]`): another encoding of what is known of them.
    pub fn with_features(self, features: Array2<f64>) -> Result<Self> {
        check_features(&features, self.arms())?;
        Ok(Self { features, ..self })
    }
}

fn check_features(features: &Array2<f64>, arms: usize) -> Result<()> {
    if features.nrows() != arms {
        let expected = format!("[{arms}, F], one row per arm");
        return Err(Error::Shape { what: "features", expected, found: features.shape().to_vec() });
    }
    match features.iter().enumerate().find(|(_, x)| !x.is_finite()) {
        Some((position, &found)) => Err(Error::NotFinite { what: "features", position, found }),
        None => Ok(()),
    }
}
