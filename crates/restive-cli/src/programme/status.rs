//! `restive programme status`: where a programme stands, in ten lines.

use crate::shared::say;
use clap::Args;
use jiff::Zoned;
use restive_programme::Programme;
use std::io::Write;
use std::path::PathBuf;

/// Where a programme stands, in ten lines
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  restive programme status calls\n  restive programme status calls --json"
)]
pub(crate) struct StatusArguments {
    /// The folder that restive import filled
    #[arg(value_name = "PROGRAMME")]
    programme: PathBuf,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &StatusArguments) -> anyhow::Result<()> {
    let status = Programme::open(&arguments.programme)?.status(Zoned::now().date())?;
    match arguments.json {
        true => say::print_json(&status)?,
        false => say::print(|text| {
            status.lines().into_iter().try_for_each(|(name, words)| writeln!(text, "{name:<10} {words}"))
        })?,
    }
    status.warnings.iter().for_each(say::warning);
    Ok(())
}
