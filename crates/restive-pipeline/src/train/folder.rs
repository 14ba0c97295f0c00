//! The training of the study in a folder: of people in memory, or passing by where they are many and what is asked for allows it. Either
//! way it is the same model.

use super::passing::{Begun, PassingTraining};
use super::{Progressed, Step, Training};
use crate::asked::Asked;
use crate::card::losses;
use crate::error::{Error, Result};
use crate::message::Message;
use crate::plan::is_large;
use crate::prepare::{over_budget, say_over_budget};
use restive::predictor::{Ensemble, Predictor};
use restive_tables::model::history::{Losses, MemberHistory};
use restive_tables::model::{Card, Model};
use restive_tables::{Roll, Study};
use std::path::Path;

/// A training that could begin.
pub enum FolderTraining {
    /// of people in memory
    InMemory(Box<Training>),
    /// of people who pass by
    Passing(Box<PassingTraining>),
}

impl FolderTraining {
    /// Reads the study of a folder, resolves and checks what is asked for. `note` hears what should be known of the log, before anything
    /// is learnt from it; `origin` is what the card calls the study.
    pub fn new(folder: &Path, asked: &Asked, origin: &str, mut note: impl FnMut(String)) -> Result<Self> {
        asked.check()?;
        let mut is_noted = false;
        if PassingTraining::can_train(asked) && is_large(folder)? {
            let roll = Roll::read(folder)?;
            let over = roll.over_budget();
            over.map(|over| say_over_budget(over, roll.settings.budget)).into_iter().for_each(&mut note);
            is_noted = true;
            if let Begun::Passing(training) = PassingTraining::begin(roll, asked, origin)? {
                return Ok(Self::Passing(training));
            }
        }
        let study = Study::read(folder)?;
        over_budget(&study).into_iter().filter(|_| !is_noted).for_each(&mut note);
        Ok(Self::InMemory(Box::new(Training::new(&study, asked, origin)?)))
    }

    /// Of the model to be, without its history.
    pub fn card(&self) -> &Card {
        match self {
            Self::InMemory(training) => &training.card,
            Self::Passing(training) => &training.card,
        }
    }

    /// What should be known of the data.
    pub fn warnings(&self) -> &[Message] {
        match self {
            Self::InMemory(training) => &training.warnings,
            Self::Passing(training) => &training.warnings,
        }
    }

    /// About how many seconds the training will take at most.
    pub fn estimate(&self) -> f64 {
        match self {
            Self::InMemory(training) => training.estimate(),
            Self::Passing(training) => training.estimate(),
        }
    }

    /// Trains what is left to train; `visit` hears of every step.
    pub fn run<E: From<Error>>(
        &self,
        progressed: Progressed,
        visit: impl FnMut(Step<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<Progressed, E> {
        match self {
            Self::InMemory(training) => training.run(progressed, None, visit),
            Self::Passing(training) => training.run(progressed, None, visit),
        }
    }

    /// The model of the finished members.
    pub fn model(&self, members: Vec<Predictor>, histories: Vec<MemberHistory>) -> Result<Model> {
        match self {
            Self::InMemory(training) => Ok(training.model(members, histories)),
            Self::Passing(training) => training.model(members, histories),
        }
    }

    /// The losses of the three parts under an ensemble.
    pub fn losses(&self, ensemble: &Ensemble) -> Result<Losses> {
        match self {
            Self::InMemory(training) => Ok(losses(ensemble, &training.parts)),
            Self::Passing(training) => training.losses(ensemble),
        }
    }
}
