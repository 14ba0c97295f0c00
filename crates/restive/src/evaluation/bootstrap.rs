//! The bootstrap: how much an estimate would have varied with other data.
//!
//! Units (trajectories, or the arms where there is a single trajectory; clusters of arms if they are declared) are drawn
//! with replacement, as many as there are, and
//! the estimate is computed anew on each resample, *including* whatever it estimates on the way, such as transitions.
//! Resample b has a stream of random numbers of its own, so results do not depend on the number of threads, and the same
//! seed gives every policy the same resamples: differences of policies are paired.
//!
//! ```
//! use restive::evaluation::{Covers, Estimate, bootstrap, stretch};
//!
//! let heights = [1.62, 1.75, 1.81, 1.68, 1.70, 1.77, 1.59, 1.84];
//! let mean = |which: &[usize]| which.iter().map(|&k| heights[k]).sum::<f64>() / 8.0;
//! let resampled = bootstrap(8, 999, 1, |which, _| mean(which));
//! let estimate = Estimate::percentile(mean(&[0, 1, 2, 3, 4, 5, 6, 7]), &resampled, stretch(8, 8.0), Covers::Arms);
//! assert!(estimate.low > 1.62 && estimate.high < 1.83);
//! ```

use crate::instance::Instance;
use crate::interrupt;
use crate::random::stream;
use rand::RngExt;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;

/// The statistic of each of `resamples` resamples of `units`; it is given the units drawn (perhaps repeated) and a seed of
/// its own for simulation.
pub fn bootstrap<T: Send>(
    units: usize,
    resamples: usize,
    seed: u64,
    statistic: impl Fn(&[usize], u64) -> T + Sync,
) -> Vec<T> {
    numbered(units, resamples, seed, |_, which, seed| statistic(which, seed))
}

/// The same for a statistic that is also told the number of the resample.
pub(super) fn numbered<T: Send>(
    units: usize,
    resamples: usize,
    seed: u64,
    statistic: impl Fn(usize, &[usize], u64) -> T + Sync,
) -> Vec<T> {
    assert!(units > 0, "units: at least 1");
    let draw = |b: usize| {
        let mut random = stream(seed, &[b as u64]);
        let which: Vec<usize> = (0..units).map(|_| random.random_range(0..units)).collect();
        statistic(b, &which, random.random())
    };
    (0..resamples).into_par_iter().inspect(|_| interrupt::check()).map(draw).collect()
}

/// How often each unit was drawn: `[units]`.
pub fn times_drawn(which: &[usize], units: usize) -> Vec<f64> {
    let mut times = vec![0.0; units];
    which.iter().for_each(|&k| times[k] += 1.0);
    times
}

/// Units that are drawn in the bootstrap of an instance: trajectories; if there is a single trajectory, clusters of arms, or arms if no
/// clusters are declared.
///
/// As many clusters are drawn as there are, so that the number n′ of arms drawn differs from n. A sum over the arms drawn is scaled by
/// n/n′, and the budget by n′/n.
pub(super) struct Units {
    arms: usize,
    count: usize,
    /// Arms of each cluster, in the order of their first arms.
    clusters: Option<Vec<Vec<usize>>>,
}

impl Units {
    pub(super) fn new(instance: &Instance) -> Self {
        let arms = instance.arms();
        let trajectories = instance.trajectories().trajectories();
        if trajectories > 1 {
            return Self { arms, count: trajectories, clusters: None };
        }
        let clusters = instance.clusters().map(members);
        Self { arms, count: clusters.as_ref().map_or(arms, Vec::len), clusters }
    }

    /// Number of units.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Arms of the units drawn, if units are clusters or arms.
    pub(super) fn arms<'a>(&self, drawn: &'a [usize]) -> Cow<'a, [usize]> {
        match &self.clusters {
            None => Cow::Borrowed(drawn),
            Some(clusters) => drawn.iter().flat_map(|&unit| &clusters[unit]).copied().collect(),
        }
    }

    /// n/n′ for n′ arms drawn.
    pub(super) fn scale(&self, drawn: usize) -> f64 {
        self.arms as f64 / drawn as f64
    }
}

/// Arms of each cluster, in the order of their first arms.
fn members(clusters: &[u32]) -> Vec<Vec<usize>> {
    let mut members: Vec<Vec<usize>> = Vec::new();
    let mut places = HashMap::new();
    for (arm, cluster) in clusters.iter().enumerate() {
        let place = *places.entry(cluster).or_insert(members.len());
        if place == members.len() {
            members.push(Vec::new());
        }
        members[place].push(arm);
    }
    members
}
