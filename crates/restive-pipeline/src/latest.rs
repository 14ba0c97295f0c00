//! Which step is planned, the last of the log; what is [known of every arm](latest) there is the library's to say.
//!
//! Trajectories follow each other in the order of the study: by name, or as the column `order` says.

use ndarray::Axis;
use restive::Trajectories;
use restive::instance::{NO_ACTION, UNSEEN};

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
