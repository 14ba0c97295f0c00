//! Which step is planned, the last of the log; what is [known of every arm](latest) there is the library's to say.
//!
//! Trajectories follow each other in the order of the study: by name, or as the column `order` says.

use crate::error::Result;
use ndarray::{Axis, s};
use restive::Trajectories;
use restive::instance::{Logged, NO_ACTION, UNSEEN};

pub use restive::evaluation::latest;

/// The step that is planned, as column t counts: the one after the last action of the last trajectory, or the last one with a
/// state.
pub(crate) fn planned_step(log: &Trajectories) -> usize {
    let Some(j) = log.trajectories().checked_sub(1) else { return 0 };
    let is_any = |t: usize| {
        let decided = log.action().index_axis(Axis(0), j).row(t).iter().any(|a| *a != NO_ACTION);
        let seen = log.state().index_axis(Axis(0), j).row(t).iter().any(|s| *s != UNSEEN);
        if decided { Some(t + 1) } else { seen.then_some(t) }
    };
    (0..log.steps()).rev().find_map(is_any).unwrap_or(0)
}

/// What a log said before the decision of a step of a trajectory: the trajectories before it, and of this one the steps before,
/// with the states in which the decision found the arms.
pub(crate) fn before(log: &Trajectories, trajectory: usize, step: usize) -> Result<Trajectories> {
    let earlier = s![..=trajectory, .., ..];
    let mut state = log.state().slice(earlier).to_owned();
    let mut action = log.action().slice(earlier).to_owned();
    state.slice_mut(s![trajectory, step + 1.., ..]).fill(UNSEEN);
    action.slice_mut(s![trajectory, step.., ..]).fill(NO_ACTION);
    let available = log.available().map(|available| {
        let mut available = available.slice(earlier).to_owned();
        available.slice_mut(s![trajectory, step + 1.., ..]).fill(true);
        available
    });
    let logged = Logged { state, action, propensity: None, reward: None, available };
    Ok(Trajectories::new(logged, log.states())?)
}
