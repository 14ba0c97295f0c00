//! What `restive evaluate` is asked, and its help.

use crate::shared::values::{choice, temperature, threads};
use clap::Args;
use restive::policy::Temperature;
use restive_pipeline::{BehaviourName, EvaluateAsked, JudgedPart, RatioName};
use std::path::PathBuf;

const ABOUT: &str = "\
Evaluate a model: what its policy is worth beside others, by every estimator that applies.

MODEL is a folder that restive train wrote, STUDY the folder of a study with the same features. Policies: no-action, random, \
round-robin, myopic (one-step gain on the predicted transitions; of labels where states are seen at pulls only), model-soft and model-strict (Whittle indices of the predicted transitions) and, where the \
study knows its truth, oracle-soft and oracle-strict.

Estimators:
  is         importance sampling (CWPDIS) over several trajectories, arm by arm: it cannot see
             that the other arms' states are those that the behaviour policy left them in
  segmented  the paper's variant for a single trajectory: its metric, not evidence, because a
             policy can win it without knowing anyone
  simulated  rollouts on transitions estimated from the trajectories; rows never seen are uniform,
             and where states are seen at pulls only an arm's are fitted to all its sightings
  true       rollouts on the true transitions, where the study knows them
  fluid      the limit of many arms, on transitions estimated from the trajectories

Intervals are nominal 95 % intervals, and the answer says what they cover. Gains are paired: both policies meet the same \
resamples and the same noise. Over several instances values are averages. Where a part of an instance \
is judged, its budget is in proportion; propensities are those of the whole. Where the log shows no other policy (every action \
was certain, or K of N at random is nobody or everybody), is and segmented are absent, and a warning says why.

--json prints {\"policies\": {POLICY: {ESTIMATOR: {\"value\", \"low\", \"high\", \"ess\", \"gain_over_random\", \
\"gain_over_no_action\"}}}, \"loss\", \"about\"}; what does not apply is absent. \"about\" says what the numbers rest on: the part, its \
arms and budget, discounts, horizon, seed, where propensities come from, assumptions, for each estimator what it judges by \
and what its intervals cover, warnings and notes.";

const EXAMPLES: &str = "\
Examples:
  restive evaluate model examples/study --part all
  restive evaluate model examples/study --part all --runs 200 --out scores.csv
  restive evaluate model examples/study --part all --temperature published:0.1 --json";

/// Evaluate a model: what its policy is worth beside others
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct EvaluateArguments {
    /// The folder of the model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// The folder of the study
    #[arg(value_name = "STUDY")]
    pub(crate) study: PathBuf,

    /// Which arms to judge on: by the study's column split, or else as the model's seed splits them
    #[arg(long, value_parser = choice::<JudgedPart>(JudgedPart::described()), default_value_t = EvaluateAsked::default().part)]
    part: JudgedPart,

    /// Discount of the index, from 0 to 1 [default: the model's; where it has none, 1 - 1/H with H the study's horizon]
    #[arg(long, allow_hyphen_values = true)]
    index_discount: Option<f64>,

    /// Softness of the soft policies: spread:X (of the indices' standard deviation), published:X or absolute:X
    #[arg(long, value_parser = temperature, default_value_t = EvaluateAsked::default().temperature)]
    temperature: Temperature,

    /// Where propensities come from [default: as study.toml says]
    #[arg(long, value_parser = choice::<BehaviourName>(BehaviourName::described()))]
    behaviour: Option<BehaviourName>,

    /// Which decisions enter a ratio of importance sampling
    #[arg(long, value_parser = choice::<RatioName>(RatioName::described()), default_value_t = EvaluateAsked::default().ratio)]
    ratio: RatioName,

    /// Simulated runs
    #[arg(long, default_value_t = EvaluateAsked::default().runs, value_name = "N")]
    runs: usize,

    /// Bootstrap resamples
    #[arg(long, default_value_t = EvaluateAsked::default().resamples, value_name = "N")]
    resamples: usize,

    /// Seed of all random numbers
    #[arg(long, default_value_t = EvaluateAsked::default().seed)]
    seed: u64,

    /// Write the scores to this file, one row each: .csv or .parquet
    #[arg(short, long, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,

    /// Replace scores that are in the file
    #[arg(long, requires = "out")]
    pub(crate) force: bool,

    /// Print the scores as JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = threads())]
    pub(crate) threads: Option<u16>,
}

impl EvaluateArguments {
    /// What is asked of the pipeline.
    pub(super) fn asked(&self) -> EvaluateAsked {
        let &Self { part, index_discount, temperature, behaviour, ratio, runs, resamples, seed, .. } = self;
        EvaluateAsked { part, index_discount, temperature, behaviour, ratio, runs, resamples, seed }
    }
}
