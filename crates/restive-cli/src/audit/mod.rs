//! `restive audit`: what was decided, looked at later.

mod diff;
mod list;
mod show;
mod verify;

use clap::{Args, Subcommand};
use std::process::ExitCode;

const ABOUT: &str = "\
What was decided, looked at later: every list on record, whether it can be made again, and why names came and went.

Every plan of a programme is recorded in ledger.db: what it was made of, everybody's rank and probability, whom rules kept out, changes by \
hand, outcomes. What it was made of is kept in records/, without names and numbers of people, so that the plan can be made again. Every \
record is a link of a chain: each link holds a hash of the one before, so that nobody can change the past without breaking the chain at \
that place. Somebody who computes the whole chain anew can be found only by a link that was written down elsewhere: restive audit verify \
prints the last one, to be mailed or noted, and --head LINK asks whether the chain still leads through it.";

const EXAMPLES: &str = "\
Examples:
  restive audit list calls
  restive audit show calls 2026-03-30
  restive audit verify calls
  restive audit diff calls";

/// Look at what was decided: lists on record, whether they can be made again, why names came and went
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct AuditArguments {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    List(list::ListArguments),
    Show(show::ShowArguments),
    Verify(verify::VerifyArguments),
    Diff(diff::DiffArguments),
}

pub(crate) fn run(arguments: &AuditArguments) -> anyhow::Result<ExitCode> {
    let done = match &arguments.command {
        AuditCommand::List(arguments) => list::run(arguments),
        AuditCommand::Show(arguments) => show::run(arguments),
        AuditCommand::Verify(arguments) => return verify::run(arguments),
        AuditCommand::Diff(arguments) => diff::run(arguments),
    };
    done.map(|()| ExitCode::SUCCESS)
}
