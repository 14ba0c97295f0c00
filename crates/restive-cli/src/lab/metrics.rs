//! What a method is worth on a test instance, by the metrics of the published experiments and as deployed.
//!
//! | metric | what it is |
//! |---|---|
//! | `loss` | predictive loss per trajectory |
//! | `is` | CWPDIS of the soft policy, at the published temperature; the segmented variant where there is one trajectory |
//! | `simulated` | rollouts of the same soft policy on transitions counted in the test log |
//! | `strict_simulated` | rollouts of the strict policy on the same transitions |
//! | `strict_true` | rollouts of the strict policy on the true transitions: what a programme would get |
//!
//! The soft policy has the published index discount, whatever the method; the strict one has the method's own. All methods meet
//! the same luck on an instance; instances do not share theirs.

use ndarray::{Array2, Array3, ArrayView4, s};
use restive::evaluation::{
    Behaviour, Decisions, Propensity, RatioUpTo, Record, World, cwpdis, first_states, known_states,
    segmented, target_pull,
};
use restive::index::whittle_index;
use restive::policy::{Policy, Temperature};
use restive::simulation::{Initial, Setting, trajectories, values};
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
    StrictSimulated,
    StrictTrue,
}

impl Metric {
    pub(crate) const ALL: [Metric; 5] =
        [Metric::Loss, Metric::Is, Metric::Simulated, Metric::StrictSimulated, Metric::StrictTrue];

    /// The word used in tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Metric::Loss => "loss",
            Metric::Is => "is",
            Metric::Simulated => "simulated",
            Metric::StrictSimulated => "strict_simulated",
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
    true_initial: Initial,
    seed: u64,
}

impl<'a> TestInstance<'a> {
    /// A synthetic instance; `seed` draws the rollouts. Those on the truth start in uniform states, or where the single trajectory
    /// began.
    pub(crate) fn new(instance: &'a Instance, behaviour: Behaviour, seed: u64) -> restive::Result<Self> {
        let log = instance.trajectories();
        let propensity = Propensity::new(log, behaviour, instance.budget())?;
        let (observation, reward) = (instance.observation(), instance.reward());
        let record = Record::new(instance);
        let truth = instance.truth().expect("synthetic instances know their truth");
        let initial = first_states(log, observation);
        Ok(Self {
            instance,
            truth,
            states: known_states(log, observation),
            decisions: Decisions::new(log, instance.reward(), &propensity),
            true_world: World::new(observation, reward, truth),
            estimated: World::counted(reward, &record),
            true_initial: if log.trajectories() == 1 { initial.clone() } else { Initial::Uniform },
            initial,
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
        whittle_index(transition, self.instance.reward().view(), discount, self.instance.observation()).index
    }

    /// All metrics of transitions, in the order of [`Metric::ALL`]. `discount` is that of the index of the strict policy.
    pub(crate) fn metrics(&self, transition: ArrayView4<'_, f64>, discount: f64) -> [f64; 5] {
        let soft = published_policy(self.index(transition, PUBLISHED_DISCOUNT));
        let strict = Policy::Strict(self.index(transition, discount));
        self.of(self.loss(transition), &soft, &strict)
    }

    /// All metrics of a policy that does not look at the states; the loss is that of knowing nothing.
    pub(crate) fn blind(&self, policy: &Policy) -> [f64; 5] {
        let share = 1.0 / self.instance.states() as f64;
        let nothing = ndarray::Array4::from_elem(self.truth.view().raw_dim(), share);
        self.of(self.loss(nothing.view()), policy, policy)
    }

    fn of(&self, loss: f64, soft: &Policy, strict: &Policy) -> [f64; 5] {
        [loss, self.is(soft), self.simulated(soft), self.simulated(strict), self.on_the_truth(strict)]
    }

    /// The predictive loss per trajectory.
    pub(crate) fn loss(&self, transition: ArrayView4<'_, f64>) -> f64 {
        self.record.loss(transition).per_trajectory
    }

    /// CWPDIS, with ratios as published.
    pub(crate) fn is(&self, policy: &Policy) -> f64 {
        let pull = self.pulls(policy);
        let discount = self.instance.discount();
        match self.instance.trajectories().trajectories() {
            1 => segmented(&self.decisions, pull.view(), discount).value,
            _ => cwpdis(&self.decisions, pull.view(), discount, RatioUpTo::ThisStep).value,
        }
    }

    /// The probability of every pull in the logged states, `[J,H,N]`.
    pub(crate) fn pulls(&self, policy: &Policy) -> Array3<f64> {
        target_pull(self.states.view(), policy, self.instance.budget())
    }

    /// The value on transitions counted in the log.
    pub(crate) fn simulated(&self, policy: &Policy) -> f64 {
        self.rollouts(&self.estimated, &self.initial, policy, ROLLOUTS[0])
    }

    /// The value on the true transitions.
    pub(crate) fn on_the_truth(&self, policy: &Policy) -> f64 {
        self.rollouts(&self.true_world, &self.true_initial, policy, ROLLOUTS[1])
    }

    /// Who is pulled at every decision of one deployment on the true transitions, `[H,N]`; all policies meet the same luck.
    pub(crate) fn deployed(&self, policy: &Policy) -> Array2<bool> {
        let log = trajectories(&self.setting(&self.true_world), &self.true_initial, policy, 1, self.seed);
        let steps = log.steps() - 1;
        log.action().slice(s![0, ..steps, ..]).mapv(|action| action == 1)
    }

    fn rollouts(&self, world: &World, initial: &Initial, policy: &Policy, runs: usize) -> f64 {
        values(&self.setting(world), initial, policy, runs, self.seed).mean().expect("some rollouts")
    }

    fn setting<'b>(&self, world: &'b World) -> Setting<'b> {
        Setting {
            motion: world.motion(),
            reward: world.reward(),
            discount: self.instance.discount(),
            budget: self.instance.budget(),
            horizon: self.instance.trajectories().steps() - 1,
        }
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
