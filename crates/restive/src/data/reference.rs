//! The reference arm: one that everybody can be held against.
//!
//! It is fixed when a model is trained and kept with it, so that what is said of somebody does not change when somebody else is
//! added. Of each column it has what is typical of the training arms: of numbers the mean of those that are there, of text the
//! most frequent category (of equals the first by name). It misses nothing.
//!
//! A model of an earlier version has no reference. The [encoding](Encoding) still knows the means of numbers, but not how frequent categories were:
//! there the reference has *none of the known* categories, all indicators 0, which is how the encoding reads a category that it never
//! met.
//!
//! ```
//! use restive::data::encoding::{Encoding, Standardise};
//! use restive::data::features::{Column, Features};
//! use restive::data::reference::{Reference, Typical};
//!
//! let text = |words: [&str; 3]| Column::Text(words.map(|word| Some(word.to_string())).to_vec());
//! let columns = vec![
//!     ("age".to_string(), Column::Number(vec![20.0, 25.0, 36.0])),
//!     ("phone".to_string(), text(["own", "husband", "own"])),
//! ];
//! let known = Features::new(3, columns)?;
//! let encoding = Encoding::fit(&known, Standardise::No, &[])?;
//! let reference = Reference::new(&known, &encoding);
//! assert_eq!(reference.columns, [Typical::Number(27.0), Typical::Category("own".into())]);
//! assert_eq!(reference.encode(&encoding).to_vec(), [27.0, 0.0, 1.0]); // age, phone = husband, phone = own
//! # Ok::<(), restive::Error>(())
//! ```

use super::encoding::{ColumnKind, EncodedColumn, Encoding};
use super::features::{Column, Features};
use ndarray::Array1;
use std::collections::BTreeMap;

/// What is typical of one column.
#[derive(Debug, Clone, PartialEq)]
pub enum Typical {
    /// the mean
    Number(f64),
    /// the most frequent
    Category(String),
    /// none of the categories that are known: how frequent they were is not
    NoneOfTheKnown,
}

/// A typical arm.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// one for each column of the encoding that it was made with, in order
    pub columns: Vec<Typical>,
}

impl Reference {
    /// What is typical of these arms, which the encoding was learnt from.
    pub fn new(training: &Features, encoding: &Encoding) -> Self {
        let typical = |learnt: &EncodedColumn| match (&learnt.kind, training.column(&learnt.name)) {
            (ColumnKind::Text { .. }, Some(Column::Text(values))) => {
                let mut counts = BTreeMap::<&String, u64>::new();
                values.iter().flatten().for_each(|text| *counts.entry(text).or_default() += 1);
                most_frequent(&counts)
                    .map_or(Typical::NoneOfTheKnown, |text| Typical::Category(text.to_string()))
            }
            _ => by_encoding(learnt),
        };
        Self { columns: encoding.columns.iter().map(typical).collect() }
    }

    /// What an encoding alone can say: means, and none of the categories.
    pub fn of_encoding(encoding: &Encoding) -> Self {
        Self { columns: encoding.columns.iter().map(by_encoding).collect() }
    }

    /// The reference as the encoding reads it, `[F]`.
    pub fn encode(&self, encoding: &Encoding) -> Array1<f64> {
        assert_eq!(self.columns.len(), encoding.columns.len(), "reference: one for each column");
        let mut encoded = Array1::zeros(encoding.width());
        for ((typical, learnt), group) in self.columns.iter().zip(&encoding.columns).zip(encoding.groups()) {
            match (typical, &learnt.kind) {
                (Typical::Number(x), kind) => encoded[group.start] = encoding.number(kind, *x),
                (Typical::Category(text), ColumnKind::Text { categories }) => {
                    if let Ok(c) = categories.binary_search(text) {
                        encoded[group.start + c] = 1.0;
                    }
                }
                _ => {}
            }
        }
        encoded
    }
}

/// The most frequent category; of equals the first by name.
pub(super) fn most_frequent<T>(counts: &BTreeMap<T, u64>) -> Option<&T> {
    // the last of equals is taken: the first by name, seen from behind
    counts.iter().rev().max_by_key(|(_, arms)| **arms).map(|(text, _)| text)
}

pub(super) fn by_encoding(learnt: &EncodedColumn) -> Typical {
    match &learnt.kind {
        ColumnKind::Number { mean, .. } | ColumnKind::Binary { mean } => Typical::Number(*mean),
        ColumnKind::Text { .. } => Typical::NoneOfTheKnown,
    }
}
