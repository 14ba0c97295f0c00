//! The border of the library: raw arrays come in here, are checked once, and are trusted afterwards.
//!
//! An [`Instance`] is the unit of learning and of planning: N arms with their features, the logged [`Trajectories`] of
//! some past runs, the [`Reward`], the budget, the discount and, in synthetic data, the true [`Transition`].

mod assignment;
mod reward;
mod trajectories;
mod transition;

pub use crate::belief::{Chain, Observation};
pub use assignment::Assignment;
pub use reward::{Reward, RewardView, check_discount};
pub use trajectories::{Counts, Logged, NO_ACTION, OverBudget, Trajectories, UNSEEN};
pub use transition::{CompactTransition, Layout, Transition};

use crate::error::{Error, Result};
use ndarray::{Array2, ArrayView2, Axis};

/// What an instance is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// what is known of the arms, `[N,F]`, finite
    pub features: Array2<f64>,
    /// what was logged: states, or labels where states are seen at pulls only
    pub trajectories: Trajectories,
    /// R(s, a), and with it M
    pub reward: Reward,
    /// K, the arms that may be pulled at each step
    pub budget: usize,
    /// γ
    pub discount: f64,
    /// the true transitions, where they are known
    pub truth: Option<Transition>,
    /// when states are seen
    pub observation: Observation,
    /// Cluster of each arm, such as its household, `[N]`: numbers shared by all instances of a study. `None`: each arm is a
    /// cluster.
    pub clusters: Option<Vec<u32>>,
}

/// N arms with what is known of them: [`Parts`] that fit together.
///
/// ```
/// use restive::data::domain::Domain;
/// use restive::instance::{Instance, Parts};
///
/// let domain = Domain { instances: 1, arms: 10, budget: 2, trajectories: 3, ..Domain::two_state() };
/// let instance = domain.generate(1)?.remove(0);
/// let first = instance.trajectories().select(&[0]);
/// let shorter = Instance::new(Parts { trajectories: first, ..instance.parts().clone() })?;
/// assert_eq!(shorter.trajectories().trajectories(), 1);
/// // a budget below the two pulls of the log is one of today
/// let today = Instance::new(Parts { budget: 1, ..instance.parts().clone() })?;
/// assert_eq!(today.trajectories().over_budget(1).map(|over| over.most), Some(2));
/// # Ok::<(), restive::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Instance(Parts);

impl Instance {
    /// Checks that the parts fit together: as many arms everywhere, as many states, finite features, a discount from 0 to 1.
    /// The log may have more pulls than the budget, which is that of decisions to come ([`Trajectories::over_budget`]).
    pub fn new(parts: Parts) -> Result<Self> {
        let Parts { features, trajectories, reward, .. } = &parts;
        check_discount(parts.discount)?;
        let (n, m) = (trajectories.arms(), reward.states());
        let wrong =
            |what, expected: String, found: &[usize]| Error::Shape { what, expected, found: found.to_vec() };
        check_features(features, n)?;
        if let Some(truth) = &parts.truth
            && (truth.arms() != n || truth.states() != m)
        {
            return Err(wrong("truth", format!("[{n}, {m}, 2, {m}]"), truth.view().shape()));
        }
        if let Some(clusters) = &parts.clusters
            && clusters.len() != n
        {
            return Err(wrong("clusters", format!("[{n}], one per arm"), &[clusters.len()]));
        }
        let labels = parts.observation.labels(m);
        if labels == 0 {
            return Err(Error::Range {
                what: "chain",
                expected: "at least 1 label for each state",
                found: 0.0,
            });
        }
        if trajectories.states() != labels {
            let expected = match parts.observation {
                Observation::Full => format!("{m} states, as the reward has"),
                Observation::Collapsing(_) => format!("{labels} labels, a chain for each of {m} states"),
            };
            return Err(wrong("trajectories", expected, &[trajectories.states()]));
        }
        Ok(Self(parts))
    }

    /// What it is made of.
    pub fn parts(&self) -> &Parts {
        &self.0
    }

    /// N, the number of arms.
    pub fn arms(&self) -> usize {
        self.0.features.nrows()
    }

    /// M, the number of states.
    pub fn states(&self) -> usize {
        self.0.reward.states()
    }

    /// When states are seen.
    pub fn observation(&self) -> Observation {
        self.0.observation
    }

    /// L, the number of distinguishable states: M, or the labels of M chains.
    pub fn labels(&self) -> usize {
        self.0.observation.labels(self.states())
    }

    /// `[N,F]`
    pub fn features(&self) -> ArrayView2<'_, f64> {
        self.0.features.view()
    }

    /// What was logged.
    pub fn trajectories(&self) -> &Trajectories {
        &self.0.trajectories
    }

    /// R(s, a)
    pub fn reward(&self) -> &Reward {
        &self.0.reward
    }

    /// K, the arms that may be pulled at each step.
    pub fn budget(&self) -> usize {
        self.0.budget
    }

    /// γ
    pub fn discount(&self) -> f64 {
        self.0.discount
    }

    /// The true transitions, where the data are synthetic.
    pub fn truth(&self) -> Option<&Transition> {
        self.0.truth.as_ref()
    }

    /// Cluster of each arm, `[N]`; `None` if each arm is a cluster.
    pub fn clusters(&self) -> Option<&[u32]> {
        self.0.clusters.as_deref()
    }

    /// Some of the arms, in the given order, with a budget in proportion (rounded, at least 1 where there was any). Chance may
    /// have pulled more of them at a step than that.
    pub fn select_arms(&self, arms: &[usize]) -> Self {
        let Parts { features, trajectories, reward, budget, discount, truth, observation, clusters } =
            &self.0;
        let share = *budget as f64 * arms.len() as f64 / self.arms() as f64;
        Self(Parts {
            features: features.select(Axis(0), arms),
            trajectories: trajectories.select_arms(arms),
            reward: reward.clone(),
            budget: if *budget == 0 { 0 } else { (share.round() as usize).max(1) },
            discount: *discount,
            truth: truth.as_ref().map(|truth| truth.select_arms(arms)),
            observation: *observation,
            clusters: clusters.as_ref().map(|clusters| arms.iter().map(|i| clusters[*i]).collect()),
        })
    }

    /// The same arms with other features (`[N,F′]`): another encoding of what is known of them.
    pub fn with_features(self, features: Array2<f64>) -> Result<Self> {
        check_features(&features, self.arms())?;
        Ok(Self(Parts { features, ..self.0 }))
    }
}

fn check_features(features: &Array2<f64>, arms: usize) -> Result<()> {
    if features.nrows() != arms {
        let expected = format!("[{arms}, F], one row per arm");
        return Err(Error::Shape { what: "features", expected, found: features.shape().to_vec() });
    }
    match features.iter().enumerate().find(|(_, x)| !x.is_finite()) {
        Some((position, &found)) => Err(Error::NotFinite { what: "features", position, found }),
        None => Ok(()),
    }
}
