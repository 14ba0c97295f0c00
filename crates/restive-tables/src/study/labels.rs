//! Labels from what a table says of arms that are seen at pulls only.
//!
//! A [label](restive::belief) (s, h) is what is known of an arm before a step's action: the last state that was seen, and the
//! steps since. The table has the state that a pull saw in `state`, and may have the label in `last_state` and `since`. From one
//! step to the next labels follow from the actions:
//!
//! | before | action | the next label |
//! |---|---|---|
//! | any | 1, which saw x | (x, 0) |
//! | (s, h) | 0 | (s, h + 1) |
//! | unknown | 0 | unknown, or as the next row says |
//! | any | none, or no row | unknown, or as the next row says |
//!
//! Where the next row says the label it must be this one. A **finite chain** of T labels has no label (s, T). It ends where the
//! table says so: a row with `since` T − 1 after one with `since` T − 1 is a label that stays; without these columns the
//! gap is longer than the chain, and refused. An infinite chain has no label that stays.
//!
//! What follows from the last action needs no row: the step is there all the same.

use super::growing::{NO_ROW, Run};
use restive::instance::{Chain, UNSEEN};

/// Why a row is not what follows from the rows before it.
pub(super) struct Fault {
    pub(super) t: usize,
    pub(super) i: usize,
    pub(super) kind: FaultKind,
}

pub(super) enum FaultKind {
    /// the row has another label than follows; where none is known, a label that takes a pull
    Label { found: (u16, u16), follows: Option<(u16, u16)> },
    /// so many steps since a pull, with no label for them
    Gap(usize),
}

/// Fills in the labels of a trajectory `[T,N]`; the longest gap, in steps from a sighting to a label of it (h + 1). `most`
/// is the number of labels that a chain may have.
pub(super) fn follow(
    run: &mut Run,
    n: usize,
    first: usize,
    chain: Chain,
    most: usize,
) -> Result<usize, Fault> {
    if run.action.iter().rev().take(n).any(|a| *a <= 1) {
        let cells = run.state.len() + n;
        run.state.resize(cells, UNSEEN);
        run.action.resize(cells, NO_ROW);
    }
    run.last_state.resize(run.state.len(), UNSEEN);
    run.since.resize(run.state.len(), UNSEEN);
    let is_finite = matches!(chain, Chain::Finite(_));
    let mut longest = 0;
    for at in (first * n).min(run.state.len())..run.state.len() {
        let fault = |kind| Fault { t: at / n, i: at % n, kind };
        let label =
            |run: &Run, at: usize| (run.since[at] != UNSEEN).then(|| (run.last_state[at], run.since[at]));
        let before = (at >= (first + 1) * n).then(|| at - n);
        let action = before.map(|before| run.action[before]);
        let follows = match (action, before, before.and_then(|before| label(run, before))) {
            (Some(1), Some(before), _) => Some((run.state[before], 0)),
            (Some(0), _, Some((s, h))) => Some((s, h + 1)),
            _ => None,
        };
        let stays = |s: u16| is_finite && label(run, at) == Some((s, (most - 1) as u16));
        let (s, h) = match (follows, label(run, at)) {
            (None, None) => continue,
            (None, Some(found)) if action == Some(0) && found.1 == 0 && !stays(found.0) => {
                return Err(fault(FaultKind::Label { found, follows: None }));
            }
            (None, Some(found)) => found,
            (Some((s, h)), _) if usize::from(h) == most && stays(s) => (s, h - 1),
            (Some(follows), Some(found)) if found != follows => {
                return Err(fault(FaultKind::Label { found, follows: Some(follows) }));
            }
            (Some((_, h)), _) if usize::from(h) >= most => {
                return Err(fault(FaultKind::Gap(usize::from(h) + 1)));
            }
            (Some(follows), _) => follows,
        };
        (run.last_state[at], run.since[at]) = (s, h);
        longest = longest.max(usize::from(h) + 1);
    }
    Ok(longest)
}

/// Puts the numbers of the labels, s·T + h, in the place of the states that pulls saw.
pub(super) fn number(run: &mut Run, labels: usize) {
    let cells = run.state.iter_mut().zip(run.last_state.iter().zip(&run.since));
    for (state, (&s, &h)) in cells {
        *state = match h {
            UNSEEN => UNSEEN,
            h => restive::belief::label(s.into(), h.into(), labels) as u16,
        };
    }
    (run.last_state, run.since) = (Vec::new(), Vec::new());
}
