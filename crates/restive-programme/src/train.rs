//! A new model of a programme, by the library's own recipe or by what is asked for.
//!
//! It is the model that `restive train PROGRAMME` makes, number for number, without the checkpoints of a training that a signal may end: what is
//! interrupted here has written nothing. A training that the command line was interrupted in keeps its name and its checkpoint.

use crate::error::{Error, Result};
use crate::folder::{ModelEntry, Programme};
use jiff::civil::Date;
use restive_pipeline::{Asked, FolderTraining, Message, Progressed};

/// A model that was trained.
#[derive(Debug, Clone)]
pub struct NewModel {
    /// where it is
    pub entry: ModelEntry,
    /// what should be known of the data and of the training
    pub warnings: Vec<Message>,
}

impl Programme {
    /// Trains a model, which is the newest from then on; `progress` hears the share that is done, and what is being done.
    pub fn train(&self, asked: &Asked, today: Date, mut progress: impl FnMut(f64, &str)) -> Result<NewModel> {
        let _lock = self.lock_models()?;
        let out = self.free_model(today)?;
        let study = self.study();
        let training = FolderTraining::new(&study, asked, &self.folder().display().to_string(), |_| {})?;
        let done = training.run(Progressed::default(), |step| {
            progress(step.share, &step.message);
            Ok::<_, restive_pipeline::Error>(())
        })?;
        let model = training.model(done.members, done.histories)?;
        model.write(&out, false)?;
        let mut warnings = training.warnings().to_vec();
        warnings.extend(restive_pipeline::card::warnings(&model.card));
        let entry = self.models()?.into_iter().find(|entry| entry.folder == out);
        let entry = entry.ok_or_else(|| Error::Refused("found no model where one was written".into()))?;
        Ok(NewModel { entry, warnings })
    }
}
