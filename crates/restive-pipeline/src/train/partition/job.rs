//! What a worker needs for one pass, as bytes, and what it makes of a batch.

use super::part::{Judged, Surveyed, TrainPart};
use crate::error::{Result, refuse};
use crate::loss::minus_log;
use crate::model::Trained;
use crate::nothing::GROUPS;
use crate::passing::refuse_unsupported;
use arrow_array::RecordBatch;
use ndarray::{Array4, ArrayView3, Axis};
use restive::bytes::{Reader, Writer};
use restive::data::encoding::Encoding;
use restive::data::split::{Part, keyed_part};
use restive::instance::Observation;
use restive::predictor::logistic::{Question, Sums};
use restive_tables::model::{Card, Model};
use restive_tables::{PeopleColumns, PeoplePiece, StudySettings, arm_key};
use std::path::Path;

const NAME: &str = "train job 1";
const SETTINGS: &str = "study.toml";
const MODEL: &str = "the model";

/// One pass of a training of partitions.
pub struct TrainJob {
    settings: StudySettings,
    settings_text: String,
    seed: u64,
    pub(super) stage: Stage,
}

/// What is asked in a pass.
pub(super) enum Stage {
    Survey,
    /// the card has the encoding
    Question {
        card: Box<Card>,
        question: Box<Question>,
    },
    Judge {
        trained: Box<Trained>,
        frequencies: Vec<f64>,
    },
}

impl TrainJob {
    pub(super) fn new(settings_text: &str, seed: u64, stage: Stage) -> Result<Self> {
        let settings = StudySettings::from_text(Path::new(SETTINGS), settings_text)?;
        if settings.observation != Observation::Full {
            refuse!(
                "study.toml: found states that are seen at pulls only, expected states seen at every step: a table of people has no labels"
            );
        }
        refuse_unsupported(&settings)?;
        Ok(Self { settings, settings_text: settings_text.into(), seed, stage })
    }

    /// As bytes, to be sent to partitions.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut writer = Writer::new(NAME);
        writer.text(&self.settings_text);
        writer.whole(self.seed);
        match &self.stage {
            Stage::Survey => writer.whole(0),
            Stage::Question { card, question } => {
                writer.whole(1);
                let untrained = Model { card: (**card).clone(), weights: Vec::new() };
                writer.bytes(&untrained.to_bytes(Path::new(MODEL))?);
                writer.bytes(&question.to_bytes());
            }
            Stage::Judge { trained, frequencies } => {
                writer.whole(2);
                writer.bytes(&trained.model.to_bytes(Path::new(MODEL))?);
                writer.numbers(frequencies);
            }
        }
        Ok(writer.finish())
    }

    /// And back.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(NAME, bytes)?;
        let (settings, seed) = (reader.text()?, reader.whole()?);
        let stage = match reader.whole()? {
            0 => Stage::Survey,
            1 => {
                let card = Model::from_bytes(Path::new(MODEL), reader.bytes()?)?.card;
                let question = Question::from_bytes(reader.bytes()?)?;
                Stage::Question { card: Box::new(card), question: Box::new(question) }
            }
            2 => {
                let model = Model::from_bytes(Path::new(MODEL), reader.bytes()?)?;
                Stage::Judge { trained: Box::new(Trained::new(model)?), frequencies: reader.numbers()? }
            }
            _ => return Err(reader.refuse("a pass that is none").into()),
        };
        reader.finish()?;
        Self::new(&settings, seed, stage)
    }

    /// Nobody yet.
    pub fn begin(&self) -> TrainPart {
        match &self.stage {
            Stage::Survey => TrainPart::Survey(Surveyed::new(self.settings.reward.states())),
            Stage::Question { question, .. } => TrainPart::Sums(Sums::new(question)),
            Stage::Judge { .. } => TrainPart::Judged(Judged::default()),
        }
    }

    /// Adds the people of a batch.
    pub fn take(&self, part: &mut TrainPart, batch: &RecordBatch) -> Result<()> {
        let features: Option<Vec<String>> = match &self.stage {
            Stage::Survey => None,
            Stage::Question { card, .. } => Some(names(&card.encoding)),
            Stage::Judge { trained, .. } => Some(names(&trained.model.card.encoding)),
        };
        let wanted = PeopleColumns {
            states: self.settings.reward.states(),
            features: features.as_deref(),
            text: &self.settings.text,
            beside: &[],
        };
        for piece in PeoplePiece::read(batch, &wanted)? {
            let Some(moves) = &piece.moves else {
                refuse!(
                    "people: found no columns moves_S_A_NEXT, expected them: a training learns from moves"
                );
            };
            let of: Vec<Part> = match &piece.split {
                Some(parts) => parts.clone(),
                None => piece
                    .arms
                    .iter()
                    .map(|arm| keyed_part(self.seed, arm_key(&piece.instance, arm)))
                    .collect(),
            };
            self.take_piece(part, &piece, moves, &of)?;
        }
        Ok(())
    }

    fn take_piece(
        &self,
        part: &mut TrainPart,
        piece: &PeoplePiece,
        moves: &Array4<f64>,
        of: &[Part],
    ) -> Result<()> {
        let some = |part: Part| -> Vec<usize> { (0..of.len()).filter(|i| of[*i] == part).collect() };
        match (part, &self.stage) {
            (TrainPart::Survey(all), Stage::Survey) => all.add(piece, moves, of),
            (TrainPart::Sums(sums), Stage::Question { card, question }) => {
                let features = piece.encode(&card.encoding)?;
                let arms = |part: Part| {
                    let arms = some(part);
                    (features.select(Axis(0), &arms), moves.select(Axis(0), &arms))
                };
                let (train, counts) = arms(Part::Train);
                sums.add(question, train.view(), counts.view());
                if question.asks_held_out() {
                    let (held_out, counts) = arms(Part::Validation);
                    sums.add_held_out(question, held_out.view(), counts.view());
                }
                Ok(())
            }
            (TrainPart::Judged(all), Stage::Judge { trained, frequencies }) => {
                let features = piece.encode(&trained.model.card.encoding)?;
                let p = trained.ensemble.predict(features.view());
                let m = self.settings.reward.states();
                let Ok(bare) = ArrayView3::from_shape((m, 2, m), frequencies) else {
                    refuse!("frequencies: found {} numbers, expected those of {m} states", frequencies.len());
                };
                for (i, part) in of.iter().enumerate() {
                    let counts = moves.index_axis(Axis(0), i);
                    let loss = minus_log(counts, p.index_axis(Axis(0), i));
                    let group = (arm_key(&piece.instance, &piece.arms[i]) % GROUPS as u64) as usize;
                    let frequencies = minus_log(counts, bare);
                    all.add(&piece.instance, *part, group, [loss, frequencies, counts.sum()]);
                }
                Ok(())
            }
            _ => refuse!("training: found the answer to another pass, expected one to this"),
        }
    }
}

fn names(encoding: &Encoding) -> Vec<String> {
    encoding.columns.iter().map(|column| column.name.clone()).collect()
}
