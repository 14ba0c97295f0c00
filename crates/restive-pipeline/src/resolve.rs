//! What was asked for, resolved to numbers: the profile and what overrides it; and what training needs of the data.

use crate::asked::{Asked, Objective, PredictorName, Preset, Profile};
use crate::error::{Result, refuse};
use crate::method::Method;
use restive::Instance;
use restive::evaluation::Record;
use restive::instance::Observation;
use restive::predictor::{Precision, PredictorKind};
use restive::training::{Choice, Config, Decision, Keep, Rate, Recipe};

/// The profile, overridden.
pub(crate) fn resolve(asked: &Asked, train: &[Instance], horizon: usize) -> Method {
    let config = settings(asked, train);
    if asked.objective == Objective::TwoStage {
        return Method::TwoStage(config);
    }
    let mut decision = match asked.profile {
        Profile::Recommended => Decision::recommended(horizon),
        Profile::Published => Decision::published(horizon),
        Profile::Paper => Decision::paper(horizon),
    };
    decision.value = asked.value.unwrap_or(decision.value);
    decision.temperature = asked.temperature.unwrap_or(decision.temperature);
    decision.index_discount = asked.index_discount.unwrap_or(decision.index_discount);
    if asked.profile != Profile::Recommended {
        return Method::DecisionFocused(config, decision);
    }
    let choice = match asked.preset {
        None | Some(Preset::Select) => None,
        Some(Preset::Weak) => Some(Choice::Weak),
        Some(Preset::Strong) => Some(Choice::Strong),
    };
    Method::Recommended(Recipe { two_stage: config, decision, choice })
}

/// The settings of the first stage.
fn settings(asked: &Asked, train: &[Instance]) -> Config {
    let mut config = match asked.profile {
        Profile::Recommended => Config::recommended(train),
        Profile::Published => Config::published(),
        Profile::Paper => Config::paper(),
    };
    if train.first().is_some_and(|instance| instance.observation() != Observation::Full) {
        // the published experiments with states seen at pulls only were shorter
        match asked.profile {
            Profile::Recommended => {}
            Profile::Published => config.epochs = 20,
            Profile::Paper => config.epochs = 18,
        }
    }
    config.seed = asked.seed;
    match asked.predictor {
        PredictorName::Network => {
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

/// What training needs of the data.
pub(crate) fn refuse_too_little(method: &Method, parts: &[Vec<Instance>; 3]) -> Result<()> {
    let config = method.config();
    let is_collapsing = parts[0].iter().any(|instance| instance.observation() != Observation::Full);
    if is_collapsing && matches!(config.kind, PredictorKind::Effect { .. }) {
        refuse!(
            "--predictor effect: the effect model is fitted to moves from state to state, and this study sees states at pulls only; it needs --predictor network or linear"
        );
    }
    let seen: f64 = parts[0].iter().map(|instance| Record::new(instance).total()).sum();
    if seen == 0.0 && is_collapsing {
        refuse!("training part: found no pull, expected some: states are seen at pulls only");
    }
    if seen == 0.0 {
        refuse!(
            "training part: found no transition (a state, an action and the next state of an arm), expected some"
        );
    }
    if let PredictorKind::Effect { precision: Precision::HeldOut { .. } } = config.kind
        && parts[1].is_empty()
    {
        refuse!("--precision held-out: found no validation part to choose on, expected one");
    }
    if matches!(method, Method::Recommended(_)) && parts[1].is_empty() {
        refuse!(
            "--objective decision-focused: found no validation part, expected one to say what predictions are worth; --profile published does without"
        );
    }
    Ok(())
}
