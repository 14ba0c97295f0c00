//! What was kept of a recorded plan, laid out again as it was when the plan was made.
//!
//! Whoever makes a plan again, or asks what its model expected then, starts from these materials and never from the programme as
//! it is now: both may have changed since.

use crate::error::{Error, Result};
use crate::folder::Programme;
use crate::made::{
    AskedOnRecord, CALENDAR, MODEL, Materials, PEOPLE, STUDY, WORDS, When, fingerprint, model_fingerprint,
    worker,
};
use crate::store::{Lost, Store};
use crate::week::CONTROL;
use restive_ledger::{Plan, Reader};
use restive_pipeline::reasons::Words;
use restive_pipeline::{InTrial, PricingProgress, Rules, Trained};
use restive_tables::{Contacts, Study, show};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What a plan was made of, by name.
pub(crate) type Contents = BTreeMap<String, Vec<u8>>;

/// What a plan was made of, or what of it is lost, in words; an error if the system refuses to read it.
pub(crate) fn contents(programme: &Path, plan: &Plan) -> Result<std::result::Result<Contents, Vec<String>>> {
    let store = Store::of(programme);
    let mut contents = BTreeMap::new();
    let mut lost = Vec::new();
    for input in &plan.facts.inputs {
        match store.content(input)? {
            Ok(content) => _ = contents.insert(input.name.clone(), content),
            Err(why) => lost.push(format!(
                "{} {}",
                show::name(&input.name),
                match why {
                    Lost::Missing => "is missing",
                    Lost::Changed => "was changed",
                }
            )),
        }
    }
    Ok(if lost.is_empty() { Ok(contents) } else { Err(lost) })
}

impl Programme {
    /// The materials of a recorded plan.
    pub(crate) fn kept_materials(
        &self,
        reader: &Reader,
        plan: &Plan,
        contents: &Contents,
    ) -> Result<Materials> {
        let name = format!("plan {}", plan.id);
        let io = |answer| restive_tables::Error::Io {
            path: name.clone().into(),
            doing: "lay out what was kept of it",
            answer,
        };
        let folder = tempfile::tempdir().map_err(io)?;
        for (name, content) in contents {
            let Some((part, file)) = name.split_once('/') else { continue };
            // a file of the study or of the model, in a folder of its own and nowhere else
            if ![STUDY, MODEL].contains(&part)
                || Path::new(file).file_name().is_none_or(|plain| plain != file)
            {
                return Err(Error::Refused(format!(
                    "found the content {}, expected a file",
                    show::name(name)
                )));
            }
            fs::create_dir_all(folder.path().join(part)).map_err(io)?;
            fs::write(folder.path().join(part).join(file), content).map_err(io)?;
        }
        let content = |name: &str| -> Result<&[u8]> {
            let found = contents.get(name).map(Vec::as_slice);
            found.ok_or_else(|| Error::Refused(format!("found no {name} among what was kept, expected it")))
        };
        let json = |name: &str, error: serde_json::Error| {
            Error::Refused(format!("{name}: found something else ({error}), expected what was kept"))
        };
        let when: When = serde_json::from_slice(content(CALENDAR)?).map_err(|error| json(CALENDAR, error))?;
        let asked: AskedOnRecord =
            serde_json::from_str(&plan.facts.asked).map_err(|error| json("asked", error))?;
        let rules = Rules::parse(&self.rules_file(), &plan.facts.rules)?;
        let contacts = Contacts::from_json(Path::new(PEOPLE), content(PEOPLE)?)?;
        let worker = worker(&rules, &contacts)?;
        let words = contents.get(WORDS).map_or(&[][..], Vec::as_slice);
        let trial = match &plan.facts.trial {
            None => None,
            Some(id) => {
                let groups = reader.assigned(id)?.into_iter().map(|one| (one.arm, one.group)).collect();
                Some((id.clone(), InTrial { groups, control: CONTROL.into() }))
            }
        };
        let [study, model] = [STUDY, MODEL].map(|part| folder.path().join(part));
        Ok(Materials {
            study: Study::read(&study)?,
            trained: Trained::read(&model)?,
            names: [plan.facts.model.clone(), name.clone()],
            model: plan.facts.model.clone(),
            model_fingerprint: model_fingerprint(&model)?,
            contacts,
            worker,
            rules,
            words: match contents.contains_key(WORDS) {
                true => Words::from_text(Path::new(WORDS), &String::from_utf8_lossy(words))?,
                false => Words::default(),
            },
            words_fingerprint: fingerprint(words),
            when,
            asked,
            pricing: PricingProgress::default(),
            trial,
            made_at: plan.facts.made_at.clone(),
        })
    }
}
