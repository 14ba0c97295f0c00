//! `restive audit verify`: is the record what was written, and does every plan come out the same again?

use crate::shared::begin::use_threads;
use crate::shared::display::counted;
use crate::shared::progress::Progress;
use crate::shared::say;
use crate::shared::values::threads;
use clap::Args;
use restive_programme::{Again, PlanAgain, Programme, Verified, VerifyAsked};
use restive_tables::show;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

const ABOUT: &str = "\
Verify the record: the chain of all records, what plans were made of, and every plan made again from that.

Scores are computed again and must be the recorded ones to 1e-9, because processors round differently. Choice, draw, order and \
probabilities are made again from the recorded scores and must be the same bit for bit. \
What was changed, added, removed or lost is named: which plan, whose row, whose outcome. The answer ends with the last link of the chain; \
whoever has noted an earlier one can ask with --head whether the chain still leads through it. The exit code is 0 where all is well, else 1.";

/// Verify the record: nothing was changed, and every plan comes out the same when it is made again
#[derive(Debug, Args)]
#[command(
    long_about = ABOUT,
    after_help = "Examples:\n  restive audit verify calls\n  restive audit verify calls 2026-03-30\n  restive audit verify calls --quick --json"
)]
pub(crate) struct VerifyArguments {
    /// The folder that restive import filled
    #[arg(value_name = "PROGRAMME")]
    programme: PathBuf,

    /// One plan, by its id [default: all of them]
    #[arg(value_name = "PLAN")]
    plan: Option<String>,

    /// A link that was noted before, or its first digits: is it still in the chain?
    #[arg(long, value_name = "LINK")]
    head: Option<String>,

    /// Do not make plans again: look at the chain and at what plans were made of
    #[arg(long)]
    quick: bool,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,
}

pub(crate) fn run(arguments: &VerifyArguments) -> anyhow::Result<ExitCode> {
    use_threads(arguments.threads)?;
    let asked = VerifyAsked {
        plan: arguments.plan.clone(),
        head: arguments.head.as_ref().map(|head| head.trim().to_lowercase()),
        quick: arguments.quick,
    };
    let programme = Programme::open(&arguments.programme)?;
    let progress = Progress::new("plans");
    let verified =
        programme.verify(&asked, |done, of| progress.update(done as f64 / of.max(1) as f64, done as u64))?;
    drop(progress);
    match arguments.json {
        true => say::print_json(&verified)?,
        false => say::print(|text| write_text(&verified, arguments.head.is_some(), arguments.quick, text))?,
    }
    Ok(if verified.is_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn write_text(verified: &Verified, has_head: bool, quick: bool, text: &mut Vec<u8>) -> io::Result<()> {
    for fault in &verified.faults {
        writeln!(text, "CHANGED {}", show::plain(&fault.to_string()))?;
    }
    for plan in &verified.plans {
        writeln!(text, "{}", said(plan))?;
    }
    for note in &verified.notes {
        writeln!(text, "note: {note}")?;
    }
    let same = verified.plans.iter().filter(|plan| plan.again == Again::Same).count();
    let made = if quick { String::new() } else { format!(", {same} made again with the same result") };
    let plans = counted(verified.plans.len() as u64, "plan");
    match verified.is_well() {
        true => writeln!(text, "all is well: {plans}{made}")?,
        false => writeln!(text, "NOT as it was written: {plans}{made}")?,
    }
    let links = counted(verified.links as u64, "link");
    match &verified.head {
        None => writeln!(text, "the chain has {links}"),
        Some(head) => {
            if has_head && verified.is_well() {
                writeln!(text, "the link that was noted is in the chain: what is older was not changed")?;
            }
            writeln!(text, "the chain has {links}; the last, to be noted elsewhere: {head}")
        }
    }
}

fn said(plan: &PlanAgain) -> String {
    let version =
        plan.other_version.as_ref().map_or(String::new(), |made| format!(" (made by version {made})"));
    let said = match &plan.again {
        Again::Same => "made again with the same result".into(),
        Again::Kept => "everything is there that it was made of".into(),
        Again::NothingKept => "nothing was kept of what it was made of: it cannot be made again".into(),
        Again::Lost(what) => format!("CANNOT be made again: {}", what.join(", ")),
        Again::Differs(what) => format!("DIFFERS when it is made again: {}", what.join("; ")),
        Again::Refused(why) => format!("CANNOT be made again: {why}"),
    };
    format!("plan {}: {}{version}", plan.plan, show::plain(&said))
}
