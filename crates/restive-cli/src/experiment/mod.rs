//! `restive experiment`: every figure and table of the paper from scratch, with intervals and tests.
//!
//! An [`Experiment`] is a row of a table: which [units](units) of work it needs, how one is computed, which of their
//! [rows](rows) are its own, and how they are shown. Units are resumable and shared: `bars`, `curves` and `metric` look at the
//! same runs. What is shown is drawn from the tables alone, so that it can be drawn again.

mod baselines;
mod comparison;
mod cost;
mod limited_data;
mod page;
mod quality;
mod rows;
mod units;

use crate::lab::problem::Problem;
use crate::shared::begin::use_threads;
use crate::shared::failure::{Usage, say_when_interrupted};
use crate::shared::values::choice;
use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum};
use comparison::{bars, curves, metric, selection};
use cost::{arms as cost_arms, states as cost_states};
use restive::report::{Chart, Section};
use restive_pipeline::Profile;
use rows::Row;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use units::{Settings, Unit};

const ABOUT: &str = "\
Regenerate the figures and tables of the paper from scratch, with intervals and paired tests.

DIR becomes a folder: NAME.csv and NAME.parquet (every number: domain, run, seed, method, metric, value), NAME.svg and NAME.png, and \
report.html with a section for every experiment that is there. Every run is kept as soon as it is done: a command that was interrupted, \
even killed, is continued by the same command and ends in the same tables; --runs may grow later.";

const EXAMPLES: &str = "\
Examples:
  restive experiment bars --domain two-state --quick --out quick
  restive experiment baselines --quick --out quick
  restive experiment report quick";

/// The end of a help text.
macro_rules! examples {
    ($what:literal) => {
        concat!(
            "Examples:\n  restive experiment ",
            $what,
            " --quick --out quick\n  restive experiment report quick"
        )
    };
}

/// Regenerate the figures and tables of the paper
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct ExperimentArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Loss, soft and strict values of every method on every domain
    #[command(after_help = examples!("bars --domain two-state"))]
    Bars(RunArguments),
    /// Learning curves on the test instances
    #[command(after_help = examples!("curves --domain two-state"))]
    Curves(RunArguments),
    /// Decision-focused against two-stage training by the number of trajectories
    #[command(after_help = examples!("limited-data"))]
    LimitedData(RunArguments),
    /// Seconds per gradient step by the number of arms
    #[command(after_help = examples!("cost-arms"))]
    CostArms(RunArguments),
    /// Seconds per gradient step by the number of states
    #[command(after_help = examples!("cost-states"))]
    CostStates(RunArguments),
    /// Gradient steps and values of the two baselines on the joint problem
    #[command(after_help = examples!("baselines"))]
    Baselines(RunArguments),
    /// Who is called by each method on the maternal domain
    #[command(after_help = examples!("selection"))]
    Selection(RunArguments),
    /// Which training helps as deployed: strict values of seven trainings over regimes of data, and what histories add
    #[command(after_help = examples!("quality --domain two-state"))]
    Quality(RunArguments),
    /// Everything above but quality
    #[command(after_help = examples!("all"))]
    All(RunArguments),
    /// Draw tables, figures and report of a folder again
    Report {
        /// A folder of results
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
struct RunArguments {
    /// The folder to write, or to continue
    #[arg(short, long, value_name = "DIR", default_value = "restive-experiment")]
    out: PathBuf,

    /// How many runs, each with a seed of its own [default: 50, of quality 12; with --quick 3 and 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: Option<u32>,

    /// Seed of the first run; the others follow it
    #[arg(long, default_value_t = 0)]
    seed: u64,

    /// What two-stage and decision-focused training are
    #[arg(long, default_value_t = Profile::Published, value_parser = choice::<Profile>(Profile::described()))]
    profile: Profile,

    /// Only these domains
    #[arg(long, value_enum, value_name = "DOMAIN")]
    domain: Vec<DomainName>,

    /// A look in a few minutes: few runs, marked as such everywhere
    #[arg(long)]
    quick: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Arms per instance: smaller than published
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u16).range(5..=1000))]
    arms: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DomainName {
    TwoState,
    FiveState,
    Collapsing,
    Maternal,
}

impl DomainName {
    fn name(self) -> &'static str {
        match self {
            Self::TwoState => "two-state",
            Self::FiveState => "five-state",
            Self::Collapsing => "collapsing",
            Self::Maternal => "maternal",
        }
    }
}

/// What was asked for.
pub(crate) struct Asked {
    pub(crate) settings: Settings,
    pub(crate) profile: Profile,
    pub(crate) runs: usize,
    pub(crate) problems: Vec<Problem>,
    /// whether --domain was given
    pub(crate) is_selected: bool,
}

impl Asked {
    /// The same of every domain.
    fn with_every_problem(&self) -> Self {
        let sized = |problem: Problem| match self.settings.arms {
            None => problem,
            Some(arms) => problem.with_arms(arms),
        };
        Self {
            settings: self.settings.clone(),
            profile: self.profile,
            runs: self.runs,
            problems: Problem::all().into_iter().map(sized).collect(),
            is_selected: true,
        }
    }

    pub(crate) fn problem(&self, name: &str) -> &Problem {
        let found = self.problems.iter().find(|problem| problem.name() == name);
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
pub(crate) struct Experiment {
    pub(crate) name: &'static str,
    /// the name of its table's axis
    pub(crate) axis: Option<&'static str>,
    pub(crate) units: fn(&Asked) -> Vec<Unit>,
    pub(crate) compute: fn(&Asked, &Unit, Shares<'_>) -> anyhow::Result<Vec<Row>>,
    /// whether a row of its units belongs into its table
    pub(crate) owns: fn(&Row) -> bool,
    pub(crate) show: fn(&Settings, &[Row]) -> Shown,
}

const EXPERIMENTS: [Experiment; 10] = [
    bars::EXPERIMENT,
    metric::EXPERIMENT,
    curves::EXPERIMENT,
    limited_data::EXPERIMENT,
    cost_arms::EXPERIMENT,
    cost_states::EXPERIMENT,
    baselines::EXPERIMENT,
    baselines::value::EXPERIMENT,
    selection::EXPERIMENT,
    quality::EXPERIMENT,
];

impl Experiment {
    fn table(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.csv", self.name))
    }

    /// Computes what is missing and writes the table.
    fn run(&self, asked: &Asked, folder: &Path) -> anyhow::Result<()> {
        let units = (self.units)(asked);
        if units.is_empty() {
            return Ok(()); // none of its domains was asked for
        }
        units::complete(folder, &asked.settings, &units, |unit, shares| (self.compute)(asked, unit, shares))?;
        // what other commands have left in the folder belongs into the table too
        let runs = units::runs_in(folder).max(asked.runs);
        let every = (self.units)(&Asked { runs, ..asked.with_every_problem() });
        let mut rows: Vec<Row> =
            every.iter().filter_map(|unit| unit.read(folder, &asked.settings)).flatten().collect();
        rows.retain(|row| (self.owns)(row));
        rows::write(&self.table(folder), &rows, self.axis)?;
        Ok(rows::write(&self.table(folder).with_extension("parquet"), &rows, self.axis)?)
    }
}

/// What `all` runs.
const OF_THE_PAPER: [&str; 9] = [
    "bars",
    "metric",
    "curves",
    "limited-data",
    "cost-arms",
    "cost-states",
    "baselines",
    "baselines-value",
    "selection",
];

/// What looks at the two trainings epoch by epoch, or at their indices as published.
const OF_ONE_DESCENT: [&str; 2] = ["metric", "curves"];

pub(crate) fn run(arguments: &ExperimentArguments) -> anyhow::Result<()> {
    let start = Instant::now();
    let (names, arguments): (&[&str], _) = match &arguments.what {
        What::Bars(arguments) => (&["bars", "metric"], arguments),
        What::Curves(arguments) => (&["curves"], arguments),
        What::LimitedData(arguments) => (&["limited-data"], arguments),
        What::CostArms(arguments) => (&["cost-arms"], arguments),
        What::CostStates(arguments) => (&["cost-states"], arguments),
        What::Baselines(arguments) => (&["baselines", "baselines-value"], arguments),
        What::Selection(arguments) => (&["selection"], arguments),
        What::Quality(arguments) => (&["quality"], arguments),
        What::All(arguments) => (&OF_THE_PAPER, arguments),
        What::Report { folder } => return report(folder, start),
    };
    use_threads(arguments.threads)?;
    let is_recommended = arguments.profile == Profile::Recommended;
    let asked = asked(arguments, if names == ["quality"] { quality::RUNS } else { RUNS });
    if let (["cost-arms" | "cost-states"], [_, ..]) = (names, &arguments.domain[..]) {
        return Err(
            Usage(format!("--domain: {} times random arms of no domain; leave it out", names[0])).into()
        );
    }
    let is_chosen = |experiment: &&Experiment| {
        names.contains(&experiment.name) && (!is_recommended || !OF_ONE_DESCENT.contains(&experiment.name))
    };
    let chosen = || EXPERIMENTS.iter().filter(is_chosen);
    if is_recommended && names.iter().any(|name| OF_ONE_DESCENT.contains(name)) {
        let why =
            "the recommended training is no single descent: it has no learning curves and is not shifted";
        if chosen().next().is_none() {
            return Err(Usage(format!("--profile: {why}; expected published or paper")).into());
        }
        eprintln!("restive: note: {why}; those sections are left out");
    }
    if chosen().all(|experiment| (experiment.units)(&asked).is_empty()) {
        return Err(no_such_domain(&asked, chosen().next().expect("every name has an experiment")));
    }
    units::enter(&arguments.out, &asked.settings)?;
    say_when_interrupted(format!("what is done is kept in {}", arguments.out.display()));
    chosen().try_for_each(|experiment| experiment.run(&asked, &arguments.out))?;
    report(&arguments.out, start)
}

/// Runs, and those of a quick look, unless others are asked for.
const RUNS: [usize; 2] = [50, 3];

/// Why an experiment has nothing to do.
fn no_such_domain(asked: &Asked, experiment: &Experiment) -> anyhow::Error {
    let mut domains: Vec<String> =
        (experiment.units)(&asked.with_every_problem()).into_iter().map(|unit| unit.domain).collect();
    domains.dedup();
    let found: Vec<&str> = asked.problems.iter().map(Problem::name).collect();
    let message = format!(
        "--domain: found {}, of which {} has nothing to tell; expected {}",
        found.join(", "),
        experiment.name,
        domains.join(", ")
    );
    Usage(message).into()
}

fn asked(arguments: &RunArguments, [runs, quick]: [usize; 2]) -> Asked {
    let mut asked = Asked {
        settings: settings(arguments),
        profile: arguments.profile,
        runs: arguments.runs.map_or(if arguments.quick { quick } else { runs }, |runs| runs as usize),
        problems: Vec::new(),
        is_selected: false,
    }
    .with_every_problem();
    asked.is_selected = !arguments.domain.is_empty();
    if asked.is_selected {
        let is_asked = |problem: &Problem| arguments.domain.iter().any(|d| d.name() == problem.name());
        asked.problems.retain(is_asked);
    }
    asked
}

fn settings(arguments: &RunArguments) -> Settings {
    Settings {
        restive: env!("CARGO_PKG_VERSION").into(),
        seed: arguments.seed,
        profile: arguments.profile.to_string(),
        is_quick: arguments.quick,
        arms: arguments.arms.map(usize::from),
    }
}

/// Draws everything that a folder has tables for.
fn report(folder: &Path, start: Instant) -> anyhow::Result<()> {
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
        match columns {
            Some(columns) => crate::lab::figure::write_grid(&chart, columns, folder, experiment.name)?,
            None => crate::lab::figure::write(&chart, folder, experiment.name)?,
        }
        sections.push(section);
        texts.push(text);
    }
    if sections.is_empty() {
        bail!("{}: found no table of results", folder.display());
    }
    page::write(folder, &settings, sections)?;
    crate::print(|text| {
        if settings.is_quick {
            writeln!(text, "A quick look: few runs, no claims.\n")?;
        }
        texts.iter().try_for_each(|all| writeln!(text, "{all}"))?;
        let seconds = crate::shared::display::duration(start.elapsed().as_secs_f64());
        writeln!(
            text,
            "{seconds}; wrote {}: report.html to open in a browser, tables and figures",
            folder.display()
        )
    })
}
