//! What is known of every arm at every step, where the log has gaps.
//!
//! **States seen at every step.** An unseen state is the last one that was seen of the arm, as a planner would take it; before
//! the first, the first that is seen later; for an arm never seen in the trajectory, state 0.
//!
//! **States seen at pulls only.** What is known of an arm is a [label](crate::belief) (s, h), and nothing looks ahead:
//!
//! - after a known label, one that is unknown is a step older: (s, h) becomes (s, h + 1), and the last label of a chain stays. A
//!   step without a record is a step at which nobody was pulled.
//! - before anything is known of the arm, it was last seen longer ago than the chain remembers: it has the **last label**
//!   (s\*, T − 1) of a chain, whose belief is close to the long-run one. s\* is the state that the pulls of the log saw most often
//!   ([`unknown_label`]), the lowest of equals, 0 where nothing was seen. Beliefs of long chains forget s\*; in short ones it matters.
//!
//! Labels that are filled in count as any others: where the arms of a log start ([`first_states`]), what a target policy acts on,
//! and what was seen at them ([`labelled`]), so that the long-run belief is estimated from the first pulls of arms whose past is unknown.
//!
//! ```
//! use ndarray::array;
//! use restive::evaluation::known_states;
//! use restive::instance::{Chain, Logged, NO_ACTION, Observation, Trajectories, UNSEEN};
//!
//! // chains of 3 labels: 0, 1, 2 after state 0 was seen, 3, 4, 5 after state 1; the pull of step 1 saw state 1
//! let state = array![[[UNSEEN], [UNSEEN], [3], [UNSEEN], [UNSEEN], [UNSEEN]]];
//! let action = array![[[0], [1], [0], [NO_ACTION], [NO_ACTION], [NO_ACTION]]];
//! let log = Trajectories::new(Logged { state, action, propensity: None, reward: None, available: None }, 6)?;
//! let known = known_states(&log, Observation::Collapsing(Chain::Finite(3)));
//! assert_eq!(known, array![[[5], [5], [3], [4], [5], [5]]]);
//! # Ok::<(), restive::Error>(())
//! ```

use crate::belief::{Belief, label};
use crate::instance::{Chain, Logged, Observation, Trajectories, UNSEEN};
use crate::simulation::Initial;
use ndarray::{Array2, Array3, Axis};
use std::borrow::Cow;

/// The state, or label, of every arm at every step, `[J,T,N]`: as logged, with the gaps filled by the rules above.
pub fn known_states(log: &Trajectories, observation: Observation) -> Array3<u16> {
    let mut states = log.state().to_owned();
    let chain = observation.chain();
    let unknown = chain.map(|chain| unknown_label(log, chain));
    for mut steps in states.lanes_mut(Axis(1)) {
        let first = || steps.iter().copied().find(|s| *s != UNSEEN).unwrap_or(0);
        // the last label of a chain stays: it may grow older before the first step
        let mut last = unknown.unwrap_or_else(first);
        for s in steps.iter_mut() {
            if *s == UNSEEN {
                *s = chain.map_or(last, |chain| later_label(last, chain));
            }
            last = *s;
        }
    }
    states
}

/// The label of an arm that was left alone for a step: (s, h + 1), or the last of its chain.
pub fn later_label(label: u16, chain: Chain) -> u16 {
    Belief::later(label.into(), chain.beliefs()) as u16
}

/// The label of an arm of which nothing is known: the last of the chain of the state that the log's pulls saw most often.
pub fn unknown_label(log: &Trajectories, chain: Chain) -> u16 {
    let length = chain.beliefs();
    assert_eq!(log.states() % length, 0, "labels: a chain for each state");
    let mut seen = vec![0u64; log.states() / length];
    for (states, actions) in log.state().outer_iter().zip(log.action().outer_iter()) {
        for (after, actions) in states.outer_iter().skip(1).zip(actions.outer_iter()) {
            // a pull that saw x is followed by the label (x, 0)
            for (&after, _) in after.iter().zip(actions).filter(|(s, a)| **a == 1 && **s != UNSEEN) {
                seen[usize::from(after) / length] += 1;
            }
        }
    }
    let most = seen.iter().copied().max().unwrap_or(0);
    let state = seen.iter().position(|count| *count == most).unwrap_or(0);
    label(state, length - 1, length) as u16
}

/// The log with every label filled in, where states are seen at pulls only; other logs as they are.
pub fn labelled(log: &Trajectories, observation: Observation) -> Cow<'_, Trajectories> {
    if observation == Observation::Full || log.state().iter().all(|label| *label != UNSEEN) {
        return Cow::Borrowed(log);
    }
    let filled = Logged {
        state: known_states(log, observation),
        action: log.action().to_owned(),
        propensity: log.propensity().map(|propensity| propensity.to_owned()),
        reward: log.reward().map(|reward| reward.to_owned()),
        available: log.available().map(|available| available.to_owned()),
    };
    Cow::Owned(Trajectories::new(filled, log.states()).expect("a checked log with labels of its chains"))
}

/// The states, or labels, in which the logged trajectories began, one row each: `[J,N]`.
pub fn first_states(log: &Trajectories, observation: Observation) -> Initial {
    Initial::States(known_states(log, observation).index_axis(Axis(1), 0).to_owned())
}

/// The share of the logged trajectories in which each arm began in each state or label: `[N,L]`.
pub fn first_mass(log: &Trajectories, observation: Observation) -> Array2<f64> {
    first_states(log, observation).mass(log.arms(), log.states())
}
