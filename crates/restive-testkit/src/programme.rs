//! Synthetic programmes: exports, hidden truth, and the programme's folder that a suite makes from them.
//!
//! | path | content |
//! |---|---|
//! | `exports` | `registry.csv`, `messages.csv`, `calls.csv`, `mapping.toml`, and the hidden truth in `truth` |
//! | `programme` | the programme's folder, which the suite makes with the program or with library calls |
//! | `played-weeks.txt` | a line for each week after the recorded ones: ids of the people that calls of lists reached |
//!
//! People, states and calls come from [`SyntheticProgramme`], which remains available as the truth.
//!
//! # Examples
//!
//! ```
//! use restive_testkit::cache::Cache;
//! use restive_testkit::programme::{ProgrammeFixture, ProgrammeOptions};
//!
//! let options = ProgrammeOptions { people: 40, weeks: 4, calls: 4, ..ProgrammeFixture::plain_options() };
//! let mut fixture = ProgrammeFixture::cached(Cache::new("doc-example"), &options, |fixture| {
//!     // a suite imports the exports here
//!     std::fs::create_dir(fixture.programme()).unwrap();
//! });
//! assert!(fixture.mapping().is_file() && fixture.programme().is_dir());
//!
//! let id = fixture.truth().people()[0].id.clone();
//! fixture.advance_week([id]);
//! assert_eq!(fixture.truth().weeks(), 5);
//! ```

use crate::cache::Cache;
use crate::folder::{Folder, copy_folder};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::Write;
use std::path::PathBuf;

pub use restive_import::demo::{Call, CallOutcome, Effect, ProgrammeOptions, SyntheticProgramme};

/// Log of the weeks after the recorded ones.
const PLAYED_WEEKS: &str = "played-weeks.txt";

/// A synthetic programme in a temporary folder of its own; see the module for the files.
#[derive(Debug)]
pub struct ProgrammeFixture {
    folder: Folder,
    truth: SyntheticProgramme,
}

impl ProgrammeFixture {
    /// Returns options of a programme whose exports are easy to check: no faults, no people who join or leave.
    pub fn plain_options() -> ProgrammeOptions {
        ProgrammeOptions { faults: false, turnover: false, ..ProgrammeOptions::default() }
    }

    /// Writes the exports of the recorded weeks into a new folder.
    ///
    /// # Panics
    /// If an option is out of range, or the disk fails.
    pub fn new(options: &ProgrammeOptions) -> Self {
        let truth = SyntheticProgramme::new(options).unwrap();
        let fixture = Self { folder: Folder::new(), truth };
        fixture.truth.write(&fixture.exports()).unwrap();
        fixture
    }

    /// Returns a private copy of the folder that `prepare` has completed: with the programme's folder, optionally with weeks of lists.
    /// The options and today's date are further inputs of the cache: programs name models by the day on which they make them.
    ///
    /// # Panics
    /// If `prepare` panics, or as [`new`](Self::new).
    pub fn cached(cache: Cache, options: &ProgrammeOptions, prepare: impl FnOnce(Self)) -> Self {
        let today = jiff::Zoned::now().date();
        let folder = cache.input(options).input(&today).copy(|entry| {
            let fixture = Self::new(options);
            let folder = fixture.folder.clone();
            prepare(fixture);
            copy_folder(folder.root(), entry);
        });
        let mut truth = SyntheticProgramme::new(options).unwrap();
        if folder.path(PLAYED_WEEKS).exists() {
            for line in folder.read(PLAYED_WEEKS).lines() {
                let reached = line.split_whitespace().map(String::from).collect();
                truth.advance_week(&reached, false).unwrap();
            }
        }
        Self { folder, truth }
    }

    /// Returns the folder that contains everything.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Returns the path of the folder of the exports.
    pub fn exports(&self) -> PathBuf {
        self.folder.path("exports")
    }

    /// Returns the path of the mapping.
    pub fn mapping(&self) -> PathBuf {
        self.exports().join("mapping.toml")
    }

    /// Returns the path of the programme's folder, which the suite makes.
    pub fn programme(&self) -> PathBuf {
        self.folder.path("programme")
    }

    /// Returns the people with their states and calls so far.
    pub fn truth(&self) -> &SyntheticProgramme {
        &self.truth
    }

    /// Plays a week in which calls of a list reach the people with these ids, and writes the messages and the truth of all weeks.
    ///
    /// People without messages in the week are not reached. The other exports do not change: the log of calls has only
    /// recorded weeks, and the registry and the mapping stay as a test may have edited them.
    ///
    /// # Panics
    /// If no person has an id, or the disk fails.
    pub fn advance_week(&mut self, reached: impl IntoIterator<Item = impl Into<String>>) {
        let week = self.truth.weeks();
        let has_messages = |id: &String| {
            let position = self.truth.position(id).unwrap_or_else(|| panic!("no person {id}"));
            self.truth.people()[position].is_present(week)
        };
        let reached: BTreeSet<String> = reached.into_iter().map(Into::into).filter(has_messages).collect();
        self.truth.advance_week(&reached.iter().cloned().collect(), false).unwrap();
        for file in self.truth.files().0 {
            if file.name == "messages.csv" || file.name.starts_with("truth/") {
                fs::write(self.exports().join(file.name), file.bytes).unwrap();
            }
        }
        let mut log =
            fs::File::options().create(true).append(true).open(self.folder.path(PLAYED_WEEKS)).unwrap();
        writeln!(log, "{}", reached.into_iter().collect::<Vec<_>>().join(" ")).unwrap();
    }
}

/// Returns the rows of a table in CSV, as maps from column to cell.
///
/// # Panics
/// If the text is not CSV with a header.
pub fn table(text: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.unwrap()).collect()
}

/// Returns a list in CSV with outcomes and days in its columns `outcome` and `day`, as callers return it.
///
/// `fill` gets the position and the id of each row; rows for which it returns `None` are left out.
///
/// ```
/// use restive_testkit::programme::fill_in;
///
/// let list = "id,name,outcome,day\nMB-00001,Asha,,\nMB-00002,Neha,,\n";
/// let filled = fill_in(list, |k, _| (k == 1).then_some(("reached", "2026-03-02".into())));
/// assert_eq!(filled, "id,name,outcome,day\nMB-00002,Neha,reached,2026-03-02\n");
/// ```
///
/// # Panics
/// If the list is not CSV with the columns `id`, `outcome` and `day`.
pub fn fill_in(list: &str, mut fill: impl FnMut(usize, &str) -> Option<(&'static str, String)>) -> String {
    let mut reader = csv::Reader::from_reader(list.as_bytes());
    let header = reader.headers().unwrap().clone();
    let [id, outcome, day] = ["id", "outcome", "day"].map(|name| {
        header.iter().position(|found| found == name).unwrap_or_else(|| panic!("no {name} in {header:?}"))
    });
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header).unwrap();
    for (k, row) in reader.records().enumerate() {
        let mut cells: Vec<String> = row.unwrap().iter().map(String::from).collect();
        let Some((word, date)) = fill(k, &cells[id]) else { continue };
        cells[outcome] = word.into();
        cells[day] = date;
        writer.write_record(&cells).unwrap();
    }
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_cached_fixture_continue_with_the_truth() {
        let options =
            ProgrammeOptions { people: 40, weeks: 4, calls: 4, ..ProgrammeFixture::plain_options() };
        let reached = |fixture: &ProgrammeFixture, k: usize| fixture.truth.people()[k].id.clone();
        let fixture = || {
            ProgrammeFixture::cached(Cache::new("testkit-programme"), &options, |mut fixture| {
                fixture.advance_week([reached(&fixture, 5), reached(&fixture, 2)]);
                fixture.advance_week(Vec::<String>::new());
            })
        };
        let mut expected = SyntheticProgramme::new(&options).unwrap();
        for ids in [vec![2, 5], vec![], vec![7]] {
            let ids = ids.into_iter().map(|k: usize| expected.people()[k].id.clone()).collect();
            expected.advance_week(&ids, false).unwrap();
        }
        for _ in 0..2 {
            let mut copy = fixture();
            assert_eq!(copy.truth.weeks(), 6);
            copy.folder.write("exports/registry.csv", "edited");
            copy.advance_week([reached(&copy, 7)]);
            assert_eq!(copy.truth.states(), expected.states());
            for file in expected.files().0.iter().filter(|file| file.name != "registry.csv") {
                assert!(fs::read(copy.exports().join(file.name)).unwrap() == file.bytes, "{}", file.name);
            }
            assert_eq!(copy.folder.read("exports/registry.csv"), "edited");
        }
    }

    #[test]
    fn cells_with_commas_and_quotes_stay_whole() {
        let list = "id,outcome,day,reason\nB1,,,\"a, \"\"b\"\"\"\nB2,,,c\n";
        let filled = fill_in(list, |k, id| Some((["reached", "moved"][k], format!("day of {id}"))));
        let rows = table(&filled);
        assert_eq!((rows[0]["reason"].as_str(), rows[0]["day"].as_str()), ("a, \"b\"", "day of B1"));
        assert_eq!((rows[1]["id"].as_str(), rows[1]["outcome"].as_str()), ("B2", "moved"));
    }
}
