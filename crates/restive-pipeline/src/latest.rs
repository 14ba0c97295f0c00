//! What is known of every arm at the step that is planned, the last of the log.
//!
//! With states seen at every step that is the last one observed, in the last trajectory that observed one. A label ages by a step
//! per step up to the end of the log ([`later_label`]), because a step without a record is one at which nobody was pulled;
//! trajectories follow each other in the order of the study (by name, or as the column `order` says), and the steps that a shorter one does not have are no steps.

use ndarray::Axis;
use restive::Trajectories;
use restive::evaluation::later_label;
use restive::instance::{NO_ACTION, Observation, UNSEEN};

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

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array3, array};
    use restive::instance::{Chain, Logged};

    fn latest_of(state: Array3<u16>, action: Array3<u8>, chain: Option<usize>) -> Vec<Option<u16>> {
        let log = Trajectories::new(Logged { state, action, propensity: None, reward: None }, 8).unwrap();
        let labels = |chain| Observation::Collapsing(Chain::Finite(chain));
        latest(&log, chain.map_or(Observation::Full, labels))
    }

    const U: u16 = UNSEEN;
    const N: u8 = NO_ACTION;

    #[test]
    fn labels_age_up_to_the_step_that_is_planned() {
        // chains of 4: the first arm is recorded throughout, the second has a gap, the third is never seen
        let state = array![[[4, 1, U], [5, U, U], [6, U, U], [7, U, U]]];
        let action = array![[[0, 0, 0], [0, N, N], [0, N, N], [N, N, N]]];
        assert_eq!(latest_of(state.clone(), action.clone(), Some(4)), [Some(7), Some(3), None]);
        assert_eq!(latest_of(state, action, None), [Some(7), Some(1), None]);
        // the log ends with the step after its last action, not with the steps of longer trajectories
        let state = array![[[0], [0], [0], [0]], [[4], [U], [U], [U]]];
        let action = array![[[1], [1], [1], [N]], [[0], [N], [N], [N]]];
        assert_eq!(latest_of(state, action, Some(4)), [Some(5)]);
        // a later trajectory that knows nothing of an arm makes its label older
        let state = array![[[0, U], [1, U]], [[U, 4], [U, 5]]];
        let action = array![[[0, N], [N, N]], [[N, 0], [N, N]]];
        assert_eq!(latest_of(state, action, Some(4)), [Some(3), Some(5)]);
    }
}
