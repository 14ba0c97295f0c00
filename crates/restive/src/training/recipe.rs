//! What the recommended training is made of: its candidates and their settings.

use super::config::{Config, Keep, Rate};
use super::value::Decision;

/// The candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// no training through the decision
    TwoStage,
    /// a short training, held firmly to the two-stage predictions
    Weak,
    /// a long one, held loosely
    Strong,
}

impl Choice {
    /// All of them.
    pub const ALL: [Choice; 3] = [Choice::TwoStage, Choice::Weak, Choice::Strong];
    /// Those that train through the decision.
    pub const PRESETS: [Choice; 2] = [Choice::Weak, Choice::Strong];

    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Choice::TwoStage => "two-stage",
            Choice::Weak => "weak",
            Choice::Strong => "strong",
        }
    }

    /// (weight of the anchor, learning rate, passes over the instances, steps), the latter two at least
    const fn preset(self) -> (f64, f64, usize, usize) {
        match self {
            Choice::TwoStage | Choice::Weak => (1.0, 0.003, 49, 343),
            Choice::Strong => (0.2, 0.01, 200, 1400),
        }
    }
}

/// Everything that decides the recommended training, but for the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// the first stage
    pub two_stage: Config,
    /// whether it is [`Auto`](super::Auto): these are then the settings of its networks
    pub is_auto: bool,
    /// the decision; its weight of the loss is the preset's
    pub decision: Decision,
    /// a preset to be taken without selection
    pub choice: Option<Choice>,
}

impl Recipe {
    /// Folds, at most.
    pub const FOLDS: usize = 8;
    /// Arms in a fold, at least, where folds are groups of arms.
    pub const ARMS_PER_FOLD: usize = 10;

    /// The [recommended](Decision::recommended) decision for a horizon of so many steps.
    pub fn new(two_stage: Config, horizon: usize) -> Self {
        Self { two_stage, is_auto: false, decision: Decision::recommended(horizon), choice: None }
    }

    /// The same with a first stage that chooses among predictors.
    pub fn auto(networks: Config, horizon: usize) -> Self {
        Self { is_auto: true, ..Self::new(networks, horizon) }
    }

    /// How a preset trains on so many instances.
    pub fn preset(&self, choice: Choice, instances: usize) -> (Config, Decision) {
        let (anchor, rate, epochs, steps) = choice.preset();
        let config = Config {
            epochs: epochs.max(steps.div_ceil(instances)),
            has_idle_epoch: false,
            rate: Rate::Cosine(rate),
            epsilon: 1e-8,
            keep: Keep::Last,
            ..self.two_stage.clone()
        };
        (config, Decision { loss_weight: anchor, ..self.decision.clone() })
    }
}
