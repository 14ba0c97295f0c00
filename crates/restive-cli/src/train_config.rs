//! What `restive train` was asked for, resolved to numbers: the profile and what overrides it.

use crate::arguments::temperature_text;
use crate::failure::Usage;
use crate::prepare;
use crate::train::TrainArguments;
use crate::train_method::Method;
use anyhow::bail;
use clap::ValueEnum;
use restive::Instance;
use restive::data::encoding::Standardise;
use restive::data::split::{Part, Split};
use restive::evaluation::Record;
use restive::instance::Observation;
use restive::policy::Temperature;
use restive::predictor::{Kind, Precision};
use restive::training::{Choice, Config, Decision, Keep, Rate, Recipe, Value as DecisionValue};
use restive_tables::Study;
use serde_json::{Value, json};
use std::str::FromStr;

/// The largest precision that held-out arms may choose.
const PRECISION_CAP: f64 = 300.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Objective {
    /// Fit the transitions by their likelihood, plan afterwards
    TwoStage,
    /// Train through the decision: for the value of the plan that the transitions lead to
    DecisionFocused,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValueName {
    /// Importance sampling on the log, the paper's
    Is,
    /// The mean-field limit on estimated transitions
    Fluid,
    /// Arm by arm, at the price where the budget binds: as good as fluid in most cases, and cheaper
    Decomposed,
}

impl ValueName {
    fn value(self) -> DecisionValue {
        match self {
            Self::Is => DecisionValue::Is,
            Self::Fluid => DecisionValue::Fluid,
            Self::Decomposed => DecisionValue::Decomposed,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// Weak, strong, or none of them, whichever proves better on folds of the training arms
    Select,
    /// A short training, held firmly to the two-stage predictions
    Weak,
    /// A long one, held loosely
    Strong,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PredictorName {
    /// Hidden layers of ReLU units and a softmax
    Network,
    /// A network without hidden layers
    Linear,
    /// A logistic model of arms left alone, and a shrunken shift for a pull: for few pulls
    Effect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// To convergence, the best validation loss is kept
    Recommended,
    /// As the published results were made: 50 epochs, no dropout
    Published,
    /// As the paper's text says: 50 epochs, dropout 0.2
    Paper,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    Yes,
    No,
}

/// `--precision`: a number, or held-out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PrecisionArgument(Precision);

impl FromStr for PrecisionArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "held-out" {
            return Ok(Self(Precision::HeldOut { cap: PRECISION_CAP }));
        }
        above_zero(text).map(|found| Self(Precision::Fixed(found))).map_err(|e| e + " or held-out")
    }
}

pub(crate) fn above_zero(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(found) if found > 0.0 && found.is_finite() => Ok(found),
        _ => Err("expected a number above 0".into()),
    }
}

pub(crate) fn dropout(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(found) if (0.0..1.0).contains(&found) => Ok(found),
        _ => Err("expected a number from 0 to below 1".into()),
    }
}

/// The name of a value on the command line.
pub(crate) fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().expect("none is hidden").get_name().into()
}

/// What the command line says against itself, found before any file is opened.
pub(crate) fn refuse_contradictions(arguments: &TrainArguments) -> anyhow::Result<()> {
    let refuse = |message: &str| Err(Usage(message.into()).into());
    if arguments.predictor != PredictorName::Network {
        if arguments.hidden.is_some() {
            return refuse("--hidden: only a network has hidden layers; it needs --predictor network");
        }
        if arguments.dropout.is_some() {
            return refuse(
                "--dropout: only a network has hidden units to drop; it needs --predictor network",
            );
        }
    }
    if arguments.hidden.as_ref().is_some_and(|hidden| hidden.len() > 8) {
        return refuse("--hidden: expected at most 8 layers");
    }
    let is_through = arguments.objective == Objective::DecisionFocused;
    if !is_through {
        let asked = [
            ("--value", arguments.value.is_some()),
            ("--preset", arguments.preset.is_some()),
            ("--temperature", arguments.temperature.is_some()),
        ];
        if let Some((option, _)) = asked.into_iter().find(|(_, is_asked)| *is_asked) {
            return refuse(&format!(
                "{option}: two-stage training goes through no decision; it needs --objective decision-focused"
            ));
        }
    }
    if arguments.temperature.is_some_and(|temperature| {
        let (Temperature::Spread(x) | Temperature::Published(x) | Temperature::Absolute(x)) = temperature;
        x == 0.0
    }) {
        return refuse(
            "--temperature: found 0, expected more: the strict policy has no gradient to train by",
        );
    }
    if arguments.preset.is_some() && arguments.profile != Profile::Recommended {
        return refuse("--preset: the profiles published and paper have none");
    }
    if arguments.predictor == PredictorName::Effect {
        let is_newton = !is_through || arguments.profile == Profile::Recommended;
        if !is_newton && arguments.precision.is_some() {
            return refuse(
                "--precision: decision-focused training from scratch has no penalty for it to weigh",
            );
        }
        if is_newton && (arguments.epochs.is_some() || arguments.learning_rate.is_some()) {
            return refuse(
                "--epochs, --learning-rate: the first stage of the effect model is one Newton solve, and a preset has its own",
            );
        }
        if arguments.ensemble > 1 {
            return refuse(
                "--ensemble: fits of the effect model do not depend on the seed, they are all the same",
            );
        }
    } else if arguments.precision.is_some() {
        return refuse("--precision: it belongs to the effect model; it needs --predictor effect");
    }
    Ok(())
}

/// Whether numbers are standardised: as asked, otherwise for the effect model, whose precision is meant for that scale. The
/// networks do better on raw numbers.
pub(crate) fn standardise(arguments: &TrainArguments) -> Standardise {
    match (arguments.standardise, arguments.predictor) {
        (Some(YesNo::Yes), _) | (None, PredictorName::Effect) => Standardise::Yes,
        _ => Standardise::No,
    }
}

/// The profile, overridden.
pub(crate) fn resolve(arguments: &TrainArguments, train: &[Instance], horizon: usize) -> Method {
    let config = settings(arguments, train);
    if arguments.objective == Objective::TwoStage {
        return Method::TwoStage(config);
    }
    let mut decision = match arguments.profile {
        Profile::Recommended => Decision::recommended(horizon),
        Profile::Published => Decision::published(horizon),
        Profile::Paper => Decision::paper(horizon),
    };
    decision.value = arguments.value.map_or(decision.value, ValueName::value);
    decision.temperature = arguments.temperature.unwrap_or(decision.temperature);
    decision.index_discount = arguments.index_discount.unwrap_or(decision.index_discount);
    if arguments.profile != Profile::Recommended {
        return Method::DecisionFocused(config, decision);
    }
    let choice = match arguments.preset {
        None | Some(Preset::Select) => None,
        Some(Preset::Weak) => Some(Choice::Weak),
        Some(Preset::Strong) => Some(Choice::Strong),
    };
    Method::Recommended(Recipe { two_stage: config, decision, choice })
}

/// The settings of the first stage.
fn settings(arguments: &TrainArguments, train: &[Instance]) -> Config {
    let mut config = match arguments.profile {
        Profile::Recommended => Config::recommended(train),
        Profile::Published => Config::published(),
        Profile::Paper => Config::paper(),
    };
    if train.first().is_some_and(|instance| instance.observation() != Observation::Full) {
        // the published experiments with states seen at pulls only were shorter
        match arguments.profile {
            Profile::Recommended => {}
            Profile::Published => config.epochs = 20,
            Profile::Paper => config.epochs = 18,
        }
    }
    config.seed = arguments.seed;
    match arguments.predictor {
        PredictorName::Network => {
            if let Kind::Network { hidden, dropout } = &mut config.kind {
                *hidden = arguments
                    .hidden
                    .as_ref()
                    .map_or(hidden.clone(), |asked| asked.iter().map(|width| usize::from(*width)).collect());
                *dropout = arguments.dropout.unwrap_or(*dropout);
            }
        }
        PredictorName::Linear => config.kind = Kind::Network { hidden: vec![], dropout: 0.0 },
        PredictorName::Effect => {
            let precision = arguments.precision.map_or(Precision::DEFAULT, |asked| asked.0);
            config.kind = Kind::Effect { precision };
        }
    }
    if let Some(epochs) = arguments.epochs {
        config.epochs = epochs as usize;
        if let Keep::Best { patience } = &mut config.keep {
            *patience = config.epochs.div_ceil(5);
        }
    }
    if let Some(asked) = arguments.learning_rate {
        let (Rate::Constant(rate) | Rate::Cosine(rate)) = &mut config.rate;
        *rate = asked;
    }
    config
}

/// What training needs of the data.
pub(crate) fn refuse_too_little(method: &Method, parts: &[Vec<Instance>; 3]) -> anyhow::Result<()> {
    let config = method.config();
    let is_collapsing = parts[0].iter().any(|instance| instance.observation() != Observation::Full);
    if is_collapsing && matches!(config.kind, Kind::Effect { .. }) {
        bail!(
            "--predictor effect: the effect model is fitted to moves from state to state, and this study sees states at pulls only; it needs --predictor network or linear"
        );
    }
    let seen: f64 = parts[0].iter().map(|instance| Record::new(instance).total()).sum();
    if seen == 0.0 && is_collapsing {
        bail!("training part: found no pull, expected some: states are seen at pulls only");
    }
    if seen == 0.0 {
        bail!(
            "training part: found no transition (a state, an action and the next state of an arm), expected some"
        );
    }
    if let Kind::Effect { precision: Precision::HeldOut { .. } } = config.kind
        && parts[1].is_empty()
    {
        bail!("--precision held-out: found no validation part to choose on, expected one");
    }
    if matches!(method, Method::Recommended(_)) && parts[1].is_empty() {
        bail!(
            "--objective decision-focused: found no validation part, expected one to say what predictions are worth; --profile published does without"
        );
    }
    Ok(())
}

/// All of it for the card: whoever has the same and the same study gets the same model.
pub(crate) fn describe(arguments: &TrainArguments, method: &Method, study: &Study, split: &Split) -> Value {
    let config = method.config();
    let mut all = json!({
        "objective": name(arguments.objective),
        "profile": name(arguments.profile),
        "predictor": name(arguments.predictor),
        "ensemble": arguments.ensemble,
        "seed": config.seed,
        "standardise": standardise(arguments) == Standardise::Yes,
        "drop": arguments.drop,
    });
    let architecture = match &config.kind {
        Kind::Network { hidden, dropout } => json!({"hidden": hidden, "dropout": dropout}),
        // from scratch there is no penalised fit for a precision to enter
        Kind::Effect { .. } if matches!(method, Method::DecisionFocused(..)) => json!({}),
        Kind::Effect { precision: Precision::Fixed(precision) } => json!({"precision": precision}),
        Kind::Effect { precision: Precision::HeldOut { cap } } => {
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
            extend(&mut all, json!({"preset": name(arguments.preset.unwrap_or(Preset::Select))}))
        }
    }
    all["index_discount"] = json!(index_discount(arguments, method));
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
    matches!(config.kind, Kind::Effect { .. }) && !matches!(method, Method::DecisionFocused(..))
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
fn index_discount(arguments: &TrainArguments, method: &Method) -> Option<f64> {
    match (method.decision(), arguments.profile) {
        (Some(decision), _) => Some(decision.index_discount),
        (None, Profile::Recommended) => arguments.index_discount,
        (None, Profile::Published | Profile::Paper) => Some(arguments.index_discount.unwrap_or(0.99)),
    }
}
