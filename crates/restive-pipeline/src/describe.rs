//! What decides a training, for the card: whoever has the same and the same study gets the same model.

use crate::asked::{Asked, Preset, Profile, temperature_text};
use crate::method::Method;
use crate::prepare;
use restive::data::encoding::Standardise;
use restive::data::split::{Part, Split};
use restive::predictor::{Precision, PredictorKind};
use restive::training::{Config, Keep, Rate};
use restive_tables::Study;
use serde_json::{Value, json};

/// All of it.
pub(crate) fn describe(asked: &Asked, method: &Method, study: &Study, split: &Split) -> Value {
    let config = method.config();
    let mut all = json!({
        "objective": asked.objective.name(),
        "profile": asked.profile.name(),
        "predictor": asked.predictor.name(),
        "ensemble": asked.ensemble,
        "seed": config.seed,
        "standardise": asked.standardise() == Standardise::Yes,
        "drop": asked.drop,
    });
    let architecture = match &config.kind {
        PredictorKind::Network { hidden, dropout } => json!({"hidden": hidden, "dropout": dropout}),
        // from scratch there is no penalised fit for a precision to enter
        PredictorKind::Effect { .. } if matches!(method, Method::DecisionFocused(..)) => json!({}),
        PredictorKind::Effect { precision: Precision::Fixed(precision) } => json!({"precision": precision}),
        PredictorKind::Effect { precision: Precision::HeldOut { cap } } => {
            json!({"precision": "held-out", "precision_cap": cap})
        }
    };
    let extend = |all: &mut Value, more: Value| {
        all.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    };
    extend(&mut all, architecture);
    if !is_newton(config, method) {
        extend(&mut all, describe_steps(config));
    }
    if let Some(decision) = method.decision() {
        extend(
            &mut all,
            json!({
                "value": decision.value.name(),
                "temperature": temperature_text(decision.temperature),
                "horizon": decision.horizon,
                "behaviour": study.settings.behaviour.name(),
            }),
        );
    }
    match method {
        Method::TwoStage(_) => {}
        Method::DecisionFocused(_, decision) => extend(
            &mut all,
            json!({"value_weight": decision.value_weight, "loss_weight": decision.loss_weight}),
        ),
        Method::Recommended(_) => {
            extend(&mut all, json!({"preset": asked.preset.unwrap_or(Preset::Select).name()}))
        }
    }
    all["index_discount"] = json!(index_discount(asked, method));
    all["observation"] = json!(prepare::observation(study));
    let origin = if study.given_split().is_some() { "study" } else { "seed" };
    let mut dealt = json!({"origin": origin});
    for part in Part::ALL {
        let groups = split.part(part);
        let arms: usize = groups.iter().map(|group| group.arms.len()).sum();
        dealt[part.name()] = json!({"instances": groups.len(), "arms": arms});
    }
    all["split"] = dealt;
    all
}

/// Whether the first, or only, stage is a Newton solve instead of gradient steps.
fn is_newton(config: &Config, method: &Method) -> bool {
    matches!(config.kind, PredictorKind::Effect { .. }) && !matches!(method, Method::DecisionFocused(..))
}

/// The gradient steps, for the card.
fn describe_steps(config: &Config) -> Value {
    let (schedule, rate) = match config.rate {
        Rate::Constant(rate) => ("constant", rate),
        Rate::Cosine(rate) => ("cosine", rate),
    };
    let (keep, patience) = match config.keep {
        Keep::Last => ("last", None),
        Keep::Best { patience } => ("best", Some(patience)),
    };
    json!({
        "epochs": config.epochs,
        "has_idle_epoch": config.has_idle_epoch,
        "learning_rate": rate,
        "schedule": schedule,
        "epsilon": config.epsilon,
        "keep": keep,
        "patience": patience,
    })
}

/// The discount of the index that plans with the model are meant for; none: 1 − 1/H of the study it is used on.
fn index_discount(asked: &Asked, method: &Method) -> Option<f64> {
    match (method.decision(), asked.profile) {
        (Some(decision), _) => Some(decision.index_discount),
        (None, Profile::Recommended) => asked.index_discount,
        (None, Profile::Published | Profile::Paper) => Some(asked.index_discount.unwrap_or(0.99)),
    }
}
