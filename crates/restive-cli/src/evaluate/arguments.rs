//! What `restive evaluate` is asked, and its help.

use crate::shared::values::{choice, temperature, threads};
use clap::Args;
use restive::policy::Temperature;
use restive_pipeline::{BehaviourName, EstimatorsName, EvaluateAsked, JudgedPart, RatioName, StartName};
use std::path::PathBuf;

const ABOUT: &str = "\
Evaluate a model: does its ranking find those for whom a pull makes a difference, and what would its plan bring?

MODEL is a folder that restive train wrote, STUDY the folder of a study with the same features. Two questions come first, and both \
are answered by what pulls did in the log, never by what the model believes:

  Does the ranking find those for whom a pull makes a difference?  Effects of pulls (doubly robust: a judge, fitted to other \
people, takes off what would have come anyway) go with the rank or they do not; p is how often pulls dealt anew would do as well by \
chance. The bars show the effect of a pull by tenth of the ranking, and the same with people shuffled.
  How much more than random pulls would the plan bring?  With a 95 % interval, and with the gain that would have been found where \
nothing is shown.

People are compared with others of the same instance, step and state only. Nobody is judged by a model that learnt from them: by \
default people are dealt to folds, and the recipe of the model is trained anew without each fold (as long as five trainings); \
--part test judges the model as it is on its test arms, with wider intervals. Every recipe that is judged on a study is counted in \
STUDY/looks.csv: from the second on p is also given for all of them together, because the best of many looks better than it is. No \
answer is given where nobody says how those who were pulled were chosen, where they differ from the others in what was known \
before, or where there are fewer than 200 pulls to go by; then the answer says what to do.

What policies would bring is simulated beside it, from today's states, in the world of the judge: moves that were never logged \
come from it, with its uncertainty, and never from a coin. Policies: no-action, random, round-robin, least-engaged (the poorest \
state first), myopic (the largest predicted effect on the next reward), model-strict (Whittle indices), model-horizon \
and, where the study knows its truth, oracle-strict and oracle-horizon.

--estimators published gives the estimators of the paper instead, marked as what they are, and judges soft policies too:
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
is judged, its budget is in proportion; propensities are those of the whole. Of more than 20,000 people fewer resamples, runs and deals are drawn, and the answer says so; --resamples, --runs and --deals ask for more.

--json prints {\"evidence\", \"policies\": {POLICY: {ESTIMATOR: {\"value\", \"low\", \"high\", \"ess\", \"gain_over_random\", \
\"gain_over_no_action\"}}}, \"loss\", \"about\"}; what does not apply is absent. \"evidence\" has p, gain, detectable, deciles, policies and \
all they rest on, or \"refused\" and \"what_to_do\"; \"about\" says what the other numbers rest on.";

const EXAMPLES: &str = "\
Examples:
  restive evaluate model examples/study
  restive evaluate model examples/study --page evidence.html --out scores.csv
  restive evaluate model examples/study --estimators published --part all --runs 200 --json";

/// Evaluate a model: does its ranking find the right people, and what would its plan bring?
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct EvaluateArguments {
    /// The folder of a programme; or that of a model, before that of a study
    #[arg(value_name = "PROGRAMME|MODEL")]
    pub(crate) model: PathBuf,

    /// The folder of the study
    #[arg(value_name = "STUDY")]
    pub(crate) study: Option<PathBuf>,

    /// What to judge by
    #[arg(long, value_parser = choice::<EstimatorsName>(EstimatorsName::described()), default_value_t = EvaluateAsked::default().estimators)]
    estimators: EstimatorsName,

    /// Which arms to judge on: parts are those of the study's column split, or else of the model's seed [default: folds; test for published estimators]
    #[arg(long, value_parser = choice::<JudgedPart>(JudgedPart::described()))]
    part: Option<JudgedPart>,

    /// Folds of people
    #[arg(long, default_value_t = EvaluateAsked::default().folds, value_name = "N")]
    folds: usize,

    /// Where simulated programmes begin [default: today; first for published estimators]
    #[arg(long, value_parser = choice::<StartName>(StartName::described()))]
    from: Option<StartName>,

    /// How often pulls are dealt anew for p [default: 999; by the normal law beyond 20,000 people and 2,000 pulls]
    #[arg(long, value_name = "N")]
    deals: Option<usize>,

    /// Discount of the index, from 0 to 1 [default: the model's; where it has none, 1 - 1/H with H the study's horizon, and the effect on the next reward for H = 1]
    #[arg(long, allow_hyphen_values = true)]
    index_discount: Option<f64>,

    /// Softness of the soft policies: spread:X (of the indices' standard deviation), published:X or absolute:X
    #[arg(long, value_parser = temperature, default_value_t = EvaluateAsked::default().temperature)]
    temperature: Temperature,

    /// How those who were pulled were chosen [default: as study.toml says]
    #[arg(long, value_parser = choice::<BehaviourName>(BehaviourName::described()))]
    behaviour: Option<BehaviourName>,

    /// Which decisions enter a ratio of importance sampling
    #[arg(long, value_parser = choice::<RatioName>(RatioName::described()), default_value_t = EvaluateAsked::default().ratio)]
    ratio: RatioName,

    /// Simulated runs [default: 200, fewer beyond 20,000 people; 1000 for published estimators]
    #[arg(long, value_name = "N")]
    runs: Option<usize>,

    /// Bootstrap resamples [default: 200; 50 beyond 20,000 people, where intervals are 1.96 standard errors each way]
    #[arg(long, value_name = "N")]
    resamples: Option<usize>,

    /// Seed of all random numbers
    #[arg(long, default_value_t = EvaluateAsked::default().seed)]
    seed: u64,

    /// Write the scores to this file, one row each: .csv or .parquet
    #[arg(short, long, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,

    /// Write a page with the answers and the picture: .html
    #[arg(long, value_name = "PAGE")]
    pub(crate) page: Option<PathBuf>,

    /// Replace scores that are in the file, or a page
    #[arg(long)]
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
        EvaluateAsked {
            estimators: self.estimators,
            part: self.part,
            folds: self.folds,
            start: self.from,
            deals: self.deals,
            index_discount: self.index_discount,
            temperature: self.temperature,
            behaviour: self.behaviour,
            ratio: self.ratio,
            runs: self.runs,
            resamples: self.resamples,
            seed: self.seed,
        }
    }
}
