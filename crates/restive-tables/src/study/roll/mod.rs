//! A roll: everybody of a study in bounded memory.
//!
//! A [`Study`](crate::Study) holds features and logs as they are computed with, about a kilobyte for a person. A roll keeps who there is,
//! and of every person and step one byte: ten million people with eight decisions take some 300 MB. Features stay in the file and pass
//! by in [pieces](Roll::pieces), each of them an instance of a few thousand people, as often as they are asked for.
//!
//! Refusals and their messages are equal to those of [`Study::read`](crate::Study::read); a fault in a feature of Parquet is found
//! when it is read. Propensities, rewards and truth are checked, go into the [fingerprint](Roll::fingerprint), and are not kept.
//!
//! ```
//! use restive_tables::{Roll, Study};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
//! write("study.toml", "states = 2\ndiscount = 0.9\nbudget = 1\nhorizon = 9\nbehaviour = \"uniform\"\n");
//! write("arms.csv", "arm,age\nBen,24\nAda,31\nCho,\n");
//! write("trajectories.csv", "trajectory,t,arm,state,action\n1,0,Ada,0,1\n1,0,Ben,1,0\n1,1,Ada,1,\n1,1,Ben,0,\n");
//!
//! let roll = Roll::read(folder)?;
//! assert_eq!((roll.people(), roll.name(0), roll.counts().newcomers), (3, "Ben", 1));
//! for piece in roll.pieces(2)? {
//!     let piece = piece?;
//!     assert_eq!(piece.there.arms.len(), piece.there.trajectories.arms());
//! }
//! assert_eq!(roll.fingerprint()?, Study::read(folder)?.fingerprint());
//! # Ok::<(), restive_tables::Error>(())
//! ```

mod arms;
mod cell;
mod counts;
mod log;
mod names;
mod people;
mod piece;
mod rows;
mod table;
mod truth;
mod unpack;

pub use counts::{RollCounts, RollInstance};
pub use piece::{Piece, Pieces};
pub use table::write_people;

use super::arms::refuse_few;
use super::fingerprint::sums::Sums;
use super::table::{Origin, Table};
use super::{StudySettings, open, unsupported_in_passes};
use crate::error::{Error, Result};
use arms::ArmsFile;
use log::Log;
use people::People;
use restive::data::split::Part;
use restive::instance::{Observation, OverBudget};
use std::path::Path;
use std::sync::OnceLock;

/// Everybody of a study in bounded memory.
pub struct Roll {
    /// what holds for all instances
    pub settings: StudySettings,
    people: People,
    file: ArmsFile,
    log: Log,
    instances: Vec<RollInstance>,
    counts: RollCounts,
    truth: Option<u128>,
    /// the sums of the hashes of people and of their logs, once they are known
    person_sum: OnceLock<u128>,
    log_sum: OnceLock<u128>,
    /// Maximum size of a chunk, also if the caller of [`pieces`](Self::pieces) requests larger ones.
    piece_limit: usize,
}

impl Roll {
    /// Reads and checks a study: its settings, the names of its arms, and its log.
    pub fn read(folder: &Path) -> Result<Self> {
        let ((settings, _), [arms, trajectories], truth) = open(folder)?;
        if let Some(found) = unsupported_in_passes(&settings, has_available(&trajectories)) {
            let expected = "a study without it: people pass by in pieces here, and such a study requires all of them in memory";
            return Err(Error::content(folder, "", found, expected));
        }
        if !Self::can_read(&settings) {
            let found = match settings.observation {
                Observation::Full => format!("{} states", settings.reward.states()),
                Observation::Collapsing(_) => "states that are seen at pulls only".into(),
            };
            let expected = format!(
                "at most {} states, seen at every step: other studies are read into memory",
                cell::MOST_STATES
            );
            return Err(Error::content(&folder.join(super::SETTINGS), "", found, expected));
        }
        let (people, file) = arms::read(&arms, &settings.text)?;
        let counted = people.instances.iter().zip(&people.counts);
        counted.clone().try_for_each(|(name, count)| refuse_few(&arms, name, *count, settings.budget))?;
        let log = Log::read(&trajectories, &people, &settings)?;
        let truth = truth.map(|truth| truth::read(&truth, &people, settings.reward.states())).transpose()?;
        let instances = counted.zip(&log.instances).map(|((name, n), log)| RollInstance::new(name, *n, log));
        let instances: Vec<RollInstance> = instances.collect();
        let counts = RollCounts::new(&people, &log, &instances);
        let (person_sum, log_sum) = (OnceLock::new(), OnceLock::new());
        let piece_limit = usize::MAX;
        Ok(Self { settings, people, file, log, instances, counts, truth, person_sum, log_sum, piece_limit })
    }

    /// Limits the size of the chunks that [`pieces`](Self::pieces) returns, whatever size the caller requests. Tests show with it that
    /// results do not depend on the size.
    #[doc(hidden)]
    pub fn limit_pieces(&mut self, rows: usize) {
        self.piece_limit = rows;
    }

    /// Whether a study of these settings can be a roll: at most 60 states, seen at every step, without clusters and pulls per person.
    pub fn can_read(settings: &StudySettings) -> bool {
        settings.observation == Observation::Full
            && settings.reward.states() <= cell::MOST_STATES
            && unsupported_in_passes(settings, false).is_none()
    }

    /// How many people the study in a folder has, without reading it: as Parquet says, or by the size of the text. `None` if it
    /// cannot be a [`Roll`].
    pub fn estimate(folder: &Path) -> Result<Option<u64>> {
        let ((settings, _), [arms, trajectories], _) = open(folder)?;
        if !Self::can_read(&settings) || has_available(&trajectories) {
            return Ok(None);
        }
        let table = Table::open(Origin::File(&arms))?;
        Ok(Some(if table.is_parquet() { table.most_rows() } else { arms::estimate(&arms)? }))
    }

    /// The instances, in the order of their names.
    pub fn instances(&self) -> &[RollInstance] {
        &self.instances
    }

    /// What the log holds.
    pub fn counts(&self) -> &RollCounts {
        &self.counts
    }

    /// The logged steps with more pulls than the budget of the study, over all instances; none where no step has.
    pub fn over_budget(&self) -> Option<OverBudget> {
        counts::over_budget(&self.instances, self.settings.budget)
    }

    /// How many people there are; their positions are the rows of the table of arms, from 0.
    pub fn people(&self) -> usize {
        self.people.len()
    }

    /// What the person at a position is called.
    pub fn name(&self, position: usize) -> &str {
        self.people.name(position)
    }

    /// The number of the instance of the person at a position.
    pub fn instance_of(&self, position: usize) -> usize {
        self.people.place(position).0
    }

    /// The part of the person at a position, where the study says.
    pub fn part(&self, position: usize) -> Option<Part> {
        self.people.parts.as_ref().map(|parts| parts[position])
    }

    /// The position of a person of an instance, by name.
    pub fn find(&self, instance: usize, name: &str) -> Option<usize> {
        self.people.find(instance, name)
    }

    /// The features, in the order of the table: name and kind, numbers or text.
    pub fn features(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.file.header.names.iter().map(String::as_str).zip(self.file.kinds.iter().map(|kind| kind.kind()))
    }

    /// Whether the true transitions are known.
    pub fn has_truth(&self) -> bool {
        self.truth.is_some()
    }

    /// All people in the order of the file, in pieces of at most `rows` people of one instance each.
    pub fn pieces(&self, rows: usize) -> Result<Pieces<'_>> {
        Pieces::start(self, rows, None)
    }

    /// Some people only, in the order of the file, in pieces of one instance each.
    pub fn some(&self, positions: &[u32]) -> Result<Pieces<'_>> {
        let mut chosen = positions.to_vec();
        chosen.sort_unstable();
        chosen.dedup();
        assert!(chosen.last().is_none_or(|last| (*last as usize) < self.people()), "positions of people");
        Pieces::start(self, usize::MAX, Some(chosen))
    }

    /// The fingerprint that the study has [in memory](crate::Study::fingerprint). Where no pass of [pieces](Self::pieces) has come to its
    /// end yet, one is made for it.
    pub fn fingerprint(&self) -> Result<String> {
        if self.person_sum.get().is_none() {
            self.pieces(usize::MAX)?.try_for_each(|piece| piece.map(drop))?;
        }
        let sums = Sums {
            settings: &self.settings,
            columns: self.features().collect(),
            instances: self.instances.iter().map(|k| (k.name.as_str(), &k.trajectory_names[..])).collect(),
            has: [self.log.has_propensity, self.log.has_reward],
            people: self.people() as u64,
            person: *self.person_sum.get().expect("a pass has come to its end"),
            log: *self.log_sum.get_or_init(|| self.log.sum(&self.people)),
            values: &self.log.values,
            truth: self.truth.unwrap_or(0),
        };
        Ok(sums.fingerprint())
    }
}

/// Whether the trajectories have a column `available`. A table that cannot be opened is refused where it is read.
fn has_available(trajectories: &Path) -> bool {
    Table::open(Origin::File(trajectories)).is_ok_and(|table| table.find("available").is_some())
}
