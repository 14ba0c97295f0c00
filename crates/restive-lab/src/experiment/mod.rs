//! Every figure and table of the paper from scratch, with intervals and tests.
//!
//! An [`Experiment`] is a row of a table: which units of work it needs, how one is computed, which of their
//! rows are its own, and how they are shown. Units are resumable and shared: `bars`, `curves` and `metric` look at the
//! same runs. What is shown is drawn from the tables alone, so that it can be drawn again.

mod baselines;
mod comparison;
mod cost;
mod evidence;
mod limited_data;
mod page;
mod quality;
pub(crate) mod rows;
mod units;

use crate::figure;
use crate::problem::Problem;
use crate::progress::Listener;
use crate::{DomainName, Regime};
use anyhow::bail;
use comparison::{bars, curves, metric, selection};
use cost::races;
use restive_report::{Chart, Section};
use restive_tables::{Own, check_file};
use rows::{Key, Row};
use std::path::{Path, PathBuf};
pub use units::Settings;
use units::Unit;

/// What was asked for.
#[derive(Clone)]
pub struct Asked {
    /// what every unit depends on
    pub settings: Settings,
    /// each with a seed of its own
    pub runs: usize,
    /// what is compared on
    pub problems: Vec<Problem>,
    /// names of regimes of `evidence`; none: all of them
    pub regimes: Vec<String>,
    /// whether only some domains were asked for
    is_selected: bool,
}

impl Asked {
    /// Runs on some domains; none: on all of them.
    pub fn new(settings: Settings, runs: usize, domains: &[DomainName]) -> Self {
        let is_selected = !domains.is_empty();
        let mut asked = Self { settings, runs, problems: Vec::new(), regimes: Vec::new(), is_selected };
        asked.problems = asked.every_problem();
        asked.problems.retain(|problem| domains.is_empty() || domains.contains(&problem.name()));
        asked
    }

    /// Every domain, in the size asked for.
    fn every_problem(&self) -> Vec<Problem> {
        let sized = |problem: Problem| match self.settings.arms {
            None => problem,
            Some(arms) => problem.with_arms(arms),
        };
        DomainName::ALL.iter().map(|name| sized(Problem::published(*name))).collect()
    }

    /// The same on every domain, so many runs.
    fn on_every_domain(&self, runs: usize) -> Self {
        let (settings, problems) = (self.settings.clone(), self.every_problem());
        Self { settings, runs, problems, regimes: Vec::new(), is_selected: true }
    }

    /// The units of the runs of a domain.
    fn units_of(&self, kind: &'static str, domain: DomainName) -> impl Iterator<Item = Unit> {
        Unit::runs(kind, domain.into(), self.runs, if domain == DomainName::TwoState { 1 } else { 3 })
    }

    fn is_regime_asked(&self, regime: Regime) -> bool {
        self.regimes.is_empty() || self.regimes.iter().any(|name| name == regime.name())
    }

    fn problem(&self, regime: Regime) -> &Problem {
        let found = self.problems.iter().find(|problem| Regime::from(problem.name()) == regime);
        found.expect("units are those of the domains that were asked for")
    }
}

/// Hears the share of a unit that is done.
pub(crate) type Shares<'a> = &'a (dyn Fn(f64) + Sync);

/// What an experiment shows.
pub(crate) struct Shown {
    pub(crate) section: Section,
    /// the figure, with the panels of a row where that is fixed
    pub(crate) figure: (Chart, Option<usize>),
    /// for the terminal
    pub(crate) text: String,
}

/// One experiment.
pub struct Experiment {
    /// of its table, its figure and the command that runs it
    pub name: &'static str,
    /// the name of its table's axis
    axis: Option<&'static str>,
    units: fn(&Asked) -> Vec<Unit>,
    compute: fn(&Asked, &Unit, Shares<'_>) -> anyhow::Result<Vec<Row>>,
    /// whether a number of its units belongs into its table
    owns: fn(&Key) -> bool,
    show: fn(&Settings, &[Row]) -> Shown,
}

/// All of them, in the order of the report.
pub const EXPERIMENTS: [Experiment; 11] = [
    bars::EXPERIMENT,
    metric::EXPERIMENT,
    curves::EXPERIMENT,
    limited_data::EXPERIMENT,
    races::ARMS,
    races::STATES,
    baselines::EXPERIMENT,
    baselines::value::EXPERIMENT,
    selection::EXPERIMENT,
    quality::EXPERIMENT,
    evidence::EXPERIMENT,
];

impl Experiment {
    fn table(&self, folder: &Path) -> PathBuf {
        self.file(folder, "csv")
    }

    fn file(&self, folder: &Path, ending: &str) -> PathBuf {
        folder.join(format!("{}.{ending}", self.name))
    }

    /// What it leaves in a folder of results.
    fn files(&self, folder: &Path) -> [(PathBuf, Own); 4] {
        let table = |ending| (self.file(folder, ending), rows::recognise as Own);
        let figure = |ending| (self.file(folder, ending), figure::recognise as Own);
        [table("csv"), table("parquet"), figure("svg"), figure("png")]
    }

    /// Whether it says anything of the domains that were asked for.
    pub fn is_asked(&self, asked: &Asked) -> bool {
        !(self.units)(asked).is_empty()
    }

    /// The domains that it says something of.
    pub fn domains(&self, asked: &Asked) -> Vec<&'static str> {
        let units = (self.units)(&asked.on_every_domain(asked.runs));
        let mut domains: Vec<&str> = units.iter().map(Unit::name).collect();
        domains.dedup();
        domains
    }

    /// Runs, and those of a quick look, unless others are asked for.
    pub fn runs(&self) -> [usize; 2] {
        match self.name {
            name if name == quality::EXPERIMENT.name => quality::RUNS,
            name if name == evidence::EXPERIMENT.name => evidence::RUNS,
            _ => [50, 3],
        }
    }

    /// Whether it looks at published trainings epoch by epoch, or at their indices.
    pub fn needs_one_descent(&self) -> bool {
        [metric::EXPERIMENT.name, curves::EXPERIMENT.name].contains(&self.name)
    }

    /// Computes what is missing in a folder of results and writes the table.
    pub fn run(&self, asked: &Asked, folder: &Path, listener: Listener<'_>) -> anyhow::Result<()> {
        let units = (self.units)(asked);
        if units.is_empty() {
            return Ok(()); // none of its domains was asked for
        }
        let compute = |unit: &Unit, shares: Shares<'_>| (self.compute)(asked, unit, shares);
        units::complete(folder, &asked.settings, &units, listener, compute)?;
        // what other commands have left in the folder belongs into the table too
        let every = (self.units)(&asked.on_every_domain(units::runs_in(folder).max(asked.runs)));
        let rows = every.iter().filter_map(|unit| unit.read(folder, &asked.settings)).flatten();
        let rows: Vec<Row> = rows.filter(|row| (self.owns)(&row.key)).collect();
        rows::write(&self.table(folder), &rows, self.axis)?;
        Ok(rows::write(&self.file(folder, "parquet"), &rows, self.axis)?)
    }
}

/// Makes a folder one of results, or checks that it is one of these settings, in which everything can be written again.
pub fn enter(folder: &Path, settings: &Settings) -> anyhow::Result<()> {
    units::enter(folder, settings)?;
    let files = EXPERIMENTS.iter().flat_map(|experiment| experiment.files(folder));
    let mut all = files.chain([(folder.join(page::REPORT), page::recognise as Own)]);
    Ok(all.try_for_each(|(path, own)| check_file(&path, Some(own)))?)
}

/// What was drawn, in words.
pub struct Drawn {
    /// whether few runs were made, for a look
    pub is_quick: bool,
    /// a text of every experiment
    pub texts: Vec<String>,
}

/// Draws the figures and the report of everything that a folder has tables for.
pub fn draw(folder: &Path) -> anyhow::Result<Drawn> {
    let settings = units::settings_of(folder)?;
    let (mut sections, mut texts) = (Vec::new(), Vec::new());
    for experiment in &EXPERIMENTS {
        let path = experiment.table(folder);
        if !path.exists() {
            continue;
        }
        let rows = rows::read(&path, experiment.axis)?;
        let Shown { section, figure: (mut chart, columns), text } = (experiment.show)(&settings, &rows);
        if settings.is_quick {
            *chart.title_mut() += " (a quick look)";
        }
        figure::write(&chart, columns, folder, experiment.name)?;
        sections.push(section);
        texts.push(text);
    }
    if sections.is_empty() {
        bail!("{}: found no table of results", folder.display());
    }
    page::write(folder, &settings, sections)?;
    Ok(Drawn { is_quick: settings.is_quick, texts })
}
