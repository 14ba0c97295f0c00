//! `restive audit show`: one plan on record, whole.

use crate::shared::display::{counted, grouped};
use crate::shared::say;
use clap::Args;
use restive_programme::{Programme, Shown};
use restive_tables::show;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

/// Show one plan on record: what it was made of, what it promised, who could not be chosen, what came of it
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  restive audit show calls\n  restive audit show calls 2026-03-30 --json")]
pub(crate) struct ShowArguments {
    /// The folder that restive import filled
    #[arg(value_name = "PROGRAMME")]
    programme: PathBuf,

    /// The plan, by its id [default: the latest]
    #[arg(value_name = "PLAN")]
    plan: Option<String>,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &ShowArguments) -> anyhow::Result<()> {
    let shown = Programme::open(&arguments.programme)?.audit_show(arguments.plan.as_deref())?;
    match arguments.json {
        true => say::print_json(&shown),
        false => say::print(|text| write_text(&shown, text)),
    }
}

fn write_text(shown: &Shown, text: &mut Vec<u8>) -> io::Result<()> {
    let entry = &shown.entry;
    writeln!(text, "plan {}, {}, made at {}", entry.plan, entry.status, entry.made_at)?;
    for (name, value) in &shown.summary {
        writeln!(text, "  {}: {}", show::plain(name), show::plain(value))?;
    }
    if let Some(trial) = &shown.trial {
        writeln!(text, "  trial: {}", show::name(trial))?;
    }
    counts(text, "on the list", &shown.how)?;
    counts(text, "could not be chosen", &shown.excluded)?;
    counts(text, "outcomes", &shown.outcomes)?;
    for change in &shown.overrides {
        writeln!(
            text,
            "  {} {} by {}: {}",
            change.kind.word(),
            show::name(&change.arm),
            show::plain(&change.who),
            show::plain(&change.why)
        )?;
    }
    if let Some(certificate) = shown.effects.identified().and_then(|effects| effects.certificate.as_ref()) {
        writeln!(text, "by budget (what no plan could exceed; what the ranking reaches, simulated)")?;
        for point in &certificate.curve {
            let value = point.value;
            writeln!(
                text,
                "  {:>7}  {:>12.1}  {:>12.1} [{:.1}, {:.1}]",
                grouped(point.budget as u64),
                point.bound,
                value.value,
                value.low,
                value.high
            )?;
        }
    }
    match shown.inputs.is_empty() {
        true => writeln!(text, "made before anything was kept of what plans are made of")?,
        false => {
            writeln!(text, "made of")?;
            for input in &shown.inputs {
                let digest: String = input.digest.chars().take(16).collect();
                let bytes = counted(input.bytes, "byte");
                writeln!(text, "  {digest}  {:<28}  {bytes}", show::cell(&input.name))?;
            }
        }
    }
    match &entry.link {
        Some(link) => writeln!(text, "link {link}"),
        None => Ok(()),
    }
}

fn counts(text: &mut Vec<u8>, what: &str, counts: &BTreeMap<String, usize>) -> io::Result<()> {
    if counts.is_empty() {
        return Ok(());
    }
    let all: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{} {}", show::plain(name), grouped(*count as u64)))
        .collect();
    writeln!(text, "  {what}: {}", all.join(", "))
}
