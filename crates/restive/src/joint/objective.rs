//! The off-policy value of a soft plan, by the transitions it was made from: what the joint baselines maximise.
//!
//! **What it is.** Transitions P → soft plan → the probability π(x, a) of every logged joint action → the value of the policy by
//! [CWPDIS](mod@crate::evaluation::cwpdis) on *joint* ratios, ρ_tj = Π_{t′≤t} π(x_t′j, a_t′j)/β with β = 1/C(N, K):
//!
//! ```text
//! value = Σ_t γ^t  Σ_j ρ_tj r_tj / Σ_j ρ_tj        r_tj the reward of all arms
//! ```
//!
//! The joint process is one big arm here, and the logged joint action its pull, so that the estimator of the `evaluation` room
//! serves as it is. Unlike the arm-wise estimator this one is consistent for policies that choose among arms; but ratios of a joint action
//! are up to C(N, K) each, and the effective sample size falls accordingly: look at it.
//!
//! **Its pullback.** d value/d π of the estimator, through the softmax to Q, through the plan to P.
//!
//! **What it asks of a log.** Every state seen, exactly K pulls at every step, uniform behaviour: the probability of a *joint* action does
//! not follow from those of the arms' actions under any other.

use super::cost::Limit;
use super::plan::{PlanStatus, Planner, plan};
use super::process::Joint;
use crate::error::{Error, Result};
use crate::evaluation::{Behaviour, Decisions, Propensity, RatioUpTo, cwpdis};
use crate::instance::{Instance, Logged, NO_ACTION, Reward, Trajectories, UNSEEN};
use crate::policy::log_odds;
use ndarray::{Array3, Array4, ArrayView4};

/// How far logged propensities may be from those of uniform behaviour.
const TOLERANCE: f64 = 1e-6;

/// A joint process, its log, and how it is planned.
pub struct Objective {
    joint: Joint,
    planner: Planner,
    temperature: f64,
    /// joint state and joint action of each decision, `[J·H]`
    logged: Vec<(usize, usize)>,
    decisions: Decisions,
}

/// The value of a soft plan, with its gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// over all arms and steps
    pub value: f64,
    /// of the joint ratios at the last step
    pub effective_sample_size: f64,
    /// of the value, `[N,M,2,M]`
    pub d_transition: Array4<f64>,
    /// whether the plan and its gradient were found
    pub status: PlanStatus,
    /// sweeps there and back
    pub sweeps: usize,
}

impl Objective {
    /// Of an instance; an error where it does not fit the limit or the log is not what is asked.
    pub fn new(instance: &Instance, planner: Planner, temperature: f64, limit: &Limit) -> Result<Self> {
        if !(temperature > 0.0 && temperature.is_finite()) {
            let expected = "a number above 0";
            return Err(Error::Range { what: "temperature", expected, found: temperature });
        }
        if let Planner::Unrolled { sweeps: 0 } = planner {
            return Err(Error::Range { what: "sweeps", expected: "at least 1", found: 0.0 });
        }
        let joint = Joint::from_instance(instance, limit)?;
        joint.cost().check_step(planner, limit)?;
        let log = instance.trajectories();
        let (j, steps, n) = log.state().dim();
        let h = steps - 1;
        let mut logged = Vec::with_capacity(j * h);
        let mut reward = Array3::zeros((j, steps, 1));
        for j in 0..j {
            for t in 0..h {
                let (state, pull) = decision(instance, j, t)?;
                let action = joint.action_code(&pull).ok_or(Error::Budget {
                    trajectory: j,
                    step: t,
                    budget: instance.budget(),
                    found: pull.iter().filter(|p| **p).count(),
                })?;
                logged.push((joint.state_code(&state), action));
                let table = instance.reward().view();
                reward[[j, t, 0]] = (0..n)
                    .map(|i| {
                        log.reward()
                            .map_or(table[[usize::from(state[i]), usize::from(pull[i])]], |r| r[[j, t, i]])
                    })
                    .sum();
            }
        }
        // one big arm that is pulled at every decision
        let mut action = Array3::from_elem((j, steps, 1), 1);
        action.index_axis_mut(ndarray::Axis(1), h).fill(NO_ACTION);
        let propensity = Array3::from_elem((j, steps, 1), 1.0 / joint.joint_actions() as f64);
        let state = Array3::zeros((j, steps, 1));
        let (propensity, reward) = (Some(propensity), Some(reward));
        let big_arm = Trajectories::new(Logged { state, action, propensity, reward, available: None }, 1)?;
        let propensity = Propensity::new(&big_arm, Behaviour::Logged, 1)?;
        let decisions = Decisions::new(&big_arm, &Reward::linear(1), &propensity);
        Ok(Self { joint, planner, temperature, logged, decisions })
    }

    /// The joint process.
    pub fn joint(&self) -> &Joint {
        &self.joint
    }

    /// The value of planning with these transitions (`[N,M,2,M]`), and its gradient.
    pub fn objective(&self, transition: ArrayView4<'_, f64>) -> Judged {
        // P → Q → π → value
        let plan = plan(&self.joint, transition, self.temperature, self.planner);
        let log_odds: Vec<f64> = self.logged.iter().map(|&(x, a)| log_odds(plan.policy[[a, x]])).collect();
        let log_odds = Array3::from_shape_vec(self.decisions.dim(), log_odds).expect("[J,H,1]");
        let judged = cwpdis(&self.decisions, log_odds.view(), self.joint.discount(), RatioUpTo::ThisStep);
        // value → π → Q → P
        let d_pull = judged.pullback_pull(1.0).d_pull;
        let d_policy: Vec<(usize, usize, f64)> =
            self.logged.iter().zip(&d_pull).map(|(&(x, a), &d)| (x, a, d)).collect();
        let pulled = plan.pullback(plan.through_policy(&d_policy).view());
        let is_found = plan.status == PlanStatus::Converged && pulled.status == PlanStatus::Converged;
        Judged {
            value: judged.value,
            effective_sample_size: judged.effective_sample_size,
            d_transition: pulled.d_transition,
            status: if is_found { PlanStatus::Converged } else { PlanStatus::NotConverged },
            sweeps: plan.sweeps + pulled.sweeps,
        }
    }
}

/// States and pulls of a logged step, `[N]` each.
fn decision(instance: &Instance, trajectory: usize, step: usize) -> Result<(Vec<u16>, Vec<bool>)> {
    let log = instance.trajectories();
    let n = log.arms();
    let share = instance.budget() as f64 / n as f64;
    let (mut state, mut pull) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for arm in 0..n {
        let wrong = |what, expected: &str, found: String| {
            Err(Error::Step { what, trajectory, step, arm, expected: expected.into(), found })
        };
        let (s, a) = (log.state()[[trajectory, step, arm]], log.action()[[trajectory, step, arm]]);
        if s == UNSEEN {
            return wrong("state", "a state that was seen, for a joint problem", "none".into());
        }
        if a == NO_ACTION {
            return wrong("action", "an action at every step, for a joint problem", "none".into());
        }
        if let Some(propensity) = log.propensity() {
            let (found, expected) =
                (propensity[[trajectory, step, arm]], if a == 1 { share } else { 1.0 - share });
            if !((found - expected).abs() <= TOLERANCE) {
                let expected = format!("{expected}, that of uniform behaviour, for a joint problem");
                return wrong("propensity", &expected, found.to_string());
            }
        }
        state.push(s);
        pull.push(a == 1);
    }
    Ok((state, pull))
}
