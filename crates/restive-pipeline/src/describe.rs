//! What decides a training, for the card: the same configuration and the same study give the same model.

use crate::asked::Asked;
use restive::data::encoding::Standardise;
use restive::data::split::{Part, Split};
use restive::instance::Observation;
use restive::predictor::{Precision, PredictorKind};
use restive::training::{Config, Keep, Method, Rate};
use restive_tables::model::configuration::{
    Configuration, Dealt, Decision, Kept, PartSize, Precision as WrittenPrecision, Preset, Profile, Schedule,
    Seen, SplitOrigin, StepOption, Steps,
};
use restive_tables::{Study, StudySettings};

/// The discount of the index of the published experiments.
pub(crate) const PUBLISHED_DISCOUNT: f64 = 0.99;

/// All of it.
pub(crate) fn describe(
    asked: &Asked,
    method: &Method,
    settings: &StudySettings,
    split: Dealt,
) -> Configuration {
    let config = method.config();
    let is_from_scratch = matches!(method, Method::DecisionFocused(..));
    let (mut hidden, mut dropout, mut precision, mut precision_cap) = (None, None, None, None);
    match &config.kind {
        PredictorKind::Network { hidden: units, dropout: share } => {
            (hidden, dropout) = (Some(units.clone()), Some(*share));
        }
        // from scratch there is no penalised fit for a precision to enter
        PredictorKind::Effect { .. } if is_from_scratch => {}
        PredictorKind::Effect { precision: Precision::Fixed(x) } => {
            precision = Some(WrittenPrecision::Fixed(*x))
        }
        PredictorKind::Effect { precision: Precision::HeldOut { cap } } => {
            precision = Some(WrittenPrecision::Chosen("held-out".into()));
            precision_cap = Some(*cap);
        }
        PredictorKind::Hierarchical { .. } | PredictorKind::Pool { .. } => {}
    }
    let is_logistic =
        matches!(config.kind, PredictorKind::Effect { .. } | PredictorKind::Hierarchical { .. });
    let is_newton = is_logistic && !is_from_scratch;
    let weights = match method {
        Method::DecisionFocused(_, decision, _) => Some((decision.value_weight, decision.loss_weight)),
        _ => None,
    };
    let decision = method.decision().map(|decision| Decision {
        value: decision.value.name().parse().expect("values have the same names in files"),
        temperature: decision.temperature.to_string(),
        horizon: decision.horizon,
        behaviour: settings.behaviour.name().into(),
    });
    Configuration {
        objective: asked.objective,
        profile: asked.profile,
        predictor: asked.predictor(),
        hidden,
        dropout,
        precision,
        precision_cap,
        steps: (!is_newton).then(|| steps(asked, config)),
        decision,
        value_weight: weights.map(|(value, _)| value),
        loss_weight: weights.map(|(_, loss)| loss),
        preset: match method {
            Method::Recommended(_) => Some(asked.preset.unwrap_or(Preset::Select)),
            _ => None,
        },
        index_discount: index_discount(asked, method),
        ensemble: asked.ensemble,
        seed: config.seed,
        standardise: asked.standardise() == Standardise::Yes,
        drop: asked.drop.clone(),
        observation: seen(settings),
        split,
    }
}

/// When the states of a study are seen, in the word of study.toml.
pub(crate) fn seen(settings: &StudySettings) -> Seen {
    match settings.observation {
        Observation::Full => Seen::Full,
        Observation::Collapsing(_) => Seen::Collapsing,
    }
}

/// How the arms of a study in memory were dealt.
pub(crate) fn dealt(study: &Study, split: &Split) -> Dealt {
    let [train, validation, test] = Part::ALL.map(|part| {
        let groups = split.part(part);
        PartSize { instances: groups.len(), arms: groups.iter().map(|group| group.arms.len()).sum() }
    });
    let origin = if study.given_split().is_some() { SplitOrigin::Study } else { SplitOrigin::Seed };
    Dealt { origin, train, validation, test }
}

fn steps(asked: &Asked, config: &Config) -> Steps {
    let (schedule, learning_rate) = match config.rate {
        Rate::Constant(rate) => (Schedule::Constant, rate),
        Rate::Cosine(rate) => (Schedule::Cosine, rate),
    };
    let (keep, patience) = match config.keep {
        Keep::Last => (Kept::Last, None),
        Keep::Best { patience } => (Kept::Best, Some(patience)),
    };
    let options = [
        (StepOption::Epochs, asked.epochs.is_some()),
        (StepOption::LearningRate, asked.learning_rate.is_some()),
    ];
    Steps {
        epochs: config.epochs,
        has_idle_epoch: config.has_idle_epoch,
        learning_rate,
        schedule,
        epsilon: config.epsilon,
        keep,
        patience,
        asked: Some(
            options.into_iter().filter(|(_, is_asked)| *is_asked).map(|(option, _)| option).collect(),
        ),
    }
}

/// The discount of the index that plans with the model are meant for; none: that of the study it is used on.
fn index_discount(asked: &Asked, method: &Method) -> Option<f64> {
    match (method.decision(), asked.profile) {
        (Some(decision), _) => Some(decision.index_discount),
        (None, Profile::Recommended) => asked.index_discount,
        (None, Profile::Published | Profile::Paper) => {
            Some(asked.index_discount.unwrap_or(PUBLISHED_DISCOUNT))
        }
    }
}
