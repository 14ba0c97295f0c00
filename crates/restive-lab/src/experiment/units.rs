//! Units of work: whatever is computed at a stretch, kept as soon as it is done.
//!
//! A unit is one run of one domain, say. Its rows go to a file of their own, `units/KIND/DOMAIN-RUN.csv`, which appears
//! whole or not at all; a program that is started again takes what is there and computes the rest. Because a unit depends on
//! nothing but its settings and its seed, the finished tables are the same whatever happened in between.
//!
//! `experiment.json` says what the units in a folder were computed with. Units of other settings are not mixed in. The last row of
//! a unit says whose it is, how many rows there are and by which [`REVISION`] of the computation: one that is cut off, copied or from
//! another program is computed again. What is no unit at all is not replaced.

use super::rows::{self, Key, Row};
use crate::progress::{Heard, Listener, Stretches};
use crate::{Method, Metric, Regime};
use anyhow::{Context, bail};
use rayon::prelude::*;
use restive_pipeline::Profile;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// To be raised when any number of any unit becomes another one.
const REVISION: u32 = 2;
const SETTINGS: &str = "experiment.json";
/// The axis of unit files, whatever its name in the finished table.
const AXIS: &str = "at";

/// What units depend on, beside their run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// the program's version
    pub restive: String,
    /// the seed of run 0; run r has this plus r
    pub seed: u64,
    /// what two-stage and decision-focused training are
    pub profile: Profile,
    /// smaller and fewer than published: for a look, not for a claim
    pub is_quick: bool,
    /// still smaller, for tests: the arms of an instance
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arms: Option<usize>,
}

impl Settings {
    /// The seed of a run.
    pub(crate) fn run_seed(&self, run: usize) -> u64 {
        self.seed.wrapping_add(run as u64)
    }

    /// In a line.
    pub(crate) fn words(&self) -> String {
        let quick = if self.is_quick { ", quick" } else { "" };
        let arms = self.arms.map_or(String::new(), |arms| format!(", {arms} arms"));
        let (restive, profile, seed) = (&self.restive, self.profile.name(), self.seed);
        format!("restive {restive}, profile {profile}, seed {seed}{quick}{arms}")
    }
}

/// One stretch of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    /// what is computed
    pub(crate) kind: &'static str,
    pub(crate) regime: Regime,
    /// the method, where the unit is of a single one
    pub(crate) method: Option<Method>,
    pub(crate) run: usize,
    /// how long it takes beside others, for the progress bar
    pub(crate) weight: u32,
}

impl Unit {
    /// The runs of a regime.
    pub(crate) fn runs(
        kind: &'static str,
        regime: Regime,
        runs: usize,
        weight: u32,
    ) -> impl Iterator<Item = Unit> {
        (0..runs).map(move |run| Unit { kind, regime, method: None, run, weight })
    }

    /// What it is of, in a word.
    pub(crate) fn name(&self) -> &'static str {
        self.method.map_or(self.regime.name(), Method::name)
    }

    fn path(&self, folder: &Path) -> PathBuf {
        folder.join("units").join(self.kind).join(format!("{}-{:04}.csv", self.name(), self.run))
    }

    /// The row that ends the unit's file.
    fn last_row(&self, seed: u64, rows: usize) -> Row {
        let key = Key::new(self.regime, Method::Unit, Metric::Rows).at(f64::from(REVISION));
        Row { key, run: self.run, seed, value: rows as f64 }
    }

    /// The rows in its file, where that is whole and this unit's.
    pub(crate) fn read(&self, folder: &Path, settings: &Settings) -> Option<Vec<Row>> {
        let mut rows = rows::read(&self.path(folder), Some(AXIS)).ok()?;
        let last = rows.pop()?;
        (last == self.last_row(settings.seed, rows.len())).then_some(rows)
    }
}

/// One more than the highest run of which a folder has a unit, of whatever kind.
pub(crate) fn runs_in(folder: &Path) -> usize {
    let files = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let all = files(folder.join("units")).flat_map(|kind| files(kind.path()));
    let run = |name: String| name.strip_suffix(".csv")?.rsplit_once('-')?.1.parse::<usize>().ok();
    all.filter_map(|file| run(file.file_name().into_string().ok()?)).max().map_or(0, |run| run + 1)
}

/// Makes a folder one of results, or checks that it is one of these settings.
pub(super) fn enter(folder: &Path, settings: &Settings) -> anyhow::Result<()> {
    let path = folder.join(SETTINGS);
    if path.exists() {
        return expect(folder, settings);
    }
    restive_tables::remove_leftovers(folder);
    let is_empty = |folder: &Path| std::fs::read_dir(folder).map_or(true, |mut all| all.next().is_none());
    if !is_empty(folder) {
        bail!("{}: found a folder with other files, expected a new one or one of results", folder.display());
    }
    std::fs::create_dir_all(folder).with_context(|| format!("{}: cannot write", folder.display()))?;
    let text = serde_json::to_string_pretty(settings)? + "\n";
    match restive_tables::write_files(&[(path, text.as_bytes())], None) {
        // another run was sooner
        Err(restive_tables::Error::Exists { .. }) => expect(folder, settings),
        written => Ok(written?),
    }
}

fn expect(folder: &Path, settings: &Settings) -> anyhow::Result<()> {
    let found = settings_of(folder)?;
    if found != *settings {
        bail!(
            "{}: the folder holds results of other settings ({}), not of {}; take another folder with --out",
            folder.join(SETTINGS).display(),
            found.words(),
            settings.words()
        );
    }
    Ok(())
}

/// What a folder's results were computed with.
pub(crate) fn settings_of(folder: &Path) -> anyhow::Result<Settings> {
    let path = folder.join(SETTINGS);
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("{}: cannot read; expected a folder of results", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{}: not the settings of results", path.display()))
}

/// Computes the units that are not there yet, shared among the threads.
/// `compute` hears the share of its unit that is done through its last argument.
pub(crate) fn complete(
    folder: &Path,
    settings: &Settings,
    units: &[Unit],
    listener: Listener<'_>,
    compute: impl Fn(&Unit, &(dyn Fn(f64) + Sync)) -> anyhow::Result<Vec<Row>> + Sync,
) -> anyhow::Result<()> {
    for unit in units {
        let path = unit.path(folder);
        let parent = path.parent().expect("a file in a folder");
        std::fs::create_dir_all(parent).with_context(|| format!("{}: cannot write", parent.display()))?;
    }
    let is_missing = |unit: &&Unit| unit.read(folder, settings).is_none();
    let missing: Vec<&Unit> = units.iter().filter(is_missing).collect();
    for path in missing.iter().map(|unit| unit.path(folder)).filter(|path| path.exists()) {
        let note = format!("{}: not whole, or of another program: computed again", path.display());
        listener(Heard::Note(note));
    }
    let weights = missing.iter().map(|unit| f64::from(unit.weight)).collect();
    let stretches = Stretches::new(weights, units.len() - missing.len(), listener);
    let make = |(k, unit): (usize, &&Unit)| -> anyhow::Result<()> {
        let mut rows = compute(unit, &|share| stretches.tell(k, 0.999 * share))
            .with_context(|| format!("{}, {}, run {}", unit.kind, unit.name(), unit.run))?;
        rows.push(unit.last_row(settings.seed, rows.len()));
        rows::write(&unit.path(folder), &rows, Some(AXIS))?;
        stretches.tell(k, 1.0);
        Ok(())
    };
    missing.par_iter().enumerate().with_max_len(1).try_for_each(make)
}
