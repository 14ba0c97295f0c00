//! What an evaluation may be asked for.

use crate::error::{Error, Result};
use crate::message::{Opt, message};
use crate::options::INDEX_DISCOUNT;
use restive::policy::Temperature;

restive_tables::choices! {
    /// Which arms are judged on.
    JudgedPart {
        /// Arms held out to judge by
        Test = "test",
        /// Arms held out to choose by
        Validation = "validation",
        /// Arms that were learnt from
        Train = "train",
        /// Every arm, those that were learnt from too
        All = "all",
    }
}

restive_tables::choices! {
    /// Where propensities come from.
    BehaviourName {
        /// The column propensity
        Logged = "logged",
        /// K of N arms at random
        Uniform = "uniform",
        /// The share of arms pulled at each step
        Estimated = "estimated",
        /// No importance sampling
        None = "none",
    }
}

restive_tables::choices! {
    /// Which decisions enter a ratio of importance sampling.
    RatioName {
        /// All up to and including the step's own, as published
        ThisStep = "this-step",
        /// All before the step: less noise where the reward does not depend on the action
        PreviousStep = "previous-step",
    }
}

/// What an evaluation is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluateAsked {
    /// the arms to judge on
    pub part: JudgedPart,
    /// of the index; absent: the model's, else 1 − 1/H
    pub index_discount: Option<f64>,
    /// of the soft policies
    pub temperature: Temperature,
    /// of propensities; absent: as the study says
    pub behaviour: Option<BehaviourName>,
    /// of importance sampling
    pub ratio: RatioName,
    /// simulated runs
    pub runs: usize,
    /// of the bootstrap
    pub resamples: usize,
    /// of all random numbers
    pub seed: u64,
}

impl Default for EvaluateAsked {
    fn default() -> Self {
        Self {
            part: JudgedPart::Test,
            index_discount: None,
            temperature: Temperature::Spread(0.1),
            behaviour: None,
            ratio: RatioName::ThisStep,
            runs: 1000,
            resamples: 200,
            seed: crate::SEED,
        }
    }
}

impl EvaluateAsked {
    /// Refuses numbers out of range, before any data are looked at.
    pub fn check(&self) -> Result<()> {
        INDEX_DISCOUNT.check(&self.index_discount)?;
        const MOST: usize = 10_000_000;
        for (option, found) in [("runs", self.runs), ("resamples", self.resamples)] {
            if !(2..=MOST).contains(&found) {
                let expected = if found < 2 { "at least 2".into() } else { format!("at most {MOST}") };
                let words = format!(": found {found}, expected {expected}");
                return Err(Error::Asked(message!(Opt(option), words)));
            }
        }
        Ok(())
    }
}
