//! Logged runs of an instance.
//!
//! All arrays are `[J,T,N]`: trajectory, step, arm. A run of H decisions has T = H + 1 steps; the last has states and no
//! actions. What was not observed is represented, not guessed: a state is [`UNSEEN`] and an action [`NO_ACTION`] where the
//! record is missing, and a shorter trajectory ends in such steps. How likely an action was may be known of some and not of others: a
//! propensity is then NaN, and whoever needs all of them refuses.
//!
//! A log may record at which decisions each arm was *available*, that is, could be pulled. An arm that was not available has action 0 or
//! none, and its propensity is not read: it is 1, as for every action without an alternative.
//!
//! [`Counts`] are what the likelihood of Markov arms needs to know of them: how often each arm went from s under a to s′.

use super::transition::contiguous;
use crate::error::{Error, Result};
use ndarray::{Array2, Array3, Array4, ArrayView3, ArrayView4, Axis};
use std::sync::Arc;

/// A state that was not observed.
pub const UNSEEN: u16 = u16::MAX;
/// An action that was not taken or not recorded.
pub const NO_ACTION: u8 = u8::MAX;

/// What was logged, unchecked: arrays `[J,T,N]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Logged {
    /// the state of each arm at each step, or [`UNSEEN`]
    pub state: Array3<u16>,
    /// 0 passive, 1 active, or [`NO_ACTION`]
    pub action: Array3<u8>,
    /// the probability that the behaviour policy gave to the logged action, NaN where it is not known; ignored where there is no
    /// action
    pub propensity: Option<Array3<f64>>,
    /// the reward that was logged, NaN where there is none; absent: R(s, a)
    pub reward: Option<Array3<f64>>,
    /// Whether each arm could be pulled. `None`: always.
    pub available: Option<Array3<bool>>,
}

/// Checked trajectories of N arms; copies share one log.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectories {
    logged: Arc<Logged>,
    states: usize,
}

impl Trajectories {
    /// Checks shapes, states below M (`states`), actions 0 or 1, no pull of an arm that was not available, and propensities above
    /// 0 and at most 1, or not known, wherever there is an action and the arm was available.
    pub fn new(mut logged: Logged, states: usize) -> Result<Self> {
        let shape = logged.state.shape().to_vec();
        let same = |what: &'static str, found: &[usize]| {
            if found == shape {
                return Ok(());
            }
            Err(Error::Shape {
                what,
                expected: format!("{shape:?} (trajectory, step, arm), as state has"),
                found: found.to_vec(),
            })
        };
        same("action", logged.action.shape())?;
        if shape.contains(&0) {
            return Err(Error::Shape {
                what: "state",
                expected: "at least one trajectory, step and arm".into(),
                found: shape,
            });
        }
        for ((j, t, i), &s) in logged.state.indexed_iter() {
            if s != UNSEEN && usize::from(s) >= states {
                let (what, expected) = ("state", format!("a state below {states}"));
                return Err(Error::Step {
                    what,
                    trajectory: j,
                    step: t,
                    arm: i,
                    expected,
                    found: s.to_string(),
                });
            }
        }
        if let Some(available) = &logged.available {
            same("available", available.shape())?;
        }
        for ((j, t, i), &a) in logged.action.indexed_iter() {
            let step = |what, expected: &str, found: String| {
                Err(Error::Step { what, trajectory: j, step: t, arm: i, expected: expected.into(), found })
            };
            if a != NO_ACTION && a > 1 {
                return step("action", "0 or 1", a.to_string());
            }
            let is_available = logged.available.as_ref().is_none_or(|available| available[[j, t, i]]);
            if a == 1 && !is_available {
                return step("action", "0, because the arm was not available", a.to_string());
            }
            if let Some(propensity) = &logged.propensity {
                same("propensity", propensity.shape())?;
                let p = propensity[[j, t, i]];
                if a != NO_ACTION && is_available && !p.is_nan() && !(p > 0.0 && p <= 1.0) {
                    return step(
                        "propensity",
                        "above 0 and at most 1 for an action that was taken, or NaN where it is not known",
                        p.to_string(),
                    );
                }
            }
        }
        if let Some(reward) = &logged.reward {
            same("reward", reward.shape())?;
        }
        if let Some(propensity) = &mut logged.propensity {
            let idle = propensity.iter_mut().zip(&logged.action).filter(|(_, a)| **a == NO_ACTION);
            idle.for_each(|(p, _)| *p = 1.0);
            if let Some(available) = &logged.available {
                let unavailable = propensity.iter_mut().zip(available).filter(|(_, available)| !**available);
                unavailable.for_each(|(p, _)| *p = 1.0);
            }
        }
        Ok(Self::row_major(logged, states))
    }

    /// In row-major order, which readers of whole steps rely on.
    fn row_major(logged: Logged, states: usize) -> Self {
        let Logged { state, action, propensity, reward, available } = logged;
        let (state, action) = (contiguous(state), contiguous(action));
        let (propensity, reward) = (propensity.map(contiguous), reward.map(contiguous));
        let available = available.map(contiguous);
        Self { logged: Arc::new(Logged { state, action, propensity, reward, available }), states }
    }

    /// J, the number of trajectories.
    pub fn trajectories(&self) -> usize {
        self.logged.state.len_of(Axis(0))
    }

    /// T, the number of steps with a state: decisions + 1.
    pub fn steps(&self) -> usize {
        self.logged.state.len_of(Axis(1))
    }

    /// N, the number of arms.
    pub fn arms(&self) -> usize {
        self.logged.state.len_of(Axis(2))
    }

    /// M, the number of states.
    pub fn states(&self) -> usize {
        self.states
    }

    /// `[J,T,N]`
    pub fn state(&self) -> ArrayView3<'_, u16> {
        self.logged.state.view()
    }

    /// `[J,T,N]`
    pub fn action(&self) -> ArrayView3<'_, u8> {
        self.logged.action.view()
    }

    /// `[J,T,N]`, where it was logged; 1 where there is no action or the arm was not available, NaN where it is not known
    pub fn propensity(&self) -> Option<ArrayView3<'_, f64>> {
        self.logged.propensity.as_ref().map(|p| p.view())
    }

    /// Number of actions whose propensity is known, and number of actions; of arms that were available.
    pub fn known_propensities(&self) -> (usize, usize) {
        let Logged { action, propensity, available, .. } = &*self.logged;
        let mut is_counted = action.mapv(|a| a != NO_ACTION);
        if let Some(available) = available {
            is_counted.zip_mut_with(available, |is_counted, available| *is_counted &= *available);
        }
        let known = |all: &Array3<f64>| {
            all.iter().zip(&is_counted).filter(|(p, counted)| **counted && !p.is_nan()).count()
        };
        let actions = is_counted.iter().filter(|counted| **counted).count();
        (propensity.as_ref().map_or(0, known), actions)
    }

    /// Whether each arm could be pulled, `[J,T,N]`; `None` if the log does not say, and then every arm always could be.
    pub fn available(&self) -> Option<ArrayView3<'_, bool>> {
        self.logged.available.as_ref().map(|available| available.view())
    }

    /// Whether an arm could be pulled at (trajectory, step, arm); true if the log does not say.
    pub fn is_available(&self, at: [usize; 3]) -> bool {
        self.logged.available.as_ref().is_none_or(|available| available[at])
    }

    /// `[J,T,N]`, where it was logged
    pub fn reward(&self) -> Option<ArrayView3<'_, f64>> {
        self.logged.reward.as_ref().map(|r| r.view())
    }

    /// The largest number of pulls in any step of any trajectory.
    pub fn most_pulls(&self) -> usize {
        self.pulls().into_iter().max().unwrap_or(0)
    }

    /// The pulls of every step, `[J,T]`.
    pub fn pulls(&self) -> Array2<usize> {
        self.logged.action.map_axis(Axis(2), |arms| arms.iter().filter(|a| **a == 1).count())
    }

    /// The steps with more pulls than a budget: the log of a time that allowed more. None where no step has.
    pub fn over_budget(&self, budget: usize) -> Option<OverBudget> {
        let pulls = self.pulls();
        let over = pulls.iter().filter(|pulls| **pulls > budget);
        over.clone().max().map(|most| OverBudget { steps: over.count(), most: *most })
    }

    /// How often each arm went from s under a to s′, over all trajectories.
    pub fn counts(&self) -> Counts {
        let (j, t, n) = self.logged.state.dim();
        let m = self.states;
        let mut values = Array4::zeros((n, m, 2, m));
        for j in 0..j {
            for t in 1..t {
                for i in 0..n {
                    let (s, a) = (self.logged.state[[j, t - 1, i]], self.logged.action[[j, t - 1, i]]);
                    let next = self.logged.state[[j, t, i]];
                    if s != UNSEEN && a != NO_ACTION && next != UNSEEN {
                        values[[i, usize::from(s), usize::from(a), usize::from(next)]] += 1.0;
                    }
                }
            }
        }
        Counts { values, trajectories: j }
    }

    /// Some of the trajectories, in the given order and perhaps repeated: a bootstrap sample.
    pub fn select(&self, which: &[usize]) -> Self {
        self.select_along(Axis(0), which)
    }

    /// Some of the arms, in the given order and perhaps repeated.
    pub fn select_arms(&self, arms: &[usize]) -> Self {
        self.select_along(Axis(2), arms)
    }

    fn select_along(&self, axis: Axis, which: &[usize]) -> Self {
        let Logged { state, action, propensity, reward, available } = &*self.logged;
        let logged = Logged {
            state: state.select(axis, which),
            action: action.select(axis, which),
            propensity: propensity.as_ref().map(|all| all.select(axis, which)),
            reward: reward.as_ref().map(|all| all.select(axis, which)),
            available: available.as_ref().map(|all| all.select(axis, which)),
        };
        Self::row_major(logged, self.states)
    }
}

/// Logged steps with more pulls than a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverBudget {
    /// how many of them there are
    pub steps: usize,
    /// the pulls of the step that has most
    pub most: usize,
}

/// How often each arm was seen to go from s under a to s′.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    values: Array4<f64>,
    trajectories: usize,
}

impl Counts {
    /// What was counted elsewhere, `[N,M,2,M]`, over so many trajectories.
    pub fn new(values: Array4<f64>, trajectories: usize) -> Self {
        let (n, m) = (values.shape()[0], values.shape()[1]);
        assert_eq!(values.shape(), [n, m, 2, m], "counts: [N,M,2,M]");
        Self { values, trajectories }
    }

    /// `[N,M,2,M]`
    pub fn view(&self) -> ArrayView4<'_, f64> {
        self.values.view()
    }

    /// As many transitions from every state and under every action, but to next states as predicted (`[N,M,2,M]`): the counts
    /// that were to be expected, of which the likelihood is highest at the prediction itself.
    pub fn expected(&self, prediction: ArrayView4<'_, f64>) -> Self {
        assert_eq!(prediction.shape(), self.values.shape(), "prediction: [N,M,2,M], as the counts");
        let mut values = prediction.to_owned();
        for (mut row, counted) in values.rows_mut().into_iter().zip(self.values.rows()) {
            row *= counted.sum();
        }
        Self { values, trajectories: self.trajectories }
    }

    /// J, the number of trajectories that were counted.
    pub fn trajectories(&self) -> usize {
        self.trajectories
    }
}
