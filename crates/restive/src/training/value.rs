//! The value that decision-focused training maximises, as a function of the indices, with its gradient.
//!
//! | value | the policy is judged by | blind to |
//! |---|---|---|
//! | [`Value::Is`] | the log, reweighted ([CWPDIS](mod@crate::evaluation::cwpdis); [segmented](mod@crate::evaluation::segmented) for a single trajectory): the paper's | the competition for the budget |
//! | [`Value::Fluid`] | the [mean-field](mod@crate::evaluation::fluid) run of H steps on estimated transitions | O(1/N) |
//! | [`Value::Decomposed`] | [each arm apart](mod@crate::evaluation::decomposed), paying for its pulls, on estimated transitions | steps of the horizon; as good as fluid in most regimes, and cheaper |
//!
//! All are totals over arms and steps of the deployment. They belong to a *soft* policy, because the strict one has no gradient;
//! its [temperature](Temperature) is part of the chain rule.

use super::prepared::Prepared;
use crate::evaluation::{
    Behaviour, MeanField, RatioUpTo, Relaxation, World, cwpdis, decomposed, fluid, segmented,
};
use crate::index::whittle_index;
use crate::policy::Temperature;
use crate::policy::soft_top_k::soft_top_k_many;
use ndarray::{Array2, ArrayView2, ArrayView3, ArrayView4};

/// What decision-focused training maximises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// importance sampling on the log
    Is,
    /// the mean-field limit
    Fluid,
    /// arm by arm, at the charge where the relaxed budget binds
    Decomposed,
}

impl Value {
    /// All of them.
    pub const ALL: [Value; 3] = [Value::Is, Value::Fluid, Value::Decomposed];

    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Value::Is => "is",
            Value::Fluid => "fluid",
            Value::Decomposed => "decomposed",
        }
    }
}

/// The decision that training goes through, and what it is weighed against:
/// objective = (value_weight · value − loss_weight · loss)/N.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// what is maximised
    pub value: Value,
    /// γ of the index
    pub index_discount: f64,
    /// how soft the policy is
    pub temperature: Temperature,
    /// H, the decisions of a deployment
    pub horizon: usize,
    /// where the propensities of importance sampling come from
    pub behaviour: Behaviour,
    /// of the value
    pub value_weight: f64,
    /// of the predictive loss
    pub loss_weight: f64,
}

impl Decision {
    /// As the published results were made: importance sampling 0.9, predictive loss 0.1, the published temperature, index
    /// discount 0.99.
    pub fn published(horizon: usize) -> Self {
        Self {
            value: Value::Is,
            index_discount: 0.99,
            temperature: Temperature::Published(0.1),
            horizon,
            behaviour: Behaviour::Logged,
            value_weight: 0.9,
            loss_weight: 0.1,
        }
    }

    /// As the paper's text says: importance sampling alone.
    pub fn paper(horizon: usize) -> Self {
        Self { value_weight: 1.0, loss_weight: 0.0, ..Self::published(horizon) }
    }

    /// The decomposed value, a temperature of 0.1 of the spread of the indices, index discount 1 − 1/H; the weight of the loss is
    /// for the preset to say.
    pub fn recommended(horizon: usize) -> Self {
        Self {
            value: Value::Decomposed,
            index_discount: 1.0 - 1.0 / horizon.max(1) as f64,
            temperature: Temperature::Spread(0.1),
            ..Self::paper(horizon)
        }
    }
}

/// The value of some indices.
pub(super) struct Judged {
    pub value: f64,
    /// `[N,M]`, the temperature held
    pub d_index: Array2<f64>,
    pub d_temperature: f64,
}

/// What judges the indices of one instance.
pub(super) enum Judge {
    Log,
    Fluid(World),
    Decomposed(World, Relaxation),
}

impl Judge {
    /// A judge by the log, or by what may be believed of the world.
    pub fn new(prepared: &Prepared, decision: &Decision, believed: World) -> Self {
        match decision.value {
            Value::Is => Judge::Log,
            Value::Fluid => Judge::Fluid(believed),
            Value::Decomposed => {
                let own = own_index(&believed, decision.index_discount);
                let temperature = resolve(decision.temperature, own.view());
                let run = prepared.fluid(own.view(), &believed, temperature, decision.horizon);
                let relaxation = Relaxation::from_run(&run);
                Judge::Decomposed(believed, relaxation)
            }
        }
    }

    /// The value of the soft policy with these indices (`[N,M]`, contiguous), and its gradient.
    pub fn value(
        &self,
        prepared: &Prepared,
        decision: &Decision,
        index: ArrayView2<'_, f64>,
        temperature: f64,
    ) -> Judged {
        match self {
            Judge::Log => by_log(prepared, index, temperature),
            Judge::Fluid(believed) => {
                let run = prepared.fluid(index, believed, temperature, decision.horizon);
                let d = run.pullback(1.0);
                Judged { value: run.value, d_index: d.d_index, d_temperature: d.d_temperature }
            }
            Judge::Decomposed(believed, relaxation) => {
                let field = MeanField { discount: decision.index_discount, ..prepared.field(believed) };
                let apart = decomposed(index, &field, temperature, relaxation);
                let steps = decision.horizon as f64;
                let d = apart.pullback(steps);
                Judged { value: steps * apart.value, d_index: d.d_index, d_temperature: d.d_temperature }
            }
        }
    }
}

/// The paper's value: π(W) in the logged states, Eval(π), and back.
fn by_log(prepared: &Prepared, index: ArrayView2<'_, f64>, temperature: f64) -> Judged {
    let log = prepared.log.as_ref().expect("prepared for importance sampling");
    let (j, h, n) = log.decisions.dim();
    let soft = soft_top_k_many(index, log.states.view(), prepared.budget, temperature);
    let log_odds = ArrayView3::from_shape((j, h, n), soft.log_odds.as_slice().expect("standard layout"));
    let log_odds = log_odds.expect("J·H rows");
    let (value, d_log_odds) = if j == 1 {
        let judged = segmented(&log.decisions, log_odds, prepared.discount);
        (judged.value, judged.pullback(1.0).d_log_odds)
    } else {
        let judged = cwpdis(&log.decisions, log_odds, prepared.discount, RatioUpTo::ThisStep);
        (judged.value, judged.pullback(1.0).d_log_odds)
    };
    // an instance of which nothing is known teaches nothing
    let value = if value.is_nan() { 0.0 } else { value };
    let d_log_odds = d_log_odds.into_shape_with_order((j * h, n)).expect("J·H rows");
    let d = soft.pullback(d_log_odds.view());
    Judged { value, d_index: d.d_index, d_temperature: d.d_temperature }
}

impl Prepared {
    /// The world that the log speaks of, or the log and a prediction with its strength.
    pub fn world(&self, prediction: Option<(ArrayView4<'_, f64>, [f64; 2])>) -> World {
        World::estimated(&self.reward, &self.record, prediction)
    }

    /// The mean-field run of a soft policy in some world.
    pub fn fluid<'a>(
        &'a self,
        index: ArrayView2<'_, f64>,
        world: &'a World,
        temperature: f64,
        horizon: usize,
    ) -> crate::evaluation::Fluid<'a> {
        fluid(index, &self.field(world), temperature, horizon)
    }

    pub fn field<'a>(&'a self, world: &'a World) -> MeanField<'a> {
        let (motion, reward, initial) = (world.motion(), world.reward(), self.initial.view());
        MeanField { motion, reward, initial, discount: self.discount, budget: self.budget }
    }
}

/// The indices of the states of a world, `[N,L]`.
fn own_index(world: &World, discount: f64) -> Array2<f64> {
    let transition = world.transition().expect("an estimated world has transitions").view();
    let reward = world.state_reward().view();
    whittle_index(transition, reward, discount, world.observation()).index
}

/// The temperature for a table of indices.
pub(super) fn resolve(temperature: Temperature, index: ArrayView2<'_, f64>) -> f64 {
    temperature.resolve(index.as_slice().expect("standard layout"))
}
