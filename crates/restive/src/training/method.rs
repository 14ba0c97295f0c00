//! What decides a training, but for the data.

use super::config::Config;
use super::decision_focused::Prior;
use super::recipe::{Choice, Recipe};
use super::value::Decision;

/// A way to train, with its settings.
#[derive(Debug, Clone, PartialEq)]
pub enum Method {
    /// by likelihood; planning comes afterwards
    TwoStage(Config),
    /// by likelihood, with whichever predictors folds of the training arms choose; the settings are those of the networks
    Auto(Config),
    /// through the decision: from scratch, as published, or from a prior
    DecisionFocused(Config, Decision, Option<Prior>),
    /// two-stage first, through the decision where the folds say so
    Recommended(Recipe),
}

impl Method {
    /// The settings of the first, or only, stage.
    pub fn config(&self) -> &Config {
        match self {
            Self::TwoStage(config) | Self::Auto(config) | Self::DecisionFocused(config, ..) => config,
            Self::Recommended(recipe) => &recipe.two_stage,
        }
    }

    /// The decision that training goes through, where it does.
    pub fn decision(&self) -> Option<&Decision> {
        match self {
            Self::TwoStage(_) | Self::Auto(_) => None,
            Self::DecisionFocused(_, decision, _) => Some(decision),
            Self::Recommended(recipe) => Some(&recipe.decision),
        }
    }

    /// The k-th member of an ensemble, which has a seed of its own ([`Config::member`]). What the folds of the first one chose
    /// holds for the others.
    pub fn member(&self, k: usize, chosen: Option<Choice>) -> Self {
        let mut member = self.clone();
        match &mut member {
            Self::TwoStage(config) | Self::Auto(config) | Self::DecisionFocused(config, ..) => {
                *config = config.member(k)
            }
            Self::Recommended(recipe) => {
                recipe.two_stage = recipe.two_stage.member(k);
                recipe.choice = recipe.choice.or(chosen.filter(|_| k > 0));
            }
        }
        member
    }
}

impl From<Config> for Method {
    /// By likelihood.
    fn from(config: Config) -> Self {
        Self::TwoStage(config)
    }
}

impl From<Recipe> for Method {
    /// As recommended.
    fn from(recipe: Recipe) -> Self {
        Self::Recommended(recipe)
    }
}
