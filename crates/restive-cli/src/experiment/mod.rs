//! `restive experiment`: every figure and table of the paper from scratch, with intervals and tests.

use crate::shared::begin::use_threads;
use crate::shared::display::duration;
use crate::shared::failure::Usage;
use crate::shared::progress::Progress;
use crate::shared::say;
use crate::shared::signals::say_when_interrupted;
use crate::shared::values::{choice, threads};
use clap::{Args, Subcommand};
use restive_lab::Heard;
use restive_lab::experiment::{Asked, EXPERIMENTS, Experiment, Settings, draw, enter};
use restive_pipeline::generate::DomainName;
use restive_pipeline::{Profile, SEED};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

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
    /// Whether what one log says of a ranking can be believed: coverage, power and false alarms on worlds with a known truth
    #[command(after_help = examples!("evidence"))]
    Evidence(RunArguments),
    /// Everything of the paper: all but quality and evidence
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

    /// How many runs, each with a seed of its own [default: 50, of quality 12, of evidence 40; with --quick 3, 2 and 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: Option<u32>,

    /// Seed of the first run; the others follow it
    #[arg(long, default_value_t = SEED)]
    seed: u64,

    /// What two-stage and decision-focused training are
    #[arg(long, default_value_t = Profile::Published, value_parser = choice::<Profile>(Profile::described()))]
    profile: Profile,

    /// Only these domains
    #[arg(long, value_name = "DOMAIN", value_parser = choice::<DomainName>(DomainName::described()))]
    domain: Vec<DomainName>,

    /// A look in a few minutes: few runs, marked as such everywhere
    #[arg(long)]
    quick: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,

    /// Arms per instance: smaller than published
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u16).range(5..=1000))]
    arms: Option<u16>,

    /// Only these regimes of evidence
    #[arg(long, value_name = "REGIME", hide = true)]
    regime: Vec<String>,
}

pub(crate) fn run(arguments: &ExperimentArguments) -> anyhow::Result<()> {
    let start = Instant::now();
    // none: all of the paper
    let (names, arguments): (&[&str], _) = match &arguments.what {
        What::Bars(arguments) => (&["bars", "metric"], arguments),
        What::Curves(arguments) => (&["curves"], arguments),
        What::LimitedData(arguments) => (&["limited-data"], arguments),
        What::CostArms(arguments) => (&["cost-arms"], arguments),
        What::CostStates(arguments) => (&["cost-states"], arguments),
        What::Baselines(arguments) => (&["baselines", "baselines-value"], arguments),
        What::Selection(arguments) => (&["selection"], arguments),
        What::Quality(arguments) => (&["quality"], arguments),
        What::Evidence(arguments) => (&["evidence"], arguments),
        What::All(arguments) => (&[], arguments),
        What::Report { folder } => return report(folder, start),
    };
    use_threads(arguments.threads)?;
    if let (["cost-arms" | "cost-states"], [_, ..]) = (names, &arguments.domain[..]) {
        let message = format!("--domain: {} times random arms of no domain; leave it out", names[0]);
        return Err(Usage(message).into());
    }
    let is_chosen = |experiment: &&Experiment| match names {
        [] => !["quality", "evidence"].contains(&experiment.name),
        names => names.contains(&experiment.name),
    };
    let mut chosen: Vec<&Experiment> = EXPERIMENTS.iter().filter(is_chosen).collect();
    let asked = asked(arguments, chosen[0].runs());
    if arguments.profile == Profile::Recommended && chosen.iter().any(|e| e.needs_one_descent()) {
        let why =
            "the recommended training is no single descent: it has no learning curves and is not shifted";
        chosen.retain(|experiment| !experiment.needs_one_descent());
        if chosen.is_empty() {
            return Err(Usage(format!("--profile: {why}; expected published or paper")).into());
        }
        say::note(format_args!("{why}; those sections are left out"));
    }
    if !chosen.iter().any(|experiment| experiment.is_asked(&asked)) {
        let found: Vec<&str> = asked.problems.iter().map(|problem| problem.name().name()).collect();
        let message = format!(
            "--domain: found {}, of which {} has nothing to tell; expected {}",
            found.join(", "),
            chosen[0].name,
            chosen[0].domains(&asked).join(", ")
        );
        return Err(Usage(message).into());
    }
    enter(&arguments.out, &asked.settings)?;
    say_when_interrupted(format!("what is done is kept in {}", arguments.out.display()));
    for experiment in chosen {
        let progress = Progress::new("runs");
        experiment.run(&asked, &arguments.out, &|heard| match heard {
            Heard::Progress { share, done, all } => {
                progress.say(share, format!("{done} of {all} runs done"));
            }
            Heard::Note(note) => say::note(note),
        })?;
    }
    report(&arguments.out, start)
}

fn asked(arguments: &RunArguments, [runs, quick]: [usize; 2]) -> Asked {
    let runs = arguments.runs.map_or(if arguments.quick { quick } else { runs }, |runs| runs as usize);
    let settings = Settings {
        restive: env!("CARGO_PKG_VERSION").into(),
        seed: arguments.seed,
        profile: arguments.profile,
        is_quick: arguments.quick,
        arms: arguments.arms.map(usize::from),
    };
    let mut asked = Asked::new(settings, runs, &arguments.domain);
    asked.regimes.clone_from(&arguments.regime);
    asked
}

/// Draws everything that a folder has tables for.
fn report(folder: &Path, start: Instant) -> anyhow::Result<()> {
    let drawn = draw(folder)?;
    say::print(|text| {
        if drawn.is_quick {
            writeln!(text, "A quick look: few runs, no claims.\n")?;
        }
        drawn.texts.iter().try_for_each(|all| writeln!(text, "{all}"))?;
        let seconds = duration(start.elapsed().as_secs_f64());
        let folder = restive_tables::show::path(folder);
        writeln!(text, "{seconds}; wrote {folder}: report.html to open in a browser, tables and figures")
    })
}
