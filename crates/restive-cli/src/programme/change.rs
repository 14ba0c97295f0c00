//! `restive programme add` and `remove`: changes to a list by hand, with who and why.

use crate::shared::say;
use clap::Args;
use jiff::Timestamp;
use restive_programme::{Change, Programme};
use std::io::Write;
use std::path::PathBuf;

/// Change a list by hand; who did it and why is recorded, and probabilities stay those of the draw
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  restive programme remove calls --id B12 --who Asha --why moved\n  restive programme add calls --id B12 --who Asha --why asked"
)]
pub(crate) struct ChangeArguments {
    /// The folder that restive import filled
    #[arg(value_name = "PROGRAMME")]
    programme: PathBuf,

    /// Whom
    #[arg(long, value_name = "ID")]
    id: String,

    /// Who decided it
    #[arg(long, value_name = "NAME")]
    who: String,

    /// For what reason
    #[arg(long, value_name = "REASON")]
    why: String,

    /// The plan, by its id [default: the latest]
    #[arg(long, value_name = "PLAN")]
    plan: Option<String>,
}

pub(crate) fn run(arguments: &ChangeArguments, change: Change) -> anyhow::Result<()> {
    let programme = Programme::open(&arguments.programme)?;
    let ChangeArguments { id, who, why, plan, .. } = arguments;
    let plan = programme.change(change, plan.as_deref(), id, who, why, Timestamp::now())?;
    say::print(|text| writeln!(text, "plan {plan}: {change}; restive programme list writes the list again"))
}
