//! The command line: the commands; what each may be asked is in its own room.

use crate::audit::AuditArguments;
use crate::compare::CompareArguments;
use crate::demo::DemoArguments;
use crate::doctor::DoctorArguments;
use crate::evaluate::EvaluateArguments;
use crate::experiment::ExperimentArguments;
use crate::fairness::FairnessArguments;
use crate::generate::GenerateArguments;
use crate::import::ImportArguments;
use crate::index::IndexArguments;
use crate::outcomes::OutcomesArguments;
use crate::plan::PlanArguments;
use crate::programme::ProgrammeArguments;
use crate::report::ReportArguments;
use crate::serve::ServeArguments;
use crate::study::StudyArguments;
use crate::train::TrainArguments;
use crate::trial::TrialArguments;
use crate::user::UserArguments;
use clap::builder::{Styles, styling::Style};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::path::PathBuf;

/// Who should be called: plans for restless bandits, from records to names.
#[derive(Debug, Parser)]
#[command(
    name = "restive",
    version,
    arg_required_else_help = true,
    styles = Styles::styled().header(Style::new().bold()).usage(Style::new().bold()),
    after_help = "Examples:\n  restive demo --help\n  restive index examples/arms.csv"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// Parses the command line. A negative number after an option is its value, to be refused by what the option is, and not
    /// an unknown option.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let option = |argument: clap::Arg| match argument.get_long().is_some()
            && argument.get_action().takes_values()
        {
            true => argument.allow_negative_numbers(true),
            false => argument,
        };
        let within = |command: clap::Command| {
            command.mut_args(option).mut_subcommands(|command| command.mut_args(option))
        };
        let command = Self::command().mut_subcommands(within);
        Self::from_arg_matches(&command.try_get_matches()?)
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArguments),
    Index(IndexArguments),
    Generate(GenerateArguments),
    Import(ImportArguments),
    Study(StudyArguments),
    Doctor(DoctorArguments),
    Train(TrainArguments),
    Evaluate(EvaluateArguments),
    Compare(CompareArguments),
    Plan(PlanArguments),
    Outcomes(OutcomesArguments),
    Programme(ProgrammeArguments),
    Audit(AuditArguments),
    Fairness(FairnessArguments),
    Report(ReportArguments),
    Trial(TrialArguments),
    Serve(ServeArguments),
    User(UserArguments),
    Experiment(ExperimentArguments),
    /// Print a completion script for your shell
    #[command(after_help = "Examples:\n  restive completions bash\n  restive completions zsh")]
    Completions {
        /// The shell to complete in
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a folder, in the place of earlier ones
    #[command(after_help = "Examples:\n  restive man .\n  restive man examples")]
    Man {
        /// The folder, which must exist
        folder: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
