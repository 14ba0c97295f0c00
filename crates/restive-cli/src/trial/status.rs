//! `restive trial status`: how far a trial is.

use crate::shared::say;
use clap::Args;
use restive_programme::Programme;
use std::io::Write;
use std::path::PathBuf;

/// Say how far a trial is, and whether its record is complete
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  restive trial status calls\n  restive trial status calls --trial 2026-03-16 --json"
)]
pub(crate) struct StatusArguments {
    /// The folder that restive import filled
    #[arg(value_name = "PROGRAMME")]
    programme: PathBuf,

    /// The trial, by its name [default: the one that runs, else the last one]
    #[arg(long, value_name = "ID")]
    trial: Option<String>,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &StatusArguments) -> anyhow::Result<()> {
    let standing = Programme::open(&arguments.programme)?.trial_status(arguments.trial.as_deref())?;
    match arguments.json {
        true => say::print_json(&standing)?,
        false => say::print(|text| {
            standing.lines().into_iter().try_for_each(|(name, words)| writeln!(text, "{name:<10} {words}"))
        })?,
    }
    standing.warnings.iter().for_each(say::warning);
    Ok(())
}
