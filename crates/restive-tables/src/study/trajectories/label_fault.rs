//! What to say of a label that does not follow from the rows before it: its row, what it says, what it should say.

use super::find_row::row_of;
use super::labels::{Fault, FaultKind};
use super::whole::Whole;
use crate::error::{Error, Place};
use crate::show::name;
use restive::instance::Chain;

/// The fault of a label in a trajectory of instance k; `most` is the number of labels that the chain may have.
pub(super) fn refused(
    whole: &Whole<'_>,
    k: usize,
    trajectory: &str,
    fault: Fault,
    chain: Chain,
    most: usize,
) -> Error {
    let (instance, arm) = (whole.arms.instances.name(k), whole.arms.arms[k].name(fault.i));
    // what follows from an action may have no row of its own
    let row = |t: usize| row_of(whole.origin, instance, trajectory, t, arm).map(|row| (row, t));
    let place = match row(fault.t).or_else(|| row(fault.t.checked_sub(1)?)) {
        Some((row, t)) => format!(
            "{}, column since, instance {}, trajectory {}, t {t}",
            Place { row, arm: Some(arm.into()) },
            name(instance),
            name(trajectory)
        ),
        None => format!(
            "instance {}, trajectory {}, arm {}, t {}",
            name(instance),
            name(trajectory),
            name(arm),
            fault.t
        ),
    };
    let words = |(s, h): (u16, u16)| format!("last_state {s}, since {h}");
    let (found, expected) = match fault.kind {
        FaultKind::Label { found, follows } => {
            (words(found), format!("{}, as follows from the step before", words(follows)))
        }
        FaultKind::Alone { found, step } if step + 1 == fault.t => {
            (words(found), "since above 0: the arm was not pulled in the step before".into())
        }
        FaultKind::Alone { found, step } => (
            words(found),
            format!(
                "another since: this one says that the arm was seen at t {step}, where it was not pulled"
            ),
        ),
        FaultKind::Known { found, step, label } => (
            words(found),
            format!("what can become of the label at t {step}, {}, by pulls that have no row", words(label)),
        ),
        FaultKind::Gap(gap) => {
            let stays = match chain {
                Chain::Finite(_) => format!(
                    "; take a longer chain or \"infinite\", or say in the columns last_state and since that the label stays at {}",
                    most - 1
                ),
                Chain::Infinite { .. } => "; raise beliefs".into(),
            };
            (
                format!("a gap of {gap} steps since a pull"),
                format!("at most {most}, the labels of the chain in study.toml{stays}"),
            )
        }
    };
    Error::content(whole.origin.path(), place, found, expected)
}
