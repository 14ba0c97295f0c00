//! What a training is asked for, and what in it contradicts itself.

use crate::error::{Error, Result};
use restive::check_discount;
use restive::data::encoding::Standardise;
use restive::policy::Temperature;
use restive::predictor::Precision;
use restive::training::Value;
use std::str::FromStr;

/// The largest precision that held-out arms may choose.
pub const PRECISION_CAP: f64 = 300.0;

/// Choices with names, which both faces write alike.
macro_rules! choices {
    ($(#[$about:meta])* $choice:ident { $($(#[$which:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $choice { $($(#[$which])* $variant),+ }

        impl $choice {
            /// As it is written.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl FromStr for $choice {
            type Err = String;

            fn from_str(text: &str) -> std::result::Result<Self, String> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(format!("found {text:?}, expected one of {}", [$($name),+].join(", "))),
                }
            }
        }
    };
}

choices! {
    /// What training aims at.
    Objective {
        /// the likelihood of the transitions; planning comes afterwards
        TwoStage = "two-stage",
        /// the value of the plan that the transitions lead to
        DecisionFocused = "decision-focused",
    }
}

choices! {
    /// How far decision-focused training may go from the two-stage predictions.
    Preset {
        /// weak, strong or neither, as folds of the training arms say
        Select = "select",
        /// a short training, held firmly to them
        Weak = "weak",
        /// a long one, held loosely
        Strong = "strong",
    }
}

choices! {
    /// What is trained.
    PredictorName {
        /// hidden layers of ReLU units and a softmax
        Network = "network",
        /// a network without hidden layers
        Linear = "linear",
        /// a logistic model of arms left alone, and a shrunken shift for a pull
        Effect = "effect",
    }
}

choices! {
    /// Where the settings come from that are not given.
    Profile {
        /// to convergence, the best validation loss is kept
        Recommended = "recommended",
        /// as the published results were made
        Published = "published",
        /// as the paper's text says
        Paper = "paper",
    }
}

/// What a training is asked for; what is absent comes from the profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// what training aims at
    pub objective: Objective,
    /// what decision-focused training maximises
    pub value: Option<Value>,
    /// how far it may go
    pub preset: Option<Preset>,
    /// of the index, for training through the decision and for plans
    pub index_discount: Option<f64>,
    /// of the policy that is trained through
    pub temperature: Option<Temperature>,
    /// what is trained
    pub predictor: PredictorName,
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
            predictor: PredictorName::Network,
            profile: Profile::Recommended,
            epochs: None,
            learning_rate: None,
            hidden: None,
            dropout: None,
            precision: None,
            ensemble: 1,
            seed: 0,
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
        let refuse = |option: &str, found: String, expected: &str| {
            Err(Error::Asked(format!("--{option}: found {found}, expected {expected}")))
        };
        let is_above_zero = |x: f64| x > 0.0 && x.is_finite();
        if let Some(x) = self.index_discount.filter(|x| check_discount(*x).is_err()) {
            return refuse("index-discount", x.to_string(), "a number from 0 to 1");
        }
        if let Some(x) = self.epochs.filter(|x| !(1..=100_000).contains(x)) {
            return refuse("epochs", x.to_string(), "a whole number from 1 to 100000");
        }
        if let Some(x) = self.learning_rate.filter(|x| !is_above_zero(*x)) {
            return refuse("learning-rate", x.to_string(), "a number above 0");
        }
        let mut hidden = self.hidden.iter().flatten();
        if let Some(x) = hidden.find(|x| !(1..=4096).contains(*x)) {
            return refuse("hidden", x.to_string(), "whole numbers from 1 to 4096");
        }
        if let Some(x) = self.dropout.filter(|x| !(0.0..1.0).contains(x)) {
            return refuse("dropout", x.to_string(), "a number from 0 to below 1");
        }
        if let Some(Precision::Fixed(x)) = self.precision
            && !is_above_zero(x)
        {
            return refuse("precision", x.to_string(), "a number above 0 or held-out");
        }
        if !(1..=1000).contains(&self.ensemble) {
            return refuse("ensemble", self.ensemble.to_string(), "a whole number from 1 to 1000");
        }
        Ok(())
    }

    fn check_together(&self) -> Result<()> {
        let refuse = |message: &str| Err(Error::Asked(message.into()));
        if self.predictor != PredictorName::Network {
            if self.hidden.is_some() {
                return refuse("--hidden: only a network has hidden layers; it needs --predictor network");
            }
            if self.dropout.is_some() {
                return refuse(
                    "--dropout: only a network has hidden units to drop; it needs --predictor network",
                );
            }
        }
        if self.hidden.as_ref().is_some_and(|hidden| hidden.len() > 8) {
            return refuse("--hidden: expected at most 8 layers");
        }
        let is_through = self.objective == Objective::DecisionFocused;
        if !is_through {
            let asked = [
                ("--value", self.value.is_some()),
                ("--preset", self.preset.is_some()),
                ("--temperature", self.temperature.is_some()),
            ];
            if let Some((option, _)) = asked.into_iter().find(|(_, is_asked)| *is_asked) {
                return refuse(&format!(
                    "{option}: two-stage training goes through no decision; it needs --objective decision-focused"
                ));
            }
        }
        if self.temperature.is_some_and(|temperature| {
            let (Temperature::Spread(x) | Temperature::Published(x) | Temperature::Absolute(x)) = temperature;
            x == 0.0
        }) {
            return refuse(
                "--temperature: found 0, expected more: the strict policy has no gradient to train by",
            );
        }
        if self.preset.is_some() && self.profile != Profile::Recommended {
            return refuse("--preset: the profiles published and paper have none");
        }
        if self.predictor == PredictorName::Effect {
            let is_newton = !is_through || self.profile == Profile::Recommended;
            if !is_newton && self.precision.is_some() {
                return refuse(
                    "--precision: decision-focused training from scratch has no penalty for it to weigh",
                );
            }
            if is_newton && (self.epochs.is_some() || self.learning_rate.is_some()) {
                return refuse(
                    "--epochs, --learning-rate: the first stage of the effect model is one Newton solve, and a preset has its own",
                );
            }
            if self.ensemble > 1 {
                return refuse(
                    "--ensemble: fits of the effect model do not depend on the seed, they are all the same",
                );
            }
        } else if self.precision.is_some() {
            return refuse("--precision: it belongs to the effect model; it needs --predictor effect");
        }
        Ok(())
    }

    /// Whether numbers are standardised: as asked, otherwise for the effect model, whose precision is meant for that scale. The
    /// networks do better on raw numbers.
    pub fn standardise(&self) -> Standardise {
        match (self.standardise, self.predictor) {
            (Some(true), _) | (None, PredictorName::Effect) => Standardise::Yes,
            _ => Standardise::No,
        }
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

/// A temperature as it is written.
pub fn temperature_text(temperature: Temperature) -> String {
    match temperature {
        Temperature::Spread(x) => format!("spread:{x}"),
        Temperature::Published(x) => format!("published:{x}"),
        Temperature::Absolute(x) => format!("absolute:{x}"),
    }
}
