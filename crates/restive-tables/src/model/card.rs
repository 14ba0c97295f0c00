//! The card of a model: what it is, where it comes from, how its inputs are made.
//!
//! JSON, every part of it typed: a card of another [version](SCHEMA), with a key too many or too few, or with a word that is
//! unknown, is refused with what was found. What belongs to a room of the library that knows no files ([`Encoding`],
//! [`Architecture`]) is translated here, and the encoding is checked, because a model must not be used on features encoded
//! otherwise.

use super::configuration::Configuration;
use super::history::History;
use super::identification::Identification;
use super::own_record::OwnRecord;
use super::reference;
use crate::show::{name, quoted_name, sentence};
use restive::data::encoding::{ColumnKind, EncodedColumn, Encoding, Standardise};
use restive::data::reference::Reference;
use restive::predictor::{Architecture, BaseKind, Penalties, Precision, PredictorKind, Scaling};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of the files of a model that this version of restive reads and writes.
pub const SCHEMA: u32 = 1;

/// What a model says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// the version of restive that wrote it
    pub restive: String,
    /// the architecture of the predictor
    pub predictor: PredictorCard,
    /// how features become numbers
    pub encoding: Encoding,
    /// a typical training arm, whom others are held against; none on the card of an earlier version
    pub reference: Option<Reference>,
    /// how it was trained
    pub configuration: Configuration,
    /// the seed of the training
    pub seed: u64,
    /// of the study it was trained on ([`Study::fingerprint`](crate::Study::fingerprint))
    pub fingerprint: String,
    /// Whether the log that it was trained on shows what a call does.
    pub identification: Identification,
    /// how the training went
    pub history: History,
    /// what an arm's own record is worth beside a prediction; none where nobody was asked
    pub own_record: Option<OwnRecord>,
    /// States from which no transition of a training arm was seen, in order. Predictions there rest on no data.
    pub unobserved_states: Vec<u16>,
    /// whatever should be remembered
    pub notes: String,
}

/// How to build the predictors of a model anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictorCard {
    /// numbers that an arm is described by
    pub features: usize,
    /// of an arm
    pub states: usize,
    /// fits whose predictions are averaged
    pub members: usize,
    /// what was trained
    #[serde(flatten)]
    pub kind: WrittenPredictor,
}

/// What was trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum WrittenPredictor {
    /// hidden layers, perhaps none, and a softmax
    Network {
        /// units of each hidden layer
        hidden: Vec<usize>,
        /// share of them left out in each step of training
        dropout: f64,
    },
    /// a logistic model of arms left alone, and a shrunken shift for a pull
    Effect {
        /// how firmly the shift is held to be the same for all arms
        #[serde(default, skip_serializing_if = "Option::is_none")]
        precision: Option<f64>,
        /// the largest one that held-out arms may choose, where there is none yet
        #[serde(default, skip_serializing_if = "Option::is_none")]
        precision_cap: Option<f64>,
    },
    /// a logistic model of arms left alone, and for a pull a shrunken shift with a part of each state
    Hierarchical {
        /// how firmly weights are held; none where the evidence has not said yet
        #[serde(default, skip_serializing_if = "Option::is_none")]
        penalties: Option<WrittenPenalties>,
    },
    /// several predictors, weighed as log-odds
    Pool {
        /// at least one
        bases: Vec<WrittenBase>,
    },
}

/// How firmly a hierarchical model holds its weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenPenalties {
    /// of arms left alone
    pub passive: f64,
    /// of the shift that all states share
    pub common: f64,
    /// of the states' own shifts
    pub by_state: f64,
}

/// One base of a pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WrittenBase {
    /// of its log-odds
    pub weight: f64,
    /// fits whose mean it predicts by
    pub fits: usize,
    /// of its features; none: as they are encoded
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaling: Option<WrittenScaling>,
    /// what was trained
    #[serde(flatten)]
    pub kind: WrittenPredictor,
}

/// (x − shift)/scale of each feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenScaling {
    /// one number for each feature
    pub shift: Vec<f64>,
    /// one number above 0 for each feature
    pub scale: Vec<f64>,
}

impl WrittenPredictor {
    fn new(kind: &PredictorKind) -> Self {
        match kind {
            PredictorKind::Network { hidden, dropout } => {
                Self::Network { hidden: hidden.clone(), dropout: *dropout }
            }
            PredictorKind::Effect { precision: Precision::Fixed(precision) } => {
                Self::Effect { precision: Some(*precision), precision_cap: None }
            }
            PredictorKind::Effect { precision: Precision::HeldOut { cap } } => {
                Self::Effect { precision: None, precision_cap: Some(*cap) }
            }
            PredictorKind::Hierarchical { penalties } => {
                let written =
                    |[passive, common, by_state]: [f64; 3]| WrittenPenalties { passive, common, by_state };
                let penalties = match penalties {
                    Penalties::Fixed(penalties) => Some(written(*penalties)),
                    Penalties::Evidence => None,
                };
                Self::Hierarchical { penalties }
            }
            PredictorKind::Pool { bases } => {
                let base = |base: &BaseKind| WrittenBase {
                    weight: base.weight,
                    fits: base.fits,
                    scaling: base.scaling.as_ref().map(|scaling| WrittenScaling {
                        shift: scaling.shift.clone(),
                        scale: scaling.scale.clone(),
                    }),
                    kind: Self::new(&base.kind),
                };
                Self::Pool { bases: bases.iter().map(base).collect() }
            }
        }
    }

    /// The kind; none where an effect model has no precision.
    fn kind(&self) -> Option<PredictorKind> {
        Some(match self {
            Self::Network { hidden, dropout } => {
                PredictorKind::Network { hidden: hidden.clone(), dropout: *dropout }
            }
            Self::Effect { precision, precision_cap } => {
                let fixed = precision.map(Precision::Fixed);
                PredictorKind::Effect {
                    precision: fixed.or(precision_cap.map(|cap| Precision::HeldOut { cap }))?,
                }
            }
            Self::Hierarchical { penalties } => PredictorKind::Hierarchical {
                penalties: penalties.map_or(
                    Penalties::Evidence,
                    |WrittenPenalties { passive, common, by_state }| {
                        Penalties::Fixed([passive, common, by_state])
                    },
                ),
            },
            Self::Pool { bases } => {
                let base = |base: &WrittenBase| {
                    let scaling = base.scaling.as_ref();
                    Some(BaseKind {
                        kind: base.kind.kind()?,
                        weight: base.weight,
                        fits: base.fits,
                        scaling: scaling.map(|x| Scaling { shift: x.shift.clone(), scale: x.scale.clone() }),
                    })
                };
                PredictorKind::Pool { bases: bases.iter().map(base).collect::<Option<_>>()? }
            }
        })
    }
}

impl PredictorCard {
    /// Of so many fits of an architecture.
    pub fn new(architecture: &Architecture, members: usize) -> Self {
        let kind = WrittenPredictor::new(&architecture.kind);
        Self { features: architecture.features, states: architecture.states, members, kind }
    }

    /// The architecture; none where an effect model has no precision.
    pub fn architecture(&self) -> Option<Architecture> {
        Some(Architecture { features: self.features, states: self.states, kind: self.kind.kind()? })
    }
}

/// The card as JSON; keys within its parts are sorted.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCard {
    schema: u32,
    restive: String,
    predictor: Value,
    encoding: RawEncoding,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<BTreeMap<String, Value>>,
    configuration: Value,
    seed: u64,
    fingerprint: String,
    identification: Value,
    /// the hash of the file of weights; a checkpoint, which is one file, has none
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<String>,
    history: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_record: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unobserved_states: Vec<u16>,
    notes: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEncoding {
    standardise: bool,
    columns: Vec<RawColumn>,
    dropped: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum RawColumn {
    Number { name: String, has_missing: bool, mean: f64, sd: f64 },
    Binary { name: String, has_missing: bool, mean: f64 },
    Text { name: String, has_missing: bool, categories: Vec<String> },
}

impl RawCard {
    /// The card, with the hash of the file of weights where there is one.
    pub(super) fn new(card: &Card, weights: Option<String>) -> Self {
        let column = |column: &EncodedColumn| {
            let (name, has_missing) = (column.name.clone(), column.has_missing);
            match &column.kind {
                ColumnKind::Number { mean, sd } => {
                    RawColumn::Number { name, has_missing, mean: *mean, sd: *sd }
                }
                ColumnKind::Binary { mean } => RawColumn::Binary { name, has_missing, mean: *mean },
                ColumnKind::Text { categories } => {
                    RawColumn::Text { name, has_missing, categories: categories.clone() }
                }
            }
        };
        let encoding = RawEncoding {
            standardise: card.encoding.standardise == Standardise::Yes,
            columns: card.encoding.columns.iter().map(column).collect(),
            dropped: card.encoding.dropped.clone(),
        };
        Self {
            schema: SCHEMA,
            restive: card.restive.clone(),
            predictor: sorted(&card.predictor),
            encoding,
            reference: card.reference.as_ref().map(|reference| reference::written(reference, &card.encoding)),
            configuration: sorted(&card.configuration),
            seed: card.seed,
            fingerprint: card.fingerprint.clone(),
            identification: sorted(&card.identification),
            weights,
            history: sorted(&card.history),
            own_record: card.own_record.as_ref().map(sorted),
            unobserved_states: card.unobserved_states.clone(),
            notes: card.notes.clone(),
        }
    }
}

fn sorted(part: &impl Serialize) -> Value {
    serde_json::to_value(part).expect("plain values")
}

/// Reads a card from JSON, and the hash of the weights that it names; says what was found and what was expected where it is wrong.
pub(super) fn parse(text: &[u8]) -> Result<(Card, Option<String>), (String, String)> {
    let wrong = |found: String, expected: &str| (found, expected.to_string());
    let value: Value = serde_json::from_slice(text).map_err(|e| wrong(sentence(&e.to_string()), "JSON"))?;
    match value.get("schema") {
        Some(schema) if schema.as_u64() == Some(SCHEMA.into()) => {}
        Some(schema) => {
            let by = value.get("restive").and_then(Value::as_str).unwrap_or("unknown");
            let found = sentence(&format!("schema {schema} (written by restive {})", name(by)));
            return Err((found, format!("schema {SCHEMA}, which this version of restive reads")));
        }
        None => return Err(wrong("no schema".into(), "the card of a model")),
    }
    let raw: RawCard = serde_json::from_value(value).map_err(|e| wrong(found(&e), "the card of a model"))?;
    let encoding = encoding(raw.encoding)?;
    let reference = raw.reference.map(|columns| reference::read(columns, &encoding)).transpose()?;
    let card = Card {
        restive: raw.restive,
        predictor: part("predictor", raw.predictor)?,
        encoding,
        reference,
        configuration: part("configuration", raw.configuration)?,
        seed: raw.seed,
        fingerprint: raw.fingerprint,
        identification: part("identification", raw.identification)?,
        history: part("history", raw.history)?,
        own_record: raw.own_record.map(|value| part("own_record", value)).transpose()?,
        unobserved_states: raw.unobserved_states,
        notes: raw.notes,
    };
    Ok((card, raw.weights))
}

fn part<T: for<'a> Deserialize<'a>>(name: &str, value: Value) -> Result<T, (String, String)> {
    let wrong = |e| (format!("{name}: {}", found(&e)), format!("the {name} of a model's card"));
    serde_json::from_value(value).map_err(wrong)
}

/// What a reader met, without what it would have taken.
fn found(error: &serde_json::Error) -> String {
    let text = error.to_string();
    sentence(text.split(", expected").next().unwrap_or_default())
}

fn encoding(raw: RawEncoding) -> Result<Encoding, (String, String)> {
    let column = |column: RawColumn| match column {
        RawColumn::Number { name, has_missing, mean, sd } => {
            if !(mean.is_finite() && sd.is_finite() && sd > 0.0) {
                let found = format!("mean {mean} and sd {sd} of feature {}", quoted_name(&name));
                return Err((found, "finite numbers, sd above 0".to_string()));
            }
            Ok(EncodedColumn { name, kind: ColumnKind::Number { mean, sd }, has_missing })
        }
        RawColumn::Binary { name, has_missing, mean } => {
            if !(0.0..=1.0).contains(&mean) {
                let found = format!("mean {mean} of feature {}", quoted_name(&name));
                return Err((found, "a number from 0 to 1: its values are zeros and ones".to_string()));
            }
            Ok(EncodedColumn { name, kind: ColumnKind::Binary { mean }, has_missing })
        }
        RawColumn::Text { name, has_missing, categories } => {
            if !categories.is_sorted_by(|a, b| a < b) {
                let found = format!("categories of feature {} out of order", quoted_name(&name));
                return Err((found, "them sorted, each once".into()));
            }
            Ok(EncodedColumn { name, kind: ColumnKind::Text { categories }, has_missing })
        }
    };
    Ok(Encoding {
        standardise: if raw.standardise { Standardise::Yes } else { Standardise::No },
        columns: raw.columns.into_iter().map(column).collect::<Result<_, _>>()?,
        dropped: raw.dropped,
    })
}
