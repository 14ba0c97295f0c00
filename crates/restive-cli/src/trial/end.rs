//! `restive trial end`: control people may be called again.

use crate::shared::say;
use clap::Args;
use jiff::Timestamp;
use restive_programme::Programme;
use restive_tables::show;
use std::io::Write;
use std::path::PathBuf;

/// End the trial that runs, early or after its weeks: control people may be called again
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  restive trial end calls --why \"its eight weeks are over\"")]
pub(crate) struct EndArguments {
    /// The folder that restive import filled
    #[arg(value_name = "PROGRAMME")]
    programme: PathBuf,

    /// For what reason: it stays on record, and is told with the result
    #[arg(long, value_name = "TEXT")]
    why: String,
}

pub(crate) fn run(arguments: &EndArguments) -> anyhow::Result<()> {
    let id = Programme::open(&arguments.programme)?.end_trial(&arguments.why, Timestamp::now())?;
    say::print(|text| {
        writeln!(text, "trial {} has ended: the next list is made from everybody", show::name(&id))
    })
}
