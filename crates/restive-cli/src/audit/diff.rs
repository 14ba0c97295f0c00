//! `restive audit diff`: one list against another.

use crate::shared::display::{counted, grouped};
use crate::shared::say;
use clap::Args;
use restive_programme::{Diff, Moved, Programme};
use restive_tables::show;
use std::io::{self, Write};
use std::path::PathBuf;

/// Tell one list from another: who came, who went, and why
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  restive audit diff calls\n  restive audit diff calls 2026-03-30 2026-03-30-2\n  restive audit diff calls --rows 100 --json"
)]
pub(crate) struct DiffArguments {
    /// The folder that restive import filled
    #[arg(value_name = "PROGRAMME")]
    programme: PathBuf,

    /// The plan before, by its id [default: that of the period before AFTER, else the one that AFTER replaced]
    #[arg(value_name = "BEFORE")]
    before: Option<String>,

    /// The plan after, by its id [default: the latest]
    #[arg(value_name = "AFTER")]
    after: Option<String>,

    /// How many people to show, of those who came and of those who went
    #[arg(long, default_value_t = 20, value_name = "N")]
    rows: usize,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &DiffArguments) -> anyhow::Result<()> {
    let programme = Programme::open(&arguments.programme)?;
    let diff = programme.diff(arguments.before.as_deref(), arguments.after.as_deref())?;
    match arguments.json {
        true => say::print_json(&diff),
        false => say::print(|text| write_text(&diff, arguments.rows, text)),
    }
}

fn write_text(diff: &Diff, rows: usize, text: &mut Vec<u8>) -> io::Result<()> {
    let [before, after] = diff.days();
    let count = |moved: &[Moved]| grouped(moved.len() as u64);
    writeln!(text, "{} → {}: {before} and {after}", diff.before, diff.after)?;
    writeln!(
        text,
        "{} stayed, {} came, {} went",
        grouped(diff.stayed as u64),
        count(&diff.came),
        count(&diff.went)
    )?;
    for otherwise in &diff.made {
        writeln!(text, "not made alike: {}", show::plain(otherwise))?;
    }
    let counts = diff.counts();
    if !counts.is_empty() {
        writeln!(text, "\n{:<20}{:>8}{:>8}", "why", "came", "went")?;
        for (why, [came, went]) in counts {
            writeln!(text, "{:<20}{:>8}{:>8}", why.words(), grouped(came as u64), grouped(went as u64))?;
        }
    }
    for (heading, moved) in [("came", &diff.came), ("went", &diff.went)] {
        if moved.is_empty() || rows == 0 {
            continue;
        }
        writeln!(text, "\n{heading}")?;
        for one in moved.iter().take(rows) {
            let name = one.id.as_ref().unwrap_or(&one.arm);
            writeln!(text, "  {}  {}", show::cell(name), show::plain(&one.reason))?;
        }
        if let more @ 1.. = moved.len().saturating_sub(rows) as u64 {
            writeln!(
                text,
                "  … {} more; --rows N shows more",
                counted(more, "person").replace("persons", "people")
            )?;
        }
    }
    Ok(())
}
