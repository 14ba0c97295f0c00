//! When states are seen, as `study.toml` says it: `observation`, and for states that are seen at pulls only `chain` and
//! `beliefs`.

use super::lines::Lines;
use super::whole;
use crate::error::Result;
use restive::Reward;
use restive::instance::{Chain, Observation};
use serde::Serialize;
use toml::Value;

/// The most labels of an arm, over the chains of all states.
pub(in crate::study) const MOST_LABELS: usize = 4096;

/// The most labels of one state.
pub(in crate::study) fn longest_chain(states: usize) -> usize {
    (MOST_LABELS / states).max(1)
}

/// A chain as it is written.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum WrittenChain {
    Finite(usize),
    Infinite(&'static str),
}

const INFINITE: &str = "infinite";

/// Which actions have rows in the table of trajectories.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::study) enum Rows {
    /// all; of what has no row nothing is known
    All,
    /// pulls: an arm without a row was left alone
    Pulls,
}

/// Which rows there are; only states that are seen at pulls leave other rows empty.
pub(super) fn rows(lines: &Lines<'_>, observation: Observation) -> Result<Rows> {
    let named = |value: &Value| match value.as_str()? {
        "all" => Some(Rows::All),
        "pulls" => Some(Rows::Pulls),
        _ => None,
    };
    let rows = lines.take("rows", named)?.unwrap_or(Rows::All);
    if rows == Rows::Pulls && observation == Observation::Full {
        lines.refuse("rows", "\"all\": rows of pulls only belong to observation = \"collapsing\"".into())?;
    }
    Ok(rows)
}

/// An infinite chain of 0 beliefs stands for as many as the data ask for.
pub(super) fn read(lines: &Lines<'_>, reward: &Reward) -> Result<Observation> {
    let named = |value: &Value| match value.as_str()? {
        "full" => Some(false),
        "collapsing" => Some(true),
        _ => None,
    };
    if lines.take("observation", named)? != Some(true) {
        for name in ["chain", "beliefs"] {
            lines.refuse(name, "none: it belongs to observation = \"collapsing\"".into())?;
        }
        return Ok(Observation::Full);
    }
    let finite = |value: &Value| match value.as_str() {
        Some(INFINITE) => Some(None),
        _ => whole(value, 1..=usize::MAX).map(Some),
    };
    let beliefs = lines.take("beliefs", |value| whole(value, 1..=usize::MAX))?;
    let chain = match lines.need("chain", finite)? {
        Some(labels) => {
            lines.refuse("beliefs", "none: it belongs to chain = \"infinite\"".into())?;
            Chain::Finite(labels)
        }
        None => Chain::Infinite { beliefs: beliefs.unwrap_or(0) },
    };
    let (states, most) = (reward.states(), longest_chain(reward.states()));
    if chain.beliefs() > most {
        let name = if beliefs.is_some() { "beliefs" } else { "chain" };
        lines.refuse(
            name,
            format!("at most {most} labels for each of {states} states, {MOST_LABELS} in all"),
        )?;
    }
    if let Chain::Infinite { .. } = chain
        && Chain::check(Chain::Infinite { beliefs: 1 }, reward.view()).is_err()
    {
        let expected = "a whole number of labels: an infinite chain needs 2 states, with the same rewards for both actions";
        lines.refuse("chain", expected.into())?;
    }
    Ok(Observation::Collapsing(chain))
}

/// The settings `observation`, `chain` and `beliefs`.
pub(super) fn written(observation: Observation) -> (&'static str, Option<WrittenChain>, Option<usize>) {
    match observation {
        Observation::Full => ("full", None, None),
        Observation::Collapsing(Chain::Finite(labels)) => {
            ("collapsing", Some(WrittenChain::Finite(labels)), None)
        }
        Observation::Collapsing(Chain::Infinite { beliefs }) => {
            ("collapsing", Some(WrittenChain::Infinite(INFINITE)), Some(beliefs))
        }
    }
}
