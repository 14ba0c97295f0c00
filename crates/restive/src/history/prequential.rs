//! How well a rule foretells each move of a person from the moves before it.
//!
//! Every trajectory is gone through in time. The counts of the moves so far (those of earlier trajectories included) and the share of the
//! trajectories begun so far make the rule's transitions, and the next move has a probability under them and under the prediction alone;
//! the difference of the logarithms is the rule's *lead*. No move is foretold from itself or from what came later. Probabilities below
//! 1e-6 count as that, so that a prediction of 0 does not decide alone.

use super::gauss::Ready;
use super::past::Begun;
use super::{Carry, Gauss};
use crate::instance::{NO_ACTION, Trajectories, UNSEEN};
use crate::interrupt;
use ndarray::{Array4, ArrayView4, Axis};
use rayon::prelude::*;

/// The least probability of a move.
pub(super) const LEAST: f64 = 1e-6;
/// Arms that a thread takes at once.
const CHUNK: usize = 64;

/// The lead of a rule on one person's moves, summed over them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ArmLead {
    /// moves
    pub(super) moves: usize,
    /// the lead on them
    pub(super) all: f64,
    /// moves after a call
    pub(super) called: usize,
    /// the lead on them
    pub(super) on_called: f64,
    /// those before which the person had moved
    pub(super) called_later: usize,
}

/// What is known of an arm before a move, and what was predicted of it: `[M,2,M]` each.
struct Before<'a> {
    counts: &'a [f64],
    begun: &'a Begun,
    prediction: &'a [f64],
}

/// The leads of a carrying rule on some arms of a log.
pub(super) fn carry_leads(
    carry: &Carry,
    log: &Trajectories,
    prediction: ArrayView4<'_, f64>,
    arms: &[usize],
) -> Vec<ArmLead> {
    let m = log.states();
    leads(log, prediction, arms, |before, s, a, next, scratch| {
        let rows = 2 * m * s..2 * m * (s + 1);
        carry.rows(&before.counts[rows.clone()], &before.prediction[rows], scratch);
        scratch[m * a + next]
    })
}

/// The leads of a Gaussian rule on some arms of a log.
pub(super) fn gauss_leads(
    gauss: &Gauss,
    log: &Trajectories,
    prediction: ArrayView4<'_, f64>,
    arms: &[usize],
) -> Vec<ArmLead> {
    let ready = Ready::new(gauss);
    leads(log, prediction, arms, |before, s, a, next, _| {
        let ready = ready.as_ref();
        let chances = ready.and_then(|r| r.chances(before.counts, before.begun.share(), before.prediction));
        match chances {
            Some(p) if next == 1 => p[2 * s + a],
            Some(p) => 1.0 - p[2 * s + a],
            None => before.prediction[4 * s + 2 * a + next],
        }
    })
}

/// The leads by the probability that a rule gives to a move from s under a.
fn leads(
    log: &Trajectories,
    prediction: ArrayView4<'_, f64>,
    arms: &[usize],
    foretell: impl Fn(&Before<'_>, usize, usize, usize, &mut [f64]) -> f64 + Sync,
) -> Vec<ArmLead> {
    let m = log.states();
    let prediction: Array4<f64> = prediction.select(Axis(0), arms);
    let rows = prediction.as_slice().expect("row-major");
    let chunks = arms.par_chunks(CHUNK).zip(rows.par_chunks(CHUNK * 2 * m * m));
    let chunk = |(arms, rows): (&[usize], &[f64])| -> Vec<ArmLead> {
        interrupt::check();
        let (mut counts, mut scratch) = (vec![0.0; 2 * m * m], vec![0.0; 2 * m]);
        let arms = arms.iter().zip(rows.chunks_exact(2 * m * m));
        arms.map(|(i, row)| arm_lead(log, *i, row, &mut counts, &mut scratch, &foretell)).collect()
    };
    chunks.map(chunk).collect::<Vec<_>>().concat()
}

fn arm_lead(
    log: &Trajectories,
    i: usize,
    prediction: &[f64],
    counts: &mut [f64],
    scratch: &mut [f64],
    foretell: &impl Fn(&Before<'_>, usize, usize, usize, &mut [f64]) -> f64,
) -> ArmLead {
    let (m, state, action) = (log.states(), log.state(), log.action());
    let mut lead = ArmLead::default();
    let mut begun = Begun::default();
    counts.fill(0.0);
    for j in 0..log.trajectories() {
        let mut has_begun = false;
        for t in 0..log.steps() {
            let now = state[[j, t, i]];
            if now == UNSEEN {
                continue;
            }
            if !has_begun {
                begun.add(now);
                has_begun = true;
            }
            if t + 1 == log.steps() || action[[j, t, i]] == NO_ACTION || state[[j, t + 1, i]] == UNSEEN {
                continue;
            }
            let (s, a, next) =
                (usize::from(now), usize::from(action[[j, t, i]]), state[[j, t + 1, i]].into());
            let at = (2 * s + a) * m + next;
            let p = foretell(&Before { counts, begun: &begun, prediction }, s, a, next, scratch);
            let gain = p.max(LEAST).ln() - prediction[at].max(LEAST).ln();
            if a == 1 {
                lead.called += 1;
                lead.on_called += gain;
                lead.called_later += usize::from(lead.moves > 0);
            }
            lead.moves += 1;
            lead.all += gain;
            counts[at] += 1.0;
        }
    }
    lead
}
