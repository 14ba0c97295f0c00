//! What is seen of an arm: its state at every step, or only at pulls.

use super::arguments::{Algorithm, IndexArguments};
use crate::shared::failure::Usage;
use clap::ValueEnum;
use restive::instance::Chain;
use restive_pipeline::generate::ChainLength;

/// Beliefs of an infinite chain that have an index, unless said otherwise.
const BELIEFS: usize = 10;
/// An arm may have so many beliefs: its indices alone then take some megabytes, and seconds to minutes.
const MOST_BELIEFS: usize = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Observation {
    /// The state is seen at every step
    Full,
    /// The state is seen only when the arm is pulled
    Collapsing,
}

/// The chains that the command line asks for; none where the state is always seen.
pub(crate) fn chain(arguments: &IndexArguments) -> Result<Option<Chain>, Usage> {
    let refuse = |message: &str| Err(Usage(message.into()));
    if arguments.observation == Observation::Full {
        return match (arguments.chain, arguments.beliefs) {
            (None, None) => Ok(None),
            (Some(_), _) => {
                refuse("--chain: a state that is always seen has none; it needs --observation collapsing")
            }
            _ => refuse("--beliefs: a state that is always seen has none; it needs --observation collapsing"),
        };
    }
    if arguments.algorithm != Algorithm::Auto {
        return refuse("--algorithm: with --observation collapsing the chain decides it; leave it out");
    }
    match (arguments.chain.unwrap_or(ChainLength::Infinite), arguments.beliefs) {
        (ChainLength::Infinite, beliefs) => {
            Ok(Some(Chain::Infinite { beliefs: beliefs.map_or(BELIEFS, |n| n.get()) }))
        }
        (ChainLength::Finite(beliefs), None) => Ok(Some(Chain::Finite(beliefs))),
        (ChainLength::Finite(_), Some(_)) => refuse(
            "--beliefs: a finite chain has an index for each of its beliefs; it needs --chain infinite",
        ),
    }
}

/// Refuses more beliefs than an arm may have.
pub(crate) fn refuse_too_many(chain: Chain, states: usize) -> Result<(), Usage> {
    let (option, found) = match chain {
        Chain::Finite(beliefs) => ("--chain", beliefs),
        Chain::Infinite { beliefs } => ("--beliefs", beliefs),
    };
    let most = MOST_BELIEFS / states;
    if found <= most {
        return Ok(());
    }
    Err(Usage(format!(
        "{option}: found {found}, expected at most {most} for {states} states: an arm may have {MOST_BELIEFS} beliefs"
    )))
}

/// What the indices of an arm are called: by state, or by last observed state and steps since.
pub(crate) fn labels(states: usize, chain: Option<Chain>) -> Vec<String> {
    match chain {
        None => (0..states).map(|s| s.to_string()).collect(),
        Some(chain) => {
            let beliefs = chain.beliefs();
            (0..states * beliefs).map(|u| format!("{}_{}", u / beliefs, u % beliefs)).collect()
        }
    }
}

/// The chain as the command line writes it.
pub(crate) fn chain_name(chain: Chain) -> String {
    match chain {
        Chain::Finite(beliefs) => beliefs.to_string(),
        Chain::Infinite { .. } => "infinite".into(),
    }
}
