//! When the states of a synthetic study are seen, as `restive generate` is asked for it.

use crate::shared::failure::Usage;
use clap::Args;
use restive::Reward;
use restive::data::domain::Domain;
use restive::instance::{Chain, Observation};

#[derive(Debug, Args)]
pub(crate) struct SeenArguments {
    /// collapsing: how many states [default: 2]
    #[arg(long, value_name = "M")]
    states: Option<usize>,

    /// collapsing: labels kept for each state, of which the last one stays, or infinite [default: 10]
    #[arg(long, value_name = "T|infinite", value_parser = chain)]
    chain: Option<Length>,

    /// collapsing, --chain infinite: labels kept for each state, more than the horizon [default: 10 + the horizon]
    #[arg(long, value_name = "N")]
    beliefs: Option<usize>,
}

/// The length of a chain of labels; none: without an end.
type Length = Option<usize>;

fn chain(text: &str) -> Result<Length, String> {
    match (text, text.parse::<usize>()) {
        ("infinite", _) => Ok(None),
        (_, Ok(labels @ 1..)) => Ok(Some(labels)),
        _ => Err("expected a whole number of labels, at least 1, or infinite".into()),
    }
}

impl SeenArguments {
    /// States and observation of the domain, as asked.
    pub(crate) fn resolve(
        &self,
        is_collapsing: bool,
        base: &Domain,
        horizon: usize,
    ) -> anyhow::Result<(usize, Observation)> {
        let &Self { states, chain, beliefs } = self;
        if !is_collapsing {
            let asked = [
                ("--states", states.is_some()),
                ("--chain", chain.is_some()),
                ("--beliefs", beliefs.is_some()),
            ];
            return match asked.into_iter().find(|(_, is_asked)| *is_asked) {
                Some((option, _)) => {
                    Err(Usage(format!("{option}: it belongs to the domain collapsing")).into())
                }
                None => Ok((base.states, base.observation)),
            };
        }
        let states = states.unwrap_or(base.states);
        if states < 2 {
            let message = format!(
                "--states: found {states}, expected at least 2: with one state all arms are the same"
            );
            return Err(Usage(message).into());
        }
        let chain = match chain {
            None => base.observation.chain().expect("a domain of labels"),
            Some(Some(labels)) => Chain::Finite(labels),
            Some(None) => Chain::Infinite { beliefs: beliefs.unwrap_or(horizon.saturating_add(10)) },
        };
        if beliefs.is_some() && !matches!(chain, Chain::Infinite { .. }) {
            return Err(Usage("--beliefs: it belongs to --chain infinite".into()).into());
        }
        // too many states are for the domain to refuse
        if (2..=64).contains(&states) {
            let reward = Reward::of_state(&vec![0.0; states])?;
            chain.check(reward.view()).map_err(|e| Usage(format!("--chain: {e}")))?;
        }
        Ok((states, Observation::Collapsing(chain)))
    }
}
