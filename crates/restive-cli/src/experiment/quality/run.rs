//! One run of one regime: seven trainings on the same data, each judged as it would be deployed, by the value of the strict policy
//! on the true transitions of the test instances (1,000 rollouts, the same luck for all).
//!
//! | method | training | discount of its index |
//! |---|---|---|
//! | `random`, `oracle` | none; none: the true transitions | –; 0.99 |
//! | `oracle-matched` | the same | 1 − 1/H |
//! | `two-stage`, `decision-focused` | as published | 0.99 |
//! | `two-stage-converged` | to convergence | 0.99 |
//! | `two-stage-recommended` | the same | 1 − 1/H |
//! | `decision-focused-fluid` | from there: the mean-field value, preset weak | 1 − 1/H |
//! | `decision-focused-recommended` | the decomposed value, weak, strong or two-stage, as folds choose | 1 − 1/H |
//! | `decision-focused-strong` | the decomposed value, preset strong, whatever folds say | 1 − 1/H |
//! | `decision-focused-control` | the same on a world in which every two-stage prediction is true: no data speak | 1 − 1/H |
//!
//! The effect model was never published, so its regime has no published trainings.
//!
//! **Histories.** At 3, 9 and 27 on the axis, each test arm has a record of its own: so many steps logged under the behaviour
//! policy, from states drawn as those of the test. The indices are those of predictions weighed against that record by the
//! strength that the validation instances give them, as `plan --history` does. Everything at 0 has no record.
//!
//! Rows of the metric `choice` say what the folds chose: 0 two-stage, 1 weak, 2 strong.

use super::regimes::{Regime, regimes};
use crate::experiment::rows::{Row, Rows};
use crate::experiment::units::Unit;
use crate::experiment::{Asked, Shares, comparison};
use crate::lab::learn;
use crate::lab::metrics::{Metric, PUBLISHED_DISCOUNT};
use crate::lab::problem::Problem;
use ndarray::{Array4, ArrayView4};
use restive::Instance;
use restive::evaluation::{Record, World, first_states, strength};
use restive::index::whittle_index;
use restive::policy::Policy;
use restive::predictor::{Predictor, PredictorKind};
use restive::simulation::{Initial, Setting, trajectories, values};
use restive::training::{Choice, Config, Decision, Prior, Recipe, Selected, Value};

/// Far from the seeds of other experiments: run r has the seed asked for, plus this, plus r.
pub(crate) const FIRST_SEED: u64 = 10_000;
/// Logged steps of each arm.
pub(crate) const HISTORIES: [usize; 3] = [3, 9, 27];
/// The metric of the folds' choices.
pub(crate) const CHOICE: &str = "choice";
const ROLLOUTS: usize = 1000;
/// So many transitions that no record speaks beside a prediction.
const CERTAIN: f64 = 1e9;

pub(crate) fn units(asked: &Asked) -> Vec<Unit> {
    let of = |regime: Regime| {
        (0..asked.runs).map(move |run| Unit {
            kind: "quality",
            domain: regime.name.into(),
            run,
            weight: regime.weight,
        })
    };
    regimes(asked).into_iter().flat_map(of).collect()
}

pub(crate) fn compute(asked: &Asked, unit: &Unit, shares: Shares<'_>) -> anyhow::Result<Vec<Row>> {
    let all = regimes(asked);
    let regime = all.iter().find(|regime| regime.name == unit.domain).expect("a unit of a regime");
    let problem = &regime.problem;
    let seed = asked.settings.seed.wrapping_add(FIRST_SEED).wrapping_add(unit.run as u64);
    let [train, validation, test] = problem.parts(seed)?;
    let both = [&train[..], &validation[..]];
    let trials = Trials::new(problem, &test, seed);
    let mut rows = Rows::new(unit, seed);
    let mut push = |method: &str, metric: &str, history: usize, value: f64| {
        rows.push(method, metric, history as f64, value)
    };
    let metric = Metric::StrictTrue.name();
    let matched = Decision::recommended(problem.horizon()).index_discount;

    push("random", metric, 0, trials.value(|_| Policy::Random));
    for (method, discount) in [("oracle", PUBLISHED_DISCOUNT), ("oracle-matched", matched)] {
        push(method, metric, 0, trials.value(|trial| trial.strict(trial.truth(), discount)));
    }
    shares(0.01);
    let predicted = |predictor: &Predictor, discount: f64| {
        trials.value(|trial| trial.strict(predictor.predict(trial.instance.features()).view(), discount))
    };
    if !matches!(regime.predictor, PredictorKind::Effect { .. }) {
        let (config, decision) = comparison::as_published(asked.profile, problem, seed);
        let config = Config { kind: as_published(&regime.predictor, &config.kind), ..config };
        let two_stage = learn::two_stage(config.clone(), both, |_, _| ())?;
        push("two-stage", metric, 0, predicted(&two_stage, PUBLISHED_DISCOUNT));
        let through = learn::decision_focused(config, decision, None, both, |_, _| ())?;
        push("decision-focused", metric, 0, predicted(&through, PUBLISHED_DISCOUNT));
    }
    shares(0.15);

    let config = Config { kind: regime.predictor.clone(), seed, ..Config::recommended(&train) };
    let mut recipe = Recipe::new(config, problem.horizon());
    recipe.decision.behaviour = problem.behaviour();
    let (selected, _) = learn::recommended(recipe.clone(), both, |share| shares(0.15 + 0.65 * share))?;
    let Selected { fitted, two_stage, verdict } = &selected;
    push("two-stage-converged", metric, 0, predicted(&two_stage.predictor, PUBLISHED_DISCOUNT));
    let choice = Choice::ALL.iter().position(|choice| *choice == verdict.choice).expect("listed");
    push("decision-focused-recommended", CHOICE, 0, choice as f64);

    let through = |value: Value, preset: Choice, strength: [f64; 2]| {
        let (config, decision) = recipe.preset(preset, train.len());
        let prior = Prior { predictor: two_stage.predictor.clone(), strength };
        learn::decision_focused(config, Decision { value, ..decision }, Some(&prior), both, |_, _| ())
    };
    let fluid = through(Value::Fluid, Choice::Weak, verdict.strength)?;
    push("decision-focused-fluid", metric, 0, predicted(&fluid, matched));
    let strong = match verdict.choice {
        Choice::Strong => fitted.predictor.clone(),
        _ => through(Value::Decomposed, Choice::Strong, verdict.strength)?,
    };
    push("decision-focused-strong", metric, 0, predicted(&strong, matched));
    let control = through(Value::Decomposed, Choice::Strong, [CERTAIN; 2])?;
    push("decision-focused-control", metric, 0, predicted(&control, matched));
    shares(0.95);

    for (method, fitted) in [("two-stage-recommended", two_stage), ("decision-focused-recommended", fitted)] {
        let predictor = &fitted.predictor;
        push(method, metric, 0, predicted(predictor, matched));
        let held_out: Vec<(Record, Array4<f64>)> = (validation.iter())
            .map(|instance| (Record::new(instance), predictor.predict(instance.features())))
            .collect();
        let pairs: Vec<_> = held_out.iter().map(|(record, p)| (record, p.view())).collect();
        let worth = strength(&pairs).map(|of| of.value);
        for steps in HISTORIES {
            let value = trials.value(|trial| {
                let prediction = predictor.predict(trial.instance.features());
                let own = trial.history(steps).transition(Some((prediction.view(), worth)));
                trial.strict(own.view(), matched)
            });
            push(method, metric, steps, value);
        }
    }
    Ok(rows.finish())
}

/// The published network, or a linear predictor trained like it.
fn as_published(predictor: &PredictorKind, published: &PredictorKind) -> PredictorKind {
    match predictor {
        PredictorKind::Network { hidden, .. } if hidden.is_empty() => predictor.clone(),
        _ => published.clone(),
    }
}

/// The test instances.
struct Trials<'a>(Vec<Trial<'a>>);

/// A test instance with the world that policies are tried in.
struct Trial<'a> {
    instance: &'a Instance,
    world: World,
    initial: Initial,
    behaviour: Policy,
    horizon: usize,
    /// of the rollouts
    seed: u64,
}

impl<'a> Trials<'a> {
    /// Arms of the synthetic domains start anywhere, however few trajectories were logged; people where their log began.
    fn new(problem: &Problem, test: &'a [Instance], seed: u64) -> Self {
        let one = |(k, instance): (usize, &'a Instance)| {
            let (observation, truth) = (instance.observation(), instance.truth().expect("synthetic"));
            let (initial, behaviour) = match problem {
                Problem::Domain(..) => (Initial::Uniform, Policy::Random),
                Problem::Maternal(_) => {
                    (first_states(instance.trajectories(), observation), Policy::RoundRobin)
                }
            };
            Trial {
                instance,
                world: World::new(observation, instance.reward(), truth),
                initial,
                behaviour,
                horizon: problem.horizon(),
                seed: seed.wrapping_mul(test.len() as u64).wrapping_add(k as u64),
            }
        };
        Self(test.iter().enumerate().map(one).collect())
    }

    /// The mean over the instances of a policy's value.
    fn value(&self, policy: impl Fn(&Trial<'_>) -> Policy) -> f64 {
        self.0.iter().map(|trial| trial.value(&policy(trial))).sum::<f64>() / self.0.len() as f64
    }
}

impl Trial<'_> {
    fn truth(&self) -> ArrayView4<'_, f64> {
        self.instance.truth().expect("synthetic").view()
    }

    fn setting(&self, horizon: usize) -> Setting<'_> {
        Setting {
            motion: self.world.motion(),
            reward: self.world.reward(),
            discount: self.instance.discount(),
            budget: self.instance.budget(),
            horizon,
        }
    }

    fn value(&self, policy: &Policy) -> f64 {
        let setting = self.setting(self.horizon);
        values(&setting, &self.initial, policy, ROLLOUTS, self.seed).mean().expect("some rollouts")
    }

    /// The strict policy of indices of these transitions.
    fn strict(&self, transition: ArrayView4<'_, f64>, discount: f64) -> Policy {
        let (reward, observation) = (self.instance.reward().view(), self.instance.observation());
        Policy::Strict(whittle_index(transition, reward, discount, observation).index)
    }

    /// What was logged of the arms in so many steps before the test; longer records begin with the shorter ones.
    fn history(&self, steps: usize) -> Record {
        // another luck than that of the rollouts
        let log = trajectories(&self.setting(steps), &self.initial, &self.behaviour, 1, !self.seed);
        Record::from_log(&log, self.instance.observation())
    }
}
