//! What a plan may be asked for.

use crate::error::{Error, Result};
use crate::message::{Opt, message};
use crate::options::INDEX_DISCOUNT;
use crate::rules::Rules;
use restive_tables::Contacts;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

restive_tables::choices! {
    /// What arms are ranked by.
    PolicyName {
        /// The Whittle index: for a programme without an end
        Whittle = "whittle",
        /// The advantage of a pull, given the prices of those to come: for a programme of which so many steps are left
        Horizon = "horizon",
    }
}

impl PolicyName {
    /// What the number is called that arms are ranked by.
    pub fn worth(self) -> &'static str {
        match self {
            PolicyName::Whittle => "index",
            PolicyName::Horizon => "advantage",
        }
    }
}

/// The most steps that can be planned for.
const MOST_STEPS: usize = 10_000;

/// What a plan is asked for.
#[derive(Debug, Clone)]
pub struct PlanAsked {
    /// arms to pull in each instance; absent: the study's budget
    pub budget: Option<usize>,
    /// what arms are ranked by; absent: horizon where the steps that are left are known, otherwise whittle
    pub policy: Option<PolicyName>,
    /// the decisions that are left, this one included; absent: as the study says, if it does
    pub remaining: Option<usize>,
    /// whether arms where a pull does not pay are left out
    pub only_beneficial: bool,
    /// whether an arm's own record counts beside the prediction; absent: where held-out arms say that it helps
    pub history: Option<bool>,
    /// of the index; absent: the model's, else 1 − 1/H; for H = 1 the effect on the next reward
    pub index_discount: Option<f64>,
    /// the name of the one instance to plan for; absent: all of them
    pub instance: Option<String>,
    /// of tie-breaks and draws
    pub seed: u64,
    /// the share of places that is drawn by lot among all others who may have one; absent: as the rules say, else none
    pub explore: Option<f64>,
    /// what the programme allows
    pub rules: Rules,
    /// what the period that is planned is called: with the seed it decides ties and draws; absent: the number of the step
    pub period: Option<String>,
    /// who may be called, and what is kept of them for the list; absent: everybody, and nothing
    pub people: Option<Contacts>,
    /// the trial that runs; absent: none
    pub trial: Option<InTrial>,
    /// Listener to the progress of pricing rules.
    pub pricing: PricingProgress,
}

/// Listener to the number of rules that are priced so far and to the number of all rules. Both start again for each instance.
#[derive(Clone, Default)]
pub struct PricingProgress(Option<Arc<dyn Fn(usize, usize) + Send + Sync>>);

impl PricingProgress {
    /// A listener; calls follow each other.
    pub fn new(listener: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    pub(super) fn report(&self, priced: usize, all: usize) {
        self.0.iter().for_each(|listener| listener(priced, all));
    }
}

impl fmt::Debug for PricingProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "a listener" } else { "no listener" })
    }
}

/// Who is in which group of a trial.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InTrial {
    /// the group of people by the names of arms; whoever is not in it is planned for as everybody is
    pub groups: HashMap<String, String>,
    /// the group that is left alone
    pub control: String,
}

impl Default for PlanAsked {
    fn default() -> Self {
        Self {
            budget: None,
            policy: None,
            remaining: None,
            only_beneficial: false,
            history: None,
            index_discount: None,
            instance: None,
            seed: crate::SEED,
            explore: None,
            rules: Rules::default(),
            period: None,
            people: None,
            trial: None,
            pricing: PricingProgress::default(),
        }
    }
}

impl PlanAsked {
    /// Refuses numbers out of range and options that contradict each other, before any data are looked at.
    pub fn check(&self) -> Result<()> {
        INDEX_DISCOUNT.check(&self.index_discount)?;
        if let Some(found) = self.explore.filter(|share| !(0.0..=1.0).contains(share)) {
            let words = format!(": found {found}, expected a share from 0 to 1");
            return Err(Error::Asked(message!(Opt("explore"), words)));
        }
        if let Some(found) = self.remaining.filter(|steps| !(1..=MOST_STEPS).contains(steps)) {
            let words = format!(": found {found}, expected a whole number from 1 to {MOST_STEPS}");
            return Err(Error::Asked(message!(Opt("remaining"), words)));
        }
        let is_by_index = self.policy == Some(PolicyName::Whittle);
        if self.remaining.is_some() && (is_by_index || self.policy.is_none() && self.index_discount.is_some())
        {
            let why = ": an index knows no end; it needs ";
            return Err(Error::Asked(message!(Opt("remaining"), why, Opt("policy"), " horizon")));
        }
        if self.policy == Some(PolicyName::Horizon) && self.index_discount.is_some() {
            let why = ": prices have the study's own discount; it needs ";
            return Err(Error::Asked(message!(Opt("index-discount"), why, Opt("policy"), " whittle")));
        }
        Ok(())
    }

    /// What arms are ranked by, where the steps that are left are known or not.
    pub(crate) fn policy(&self, is_end_known: bool) -> Result<PolicyName> {
        match self.policy {
            Some(PolicyName::Horizon) if !is_end_known => Err(Error::Asked(message!(
                Opt("policy"),
                " horizon: found no end of the programme, expected ",
                Opt("remaining"),
                " N, or ends = T in study.toml"
            ))),
            Some(policy) => Ok(policy),
            None if is_end_known && self.index_discount.is_none() => Ok(PolicyName::Horizon),
            None => Ok(PolicyName::Whittle),
        }
    }
}
