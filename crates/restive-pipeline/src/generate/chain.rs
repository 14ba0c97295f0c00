//! The domain whose states are seen at pulls only, as it is asked for: so many states, and so long a memory of the last sighting.

use crate::error::{Error, Result};
use crate::message::{Opt, message};
use restive::Reward;
use restive::data::domain::Domain;
use restive::instance::{Chain, Observation};
use std::str::FromStr;

/// How long a chain of labels or beliefs is, as it is written: a number, or infinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainLength {
    /// so many for each state, of which the last one stays
    Finite(usize),
    /// without an end
    Infinite,
}

impl FromStr for ChainLength {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match (text, text.parse::<usize>()) {
            ("infinite", _) => Ok(Self::Infinite),
            (_, Ok(length @ 1..)) => Ok(Self::Finite(length)),
            _ => Err("expected a whole number, at least 1, or infinite".into()),
        }
    }
}

/// The sizes with states seen at pulls only: as many states and labels as asked for, the published ones where nothing is said.
/// `beliefs` are the labels kept of an infinite chain, 10 more than the horizon unless said otherwise.
pub fn collapsing(
    sizes: Domain,
    states: Option<usize>,
    chain: Option<ChainLength>,
    beliefs: Option<usize>,
) -> Result<Domain> {
    let published = Domain::collapsing();
    let states = states.unwrap_or(published.states);
    if states < 2 {
        let why = format!(": found {states}, expected at least 2: with one state all arms are the same");
        return Err(Error::Asked(message!(Opt("states"), why)));
    }
    let observation = match chain {
        None => published.observation,
        Some(ChainLength::Finite(labels)) => Observation::Collapsing(Chain::Finite(labels)),
        Some(ChainLength::Infinite) => Observation::Collapsing(Chain::Infinite {
            beliefs: beliefs.unwrap_or(sizes.horizon.saturating_add(10)),
        }),
    };
    if beliefs.is_some() && chain != Some(ChainLength::Infinite) {
        return Err(Error::Asked(message!(Opt("beliefs"), ": it belongs to ", Opt("chain"), " infinite")));
    }
    // too many states are for the domain to refuse
    if let Some(chain) = observation.chain().filter(|_| states <= 64) {
        let reward = Reward::of_state(&vec![0.0; states])?;
        let wrong = |error| Error::Asked(message!(Opt("chain"), format!(": {error}")));
        chain.check(reward.view()).map_err(wrong)?;
    }
    Ok(Domain { states, observation, ..sizes })
}
