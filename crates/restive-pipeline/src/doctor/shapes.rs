//! `availability`, `clusters`, `assignment`: shapes of an assignment that study.toml or the log has to declare.
//!
//! What is found is [`Shapes`], as effects of calls are withheld for it. A shape that is declared is fine; an assignment per person that
//! the log contradicts is not.

use super::chosen::{Chosen, How};
use super::finding::{Finding, Severity};
use super::log::Log;
use crate::identification::{BY_LOT, Shapes};
use crate::message::message;
use crate::words::{counted, grouped, percent};
use restive::instance::NO_ACTION;
use restive_tables::show;
use std::collections::BTreeSet;

const AVAILABILITY: &str = "availability";
const CLUSTERS: &str = "clusters";
const ASSIGNMENT: &str = "assignment";

pub(super) fn availability(log: &Log<'_>, shapes: Option<&Shapes>, chosen: &Chosen) -> Finding {
    let Some(shapes) = shapes else { return Finding::collapsing(AVAILABILITY) };
    let declared = declared_availability(log);
    let found = |said: &str| match &declared {
        Some(declared) => format!("{declared} {said}"),
        None => said.to_string(),
    };
    if !shapes.is_testable() || chosen.how == How::Turn {
        let why = match () {
            () if shapes.is_per_person => "calls are assigned once per person",
            () if shapes.is_lasting() => "calls do not change over time: see assignment",
            () if shapes.together().is_some() => "people are called together: see clusters",
            () => "people are called in turn, in an order that repeats",
        };
        let said = format!("Whether calls of a person come in runs is not tested: {why}.");
        return Finding::note(AVAILABILITY, found(&said));
    }
    let Some(z) = shapes.dependence else {
        let said = "Cannot tell whether calls of a person come in runs: too few decisions.";
        return Finding::note(AVAILABILITY, found(said));
    };
    if shapes.is_dependent().is_none() {
        let said = "Calls of a person do not come in runs.";
        return Finding::fine(AVAILABILITY, found(said));
    }
    let lasting = "the choice looked at something that lasts some time and that the tables do not show";
    let (why, what) = match declared.is_some() {
        true => (lasting.to_string(), message!(BY_LOT)),
        false => (
            format!("either people could not be called at some decisions, or {lasting}"),
            message!(
                "if people could not be called at some decisions, declare these in a column available (0 or 1) of the trajectories; otherwise ",
                BY_LOT
            ),
        ),
    };
    let said = format!("Calls of a person come in runs (z = {z:.1}): {why}.");
    Finding::new(AVAILABILITY, Severity::Warning, found(&said), what)
}

/// Share of recorded decisions at which people could be called; `None` if the log does not say.
fn declared_availability(log: &Log<'_>) -> Option<String> {
    if log.logs.iter().all(|log| log.available().is_none()) {
        return None;
    }
    let (mut available, mut all) = (0usize, 0usize);
    for log in &log.logs {
        for ((j, t, i), _) in log.action().indexed_iter().filter(|(_, action)| **action != NO_ACTION) {
            available += usize::from(log.is_available([j, t, i]));
            all += 1;
        }
    }
    let share = available as f64 / all.max(1) as f64;
    Some(format!("Declared: people could be called at {} of the recorded decisions.", percent(share)))
}

pub(super) fn clusters(log: &Log<'_>, shapes: Option<&Shapes>) -> Finding {
    let Some(shapes) = shapes else { return Finding::collapsing(CLUSTERS) };
    let Some(agreements) = &shapes.agreements else {
        let named = log.study.instances.iter().filter_map(|instance| instance.clusters.as_ref()).flatten();
        let clusters = named.collect::<BTreeSet<_>>().len();
        let column = log.study.settings.cluster.as_deref().unwrap_or_default();
        return Finding::fine(
            CLUSTERS,
            format!(
                "Declared: {} arms in {} by {}; intervals are by cluster.",
                grouped(log.people as u64),
                counted(clusters as u64, "cluster"),
                show::name(column)
            ),
        );
    };
    match &agreements.together {
        Some(found) => Finding::new(
            CLUSTERS,
            Severity::Serious,
            format!(
                "People with the same {} are called together: {} of them differ at a decision, and random assignment by person would have made about {}. \
                 Intervals by person would be too narrow.",
                show::name(&found.column),
                counted(found.observed.round() as u64, "pair"),
                grouped(found.expected.round() as u64)
            ),
            message!(
                format!(
                    "if whole groups were drawn at random, declare cluster = {} in study.toml; otherwise the choice looked at this column: ",
                    show::quoted_name(&found.column)
                ),
                BY_LOT
            ),
        ),
        None if agreements.columns == 0 => {
            Finding::fine(CLUSTERS, "No column of the table of arms puts people into small groups.")
        }
        None => Finding::fine(
            CLUSTERS,
            format!(
                "People of a group are not called together, by any of {} that put people into small groups.",
                counted(agreements.columns as u64, "column")
            ),
        ),
    }
}

pub(super) fn assignment(shapes: Option<&Shapes>) -> Finding {
    let Some(shapes) = shapes else { return Finding::collapsing(ASSIGNMENT) };
    let changes = shapes.changes;
    let (changed, followed) = (grouped(changes.changed as u64), grouped(changes.followed as u64));
    if shapes.is_changing() {
        return Finding::new(
            ASSIGNMENT,
            Severity::Serious,
            format!(
                "study.toml says assignment = \"per-person\", but calls start or stop for {changed} of {followed} people with two or more \
                 decisions."
            ),
            "if calls were assigned at every decision, remove assignment = \"per-person\" from study.toml",
        );
    }
    if shapes.is_per_person {
        let found = format!(
            "Declared: calls are assigned once per person. They start or stop later for {changed} of {followed} people."
        );
        return Finding::fine(ASSIGNMENT, found);
    }
    let observed = counted(changes.observed as u64, "change");
    let expected = grouped(changes.expected.round() as u64);
    if shapes.is_lasting() {
        return Finding::new(
            ASSIGNMENT,
            Severity::Serious,
            format!(
                "Calls of a person hardly ever start or stop: {observed} between decisions, and random assignment at every decision would have \
                 made about {expected}. They were not assigned at every decision."
            ),
            message!(
                "if calls were assigned at random once per person and last, declare assignment = \"per-person\" in study.toml; otherwise ",
                BY_LOT
            ),
        );
    }
    match changes.followed {
        0 => Finding::note(ASSIGNMENT, "Cannot tell: nobody has two decisions."),
        _ => Finding::fine(
            ASSIGNMENT,
            format!(
                "Calls start and stop: {observed} between decisions; random assignment at every decision would make about {expected}."
            ),
        ),
    }
}
