//! A trial: one test instance, on which methods are measured by the metrics of the published experiments and as deployed.
//!
//! The soft policy has the published index discount, whatever the method; the strict one has the method's own. All methods meet
//! the same noise on an instance; instances do not share theirs.

use crate::problem::Problem;
use crate::{Metric, PUBLISHED_DISCOUNT};
use ndarray::{Array2, Array3, Array4, ArrayView4, s};
use restive::evaluation::{
    Decisions, Propensity, RatioUpTo, Record, World, cwpdis, first_states, known_states, segmented,
    target_log_odds,
};
use restive::history::Past;
use restive::index::whittle_index;
use restive::planning::Ending;
use restive::policy::{Policy, Temperature};
use restive::predictor::Predictor;
use restive::simulation::{Initial, Setting, trajectories, values};
use restive::{Instance, Layout, Trajectories, Transition};

/// The temperature of the published soft policy.
pub(crate) const PUBLISHED_TEMPERATURE: Temperature = Temperature::Published(0.1);
/// Rollouts on estimated transitions, as published, and on the true ones.
const ROLLOUTS: [usize; 2] = [100, 1000];

/// Where rollouts on the true transitions start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// where the trajectory of the log began, if it has a single one; else in uniform states
    AsLogged,
    /// arms of the synthetic domains anywhere, however few trajectories were logged; people where their log began
    AsDrawn,
}

/// A test instance with what all measurements on it share.
pub(crate) struct Trial<'a> {
    pub(crate) instance: &'a Instance,
    truth: &'a Transition,
    record: Record,
    /// states, or labels where states are seen at pulls only
    states: Array3<u16>,
    decisions: Decisions,
    /// with the true transitions, and with those that the log speaks of
    true_world: World,
    estimated: World,
    initial: Initial,
    true_initial: Initial,
    /// under which histories are logged
    behaviour: Policy,
    /// of the rollouts
    seed: u64,
}

/// What a method would do, and how well it predicts.
pub(crate) struct Answer {
    loss: f64,
    soft: Policy,
    strict: Policy,
}

impl<'a> Trial<'a> {
    /// The test instances of a run.
    pub(crate) fn all(
        problem: &Problem,
        test: &'a [Instance],
        start: Start,
        seed: u64,
    ) -> restive::Result<Vec<Self>> {
        let trial = |(k, instance): (usize, &'a Instance)| {
            let log = instance.trajectories();
            let propensity = Propensity::new(log, problem.behaviour(), instance.budget())?;
            let (observation, reward) = (instance.observation(), instance.reward());
            let record = Record::new(instance);
            let truth = instance.truth().expect("synthetic instances know their truth");
            let initial = first_states(log, observation);
            let is_from_log = match start {
                Start::AsLogged => log.trajectories() == 1,
                Start::AsDrawn => matches!(problem, Problem::Maternal(_)),
            };
            Ok(Self {
                instance,
                truth,
                states: known_states(log, observation),
                decisions: Decisions::new(log, reward, &propensity),
                true_world: World::new(observation, reward, truth),
                estimated: World::counted(reward, &record),
                true_initial: if is_from_log { initial.clone() } else { Initial::Uniform },
                initial,
                record,
                behaviour: problem.logged_under(),
                seed: seed.wrapping_mul(test.len() as u64).wrapping_add(k as u64),
            })
        };
        test.iter().enumerate().map(trial).collect()
    }

    /// The same with histories logged under another policy.
    pub(crate) fn logged_under(self, behaviour: Policy) -> Self {
        Self { behaviour, ..self }
    }

    pub(crate) fn truth(&self) -> ArrayView4<'a, f64> {
        self.truth.view()
    }

    pub(crate) fn predict(&self, predictor: &Predictor) -> Array4<f64> {
        predictor.predict(self.instance.features())
    }

    /// Whittle indices of states or labels, `[N,L]`.
    pub(crate) fn index(&self, transition: ArrayView4<'_, f64>, discount: f64) -> Array2<f64> {
        whittle_index(transition, self.instance.reward().view(), discount, self.instance.observation()).index
    }

    /// The policies of transitions; `discount` is that of the index of the strict one.
    pub(crate) fn answer(&self, transition: ArrayView4<'_, f64>, discount: f64) -> Answer {
        let published = self.index(transition, PUBLISHED_DISCOUNT);
        let strict = match discount == PUBLISHED_DISCOUNT {
            true => published.clone(),
            false => self.index(transition, discount),
        };
        let (soft, strict) = (published_policy(published), Policy::Strict(strict));
        Answer { loss: self.record.loss(transition).per_trajectory, soft, strict }
    }

    /// A policy that does not look at the states; the loss is that of knowing nothing.
    pub(crate) fn blind(&self, policy: Policy) -> Answer {
        let share = 1.0 / self.instance.states() as f64;
        let nothing = Array4::from_elem(self.truth.view().raw_dim(), share);
        let loss = self.record.loss(nothing.view()).per_trajectory;
        Answer { loss, soft: policy.clone(), strict: policy }
    }

    /// One of [`Metric::WORTH`].
    pub(crate) fn measure(&self, metric: Metric, answer: &Answer) -> f64 {
        match metric {
            Metric::Loss => answer.loss,
            Metric::Is => self.is(&answer.soft),
            Metric::Simulated => self.simulated(&answer.soft),
            Metric::StrictSimulated => self.simulated(&answer.strict),
            Metric::StrictTrue => self.on_the_truth(&answer.strict),
            other => unreachable!("{other} is not measured on a trial"),
        }
    }

    /// CWPDIS, with ratios as published.
    pub(crate) fn is(&self, policy: &Policy) -> f64 {
        let log_odds = self.log_odds(policy);
        let discount = self.instance.discount();
        match self.instance.trajectories().trajectories() {
            1 => segmented(&self.decisions, log_odds.view(), discount).value,
            _ => cwpdis(&self.decisions, log_odds.view(), discount, RatioUpTo::ThisStep).value,
        }
    }

    /// The log-odds of every pull in the logged states, `[J,H,N]`.
    pub(crate) fn log_odds(&self, policy: &Policy) -> Array3<f64> {
        target_log_odds(self.states.view(), policy, self.instance.budget())
    }

    /// The value on transitions counted in the log.
    fn simulated(&self, policy: &Policy) -> f64 {
        self.rollouts(&self.estimated, &self.initial, policy, ROLLOUTS[0])
    }

    /// The value on the true transitions.
    pub(crate) fn on_the_truth(&self, policy: &Policy) -> f64 {
        self.rollouts(&self.true_world, &self.true_initial, policy, ROLLOUTS[1])
    }

    /// The value on the true transitions of the strict policy of transitions.
    pub(crate) fn deployed_by(&self, transition: ArrayView4<'_, f64>, discount: f64) -> f64 {
        self.on_the_truth(&Policy::Strict(self.index(transition, discount)))
    }

    /// The value on the true transitions of the plan for the horizon that transitions lead to.
    pub(crate) fn planned_by(&self, transition: ArrayView4<'_, f64>) -> f64 {
        self.on_the_truth(&self.plan(transition))
    }

    /// The plan of a programme that ends with the horizon, its prices found once, from where the rollouts start.
    fn plan(&self, transition: ArrayView4<'_, f64>) -> Policy {
        let transition = Transition::new(transition.to_owned(), Layout::Nsas).expect("rows that sum to 1");
        let world = World::new(self.instance.observation(), self.instance.reward(), &transition);
        let budget = self.instance.budget().min(self.instance.arms()) as f64;
        let initial = self.true_initial.mass(self.instance.arms(), self.instance.labels());
        world.horizon_plan(self.instance.discount(), budget, self.horizon(), Ending::Nothing, initial.view())
    }

    /// Who is pulled at every decision of one deployment on the true transitions, `[H,N]`.
    pub(crate) fn deployed(&self, policy: &Policy) -> Array2<bool> {
        let setting = self.setting(&self.true_world, self.horizon());
        let log = trajectories(&setting, &self.true_initial, policy, 1, self.seed);
        log.action().slice(s![0, ..self.horizon(), ..]).mapv(|action| action == 1)
    }

    /// What was logged of the arms in so many steps before the test; longer records begin with the shorter ones.
    pub(crate) fn history(&self, steps: usize) -> Record {
        Record::from_log(&self.earlier(steps), self.instance.observation())
    }

    /// The same with where the arms began.
    pub(crate) fn past(&self, steps: usize) -> Past {
        Past::new(&self.earlier(steps), self.instance.observation())
    }

    fn earlier(&self, steps: usize) -> Trajectories {
        // other noise than that of the rollouts
        let setting = self.setting(&self.true_world, steps);
        trajectories(&setting, &self.true_initial, &self.behaviour, 1, !self.seed)
    }

    fn rollouts(&self, world: &World, initial: &Initial, policy: &Policy, runs: usize) -> f64 {
        let setting = self.setting(world, self.horizon());
        values(&setting, initial, policy, runs, self.seed).mean().expect("some rollouts")
    }

    /// H, the decisions of a deployment.
    fn horizon(&self) -> usize {
        self.instance.trajectories().steps() - 1
    }

    fn setting<'b>(&self, world: &'b World, horizon: usize) -> Setting<'b> {
        Setting {
            motion: world.motion(),
            reward: world.reward(),
            discount: self.instance.discount(),
            budget: self.instance.budget(),
            horizon,
        }
    }
}

/// The soft policy of the published experiments.
pub(crate) fn published_policy(index: Array2<f64>) -> Policy {
    let temperature = PUBLISHED_TEMPERATURE.resolve(index.as_slice().expect("contiguous"));
    Policy::Soft(index, temperature)
}

/// The mean over the trials.
pub(crate) fn mean(trials: &[Trial<'_>], value: impl Fn(&Trial<'_>) -> f64) -> f64 {
    trials.iter().map(value).sum::<f64>() / trials.len() as f64
}

/// Means of some metrics over the trials.
pub(crate) fn means<const M: usize>(
    trials: &[Trial<'_>],
    metrics: [Metric; M],
    answer: impl Fn(&Trial<'_>) -> Answer,
) -> [f64; M] {
    let answers: Vec<Answer> = trials.iter().map(answer).collect();
    let sum = |metric| {
        trials.iter().zip(&answers).map(|(trial, answer)| trial.measure(metric, answer)).sum::<f64>()
    };
    metrics.map(|metric| sum(metric) / trials.len() as f64)
}
