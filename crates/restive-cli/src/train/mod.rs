//! `restive train`: a study in, a model out.
//!
//! Everything that decides the outcome is resolved first and becomes the card of the model to be. Then the members of the
//! ensemble are trained one after the other, epoch by epoch, with a checkpoint beside the model; the same command, started
//! again after any interruption, ends in the same weights.

mod arguments;
mod checkpoint;
mod summary;

use crate::shared::begin::use_threads;
use crate::shared::display::{counted, roughly};
use crate::shared::failure::Usage;
use crate::shared::progress::Progress;
use crate::shared::say;
use crate::shared::signals::say_when_interrupted;
pub(crate) use arguments::TrainArguments;
use checkpoint::{Anew, Checkpoint, difference};
use jiff::Zoned;
use restive_import::ImportedFolder;
use restive_pipeline::{FolderTraining, Progressed, Trained};
use restive_programme::{Lock, Programme};
use restive_tables::model::{Card, Model};
use std::path::{Path, PathBuf};
use std::time::Instant;
use summary::{Outcome, epoch_line};

/// Seconds of a training that are announced before it begins.
const WORTH_SAYING: f64 = 60.0;

pub(crate) fn run(arguments: &TrainArguments) -> anyhow::Result<()> {
    let start = Instant::now();
    let asked = arguments.asked();
    asked.check()?;
    // of a programme no second training writes the same checkpoint
    let (out, _lock) = &place(arguments)?;
    if out.file_name().is_none() {
        return Err(Usage(format!("--out {}: expected the name of a folder", out.display())).into());
    }
    use_threads(arguments.threads)?;
    let study_folder = Programme::study_in(&arguments.study)?;
    let origin = ImportedFolder::shown(&study_folder).display().to_string();
    let training = FolderTraining::new(&study_folder, &asked, &origin, say::note)?;
    training.warnings().iter().for_each(say::warning);
    let card = training.card();

    let mut checkpoint = Checkpoint::beside(out);
    let (replace, finished) = existing(arguments, out, card)?;
    let outcome =
        |card: &Card, is_new| Outcome::new(out, card, training.warnings().to_vec(), start.elapsed(), is_new);
    if let Some(Trained { ensemble, mut model }) = finished.filter(|_| !checkpoint.path().exists()) {
        model.card.history.loss = Some(training.losses(&ensemble)?);
        return outcome(&model.card, false).print(arguments.json);
    }
    Model::check_folder(out, replace)?;
    let anew = match (arguments.restart, arguments.force) {
        (true, _) => Anew::Always,
        (false, true) => Anew::IfOther,
        (false, false) => Anew::Never,
    };
    let progressed = checkpoint.find(card, anew)?;
    if let Some(found) = &progressed {
        let from = checkpoint.path().display();
        match (found.members.len(), &found.now) {
            (done, _) if done == asked.ensemble => say::note(format_args!("{from}: training is complete")),
            (done, now) => {
                let epochs = counted(now.as_ref().map_or(0, epochs) as u64, "epoch");
                say::note(format_args!("{from}: going on after {epochs} of fit {}", done + 1));
            }
        }
    }
    let estimate = training.estimate();
    if estimate > WORTH_SAYING {
        let about = roughly(estimate);
        say::note(format_args!("training will take about {about}, at most, from its beginning"));
    }
    let progressed = match train(arguments, &training, progressed.unwrap_or_default(), &mut checkpoint) {
        // what the data refute is not to be gone on with
        Err(refused) if refused.is::<restive_pipeline::Error>() => {
            checkpoint.remove()?;
            return Err(refused);
        }
        other => other?,
    };
    let model = training.model(progressed.members, progressed.histories)?;
    model.write(out, replace)?;
    say_when_interrupted(format!("{} was written", out.display()));
    checkpoint.remove()?;
    outcome(&model.card, true).print(arguments.json)
}

/// Where the model goes: of a programme among its models, which are locked, by the day.
fn place(arguments: &TrainArguments) -> anyhow::Result<(PathBuf, Option<Lock>)> {
    match &arguments.out {
        Some(out) => Ok((out.clone(), None)),
        None if Programme::is_one(&arguments.study) => {
            let programme = Programme::open(&arguments.study)?;
            let lock = programme.lock_models()?;
            Ok((programme.new_model(Zoned::now().date())?, Some(lock)))
        }
        None => Err(Usage("found no --out MODEL, expected the folder to write the model to".into()).into()),
    }
}

/// Whether a folder of that name may be replaced, and the model in it where it is the outcome of this very command: one that
/// was killed after the model was in place has nothing left to do.
fn existing(arguments: &TrainArguments, out: &Path, card: &Card) -> anyhow::Result<(bool, Option<Trained>)> {
    let is_there = |path: &Path| path.join("card.json").exists();
    if arguments.force || arguments.restart || !is_there(out) {
        return Ok((arguments.force, None));
    }
    match Trained::read(out) {
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
    training: &FolderTraining,
    progressed: Progressed,
    checkpoint: &mut Checkpoint,
) -> anyhow::Result<Progressed> {
    let progress = Progress::new("epochs");
    training.run(progressed, |step| -> anyhow::Result<()> {
        if let Some((stage, report)) = step.epoch.filter(|_| arguments.json) {
            say::print_json_line(&epoch_line(step.member, stage, &report))?;
        }
        if step.is_done {
            return checkpoint.write(training.card(), step.progressed);
        }
        progress.say(step.share, step.message);
        // of an effect model's fit there is nothing to go on from until it is done
        let resumable = step.fit.filter(|fit| !fit.is_finished() && fit.fitting().is_none());
        if let Some(fit) = resumable.filter(|_| checkpoint.is_due()) {
            step.progressed.now = Some(fit.snapshot());
            checkpoint.write(training.card(), step.progressed)?;
        }
        Ok(())
    })
}
