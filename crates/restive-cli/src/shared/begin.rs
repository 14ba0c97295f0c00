//! What commands begin with: threads, the model and the study, the place of the answer.

use crate::shared::failure::Usage;
use anyhow::Context;
use restive_pipeline::{Applied, Trained};
use restive_tables::{Format, Study};
use std::path::Path;

/// Computes with that many threads; the default is one per core, or what the environment says.
pub(crate) fn use_threads(threads: Option<u16>) -> anyhow::Result<()> {
    if let Some(threads) = threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().with_context(|| format!("--threads {threads}"))?;
    }
    Ok(())
}

/// A model and a study, from their folders.
pub(crate) struct ModelAndStudy {
    trained: Trained,
    study: Study,
    /// of both, for messages
    names: [String; 2],
}

impl ModelAndStudy {
    pub(crate) fn read(model: &Path, study: &Path) -> anyhow::Result<Self> {
        if model.join("study.toml").exists() && !model.join("card.json").exists() {
            let message = format!(
                "{}: found a study, expected the folder of a model: MODEL comes before STUDY",
                model.display()
            );
            return Err(Usage(message).into());
        }
        let names = [model, study].map(|folder| folder.display().to_string());
        Ok(Self { trained: Trained::read(model)?, study: Study::read(study)?, names })
    }

    /// The study seen through the model.
    pub(crate) fn applied(&self) -> restive_pipeline::Result<Applied<'_>> {
        Applied::new(&self.trained, &self.study, &self.names[0], &self.names[1])
    }
}

/// Refuses an output that is no table, before any work is done.
pub(crate) fn refuse_other_than_tables(out: Option<&Path>) -> anyhow::Result<()> {
    out.map(Format::of_table).transpose()?;
    Ok(())
}
