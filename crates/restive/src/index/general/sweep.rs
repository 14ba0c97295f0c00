//! The sweep over subsidies: which state turns passive when.
//!
//! See the parent module. A [`Sweep`] is one thread's memory; [`Sweep::run`] solves one arm with it.

use super::tableau::{Direction, Tableau};
use crate::index::batch::Outcome;
use crate::index::{ILL_CONDITIONED, IndexStatus};
use crate::interrupt;
use crate::simd::for_cpu;
use ndarray::ArrayView2;

/// Two subsidies closer than this, relative to the size of the arm's subsidies, are one event; a slope smaller
/// than this is none.
const TIE: f64 = 1e-12;
/// After a pivot below this or above its inverse the tableau is computed anew.
const BAD_PIVOT: f64 = 1e-2;
/// A pivot below this means that the passive set has no unique average reward (γ = 1, several classes).
const NO_PIVOT: f64 = 1e-12;
/// A violation above this, relative to rewards and subsidy, makes the tableau be computed anew. If that brings digits back, updates have drifted, and the
/// arm is solved again with a fresh tableau every few pivots; if not, the arm itself is ill-conditioned.
const SUSPICIOUS: f64 = 1e-11;
/// Pivots between two fresh tableaux on the second pass.
const CAREFUL: usize = 4;
/// Pivots between two looks at the residual.
const PROBE: usize = 32;
const NEVER: usize = usize::MAX;

/// What the pullback of one arm needs, one row per state u: written by the sweep, in the caller's memory.
pub(super) struct Tape<'a> {
    /// λ_u/β_u, `[M,M]`
    pub(super) adjoint: &'a mut [f64],
    /// h_u, centred, `[M,M]`
    pub(super) values: &'a mut [f64],
    /// 1/β_u, `[M]`
    pub(super) inverse_slope: &'a mut [f64],
    /// whether s is in B_u, `[M,M]`
    pub(super) passive: &'a mut [bool],
}

/// One thread's memory.
pub(super) struct Sweep {
    tableau: Tableau,
    passive: Vec<bool>,
    /// the passive set before the current tie group
    before: Vec<bool>,
    /// the tie group in which a state's index was recorded
    recorded: Vec<usize>,
    candidates: Vec<f64>,
    /// right-hand sides of the value equations, one column per state u, `[M,M]`
    right_sides: Vec<f64>,
    spare: Vec<f64>,
}

impl Sweep {
    pub(super) fn new(m: usize, is_taped: bool) -> Self {
        let taped = if is_taped { m * m } else { 0 };
        Self {
            tableau: Tableau::new(m),
            passive: vec![false; m],
            before: vec![false; m],
            recorded: vec![NEVER; m],
            candidates: vec![0.0; m],
            right_sides: vec![0.0; taped],
            spare: vec![0.0; taped],
        }
    }

    /// Takes up reward (`[M,2]`) and discount of the arms that follow.
    pub(super) fn take(&mut self, (reward, discount): (ArrayView2<'_, f64>, f64)) {
        self.tableau.take(reward, discount);
    }

    /// Solves one arm (`[M,2,M]`): writes its first and last crossings (`[M]` each), and the tape where one is kept.
    pub(super) fn run(
        &mut self,
        arm: &[f64],
        index: &mut [f64],
        last: &mut [f64],
        tape: Option<Tape<'_>>,
    ) -> Outcome {
        run_for_cpu(self, arm, index, last, tape)
    }
}

for_cpu!(fn run_for_cpu(sweep: &mut Sweep, arm: &[f64], index: &mut [f64], last: &mut [f64], tape: Option<Tape<'_>>)
    -> Outcome = run);

#[inline(always)]
fn run(
    sweep: &mut Sweep,
    arm: &[f64],
    index: &mut [f64],
    last: &mut [f64],
    mut tape: Option<Tape<'_>>,
) -> Outcome {
    let (mut outcome, has_drifted) = attempt(sweep, arm, index, last, &mut tape, usize::MAX);
    if has_drifted {
        (outcome, _) = attempt(sweep, arm, index, last, &mut tape, CAREFUL);
    }
    if outcome.status == IndexStatus::Exact && !(outcome.residual <= ILL_CONDITIONED) {
        outcome.status = IndexStatus::IllConditioned;
    }
    outcome
}

/// One pass over the subsidies, which computes the tableau anew after so many pivots; also says whether updating it
/// cost digits that computing it anew brings back.
#[inline(always)]
fn attempt(
    sweep: &mut Sweep,
    arm: &[f64],
    index: &mut [f64],
    last: &mut [f64],
    tape: &mut Option<Tape<'_>>,
    fresh_after: usize,
) -> (Outcome, bool) {
    let m = sweep.passive.len();
    index.fill(f64::NAN);
    last.fill(f64::NAN);
    sweep.passive.fill(false);
    sweep.before.fill(false);
    sweep.recorded.fill(NEVER);
    if let Some(tape) = tape {
        tape.adjoint.fill(0.0);
        tape.inverse_slope.fill(0.0);
        sweep.right_sides.fill(0.0);
    }
    let mut outcome = Outcome { is_indexable: true, status: IndexStatus::Exact, residual: 0.0 };
    if !sweep.tableau.load(arm) {
        return (undetermined(index, last, tape), false);
    }
    // what is seen along the way: the worst violation, the span of the values, how errors are amplified
    let (mut violation, mut spread) = sweep.tableau.residual(0.0, &sweep.passive);
    let mut amplification = 0.0f64;
    let (mut subsidy, mut group, mut groups) = (f64::NEG_INFINITY, f64::NEG_INFINITY, 0);
    let (mut passive_states, mut pivots, mut has_drifted) = (0, 0, false);
    while passive_states < m {
        interrupt::check();
        let next = next_event(sweep, subsidy);
        if next == f64::INFINITY || pivots > 50 * m + 100 {
            return (undetermined(index, last, tape), false);
        }
        let slack = TIE * next.abs().max(sweep.tableau.scale);
        if next > group + slack {
            outcome.is_indexable &= close_group(sweep, group, last);
            (group, groups) = (next, groups + 1);
        }
        let j = sweep.candidates.iter().position(|&c| c <= next + slack).expect("the minimum is one of them");
        subsidy = next;
        let direction: Direction = if sweep.passive[j] { -1.0 } else { 1.0 };
        let pivot = sweep.tableau.expose(j, direction);
        if !(pivot > NO_PIVOT) {
            return (undetermined(index, last, tape), false);
        }
        if sweep.passive[j] {
            if sweep.recorded[j] == groups {
                sweep.recorded[j] = NEVER;
            }
        } else if sweep.recorded[j] == NEVER {
            sweep.recorded[j] = groups;
            index[j] = subsidy;
            if sweep.tableau.beta[j] > TIE {
                amplification = amplification.max(sweep.tableau.amplification(j));
            }
            if let Some(tape) = tape {
                record(sweep, j, subsidy, tape);
            }
        }
        sweep.tableau.pivot(j, direction, pivot);
        sweep.passive[j] = !sweep.passive[j];
        passive_states = if sweep.passive[j] { passive_states + 1 } else { passive_states - 1 };
        pivots += 1;
        if !sweep.tableau.has_one_average(arm, |s| sweep.passive[s]) {
            return (undetermined(index, last, tape), false);
        }
        let is_bad = !(BAD_PIVOT..=1.0 / BAD_PIVOT).contains(&pivot);
        if (is_bad || pivots % fresh_after == 0) && !sweep.tableau.refactor(arm, &sweep.passive) {
            return (undetermined(index, last, tape), false);
        }
        if pivots % PROBE == 0 || passive_states == m {
            let mut seen = sweep.tableau.residual(subsidy, &sweep.passive);
            if seen.0 > SUSPICIOUS * sweep.tableau.span.max(subsidy.abs()) {
                if !sweep.tableau.refactor(arm, &sweep.passive) {
                    return (undetermined(index, last, tape), false);
                }
                let fresh = sweep.tableau.residual(subsidy, &sweep.passive);
                has_drifted |= seen.0 > 4.0 * fresh.0;
                seen = fresh;
            }
            (violation, spread) = (violation.max(seen.0), spread.max(seen.1));
        }
    }
    outcome.is_indexable &= close_group(sweep, group, last);
    if let Some(tape) = tape {
        finish_tape(sweep, tape);
    }
    let error = violation.max(f64::EPSILON * amplification * spread);
    let size = index.iter().fold(sweep.tableau.span, |size, w| size.max(w.abs()));
    outcome.residual = if error == 0.0 { 0.0 } else { error / size };
    (outcome, has_drifted)
}

/// The smallest subsidy, from the current one on, at which a state enters or leaves the passive set. An active state
/// whose advantage is zero here and stays zero enters now: leaving it alone is as good as a pull.
#[inline(always)]
fn next_event(sweep: &mut Sweep, subsidy: f64) -> f64 {
    let Tableau { alpha, beta, scale, .. } = &sweep.tableau;
    let zero = TIE * subsidy.abs().max(*scale);
    let mut next = f64::INFINITY;
    for (((candidate, alpha), beta), passive) in
        sweep.candidates.iter_mut().zip(alpha).zip(beta).zip(&sweep.passive)
    {
        let slope = if *passive { -beta } else { *beta };
        let is_flat = slope.abs() <= TIE && (alpha - subsidy * beta).abs() <= zero && !passive;
        *candidate = if slope > TIE {
            (alpha / beta).max(subsidy)
        } else if is_flat {
            subsidy
        } else {
            f64::INFINITY
        };
        next = next.min(*candidate);
    }
    next
}

/// Ends a tie group at this subsidy; false where a state that was passive before it is active after it.
#[inline(always)]
fn close_group(sweep: &mut Sweep, group: f64, last: &mut [f64]) -> bool {
    let mut grew = true;
    for ((before, passive), last) in sweep.before.iter_mut().zip(&sweep.passive).zip(last) {
        if *passive && !*before {
            *last = group;
        }
        grew &= *passive || !*before;
        *before = *passive;
    }
    grew
}

/// Keeps what the gradient of state u needs, at the moment its index is found. A state that is indifferent on a whole
/// interval has an index that can jump, and no gradient: 0.
#[inline(always)]
fn record(sweep: &mut Sweep, u: usize, subsidy: f64, tape: &mut Tape<'_>) {
    let m = sweep.passive.len();
    let slope = sweep.tableau.beta[u];
    let inverse_slope = if slope > TIE { 1.0 / slope } else { 0.0 };
    tape.inverse_slope[u] = inverse_slope;
    for (adjoint, lambda) in tape.adjoint[u * m..][..m].iter_mut().zip(sweep.tableau.exposed_row()) {
        *adjoint = lambda * inverse_slope;
    }
    tape.passive[u * m..][..m].copy_from_slice(&sweep.passive);
    for s in 0..m {
        sweep.right_sides[s * m + u] = sweep.tableau.value_right_side(s, subsidy, sweep.passive[s]);
    }
}

/// Turns the right-hand sides into centred values.
#[inline(always)]
fn finish_tape(sweep: &mut Sweep, tape: &mut Tape<'_>) {
    let m = sweep.passive.len();
    sweep.tableau.solve_values(&mut sweep.right_sides, &mut sweep.spare);
    for (u, values) in tape.values.chunks_exact_mut(m).enumerate() {
        for (s, h) in values.iter_mut().enumerate() {
            *h = sweep.right_sides[s * m + u];
        }
        let mean = values.iter().sum::<f64>() / m as f64;
        values.iter_mut().for_each(|h| *h -= mean);
    }
}

/// An arm that could not be followed to the end has no indices, and no gradient.
#[inline(always)]
fn undetermined(index: &mut [f64], last: &mut [f64], tape: &mut Option<Tape<'_>>) -> Outcome {
    index.fill(f64::NAN);
    last.fill(f64::NAN);
    if let Some(tape) = tape {
        tape.adjoint.fill(0.0);
        tape.inverse_slope.fill(0.0);
        tape.values.fill(0.0);
    }
    Outcome::UNDETERMINED
}
