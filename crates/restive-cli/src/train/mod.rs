//! `restive train`: a study in, a model out.
//!
//! Everything that decides the outcome is resolved first and becomes the card of the model to be. Then the members of the
//! ensemble are trained one after the other, epoch by epoch, with a checkpoint beside the model; the same command, started
//! again after any interruption, ends in the same weights.

mod checkpoint;
pub(crate) mod config;
mod summary;

use crate::shared::display::counted;
use crate::shared::failure::{Usage, say_when_interrupted};
use crate::shared::prepare;
use crate::shared::progress::Progress;
use crate::shared::values::{discount, temperature};
use checkpoint::{Checkpoint, difference};
use clap::Args;
use config::{
    Objective, PrecisionArgument, PredictorName, Preset, Profile, ValueName, YesNo, above_zero, asked,
    dropout,
};
use restive::policy::Temperature;
use restive_pipeline::card::losses;
use restive_pipeline::{Progressed, Trained, Training};
use restive_tables::Study;
use restive_tables::model::{Card, Model};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use summary::{Outcome, epoch_line};

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
beliefs they lead to, and the decision is made by indices of labels; the effect model, which is fitted to moves, is refused.

Predictors: network (one hidden layer of 64 units) suits studies with many trajectories; effect, a logistic model in which \
a pull is a shrunken shift, suits few trajectories and few pulls; linear is the network without hidden layers.

MODEL becomes a folder: weights.safetensors and card.json, which says how features are encoded and how the model was \
trained. While training, MODEL.checkpoint is kept beside it: after an interruption of any kind the same command goes on \
from there and ends in the same weights, bit for bit.";

const EXAMPLES: &str = "\
Examples:
  restive train examples/study --predictor effect --drop district --out calls
  restive generate two-state --out synthetic --trajectories 10
  restive train synthetic --epochs 20 --out network
  restive train synthetic --objective decision-focused --epochs 20 --out focused
  restive train synthetic --profile published --ensemble 2 --seed 7 --out published --json";

/// Train a predictor of transitions from a study
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct TrainArguments {
    /// The folder of the study
    #[arg(value_name = "STUDY")]
    study: PathBuf,

    /// The folder to write the model to
    #[arg(short, long, value_name = "MODEL")]
    out: PathBuf,

    /// What training aims at
    #[arg(long, value_enum, default_value_t = Objective::TwoStage)]
    pub(crate) objective: Objective,

    /// What decision-focused training maximises [default: decomposed; published and paper: is]
    #[arg(long, value_enum)]
    pub(crate) value: Option<ValueName>,

    /// How far decision-focused training may go from the two-stage predictions it begins with [default: select]
    #[arg(long, value_enum)]
    pub(crate) preset: Option<Preset>,

    /// Discount of the index, from 0 to 1, for training through the decision and for plans with the model [default: 1 - 1/H
    /// with H the study's horizon; published and paper: 0.99]
    #[arg(long, value_parser = discount, allow_hyphen_values = true)]
    pub(crate) index_discount: Option<f64>,

    /// Softness of the policy that is trained through: spread:X (of the indices' standard deviation), published:X or
    /// absolute:X [default: spread:0.1; published and paper: published:0.1]
    #[arg(long, value_parser = temperature)]
    pub(crate) temperature: Option<Temperature>,

    /// What is trained
    #[arg(long, value_enum, default_value_t = PredictorName::Network)]
    pub(crate) predictor: PredictorName,

    /// Where the settings come from that are not given
    #[arg(long, value_enum, default_value_t = Profile::Recommended)]
    pub(crate) profile: Profile,

    /// Passes over the training instances, at most; presets that follow have their own [default: 50, where states are seen at pulls only 20 (paper: 18);
    /// recommended: about 7,000 steps in all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) epochs: Option<u32>,

    /// Step size of Adam; presets that follow have their own [default: 0.01, recommended: 0.003 to 0.03, falling to nearly 0]
    #[arg(long, value_name = "RATE", value_parser = above_zero, allow_hyphen_values = true)]
    pub(crate) learning_rate: Option<f64>,

    /// Units of each hidden layer of the network [default: 64]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) hidden: Option<Vec<u16>>,

    /// Share of hidden units left out at random in each step [default: 0, paper: 0.2]
    #[arg(long, value_name = "SHARE", value_parser = dropout, allow_hyphen_values = true)]
    pub(crate) dropout: Option<f64>,

    /// How firmly the effect model holds a pull to do the same for all arms: a number, or held-out to choose it (up to
    /// 300) on the validation part [default: 100]
    #[arg(long, value_name = "PRECISION", allow_hyphen_values = true)]
    pub(crate) precision: Option<PrecisionArgument>,

    /// Average that many fits, which differ in their seed; what the folds of the first one choose holds for all
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) ensemble: u32,

    /// Seed of the split, the initial weights and the dropout
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,

    /// Scale numeric features to mean 0 and standard deviation 1 [default: yes for effect, no for the others]
    #[arg(long, value_enum, value_name = "YES|NO", hide_possible_values = true)]
    pub(crate) standardise: Option<YesNo>,

    /// Features to leave out
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,

    /// Replace a model that is there, and a checkpoint of another training
    #[arg(long)]
    force: bool,

    /// Begin anew even where there is a checkpoint to go on from
    #[arg(long)]
    restart: bool,

    /// Print JSON lines: one per epoch, and a summary
    #[arg(long)]
    json: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

pub(crate) fn run(arguments: &TrainArguments) -> anyhow::Result<()> {
    let start = Instant::now();
    let asked = asked(arguments);
    asked.check()?;
    if arguments.out.file_name().is_none() {
        return Err(Usage(format!("--out {}: expected the name of a folder", arguments.out.display())).into());
    }
    prepare::threads(arguments.threads)?;
    let study = Study::read(&arguments.study)?;
    let training = Training::new(&study, &asked, &arguments.study.display().to_string())?;
    let card = &training.card;

    let mut checkpoint = Checkpoint::beside(&arguments.out);
    let (replace, finished) = existing(arguments, card)?;
    let outcome = |card: &Card, is_new| {
        Outcome::new(&arguments.out, card, training.warnings.clone(), start.elapsed(), is_new)
    };
    if let Some(Trained { ensemble, mut model }) = finished.filter(|_| !checkpoint.path().exists()) {
        model.card.history["loss"] = losses(&ensemble, &training.parts);
        return outcome(&model.card, false).print(arguments.json);
    }
    Model::check_folder(&arguments.out, replace)?;
    let progressed = match arguments.restart {
        true => None,
        false => match checkpoint.read(card) {
            Err(_) if arguments.force => None,
            found => found?,
        },
    };
    if let Some(found) = &progressed {
        let from = format!("restive: note: {}", checkpoint.path().display());
        match (found.members.len(), &found.now) {
            (done, _) if done == asked.ensemble => eprintln!("{from}: training is complete"),
            (done, now) => {
                let epochs = counted(now.as_ref().map_or(0, epochs) as u64, "epoch");
                eprintln!("{from}: going on after {epochs} of fit {}", done + 1);
            }
        }
    }
    let progressed = train(arguments, &training, progressed.unwrap_or_default(), &mut checkpoint)?;
    let model = training.model(progressed.members, progressed.histories);
    model.write(&arguments.out, replace)?;
    say_when_interrupted(format!("{} was written", arguments.out.display()));
    checkpoint.remove()?;
    outcome(&model.card, true).print(arguments.json)
}

/// Whether a folder of that name may be replaced, and the model in it where it is the outcome of this very command: one that
/// was killed after the model was in place has nothing left to do.
fn existing(arguments: &TrainArguments, card: &Card) -> anyhow::Result<(bool, Option<Trained>)> {
    let is_there = |path: &Path| path.join("card.json").exists();
    if arguments.force || arguments.restart || !is_there(&arguments.out) {
        return Ok((arguments.force, None));
    }
    match Trained::read(&arguments.out) {
        Ok(found) if difference(&found.model.card, card).is_none() => Ok((true, Some(found))),
        _ => Ok((false, None)),
    }
}

fn epochs(snapshot: &restive::training::Snapshot) -> usize {
    let histories = snapshot.numbers.iter().filter(|(name, _)| name.ends_with("history.train_loss"));
    histories.map(|(_, losses)| losses.len()).sum()
}

/// Trains what is left to train, with a checkpoint now and then and after every member.
fn train(
    arguments: &TrainArguments,
    training: &Training,
    progressed: Progressed,
    checkpoint: &mut Checkpoint,
) -> anyhow::Result<Progressed> {
    let progress = Progress::new("epochs");
    training.run(progressed, None, |step| -> anyhow::Result<()> {
        if let Some((stage, report)) = step.epoch.filter(|_| arguments.json) {
            crate::print(|text| writeln!(text, "{}", epoch_line(step.member, stage, &report)))?;
        }
        let Some(fit) = step.fit else { return checkpoint.write(&training.card, step.progressed) };
        progress.say(step.share, step.message);
        if checkpoint.is_due() && !fit.is_finished() {
            step.progressed.now = Some(fit.snapshot());
            checkpoint.write(&training.card, step.progressed)?;
        }
        Ok(())
    })
}
