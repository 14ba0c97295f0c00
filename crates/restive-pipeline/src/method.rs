//! The ways to train, behind one door: each is advanced a little at a time, saved and restored, and tells how it went.

use crate::card::{history, member_history};
use restive::Instance;
use restive::predictor::Predictor;
use restive::training::{
    Choice, Config, Decision, DecisionFocused, EpochReport, Recipe, Selection, Snapshot, TwoStage, Verdict,
};
use serde_json::{Value, json};

/// What decides a training, but for the data.
#[derive(Debug, Clone)]
pub enum Method {
    /// by likelihood
    TwoStage(Config),
    /// through the decision from scratch, as published
    DecisionFocused(Config, Decision),
    /// two-stage first, through the decision where the folds say so
    Recommended(Recipe),
}

impl Method {
    /// The settings of the first, or only, stage.
    pub fn config(&self) -> &Config {
        match self {
            Self::TwoStage(config) | Self::DecisionFocused(config, _) => config,
            Self::Recommended(recipe) => &recipe.two_stage,
        }
    }

    /// The decision that training goes through, where it does.
    pub fn decision(&self) -> Option<&Decision> {
        match self {
            Self::TwoStage(_) => None,
            Self::DecisionFocused(_, decision) => Some(decision),
            Self::Recommended(recipe) => Some(&recipe.decision),
        }
    }

    /// The k-th member of an ensemble. What the folds of the first one chose holds for the others.
    pub fn member(&self, k: usize, histories: &[Value]) -> Self {
        let config = self.config().member(k);
        match self {
            Self::TwoStage(_) => Self::TwoStage(config),
            Self::DecisionFocused(_, decision) => Self::DecisionFocused(config, decision.clone()),
            Self::Recommended(recipe) => {
                let first = histories.first().and_then(|first| first["selection"]["choice"].as_str());
                let first = Choice::ALL.into_iter().find(|choice| Some(choice.name()) == first);
                let choice = recipe.choice.or(first.filter(|_| k > 0));
                Self::Recommended(Recipe { two_stage: config, choice, ..recipe.clone() })
            }
        }
    }
}

/// One fit on its way.
pub enum Fit {
    /// by likelihood
    TwoStage(Box<TwoStage>),
    /// through the decision, from scratch
    DecisionFocused(Box<DecisionFocused>),
    /// both, and a choice
    Recommended(Box<Selection>),
}

impl Fit {
    /// At its beginning, or where a snapshot left off.
    pub fn new(
        method: Method,
        train: &[Instance],
        validation: &[Instance],
        snapshot: Option<Snapshot>,
    ) -> restive::Result<Self> {
        Ok(match method {
            Method::TwoStage(config) => Self::TwoStage(Box::new(match snapshot {
                Some(snapshot) => TwoStage::restore(config, train, validation, &snapshot)?,
                None => TwoStage::new(config, train, validation)?,
            })),
            Method::DecisionFocused(config, decision) => {
                let mut training = DecisionFocused::new(config, decision, None, train, validation)?;
                snapshot.map_or(Ok(()), |snapshot| training.restore(&snapshot))?;
                Self::DecisionFocused(Box::new(training))
            }
            Method::Recommended(recipe) => {
                let mut training = Selection::new(recipe, train, validation)?;
                snapshot.map_or(Ok(()), |snapshot| training.restore(&snapshot))?;
                Self::Recommended(Box::new(training))
            }
        })
    }

    /// Whether there is nothing left to do.
    pub fn is_finished(&self) -> bool {
        match self {
            Self::TwoStage(training) => training.is_finished(),
            Self::DecisionFocused(training) => training.is_finished(),
            Self::Recommended(training) => training.is_finished(),
        }
    }

    /// One epoch, or one round of epochs; the stage and the epoch that was made on all instances, if one was.
    pub fn advance(&mut self) -> Option<(&'static str, EpochReport)> {
        match self {
            Self::TwoStage(training) => Some(("two-stage", training.epoch())),
            Self::DecisionFocused(training) => Some(("decision-focused", training.epoch())),
            Self::Recommended(training) => {
                let before = training.last_epoch();
                training.round();
                training.last_epoch().filter(|now| before.as_ref() != Some(now))
            }
        }
    }

    /// Its state, to go on from.
    pub fn snapshot(&self) -> Snapshot {
        match self {
            Self::TwoStage(training) => training.snapshot(),
            Self::DecisionFocused(training) => training.snapshot(),
            Self::Recommended(training) => training.snapshot(),
        }
    }

    /// The share of the work that is done, and what there is to say of it. `epochs` is how many there will be at most.
    pub fn progress(&self, epochs: usize) -> (f64, String) {
        let report = match self {
            Self::TwoStage(training) => training.history().last().copied(),
            Self::DecisionFocused(training) => training.history().last().copied(),
            Self::Recommended(training) => training.last_epoch().map(|(_, report)| report),
        };
        let losses = report.map_or(String::new(), |report| {
            let loss = report.validation_loss.unwrap_or(report.train_loss);
            let which = if report.validation_loss.is_some() { "validation" } else { "training" };
            let value = report.train_value.map_or(String::new(), |value| format!("value {value:.2}, "));
            format!("{value}{which} loss {loss:.3}")
        });
        match self {
            Self::TwoStage(_) | Self::DecisionFocused(_) => {
                let made = report.map_or(0, |report| report.epoch + 1);
                (made as f64 / epochs as f64, format!("epoch {made}, {losses}"))
            }
            Self::Recommended(training) => {
                let (made, most) = training.progress();
                let stage =
                    training.verdict().map_or("all candidates".into(), |verdict| match verdict.choice {
                        Choice::TwoStage => "two-stage is enough".to_string(),
                        choice => format!("{} on all instances", choice.name()),
                    });
                (made as f64 / most.max(1) as f64, format!("{stage}: {made} epochs, {losses}"))
            }
        }
    }

    /// The predictor, and how its training went, for the card.
    pub fn finish(self, seed: u64) -> (Predictor, Value) {
        let fitted = match self {
            Self::TwoStage(training) => training.finish(),
            Self::DecisionFocused(training) => training.finish(),
            Self::Recommended(training) => {
                let selected = training.finish();
                let mut all = member_history(seed, &selected.fitted);
                all["selection"] = selection(&selected.verdict);
                if selected.verdict.choice != Choice::TwoStage {
                    all["two_stage"] = history(&selected.two_stage);
                }
                return (selected.fitted.predictor, all);
            }
        };
        let all = member_history(seed, &fitted);
        (fitted.predictor, all)
    }
}

/// What the folds said, for the card.
fn selection(verdict: &Verdict) -> Value {
    let lead =
        |k: usize| verdict.leads.map(|leads| json!({"mean": leads[k].0, "standard_error": leads[k].1}));
    let fold = |values: &[f64; 3]| json!({"two-stage": values[0], "weak": values[1], "strong": values[2]});
    json!({
        "choice": verdict.choice.name(),
        "lead_over_two_stage": {"weak": lead(0), "strong": lead(1)},
        "value_per_arm": verdict.folds.iter().map(fold).collect::<Vec<_>>(),
        "strength": {"passive": verdict.strength[0], "active": verdict.strength[1]},
    })
}
