//! Pulls that last: does the action of an arm change between decisions as often as under random assignment at every decision?
//!
//! Under random assignment at the share p_t of each decision, the action changes with probability p_t(1 − p_{t+1}) + (1 − p_t)p_{t+1}. If
//! the chance e of a later pull is recorded, it changes with probability e after no pull, and 1 − e after a pull. The sum over consecutive
//! recorded decisions of an arm within a trajectory is compared with the changes in the log.

use super::decisions::Decisions;

/// Minimum of expected changes.
const LEAST_EXPECTED: f64 = 20.0;
/// Maximum of changes in the log, as a share of the expected ones, of pulls that last.
const MOST_OBSERVED: f64 = 0.01;
/// Maximum of changes in the log, as a share of the expected ones, of pulls that are assigned per person: people may stop a course.
const MOST_STOPPED: f64 = 0.5;

/// Changes of the action of arms.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Changes {
    /// Expected number of changes under random assignment at every decision.
    pub(crate) expected: f64,
    /// Number of changes in the log.
    pub(crate) observed: usize,
    /// Number of arms with two or more decisions.
    pub(crate) followed: usize,
    /// Number of arms with an action that differs from their first one.
    pub(crate) changed: usize,
}

/// Actions of an arm so far.
#[derive(Clone, Copy, Default)]
struct Past {
    first: Option<bool>,
    /// Latest decision and its action.
    last: Option<(usize, bool)>,
    is_followed: bool,
    has_changed: bool,
}

impl Changes {
    /// Counts changes over all instances.
    pub(super) fn count(instances: &[Decisions<'_>]) -> Self {
        let mut all = Self::default();
        instances.iter().for_each(|decisions| all.add(decisions));
        all
    }

    fn add(&mut self, decisions: &Decisions<'_>) {
        let mut arms = vec![Past::default(); decisions.arms()];
        for d in 0..decisions.len() {
            let [trajectory, _] = decisions.place(d);
            for (arm, past) in arms.iter_mut().enumerate() {
                let Some(pulled) = decisions.pulled(d, arm) else { continue };
                past.is_followed |= past.last.is_some();
                past.has_changed |= *past.first.get_or_insert(pulled) != pulled;
                let before = past.last.replace((d, pulled));
                if let Some((earlier, was_pulled)) = before
                    && decisions.place(earlier)[0] == trajectory
                {
                    self.observed += usize::from(pulled != was_pulled);
                    self.expected += match decisions.recorded(d, arm) {
                        Some(e) if was_pulled => 1.0 - e,
                        Some(e) => e,
                        None => {
                            let (p, q) = (decisions.chance(earlier, arm), decisions.share(d));
                            p * (1.0 - q) + (1.0 - p) * q
                        }
                    };
                }
            }
        }
        self.followed += arms.iter().filter(|past| past.is_followed).count();
        self.changed += arms.iter().filter(|past| past.has_changed).count();
    }

    /// Whether pulls last: random assignment at every decision would have changed actions far more often.
    pub(crate) fn are_lasting(&self) -> bool {
        self.expected >= LEAST_EXPECTED && self.observed as f64 <= MOST_OBSERVED * self.expected
    }

    /// Whether actions change too often for pulls that are assigned per person.
    pub(crate) fn contradict_per_person(&self) -> bool {
        self.expected >= LEAST_EXPECTED && self.observed as f64 > MOST_STOPPED * self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::super::decisions::log_of;
    use super::*;
    use ndarray::{Array2, Array3, array};
    use restive::Trajectories;
    use restive::instance::{Assignment, Logged, NO_ACTION};

    fn changes(log: &Trajectories) -> Changes {
        Changes::count(&[Decisions::new(log, Assignment::PerDecision)])
    }

    #[test]
    fn expected_changes_are_those_of_random_assignment_at_the_shares() {
        // shares 1/2, 1/4, of the arms that are there 1/3
        let none = NO_ACTION;
        let log = log_of(array![[1, 0, 0, 1], [1, 0, 0, 0], [1, none, 0, 0], [none, none, none, none]]);
        let found = changes(&log);
        let (first, second) = (0.5 * 0.75 + 0.5 * 0.25, 0.25 * (2.0 / 3.0) + 0.75 * (1.0 / 3.0));
        assert!((found.expected - (4.0 * first + 3.0 * second)).abs() < 1e-12);
        assert_eq!((found.observed, found.followed, found.changed), (1, 4, 1));
        assert!(!found.are_lasting());
        // too few to tell
        assert!(!found.contradict_per_person());
        assert!(Changes { expected: 20.0, observed: 11, ..found }.contradict_per_person());
        assert!(!Changes { expected: 20.0, observed: 10, ..found }.contradict_per_person());
    }

    #[test]
    fn actions_that_never_change_last() {
        // 40 arms, half of them pulled at each of 3 decisions: 2 · 40 · 0.5 changes are expected
        let still = Array2::from_shape_fn((4, 40), |(t, i)| if t == 3 { NO_ACTION } else { (i % 2) as u8 });
        let found = changes(&log_of(still.clone()));
        assert_eq!(found, Changes { expected: 40.0, observed: 0, followed: 40, changed: 0 });
        assert!(found.are_lasting() && !found.contradict_per_person());
        // one change is more than 1 % of 40
        let mut once = still;
        once[[2, 0]] = 1;
        assert!(!changes(&log_of(once)).are_lasting());
    }

    #[test]
    fn recorded_chances_and_availability_enter() {
        let action =
            Array3::from_shape_fn((1, 3, 30), |(_, t, i)| if t == 2 { NO_ACTION } else { (i % 2) as u8 });
        let state = action.mapv(|_| 0);
        let logged = Logged { state, action, propensity: None, reward: None, available: None };
        let with = |logged: Logged| changes(&Trajectories::new(logged, 2).unwrap());
        // the second action was certain: no change is expected
        let sure = Array3::from_shape_fn((1, 3, 30), |(_, t, _)| if t == 0 { 0.5 } else { 1.0 });
        assert_eq!(with(Logged { propensity: Some(sure), ..logged.clone() }).expected, 0.0);
        let half = Array3::from_elem((1, 3, 30), 0.5);
        assert_eq!(with(Logged { propensity: Some(half), ..logged.clone() }).expected, 15.0);
        // arms are available only where they are pulled
        let available = logged.action.mapv(|action| action == 1);
        let found = with(Logged { available: Some(available), ..logged });
        assert_eq!((found.expected, found.followed), (0.0, 15));
    }
}
