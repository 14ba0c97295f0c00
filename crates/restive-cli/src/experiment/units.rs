//! Units of work: whatever is computed at a stretch, kept as soon as it is done.
//!
//! A unit is one run of one domain, say. Its rows go to a file of their own, `units/KIND/DOMAIN-RUN.csv`, which appears
//! whole or not at all; a program that is started again takes what is there and computes the rest. Because a unit depends on
//! nothing but its settings and its seed, the finished tables are the same whatever happened in between.
//!
//! `experiment.json` says what the units in a folder were computed with. Units of other settings are not mixed in.

use super::rows::{self, Row};
use crate::progress::Progress;
use anyhow::{Context, bail};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

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
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// Computes the units that are not there yet, shared among the threads, and returns the rows of all in the order of the units.
/// `compute` hears the share of its unit that is done through its last argument.
pub(crate) fn complete(
    folder: &Path,
    units: &[Unit],
    compute: impl Fn(&Unit, &(dyn Fn(f64) + Sync)) -> anyhow::Result<Vec<Row>> + Sync,
) -> anyhow::Result<Vec<Row>> {
    for unit in units {
        let path = unit.path(folder);
        let parent = path.parent().expect("a file in a folder");
        std::fs::create_dir_all(parent).with_context(|| format!("{}: cannot write", parent.display()))?;
    }
    let missing: Vec<&Unit> = units.iter().filter(|unit| !unit.path(folder).exists()).collect();
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
        let rows = compute(unit, &|share| tell(k, 0.999 * share))
            .with_context(|| format!("{}, {}, run {}", unit.kind, unit.domain, unit.run))?;
        rows::write(&unit.path(folder), &rows, Some(AXIS))?;
        tell(k, 1.0);
        Ok(())
    };
    missing.par_iter().enumerate().with_max_len(1).try_for_each(one)?;
    drop(progress);
    let mut all = Vec::new();
    for unit in units {
        all.extend(rows::read(&unit.path(folder), Some(AXIS))?);
    }
    Ok(all)
}
