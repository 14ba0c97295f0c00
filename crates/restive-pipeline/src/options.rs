//! The options of a training: each has its name, its sentence and its range once, for the command line, Python and the checks.
//!
//! What a [choice](restive_tables::choices) may be stands with the choice; a number's range stands here.

use crate::error::{Error, Result};
use crate::message::{Opt, message};
use restive::check_discount;
use std::fmt::Display;
use std::str::FromStr;

/// An option: its name on the command line without dashes, and what it is for. What it is where it is not given stands in
/// brackets at the end.
#[derive(Debug, Clone, Copy)]
pub struct Described {
    /// of the command line
    pub name: &'static str,
    /// for help texts
    pub sentence: &'static str,
}

/// An option that takes numbers.
#[derive(Debug, Clone, Copy)]
pub struct Number<T: 'static> {
    /// its name and sentence
    pub option: Described,
    /// what it may be, in words
    pub expected: &'static str,
    accepts: fn(&T) -> bool,
}

impl<T: FromStr + Display> Number<T> {
    /// A number from text, or what was expected.
    pub fn parse(&self, text: &str) -> std::result::Result<T, String> {
        let number = text.parse().ok().filter(self.accepts);
        number.ok_or_else(|| format!("expected {}", self.expected))
    }

    /// Refuses what is out of range.
    pub(crate) fn check<'a>(&self, found: impl IntoIterator<Item = &'a T>) -> Result<()> {
        match found.into_iter().find(|found| !(self.accepts)(found)) {
            None => Ok(()),
            Some(found) => {
                let words = format!(": found {found}, expected {}", self.expected);
                Err(Error::Asked(message!(Opt(self.option.name), words)))
            }
        }
    }
}

macro_rules! options {
    ($($name:ident = $option:literal, $sentence:literal;)+) => {
        $(#[doc = $sentence] pub const $name: Described = Described { name: $option, sentence: $sentence };)+
    };
}

macro_rules! numbers {
    ($($name:ident: $number:ty = $option:literal, $sentence:literal, $expected:literal, $accepts:expr;)+) => {$(
        #[doc = $sentence]
        pub const $name: Number<$number> = Number {
            option: Described { name: $option, sentence: $sentence },
            expected: $expected,
            accepts: $accepts,
        };
    )+};
}

options! {
    OBJECTIVE = "objective", "What training aims at";
    VALUE = "value", "What decision-focused training maximises [default: decomposed; published and paper: is]";
    PRESET = "preset", "How far decision-focused training may go from the two-stage predictions it begins with [default: select]";
    TEMPERATURE = "temperature", "Softness of the policy that is trained through: spread:X (of the indices' standard deviation), published:X or absolute:X [default: spread:0.1; published and paper: published:0.1]";
    PREDICTOR = "predictor", "What is trained [default: auto; published and paper: network]";
    PROFILE = "profile", "Where the settings come from that are not given";
    SEED = "seed", "Seed of the split, the initial weights and the dropout";
    STANDARDISE = "standardise", "Scale numeric features to mean 0 and standard deviation 1, zeros and ones as they are [default: yes; auto tries both; no for the networks of published and paper]";
    DROP = "drop", "Features to leave out";
}

fn is_above_zero(x: &f64) -> bool {
    *x > 0.0 && x.is_finite()
}

numbers! {
    INDEX_DISCOUNT: f64 = "index-discount", "Discount of the index, from 0 to 1, for training through the decision and for plans with the model [default: 1 - 1/H with H the study's horizon, and for H = 1 the effect on the next reward; published and paper: 0.99]",
        "a number from 0 to 1", |x| check_discount(*x).is_ok();
    EPOCHS: usize = "epochs", "Passes over the training instances, at most; presets that follow have their own [default: about 7,000 steps in all; published and paper: 50, where states are seen at pulls only 20 and 18]",
        "a whole number from 1 to 100000", |x| (1..=100_000).contains(x);
    LEARNING_RATE: f64 = "learning-rate", "Step size of Adam; presets that follow have their own [default: 0.003 to 0.03, falling to nearly 0; published and paper: 0.01]",
        "a number above 0", is_above_zero;
    HIDDEN: usize = "hidden", "Units of each hidden layer of the network [default: 64]",
        "whole numbers from 1 to 4096", |x| (1..=4096).contains(x);
    DROPOUT: f64 = "dropout", "Share of hidden units left out at random in each step [default: 0, paper: 0.2]",
        "a number from 0 to below 1", |x| (0.0..1.0).contains(x);
    PRECISION: f64 = "precision", "How firmly the effect model holds a pull to do the same for all arms: a number, or held-out to choose it (up to 300) on the validation part [default: 100]",
        "a number above 0 or held-out", is_above_zero;
    ENSEMBLE: usize = "ensemble", "Average that many fits, which differ in their seed; what the folds of the first one choose holds for all",
        "a whole number from 1 to 1000", |x| (1..=1000).contains(x);
}

/// Hidden layers, at most.
pub const LAYERS: usize = 8;

/// All options of a training, in the order of the help.
pub const TRAINING: [Described; 16] = [
    OBJECTIVE,
    VALUE,
    PRESET,
    INDEX_DISCOUNT.option,
    TEMPERATURE,
    PREDICTOR,
    PROFILE,
    EPOCHS.option,
    LEARNING_RATE.option,
    HIDDEN.option,
    DROPOUT.option,
    PRECISION.option,
    ENSEMBLE.option,
    SEED,
    STANDARDISE,
    DROP,
];
