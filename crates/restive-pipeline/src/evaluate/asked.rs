//! What an evaluation may be asked for.

use crate::cross_fit::FOLDS;
use crate::error::{Error, Result};
use crate::identification::BehaviourName;
use crate::message::{Opt, message};
use crate::options::INDEX_DISCOUNT;
use restive::policy::Temperature;

restive_tables::choices! {
    /// Which arms are judged on.
    JudgedPart {
        /// Everybody, each by a model of the same recipe that was trained without them
        Folds = "folds",
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
    /// What policies are judged by.
    EstimatorsName {
        /// Evidence, and simulations whose unseen moves come from a judge fitted to other people
        Judged = "judged",
        /// The paper's metrics, and simulations that take unseen moves for uniform: not evidence
        Published = "published",
    }
}

restive_tables::choices! {
    /// Where simulated programmes begin.
    StartName {
        /// In the latest state of every arm
        Today = "today",
        /// In the first states of the log
        First = "first",
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
    /// what to judge by
    pub estimators: EstimatorsName,
    /// the arms to judge on; absent: folds, and test for the published estimators
    pub part: Option<JudgedPart>,
    /// of people, where a recipe is judged
    pub folds: usize,
    /// where simulations begin; absent: today, and first for the published estimators
    pub start: Option<StartName>,
    /// of the calls, for p; absent: 999, and by the normal law where people and pulls are many
    pub deals: Option<usize>,
    /// of the index; absent: the model's, else 1 − 1/H; for H = 1 the effect on the next reward
    pub index_discount: Option<f64>,
    /// of the soft policies
    pub temperature: Temperature,
    /// of propensities; absent: as the study says
    pub behaviour: Option<BehaviourName>,
    /// of importance sampling
    pub ratio: RatioName,
    /// simulated runs; absent: 200, fewer of many people, and 1,000 for the published estimators
    pub runs: Option<usize>,
    /// of the bootstrap; absent: 200, and 50 of many people
    pub resamples: Option<usize>,
    /// of all random numbers
    pub seed: u64,
}

impl Default for EvaluateAsked {
    fn default() -> Self {
        Self {
            estimators: EstimatorsName::Judged,
            part: None,
            folds: FOLDS,
            start: None,
            deals: None,
            index_discount: None,
            temperature: Temperature::Spread(0.1),
            behaviour: None,
            ratio: RatioName::ThisStep,
            runs: None,
            resamples: None,
            seed: crate::SEED,
        }
    }
}

impl EvaluateAsked {
    /// Refuses numbers out of range, before any data are looked at.
    pub fn check(&self) -> Result<()> {
        INDEX_DISCOUNT.check(&self.index_discount)?;
        const MOST: usize = 10_000_000;
        let numbers = [
            ("runs", self.runs),
            ("resamples", self.resamples),
            ("folds", Some(self.folds)),
            ("deals", self.deals),
        ];
        for (option, found) in numbers.into_iter().filter_map(|(option, found)| Some((option, found?))) {
            if !(2..=MOST).contains(&found) {
                let expected = if found < 2 { "at least 2".into() } else { format!("at most {MOST}") };
                let words = format!(": found {found}, expected {expected}");
                return Err(Error::Asked(message!(Opt(option), words)));
            }
        }
        Ok(())
    }

    /// The arms to judge on.
    pub fn part(&self) -> JudgedPart {
        self.part.unwrap_or(match self.estimators {
            EstimatorsName::Judged => JudgedPart::Folds,
            EstimatorsName::Published => JudgedPart::Test,
        })
    }

    /// Where simulations begin.
    pub fn start(&self) -> StartName {
        self.start.unwrap_or(match self.estimators {
            EstimatorsName::Judged => StartName::Today,
            EstimatorsName::Published => StartName::First,
        })
    }
}
