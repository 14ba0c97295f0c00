//! The third pass: some people once more.

use super::super::gather::Assessed;
use super::job::PlanJob;
use crate::error::Result;
use crate::rules::people::Recency;
use arrow_array::RecordBatch;
use ndarray::Axis;
use restive::bytes::{Reader, Writer};
use std::collections::{HashMap, HashSet};

const WANTED: &str = "people of a plan 1";
const NAME: &str = "details of a plan 1";
/// Where there is no number.
const NONE: u64 = u64::MAX;

/// People who are to be looked at once more.
pub struct Wanted {
    /// by instance of the job, in the order in which they are wanted
    names: Vec<(String, Vec<String>)>,
    known: Vec<HashSet<String>>,
}

impl Wanted {
    pub(super) fn new(names: Vec<(String, Vec<String>)>) -> Self {
        let known = names.iter().map(|(_, names)| names.iter().cloned().collect()).collect();
        Self { names, known }
    }

    pub(super) fn names(&self, instance: usize) -> &[String] {
        &self.names[instance].1
    }

    fn has(&self, instance: &str, arm: &str) -> bool {
        let mut places = self.names.iter().zip(&self.known);
        places.any(|((name, _), known)| name == instance && known.contains(arm))
    }

    /// As bytes, to be sent to partitions.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(WANTED);
        writer.count(self.names.len());
        for (instance, names) in &self.names {
            writer.text(instance);
            writer.count(names.len());
            names.iter().for_each(|name| writer.text(name));
        }
        writer.finish()
    }

    /// And back.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(WANTED, bytes)?;
        let mut all = Vec::new();
        for _ in 0..reader.count()? {
            let (instance, mut names) = (reader.text()?, Vec::new());
            for _ in 0..reader.count()? {
                names.push(reader.text()?);
            }
            all.push((instance, names));
        }
        reader.finish()?;
        Ok(Self::new(all))
    }
}

/// Some people once more.
#[derive(Debug, Clone, Default)]
pub struct Details {
    /// by instance of the job and name
    found: Vec<(usize, String, Detail)>,
}

/// What the plan asks of somebody who is on the list, or stands for everybody.
#[derive(Debug, Clone)]
pub(super) struct Detail {
    /// `[M,2,M]`: how she moves
    pub(super) row: Vec<f64>,
    /// `[M]`, where people are ranked by it
    pub(super) index: Vec<f64>,
    pub(super) recency: Recency,
}

impl Details {
    /// Both together.
    pub fn merge(&mut self, other: Self) {
        self.found.extend(other.found);
    }

    pub(super) fn by_name(&self) -> HashMap<(usize, &str), &Detail> {
        self.found.iter().map(|(instance, name, detail)| ((*instance, name.as_str()), detail)).collect()
    }

    /// As bytes, to be sent to whoever merges.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME);
        writer.count(self.found.len());
        for (instance, name, Detail { row, index, recency }) in &self.found {
            writer.count(*instance);
            writer.text(name);
            writer.numbers(row);
            writer.numbers(index);
            let Recency { state, last_seen, last_call, calls } = *recency;
            let numbers = [state.map(usize::from), last_seen, last_call, Some(calls)];
            numbers.iter().for_each(|number| writer.whole(number.map_or(NONE, |number| number as u64)));
        }
        writer.finish()
    }

    /// And back.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(NAME, bytes)?;
        let mut found = Vec::new();
        for _ in 0..reader.count()? {
            let (instance, name) = (reader.count()?, reader.text()?);
            let (row, index) = (reader.numbers()?, reader.numbers()?);
            let mut number = || -> Result<Option<usize>> {
                Ok(Some(reader.whole()?).filter(|number| *number != NONE).map(|number| number as usize))
            };
            let (state, last_seen, last_call, calls) = (number()?, number()?, number()?, number()?);
            let state = state.and_then(|state| u16::try_from(state).ok());
            let recency = Recency { state, last_seen, last_call, calls: calls.unwrap_or(0) };
            found.push((instance, name, Detail { row, index, recency }));
        }
        reader.finish()?;
        Ok(Self { found })
    }
}

impl PlanJob {
    /// Adds the people of a batch who are wanted.
    pub fn details(&self, details: &mut Details, wanted: &Wanted, batch: &RecordBatch) -> Result<()> {
        let outset = self.outset_with_prices()?;
        for piece in self.pieces(batch, |instance, arm| wanted.has(instance, arm))? {
            let Some(k) = outset.stages.iter().position(|stage| stage.name == piece.instance) else {
                continue;
            };
            let here = self.here(&outset, &piece)?;
            let assessed = Assessed::new(&outset, &outset.stages[k], &here, outset.candidates(&here)?)?;
            let rows = here.transition.view();
            for (i, arm) in piece.arms.iter().enumerate() {
                let detail = Detail {
                    row: rows.index_axis(Axis(0), i).iter().copied().collect(),
                    index: assessed.index.as_ref().map_or(Vec::new(), |table| table.row(i).to_vec()),
                    recency: here.known.recency[i],
                };
                details.found.push((k, arm.clone(), detail));
            }
        }
        Ok(())
    }
}
