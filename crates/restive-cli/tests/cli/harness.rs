//! The harness of the test kit with the program that cargo has built.

pub(crate) use restive_testkit::{Chance, Cli, Run, stderr, stdout};

/// Returns a harness of the program with an empty folder.
pub(crate) fn cli() -> Cli {
    Cli::new(env!("CARGO_BIN_EXE_restive"))
}
