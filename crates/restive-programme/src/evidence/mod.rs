//! Evaluation of a model's ranking by the effects of past calls, with an entry in the evaluation log of the study and a page.
//!
//! | file | what happens there |
//! |---|---|
//! | `page` | the answers, the picture, the table, in the library's words or in people's |

mod page;

pub use page::{Terms, page};

use crate::error::{Error, Result};
use crate::folder::Programme;
use crate::made::model_fingerprint;
use restive_import::ImportedFolder;
use restive_pipeline::identification::store_refusal;
use restive_pipeline::{Applied, EstimatorsName, EvaluateAsked, Evaluated, FoldProgress, Outcome, Trained};
use restive_tables::{Looks, Study};
use std::path::{Path, PathBuf};

/// Result of the evaluation of a model on a study.
#[derive(Debug)]
pub struct Judged {
    /// Scores and evidence.
    pub evaluated: Evaluated,
    /// what the study is called, or its folder
    pub study: String,
    /// what tells the study from any other
    pub study_fingerprint: String,
    /// what tells the model from any other
    pub model_fingerprint: String,
    /// Records that could not be written, with the cause and the consequence: the entry in the evaluation log, or the refusal of the model.
    pub notes: Vec<String>,
}

/// Judges a model on a study, from their folders. `visit` hears how it goes, and may end it.
pub fn judge<E: From<Error>>(
    [model, study_folder]: [&Path; 2],
    asked: &EvaluateAsked,
    mut visit: impl FnMut(FoldProgress) -> std::result::Result<(), E>,
) -> std::result::Result<Judged, E> {
    let (trained, study) = read(model, study_folder)?;
    let names = [model, ImportedFolder::shown(study_folder)].map(|folder| folder.display().to_string());
    let is_judged = asked.estimators == EstimatorsName::Judged;
    let mut looks = is_judged.then(|| Looks::read(study_folder)).transpose().map_err(Error::from)?;
    let applied = Applied::new(&trained, &study, &names[0], &names[1]).map_err(Error::from)?;
    let mut ended = None;
    let evaluated = applied.evaluate(asked, looks.as_mut(), |progress| {
        visit(progress).map_err(|error| {
            ended = Some(error);
            Error::Refused(String::new())
        })
    });
    let evaluated = match (evaluated, ended) {
        (_, Some(error)) => return Err(error),
        (evaluated, None) => evaluated?,
    };
    let uncounted = match (&looks, &evaluated.evidence) {
        (Some(looks), Some(Outcome::Answer(_))) => written_down(looks, study_folder),
        _ => None,
    };
    let unrecorded = evaluated.refusal.as_ref().and_then(|refusal| store_refusal(model, refusal));
    Ok(Judged {
        evaluated,
        study_fingerprint: study.fingerprint(),
        model_fingerprint: model_fingerprint(model)?,
        study: study.settings.name.unwrap_or_else(|| names[1].clone()),
        notes: uncounted.into_iter().chain(unrecorded).collect(),
    })
}

fn read(model: &Path, study: &Path) -> Result<(Trained, Study)> {
    Ok((Trained::read(model)?, Study::read(study)?))
}

/// Writes the evaluation log; returns a note if writing fails, because the answer is valid without the entry.
pub fn written_down(looks: &Looks, study: &Path) -> Option<String> {
    let refused = looks.write(study).err()?;
    Some(format!("this look at the study is not counted, later ones will know nothing of it: {refused}"))
}

impl Programme {
    /// Folders of the current model and of the study: the defaults of an evaluation.
    pub fn to_judge(&self) -> Result<[PathBuf; 2]> {
        Ok([self.model(None, &self.rules()?)?.folder, self.study()])
    }
}
