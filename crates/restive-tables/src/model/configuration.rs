//! What decided a training, as the card of a model has it: the same configuration and the same study give the same model.

use serde::{Deserialize, Serialize};

crate::choices! {
    /// What training aims at.
    Objective {
        /// Fit the transitions by their likelihood, plan afterwards
        TwoStage = "two-stage",
        /// Train through the decision: for the value of the plan that the transitions lead to
        DecisionFocused = "decision-focused",
    }
}

crate::choices! {
    /// What decision-focused training maximises.
    ValueName {
        /// Importance sampling on the log, the paper's
        Is = "is",
        /// The mean-field limit on estimated transitions
        Fluid = "fluid",
        /// Arm by arm, at the price where the budget binds: as good as fluid in most cases, and cheaper
        Decomposed = "decomposed",
    }
}

crate::choices! {
    /// How far decision-focused training may go from the two-stage predictions.
    Preset {
        /// Weak, strong, or none of them, whichever proves better on folds of the training arms
        Select = "select",
        /// A short training, held firmly to the two-stage predictions
        Weak = "weak",
        /// A long one, held loosely
        Strong = "strong",
    }
}

crate::choices! {
    /// What is trained.
    PredictorName {
        /// Several of the others, fitted in folds of the training arms that choose one of them or weigh them
        Auto = "auto",
        /// Hidden layers of ReLU units and a softmax
        Network = "network",
        /// A network without hidden layers
        Linear = "linear",
        /// A logistic model of arms left alone, and a shrunken shift for a pull: for few pulls
        Effect = "effect",
        /// The same with a part of the shift for each state, its penalties by the evidence of the data: between effect and linear
        Hierarchical = "hierarchical",
    }
}

crate::choices! {
    /// Where the settings come from that are not given.
    Profile {
        /// To convergence, the best validation loss is kept
        Recommended = "recommended",
        /// As the published results were made: 50 epochs, no dropout
        Published = "published",
        /// As the paper's text says: 50 epochs, dropout 0.2
        Paper = "paper",
    }
}

crate::choices! {
    /// When the states of a study are seen.
    Seen {
        /// At every step
        Full = "full",
        /// At pulls only
        Collapsing = "collapsing",
    }
}

crate::choices! {
    /// Which learning rate an epoch has.
    Schedule {
        /// Always the same
        Constant = "constant",
        /// Falling to nearly zero along half a cosine
        Cosine = "cosine",
    }
}

crate::choices! {
    /// Which parameters are kept at the end.
    Kept {
        /// Those of the last epoch
        Last = "last",
        /// Those with the lowest validation loss
        Best = "best",
    }
}

crate::choices! {
    /// What of the gradient steps can be asked for.
    StepOption {
        /// Passes over the training instances
        Epochs = "epochs",
        /// Of Adam
        LearningRate = "learning-rate",
    }
}

crate::choices! {
    /// Who dealt the arms to train, validation and test.
    SplitOrigin {
        /// The study's column split
        Study = "study",
        /// The seed
        Seed = "seed",
    }
}

/// What decided a training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// what training aimed at
    pub objective: Objective,
    /// where settings came from that were not given
    pub profile: Profile,
    /// what was trained
    pub predictor: PredictorName,
    /// units of each hidden layer
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Vec<usize>>,
    /// share of hidden units left out in each step
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropout: Option<f64>,
    /// of the effect model
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// the largest precision that held-out arms might choose
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision_cap: Option<f64>,
    /// the gradient steps; none where a Newton solve took their place
    #[serde(flatten)]
    pub steps: Option<Steps>,
    /// the decision that training went through, where it did
    #[serde(flatten)]
    pub decision: Option<Decision>,
    /// of the value, where training through the decision was from scratch
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_weight: Option<f64>,
    /// of the predictive loss beside it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_weight: Option<f64>,
    /// of the recommended training through the decision
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// of the index that plans with the model are meant for; none: that of the study it is used on
    pub index_discount: Option<f64>,
    /// fits that were averaged
    pub ensemble: usize,
    /// of the split, the initial parameters and the dropout
    pub seed: u64,
    /// whether numbers were scaled to mean 0 and standard deviation 1
    pub standardise: bool,
    /// features that were left out
    pub drop: Vec<String>,
    /// when states were seen
    pub observation: Seen,
    /// who was learnt from
    pub split: Dealt,
}

/// The precision of the effect model: a number, or how it was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Precision {
    /// as given
    Fixed(f64),
    /// in a word
    Chosen(String),
}

/// The gradient steps of a training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// passes over the training instances, at most
    pub epochs: usize,
    /// whether the first epoch made no step
    pub has_idle_epoch: bool,
    /// of Adam, at the beginning
    pub learning_rate: f64,
    /// how it went on
    pub schedule: Schedule,
    /// ε of Adam
    pub epsilon: f64,
    /// which parameters were kept
    pub keep: Kept,
    /// epochs without improvement after which training stopped
    pub patience: Option<usize>,
    /// which of them were asked for, where the profile has others for other data; none: an earlier version did not say
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Vec<StepOption>>,
}

/// The decision that a training went through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// what was maximised
    pub value: ValueName,
    /// how soft the policy was, as it is written
    pub temperature: String,
    /// the decisions of a deployment
    pub horizon: usize,
    /// where propensities came from, as study.toml says it
    pub behaviour: String,
}

/// How arms were dealt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dealt {
    /// by whom
    pub origin: SplitOrigin,
    /// learnt from
    pub train: PartSize,
    /// said when to stop
    pub validation: PartSize,
    /// only measured
    pub test: PartSize,
}

/// The size of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSize {
    /// groups of arms
    pub instances: usize,
    /// in all of them
    pub arms: usize,
}
