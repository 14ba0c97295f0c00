//! Synthetic health programme: exports of its systems, with or without the faults of real ones, and the truth behind them.
//!
//! All names, people, calls and effects are invented. No range of Indian mobile numbers is reserved for
//! fiction, so the phone numbers are invented too: never dial them.
//!
//! A person is *engaged* in a week if they listened to at least 30 seconds of a message of that week. Weeks begin on
//! Monday and are counted from 0. People get one or two messages a week, from the Monday after they registered. On the Monday of week
//! p, when the states of week p − 1 are known, caseworkers choose people who had messages in week p − 1, have not left and do
//! not object to calls. They call them from Tuesday to Friday noon; messages go out from Friday afternoon to Sunday. A call of
//! week p therefore acts on the state of week p, and on later weeks only through that state:
//!
//! P(engaged in week p | engaged or not in week p − 1, called or not in week p).
//!
//! In a study, row t has the state of week t and the call of week t + 1. A call that does not reach the person does nothing. A person who was
//! chosen counts as called, reached or not, because the choice is what was random. A cancelled call was not made; another
//! person was chosen instead, so that the same number is called every week.
//!
//! People, transitions, calls and the way in which they are written have separate random numbers. Exports after another
//! week begin with the bytes of the earlier ones. The same options give the same bytes on every machine. People, states
//! and calls do not depend on whether the exports have faults.
//!
//! # Faults
//!
//! With [`ProgrammeOptions::faults`], the exports have these faults, and `truth/planted.csv` counts them:
//!
//! - `registry.csv`: `;`, a byte-order mark and CRLF. Phone numbers have seven forms, school levels three spellings, missing
//!   cells four words, amounts the form `₹ 12.500,00`; there are trailing spaces. One row is repeated, one date is impossible, and
//!   some people are registered twice with the same phone.
//! - `messages.csv`: phone numbers in seven forms; repeated rows; unknown numbers.
//! - `calls.csv`: tabs, CRLF and windows-1252; ids in lower case or with spaces; a row for each attempt; cancelled calls; calls
//!   to unknown ids and calls before registration.
//!
//! In both forms, `Duration` counts the ringing too, and `ConversationDuration` the talk only.
//!
//! # Examples
//!
//! ```
//! use restive_import::demo::{ProgrammeOptions, SyntheticProgramme};
//!
//! let options = ProgrammeOptions { people: 60, weeks: 8, calls: 6, faults: false, ..Default::default() };
//! let mut programme = SyntheticProgramme::new(&options)?;
//! let person = &programme.people()[0];
//! assert!(person.probability(false, true) >= person.probability(false, false));
//!
//! // a ninth week, in which a list of one person was called
//! let reached = [person.id.clone()].into();
//! programme.advance_week(&reached, false)?;
//! assert_eq!(programme.weeks(), 9);
//!
//! let folder = tempfile::tempdir().unwrap();
//! programme.write(folder.path())?;
//! assert!(folder.path().join("registry.csv").is_file() && folder.path().join("truth/people.csv").is_file());
//! # Ok::<(), restive_import::Error>(())
//! ```

mod calls;
mod draws;
mod messages;
mod options;
mod people;
mod registry;
mod tables;
mod truth;
mod weeks;

use crate::error::Result;
use jiff::civil::Date;
use std::collections::HashMap;
use std::path::Path;

pub use options::{Assignment, Effect, ProgrammeOptions};
pub use people::Person;
pub use tables::{ExportFile, PlantedCount};
pub use weeks::{Call, CallOutcome};

/// Mapping of exports with faults.
const MAPPING: &str = include_str!("mapping.toml");

/// A synthetic programme: its people, their states and calls so far.
#[derive(Debug, Clone)]
pub struct SyntheticProgramme {
    options: ProgrammeOptions,
    people: Vec<Person>,
    positions: HashMap<String, usize>,
    /// By person and week.
    states: Vec<Vec<Option<bool>>>,
    /// By week, in the order of people.
    calls: Vec<Vec<Call>>,
}

impl SyntheticProgramme {
    /// Draws the people and plays the recorded weeks.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`](crate::Error::Refused) for options out of range.
    pub fn new(options: &ProgrammeOptions) -> Result<Self> {
        options.check()?;
        let people = people::people(options);
        let positions = people.iter().enumerate().map(|(k, person)| (person.id.clone(), k)).collect();
        let states = vec![Vec::new(); people.len()];
        let mut programme = Self { options: options.clone(), people, positions, states, calls: Vec::new() };
        for _ in 0..options.weeks {
            programme.play_week();
        }
        Ok(programme)
    }

    /// Options of the programme.
    pub fn options(&self) -> &ProgrammeOptions {
        &self.options
    }

    /// People in the order of registration, which is the order of ids.
    pub fn people(&self) -> &[Person] {
        &self.people
    }

    /// Position in [`people`](Self::people) of the person with an id.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// Number of weeks so far.
    pub fn weeks(&self) -> usize {
        self.calls.len()
    }

    /// First day of a week plus a number of days, for example `day(0, 4)`, the first Friday.
    pub fn day(&self, week: usize, days: i64) -> Date {
        people::day(self.options.first_day, week, days)
    }

    /// Whether people were engaged, by person and week; `None` in weeks without messages.
    pub fn states(&self) -> &[Vec<Option<bool>>] {
        &self.states
    }

    /// Calls that were made in a week, in the order of people.
    pub fn calls_of_week(&self, week: usize) -> &[Call] {
        self.calls.get(week).map_or(&[], Vec::as_slice)
    }

    /// All calls, by week and person.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().flatten()
    }

    /// Whether a person was called in a week, reached or not.
    pub fn is_called(&self, person: usize, week: usize) -> bool {
        self.calls_of_week(week).binary_search_by_key(&person, |call| call.person).is_ok()
    }

    /// Mapping of the exports, for [`import`](crate::import). Without faults it has no synonyms, because no cell has any of them.
    pub fn mapping(&self) -> String {
        if self.options.faults {
            return MAPPING.into();
        }
        let without_synonyms = || {
            let (before, rest) = MAPPING.split_once(", synonyms = {")?;
            let (_, after) = rest.split_once('}')?;
            Some(format!("{before}{after}"))
        };
        without_synonyms().expect("the mapping has one table of synonyms")
    }

    /// Exports of the programme's systems: `registry.csv`, `messages.csv`, `calls.csv`, and `mapping.toml`, which fits them.
    pub fn exports(&self) -> Vec<ExportFile> {
        let mut files: Vec<ExportFile> = self.tables().into_iter().map(|table| table.file).collect();
        files.push(ExportFile { name: "mapping.toml", bytes: self.mapping().into() });
        files
    }

    /// Numbers of rows and of faults in each export.
    pub fn planted(&self) -> Vec<PlantedCount> {
        self.tables().into_iter().flat_map(|table| table.planted).collect()
    }

    /// Files that no programme has.
    ///
    /// | file | content |
    /// |---|---|
    /// | `truth/truth.csv` | true probabilities of being engaged, in the columns of a study's `truth` table |
    /// | `truth/people.csv` | people without faults, with effects and the hidden trait; by week whether they listened (`L`, `n`; `.` without messages) and were called (`C`, `-`) |
    /// | `truth/calls.csv` | every call that was made, with the states before and after it and the state without it |
    /// | `truth/planted.csv` | number of each kind of fault in each export |
    pub fn truth(&self) -> Vec<ExportFile> {
        self.truth_files(&self.planted())
    }

    /// Exports, their mapping and the truth, and the numbers of rows and of faults in each export.
    pub fn files(&self) -> (Vec<ExportFile>, Vec<PlantedCount>) {
        let mut planted = Vec::new();
        let mut files = Vec::new();
        for table in self.tables() {
            files.push(table.file);
            planted.extend(table.planted);
        }
        files.push(ExportFile { name: "mapping.toml", bytes: self.mapping().into() });
        files.extend(self.truth_files(&planted));
        (files, planted)
    }

    /// Writes the exports into a folder and the truth into its folder `truth`; replaces files of these names. Returns the
    /// numbers of rows and of faults.
    ///
    /// # Errors
    ///
    /// If the system cannot make the folder or write a file.
    pub fn write(&self, folder: &Path) -> Result<Vec<PlantedCount>> {
        let fault = |path: &Path, doing| {
            let path = path.to_path_buf();
            move |answer| restive_tables::Error::Io { path, doing, answer }
        };
        let (files, planted) = self.files();
        let truth = folder.join("truth");
        std::fs::create_dir_all(&truth).map_err(fault(&truth, "make"))?;
        for file in files {
            let path = folder.join(file.name);
            std::fs::write(&path, file.bytes).map_err(fault(&path, "write"))?;
        }
        Ok(planted)
    }

    fn tables(&self) -> [tables::Table; 3] {
        [registry::table(self), messages::table(self), calls::table(self)]
    }
}
