//! `restive study`: reads a study, checks all of it, and says what it holds.

mod summary;

use crate::shared::display::{counted, grouped};
use crate::shared::say;
use clap::Args;
use restive_pipeline::StudyContents;
use restive_programme::Programme;
use restive_tables::show::path;
use restive_tables::{Roll, RollInstance, write_people};
use std::path::{Path, PathBuf};
use std::time::Instant;
use summary::StudySummary;

const ABOUT: &str = "\
Check a study and show what it holds.

STUDY is a folder:
  study.toml           states, rewards, discount, budget, horizon, behaviour
  arms.csv             instance, arm, one column per feature, perhaps split
  trajectories.csv     instance, trajectory, t, arm, state, action, perhaps propensity, reward, order
                       (collapsing: perhaps last_state, since)
  truth.csv            optional: instance, arm, p_S_A_NEXT
Tables may be .parquet instead; split is train, validation or test. A trajectory of H decisions has H + 1 rows per arm, the last with a state and an empty \
action; t counts from 0 or from 1; a state that was not observed is empty. Without a column instance all arms belong to one.

Rows may come in any order: it decides nothing. Instances, arms and trajectories stand in the order of their names, in which numbers \
count as numbers (9 before 10). Where that is not the order in which trajectories happened, a column order says it: a number, the same \
in all rows of a trajectory. A plan goes by the latest one.

With observation = \"collapsing\" and chain = 10 (or \"infinite\") in study.toml a state is seen at a pull only: state is what the \
step's pull saw, and empty elsewhere. last_state and since may say what is known before the action: the last state that was seen \
and the steps since (0 just after a pull). On an arm's first row they say where it starts; without them that is unknown until \
its first pull, and the arm is taken to have been last seen longer ago than the chain remembers. A step without a record after a known \
label is a step at which nobody was pulled. On later rows last_state and since must follow from the actions, or across missing rows be \
what pulls without a row can have led to; in a finite chain since may stay at the last label, and a longer gap that does not say so is \
refused. Where the table has rows for pulls only, rows = \"pulls\" in study.toml says that an arm without a row was left alone.

The first fault is named with its file, row and column. Nothing is written, unless --people asks for a table of everybody as engines have them: features, latest \
state, when last seen and called, and how often each moved from where to where.";

const EXAMPLES: &str = "\
Examples:
  restive study examples/study
  restive study examples/study --people people --files 4
  restive study examples/study --json";

/// Check a study and show what it holds
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct StudyArguments {
    /// The folder of the study, or of a programme
    #[arg(value_name = "STUDY|PROGRAMME")]
    study: PathBuf,

    /// Write everybody as a table for engines (Spark, Ray, DuckDB, …) into this folder: one row each, Parquet
    #[arg(long, value_name = "OUT")]
    people: Option<PathBuf>,

    /// Files of that table
    #[arg(long, value_name = "N", default_value_t = 8, requires = "people", value_parser = clap::value_parser!(u16).range(1..=4096))]
    files: u16,

    /// Print the summary as JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &StudyArguments) -> anyhow::Result<()> {
    let start = Instant::now();
    let contents = StudyContents::of_folder(&Programme::study_in(&arguments.study)?)?;
    let summary = StudySummary::new(&arguments.study, &contents, start.elapsed());
    match arguments.json {
        true => say::print_json(&summary)?,
        false => say::print(|text| summary.write_text(text))?,
    }
    contents.notes.iter().for_each(say::note);
    contents.warnings.iter().for_each(say::warning);
    arguments.people.as_ref().map_or(Ok(()), |out| write_table(arguments, out))
}

/// Everybody as engines have them.
fn write_table(arguments: &StudyArguments, out: &Path) -> anyhow::Result<()> {
    let roll = Roll::read(&Programme::study_in(&arguments.study)?)?;
    write_people(&roll, out, arguments.files.into())?;
    let mut steps: Vec<usize> = roll.instances().iter().map(RollInstance::planned_step).collect();
    steps.sort_unstable();
    steps.dedup();
    let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
    let (files, people) = (counted(arguments.files.into(), "file"), grouped(roll.people() as u64));
    let (out, steps) = (path(out), steps.join(", "));
    say::note(format_args!("wrote {people} people to {out}, {files}; step {steps} is the one to plan"));
    Ok(())
}
