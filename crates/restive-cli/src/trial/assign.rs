//! `restive trial assign`: the draw, made once.

use crate::shared::display::grouped;
use crate::shared::say;
use clap::Args;
use jiff::Timestamp;
use restive_programme::{Programme, TrialAssigned};
use restive_tables::show;
use std::io::{self, Write};
use std::path::PathBuf;

const ABOUT: &str = "\
Draw the groups of a trial, once, and record them with the plan that was agreed on.

The draw follows from the seed in the file and the people who may be called now. It is recorded in ledger.db with the file as it is and its \
SHA-256, before anybody is called by it; the trial begins with the next list. Nothing can be drawn again while a trial runs, and a file that is \
changed later is another plan: the analysis refuses it. Printed is by how much the groups differ in what was known before, in standard \
deviations: with groups by lot, that is chance.";

/// Draw the groups of a trial, once, and record them with the plan
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = "Examples:\n  restive trial assign calls protocol.toml\n  restive trial assign calls protocol.toml --json")]
pub(crate) struct AssignArguments {
    /// The folder that restive import filled
    #[arg(value_name = "PROGRAMME")]
    programme: PathBuf,

    /// The plan that was agreed on
    #[arg(value_name = "PROTOCOL")]
    protocol: PathBuf,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &AssignArguments) -> anyhow::Result<()> {
    let programme = Programme::open(&arguments.programme)?;
    let assigned = programme.assign_trial(&arguments.protocol, Timestamp::now())?;
    match arguments.json {
        true => say::print_json(&assigned),
        false => say::print(|text| write_text(&assigned, text)),
    }
}

fn write_text(assigned: &TrialAssigned, text: &mut Vec<u8>) -> io::Result<()> {
    let [list, control] = assigned.groups.map(|count| grouped(count as u64));
    writeln!(
        text,
        "trial {}: {list} people from whom lists are made, {control} who are left alone",
        show::name(&assigned.protocol.id)
    )?;
    if let Some([list, control]) = assigned.clusters {
        writeln!(text, "clusters: {list} and {control}")?;
    }
    writeln!(
        text,
        "it begins with the {} from {}: the next list is its first",
        assigned.noun, assigned.starts_spoken
    )?;
    writeln!(text, "recorded with the plan that was agreed on; SHA-256 {}", assigned.digest)?;
    writeln!(text, "\nlist less control, in standard deviations")?;
    let widest = assigned.balance.iter().map(|one| show::cell(&one.of).chars().count()).max().unwrap_or(0);
    for one in &assigned.balance {
        let name = show::cell(&one.of);
        let room = " ".repeat(widest - name.chars().count());
        writeln!(text, "  {name}{room}  {:+.2}", one.difference)?;
    }
    Ok(())
}
