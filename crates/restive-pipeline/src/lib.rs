//! From a study to a model, from a model to a plan, without a terminal: what the program and the Python face share.
//!
//! | file | what happens there |
//! |---|---|
//! | `options`, `asked`, `resolve`, `describe` | what a training may be asked for, what it was, resolved to numbers, and told on a card |
//! | `prepare` | a study's split, the encoding of its features, its instances by part |
//! | `estimate`, `train`, `card` | how long a training will take; the training, epoch by epoch, of people in memory or passing by; how it went |
//! | `model` | trained predictors to and from their folder |
//! | `passing` | people who pass by in pieces, and what is learnt of them before anything is fitted |
//! | `contents`, `columns` | what a study holds, and which of its columns cannot be learnt from |
//! | `doctor` | what its data can and cannot answer, by named checks |
//! | `threads` | how many there may be |
//! | `generate` | synthetic studies whose truth is known |
//! | `nothing` | what is worse than knowing nobody is not written |
//! | `apply`, `own_record`, `latest`, `left_alone`, `plan` | a model meets a study: predictions, what records are worth beside them, what is expected of people left alone, whom to pull |
//! | `identification` | whether a log shows what a call does, and numbers that are there only if it does |
//! | `rules` | what a programme allows: budget, limits by column, who is left out |
//! | `reasons` | why somebody is on a list, in numbers that add up and in plain words |
//! | `recipe`, `cross_fit` | what would have to be asked for to train a model again, and doing so in folds of people |
//! | `ranked` | what a plan would have ranked arms by at each logged decision |
//! | `evaluate`, `loss` | what the model's policy is worth beside others, and how well it predicts |
//!
//! What is said to people is a [`Message`], in which options are facts: the command line writes `--index-discount`, Python
//! `index_discount`.
//!
//! ```
//! use restive_pipeline::{Applied, Asked, EvaluateAsked, JudgedPart, Outcome, PlanAsked, Trained, Training};
//! use restive_tables::Study;
//!
//! # fn main() -> Result<(), restive_pipeline::Error> {
//! # let study_folder = std::path::Path::new("../../examples/study");
//! let study = Study::read(study_folder)?;
//! let asked = Asked { epochs: Some(2), drop: vec!["district".into()], ..Asked::default() };
//! let training = Training::new(&study, &asked, "an example")?;
//! let progressed = training.run(Default::default(), None, |_| Ok::<_, restive_pipeline::Error>(()))?;
//! let model = training.model(progressed.members, progressed.histories);
//!
//! let trained = Trained::new(model)?;
//! let applied = Applied::new(&trained, &study, "the model", "the study")?;
//! let plan = applied.plan(&PlanAsked::default())?;
//! assert_eq!(plan.plan.len(), plan.budget * applied.instances.len());
//!
//! // on people it never saw: the test part here; by default the recipe is trained anew in folds of everybody
//! let few = EvaluateAsked { part: Some(JudgedPart::Test), runs: Some(50), resamples: Some(10), ..EvaluateAsked::default() };
//! let evaluated = applied.evaluate(&few, None, |_| Ok::<_, restive_pipeline::Error>(()))?;
//! assert!(matches!(evaluated.evidence, Some(Outcome::Refused { .. }))); // too few pulls to tell
//! # Ok(())
//! # }
//! ```

/// The seed of everything that draws random numbers, unless said otherwise.
pub const SEED: u64 = 0;

mod apply;
mod asked;
pub mod card;
mod columns;
mod contents;
mod cross_fit;
mod describe;
mod doctor;
mod error;
mod estimate;
mod evaluate;
pub mod generate;
pub mod identification;
mod latest;
mod left_alone;
mod loss;
mod message;
mod model;
mod nothing;
pub mod options;
mod own_record;
mod passing;
mod plan;
pub mod prepare;
mod ranked;
pub mod reasons;
mod recipe;
mod resolve;
mod rules;
mod text_file;
pub mod threads;
mod train;

pub use apply::{Applied, RankIndex};
pub use asked::{Asked, PRECISION_CAP, precision, temperature};
pub use contents::{FeatureContents, StateReward, StudyContents, StudyLabels, TrajectoryOrder};
pub use cross_fit::{FOLDS, FoldModel, FoldProgress, cross_fit};
pub use doctor::{Doctor, Finding, Severity};
pub use error::{Error, Result};
pub use evaluate::{
    AboutEstimator, AboutEvaluation, Compared, ComparedRecipe, Decile, EstimatorsName, EvaluateAsked,
    Evaluated, EvaluatedQuantity, EvidenceAnswer, Interval, JudgedPart, Outcome, PolicyGain, RatioName,
    RecordedAnswer, StartName, compare, evidence_of_scores, signed,
};
pub use identification::{BehaviourName, Effects, Identification, LEAST_CALLS};
pub use latest::latest;
pub use loss::{Loss, loss};
pub use message::{Message, Opt};
pub use model::{Trained, rebuild, weights};
pub use own_record::History;
pub use plan::{
    ArmEffects, AtBudget, Bound, Chance, Chosen, Cut, Eligible, Excluded, InTrial, LastSeen, Limits,
    MOST_IN_MEMORY, Nouns, Outlook, Passing, Place, Plan, PlanAsked, PlanCertificate, PlanEffects,
    PlannedArm, PolicyName, PricingProgress, RecordedScores, RuleCost, RulePrice, Worth, is_large,
    is_rounding, partition,
};
pub use recipe::{recipe_key, recipe_words};
pub use restive_tables::model::configuration::{Objective, PredictorName, Preset, Profile, ValueName};
pub use restive_tables::words;
pub use rules::{Rules, people::Recency};
pub use text_file::{read_text_file, refuse_empty};
pub use train::partition as train_partition;
pub use train::{Begun, FolderTraining, PassingTraining, Progressed, Step, Training};
