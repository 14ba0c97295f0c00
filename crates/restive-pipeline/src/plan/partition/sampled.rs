//! The first pass: those who stand for everybody, and the prices that are found on them.

use super::super::gather::counted;
use super::super::here::of_rows;
use super::job::{PlanJob, Priced};
use crate::error::{Error, Result};
use arrow_array::RecordBatch;
use ndarray::Axis;
use restive::bytes::{Reader, Writer};
use restive::planning::SAMPLE;
use restive_tables::{arm_key, by_name, show};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

const NAME: &str = "sample of a plan 1";
/// Where nobody stands.
const NOWHERE: u64 = u64::MAX;

/// Those of some partitions who may stand for everybody: of each instance the smallest keys.
#[derive(Debug, Clone, Default)]
pub struct Sampled {
    instances: BTreeMap<String, Sample>,
}

#[derive(Debug, Clone, Default)]
struct Sample {
    /// people, whether they are in the sample or not
    people: u64,
    smallest: BinaryHeap<Person>,
}

/// Somebody who stands for others.
#[derive(Debug, Clone)]
struct Person {
    key: u64,
    name: String,
    /// where she stands, if a plan can do something for her
    standing: Option<u16>,
    /// `[M,2,M]`: how she moves
    row: Vec<f64>,
}

impl PartialEq for Person {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Person {}

impl PartialOrd for Person {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Person {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then_with(|| by_name(&self.name, &other.name))
    }
}

impl Sample {
    fn offer(&mut self, person: Person) {
        if self.smallest.len() < SAMPLE {
            return self.smallest.push(person);
        }
        let mut largest = self.smallest.peek_mut().expect("as many as stand for all");
        if person < *largest {
            *largest = person;
        }
    }

    /// Whether somebody of this key would be in it.
    fn takes(&self, key: u64) -> bool {
        self.smallest.len() < SAMPLE || self.smallest.peek().is_some_and(|largest| key <= largest.key)
    }
}

impl Sampled {
    /// Both together.
    pub fn merge(&mut self, other: Self) {
        for (name, sample) in other.instances {
            let here = self.instances.entry(name).or_default();
            here.people += sample.people;
            sample.smallest.into_iter().for_each(|person| here.offer(person));
        }
    }

    /// As bytes, to be sent to whoever merges.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME);
        writer.count(self.instances.len());
        for (name, sample) in &self.instances {
            writer.text(name);
            writer.whole(sample.people);
            writer.count(sample.smallest.len());
            for Person { key, name, standing, row } in &sample.smallest {
                writer.whole(*key);
                writer.text(name);
                writer.whole(standing.map_or(NOWHERE, u64::from));
                writer.numbers(row);
            }
        }
        writer.finish()
    }

    /// And back.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(NAME, bytes)?;
        let mut sampled = Self::default();
        for _ in 0..reader.count()? {
            let name = reader.text()?;
            let mut sample = Sample { people: reader.whole()?, ..Sample::default() };
            for _ in 0..reader.count()? {
                let (key, name) = (reader.whole()?, reader.text()?);
                let standing = match reader.whole()? {
                    NOWHERE => None,
                    state => Some(u16::try_from(state).map_err(|_| reader.refuse("a state that is none"))?),
                };
                sample.offer(Person { key, name, standing, row: reader.numbers()? });
            }
            sampled.instances.insert(name, sample);
        }
        reader.finish()?;
        Ok(sampled)
    }
}

impl PlanJob {
    /// Adds the people of a batch.
    pub fn sample(&self, sampled: &mut Sampled, batch: &RecordBatch) -> Result<()> {
        // who cannot be in the sample is counted, and not looked at
        let counts: RefCell<BTreeMap<String, u64>> = RefCell::default();
        let is_wanted = |instance: &str, arm: &str| {
            let mut counts = counts.borrow_mut();
            match counts.get_mut(instance) {
                Some(count) => *count += 1,
                None => drop(counts.insert(instance.into(), 1)),
            }
            sampled.instances.get(instance).is_none_or(|sample| sample.takes(arm_key(instance, arm)))
        };
        let pieces = self.pieces(batch, is_wanted)?;
        for (instance, people) in counts.into_inner() {
            if self.asked.instance.as_ref().is_none_or(|wanted| *wanted == instance) {
                sampled.instances.entry(instance).or_default().people += people;
            }
        }
        for piece in pieces {
            let outset = self.outset(&[&piece.instance])?;
            let here = self.here(&outset, &piece)?;
            let standing = counted(&here, &outset.candidates(&here)?);
            let rows = here.transition.view();
            let sample = sampled.instances.entry(piece.instance.clone()).or_default();
            for (i, arm) in piece.arms.iter().enumerate() {
                let key = arm_key(&piece.instance, arm);
                if sample.takes(key) {
                    let row = rows.index_axis(Axis(0), i).iter().copied().collect();
                    sample.offer(Person { key, name: arm.clone(), standing: standing[i], row });
                }
            }
        }
        Ok(())
    }

    /// The job with the prices of pulls to come, found on those who stand for everybody.
    pub fn priced(&self, sampled: Sampled) -> Result<Self> {
        let mut instances: Vec<(String, Sample)> = sampled.instances.into_iter().collect();
        instances.sort_by(|a, b| by_name(&a.0, &b.0));
        if instances.is_empty() {
            return Err(Error::Data("people: found nobody, expected at least one row".into()));
        }
        let budget = self.settings.budget;
        if let Some((name, sample)) = instances.iter().find(|(_, sample)| sample.people < budget as u64) {
            let (name, found) = (show::name(name), sample.people);
            let words =
                format!("people: instance {name}: found {found}, expected at least the budget of {budget}");
            return Err(Error::Data(words.into()));
        }
        let names: Vec<&str> = instances.iter().map(|(name, _)| name.as_str()).collect();
        let outset = self.outset(&names)?;
        let mut priced = Vec::new();
        for stage in &outset.stages {
            let sample = &instances[stage.instance].1;
            let mut people: Vec<&Person> = sample.smallest.iter().collect();
            people.sort_by(|a, b| by_name(&a.name, &b.name));
            let standing: Vec<Option<u16>> = people.iter().map(|person| person.standing).collect();
            let transition =
                of_rows(self.settings.reward.states(), people.iter().map(|person| &person.row[..]))?;
            let price = outset.price(stage, &transition, &standing, sample.people as usize);
            let (name, people) = (stage.name.clone(), sample.people);
            priced.push(Priced { name, people, price: price.into_raw_vec_and_offset().0 });
        }
        let mut job = self.clone();
        job.priced = Some(priced);
        Ok(job)
    }
}
