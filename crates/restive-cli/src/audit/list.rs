//! `restive audit list`: every plan on record, a line each.

use crate::shared::display::{grouped, write_aligned};
use crate::shared::say;
use clap::Args;
use restive_programme::{Entry, Programme};
use restive_tables::show;
use std::path::PathBuf;

/// List every plan on record, a line each
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  restive audit list calls\n  restive audit list calls --json")]
pub(crate) struct ListArguments {
    /// The folder that restive import filled
    #[arg(value_name = "PROGRAMME")]
    programme: PathBuf,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &ListArguments) -> anyhow::Result<()> {
    let entries = Programme::open(&arguments.programme)?.audit_list()?;
    if arguments.json {
        return say::print_json(&entries);
    }
    let header = [
        "plan", "status", "made at", "model", "listed", "of", "outcomes", "by hand", "comes", "kept", "link",
    ];
    let mut table = vec![header.map(String::from).to_vec()];
    table.extend(entries.iter().map(row));
    say::print(|text| write_aligned(text, &table))
}

fn row(entry: &Entry) -> Vec<String> {
    let count = |count: usize| grouped(count as u64);
    vec![
        entry.plan.clone(),
        entry.status.clone(),
        entry.made_at.clone(),
        show::cell(&entry.model),
        count(entry.listed),
        count(entry.people),
        count(entry.outcomes),
        count(entry.overrides),
        entry.share.map_or("–".into(), |share| format!("{:.1} %", 100.0 * share)),
        if entry.is_kept { "yes" } else { "no" }.into(),
        entry.link.as_ref().map_or("–".into(), |link| link.chars().take(12).collect()),
    ]
}
