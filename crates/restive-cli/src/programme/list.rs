//! `restive programme list`: a list that was made, written again.

use crate::shared::failure::Usage;
use crate::shared::say;
use crate::shared::values::choice;
use clap::Args;
use restive_programme::{Programme, System, check_list, recognise_list, write_list};
use restive_tables::{check_file, show};
use std::io::Write;
use std::path::PathBuf;

/// Write a recorded list again: the latest, or another, with changes by hand
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  restive programme list calls --out again.xlsx\n  restive programme list calls --plan 2026-03-30 --for fhir --out tasks.json"
)]
pub(crate) struct ListArguments {
    /// The folder that restive import filled
    #[arg(value_name = "PROGRAMME")]
    programme: PathBuf,

    /// The plan, by its id [default: the latest]
    #[arg(long, value_name = "ID")]
    plan: Option<String>,

    /// The file: .xlsx, .html, .csv, .parquet or .json; nobody but you may read it
    #[arg(short, long, value_name = "OUT", required = true)]
    out: Vec<PathBuf>,

    /// Write it for another system
    #[arg(long = "for", value_name = "SYSTEM", value_parser = choice::<System>(System::described()))]
    system: Option<System>,

    /// Replace a list that is in the file
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(arguments: &ListArguments) -> anyhow::Result<()> {
    for out in &arguments.out {
        check_list(out, arguments.system).map_err(|error| Usage(error.to_string()))?;
        check_file(out, arguments.force.then_some(recognise_list))?;
    }
    let list = Programme::open(&arguments.programme)?.list(arguments.plan.as_deref())?;
    for out in &arguments.out {
        write_list(&list, out, arguments.system, arguments.force)?;
    }
    say::print(|text| {
        for out in &arguments.out {
            writeln!(text, "plan {}, {} people: wrote {}", list.plan, list.rows.len(), show::path(out))?;
        }
        Ok(())
    })
}
