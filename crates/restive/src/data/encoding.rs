//! From what is known of arms to the numbers that a predictor reads.
//!
//! An [`Encoding`] is learnt from the training arms alone and applied unchanged to all others:
//!
//! - a column of numbers passes through, or is standardised: (x − mean)/sd with the mean and the (population) standard
//!   deviation of the training arms. A missing number becomes the training mean, which is 0 once standardised;
//! - a column of text becomes one column of 0 and 1 per category, categories sorted. A category that no training arm had is
//!   0 everywhere, and [`Encoding::unseen`] counts it;
//! - a column in which some training arm misses a value is followed by an indicator, 1 where the value is missing. Without an
//!   indicator a missing number becomes the mean, too, and a missing text is 0 everywhere; [`Encoding::gaps`] counts them;
//! - a column that tells training arms nothing (all alike or all missing) is an error, unless it is dropped by name.
//!
//! Zeros and ones are not standardised, whether they stand for a category or were numbers from the beginning: a column of
//! numbers in which the training arms have nothing else passes through. Arms that are not all in one place are learnt from by a
//! [survey](super::survey). An encoding is plain data, so that it can be stored beside a model and compared.
//!
//! ```
//! use restive::data::encoding::{Encoding, Standardise};
//! use restive::data::features::{Column, Features};
//!
//! let age = Column::Number(vec![20.0, 40.0, f64::NAN]);
//! let district = Column::Text(vec![Some("south".into()), Some("north".into()), Some("north".into())]);
//! let known = Features::new(3, vec![("age".into(), age), ("district".into(), district)])?;
//! let encoding = Encoding::fit(&known, Standardise::Yes, &[])?;
//! assert_eq!(encoding.names(), ["age", "age is missing", "district = north", "district = south"]);
//! let expected = ndarray::array![[-1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]];
//! assert_eq!(encoding.encode(&known)?, expected);
//! # Ok::<(), restive::Error>(())
//! ```

use super::features::{Column, Features};
use crate::error::{Error, FeatureFault, Result};
use ndarray::Array2;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Whether columns of numbers are standardised on the training arms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standardise {
    /// (x − mean)/sd
    Yes,
    /// numbers pass through
    No,
}

/// How features become numbers: plain data.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoding {
    /// whether numbers are standardised
    pub standardise: Standardise,
    /// one entry per column that is used, in the order of the training table
    pub columns: Vec<EncodedColumn>,
    /// columns that are left out on purpose, whether or not a table has them
    pub dropped: Vec<String>,
}

/// How one column becomes numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedColumn {
    /// its name
    pub name: String,
    /// what was learnt of it
    pub kind: ColumnKind,
    /// whether some training arm missed it, so that an indicator follows
    pub has_missing: bool,
}

/// What was learnt of one column from the training arms.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnKind {
    /// a column of numbers
    Number {
        /// mean of the values that are there
        mean: f64,
        /// their standard deviation, divided by their number
        sd: f64,
    },
    /// a column of zeros and ones, never standardised
    Binary {
        /// mean of the values that are there
        mean: f64,
    },
    /// a column of text
    Text {
        /// its categories, sorted
        categories: Vec<String>,
    },
}

/// A category that no training arm had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// the column
    pub column: String,
    /// the category
    pub category: String,
    /// how many arms have it
    pub arms: usize,
}

/// A column of which some arms miss the value, and no training arm did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Name of the column.
    pub column: String,
    /// Whether its values are numbers; the training mean then replaces a missing value.
    pub is_number: bool,
    /// Number of arms without a value.
    pub arms: usize,
}

impl Encoding {
    /// Learns from the training arms; `dropped` names columns to leave out.
    pub fn fit(training: &Features, standardise: Standardise, dropped: &[&str]) -> Result<Self> {
        if let Some(name) = dropped.iter().find(|name| training.column(name).is_none()) {
            return Err(Error::Feature { column: name.to_string(), fault: FeatureFault::Absent });
        }
        let named = training.names().iter().zip(training.columns());
        let used = named.filter(|(name, _)| !dropped.contains(&name.as_str()));
        let columns = used.map(|(name, column)| learn(name, column)).collect::<Result<_>>()?;
        Ok(Self { standardise, columns, dropped: dropped.iter().map(|name| name.to_string()).collect() })
    }

    /// F, the number of encoded columns.
    pub fn width(&self) -> usize {
        self.columns.iter().map(EncodedColumn::width).sum()
    }

    /// The encoded columns of every column, in order: the numbers of a column belong together.
    pub fn groups(&self) -> Vec<Range<usize>> {
        let mut first = 0;
        let group = |column: &EncodedColumn| {
            first += column.width();
            first - column.width()..first
        };
        self.columns.iter().map(group).collect()
    }

    /// What the encoded columns are called, `[F]`.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.width());
        for EncodedColumn { name, kind, has_missing } in &self.columns {
            match kind {
                ColumnKind::Number { .. } | ColumnKind::Binary { .. } => names.push(name.clone()),
                ColumnKind::Text { categories } => {
                    names.extend(categories.iter().map(|c| format!("{name} = {c}")))
                }
            }
            names.extend(has_missing.then(|| format!("{name} is missing")));
        }
        names
    }

    /// The features of some arms as numbers, `[N,F]`; an error where the table does not fit the encoding.
    pub fn encode(&self, features: &Features) -> Result<Array2<f64>> {
        self.check(features)?;
        let mut encoded = Array2::zeros((features.arms(), self.width()));
        let mut first = 0;
        for learnt in &self.columns {
            let column = features.column(&learnt.name).expect("checked");
            let indicator = learnt.has_missing.then(|| first + learnt.width() - 1);
            match (&learnt.kind, column) {
                (ColumnKind::Number { mean, .. } | ColumnKind::Binary { mean }, Column::Number(values)) => {
                    for (i, &x) in values.iter().enumerate() {
                        encoded[[i, first]] = self.number(&learnt.kind, if x.is_nan() { *mean } else { x });
                        if let Some(indicator) = indicator.filter(|_| x.is_nan()) {
                            encoded[[i, indicator]] = 1.0;
                        }
                    }
                }
                (ColumnKind::Text { categories }, Column::Text(values)) => {
                    for (i, text) in values.iter().enumerate() {
                        match text {
                            None => {
                                indicator.into_iter().for_each(|indicator| encoded[[i, indicator]] = 1.0);
                            }
                            Some(text) => {
                                if let Ok(c) = categories.binary_search(text) {
                                    encoded[[i, first + c]] = 1.0;
                                }
                            }
                        }
                    }
                }
                _ => unreachable!("checked"),
            }
            first += learnt.width();
        }
        Ok(encoded)
    }

    /// A number of a column, as it is encoded.
    pub(super) fn number(&self, kind: &ColumnKind, x: f64) -> f64 {
        match (self.standardise, kind) {
            (Standardise::Yes, ColumnKind::Number { mean, sd }) => (x - mean) / sd,
            _ => x,
        }
    }

    /// The categories of some arms that no training arm had, by column and then by name.
    pub fn unseen(&self, features: &Features) -> Vec<Unseen> {
        let mut unseen = Vec::new();
        for EncodedColumn { name, kind, .. } in &self.columns {
            let (ColumnKind::Text { categories }, Some(Column::Text(values))) = (kind, features.column(name))
            else {
                continue;
            };
            let mut counts = BTreeMap::<&String, usize>::new();
            let strange = values.iter().flatten().filter(|text| categories.binary_search(text).is_err());
            strange.for_each(|text| *counts.entry(text).or_default() += 1);
            unseen.extend(counts.into_iter().map(|(category, arms)| Unseen {
                column: name.clone(),
                category: category.clone(),
                arms,
            }));
        }
        unseen
    }

    /// The columns of which some of these arms miss the value, and no training arm did.
    pub fn gaps(&self, features: &Features) -> Vec<Gap> {
        let gap = |learnt: &EncodedColumn| {
            let arms = features.column(&learnt.name).map_or(0, Column::missing);
            learnt.gap(arms)
        };
        self.columns.iter().filter_map(gap).collect()
    }

    /// Names all columns that differ between the encoding and a table.
    fn check(&self, features: &Features) -> Result<()> {
        let difference = |learnt: &EncodedColumn| match features.column(&learnt.name) {
            None => Some((learnt.name.clone(), FeatureFault::Absent)),
            Some(column) => {
                let (found, expected) = (column.kind(), learnt.kind.name());
                (found != expected).then(|| (learnt.name.clone(), FeatureFault::Kind { found, expected }))
            }
        };
        let mut differences: Vec<_> = self.columns.iter().filter_map(difference).collect();
        let is_known = |name: &&String| {
            self.dropped.contains(name) || self.columns.iter().any(|learnt| learnt.name == **name)
        };
        let unexpected = features.names().iter().filter(|name| !is_known(name));
        differences.extend(unexpected.map(|name| (name.clone(), FeatureFault::Unexpected)));
        match <[_; 1]>::try_from(differences) {
            Ok([(column, fault)]) => Err(Error::Feature { column, fault }),
            Err(none) if none.is_empty() => Ok(()),
            Err(differences) => Err(Error::Features { differences }),
        }
    }
}

impl EncodedColumn {
    /// How many numbers it becomes.
    pub fn width(&self) -> usize {
        let values = match &self.kind {
            ColumnKind::Number { .. } | ColumnKind::Binary { .. } => 1,
            ColumnKind::Text { categories } => categories.len(),
        };
        values + usize::from(self.has_missing)
    }

    /// Gap of a column without a value for `arms` arms; `None` if a training arm had no value either, or if `arms` is 0.
    pub fn gap(&self, arms: usize) -> Option<Gap> {
        let is_number = !matches!(self.kind, ColumnKind::Text { .. });
        (arms > 0 && !self.has_missing).then(|| Gap { column: self.name.clone(), is_number, arms })
    }
}

impl ColumnKind {
    fn name(&self) -> &'static str {
        match self {
            ColumnKind::Number { .. } | ColumnKind::Binary { .. } => "numbers",
            ColumnKind::Text { .. } => "text",
        }
    }
}

fn learn(name: &str, column: &Column) -> Result<EncodedColumn> {
    let refuse = |fault| Error::Feature { column: name.into(), fault };
    let has_missing = column.missing() > 0;
    if column.missing() == column.len() {
        return Err(refuse(FeatureFault::AllMissing));
    }
    let kind = match column {
        Column::Number(values) => {
            let known: Vec<f64> = values.iter().copied().filter(|x| !x.is_nan()).collect();
            let (mean, sd) = mean_and_sd(&known);
            let is_alike = known.iter().all(|x| *x == known[0]);
            number_kind(mean, sd, known[0], is_alike, known.iter().all(|x| *x == 0.0 || *x == 1.0))
        }
        Column::Text(values) => {
            let categories: BTreeSet<&String> = values.iter().flatten().collect();
            text_kind(categories.into_iter().cloned().collect(), has_missing)
        }
    };
    Ok(EncodedColumn { name: name.into(), kind: kind.map_err(refuse)?, has_missing })
}

/// What is learnt of numbers with this mean and standard deviation, of which this is the first.
pub(super) fn number_kind(
    mean: f64,
    sd: f64,
    first: f64,
    is_alike: bool,
    is_binary: bool,
) -> std::result::Result<ColumnKind, FeatureFault> {
    if !(sd > 0.0) || is_alike {
        return Err(FeatureFault::Constant { found: first.to_string() });
    }
    Ok(if is_binary { ColumnKind::Binary { mean } } else { ColumnKind::Number { mean, sd } })
}

/// What is learnt of text with these categories, sorted.
pub(super) fn text_kind(
    categories: Vec<String>,
    has_missing: bool,
) -> std::result::Result<ColumnKind, FeatureFault> {
    match &categories[..] {
        [only] if !has_missing => Err(FeatureFault::Constant { found: format!("{only:?}") }),
        _ => Ok(ColumnKind::Text { categories }),
    }
}

/// Two passes over values scaled to at most 1, so that no finite column overflows.
fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let largest = values.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest == 0.0 {
        return (0.0, 0.0);
    }
    let n = values.len() as f64;
    let mean = values.iter().map(|x| x / largest).sum::<f64>() / n;
    let square = values.iter().map(|x| (x / largest - mean).powi(2)).sum::<f64>() / n;
    (mean * largest, square.sqrt() * largest)
}
