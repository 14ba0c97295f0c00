//! Random logs with everything that can happen in one, for the estimators that weigh them.

use crate::arms::Random;
use ndarray::{Array3, Axis};
use rand::RngExt;
use restive::evaluation::{Behaviour, Decisions, Propensity};
use restive::instance::{Logged, NO_ACTION, UNSEEN};
use restive::policy::log_odds;
use restive::{Reward, Trajectories};

/// A log: missing states, missing actions, propensities of all sizes.
pub(crate) struct Log {
    pub(crate) trajectories: Trajectories,
    pub(crate) propensity: Propensity,
    pub(crate) reward: Reward,
}

pub(crate) fn log(j: usize, h: usize, n: usize, is_ragged: bool, random: &mut Random) -> Log {
    let dim = (j, h + 1, n);
    let mut state = Array3::from_shape_simple_fn(dim, || random.random_range(0..3u16));
    let mut action = Array3::from_shape_simple_fn(dim, || random.random_range(0..2u8));
    let propensity = Array3::from_shape_simple_fn(dim, || random.random_range(0.2..0.9));
    if is_ragged {
        state.iter_mut().filter(|_| random.random_bool(0.2)).for_each(|s| *s = UNSEEN);
        action.iter_mut().filter(|_| random.random_bool(0.1)).for_each(|a| *a = NO_ACTION);
        state.index_axis_mut(Axis(2), 0).column_mut(1).fill(UNSEEN); // arm 0 is never seen at step 1
    }
    action.index_axis_mut(Axis(1), h).fill(NO_ACTION);
    let logged = Logged { state, action, propensity: Some(propensity), reward: None, available: None };
    let trajectories = Trajectories::new(logged, 3).unwrap();
    let propensity = Propensity::new(&trajectories, Behaviour::Logged, 1).unwrap();
    Log { trajectories, propensity, reward: Reward::of_state(&[-0.3, 0.4, 1.0]).unwrap() }
}

impl Log {
    pub(crate) fn decisions(&self) -> Decisions {
        Decisions::new(&self.trajectories, &self.reward, &self.propensity)
    }

    pub(crate) fn ratio(&self, j: usize, t: usize, i: usize, pull: f64) -> f64 {
        let chosen = match self.trajectories.action()[[j, t, i]] {
            NO_ACTION => return 1.0,
            1 => pull,
            _ => 1.0 - pull,
        };
        chosen / self.trajectories.propensity().unwrap()[[j, t, i]]
    }

    pub(crate) fn reward(&self, j: usize, t: usize, i: usize) -> Option<f64> {
        let s = self.trajectories.state()[[j, t, i]];
        (s != UNSEEN).then(|| self.reward.view()[[usize::from(s), 0]])
    }
}

pub(crate) fn pulls(log: &Log, random: &mut Random) -> Array3<f64> {
    Array3::from_shape_simple_fn(log.propensity.values.dim(), || random.random::<f64>())
}

/// The log-odds of pulls, which is what the estimators take.
pub(crate) fn odds(pull: &Array3<f64>) -> Array3<f64> {
    pull.mapv(log_odds)
}
