//! What commands do first: threads, the model and the study, the place of the answer.

use crate::shared::failure::Usage;
use anyhow::Context;
use restive_pipeline::{Applied, Trained};
use restive_tables::{Format, Study};
use std::path::Path;

/// Computes with that many threads; the default is one per core.
pub(crate) fn threads(threads: Option<u16>) -> anyhow::Result<()> {
    if let Some(threads) = threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().with_context(|| format!("--threads {threads}"))?;
    }
    Ok(())
}

/// A study seen through a model, from their folders.
pub(crate) fn applied(model_folder: &Path, study_folder: &Path) -> anyhow::Result<Applied> {
    if model_folder.join("study.toml").exists() && !model_folder.join("card.json").exists() {
        let message = format!(
            "{}: found a study, expected the folder of a model: MODEL comes before STUDY",
            model_folder.display()
        );
        return Err(Usage(message).into());
    }
    let trained = Trained::read(model_folder)?;
    let study = Study::read(study_folder)?;
    let [model_name, study_name] = [model_folder, study_folder].map(|folder| folder.display().to_string());
    Ok(Applied::new(trained, study, &model_name, &study_name)?)
}

/// Refuses an output that is no table, before any work is done.
pub(crate) fn refuse_other_than_tables(out: Option<&Path>) -> anyhow::Result<()> {
    out.map(Format::of_table).transpose()?;
    Ok(())
}
