//! The program `restive`: restless bandits from the command line.
//!
//! What it decides is decided in `restive-pipeline` and, for the paper, in `restive-lab`; the rooms here parse and print. This
//! file parses the command line, runs the command, and turns whatever went wrong into one line on standard error and an exit code:
//! 0 success, 1 failure (a file, the data, the system), 2 usage (the command line), 3 not enough memory, 128 + n ended by
//! signal n. `doctor` alone has codes for what it found, 0 to 2, and says so in its help.

// it panics where its reader is gone; what is said goes through `shared::say`
#![deny(clippy::print_stderr)]

mod arguments;
mod audit;
mod compare;
mod demo;
mod doctor;
mod evaluate;
mod experiment;
mod fairness;
mod generate;
mod import;
mod index;
mod manual;
mod out_of_memory;
mod outcomes;
mod plan;
mod programme;
mod report;
mod serve;
mod shared;
mod study;
mod train;
mod trial;
mod user;

use arguments::{Arguments, Command};
use clap::CommandFactory;
use shared::say::print;
use shared::{failure, signals};
use std::process::ExitCode;

fn main() -> ExitCode {
    out_of_memory::keep_a_reserve();
    failure::keep_panics_quiet();
    signals::end_cleanly_when_told();
    let arguments = match Arguments::read() {
        Ok(arguments) => arguments,
        Err(error) => return failure::usage(error),
    };
    if let Err(error) = restive_pipeline::threads::check_environment() {
        return failure::report(&error.into());
    }
    let outcome = std::panic::catch_unwind(|| {
        let done = match arguments.command {
            Command::Doctor(arguments) => return doctor::run(&arguments),
            Command::Outcomes(arguments) => return outcomes::run(&arguments),
            Command::Audit(arguments) => return audit::run(&arguments),
            Command::Demo(arguments) => demo::run(&arguments),
            Command::Index(arguments) => index::run(&arguments),
            Command::Generate(arguments) => generate::run(&arguments),
            Command::Import(arguments) => import::run(&arguments),
            Command::Study(arguments) => study::run(&arguments),
            Command::Train(arguments) => train::run(&arguments),
            Command::Evaluate(arguments) => evaluate::run(&arguments),
            Command::Compare(arguments) => compare::run(&arguments),
            Command::Plan(arguments) => plan::run(&arguments),
            Command::Programme(arguments) => programme::run(&arguments),
            Command::Fairness(arguments) => fairness::run(&arguments),
            Command::Report(arguments) => report::run(&arguments),
            Command::Trial(arguments) => trial::run(&arguments),
            Command::Serve(arguments) => serve::run(&arguments),
            Command::User(arguments) => user::run(&arguments),
            Command::Experiment(arguments) => experiment::run(&arguments),
            Command::Completions { shell } => print(|out| {
                clap_complete::generate(shell, &mut Arguments::command(), "restive", out);
                Ok(())
            }),
            Command::Man { folder } => manual::write(&folder),
        };
        done.map(|()| ExitCode::SUCCESS)
    });
    match outcome {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => failure::report(&error),
        Err(_) => failure::report_panic(),
    }
}
