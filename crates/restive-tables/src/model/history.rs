//! How a training went, as the card of a model has it. A number that is not finite is null there.

use serde::{Deserialize, Serialize};

crate::choices! {
    /// How a fit ended, or that it has not.
    FitStatus {
        /// There are epochs to come
        Running = "running",
        /// All epochs were made
        Completed = "completed",
        /// The validation loss had stopped falling
        StoppedEarly = "stopped early",
        /// A loss was not a finite number
        Diverged = "diverged",
        /// The effect model is at its minimum
        Converged = "converged",
        /// The effect model is not at its minimum
        NotConverged = "not converged",
    }
}

crate::choices! {
    /// The candidates of the recommended training.
    Candidate {
        /// No training through the decision
        TwoStage = "two-stage",
        /// The preset weak
        Weak = "weak",
        /// The preset strong
        Strong = "strong",
    }
}

/// How the training of a model went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// each fit of the ensemble
    pub members: Vec<MemberHistory>,
    /// of the finished ensemble; none in a checkpoint
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Losses>,
}

/// How one fit of an ensemble went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemberHistory {
    /// of the initial parameters and the dropout
    pub seed: u64,
    /// the fit that is the answer
    #[serde(flatten)]
    pub fit: FitHistory,
    /// what the folds said of the predictors that were tried
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<PredictorChoice>,
    /// what the folds of the recommended training said
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<FoldsVerdict>,
    /// two-stage training before it, where the answer is another
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub two_stage: Option<FitHistory>,
}

crate::choices! {
    /// What became of the predictors that were tried.
    ChoiceOutcome {
        /// One of them is the answer
        Single = "single",
        /// Several of them, weighed
        Pool = "pool",
        /// None of them: nothing is better than the bare frequencies of moves
        Frequencies = "frequencies",
    }
}

/// What the folds said of the predictors that were tried. Losses are −ln P of a transition out of fold (or of a sighting, where states are seen
/// at pulls only).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictorChoice {
    /// what was chosen
    pub outcome: ChoiceOutcome,
    /// each of them
    pub bases: Vec<TriedBase>,
    /// by how much the pool's squared error of the next reward is below that of the best base, in units of twice its mean
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_gain: Option<Lead>,
    /// of what was chosen
    pub loss: Option<f64>,
    /// of the bare frequencies
    pub frequencies_loss: Option<f64>,
    /// that were judged
    pub transitions: u64,
    /// of the training arms
    pub folds: usize,
}

/// What the folds said of one predictor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TriedBase {
    /// which
    pub name: String,
    /// in the answer
    pub weight: f64,
    /// in the pool, whether it is the answer or not
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_weight: Option<f64>,
    /// out of fold
    pub loss: Option<f64>,
}

/// The epochs of a training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitHistory {
    /// how it ended
    pub status: FitStatus,
    /// from 0; none where the initial parameters were kept
    pub kept_epoch: Option<usize>,
    /// by epoch
    pub train_loss: Vec<Option<f64>>,
    /// by epoch; none without validation arms
    pub validation_loss: Vec<Option<f64>>,
    /// by epoch, of training through the decision
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_value: Option<Vec<Option<f64>>>,
    /// by epoch
    pub learning_rate: Vec<Option<f64>>,
}

/// What the folds of the recommended training said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoldsVerdict {
    /// the candidate that is the answer
    pub choice: Candidate,
    /// of the presets, where they were compared
    pub lead_over_two_stage: Leads,
    /// of each fold, by candidate
    pub value_per_arm: Vec<FoldValues>,
    /// how many transitions a two-stage prediction is worth
    pub strength: Strengths,
}

/// By how much the presets lead two-stage training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Leads {
    /// of the preset weak
    pub weak: Option<Lead>,
    /// of the preset strong
    pub strong: Option<Lead>,
}

/// A mean over folds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Lead {
    /// what is led by: a value per arm, or what its holder says
    pub mean: Option<f64>,
    /// of the mean
    pub standard_error: Option<f64>,
}

/// The value per arm of each candidate on a fold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FoldValues {
    /// of two-stage training
    pub two_stage: Option<f64>,
    /// of the preset weak
    pub weak: Option<f64>,
    /// of the preset strong
    pub strong: Option<f64>,
}

/// How many transitions a prediction is worth, by action.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Strengths {
    /// of arms left alone
    pub passive: f64,
    /// of pulled arms
    pub active: f64,
}

/// The losses of each part that has arms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// of the arms learnt from
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<PartLoss>,
    /// of those that said when to stop
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<PartLoss>,
    /// of those that were only measured
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<PartLoss>,
    /// per transition of the validation arms, under the bare frequencies of moves of the training arms
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequencies: Option<f64>,
}

/// The predictive loss of a part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PartLoss {
    /// the mean over instances, as published
    pub per_trajectory: Option<f64>,
    /// over all transitions (or sightings, where states are seen at pulls only)
    pub per_transition: Option<f64>,
    /// how many there are
    pub transitions: u64,
}
