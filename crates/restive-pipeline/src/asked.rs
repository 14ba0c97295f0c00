//! What a training is asked for, and what in it contradicts itself.

use crate::error::{Error, Result};
use crate::message::{Message, Opt, message};
use crate::options::{DROPOUT, ENSEMBLE, EPOCHS, HIDDEN, INDEX_DISCOUNT, LAYERS, LEARNING_RATE, PRECISION};
use restive::data::encoding::Standardise;
use restive::policy::Temperature;
use restive::predictor::Precision;
use restive_tables::model::configuration::{Objective, PredictorName, Preset, Profile, ValueName};

/// The largest precision that held-out arms may choose.
pub const PRECISION_CAP: f64 = 300.0;

/// What a training is asked for; what is absent comes from the profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// what training aims at
    pub objective: Objective,
    /// what decision-focused training maximises
    pub value: Option<ValueName>,
    /// how far it may go
    pub preset: Option<Preset>,
    /// of the index, for training through the decision and for plans
    pub index_discount: Option<f64>,
    /// of the policy that is trained through
    pub temperature: Option<Temperature>,
    /// what is trained; absent: auto, and of the profiles published and paper their network
    pub predictor: Option<PredictorName>,
    /// where other settings come from
    pub profile: Profile,
    /// passes over the training instances
    pub epochs: Option<usize>,
    /// of Adam
    pub learning_rate: Option<f64>,
    /// units of each hidden layer
    pub hidden: Option<Vec<usize>>,
    /// share of hidden units left out in each step
    pub dropout: Option<f64>,
    /// of the effect model
    pub precision: Option<Precision>,
    /// fits to average
    pub ensemble: usize,
    /// of the split, the initial parameters and the dropout
    pub seed: u64,
    /// whether numbers are scaled to mean 0 and standard deviation 1
    pub standardise: Option<bool>,
    /// features to leave out
    pub drop: Vec<String>,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            objective: Objective::TwoStage,
            value: None,
            preset: None,
            index_discount: None,
            temperature: None,
            predictor: None,
            profile: Profile::Recommended,
            epochs: None,
            learning_rate: None,
            hidden: None,
            dropout: None,
            precision: None,
            ensemble: 1,
            seed: crate::SEED,
            standardise: None,
            drop: Vec::new(),
        }
    }
}

impl Asked {
    /// Refuses numbers out of range and options that contradict each other, before any data are looked at.
    pub fn check(&self) -> Result<()> {
        self.check_numbers()?;
        self.check_together()
    }

    fn check_numbers(&self) -> Result<()> {
        INDEX_DISCOUNT.check(&self.index_discount)?;
        EPOCHS.check(&self.epochs)?;
        LEARNING_RATE.check(&self.learning_rate)?;
        HIDDEN.check(self.hidden.iter().flatten())?;
        DROPOUT.check(&self.dropout)?;
        if let Some(Precision::Fixed(precision)) = &self.precision {
            PRECISION.check([precision])?;
        }
        ENSEMBLE.check([&self.ensemble])
    }

    fn check_together(&self) -> Result<()> {
        let refuse =
            |option: &'static str, why: Message| Err(Error::Asked(message!(Opt(option), ": ").and(why)));
        let predictor = self.predictor();
        if predictor == PredictorName::Auto {
            if self.profile != Profile::Recommended {
                let why = "the profiles published and paper train one predictor; it needs ";
                return refuse("predictor auto", message!(why, Opt("profile"), " recommended"));
            }
            if self.ensemble > 1 {
                let why = "each predictor of auto is the mean of its fold fits already; it needs another ";
                return refuse("ensemble", message!(why, Opt("predictor")));
            }
            if self.standardise.is_some() {
                let why = "auto tries features as they are and standardised; it needs another ";
                return refuse("standardise", message!(why, Opt("predictor")));
            }
        }
        if !matches!(predictor, PredictorName::Network | PredictorName::Auto) {
            let network = |why: &str| message!(why, "; it needs ", Opt("predictor"), " network or auto");
            if self.hidden.is_some() {
                return refuse("hidden", network("only a network has hidden layers"));
            }
            if self.dropout.is_some() {
                return refuse("dropout", network("only a network has hidden units to drop"));
            }
        }
        if let Some(found) = self.hidden.as_ref().map(Vec::len).filter(|layers| *layers > LAYERS) {
            return refuse("hidden", format!("found {found} layers, expected at most {LAYERS}").into());
        }
        let is_through = self.objective == Objective::DecisionFocused;
        if !is_through {
            let asked = [
                ("value", self.value.is_some()),
                ("preset", self.preset.is_some()),
                ("temperature", self.temperature.is_some()),
            ];
            if let Some((option, _)) = asked.into_iter().find(|(_, is_asked)| *is_asked) {
                let why = "two-stage training goes through no decision; it needs ";
                return refuse(option, message!(why, Opt("objective"), " decision-focused"));
            }
        }
        let softness = self.temperature.map(|temperature| {
            let (Temperature::Spread(x) | Temperature::Published(x) | Temperature::Absolute(x)) = temperature;
            x
        });
        if softness == Some(0.0) {
            let why = "found 0, expected more: the strict policy has no gradient to train by";
            return refuse("temperature", why.into());
        }
        if self.preset.is_some() && self.profile != Profile::Recommended {
            return refuse("preset", "the profiles published and paper have none".into());
        }
        if self.precision.is_some() && predictor != PredictorName::Effect {
            let why = "it belongs to the effect model; it needs ";
            return refuse("precision", message!(why, Opt("predictor"), " effect"));
        }
        if matches!(predictor, PredictorName::Effect | PredictorName::Hierarchical) {
            let is_newton = !is_through || self.profile == Profile::Recommended;
            if !is_newton && self.precision.is_some() {
                let why = "decision-focused training from scratch has no penalty for it to weigh";
                return refuse("precision", why.into());
            }
            let steps = [("epochs", self.epochs.is_some()), ("learning-rate", self.learning_rate.is_some())];
            if let Some((option, _)) = steps.into_iter().find(|(_, is_asked)| is_newton && *is_asked) {
                let why = format!(
                    "the first stage of the {predictor} model is a Newton solve, and a preset has its own steps"
                );
                return refuse(option, why.into());
            }
            if self.ensemble > 1 {
                let why =
                    format!("fits of the {predictor} model do not depend on the seed, they are all the same");
                return refuse("ensemble", why.into());
            }
        }
        Ok(())
    }

    /// What is trained: as asked, else whatever folds of the training arms choose; as published, the network.
    pub fn predictor(&self) -> PredictorName {
        self.predictor.unwrap_or(match self.profile {
            Profile::Recommended => PredictorName::Auto,
            Profile::Published | Profile::Paper => PredictorName::Network,
        })
    }

    /// Whether numbers are standardised: as asked, otherwise always but for the networks of the profiles published and paper,
    /// which read them as they are, and for auto, which standardises by itself.
    pub fn standardise(&self) -> Standardise {
        let is_network = matches!(self.predictor(), PredictorName::Network | PredictorName::Linear);
        let is_raw = match self.profile {
            Profile::Recommended => self.predictor() == PredictorName::Auto,
            Profile::Published | Profile::Paper => is_network,
        };
        match self.standardise.unwrap_or(!is_raw) {
            true => Standardise::Yes,
            false => Standardise::No,
        }
    }
}

/// The precision of the effect model from text.
pub fn precision(text: &str) -> std::result::Result<Precision, String> {
    match text {
        "held-out" => Ok(Precision::HeldOut { cap: PRECISION_CAP }),
        number => PRECISION.parse(number).map(Precision::Fixed),
    }
}

/// A temperature from text.
pub fn temperature(text: &str) -> std::result::Result<Temperature, String> {
    let expected = || "expected spread:X, published:X or absolute:X with X at least 0".to_string();
    let (name, number) = text.split_once(':').ok_or_else(expected)?;
    let number = number.parse::<f64>().ok().filter(|x| *x >= 0.0 && x.is_finite()).ok_or_else(expected)?;
    match name {
        "spread" => Ok(Temperature::Spread(number)),
        "published" => Ok(Temperature::Published(number)),
        "absolute" => Ok(Temperature::Absolute(number)),
        _ => Err(expected()),
    }
}
