//! What a method is worth on a test instance, by the metrics of the published experiments and as deployed.
//!
//! | metric | what it is |
//! |---|---|
//! | `loss` | predictive loss per trajectory |
//! | `is` | CWPDIS of the soft policy, at the published temperature |
//! | `simulated` | rollouts of the same soft policy on transitions estimated from the test log |
//! | `strict_true` | rollouts of the strict policy on the true transitions: what a programme would get |
//!
//! The soft policy has the published index discount, whatever the method; the strict one has the method's own. All methods meet
//! the same luck on an instance; instances do not share theirs.

use ndarray::{Array2, Array3, ArrayView4};
use restive::evaluation::{
    Behaviour, Decisions, Propensity, RatioUpTo, Record, World, cwpdis, first_states, known_states,
    target_pull,
};
use restive::index::differentiable_index;
use restive::policy::{Policy, Temperature};
use restive::simulation::{Initial, Setting, values};
use restive::{Instance, Transition};

/// The index discount of the published experiments.
pub(crate) const PUBLISHED_DISCOUNT: f64 = 0.99;
/// The temperature of their soft policy.
pub(crate) const PUBLISHED_TEMPERATURE: Temperature = Temperature::Published(0.1);
/// Rollouts on estimated transitions, as published, and on the true ones.
const ROLLOUTS: [usize; 2] = [100, 1000];

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    Loss,
    Is,
    Simulated,
    StrictTrue,
}

impl Metric {
    pub(crate) const ALL: [Metric; 4] = [Metric::Loss, Metric::Is, Metric::Simulated, Metric::StrictTrue];

    /// The word used in tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Metric::Loss => "loss",
            Metric::Is => "is",
            Metric::Simulated => "simulated",
            Metric::StrictTrue => "strict_true",
        }
    }
}

/// A test instance with what all measurements on it share.
pub(crate) struct TestInstance<'a> {
    instance: &'a Instance,
    truth: &'a Transition,
    record: Record,
    /// what is told apart of the arms: states, or labels where states are seen at pulls only
    states: Array3<u16>,
    decisions: Decisions,
    /// with the true transitions, and with those that the log speaks of
    true_world: World,
    estimated: World,
    initial: Initial,
    seed: u64,
}

impl<'a> TestInstance<'a> {
    /// A synthetic instance, whose log has propensities; `seed` draws the rollouts.
    pub(crate) fn new(instance: &'a Instance, seed: u64) -> restive::Result<Self> {
        let log = instance.trajectories();
        let propensity = Propensity::new(log, Behaviour::Logged, instance.budget())?;
        let (observation, reward) = (instance.observation(), instance.reward());
        let truth = instance.truth().expect("synthetic instances know their truth");
        let record = Record::new(instance);
        Ok(Self {
            instance,
            truth,
            states: known_states(log),
            decisions: Decisions::new(log, instance.reward(), &propensity),
            true_world: World::new(observation, reward, truth),
            estimated: World::estimated(reward, &record, None),
            initial: first_states(log),
            record,
            seed,
        })
    }

    pub(crate) fn instance(&self) -> &'a Instance {
        self.instance
    }

    pub(crate) fn truth(&self) -> ArrayView4<'a, f64> {
        self.truth.view()
    }

    /// Whittle indices of what is told apart, `[N,L]`.
    pub(crate) fn index(&self, transition: ArrayView4<'_, f64>, discount: f64) -> Array2<f64> {
        let (reward, chain) = (self.instance.reward().view(), self.instance.observation().chain());
        differentiable_index(transition, reward, discount, chain).index().to_owned()
    }

    /// All metrics of transitions, in the order of [`Metric::ALL`]. `discount` is that of the index of the strict policy.
    pub(crate) fn metrics(&self, transition: ArrayView4<'_, f64>, discount: f64) -> [f64; 4] {
        let published = self.index(transition, PUBLISHED_DISCOUNT);
        let soft = published_policy(published);
        let strict = Policy::Strict(self.index(transition, discount));
        [self.loss(transition), self.is(&soft), self.simulated(&soft), self.on_the_truth(&strict)]
    }

    /// All metrics of pulls at random; the loss is that of knowing nothing.
    pub(crate) fn random(&self) -> [f64; 4] {
        let share = 1.0 / self.instance.states() as f64;
        let nothing = ndarray::Array4::from_elem(self.truth.view().raw_dim(), share);
        let random = &Policy::Random;
        [self.loss(nothing.view()), self.is(random), self.simulated(random), self.on_the_truth(random)]
    }

    /// The predictive loss per trajectory.
    pub(crate) fn loss(&self, transition: ArrayView4<'_, f64>) -> f64 {
        self.record.loss(transition).per_trajectory
    }

    /// CWPDIS, with ratios as published.
    pub(crate) fn is(&self, policy: &Policy) -> f64 {
        let pull = self.pulls(policy);
        cwpdis(&self.decisions, pull.view(), self.instance.discount(), RatioUpTo::ThisStep).value
    }

    /// The probability of every pull in the logged states, `[J,H,N]`.
    pub(crate) fn pulls(&self, policy: &Policy) -> Array3<f64> {
        target_pull(self.states.view(), policy, self.instance.budget())
    }

    fn simulated(&self, policy: &Policy) -> f64 {
        self.rollouts(&self.estimated, &self.initial, policy, ROLLOUTS[0])
    }

    /// The value on the true transitions, from uniform states as the domain has them.
    pub(crate) fn on_the_truth(&self, policy: &Policy) -> f64 {
        self.rollouts(&self.true_world, &Initial::Uniform, policy, ROLLOUTS[1])
    }

    fn rollouts(&self, world: &World, initial: &Initial, policy: &Policy, runs: usize) -> f64 {
        let setting = Setting {
            motion: world.motion(),
            reward: world.reward(),
            discount: self.instance.discount(),
            budget: self.instance.budget(),
            horizon: self.instance.trajectories().steps() - 1,
        };
        values(&setting, initial, policy, runs, self.seed).mean().expect("some rollouts")
    }
}

/// The soft policy of the published experiments.
pub(crate) fn published_policy(index: Array2<f64>) -> Policy {
    let temperature = PUBLISHED_TEMPERATURE.resolve(index.as_slice().expect("contiguous"));
    Policy::Soft(index, temperature)
}

/// The mean over the test instances.
pub(crate) fn mean(tests: &[TestInstance<'_>], of: impl Fn(&TestInstance<'_>) -> f64) -> f64 {
    tests.iter().map(of).sum::<f64>() / tests.len() as f64
}
