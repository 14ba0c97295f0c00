//! What commands begin with: threads, the model and the study, the place of the answer.

use crate::shared::failure::Usage;
use anyhow::Context;
use restive_import::ImportedFolder;
use restive_pipeline::{Applied, Trained};
use restive_programme::Programme;
use restive_tables::{Format, Model, Own, Study, check_file, refuse_input};
use std::path::{Path, PathBuf};

/// Computes with that many threads; the default is one per core, or what the environment says.
pub(crate) fn use_threads(threads: Option<u16>) -> anyhow::Result<()> {
    if let Some(threads) = threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().with_context(|| format!("--threads {threads}"))?;
    }
    Ok(())
}

/// The folders of a model and a study: as they are, or those of a programme, where there is no study.
pub(crate) fn model_and_study(first: &Path, study: Option<&Path>) -> anyhow::Result<(PathBuf, PathBuf)> {
    match study {
        Some(study) => Ok((first.into(), Programme::study_in(study)?)),
        None if first.join("card.json").exists() => {
            let message = format!("{}: found a model and no STUDY, expected both", first.display());
            Err(Usage(message).into())
        }
        None => {
            let [model, study] = Programme::open(first)?.to_judge()?;
            Ok((model, study))
        }
    }
}

/// Refuses the folder of a study where that of a model is expected.
pub(crate) fn refuse_study(model: &Path) -> anyhow::Result<()> {
    if model.join("study.toml").exists() && !model.join("card.json").exists() {
        let message = format!(
            "{}: found a study, expected the folder of a model: MODEL comes before STUDY",
            model.display()
        );
        return Err(Usage(message).into());
    }
    Ok(())
}

/// A model, from its folder.
pub(crate) fn read_model(model: &Path) -> anyhow::Result<Trained> {
    refuse_study(model)?;
    Ok(Trained::read(model)?)
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
        let names = [model, ImportedFolder::shown(study)].map(|folder| folder.display().to_string());
        Ok(Self { trained: read_model(model)?, study: Study::read(study)?, names })
    }

    /// What the study is called, or its folder.
    pub(crate) fn name(&self) -> String {
        self.study.settings.name.clone().unwrap_or_else(|| self.names[1].clone())
    }

    /// The study seen through the model.
    pub(crate) fn applied(&self) -> restive_pipeline::Result<Applied<'_>> {
        Applied::new(&self.trained, &self.study, &self.names[0], &self.names[1])
    }
}

/// Refuses, before any work is done, an output that is no table, that is a file of the model or the study, or that cannot be
/// written; what `replace` recognises may be there.
pub(crate) fn check_table(
    out: &Path,
    replace: Option<Own>,
    model: &Path,
    study: &Path,
) -> restive_tables::Result<()> {
    Format::of_table(out)?;
    refuse_input(out, model, &Model::FILES)?;
    refuse_input(out, study, &Study::FILES)?;
    check_file(out, replace)
}
