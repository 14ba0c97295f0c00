//! What an encoding learns, piece by piece: a survey of arms that need not be in one place.
//!
//! [`Encoding::fit`] wants all training arms at once. A [`Survey`] takes them in pieces, [merges](Survey::merge) with those of other
//! pieces, travels as bytes, and gives the same [encoding](Survey::encoding) and the same [reference](Survey::reference), with the same
//! faults: of each column of numbers it keeps how many there are, their mean and the sum of their squared distances from it; of each
//! column of text how often each category was seen.
//!
//! **Means and distances.** Two passes over each piece, and pieces are joined as Chan, Golub and LeVeque (1979) have it: with n_a and
//! n_b arms, means that differ by δ,
//!
//! ```text
//! mean = mean_a + δ·n_b/(n_a + n_b),   Σ(x − mean)² = Σ_a + Σ_b + δ²·n_a·n_b/(n_a + n_b)
//! ```
//!
//! Nothing cancels, and both are carried in two numbers, so that a million pieces round no more than one. Values are scaled by a
//! power of 2 to at most 1, so that no finite column overflows.
//!
//! ```
//! use restive::data::encoding::{Encoding, Standardise};
//! use restive::data::features::{Column, Features};
//! use restive::data::survey::Survey;
//!
//! let known = |ages: &[f64]| Features::new(ages.len(), vec![("age".into(), Column::Number(ages.to_vec()))]);
//! let mut survey = Survey::like(&known(&[])?);
//! survey.add(&known(&[20.0, 40.0])?)?;
//! let mut elsewhere = Survey::like(&known(&[])?);
//! elsewhere.add(&known(&[31.0])?)?;
//! survey.merge(&Survey::from_bytes(&elsewhere.to_bytes())?)?;
//! let all = Encoding::fit(&known(&[20.0, 40.0, 31.0])?, Standardise::No, &[])?;
//! assert_eq!(survey.encoding(Standardise::No, &[])?.names(), all.names());
//! # Ok::<(), restive::Error>(())
//! ```

use super::encoding::{EncodedColumn, Encoding, Standardise, number_kind, text_kind};
use super::features::{Column, Features};
use super::moments::Moments;
use super::reference::{Reference, Typical, by_encoding, most_frequent};
use crate::bytes::{Reader, Writer};
use crate::error::{Error, FeatureFault, Result};
use std::collections::BTreeMap;

const NAME: &str = "survey 1";

/// What was seen of some training arms, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    arms: u64,
    columns: Vec<(String, Seen)>,
}

/// What was seen of one column.
#[derive(Debug, Clone, PartialEq)]
enum Seen {
    Number(Moments),
    Text(BTreeMap<String, u64>),
}

impl Seen {
    fn kind(&self) -> &'static str {
        match self {
            Self::Number(_) => "numbers",
            Self::Text(_) => "text",
        }
    }

    /// How many arms have a value.
    fn known(&self) -> u64 {
        match self {
            Self::Number(moments) => moments.known,
            Self::Text(counts) => counts.values().sum(),
        }
    }
}

impl Survey {
    /// Of nobody yet, with the columns of a table, which may be empty.
    pub fn like(features: &Features) -> Self {
        let seen = |column: &Column| match column {
            Column::Number(_) => Seen::Number(Moments::default()),
            Column::Text(_) => Seen::Text(BTreeMap::new()),
        };
        let named = features.names().iter().cloned().zip(features.columns());
        Self { arms: 0, columns: named.map(|(name, column)| (name, seen(column))).collect() }
    }

    /// What the columns are called, in the order of the table.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// How many arms were seen.
    pub fn arms(&self) -> u64 {
        self.arms
    }

    /// How many arms have a value in a column; none where there is no such column.
    pub fn known(&self, name: &str) -> Option<u64> {
        self.column(name).map(Seen::known)
    }

    /// How many arms have each category of a column; none where it does not hold text.
    pub fn categories(&self, name: &str) -> Option<&BTreeMap<String, u64>> {
        match self.column(name)? {
            Seen::Number(_) => None,
            Seen::Text(counts) => Some(counts),
        }
    }

    /// Adds arms; an error where the table has other columns, whatever their order.
    pub fn add(&mut self, features: &Features) -> Result<()> {
        self.check(features.names(), |name| features.column(name).map(Column::kind))?;
        for (name, seen) in &mut self.columns {
            match (seen, features.column(name).expect("checked")) {
                (Seen::Number(moments), Column::Number(values)) => moments.add(values),
                (Seen::Text(counts), Column::Text(values)) => {
                    for text in values.iter().flatten() {
                        match counts.get_mut(text) {
                            Some(count) => *count += 1,
                            None => drop(counts.insert(text.clone(), 1)),
                        }
                    }
                }
                _ => unreachable!("checked"),
            }
        }
        self.arms += features.arms() as u64;
        Ok(())
    }

    /// Adds what was seen elsewhere; an error where that has other columns.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let names: Vec<String> = other.columns.iter().map(|(name, _)| name.clone()).collect();
        self.check(&names, |name| other.column(name).map(Seen::kind))?;
        for (name, seen) in &mut self.columns {
            match (seen, other.column(name).expect("checked")) {
                (Seen::Number(moments), Seen::Number(more)) => moments.merge(more),
                (Seen::Text(counts), Seen::Text(more)) => {
                    more.iter().for_each(|(text, arms)| *counts.entry(text.clone()).or_default() += arms);
                }
                _ => unreachable!("checked"),
            }
        }
        self.arms += other.arms;
        Ok(())
    }

    fn column(&self, name: &str) -> Option<&Seen> {
        self.columns.iter().find(|(known, _)| known == name).map(|(_, seen)| seen)
    }

    /// Names all columns that differ.
    fn check(&self, names: &[String], kind: impl Fn(&str) -> Option<&'static str>) -> Result<()> {
        let difference = |(name, seen): &(String, Seen)| match kind(name) {
            None => Some((name.clone(), FeatureFault::Absent)),
            Some(found) if found != seen.kind() => {
                Some((name.clone(), FeatureFault::Kind { found, expected: seen.kind() }))
            }
            Some(_) => None,
        };
        let mut differences: Vec<_> = self.columns.iter().filter_map(difference).collect();
        let unexpected = names.iter().filter(|name| self.column(name).is_none());
        differences.extend(unexpected.map(|name| (name.clone(), FeatureFault::Unexpected)));
        if differences.is_empty() { Ok(()) } else { Err(Error::Features { differences }) }
    }

    /// The encoding of these arms: see [`Encoding::fit`].
    pub fn encoding(&self, standardise: Standardise, dropped: &[&str]) -> Result<Encoding> {
        if let Some(name) = dropped.iter().find(|name| self.column(name).is_none()) {
            return Err(Error::Feature { column: name.to_string(), fault: FeatureFault::Absent });
        }
        let used = self.columns.iter().filter(|(name, _)| !dropped.contains(&name.as_str()));
        let learn = |(name, seen): &(String, Seen)| {
            let refuse = |fault| Error::Feature { column: name.clone(), fault };
            if seen.known() == 0 {
                return Err(refuse(FeatureFault::AllMissing));
            }
            let has_missing = seen.known() < self.arms;
            let kind = match seen {
                Seen::Number(moments) => {
                    let (mean, sd) = moments.mean_and_sd();
                    number_kind(mean, sd, moments.first, moments.is_alike(), moments.is_binary())
                }
                Seen::Text(counts) => text_kind(counts.keys().cloned().collect(), has_missing),
            };
            Ok(EncodedColumn { name: name.clone(), kind: kind.map_err(refuse)?, has_missing })
        };
        let columns = used.map(learn).collect::<Result<_>>()?;
        Ok(Encoding { standardise, columns, dropped: dropped.iter().map(|name| name.to_string()).collect() })
    }

    /// The reference arm of an encoding of these arms: see [`Reference::new`].
    pub fn reference(&self, encoding: &Encoding) -> Reference {
        let typical = |learnt: &EncodedColumn| match self.column(&learnt.name) {
            Some(Seen::Text(counts)) => {
                most_frequent(counts).map_or(Typical::NoneOfTheKnown, |text| Typical::Category(text.clone()))
            }
            _ => by_encoding(learnt),
        };
        Reference { columns: encoding.columns.iter().map(typical).collect() }
    }

    /// As bytes, to be sent to whoever merges.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME);
        writer.whole(self.arms);
        writer.count(self.columns.len());
        for (name, seen) in &self.columns {
            writer.text(name);
            writer.text(seen.kind());
            match seen {
                Seen::Number(moments) => moments.write(&mut writer),
                Seen::Text(counts) => {
                    writer.count(counts.len());
                    for (text, arms) in counts {
                        writer.text(text);
                        writer.whole(*arms);
                    }
                }
            }
        }
        writer.finish()
    }

    /// And back.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(NAME, bytes)?;
        let arms = reader.whole()?;
        let mut columns = Vec::new();
        for _ in 0..reader.count()? {
            let name = reader.text()?;
            let seen = match reader.text()?.as_str() {
                "numbers" => Seen::Number(Moments::read(&mut reader)?),
                "text" => {
                    let mut counts = BTreeMap::new();
                    for _ in 0..reader.count()? {
                        counts.insert(reader.text()?, reader.whole()?);
                    }
                    Seen::Text(counts)
                }
                _ => return Err(reader.refuse("a column that holds neither numbers nor text")),
            };
            columns.push((name, seen));
        }
        let is_possible = |(_, seen): &(String, Seen)| match seen {
            Seen::Number(moments) => moments.known <= arms,
            Seen::Text(counts) => counts
                .values()
                .try_fold(0u64, |sum, arms| sum.checked_add(*arms))
                .is_some_and(|sum| sum <= arms),
        };
        if !columns.iter().all(is_possible) {
            return Err(reader.refuse("more values than arms"));
        }
        reader.finish()?;
        Ok(Self { arms, columns })
    }
}
