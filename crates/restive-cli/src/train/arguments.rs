//! What `restive train` may be asked. The options of training itself are described in the pipeline.

use crate::shared::values::{choice, temperature, threads, yes_or_no};
use clap::Args;
use restive::policy::Temperature;
use restive::predictor::Precision;
use restive_pipeline::options::{
    self, DROPOUT, ENSEMBLE, EPOCHS, HIDDEN, INDEX_DISCOUNT, LEARNING_RATE, PRECISION,
};
use restive_pipeline::{Asked, Objective, PredictorName, Preset, Profile, ValueName, precision};
use std::path::PathBuf;

const ABOUT: &str = "\
Train a predictor of transitions from the features and trajectories of a study.

Two-stage training fits the transitions by their likelihood; planning with them comes afterwards. Decision-focused \
training maximises the value of the plan that the transitions lead to: it begins where two-stage training ends, and where \
it does not prove better on folds of the training arms the answer is \"two-stage is enough\", and the two-stage predictor. \
With --profile published it is the paper's, from scratch and without selection.

The arms in the training \
part are learnt from, those in the validation part say when to stop, those in the test part are only measured. A column \
split of the study says which is which; otherwise instances (the arms of fewer than three instances) are dealt 70/10/20 at \
random by the seed.

Where the study sees states at pulls only (observation = \"collapsing\"), transitions are fitted to what pulls saw, through the \
beliefs they lead to, and the decision is made by indices of labels; the effect and hierarchical models, which are fitted to moves, are refused.

Predictors: auto, the default, fits a hierarchical model and networks in folds of the training arms; what these folds say of arms \
that no fit has seen decides which of them is the answer, or how they are weighed. By name: network (one hidden layer of 64 units) \
suits studies with many trajectories; effect, a logistic model in which a pull is a shrunken shift, suits few trajectories and few \
pulls; hierarchical lies between effect and linear; linear is the network without hidden layers. A model that predicts held-out arms \
worse than the bare frequencies of moves is not written. Networks take a step for each instance; of an instance with more than 20,000 training arms a step takes 4,096 of them (minibatches, in an order drawn for every epoch).

MODEL becomes a folder: weights.safetensors and card.json, which says how features are encoded and how the model was \
trained. While training, MODEL.checkpoint is kept beside it: after an interruption of any kind the same command goes on \
from there and ends in the same weights, bit for bit. Of a study of more than 100,000 people the effect and hierarchical models \
are trained in bounded memory: features pass by, once for each step of the fit, and the model is the same but for rounding (1e-9); other predictors, and more encoded \
features than a step can be solved with, need everybody in memory. A training that will take more than a minute says so before it begins.";

const EXAMPLES: &str = "\
Examples:
  restive train examples/study --drop district --out calls
  restive train examples/study --predictor effect --drop district --out effect
  restive generate two-state --out synthetic --trajectories 10
  restive train synthetic --epochs 20 --out network
  restive train programme
  restive train synthetic --objective decision-focused --epochs 20 --out focused
  restive train synthetic --profile published --ensemble 2 --seed 7 --out published --json";

/// Train a predictor of transitions from a study
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct TrainArguments {
    /// The folder of the study, or of a programme
    #[arg(value_name = "STUDY|PROGRAMME")]
    pub(super) study: PathBuf,

    /// The folder to write the model to [default, of a programme: models/ and the day]
    #[arg(short, long, value_name = "MODEL")]
    pub(super) out: Option<PathBuf>,

    #[arg(long, help = options::OBJECTIVE.sentence, default_value_t = Asked::default().objective)]
    #[arg(value_parser = choice::<Objective>(Objective::described()))]
    objective: Objective,

    #[arg(long, help = options::VALUE.sentence, value_parser = choice::<ValueName>(ValueName::described()))]
    value: Option<ValueName>,

    #[arg(long, help = options::PRESET.sentence, value_parser = choice::<Preset>(Preset::described()))]
    preset: Option<Preset>,

    #[arg(long, help = INDEX_DISCOUNT.option.sentence, value_parser = |text: &str| INDEX_DISCOUNT.parse(text))]
    #[arg(allow_hyphen_values = true)]
    index_discount: Option<f64>,

    #[arg(long, help = options::TEMPERATURE.sentence, value_parser = temperature)]
    temperature: Option<Temperature>,

    #[arg(long, help = options::PREDICTOR.sentence)]
    #[arg(value_parser = choice::<PredictorName>(PredictorName::described()))]
    predictor: Option<PredictorName>,

    #[arg(long, help = options::PROFILE.sentence, default_value_t = Asked::default().profile)]
    #[arg(value_parser = choice::<Profile>(Profile::described()))]
    profile: Profile,

    #[arg(long, value_name = "N", help = EPOCHS.option.sentence, value_parser = |text: &str| EPOCHS.parse(text))]
    epochs: Option<usize>,

    #[arg(long, value_name = "RATE", help = LEARNING_RATE.option.sentence, allow_hyphen_values = true)]
    #[arg(value_parser = |text: &str| LEARNING_RATE.parse(text))]
    learning_rate: Option<f64>,

    #[arg(long, value_name = "N,…", help = HIDDEN.option.sentence, value_delimiter = ',')]
    #[arg(value_parser = |text: &str| HIDDEN.parse(text))]
    hidden: Option<Vec<usize>>,

    #[arg(long, value_name = "SHARE", help = DROPOUT.option.sentence, allow_hyphen_values = true)]
    #[arg(value_parser = |text: &str| DROPOUT.parse(text))]
    dropout: Option<f64>,

    #[arg(long, value_name = "PRECISION", help = PRECISION.option.sentence, allow_hyphen_values = true)]
    #[arg(value_parser = precision)]
    precision: Option<Precision>,

    #[arg(long, value_name = "N", help = ENSEMBLE.option.sentence, default_value_t = Asked::default().ensemble)]
    #[arg(value_parser = |text: &str| ENSEMBLE.parse(text))]
    ensemble: usize,

    #[arg(long, help = options::SEED.sentence, default_value_t = Asked::default().seed)]
    seed: u64,

    #[arg(long, value_name = "YES|NO", help = options::STANDARDISE.sentence, value_parser = yes_or_no)]
    standardise: Option<bool>,

    #[arg(long, value_name = "COLUMN,…", help = options::DROP.sentence, value_delimiter = ',')]
    drop: Vec<String>,

    /// Replace a model that is there, and a checkpoint of another training
    #[arg(long)]
    pub(super) force: bool,

    /// Begin anew even where there is a checkpoint to go on from
    #[arg(long)]
    pub(super) restart: bool,

    /// Print JSON lines: one per epoch, and a summary
    #[arg(long)]
    pub(super) json: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = threads())]
    pub(super) threads: Option<u16>,
}

impl TrainArguments {
    /// What the training is asked for.
    pub(super) fn asked(&self) -> Asked {
        Asked {
            objective: self.objective,
            value: self.value,
            preset: self.preset,
            index_discount: self.index_discount,
            temperature: self.temperature,
            predictor: self.predictor,
            profile: self.profile,
            epochs: self.epochs,
            learning_rate: self.learning_rate,
            hidden: self.hidden.clone(),
            dropout: self.dropout,
            precision: self.precision,
            ensemble: self.ensemble,
            seed: self.seed,
            standardise: self.standardise,
            drop: self.drop.clone(),
        }
    }
}
