//! The card of a model: what it is, where it comes from, how its inputs are made.
//!
//! JSON. What belongs to a room of the library that this package does not know (the predictor's architecture, the
//! configuration of the training, its history) is a free value; the encoding of the features is checked here, because a model
//! must not be used on features encoded otherwise.

use restive::data::encoding::{ColumnKind, EncodedColumn, Encoding, Standardise};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the files of a model that this version of restive reads and writes.
pub const SCHEMA: u32 = 1;

/// What a model says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// the version of restive that wrote it
    pub restive: String,
    /// the architecture of the predictor
    pub predictor: Value,
    /// how features become numbers
    pub encoding: Encoding,
    /// how it was trained
    pub configuration: Value,
    /// the seed of the training
    pub seed: u64,
    /// of the study it was trained on ([`Study::fingerprint`](crate::Study::fingerprint))
    pub fingerprint: String,
    /// how the training went
    pub history: Value,
    /// whatever should be remembered
    pub notes: String,
}

/// The card as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCard {
    schema: u32,
    restive: String,
    predictor: Value,
    encoding: RawEncoding,
    configuration: Value,
    seed: u64,
    fingerprint: String,
    /// the hash of the file of weights; a checkpoint, which is one file, has none
    #[serde(skip_serializing_if = "Option::is_none")]
    weights: Option<String>,
    history: Value,
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
        let Card { restive, predictor, configuration, seed, fingerprint, history, notes, .. } = card.clone();
        let schema = SCHEMA;
        Self {
            schema,
            restive,
            predictor,
            encoding,
            configuration,
            seed,
            fingerprint,
            weights,
            history,
            notes,
        }
    }
}

/// Reads a card from JSON, and the hash of the weights that it names; says what is wrong with it.
pub(super) fn parse(text: &[u8]) -> Result<(Card, Option<String>), (String, String)> {
    let wrong = |found: String, expected: &str| (found, expected.to_string());
    let value: Value = serde_json::from_slice(text).map_err(|e| wrong(e.to_string(), "JSON"))?;
    match value.get("schema") {
        Some(schema) if schema.as_u64() == Some(SCHEMA.into()) => {}
        Some(schema) => {
            let by = value.get("restive").and_then(Value::as_str).unwrap_or("unknown");
            let found = format!("schema {schema} (written by restive {by})");
            return Err((found, format!("schema {SCHEMA}, which this version of restive reads")));
        }
        None => return Err(wrong("no schema".into(), "the card of a model")),
    }
    let raw: RawCard =
        serde_json::from_value(value).map_err(|e| wrong(e.to_string(), "the card of a model"))?;
    let column = |column: RawColumn| match column {
        RawColumn::Number { name, has_missing, mean, sd } => {
            if !(mean.is_finite() && sd.is_finite() && sd > 0.0) {
                return Err((
                    format!("mean {mean} and sd {sd} of feature {name:?}"),
                    "finite numbers, sd above 0".into(),
                ));
            }
            Ok(EncodedColumn { name, kind: ColumnKind::Number { mean, sd }, has_missing })
        }
        RawColumn::Text { name, has_missing, categories } => {
            if !categories.is_sorted_by(|a, b| a < b) {
                return Err((
                    format!("categories of feature {name:?} out of order"),
                    "them sorted, each once".into(),
                ));
            }
            Ok(EncodedColumn { name, kind: ColumnKind::Text { categories }, has_missing })
        }
    };
    let encoding = Encoding {
        standardise: if raw.encoding.standardise { Standardise::Yes } else { Standardise::No },
        columns: raw.encoding.columns.into_iter().map(column).collect::<Result<_, _>>()?,
        dropped: raw.encoding.dropped,
    };
    let RawCard { restive, predictor, configuration, seed, fingerprint, weights, history, notes, .. } = raw;
    Ok((Card { restive, predictor, encoding, configuration, seed, fingerprint, history, notes }, weights))
}
