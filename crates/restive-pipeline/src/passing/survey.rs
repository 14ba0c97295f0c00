//! The first pass: what is learnt of features before they can be encoded, and how often people moved.
//!
//! Training arms say what an encoding learns. What the others have beside is surveyed too: from both follows which categories no training
//! arm has, and which values are missing that all training arms have.

use super::pass::{ROWS, of_part, pass, usual};
use super::serial::Serial;
use crate::columns::Suspect;
use crate::error::Result;
use crate::message::Message;
use crate::prepare::{may_be_dropped, say_gaps, say_unseen};
use ndarray::{Array3, Axis};
use restive::data::encoding::{ColumnKind, EncodedColumn, Encoding, Gap, Standardise, Unseen};
use restive::data::features::{Column, Features};
use restive::data::split::Part;
use restive::data::survey::Survey;
use restive_tables::Roll;

/// What is known of everybody before anything is fitted.
pub(crate) struct Surveyed {
    /// of the training arms
    pub(crate) learnt: Survey,
    /// of all others
    pub(crate) others: Survey,
    /// of the training arms, by column of the table; none of text
    serial: Vec<Option<Serial>>,
    /// of all arms of a part, `[M,2,M]`
    pub(crate) moves: [Array3<f64>; 3],
}

impl Surveyed {
    pub(crate) fn new(roll: &Roll, parts: &[Part]) -> Result<Self> {
        let m = roll.settings.reward.states();
        let mut all: Option<Self> = None;
        pass(
            roll.pieces(ROWS)?,
            usual(),
            |piece| {
                let [train, validation, test] = Part::ALL.map(|part| of_part(parts, &piece, part));
                let features = piece.there.features.select_arms(&train);
                let others = piece.there.features.select_arms(&[&validation[..], &test].concat());
                let counts = piece.there.trajectories.counts();
                let sum = |arms: &[usize]| {
                    let mut sum = Array3::zeros((m, 2, m));
                    arms.iter().for_each(|i| sum += &counts.view().index_axis(Axis(0), *i));
                    sum
                };
                let moves = [&train, &validation, &test].map(|arms| sum(arms));
                Ok((surveyed(&features)?, surveyed(&others)?, features, moves))
            },
            |(learnt, others, features, moves)| {
                let all = all.get_or_insert_with(|| Self::like(&features, m));
                all.learnt.merge(&learnt)?;
                all.others.merge(&others)?;
                for (serial, column) in all.serial.iter_mut().zip(features.columns()) {
                    if let (Some(serial), Column::Number(values)) = (serial, column) {
                        serial.add(values);
                    }
                }
                all.moves.iter_mut().zip(&moves).for_each(|(all, moves)| *all += moves);
                Ok(())
            },
        )?;
        Ok(all.expect("a study has arms"))
    }

    /// Of people who were surveyed in partitions; nothing is known of identifiers then.
    pub(crate) fn of(learnt: Survey, others: Survey, moves: [Array3<f64>; 3]) -> Self {
        Self { learnt, others, serial: Vec::new(), moves }
    }

    fn like(features: &Features, m: usize) -> Self {
        let nobody = features.select_arms(&[]);
        let serial = |column: &Column| matches!(column, Column::Number(_)).then(Serial::default);
        Self {
            learnt: Survey::like(&nobody),
            others: Survey::like(&nobody),
            serial: features.columns().iter().map(serial).collect(),
            moves: std::array::from_fn(|_| Array3::zeros((m, 2, m))),
        }
    }

    /// The encoding of the training arms.
    pub(crate) fn encoding(&self, standardise: Standardise, drop: &[String]) -> Result<Encoding> {
        let dropped: Vec<&str> = drop.iter().map(String::as_str).collect();
        self.learnt.encoding(standardise, &dropped).map_err(may_be_dropped)
    }

    /// Columns of the training arms, but for those that are left out, that look like identifiers or have too many categories.
    pub(crate) fn doubtful(&self, roll: &Roll, parts: &[Part], drop: &[String]) -> Result<Vec<Message>> {
        let suspects = self.suspects(roll, parts, drop)?;
        Ok(suspects.into_iter().map(|(name, suspect)| suspect.warning(name)).collect())
    }

    /// The same by name.
    pub(crate) fn suspects<'a>(
        &self,
        roll: &'a Roll,
        parts: &[Part],
        drop: &[String],
    ) -> Result<Vec<(&'a str, Suspect)>> {
        let names: Vec<&str> = roll.features().map(|(name, _)| name).collect();
        let is_kept = |c: &usize| !drop.iter().any(|dropped| dropped == names[*c]);
        let kept = || (0..names.len()).filter(is_kept);
        let serials = || kept().filter_map(|c| Some((c, self.serial[c].as_ref()?)));
        let mut again: Vec<_> = serials().filter_map(|(c, serial)| Some((c, serial.again()?))).collect();
        if !again.is_empty() {
            let train = |piece: restive_tables::Piece| {
                Ok(piece.there.features.select_arms(&of_part(parts, &piece, Part::Train)))
            };
            pass(roll.pieces(ROWS)?, usual(), train, |features| {
                for (c, again) in &mut again {
                    if let Column::Number(values) = &features.columns()[*c] {
                        again.add(values);
                    }
                }
                Ok(())
            })?;
        }
        let twice: Vec<usize> =
            again.into_iter().filter_map(|(c, again)| (!again.are_distinct()).then_some(c)).collect();
        let suspect = |c: usize| match (&self.serial[c], self.learnt.categories(names[c])) {
            (Some(serial), _) => {
                let arms = serial.suspected().filter(|_| !twice.contains(&c))?;
                Suspect::new(arms, arms, true)
            }
            (None, categories) => {
                let categories = categories?;
                Suspect::new(categories.values().sum::<u64>() as usize, categories.len(), false)
            }
        };
        Ok(kept().filter_map(|c| Some((names[c], suspect(c)?))).collect())
    }

    /// What should be known of values that no training arm has, and of missing values that all training arms have.
    pub(crate) fn unseen(&self, encoding: &Encoding) -> Vec<String> {
        let mut unseen = Vec::new();
        for EncodedColumn { name, kind, .. } in &encoding.columns {
            let (ColumnKind::Text { categories }, Some(others)) = (kind, self.others.categories(name)) else {
                continue;
            };
            let strange = others.iter().filter(|(category, _)| categories.binary_search(category).is_err());
            unseen.extend(strange.map(|(category, arms)| Unseen {
                column: name.clone(),
                category: category.clone(),
                arms: *arms as usize,
            }));
        }
        let gap = |learnt: &EncodedColumn| {
            learnt.gap((self.others.arms() - self.others.known(&learnt.name)?) as usize)
        };
        let gaps: Vec<Gap> = encoding.columns.iter().filter_map(gap).collect();
        let mut said = say_unseen(&unseen);
        said.extend(say_gaps(&gaps));
        said
    }

    /// The sizes of the encoded features of the training arms: the roots of their mean squares, but of zeros and ones.
    pub(crate) fn sizes(&self, encoding: &Encoding) -> Vec<f64> {
        let size = |learnt: &EncodedColumn| {
            // where a number is missing the mean stands for it
            let share = self.learnt.known(&learnt.name)? as f64 / self.learnt.arms() as f64;
            let (mean, variance) = match (&learnt.kind, encoding.standardise) {
                (ColumnKind::Number { .. }, Standardise::Yes) => (0.0, 1.0),
                (ColumnKind::Number { mean, sd }, Standardise::No) => (*mean, sd * sd),
                (ColumnKind::Binary { mean }, _) if learnt.has_missing => (*mean, mean * (1.0 - mean)),
                _ => return None,
            };
            Some((mean * mean + share * variance).sqrt()).filter(|size| *size > 0.0)
        };
        encoding.columns.iter().filter_map(size).collect()
    }
}

fn surveyed(features: &Features) -> Result<Survey> {
    let mut survey = Survey::like(features);
    survey.add(features)?;
    Ok(survey)
}
