//! `alignment`: does a call act between its row and the next? See [`restive::evidence::Alignment`] for the slopes and for how a choice
//! by the state is told from rows that are off.

use super::finding::{Finding, Severity};
use super::log::Log;
use crate::words::grouped;
use restive::evidence::{Alignment, AlignmentVerdict};
use restive::statistics::Within;

const NAME: &str = "alignment";
/// Pulls below which nobody can tell.
const FEW: usize = 30;

pub(super) fn alignment(log: &Log<'_>, rows: Option<&Alignment>) -> Finding {
    let Some(found) = rows else { return Finding::collapsing(NAME) };
    let pulls = log.pulls();
    if log.states < 2 || pulls < FEW {
        return Finding::note(
            NAME,
            format!(
                "Cannot tell: {} calls of people with states that can differ, expected at least {FEW}.",
                grouped(pulls as u64)
            ),
        );
    }
    let points = |slope: &Option<Within>| match slope {
        Some(slope) => format!("{:+.1} points (z = {:.1})", 100.0 * slope.slope, slope.z()),
        None => "unknown".into(),
    };
    let (here, next, after) = (points(&found.here), points(&found.next), points(&found.after));
    match found.verdict() {
        AlignmentVerdict::AsItShould => Finding::fine(
            NAME,
            format!("The state after a call is better, {next}, as it should be; no other row explains it."),
        ),
        AlignmentVerdict::NothingSeen => Finding::note(
            NAME,
            format!(
                "Cannot tell: no state differs with calls, neither in the row of the call, {here}, nor in the next one, {next}."
            ),
        ),
        AlignmentVerdict::StatesEarly => Finding::new(
            NAME,
            Severity::Serious,
            format!(
                "Outcomes seem to stand in the row of their call: calls go with better states of the same row, {here}, and not of the next \
                 one, {next}. That better people were chosen does not explain it: those who were called came from worse states."
            ),
            "check when a state is measured: the state of row t is what was known before the decision of row t. Move the states one row down",
        ),
        AlignmentVerdict::StatesLate => Finding::new(
            NAME,
            Severity::Serious,
            format!(
                "Outcomes seem to stand two rows below their call: {after} there, {next} in the next row, where they belong. An effect that takes two steps would look the same."
            ),
            "check when a state is measured: the call of row t acts on the state of row t + 1. Move the states one row up",
        ),
        AlignmentVerdict::Doubtful => Finding::new(
            NAME,
            Severity::Warning,
            format!(
                "Calls go with better states of their own row, {here}, and not of the next one, {next}. Either people who are well were called and calls do little, or outcomes stand in the row of their call: the log cannot tell."
            ),
            "ask whoever wrote the table when a state is measured, and how people were chosen",
        ),
        AlignmentVerdict::Harm => Finding::new(
            NAME,
            Severity::Warning,
            format!(
                "Calls seem to harm: the state after one is worse, {next}, among people in the same state. Either those who were called were worse off in ways the state does not show, or rows are off, or calls do harm."
            ),
            "check when a state is measured, and add to the tables what the choice looked at",
        ),
    }
}
