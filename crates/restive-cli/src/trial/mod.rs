//! `restive trial`: do the lists help? A trial of a programme's own lists, from its design to its result.

mod analyse;
mod assign;
mod design;
mod end;
mod page;
mod status;

use clap::{Args, Subcommand};

const ABOUT: &str = "\
Do the lists help? A trial of a programme's own lists: designed on its people, agreed on before it begins, drawn by lot, analysed as agreed.

While a trial runs, lists are made from one group of people and nobody calls the others. A list reaches few people, so that the plain \
comparison of the two groups sees next to nothing. But every plan records whom it would have called among the others, and comparing the called \
with them finds effects six times smaller.

  design    how small an effect would be found with these people; writes the plan to agree on (protocol.toml)
  assign    draws the groups, once, and records them with the plan; the next list is the first of the trial
            then plan, outcomes and import as ever
  status    how far it is, and whether the record is complete
  end       ends it, early or after its weeks
  analyse   what the calls brought, by the estimator that was agreed on";

const EXAMPLES: &str = "\
Examples:
  restive trial design calls --weeks 8 --out protocol.toml
  restive trial assign calls protocol.toml
  restive trial status calls
  restive trial analyse calls --protocol protocol.toml --out trial.html";

/// Do the lists help? A trial of a programme's own lists: design, assign, status, end, analyse
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct TrialArguments {
    #[command(subcommand)]
    command: TrialCommand,
}

#[derive(Debug, Subcommand)]
enum TrialCommand {
    Design(design::DesignArguments),
    Assign(assign::AssignArguments),
    Status(status::StatusArguments),
    End(end::EndArguments),
    Analyse(analyse::AnalyseArguments),
}

pub(crate) fn run(arguments: &TrialArguments) -> anyhow::Result<()> {
    match &arguments.command {
        TrialCommand::Design(arguments) => design::run(arguments),
        TrialCommand::Assign(arguments) => assign::run(arguments),
        TrialCommand::Status(arguments) => status::run(arguments),
        TrialCommand::End(arguments) => end::run(arguments),
        TrialCommand::Analyse(arguments) => analyse::run(arguments),
    }
}
