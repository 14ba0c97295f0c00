//! Logged decisions without a model of outcomes: expected rewards are 0.
//!
//! Decisions at which a person was not available are left out.

use super::judge::Foresight;
use crate::instance::{Instance, NO_ACTION, UNSEEN};

/// Decisions of each person in states that were seen, in the order of trajectories and steps.
pub(super) fn logged(instance: &Instance) -> Vec<Vec<Foresight>> {
    let (log, reward) = (instance.trajectories(), instance.reward().view());
    let (state, action, steps) = (log.state(), log.action(), log.steps());
    let decisions = |i: usize| {
        let all = (0..log.trajectories()).flat_map(|j| (0..steps - 1).map(move |t| (j, t)));
        let is_there = |&(j, t): &(usize, usize)| {
            let is_taken = action[[j, t, i]] != NO_ACTION && log.is_available([j, t, i]);
            state[[j, t, i]] != UNSEEN && is_taken
        };
        let one = |(j, t): (usize, usize)| {
            let next = state[[j, t + 1, i]];
            let came = if next == UNSEEN { f64::NAN } else { reward[[usize::from(next), 0]] };
            Foresight {
                decision: (j * (steps - 1) + t) as u32,
                state: state[[j, t, i]],
                next,
                action: action[[j, t, i]],
                came: [came; 2],
                ..Foresight::default()
            }
        };
        all.filter(is_there).map(one).collect()
    };
    (0..instance.arms()).map(decisions).collect()
}
