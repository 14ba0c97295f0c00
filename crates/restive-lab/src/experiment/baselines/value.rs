//! `baselines-value`: what the joint baselines learn, beside ours and the exact optimum, where all of them fit.
//!
//! The two-state domain with N = 5 and K = 1, 9 decisions. Values are exact: dynamic programming over the 32 joint states on
//! the true transitions, from a uniform start. Policies of indices are strict, joint plans greedy.
//!
//! | method | |
//! |---|---|
//! | `random`, `optimum` | one of the arms at random; the best over 9 steps, which may change with the step |
//! | `two-stage`, `decision-focused`, … | [trained](crate::learn) as everywhere, strict Whittle indices |
//! | `implicit`, `unrolled` | trained through a joint plan, at each temperature of the axis |
//! | `oracle`, `oracle-matched` | indices of the true transitions, at index discount 0.99 and at the recommended one |
//! | `joint-oracle` | the joint plan of the true transitions for ever |

use super::show;
use super::{PLANNERS, REGIME, is_asked};
use crate::experiment::rows::{Row, Rows};
use crate::experiment::units::Unit;
use crate::experiment::{Asked, Experiment, Shares};
use crate::learn::{self, Trained};
use crate::problem::Problem;
use crate::{DomainName, Method, Metric};
use ndarray::{Array2, ArrayView4};
use restive::Instance;
use restive::data::domain::Domain;
use restive::index::{Algorithm, whittle_index};
use restive::joint::{
    Joint, JointSettings, Limit, PlanStatus, best_value, greedy, optimum, plan, policy_value, strict, train,
    uniform,
};
use restive::predictor::{Architecture, Predictor, PredictorKind};
use restive::simulation::Initial;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "baselines-value",
    axis: Some("temperature"),
    units,
    compute,
    owns: |_| true,
    show: show::show,
};

/// Of the joint plans, in units of reward.
pub(crate) const TEMPERATURES: [f64; 5] = [0.03, 0.1, 0.3, 1.0, 3.0];
const ARMS: usize = 5;

fn problem() -> Problem {
    Problem::Domain(DomainName::TwoState, Domain { arms: ARMS, budget: 1, ..Domain::two_state() })
}

fn units(asked: &Asked) -> Vec<Unit> {
    let runs = if is_asked(asked) { asked.runs } else { 0 };
    Unit::runs("baselines-value", REGIME, runs, 1).collect()
}

/// A test instance as a joint problem.
struct Test<'a> {
    instance: &'a Instance,
    joint: Joint,
    start: Vec<f64>,
    horizon: usize,
}

impl Test<'_> {
    fn truth(&self) -> ArrayView4<'_, f64> {
        self.instance.truth().expect("synthetic instances know their truth").view()
    }

    fn value(&self, policy: &Array2<f64>) -> f64 {
        self.at_the_start(&policy_value(&self.joint, self.truth(), policy.view(), self.horizon))
    }

    fn at_the_start(&self, value: &[f64]) -> f64 {
        value.iter().zip(&self.start).map(|(v, p)| v * p).sum()
    }

    /// The strict policy of the indices of transitions.
    fn by_index(&self, transition: ArrayView4<'_, f64>, discount: f64) -> Array2<f64> {
        let solved = whittle_index(transition, self.instance.reward().view(), discount, Algorithm::Auto);
        strict(&self.joint, solved.index.view())
    }
}

fn compute(asked: &Asked, unit: &Unit, shares: Shares<'_>) -> anyhow::Result<Vec<Row>> {
    let problem = problem();
    let seed = asked.settings.run_seed(unit.run);
    let [train_on, validation, test] = problem.parts(seed)?;
    let horizon = problem.horizon();
    let new = |instance| -> restive::Result<Test<'_>> {
        let joint = Joint::from_instance(instance, &Limit::default())?;
        let start = joint.start(Initial::Uniform.mass(ARMS, instance.states()).view());
        Ok(Test { instance, joint, start, horizon })
    };
    let tests: Vec<Test<'_>> = test.iter().map(new).collect::<restive::Result<_>>()?;
    let mean = |value: &dyn Fn(&Test<'_>) -> f64| tests.iter().map(value).sum::<f64>() / tests.len() as f64;
    let mut rows = Rows::new(unit, seed);
    rows.push(Method::Random, Metric::Exact, f64::NAN, mean(&|test| test.value(&uniform(&test.joint))));
    let (both, profile) = ([&train_on[..], &validation[..]], asked.settings.profile);
    let (all, _) = learn::all(profile, &problem, seed, both, |share| shares(0.5 * share), |_| ())?;
    for Trained { method, predictor, discount, .. } in &all {
        let value = mean(&|test| {
            let predicted = predictor.predict(test.instance.features());
            test.value(&test.by_index(predicted.view(), *discount))
        });
        rows.push(*method, Metric::Exact, f64::NAN, value);
    }
    for (k, (method, planner)) in PLANNERS.into_iter().enumerate() {
        for (t, temperature) in TEMPERATURES.into_iter().enumerate() {
            let settings = JointSettings { temperature, ..JointSettings::published(planner) };
            let trained = train(&train_on, untrained(&train_on[0], seed)?, &settings)?;
            let value = mean(&|test| {
                let predicted = trained.predictor.predict(test.instance.features());
                test.value(&greedy(plan(&test.joint, predicted.view(), temperature, planner).q.view()))
            });
            rows.push(method, Metric::Exact, temperature, value);
            let is_not_found = trained.status != PlanStatus::Converged;
            rows.push(method, Metric::IsNotConverged, temperature, f64::from(u8::from(is_not_found)));
            shares(0.5 + 0.05 * (k * TEMPERATURES.len() + t) as f64);
        }
    }
    let mut push = |method, value| rows.push(method, Metric::Exact, f64::NAN, value);
    for method in [Method::Oracle, Method::OracleMatched] {
        let discount = method.index_discount(horizon);
        let value = mean(&|test| test.value(&test.by_index(test.truth(), discount)));
        push(method, value);
    }
    let planned = mean(&|test| test.value(&greedy(optimum(&test.joint, test.truth()).q.view())));
    push(Method::JointOracle, planned);
    let best = mean(&|test| test.at_the_start(&best_value(&test.joint, test.truth(), horizon)));
    push(Method::Optimum, best);
    Ok(rows.finish())
}

/// The published network.
fn untrained(instance: &Instance, seed: u64) -> restive::Result<Predictor> {
    let kind = PredictorKind::Network { hidden: vec![64], dropout: 0.0 };
    let (features, states) = (instance.features().ncols(), instance.states());
    Predictor::new(&Architecture { features, states, kind }, seed)
}
