//! Availability of the arms of a log, for simulation and for the fluid.
//!
//! The [chain](AvailabilityChain) is fitted to the log or to a resample of it. Before that, availability is
//!
//! | start | simulation | fluid |
//! |---|---|---|
//! | [`Start::First`] | as logged: run r follows trajectory r modulo J, the chain at steps without a record and beyond the log | as logged at the first step |
//! | [`Start::Latest`] | the latest that is known of each arm | the same |
//! | [`Start::Uniform`] | stationary | stationary |
//!
//! The fluid follows the chain from the first step on, also where later steps are logged: its states and their availability are one
//! joint distribution, which a log of single arms does not give.
//!
//! **Round robin.** The rota begins at arm t·K modulo N and pulls the first K available arms. In the fluid and on resampled arms each arm
//! has the probability of a pull that the masses allow. Let a_i be the probability that arm i is available, and A_i the sum of these
//! probabilities over the arms before it in the rota. An available arm is pulled with probability (K − A_i)/a_i, clipped to [0, 1].

use super::Start;
use crate::instance::Trajectories;
use crate::simulation::{AvailabilityChain, AvailabilityCourse, Initial, logged_availability};
use ndarray::{Array2, Array3, Axis};

/// Availability in the log of an instance.
pub(super) struct LoggedAvailability {
    start: Start,
    /// The latest availability that is known of each arm, `[1,1,N]`.
    latest: Array3<Option<bool>>,
}

impl LoggedAvailability {
    /// `None` if the log has no availability.
    pub(super) fn new(log: &Trajectories, start: Start) -> Option<Self> {
        let logged = logged_availability(log)?;
        let mut latest = Array3::from_elem((1, 1, log.arms()), None);
        for step in logged.rows() {
            latest.iter_mut().zip(step).for_each(|(latest, now)| *latest = now.or(*latest));
        }
        Some(Self { start, latest })
    }

    /// Availability in runs of the arms of the log, or of a resample of it; `arms`: their positions in the log.
    pub(super) fn course(&self, log: &Trajectories, arms: &[usize]) -> AvailabilityCourse {
        let is_there = "a log with availability";
        let known = match self.start {
            Start::First => logged_availability(log).expect(is_there),
            Start::Latest => self.latest.select(Axis(2), arms),
            Start::Uniform => Array3::from_elem((1, 0, arms.len()), None),
        };
        AvailabilityCourse { known, chain: AvailabilityChain::fit(&[log]).expect(is_there) }
    }
}

/// Masses of the arms over their M states at the first step, of the available and of the others: `[N,M]` each.
pub(super) fn first_masses(
    course: &AvailabilityCourse,
    initial: &Initial,
    n: usize,
    m: usize,
) -> [Array2<f64>; 2] {
    let (mut available, mut absent) = (Array2::zeros((n, m)), Array2::zeros((n, m)));
    let mut add = |run: usize, i: usize, s: usize, share: f64| {
        let chance = course.first(run, i);
        available[[i, s]] += share * chance;
        absent[[i, s]] += share * (1.0 - chance);
    };
    match initial {
        Initial::Uniform => {
            let share = 1.0 / (course.rows() * m) as f64;
            let all = ndarray::indices((course.rows(), n, m)).into_iter();
            all.for_each(|(run, i, s)| add(run, i, s, share));
        }
        Initial::States(rows) => {
            let share = 1.0 / rows.nrows() as f64;
            rows.indexed_iter().for_each(|((run, i), &s)| add(run, i, usize::from(s), share));
        }
    }
    [available, absent]
}

/// Probability of a pull of each arm at each step if it is available, for N arms that are pulled in turn, K at a step: `[H,N]`.
pub(super) fn rota(course: &AvailabilityCourse, n: usize, budget: usize, horizon: usize) -> Array2<f64> {
    let rows = course.rows();
    let first = |i: usize| (0..rows).map(|run| course.first(run, i)).sum::<f64>() / rows as f64;
    let mut available: Vec<f64> = (0..n).map(first).collect();
    let mut plan = Array2::zeros((horizon, n));
    for (t, mut pull) in plan.rows_mut().into_iter().enumerate() {
        let (begin, mut left) = (t * budget % n, budget as f64);
        for i in (begin..n).chain(0..begin) {
            if available[i] > 0.0 {
                pull[i] = (left / available[i]).clamp(0.0, 1.0);
            }
            left -= available[i];
        }
        available.iter_mut().for_each(|available| *available = course.chain.next(*available));
    }
    plan
}
