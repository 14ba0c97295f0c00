//! The second pass: counts, exact sums, and who can still have a place.

use super::super::contender::Sent;
use super::super::gather::{Assessed, Gathered, Tally};
use super::super::outset::Outset;
use super::super::stream::Notes;
use super::job::PlanJob;
use crate::error::{Result, refuse};
use arrow_array::RecordBatch;
use restive::bytes::{Reader, Writer};
use std::collections::HashMap;

const NAME: &str = "gathered of a plan 1";
/// Names that are kept beyond those that are needed, before they are put in order.
const SPARE: usize = 1 << 17;

/// What is kept of the people of some partitions.
pub struct GatheredPart {
    /// what keeps people out, in a few words
    pub(super) rules: Vec<String>,
    pub(super) notes: Notes,
    /// of every instance of the job, in its order
    pub(super) instances: Vec<InstancePart>,
}

/// Those of one instance.
pub(super) struct InstancePart {
    pub(super) gathered: Gathered,
    /// of those who are kept, by place; and of others who were
    pub(super) names: Vec<String>,
    /// names that were needed when they were last put in order
    needed: usize,
}

impl InstancePart {
    fn new(outset: &Outset<'_>) -> Self {
        Self { gathered: Gathered::new(outset), names: Vec::new(), needed: 0 }
    }

    /// Everybody who is kept, numbered anew; and the smallest keys.
    fn send(self) -> (Vec<String>, Sent, Tally, Vec<(u64, u32)>) {
        let Self { gathered, mut names, .. } = self;
        let (mut sent, tally, mut smallest) = gathered.send();
        let mut place: HashMap<u32, u32> = HashMap::new();
        let mut kept = Vec::new();
        let mut number = |before: &mut u32| {
            *before = *place.entry(*before).or_insert_with(|| {
                kept.push(std::mem::take(&mut names[*before as usize]));
                kept.len() as u32 - 1
            });
        };
        sent.people.iter_mut().for_each(|person| number(&mut person.place));
        smallest.iter_mut().for_each(|(_, place)| number(place));
        (kept, sent, tally, smallest)
    }

    /// Takes over those whom another kept.
    fn receive(
        &mut self,
        outset: &Outset<'_>,
        (names, sent, tally, smallest): (Vec<String>, Sent, Tally, Vec<(u64, u32)>),
    ) {
        let first = self.names.len() as u32;
        self.names.extend(names);
        self.gathered.receive(&outset.asked.rules, sent, tally, smallest, first);
    }

    /// Forgets the names of those who were dropped.
    fn settle(&mut self, outset: &Outset<'_>) {
        let sent = std::mem::replace(self, Self::new(outset)).send();
        self.receive(outset, sent);
        self.needed = self.names.len();
    }

    fn settle_if_long(&mut self, outset: &Outset<'_>) {
        if self.names.len() > 2 * self.needed + SPARE {
            self.settle(outset);
        }
    }
}

impl GatheredPart {
    /// Nobody yet.
    fn new(outset: &Outset<'_>) -> Self {
        let instances = outset.stages.iter().map(|_| InstancePart::new(outset)).collect();
        Self { rules: Vec::new(), notes: Notes::default(), instances }
    }

    /// As bytes, to be sent to whoever merges.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut writer = Writer::new(NAME);
        writer.text(&serde_json::to_string(&(&self.rules, &self.notes)).expect("plain values"));
        writer.count(self.instances.len());
        for part in self.instances {
            let (names, sent, tally, smallest) = part.send();
            writer.count(names.len());
            names.iter().for_each(|name| writer.text(name));
            sent.write(&mut writer);
            tally.write(&mut writer);
            writer.count(smallest.len());
            for (key, place) in smallest {
                writer.whole(key);
                writer.whole(u64::from(place));
            }
        }
        writer.finish()
    }
}

impl PlanJob {
    /// Nobody yet; prices must be known.
    pub fn gathered(&self) -> Result<GatheredPart> {
        Ok(GatheredPart::new(&self.outset_with_prices()?))
    }

    /// Adds the people of a batch.
    pub fn gather(&self, part: &mut GatheredPart, batch: &RecordBatch) -> Result<()> {
        let outset = self.outset_with_prices()?;
        let encoding = &self.trained.model.card.encoding;
        for piece in self.pieces(batch, |_, _| true)? {
            part.notes.add(&piece.features, encoding);
            let Some(k) = outset.stages.iter().position(|stage| stage.name == piece.instance) else {
                refuse!(
                    "people: found an instance {} that the sample did not have, expected a table that stays as it is",
                    restive_tables::show::quoted_name(&piece.instance)
                );
            };
            let stage = &outset.stages[k];
            let here = self.here(&outset, &piece)?;
            let assessed = Assessed::new(&outset, stage, &here, outset.candidates(&here)?)?;
            let there = &mut part.instances[k];
            let first = there.names.len() as u32;
            let places: Vec<u32> = (first..first + piece.arms.len() as u32).collect();
            there.names.extend(piece.arms.iter().cloned());
            there.gathered.take(&outset, stage, &here, &assessed, &places)?;
            there.settle_if_long(&outset);
            part.rules = assessed.candidates.rules;
        }
        Ok(())
    }

    /// Adds what another partition gathered.
    pub fn merge(&self, part: &mut GatheredPart, other: GatheredPart) -> Result<()> {
        let outset = self.outset_with_prices()?;
        if part.rules.is_empty() {
            part.rules = other.rules;
        }
        part.notes.merge(other.notes);
        for (here, there) in part.instances.iter_mut().zip(other.instances) {
            here.receive(&outset, there.send());
            here.settle_if_long(&outset);
        }
        Ok(())
    }

    /// What [`GatheredPart::to_bytes`] wrote.
    pub fn read_gathered(&self, bytes: &[u8]) -> Result<GatheredPart> {
        let outset = self.outset_with_prices()?;
        let mut part = GatheredPart::new(&outset);
        let mut reader = Reader::new(NAME, bytes)?;
        let words = reader.text()?;
        (part.rules, part.notes) = serde_json::from_str(&words).map_err(|_| reader.refuse("other words"))?;
        if reader.count()? != part.instances.len() {
            return Err(reader.refuse("those of another job").into());
        }
        for here in &mut part.instances {
            let mut names = Vec::new();
            for _ in 0..reader.count()? {
                names.push(reader.text()?);
            }
            let sent = Sent::read(&mut reader, names.len(), &outset.asked.rules)?;
            let tally = Tally::read(&mut reader)?;
            let mut smallest = Vec::new();
            for _ in 0..reader.count()? {
                let (key, place) = (reader.whole()?, reader.whole()?);
                if place >= names.len() as u64 {
                    return Err(reader.refuse("somebody without a name").into());
                }
                smallest.push((key, place as u32));
            }
            here.receive(&outset, (names, sent, tally, smallest));
        }
        reader.finish()?;
        Ok(part)
    }
}
