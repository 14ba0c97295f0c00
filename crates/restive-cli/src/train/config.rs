//! What `restive train` may be asked for, as the command line knows it; [`asked`] says it to the pipeline.
//!
//! The choices here have the words of `--help`, those of the pipeline have the meaning; they are tied by their names.

use super::TrainArguments;
use clap::ValueEnum;
use restive::predictor::Precision;
use restive::training::Value;
use restive_pipeline::{Asked, PRECISION_CAP};
use std::fmt::Debug;
use std::str::FromStr;

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
pub(crate) struct PrecisionArgument(pub(crate) Precision);

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

/// The name of a choice on the command line.
fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().expect("none is hidden").get_name().into()
}

/// The choice of the same name.
fn same<T: FromStr<Err: Debug>>(value: impl ValueEnum) -> T {
    name(value).parse().expect("both have the same names")
}

/// What the command line asks for.
pub(crate) fn asked(arguments: &TrainArguments) -> Asked {
    let value = |asked| Value::ALL.into_iter().find(|value| value.name() == name(asked));
    Asked {
        objective: same(arguments.objective),
        value: arguments.value.map(|asked: ValueName| value(asked).expect("both have the same names")),
        preset: arguments.preset.map(same),
        index_discount: arguments.index_discount,
        temperature: arguments.temperature,
        predictor: same(arguments.predictor),
        profile: same(arguments.profile),
        epochs: arguments.epochs.map(|epochs| epochs as usize),
        learning_rate: arguments.learning_rate,
        hidden: arguments.hidden.as_ref().map(|widths| widths.iter().map(|width| (*width).into()).collect()),
        dropout: arguments.dropout,
        precision: arguments.precision.map(|asked| asked.0),
        ensemble: arguments.ensemble as usize,
        seed: arguments.seed,
        standardise: arguments.standardise.map(|asked| asked == YesNo::Yes),
        drop: arguments.drop.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use restive_pipeline as meant;

    #[test]
    fn every_choice_has_a_meaning_of_its_name() {
        let all = |names: Vec<String>, expected: usize| assert_eq!(names.len(), expected);
        fn names<T: ValueEnum, U: FromStr<Err: Debug>>(of: fn(U) -> &'static str) -> Vec<String> {
            let same = |choice: &T| of(same::<U>(choice.clone())).to_string();
            let found: Vec<String> = T::value_variants().iter().map(same).collect();
            assert_eq!(found, T::value_variants().iter().cloned().map(name).collect::<Vec<_>>());
            found
        }
        all(names::<Objective, meant::Objective>(meant::Objective::name), 2);
        all(names::<Preset, meant::Preset>(meant::Preset::name), 3);
        all(names::<PredictorName, meant::PredictorName>(meant::PredictorName::name), 3);
        all(names::<Profile, meant::Profile>(meant::Profile::name), 3);
        let values: Vec<String> = ValueName::value_variants().iter().cloned().map(name).collect();
        assert_eq!(values, Value::ALL.map(Value::name));
    }
}
