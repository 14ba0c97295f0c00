//! Synthetic programmes of the suite: the exports of the generator in a folder in which the program runs.

use crate::harness::{Cli, stderr};
use restive_testkit::cache::Cache;
use restive_testkit::identify_effects;
use restive_testkit::programme::{Effect, ProgrammeFixture, ProgrammeOptions, SyntheticProgramme};
use serde_json::Value;
use std::fmt::Debug;
use std::ops::Deref;
use std::path::Path;

const PROGRAM: &str = env!("CARGO_BIN_EXE_restive");

/// Number of recorded weeks.
pub(crate) const RECORDED: usize = 8;

/// Number of people called in a week.
pub(crate) const BUDGET: usize = 24;

/// A synthetic programme in folder `exports`, imported into folder `programme`; derefs to the harness.
pub(crate) struct Programme {
    cli: Cli,
    fixture: ProgrammeFixture,
}

impl Deref for Programme {
    type Target = Cli;

    fn deref(&self) -> &Cli {
        &self.cli
    }
}

/// Options of a programme of 240 people; calls help those in the north.
pub(crate) fn options() -> ProgrammeOptions {
    ProgrammeOptions {
        people: 240,
        weeks: RECORDED,
        calls: BUDGET,
        workers: 12,
        // a model of effects can be fitted to these people, and finds that the north benefits
        seed: 22,
        effect: Effect::InDistrict { district: "north".into(), chance: 0.95 },
        ..ProgrammeFixture::plain_options()
    }
}

impl Programme {
    /// Writes exports, without an import.
    pub(crate) fn exported(options: &ProgrammeOptions) -> Self {
        Self::new(ProgrammeFixture::new(options))
    }

    /// Returns a copy of what `prepare` makes of the exports with the program; `input` is what else it depends on.
    pub(crate) fn cached(options: &ProgrammeOptions, input: &impl Debug, prepare: impl FnOnce(Self)) -> Self {
        let cache = Cache::new("cli-programme").file(Path::new(PROGRAM)).input(input);
        Self::new(ProgrammeFixture::cached(cache, options, |fixture| prepare(Self::new(fixture))))
    }

    fn new(fixture: ProgrammeFixture) -> Self {
        Self { cli: Cli::in_folder(PROGRAM, fixture.folder().clone()), fixture }
    }

    /// Returns the people with their states and calls.
    pub(crate) fn truth(&self) -> &SyntheticProgramme {
        self.fixture.truth()
    }

    /// Returns the position of the person with an id.
    pub(crate) fn position(&self, id: &str) -> usize {
        self.truth().position(id).unwrap_or_else(|| panic!("no person {id}"))
    }

    /// Returns the date of the day of a week, both from 0.
    pub(crate) fn date(&self, week: usize, day: usize) -> String {
        self.truth().day(week, day as i64).to_string()
    }

    /// Imports the exports; returns the summary.
    pub(crate) fn import(&self) -> Value {
        self.json("import exports/mapping.toml --out programme")
    }

    /// Returns the path of a file that the last import into folder `programme` wrote.
    pub(crate) fn imported(&self, name: &str) -> String {
        format!("programme/imported/{}/{name}", self.read("programme/current").trim_end())
    }

    /// Imports the exports and trains a model of effects, which are taken for identified.
    pub(crate) fn train(&self) {
        self.import();
        self.train_again();
    }

    /// Trains a model of effects, which are taken for identified: eight weeks have fewer calls than that needs.
    pub(crate) fn train_again(&self) {
        self.run("train programme --predictor effect").success();
        for model in std::fs::read_dir(self.path("programme/models")).unwrap() {
            identify_effects(&model.unwrap().path());
        }
    }

    /// Plays a week in which calls reach these people, and writes its exports.
    pub(crate) fn advance_week(&mut self, reached: impl IntoIterator<Item = impl Into<String>>) {
        self.fixture.advance_week(reached);
    }

    /// Runs the program with `--json`; returns its answer.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &str) -> Value {
        self.run(&format!("{arguments} --json")).success().json()
    }

    /// Returns the standard output of the program, which has to succeed.
    #[track_caller]
    pub(crate) fn text(&self, arguments: &str) -> String {
        self.cli.run(arguments).success().stdout
    }

    /// Returns the error message of the program, which has to fail.
    #[track_caller]
    pub(crate) fn refused(&self, arguments: &str) -> String {
        stderr(&self.run(arguments).failure())
    }
}

/// Returns the ids of the rows of a plan in JSON.
pub(crate) fn listed(plan: &Value) -> Vec<String> {
    let rows = plan["rows"].as_array().unwrap().iter();
    rows.map(|row| row[0].as_str().unwrap().into()).collect()
}
