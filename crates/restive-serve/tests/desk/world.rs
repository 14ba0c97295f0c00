//! Synthetic programme of the suite: exports of the generator, a model, and weeks of lists with outcomes.
//!
//! All dates lie in the first months of 2024, so that pages do not depend on the day of the test.

use jiff::Timestamp;
use jiff::civil::{Date, date};
use restive_import::{ImportAsked, Input, Mapping};
use restive_ledger::{Code, Ledger, Outcome};
use restive_pipeline::{Asked, FolderTraining, PredictorName, Progressed};
use restive_programme::{Programme, Week, WeekAsked, grow};
use restive_testkit::cache::Cache;
use restive_testkit::programme::{ProgrammeFixture, ProgrammeOptions, SyntheticProgramme};
use restive_testkit::{Folder, identify_effects};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

const RULES: &str = "\
budget = 5
explore = 0.1
worker = \"worker\"

[[limit]]
by = \"worker\"
at_most = 2

[[limit]]
by = \"household\"
at_most = 1

[[cool_down]]
periods = 2
";

/// Options of a world.
#[derive(Debug)]
pub struct WorldOptions {
    /// Number of weeks with a final list and outcomes. Default: 2.
    pub weeks_with_outcomes: usize,
    /// Whether the list of the week after them is planned, as a draft. Default: true.
    pub is_planned: bool,
}

impl Default for WorldOptions {
    fn default() -> Self {
        Self { weeks_with_outcomes: 2, is_planned: true }
    }
}

/// Returns a copy of a world: the folders `exports` and `programme`.
pub fn world(options: &WorldOptions) -> Folder {
    let cache = Cache::new("web-world").input(options);
    let fixture =
        ProgrammeFixture::cached(cache, &programme_options(), |fixture| build(World::of(fixture), options));
    fixture.folder().clone()
}

/// Options of a programme of 90 people, of whom 6 are called at random in each of 8 recorded weeks.
fn programme_options() -> ProgrammeOptions {
    ProgrammeOptions {
        people: 90,
        weeks: 8,
        calls: 6,
        workers: 4,
        faults: false,
        first_day: date(2024, 1, 1),
        seed: 3,
        ..ProgrammeOptions::default()
    }
}

fn build(mut world: World, options: &WorldOptions) {
    world.train();
    std::fs::write(world.folder().join("rules.toml"), RULES).unwrap();
    world.open().init().unwrap();
    for week in 1..=options.weeks_with_outcomes {
        let list = world.plan();
        let reached = world.receive_outcomes(&list, week == options.weeks_with_outcomes);
        world.advance(&reached);
    }
    if options.is_planned {
        world.plan();
    }
}

/// A programme folder that grows by a week at a time.
pub struct World {
    fixture: ProgrammeFixture,
}

impl World {
    /// Writes and imports the exports of the recorded weeks.
    pub fn new() -> Self {
        Self::of(ProgrammeFixture::new(&programme_options()))
    }

    fn of(fixture: ProgrammeFixture) -> Self {
        let world = Self { fixture };
        world.import();
        world
    }

    /// Folder with the exports and the programme.
    pub fn files(&self) -> Folder {
        self.fixture.folder().clone()
    }

    fn truth(&self) -> &SyntheticProgramme {
        self.fixture.truth()
    }

    /// Folder of the programme.
    pub fn folder(&self) -> PathBuf {
        self.fixture.programme()
    }

    pub fn open(&self) -> Programme {
        Programme::open(&self.folder()).unwrap()
    }

    /// Seven o'clock on the first day after the recorded weeks.
    pub fn now(&self) -> Timestamp {
        at(self.truth().day(self.truth().weeks(), 0), 7)
    }

    fn import(&self) {
        import(self.fixture.folder().root());
    }

    /// Trains a model on the study.
    pub fn train(&self) {
        let programme = self.open();
        let out = programme.new_model(self.truth().day(self.truth().weeks(), 0)).unwrap();
        let asked = Asked { predictor: Some(PredictorName::Effect), ..Asked::default() };
        let training = FolderTraining::new(&programme.study(), &asked, "study", |_| {}).unwrap();
        let done = training.run::<restive_pipeline::Error>(Progressed::default(), |_| Ok(())).unwrap();
        training.model(done.members, done.histories).unwrap().write(&out, false).unwrap();
        identify_effects(&out);
    }

    /// Makes the list of the next week.
    pub fn plan(&self) -> Week {
        self.open().plan(&WeekAsked::default(), self.now()).unwrap()
    }

    /// Makes the list final and records outcomes; returns the ids of the people who were reached. If `is_last`, the first
    /// outcome is missing.
    pub fn receive_outcomes(&self, list: &Week, is_last: bool) -> HashSet<String> {
        let week = self.truth().weeks();
        let code = |k: usize| match k % 5 {
            1 => Code::NoAnswer,
            3 => Code::Later,
            _ => Code::Reached,
        };
        let outcome = |(k, (arm, _)): (usize, &(String, _))| Outcome {
            plan: list.record.id.clone(),
            arm: arm.clone(),
            code: code(k),
            day: Some(self.truth().day(week, 1).to_string()),
            note: None,
            source: "register".into(),
            received_at: written(at(self.truth().day(week, 6), 18)),
        };
        let outcomes: Vec<Outcome> =
            list.rows.iter().enumerate().skip(usize::from(is_last)).map(outcome).collect();
        assert!(!outcomes.is_empty());
        let mut ledger = Ledger::open(&self.open().ledger()).unwrap();
        ledger.finalise(&list.record.id, "Meera", &written(self.now())).unwrap();
        ledger.receive(&outcomes).unwrap();
        outcomes.into_iter().filter(|one| one.code == Code::Reached).map(|one| one.arm).collect()
    }

    /// Plays a week in which calls reached these people, and imports its exports. People without messages in the week are not reached.
    pub fn advance(&mut self, reached: &HashSet<String>) {
        self.fixture.advance_week(reached);
        self.import();
    }
}

/// Imports the exports of a world into its programme.
pub fn import(root: &Path) {
    let mapping = Mapping::read(&root.join("exports/mapping.toml")).unwrap();
    let input = Input::Files { base: mapping.text.base() };
    let asked = ImportAsked { out: Some(root.join("programme")), ..ImportAsked::default() };
    grow(&mapping, &input, &asked, |_, _| {}).unwrap();
}

fn at(day: Date, hour: i8) -> Timestamp {
    day.at(hour, 0, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp()
}

fn written(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
