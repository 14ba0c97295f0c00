//! Some rows of the table of arms become an instance: features from the cells, names and trajectories from the roll.

use super::arms::{ArmsFile, infinite};
use super::cell::{action, state};
use super::{Piece, Roll};
use crate::error::{Error, Result, RowNumber};
use crate::names::LONGEST;
use crate::study::StudyInstance;
use crate::study::arms::{self, Growing, refuse_long, refuse_mixed};
use crate::study::fingerprint::sums::Bytes;
use crate::study::table::{Batch, Cells};
use ndarray::Array3;
use restive::Trajectories;
use restive::data::features::{Column, Features};
use restive::instance::{Logged, NO_ACTION, UNSEEN};

/// Rows of a batch that are of one instance, and the positions of their people.
pub(super) struct Part<'b> {
    pub(super) batch: &'b Batch,
    pub(super) instance: usize,
    pub(super) rows: Vec<(usize, u32)>,
}

/// The sum of the hashes of the people of a piece.
pub(super) fn sum_of(roll: &Roll, piece: &Piece) -> u128 {
    let (mut bytes, there) = (Bytes::default(), &piece.there);
    let people = there.arms.iter().enumerate();
    people.fold(0, |sum, (i, arm)| {
        let part = roll.part(piece.positions[i] as usize);
        sum.wrapping_add(bytes.person(&there.name, arm, (&there.features, i), part))
    })
}

impl Roll {
    /// The piece of a part.
    pub(super) fn piece(&self, part: &Part<'_>) -> Result<Piece> {
        let Part { batch, instance, rows } = part;
        let positions: Vec<u32> = rows.iter().map(|(_, position)| *position).collect();
        let log = &self.log.instances[*instance];
        let there = StudyInstance {
            name: self.instances[*instance].name.clone(),
            arms: positions.iter().map(|position| self.name(*position as usize).to_string()).collect(),
            features: self.features_of(batch, rows)?,
            split: self
                .people
                .parts
                .as_ref()
                .map(|parts| positions.iter().map(|position| parts[*position as usize]).collect()),
            clusters: None,
            trajectory_names: log.names.clone(),
            trajectories: self.trajectories_of(*instance, &positions)?,
            truth: None,
        };
        Ok(Piece { instance: *instance, positions, there })
    }

    /// The trajectories of some people of one instance, `[J,T,n]`, in this order; without propensities and rewards.
    pub fn trajectories_of(&self, instance: usize, positions: &[u32]) -> Result<Trajectories> {
        let is_there = |position: &u32| self.instance_of(*position as usize) == instance;
        assert!(positions.iter().all(is_there), "people of this instance");
        let log = &self.log.instances[instance];
        let numbers: Vec<usize> =
            positions.iter().map(|position| self.people.place(*position as usize).1).collect();
        let shape = (log.names.len(), log.steps, positions.len());
        let mut states = Vec::with_capacity(shape.0 * shape.1 * shape.2);
        let mut actions = Vec::with_capacity(states.capacity());
        for (j, t) in (0..shape.0).flat_map(|j| (0..shape.1).map(move |t| (j, t))) {
            let Some(page) = log.page(j, t) else {
                states.resize(states.len() + shape.2, UNSEEN);
                actions.resize(actions.len() + shape.2, NO_ACTION);
                continue;
            };
            states.extend(numbers.iter().map(|i| state(page[*i])));
            actions.extend(numbers.iter().map(|i| action(page[*i])));
        }
        let logged = Logged {
            state: Array3::from_shape_vec(shape, states).expect("one for each"),
            action: Array3::from_shape_vec(shape, actions).expect("one for each"),
            propensity: None,
            reward: None,
            available: None,
        };
        Trajectories::new(logged, self.settings.reward.states()).map_err(|fault| Error::Instance {
            instance: self.instances[instance].name.clone(),
            fault: fault.into(),
        })
    }

    /// The features of some rows of a batch.
    fn features_of(&self, batch: &Batch, rows: &[(usize, u32)]) -> Result<Features> {
        let ArmsFile { path, header, kinds, is_typed, .. } = &self.file;
        let row_number = |row: &(usize, u32)| match is_typed {
            true => RowNumber::Row(row.1.into()),
            false => batch.row(row.0),
        };
        let mut columns = Vec::with_capacity(kinds.len());
        for ((name, kind), cells) in header.names.iter().zip(kinds).zip(&batch.cells) {
            if let Cells::Text(texts) = cells {
                let long = |row: &&(usize, u32)| texts.value_length(row.0) as usize > LONGEST;
                rows.iter()
                    .filter(long)
                    .try_for_each(|row| refuse_long(path, || row_number(row), name, cells.text(row.0)))?;
            }
            columns.push(match (cells, kind) {
                (Cells::Number(values), _) => {
                    Column::Number(rows.iter().map(|(row, _)| values[*row]).collect())
                }
                (Cells::Text(_), Growing::Category(_)) => {
                    let text = |(row, _): &(usize, u32)| cells.text(*row);
                    let texts =
                        rows.iter().map(text).map(|text| (!text.is_empty()).then(|| text.to_string()));
                    Column::Text(texts.collect())
                }
                (Cells::Text(_), kind) => {
                    let mut growing = kind.emptied();
                    for row in rows {
                        let place = || (row_number(row), self.name(row.1 as usize).to_string());
                        growing.push(cells, row.0, false, place);
                    }
                    refuse_mixed(path, std::slice::from_ref(&growing), std::slice::from_ref(name))?;
                    growing.finish()
                }
            });
        }
        if let Some(name) = columns.iter().zip(&header.names).find_map(|(column, name)| match column {
            Column::Number(values) => values.iter().any(|x| x.is_infinite()).then_some(name),
            Column::Text(_) => None,
        }) {
            return Err(infinite(path, name));
        }
        let named = header.names.iter().cloned().zip(columns).collect();
        Features::new(rows.len(), named).map_err(|source| arms::infinite(path, source, &header.names))
    }
}
