//! What was asked for, resolved to numbers: the profile and what overrides it; and what training needs of the data.

use crate::asked::Asked;
use crate::error::{Result, refuse};
use crate::message::{Message, Opt};
use ndarray::{ArrayView3, Axis};
use restive::Instance;
use restive::evaluation::Record;
use restive::instance::Observation;
use restive::predictor::{Penalties, Precision, PredictorKind};
use restive::training::{Choice, Config, Decision, Keep, Method, Protocol, Rate, Recipe, Value};
use restive_tables::model::configuration::{Objective, PredictorName, Preset, Profile, ValueName};

/// The profile, overridden.
pub(crate) fn resolve(asked: &Asked, train: &[Instance], horizon: usize) -> Method {
    let config = settings(asked, train);
    let is_auto = asked.predictor() == PredictorName::Auto;
    if asked.objective == Objective::TwoStage {
        return if is_auto { Method::Auto(config) } else { Method::TwoStage(config) };
    }
    let mut decision = match asked.profile {
        Profile::Recommended => Decision::recommended(horizon),
        Profile::Published => Decision::published(horizon),
        Profile::Paper => Decision::paper(horizon),
    };
    let named = |name: ValueName| Value::ALL.into_iter().find(|value| value.name() == name.name());
    decision.value = asked.value.and_then(named).unwrap_or(decision.value);
    decision.temperature = asked.temperature.unwrap_or(decision.temperature);
    decision.index_discount = asked.index_discount.unwrap_or(decision.index_discount);
    if asked.profile != Profile::Recommended {
        return Method::DecisionFocused(config, decision, None);
    }
    let choice = match asked.preset {
        None | Some(Preset::Select) => None,
        Some(Preset::Weak) => Some(Choice::Weak),
        Some(Preset::Strong) => Some(Choice::Strong),
    };
    Method::Recommended(Recipe { two_stage: config, is_auto, decision, choice })
}

/// The settings of the first stage.
fn settings(asked: &Asked, train: &[Instance]) -> Config {
    let observation = train.first().map_or(Observation::Full, Instance::observation);
    let protocol = Protocol::of_domain(observation);
    let mut config = match asked.profile {
        Profile::Recommended => Config::recommended(train),
        Profile::Published => Config::published_in(protocol),
        Profile::Paper => Config::paper_in(protocol),
    };
    config.seed = asked.seed;
    match asked.predictor() {
        PredictorName::Network | PredictorName::Auto => {
            if let PredictorKind::Network { hidden, dropout } = &mut config.kind {
                *hidden = asked.hidden.clone().unwrap_or_else(|| std::mem::take(hidden));
                *dropout = asked.dropout.unwrap_or(*dropout);
            }
        }
        PredictorName::Linear => config.kind = PredictorKind::Network { hidden: vec![], dropout: 0.0 },
        PredictorName::Effect => {
            let precision = asked.precision.unwrap_or(Precision::DEFAULT);
            config.kind = PredictorKind::Effect { precision };
        }
        PredictorName::Hierarchical => {
            config.kind = PredictorKind::Hierarchical { penalties: Penalties::Evidence };
        }
    }
    if let Some(epochs) = asked.epochs {
        config.epochs = epochs;
        if let Keep::Best { patience } = &mut config.keep {
            *patience = config.epochs.div_ceil(5);
        }
    }
    if let Some(found) = asked.learning_rate {
        let (Rate::Constant(rate) | Rate::Cosine(rate)) = &mut config.rate;
        *rate = found;
    }
    config
}

/// What there is to learn from.
pub(crate) struct Material {
    /// whether states are seen at pulls only
    pub is_collapsing: bool,
    /// transitions of the training part, or sightings
    pub seen: f64,
    /// those after a pull
    pub pulls: f64,
    /// States without a transition in the training part.
    pub unobserved_states: Vec<u16>,
    /// whether there is a validation part
    pub has_validation: bool,
}

impl Material {
    /// Of instances, by part.
    pub(crate) fn new([train, validation, _]: &[Vec<Instance>; 3]) -> Self {
        let pulls =
            |record: &Record| record.moves().map_or(1.0, |moves| moves.view().index_axis(Axis(2), 1).sum());
        let records: Vec<Record> = train.iter().map(Record::new).collect();
        let moves = records.iter().filter_map(|record| Some(record.moves()?.view().sum_axis(Axis(0))));
        let moves = moves.reduce(|sum, moves| sum + moves);
        Self {
            is_collapsing: train.iter().any(|instance| instance.observation() != Observation::Full),
            seen: records.iter().map(Record::total).sum(),
            pulls: records.iter().map(pulls).sum(),
            unobserved_states: moves.map_or(Vec::new(), |moves| unobserved_states(moves.view())),
            has_validation: !validation.is_empty(),
        }
    }
}

/// States without a transition, by the moves `[M,2,M]` of all training arms.
pub(crate) fn unobserved_states(moves: ArrayView3<'_, f64>) -> Vec<u16> {
    let from = moves.outer_iter().enumerate();
    from.filter(|(_, moves)| moves.sum() == 0.0).map(|(state, _)| state as u16).collect()
}

/// A warning of states without a transition in the training part.
pub(crate) fn say_unobserved(states: &[u16]) -> Option<Message> {
    let names: Vec<String> = states.iter().map(u16::to_string).collect();
    let noun = if names.len() == 1 { "state" } else { "states" };
    (!names.is_empty()).then(|| {
        format!(
            "no next state was ever seen from {noun} {} in the training part: what happens there is unknown, and plans leave out \
             arms in it",
            names.join(", ")
        )
        .into()
    })
}

/// What training needs of the data.
pub(crate) fn refuse_too_little(method: &Method, material: &Material) -> Result<()> {
    let config = method.config();
    let &Material { is_collapsing, seen, pulls, has_validation, .. } = material;
    let logistic = match config.kind {
        PredictorKind::Effect { .. } => Some("effect"),
        PredictorKind::Hierarchical { .. } => Some("hierarchical"),
        PredictorKind::Network { .. } | PredictorKind::Pool { .. } => None,
    };
    if let Some(model) = logistic.filter(|_| is_collapsing) {
        let why = format!(
            " {model}: the {model} model is fitted to moves from state to state, and this study sees states at pulls only; it \
             needs "
        );
        refuse!(Opt("predictor"), why, Opt("predictor"), " auto, network or linear");
    }
    if seen == 0.0 && is_collapsing {
        refuse!("training part: found no pull, expected some: states are seen at pulls only");
    }
    if seen == 0.0 {
        refuse!(
            "training part: found no transition (a state, an action and the next state of an arm), expected some"
        );
    }
    if pulls == 0.0 {
        refuse!(
            "training part: found no pull among {seen} transitions, expected some: nothing says what a pull changes, and no list \
             can be made; is the column action right?"
        );
    }
    if let PredictorKind::Effect { precision: Precision::HeldOut { .. } } = config.kind
        && !has_validation
    {
        refuse!(Opt("precision"), " held-out: found no validation part to choose on, expected one");
    }
    if let Method::Recommended(Recipe { decision, .. }) = method
        && (decision.horizon, decision.index_discount) == (1, 0.0)
    {
        let why = " decision-focused: found horizon = 1 in study.toml, expected at least 2: an index at a discount of 0 sees no effect of a \
                   pull; ";
        refuse!(
            Opt("objective"),
            why,
            Opt("objective"),
            " two-stage plans one decision by the effect on the next reward"
        );
    }
    if matches!(method, Method::Recommended(_)) && !has_validation {
        let why =
            " decision-focused: found no validation part, expected one to say what predictions are worth; ";
        refuse!(Opt("objective"), why, Opt("profile"), " published does without");
    }
    Ok(())
}
