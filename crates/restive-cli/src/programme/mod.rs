//! `restive programme`: the folder of a programme, where it stands, its lists.

mod change;
mod list;
mod status;

use crate::shared::say;
use clap::{Args, Subcommand};
use restive_programme::Programme;
use restive_tables::show;
use std::path::PathBuf;

const ABOUT: &str = "\
The folder of a programme: where it stands, its rules and words, its lists.

PROGRAMME is a folder that restive import fills. Beside the study and the people it holds
  rules.toml    how many may be called, who may not, how many of whom
  words.toml    the words of lists and reasons, to be edited or translated
  models/       what restive train PROGRAMME made, by day; the newest is used, or the one that the rules name
  ledger.db     the record of every list: what it was made from, everybody's probability, changes by hand, outcomes

The week of a planner:
  restive import mapping.toml --out PROGRAMME
  restive plan PROGRAMME --out list.xlsx
  restive outcomes PROGRAMME list.xlsx";

const EXAMPLES: &str = "\
Examples:
  restive programme init calls
  restive programme status calls
  restive programme list calls --out again.html
  restive programme remove calls --id B12 --who Asha --why moved";

/// Where a programme stands, its rules and words, its lists
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct ProgrammeArguments {
    #[command(subcommand)]
    command: ProgrammeCommand,
}

#[derive(Debug, Subcommand)]
enum ProgrammeCommand {
    /// Write rules.toml and words.toml to be edited, and begin the ledger; what is there stays
    #[command(after_help = "Examples:\n  restive programme init calls\n  restive programme status calls")]
    Init {
        /// The folder that restive import filled
        #[arg(value_name = "PROGRAMME")]
        programme: PathBuf,
    },
    Status(status::StatusArguments),
    List(list::ListArguments),
    Add(change::ChangeArguments),
    Remove(change::ChangeArguments),
}

pub(crate) fn run(arguments: &ProgrammeArguments) -> anyhow::Result<()> {
    match &arguments.command {
        ProgrammeCommand::Init { programme } => init(programme),
        ProgrammeCommand::Status(arguments) => status::run(arguments),
        ProgrammeCommand::List(arguments) => list::run(arguments),
        ProgrammeCommand::Add(arguments) => change::run(arguments, restive_programme::Change::Added),
        ProgrammeCommand::Remove(arguments) => change::run(arguments, restive_programme::Change::Removed),
    }
}

fn init(folder: &std::path::Path) -> anyhow::Result<()> {
    let programme = Programme::open(folder)?;
    let made = programme.init()?;
    let next = if programme.models()?.is_empty() { "train" } else { "plan" };
    say::print(|text| {
        use std::io::Write;
        for path in &made {
            writeln!(text, "wrote {}", show::path(path))?;
        }
        if made.is_empty() {
            writeln!(text, "everything is there already")?;
        }
        writeln!(text, "Next: edit rules.toml, then restive {next} {}", show::path(folder))
    })
}
