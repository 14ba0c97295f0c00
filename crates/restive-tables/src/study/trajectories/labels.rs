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
//! **Across missing records** a row's label (s, h) at step t says that the last sighting was at step u = t − 1 − h. Some pulls at the
//! steps without a record must make that true: u is such a step, or lies before the log; and a label that is known at a step v
//! between them must be that of the same sighting. The last label of a finite chain says T − 1 steps *or more*: any sighting up
//! to t − T will do. Labels known later say all there is to know of what went before, so the search goes back to the last one only,
//! and the whole costs O(T) for an arm.
//!
//! Where no row says otherwise a known label grows older over steps without a record, as [everywhere](restive::evaluation::known): such
//! steps count towards the longest gap, and a row beyond the end of a chain is refused.
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
    /// the row has another label than follows from the step before
    Label { found: (u16, u16), follows: (u16, u16) },
    /// the row has a label that takes a pull at a step at which the arm was left alone
    Alone { found: (u16, u16), step: usize },
    /// the row has a label that cannot have become of one that was known before
    Known { found: (u16, u16), step: usize, label: (u16, u16) },
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
    // h + 1 of every arm, grown older where no row says otherwise; 0 where nothing is known
    let mut age = vec![0; n];
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
            (None, None) => {
                let age = &mut age[at % n];
                if *age > 0 {
                    *age += 1;
                    if run.action[at] <= 1 && *age > most {
                        return Err(fault(FaultKind::Gap(*age)));
                    }
                    if !is_finite {
                        longest = longest.max(*age);
                    }
                }
                continue;
            }
            (None, Some(found)) => {
                let is_last = is_finite && usize::from(found.1) == most - 1;
                let steps = (first..at / n)
                    .rev()
                    .map(|t| (t, run.action[t * n + at % n], label(run, t * n + at % n)));
                can_be(found, at / n, is_last, steps).map_err(fault)?;
                found
            }
            (Some((s, h)), _) if usize::from(h) == most && stays(s) => (s, h - 1),
            (Some(follows), Some(found)) if found != follows => {
                return Err(fault(FaultKind::Label { found, follows }));
            }
            (Some((_, h)), _) if usize::from(h) >= most => {
                return Err(fault(FaultKind::Gap(usize::from(h) + 1)));
            }
            (Some(follows), _) => follows,
        };
        (run.last_state[at], run.since[at]) = (s, h);
        age[at % n] = usize::from(h) + 1;
        longest = longest.max(usize::from(h) + 1);
    }
    Ok(longest)
}

/// Whether pulls at steps without a record can have led to the label `found` at step t. `steps` are those before t, the latest
/// first: (step, action, label before it where that is known). A pull is followed by a known label, so it need not be asked for.
fn can_be(
    found: (u16, u16),
    t: usize,
    is_last: bool,
    steps: impl Iterator<Item = (usize, u8, Option<(u16, u16)>)>,
) -> Result<(), FaultKind> {
    // the last sighting, or the latest that it can have been; below 0: before any log
    let seen = t as i64 - 1 - i64::from(found.1);
    for (step, action, label) in steps {
        let v = step as i64;
        if v <= seen && action != 0 {
            return Ok(()); // a pull without a record
        }
        if v == seen && !is_last {
            return Err(FaultKind::Alone { found, step });
        }
        let Some((s, h)) = label else { continue };
        let of_label = v - 1 - i64::from(h);
        // where both are the last label their sightings lie as far back as need be
        let is_same =
            s == found.0 && if is_last { h == found.1 || of_label <= seen } else { of_label == seen };
        return if is_same { Ok(()) } else { Err(FaultKind::Known { found, step, label: (s, h) }) };
    }
    Ok(())
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
