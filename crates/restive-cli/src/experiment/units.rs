//! Units of work: whatever is computed at a stretch, kept as soon as it is done.
//!
//! A unit is one run of one domain, say. Its rows go to a file of their own, `units/KIND/DOMAIN-RUN.csv`, which appears
//! whole or not at all; a program that is started again takes what is there and computes the rest. Because a unit depends on
//! nothing but its settings and its seed, the finished tables are the same whatever happened in between.
//!
//! `experiment.json` says what the units in a folder were computed with. Units of other settings are not mixed in. The last row of
//! a unit says whose it is, how many rows there are and by which [`REVISION`] of the computation: one that is cut off, copied or from
//! another program is computed again.

use super::rows::{self, Row};
use crate::shared::progress::Progress;
use anyhow::{Context, bail};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// To be raised when any number of any unit becomes another one.
const REVISION: u32 = 1;
const SETTINGS: &str = "experiment.json";
/// The axis of unit files, whatever its name in the finished table.
const AXIS: &str = "at";

/// What units depend on, beside their run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Settings {
    /// the program's version
    pub(crate) restive: String,
    /// the seed of run 0; run r has this plus r
    pub(crate) seed: u64,
    /// recommended, published or paper
    pub(crate) profile: String,
    /// smaller and fewer than published: for a look, not for a claim
    pub(crate) is_quick: bool,
    /// still smaller, for tests: the arms of an instance
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) arms: Option<usize>,
}

/// One stretch of work.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Unit {
    /// what is computed
    pub(crate) kind: &'static str,
    pub(crate) domain: String,
    pub(crate) run: usize,
    /// how long it takes beside others, for the progress bar
    pub(crate) weight: u32,
}

impl Unit {
    fn path(&self, folder: &Path) -> PathBuf {
        folder.join("units").join(self.kind).join(format!("{}-{:04}.csv", self.domain, self.run))
    }

    /// The row that ends the unit's file.
    fn last_row(&self, seed: u64, rows: usize) -> Row {
        Row {
            domain: self.domain.clone(),
            run: self.run,
            seed,
            method: "unit".into(),
            metric: "rows".into(),
            at: f64::from(REVISION),
            value: rows as f64,
        }
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

/// The settings of a folder, which becomes one where it is not yet.
pub(crate) fn enter(folder: &Path, settings: &Settings) -> anyhow::Result<()> {
    let path = folder.join(SETTINGS);
    if path.exists() {
        let found = settings_of(folder)?;
        if found != *settings {
            bail!(
                "{}: the folder holds results of other settings ({}), not of {}; take another folder with --out",
                path.display(),
                found.words(),
                settings.words()
            );
        }
        return Ok(());
    }
    let is_empty = |folder: &Path| std::fs::read_dir(folder).map_or(true, |mut all| all.next().is_none());
    if !is_empty(folder) {
        bail!("{}: found a folder with other files, expected a new one or one of results", folder.display());
    }
    std::fs::create_dir_all(folder).with_context(|| format!("{}: cannot write", folder.display()))?;
    let text = serde_json::to_string_pretty(settings)? + "\n";
    restive_tables::write_files(&[(path, text.as_bytes())])?;
    Ok(())
}

/// What a folder's results were computed with.
pub(crate) fn settings_of(folder: &Path) -> anyhow::Result<Settings> {
    let path = folder.join(SETTINGS);
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("{}: cannot read; expected a folder of results", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{}: not the settings of results", path.display()))
}

impl Settings {
    /// In a line.
    pub(crate) fn words(&self) -> String {
        let quick = if self.is_quick { ", quick" } else { "" };
        let arms = self.arms.map_or(String::new(), |arms| format!(", {arms} arms"));
        format!("restive {}, profile {}, seed {}{quick}{arms}", self.restive, self.profile, self.seed)
    }
}

/// Computes the units that are not there yet, shared among the threads.
/// `compute` hears the share of its unit that is done through its last argument.
pub(crate) fn complete(
    folder: &Path,
    settings: &Settings,
    units: &[Unit],
    compute: impl Fn(&Unit, &(dyn Fn(f64) + Sync)) -> anyhow::Result<Vec<Row>> + Sync,
) -> anyhow::Result<()> {
    for unit in units {
        let path = unit.path(folder);
        let parent = path.parent().expect("a file in a folder");
        std::fs::create_dir_all(parent).with_context(|| format!("{}: cannot write", parent.display()))?;
    }
    let is_missing = |unit: &&Unit| unit.read(folder, settings).is_none();
    let missing: Vec<&Unit> = units.iter().filter(is_missing).collect();
    for unit in missing.iter().filter(|unit| unit.path(folder).exists()) {
        let path = unit.path(folder);
        eprintln!("restive: note: {}: not whole, or of another program: computed again", path.display());
    }
    let present = units.len() - missing.len();
    let weight =
        |units: &mut dyn Iterator<Item = &Unit>| units.map(|unit| f64::from(unit.weight)).sum::<f64>();
    let all = weight(&mut missing.iter().copied());
    let progress = Progress::new("runs");
    let shares = Mutex::new(vec![0.0; missing.len()]);
    let tell = |k: usize, share: f64| {
        if let Ok(mut shares) = shares.lock() {
            shares[k] = share;
            let done = present + shares.iter().filter(|share| **share >= 1.0).count();
            let made: f64 =
                shares.iter().zip(&missing).map(|(share, unit)| share * f64::from(unit.weight)).sum();
            progress.say(made / all, format!("{done} of {} runs done", units.len()));
        }
    };
    let one = |(k, unit): (usize, &&Unit)| -> anyhow::Result<()> {
        let mut rows = compute(unit, &|share| tell(k, 0.999 * share))
            .with_context(|| format!("{}, {}, run {}", unit.kind, unit.domain, unit.run))?;
        rows.push(unit.last_row(settings.seed, rows.len()));
        rows::write(&unit.path(folder), &rows, Some(AXIS))?;
        tell(k, 1.0);
        Ok(())
    };
    missing.par_iter().enumerate().with_max_len(1).try_for_each(one)
}
