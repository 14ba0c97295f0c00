//! What is known of every arm at the end of a log.
//!
//! With states seen at every step that is the last one observed, in the last trajectory that observed one. A label ages by a step
//! per step up to the end of the log ([`later_label`]), because a step without a record is one at which nobody was pulled;
//! trajectories follow each other in their order, and the steps that a shorter one does not have are no steps.
//!
//! ```
//! use ndarray::array;
//! use restive::evaluation::{latest, latest_states};
//! use restive::instance::{Logged, NO_ACTION, Observation, Trajectories, UNSEEN};
//! use restive::simulation::Initial;
//!
//! // two trajectories of three arms: the second arm was seen in the first one only, the third never
//! let state = array![[[0, 1, UNSEEN], [1, 1, UNSEEN]], [[1, UNSEEN, UNSEEN], [0, UNSEEN, UNSEEN]]];
//! let action = array![[[0, 0, 0], [NO_ACTION, NO_ACTION, NO_ACTION]], [[0, 0, 0], [NO_ACTION, NO_ACTION, NO_ACTION]]];
//! let log = Trajectories::new(Logged { state, action, propensity: None, reward: None, available: None }, 2)?;
//! assert_eq!(latest(&log, Observation::Full), [Some(0), Some(1), None]);
//! assert_eq!(latest_states(&log, Observation::Full), Initial::States(array![[0, 1, 0]]));
//! # Ok::<(), restive::Error>(())
//! ```

use super::{later_label, unknown_label};
use crate::instance::{NO_ACTION, Observation, Trajectories, UNSEEN};
use crate::simulation::Initial;
use ndarray::{Array2, Axis};

/// The latest state or label of each arm, none where the log never knew one, `[N]`.
pub fn latest(log: &Trajectories, observation: Observation) -> Vec<Option<u16>> {
    let mut latest = vec![None; log.arms()];
    let chain = observation.chain();
    for (states, actions) in log.state().outer_iter().zip(log.action().outer_iter()) {
        let has_state = |t: usize| states.index_axis(Axis(0), t).iter().any(|s| *s != UNSEEN);
        let has_action = |t: usize| actions.index_axis(Axis(0), t).iter().any(|a| *a != NO_ACTION);
        // an action leads to one more step, whether it has a record or not
        let steps = (0..log.steps()).rev().find_map(|t| match (has_action(t), has_state(t)) {
            (true, _) => Some((t + 2).min(log.steps())),
            (false, true) => Some(t + 1),
            _ => None,
        });
        for step in states.outer_iter().take(steps.unwrap_or(0)) {
            for (kept, &s) in latest.iter_mut().zip(step) {
                match (s, chain) {
                    (UNSEEN, None) => (),
                    (UNSEEN, Some(chain)) => *kept = kept.map(|label| later_label(label, chain)),
                    (s, _) => *kept = Some(s),
                }
            }
        }
    }
    latest
}

/// The same as one row of starts, `[1,N]`; arms of which nothing is known are where [`known_states`](super::known_states) puts them.
pub fn latest_states(log: &Trajectories, observation: Observation) -> Initial {
    let unknown = observation.chain().map_or(0, |chain| unknown_label(log, chain));
    let states: Vec<u16> =
        latest(log, observation).into_iter().map(|state| state.unwrap_or(unknown)).collect();
    Initial::States(Array2::from_shape_vec((1, states.len()), states).expect("one row"))
}
