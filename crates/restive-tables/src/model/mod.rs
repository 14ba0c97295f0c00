//! A model on disk: named arrays of numbers, and a card that says what they are.
//!
//! A [`Model`] is a folder with `weights.safetensors` (float64 arrays) and `card.json` ([`Card`]); it appears when it is
//! complete. A *checkpoint* is the same in one file, the card in the header of the arrays, and replaces the one before it in
//! one step: whoever is interrupted at any instant finds the old or the new one, whole.
//!
//! `refusal.json` in the folder, if present, is a refusal that an evaluation found ([`Model::refuse`]).
//!
//! Nothing in these files is ever executed. What is read is checked: schema, shapes, finite numbers, and that the weights are
//! those that the card was written for, by their hash.
//!
//! ```no_run
//! use restive_tables::model::Model;
//!
//! let model = Model::read("model".as_ref())?;
//! println!("{} on {}", model.card.configuration.predictor, model.card.notes);
//! model.write("copy".as_ref(), false)?;
//! # Ok::<(), restive_tables::Error>(())
//! ```

mod card;
pub mod configuration;
pub mod history;
mod identification;
pub mod own_record;
mod reference;
mod weights;

pub use card::{Card, PredictorCard, SCHEMA, WrittenPredictor};
pub use configuration::Configuration;
pub use history::History;
pub use identification::Identification;
pub use own_record::OwnRecord;
pub use weights::Weights;

use crate::error::{Error, Result};
use crate::own::recognise_names;
use crate::read::whole::read_whole;
use crate::show;
use crate::study::fingerprint::of_bytes;
use crate::write::draft::Draft;
use crate::write::folder::FolderDraft;
use card::RawCard;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

const CARD: &str = "card.json";
const WEIGHTS: &str = "weights.safetensors";
/// The key of the card in the header of a checkpoint.
const CARD_KEY: &str = "card";

/// A trained predictor, as plain data.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// what it is
    pub card: Card,
    /// its arrays; sorted by name once they have been read
    pub weights: Weights,
}

impl Model {
    /// The files of a model.
    pub const FILES: [&str; 2] = [CARD, WEIGHTS];
    /// File that [`Model::refuse`] writes into the folder of a model.
    pub const REFUSAL: &str = identification::REFUSAL;

    /// Writes the model into a folder. One that holds files is refused, or replaced where `replace` is set and it
    /// [is](Self::recognise) a model.
    pub fn write(&self, folder: &Path, replace: bool) -> Result<()> {
        let draft = FolderDraft::create(folder, replace.then_some(Self::recognise))?;
        let bytes = weights::serialise(&folder.join(WEIGHTS), &self.weights, None)?;
        let card = RawCard::new(&self.card, Some(of_bytes(&bytes)));
        fs::write(draft.file(WEIGHTS), bytes).map_err(draft.refused(WEIGHTS))?;
        let mut text = serde_json::to_string_pretty(&card).expect("plain values");
        text.push('\n');
        fs::write(draft.file(CARD), text).map_err(draft.refused(CARD))?;
        draft.put_in_place()
    }

    /// Whether a model could be written into the folder, before there is one: says what [`Model::write`] would.
    pub fn check_folder(folder: &Path, replace: bool) -> Result<()> {
        FolderDraft::check(folder, replace.then_some(Self::recognise))
    }

    /// Refuses a folder that is not a model and nothing else: its card must be the card of a model.
    pub fn recognise(folder: &Path) -> Result<()> {
        recognise_names(folder, &[CARD, WEIGHTS, Self::REFUSAL], &[])?;
        let path = folder.join(CARD);
        parse(&path, &fs::read(&path).map_err(Error::io(&path, "open"))?).map(drop)
    }

    /// Writes into the folder of a model that an evaluation refuses its effects of calls. [`Model::read`] puts the refusal on the card,
    /// until the model is replaced.
    pub fn refuse(folder: &Path, refusal: &Identification) -> Result<()> {
        refusal.write(folder)
    }

    /// Refusal in the folder of a model; `None` if the folder has no refusal, or does not exist.
    pub fn refusal(folder: &Path) -> Result<Option<Identification>> {
        Identification::read(folder)
    }

    /// Reads and checks a model. Its card has the refusal of an evaluation, if the folder contains one.
    pub fn read(folder: &Path) -> Result<Self> {
        let bytes = |name: &str| read_whole(&folder.join(name));
        let (mut card, expected) = parse(&folder.join(CARD), &bytes(CARD)?)?;
        if let Some(refusal) = Identification::read(folder)? {
            card.identification = refusal;
        }
        let (path, bytes) = (folder.join(WEIGHTS), bytes(WEIGHTS)?);
        let (weights, _) = weights::deserialise(&path, &bytes)?;
        let found = of_bytes(&bytes);
        match expected {
            Some(expected) if expected == found => Ok(Self { card, weights }),
            Some(expected) => {
                let expected =
                    format!("{expected}, as {CARD} says: one of the two files is not of this model");
                Err(Error::content(&path, "", format!("weights with the hash {found}"), expected))
            }
            None => Err(Error::content(&folder.join(CARD), "weights", "nothing", "the hash of the weights")),
        }
    }

    /// The numbers of an array of that name and shape; an error where there is none or it has another shape.
    pub fn array(&self, name: &str, shape: &[usize]) -> Result<&[f64]> {
        let refuse = |found: String| {
            let place = format!("array {}", show::name(name));
            Err(Error::content(Path::new(WEIGHTS), place, found, format!("an array of shape {shape:?}")))
        };
        match self.weights.iter().find(|(there, ..)| there == name) {
            None => refuse("none".into()),
            Some((_, found, _)) if found != shape => refuse(format!("shape {found:?}")),
            Some((_, _, values)) => Ok(values),
        }
    }

    /// Writes the model as a checkpoint; one that is there is refused, or replaced where `replace` is set and it
    /// [is](Self::recognise_checkpoint) a checkpoint.
    pub fn write_checkpoint(&self, path: &Path, replace: bool) -> Result<()> {
        let bytes = self.to_bytes(path)?;
        let mut draft = Draft::create(path, replace.then_some(Self::recognise_checkpoint))?;
        draft.write(&bytes)?;
        Draft::put_in_place(vec![draft])
    }

    /// Refuses a file that is no checkpoint: the header of its arrays must hold the card of a model.
    pub fn recognise_checkpoint(path: &Path) -> Result<()> {
        let card = weights::read_header(path)?.remove(CARD_KEY);
        parse(path, Self::card_of_checkpoint(path, card)?.as_bytes()).map(drop)
    }

    fn card_of_checkpoint(path: &Path, card: Option<String>) -> Result<String> {
        card.ok_or_else(|| Error::content(path, "", "no card", "a checkpoint of restive"))
    }

    /// Reads and checks a checkpoint.
    pub fn read_checkpoint(path: &Path) -> Result<Self> {
        Self::from_bytes(path, &read_whole(path)?)
    }

    /// The model in one piece, to be sent; `path` is what messages call it.
    pub fn to_bytes(&self, path: &Path) -> Result<Vec<u8>> {
        let text = serde_json::to_string(&RawCard::new(&self.card, None)).expect("plain values");
        let header = HashMap::from([(CARD_KEY.to_string(), text)]);
        weights::serialise(path, &self.weights, Some(header))
    }

    /// And back.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        let (weights, mut header) = weights::deserialise(path, bytes)?;
        let card = Self::card_of_checkpoint(path, header.remove(CARD_KEY))?;
        Ok(Self { card: parse(path, card.as_bytes())?.0, weights })
    }
}

fn parse(path: &Path, text: &[u8]) -> Result<(Card, Option<String>)> {
    card::parse(text).map_err(|(found, expected)| Error::content(path, "", found, expected))
}
