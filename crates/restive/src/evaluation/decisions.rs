//! Logged decisions as arrays for importance sampling, and the decisions of a target policy in their place.
//!
//! A record may be missing; the rules are:
//!
//! - **no reward** (the state was unseen, or a reward log has no number): the trajectory does not take part in that arm's
//!   average at that step.
//! - **no action**: neither policy acted, so the ratio of target to behaviour is 1 there.
//! - **not available**: neither policy had a choice, so the ratio is 1; the reward is the one of the passive action.
//! - **an unseen state** when the target must choose: it acts on the state that [`known_states`](super::known_states) gives for the arm.

use super::Propensity;
use crate::instance::{NO_ACTION, Reward, Trajectories, UNSEEN};
use crate::policy::soft_top_k::{soft_top_k, soft_top_k_many};
use crate::policy::{Chooser, Policy, log_odds};
use ndarray::{Array3, ArrayView3, s};
use rayon::prelude::*;

/// H decisions of J trajectories over N arms, with what was earned at each.
///
/// The chance that a target with the log-odds z gives to the logged action is σ(z) for a pull, σ(−z) for none, and 1 where there is
/// no action; over the propensity this is the decision's ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// `[J,H,N]`: 1 for a pull, −1 for passive, 0 for no action
    pub(super) sign: Array3<f64>,
    /// `[J,H,N]`, 0 where there is no action
    pub(super) log_propensity: Array3<f64>,
    /// `[J,H,N]`, 0 where it is not known
    pub(super) reward: Array3<f64>,
    /// `[J,H,N]`: 1 where the reward is known, 0 elsewhere; absent where all are
    pub(super) known: Option<Array3<f64>>,
}

/// What a cotangent of an off-policy value becomes on the log-odds of the target's pulls.
#[derive(Debug, Clone, PartialEq)]
pub struct LogOddsCotangent {
    /// `[J,H,N]`
    pub d_log_odds: Array3<f64>,
}

/// What a cotangent of an off-policy value becomes on the pulls of the target.
#[derive(Debug, Clone, PartialEq)]
pub struct PullCotangent {
    /// `[J,H,N]`
    pub d_pull: Array3<f64>,
}

impl Decisions {
    /// The decisions of a log: rewards are those logged, or R(s, a) where none were; where the log holds labels, that of the state that a
    /// pull saw.
    pub fn new(trajectories: &Trajectories, reward: &Reward, propensity: &Propensity) -> Self {
        let dim = propensity.values.dim();
        let (state, action, logged) = (trajectories.state(), trajectories.action(), trajectories.reward());
        assert_eq!(
            (dim.0, dim.1 + 1, dim.2),
            state.dim(),
            "propensity: [J,H,N], one step fewer than the log"
        );
        let is_available = |at: (usize, usize, usize)| trajectories.is_available([at.0, at.1, at.2]);
        let sign = Array3::from_shape_fn(dim, |at| match action[at] {
            _ if !is_available(at) => 0.0,
            NO_ACTION => 0.0,
            1 => 1.0,
            _ => -1.0,
        });
        let table = reward.view();
        // where states are seen at pulls only, the labels of each
        let chain = trajectories.states() / reward.states();
        let acted = |at: (usize, usize, usize)| if is_available(at) { action[at] } else { 0 };
        let mut earned = Array3::from_shape_fn(dim, |at| match (&logged, state[at], acted(at)) {
            (Some(logged), _, _) => logged[at],
            // a pull that saw x is followed by the first label of its chain
            (None, _, a) if chain > 1 => match state[[at.0, at.1 + 1, at.2]] {
                after if a == 1 && after != UNSEEN => table[[usize::from(after) / chain, 1]],
                _ => f64::NAN,
            },
            (None, UNSEEN, _) => f64::NAN,
            (None, s, NO_ACTION) => {
                let [passive, active] = [0, 1].map(|a| table[[usize::from(s), a]]);
                if passive == active { passive } else { f64::NAN }
            }
            (None, s, a) => table[[usize::from(s), usize::from(a)]],
        });
        let known = earned.iter().any(|r| !r.is_finite()).then(|| earned.mapv(|r| f64::from(r.is_finite())));
        earned.iter_mut().filter(|r| !r.is_finite()).for_each(|r| *r = 0.0);
        let log_propensity = ndarray::Zip::from(&sign)
            .and(&propensity.values)
            .map_collect(|sign, propensity| if *sign == 0.0 { 0.0 } else { propensity.ln() });
        Self { sign, log_propensity, reward: earned, known }
    }

    /// (J, H, N)
    pub fn dim(&self) -> (usize, usize, usize) {
        self.sign.dim()
    }

    /// The mean, the smallest and the largest known reward.
    pub(super) fn reward_moments(&self) -> (f64, f64, f64) {
        let (mut sum, mut count, mut low, mut high) = (0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY);
        for ((j, t, i), &r) in self.reward.indexed_iter() {
            if self.is_known(j, t, i) {
                (sum, count, low, high) = (sum + r, count + 1.0, low.min(r), high.max(r));
            }
        }
        if count == 0.0 { (0.0, 0.0, 0.0) } else { (sum / count, low, high) }
    }

    /// Whether the reward is known.
    pub(super) fn is_known(&self, j: usize, t: usize, i: usize) -> bool {
        self.known.as_ref().is_none_or(|known| known[[j, t, i]] > 0.0)
    }
}

/// The log-odds with which a policy pulls each arm in the logged states (`[J,T,N]`, all known): `[J,H,N]`.
pub fn target_log_odds(states: ArrayView3<'_, u16>, policy: &Policy, budget: usize) -> Array3<f64> {
    let (j, steps, n) = states.dim();
    let h = steps - 1;
    // a copy, because the last step is left out between the rows
    let decided = states.slice(s![.., ..h, ..]).as_standard_layout().into_owned();
    let decided = decided.into_shape_with_order((j * h, n)).expect("as many entries");
    if let Policy::Soft(table, temperature) = policy {
        let solved = soft_top_k_many(table.view(), decided.view(), budget.min(n) as f64, *temperature);
        return solved.log_odds.into_shape_with_order((j, h, n)).expect("as many entries");
    }
    let mut target = Array3::zeros((j, h, n));
    let rows = decided.as_slice().expect("row-major");
    (target.as_slice_mut().expect("row-major").par_chunks_mut(n).zip(rows.par_chunks(n)).enumerate())
        .for_each_init(
            || Chooser::new(policy, budget),
            |chooser, (row, (target, state))| {
                chooser.inclusion(state, row % h, target);
                target.iter_mut().for_each(|p| *p = log_odds(*p));
            },
        );
    target
}

/// Like [`target_log_odds`], but the policy chooses among the arms that are available (`[J,T,N]`); the log-odds of the others are −∞.
pub fn target_log_odds_available(
    states: ArrayView3<'_, u16>,
    available: ArrayView3<'_, bool>,
    policy: &Policy,
    budget: usize,
) -> Array3<f64> {
    let (j, steps, n) = states.dim();
    let h = steps - 1;
    assert_eq!(available.dim(), states.dim(), "available: [J,T,N], as the states");
    let mut target = Array3::zeros((j, h, n));
    let rows: Vec<_> = target.rows_mut().into_iter().enumerate().collect();
    rows.into_par_iter().for_each_init(
        || Chooser::new(policy, budget),
        |chooser, (row, mut target)| {
            let (j, t) = (row / h, row % h);
            let state = states.slice(s![j, t, ..]).to_vec();
            let available = available.slice(s![j, t, ..]).to_vec();
            let target = target.as_slice_mut().expect("row-major");
            match policy {
                // the log-odds themselves: a chance near 1 has lost that of no pull
                Policy::Soft(table, temperature) => {
                    let among: Vec<usize> = (0..n).filter(|i| available[*i]).collect();
                    let score: Vec<f64> = among.iter().map(|&i| table[[i, usize::from(state[i])]]).collect();
                    let soft = soft_top_k(&score, budget.min(among.len()) as f64, *temperature);
                    target.fill(f64::NEG_INFINITY);
                    among.iter().zip(soft.log_odds()).for_each(|(&i, odds)| target[i] = odds);
                }
                _ => {
                    chooser.inclusion_available(&state, &available, t, target);
                    target.iter_mut().for_each(|p| *p = log_odds(*p));
                }
            }
        },
    );
    target
}
