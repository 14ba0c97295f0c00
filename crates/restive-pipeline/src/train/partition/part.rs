//! What a partition answers in a pass: mergeable, as bytes.

use super::job::TrainJob;
use crate::error::{Result, refuse};
use crate::nothing::GROUPS;
use ndarray::{Array3, Array4, Axis};
use restive::bytes::{Reader, Writer};
use restive::data::split::Part;
use restive::data::survey::Survey;
use restive::predictor::logistic::Sums;
use restive_tables::PeoplePiece;
use std::collections::BTreeMap;

const NAME: &str = "part of a training 1";

/// Of each instance: people of each part, and trajectories.
pub(super) type Instances = BTreeMap<String, ([u64; 3], u64)>;

/// What a partition answers in a pass.
pub enum TrainPart {
    /// what is known before anything is fitted
    Survey(Surveyed),
    /// what the fit asked for
    Sums(Sums),
    /// how well it predicts
    Judged(Judged),
}

/// What is known of people before anything is fitted.
pub struct Surveyed {
    /// of the training arms, and of all others; none while there is nobody
    pub(super) seen: Option<[Survey; 2]>,
    /// of all arms of a part, `[M,2,M]`
    pub(super) moves: [Array3<f64>; 3],
    /// of each instance: people of each part, and trajectories
    pub(super) instances: Instances,
    /// whether the table says who is of which part
    pub(super) is_given: bool,
}

impl Surveyed {
    pub(super) fn new(states: usize) -> Self {
        let moves = std::array::from_fn(|_| Array3::zeros((states, 2, states)));
        Self { seen: None, moves, instances: BTreeMap::new(), is_given: false }
    }

    pub(super) fn add(&mut self, piece: &PeoplePiece, moves: &Array4<f64>, of: &[Part]) -> Result<()> {
        self.is_given |= piece.split.is_some();
        let nobody = piece.features.select_arms(&[]);
        let [learnt, others] =
            self.seen.get_or_insert_with(|| [Survey::like(&nobody), Survey::like(&nobody)]);
        let some = |is_train: bool| -> Vec<usize> {
            (0..of.len()).filter(|i| (of[*i] == Part::Train) == is_train).collect()
        };
        learnt.add(&piece.features.select_arms(&some(true)))?;
        others.add(&piece.features.select_arms(&some(false)))?;
        let (people, trajectories) = self.instances.entry(piece.instance.clone()).or_default();
        for (i, part) in of.iter().enumerate() {
            self.moves[*part as usize] += &moves.index_axis(Axis(0), i);
            people[*part as usize] += 1;
        }
        if let Some(begins) = &piece.begins {
            let most = begins.outer_iter().map(|row| row.sum() as u64).max().unwrap_or(0);
            *trajectories = most.max(*trajectories);
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        match (&mut self.seen, other.seen) {
            (Some(here), Some(there)) => {
                here.iter_mut().zip(&there).try_for_each(|(here, there)| here.merge(there))?;
            }
            (here @ None, there) => *here = there,
            (Some(_), None) => {}
        }
        self.is_given |= other.is_given;
        self.moves.iter_mut().zip(&other.moves).for_each(|(here, there)| *here += there);
        for (name, (people, trajectories)) in other.instances {
            let (here, most) = self.instances.entry(name).or_default();
            here.iter_mut().zip(people).for_each(|(here, there)| *here += there);
            *most = trajectories.max(*most);
        }
        Ok(())
    }
}

/// How well a model predicts.
#[derive(Default)]
pub struct Judged {
    /// −Σ n·ln P by instance and part
    pub(super) losses: BTreeMap<String, [f64; 3]>,
    /// of validation arms, by group: −Σ n·ln P of the model, of the bare frequencies, and Σ n
    pub(super) groups: [[f64; 3]; GROUPS],
}

impl Judged {
    pub(super) fn add(&mut self, instance: &str, part: Part, group: usize, sums: [f64; 3]) {
        let losses = match self.losses.get_mut(instance) {
            Some(losses) => losses,
            None => self.losses.entry(instance.into()).or_default(),
        };
        losses[part as usize] += sums[0];
        if part == Part::Validation {
            self.groups[group].iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
        }
    }

    fn merge(&mut self, other: Self) {
        for (name, losses) in other.losses {
            let here = self.losses.entry(name).or_default();
            here.iter_mut().zip(losses).for_each(|(here, there)| *here += there);
        }
        for (here, there) in self.groups.iter_mut().zip(other.groups) {
            here.iter_mut().zip(there).for_each(|(here, there)| *here += there);
        }
    }
}

impl TrainPart {
    /// As bytes, to be sent to whoever merges.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME);
        match self {
            Self::Survey(all) => {
                writer.whole(0);
                writer.whole(u64::from(all.is_given));
                writer.count(all.seen.iter().count());
                all.seen.iter().flatten().for_each(|survey| writer.bytes(&survey.to_bytes()));
                all.moves.iter().for_each(|moves| writer.numbers(moves.as_slice().expect("contiguous")));
                writer.count(all.instances.len());
                for (name, (people, trajectories)) in &all.instances {
                    writer.text(name);
                    people.iter().for_each(|people| writer.whole(*people));
                    writer.whole(*trajectories);
                }
            }
            Self::Sums(sums) => {
                writer.whole(1);
                writer.bytes(&sums.to_bytes());
            }
            Self::Judged(all) => {
                writer.whole(2);
                writer.count(all.losses.len());
                for (name, losses) in &all.losses {
                    writer.text(name);
                    writer.numbers(losses);
                }
                all.groups.iter().for_each(|group| writer.numbers(group));
            }
        }
        writer.finish()
    }
}

impl TrainJob {
    /// What [`TrainPart::to_bytes`] wrote in answer to this job.
    pub fn read(&self, bytes: &[u8]) -> Result<TrainPart> {
        let mut reader = Reader::new(NAME, bytes)?;
        let kind = reader.whole()?;
        let mut part = self.begin();
        match (&mut part, kind) {
            (TrainPart::Survey(all), 0) => {
                all.is_given = reader.whole()? == 1;
                all.seen = match reader.count()? {
                    0 => None,
                    _ => Some([Survey::from_bytes(reader.bytes()?)?, Survey::from_bytes(reader.bytes()?)?]),
                };
                for moves in &mut all.moves {
                    *moves = Array3::from_shape_vec(moves.raw_dim(), reader.numbers()?)
                        .map_err(|_| reader.refuse("other sizes"))?;
                }
                for _ in 0..reader.count()? {
                    let name = reader.text()?;
                    let people = [reader.whole()?, reader.whole()?, reader.whole()?];
                    all.instances.insert(name, (people, reader.whole()?));
                }
            }
            (TrainPart::Sums(sums), 1) => *sums = Sums::from_bytes(reader.bytes()?)?,
            (TrainPart::Judged(all), 2) => {
                let three = |numbers: Vec<f64>, reader: &Reader<'_>| {
                    <[f64; 3]>::try_from(numbers).map_err(|_| reader.refuse("other sizes"))
                };
                for _ in 0..reader.count()? {
                    let (name, numbers) = (reader.text()?, reader.numbers()?);
                    all.losses.insert(name, three(numbers, &reader)?);
                }
                for group in &mut all.groups {
                    let numbers = reader.numbers()?;
                    *group = three(numbers, &reader)?;
                }
            }
            _ => return Err(reader.refuse("the answer to another pass").into()),
        }
        reader.finish()?;
        Ok(part)
    }

    /// Adds what another partition answered.
    pub fn merge(&self, part: &mut TrainPart, other: TrainPart) -> Result<()> {
        match (part, other) {
            (TrainPart::Survey(here), TrainPart::Survey(there)) => here.merge(there),
            (TrainPart::Sums(here), TrainPart::Sums(there)) => Ok(here.merge(&there)?),
            (TrainPart::Judged(here), TrainPart::Judged(there)) => {
                here.merge(there);
                Ok(())
            }
            _ => refuse!("training: found the answer to another pass, expected one to this"),
        }
    }
}
