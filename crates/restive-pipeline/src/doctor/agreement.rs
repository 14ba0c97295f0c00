//! `behaviour`: does what study.toml says of how people were chosen agree with the log? Everything that is weighed by propensities rests
//! on it. Logged propensities must add up: over all decisions Σ(a − p) is 0, within √Σp(1 − p). Actions whose propensity is not known
//! have no part in that.

use super::chosen::{Chosen, How};
use super::finding::{Finding, Severity};
use super::log::Log;
use crate::words::percent;
use restive_tables::StudyBehaviour;

const NAME: &str = "behaviour";

pub(super) fn behaviour(log: &Log<'_>, chosen: &Chosen) -> Finding {
    let said = log.study.settings.behaviour;
    let says = format!("study.toml says behaviour = \"{}\"", said.name());
    if said == StudyBehaviour::Logged {
        return logged(log, &says);
    }
    let finding =
        |severity, found: &str, what: &str| Finding::new(NAME, severity, format!("{says}, {found}."), what);
    let estimated = "say behaviour = \"estimated\"";
    match (said, chosen.how) {
        (_, How::Unknown) => {
            Finding::note(NAME, format!("{says}. Cannot tell whether it is so: too few calls."))
        }
        (StudyBehaviour::None, How::Turn) => finding(
            Severity::Note,
            "but people were called in turn",
            "say behaviour = \"round-robin-as-uniform\"",
        ),
        (StudyBehaviour::None, How::Lot) => finding(
            Severity::Note,
            "but people seem to have been called by lot",
            "say behaviour = \"uniform\" if they were",
        ),
        (StudyBehaviour::None, How::Seen) => {
            finding(Severity::Note, "and people were chosen by something that is seen", estimated)
        }
        (StudyBehaviour::Uniform | StudyBehaviour::RoundRobinAsUniform, How::Seen) => {
            finding(Severity::Serious, "but who was called is foretold by what is seen of people", estimated)
        }
        (StudyBehaviour::Uniform, How::Turn) => finding(
            Severity::Warning,
            "but people were called in turn",
            "say behaviour = \"round-robin-as-uniform\", which compares people whose turn it is",
        ),
        (StudyBehaviour::RoundRobinAsUniform, How::Lot) => {
            let out = percent(1.0 - chosen.in_turn);
            match chosen.in_turn >= 0.98 {
                true => Finding::fine(NAME, format!("{says}, and nothing speaks against it.")),
                false => finding(
                    Severity::Warning,
                    &format!("but {out} of the calls went to people whose turn it was not"),
                    "say behaviour = \"uniform\" if calls were dealt by lot, and \"estimated\" otherwise",
                ),
            }
        }
        _ => Finding::fine(NAME, format!("{says}, and nothing speaks against it.")),
    }
}

fn logged(log: &Log<'_>, says: &str) -> Finding {
    let (mut calls, mut expected, mut variance) = (0.0, 0.0, 0.0);
    for moment in log.moments() {
        let Some(propensity) = &moment.propensity else { continue };
        let known = moment.choices().map(|(i, a)| (a, propensity[i])).filter(|(_, p)| !p.is_nan());
        for (a, p) in known {
            let call = if a == 1 { p } else { 1.0 - p };
            calls += f64::from(a);
            expected += call;
            variance += call * (1.0 - call);
        }
    }
    if log.known_propensities().0 == 0 {
        let found = format!("{says}, but no propensities are logged.");
        let what = "add the column propensity, or say how people were chosen";
        return Finding::new(NAME, Severity::Serious, found, what);
    }
    if expected == 0.0 && calls == 0.0 {
        return Finding::note(NAME, format!("{says}. Cannot tell whether it is so: nobody could be called."));
    }
    let found = format!("{says}: propensities add up to {expected:.0} calls, and {calls:.0} were made.");
    let gap = f64::abs(calls - expected);
    // a fixed number of calls per step has less spread than coins have: the test is on the safe side
    match gap > 5.0 * f64::sqrt(variance) && gap > 0.05 * calls.max(expected) {
        true => Finding::new(
            NAME,
            Severity::Serious,
            found,
            "check the column: it is the probability of the action that was taken, of waiting where nobody was called",
        ),
        false => Finding::fine(NAME, found),
    }
}
