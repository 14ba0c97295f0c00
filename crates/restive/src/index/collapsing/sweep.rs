//! The sweep over subsidies on finite chains: which position turns passive when.
//!
//! The path, its ties and its verdict are those of the [general](crate::index::general) kernel on the M·T beliefs; only the
//! advantages come from [`Chains`], O(M·T) of them after a move instead of O((M·T)²) numbers of a tableau.

use super::chains::{Chains, FLAT, LANES};
use crate::index::batch::Outcome;
use crate::index::{ILL_CONDITIONED, IndexStatus};
use crate::interrupt;
use crate::simd::for_cpu;
use ndarray::ArrayView2;

/// Two subsidies closer than this, relative to the size of the arm's subsidies, are one event.
const TIE: f64 = 1e-12;
const NEVER: usize = usize::MAX;

/// What the pullback of one arm needs, one row per position: written by the sweep, in the caller's memory.
pub(super) struct Tape<'a> {
    /// 1/β; H(1) … H(M−1); inflow/β of each head: `[M·T,2M]`
    pub(super) numbers: &'a mut [f64],
    /// the end of the run after the position and of that from each head: `[M·T,M+1]`
    pub(super) ends: &'a mut [u32],
}

/// One thread's memory.
pub(super) struct Sweep {
    chains: Chains,
    /// whether a position was passive before the current tie group
    was_passive: Vec<bool>,
    /// the positions that moved in the current tie group
    moved: Vec<usize>,
    /// the tie group in which a position's index was recorded
    recorded: Vec<usize>,
}

impl Sweep {
    pub(super) fn new(m: usize, beliefs: usize) -> Self {
        let chains = Chains::new(m, beliefs);
        let width = chains.width;
        Self {
            chains,
            was_passive: vec![false; width],
            moved: Vec::with_capacity(width),
            recorded: vec![NEVER; width],
        }
    }

    /// Takes up reward (`[M,2]`) and discount of the arms that follow.
    pub(super) fn take(&mut self, inputs: (ArrayView2<'_, f64>, f64)) {
        self.chains.take(inputs);
    }

    /// Solves one arm (`[M,2,M]`): writes its first and last crossings (`[M·T]` each), and the tape where one is kept.
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
    let found = follow(sweep, arm, index, last, &mut tape);
    found.unwrap_or_else(|| {
        index.fill(f64::NAN);
        last.fill(f64::NAN);
        if let Some(tape) = tape {
            tape.numbers.fill(0.0);
        }
        Outcome::UNDETERMINED
    })
}

/// None where the arm cannot be followed to the end.
#[inline(always)]
fn follow(
    sweep: &mut Sweep,
    arm: &[f64],
    index: &mut [f64],
    last: &mut [f64],
    tape: &mut Option<Tape<'_>>,
) -> Option<Outcome> {
    let positions = index.len();
    // the frozen ends are M absorbing classes: no average reward
    if sweep.chains.discount >= 1.0 || !sweep.chains.load(arm) {
        return None;
    }
    sweep.was_passive.fill(false);
    sweep.recorded.fill(NEVER);
    sweep.moved.clear();
    let scale = sweep.chains.scale();
    let (mut amplification, mut spread) = (0.0f64, sweep.chains.rewards.span);
    let (mut subsidy, mut group, mut groups) = (f64::NEG_INFINITY, f64::NEG_INFINITY, 0);
    let (mut passive_positions, mut moves, mut is_indexable) = (0, 0, true);
    while passive_positions < positions {
        interrupt::check();
        let next = next_event(&mut sweep.chains, subsidy, scale);
        if next == f64::INFINITY || moves > 50 * positions + 100 {
            return None;
        }
        let slack = TIE * next.abs().max(scale);
        if next > group + slack {
            is_indexable &= close_group(sweep, group, last);
            (group, groups) = (next, groups + 1);
        }
        let u = least_up_to(&sweep.chains.crossing, next + slack)?;
        subsidy = next;
        if sweep.chains.action[u] < 0.0 {
            if sweep.recorded[u] == groups {
                sweep.recorded[u] = NEVER;
            }
            passive_positions -= 1;
        } else {
            if sweep.recorded[u] == NEVER {
                sweep.recorded[u] = groups;
                index[u] = subsidy;
                let slope = sweep.chains.beta[u];
                let inverse_slope = if slope > FLAT { 1.0 / slope } else { 0.0 };
                amplification = amplification.max(sweep.chains.set_inflow(u) * inverse_slope);
                for k in 1..sweep.chains.states {
                    spread = spread.max(sweep.chains.head_value(k, subsidy).abs());
                }
                if let Some(tape) = tape {
                    record(&sweep.chains, u, subsidy, inverse_slope, tape);
                }
            }
            passive_positions += 1;
        }
        sweep.moved.push(u);
        if !sweep.chains.flip(u) {
            return None;
        }
        moves += 1;
    }
    is_indexable &= close_group(sweep, group, last);
    let largest = index.iter().fold(0.0f64, |most, w| most.max(w.abs()));
    let size = largest.max(sweep.chains.rewards.span);
    let error = f64::EPSILON * amplification * spread.max(largest);
    let residual = if error == 0.0 { 0.0 } else { error / size };
    let status = if residual <= ILL_CONDITIONED { IndexStatus::Exact } else { IndexStatus::IllConditioned };
    Some(Outcome { is_indexable, status, residual })
}

/// The smallest subsidy, from the current one on, at which a position enters or leaves the passive set.
#[inline(always)]
fn next_event(chains: &mut Chains, subsidy: f64, scale: f64) -> f64 {
    if chains.has_flat {
        enter_flat(chains, subsidy, scale);
    }
    let mut least = [f64::INFINITY; LANES];
    for crossing in chains.crossing.chunks_exact(LANES) {
        for l in 0..LANES {
            least[l] = if crossing[l] < least[l] { crossing[l] } else { least[l] };
        }
    }
    least.iter().fold(f64::INFINITY, |least, next| least.min(*next)).max(subsidy)
}

/// An active position whose advantage is zero here and stays zero enters now: leaving it alone is as good as a pull.
#[inline(always)]
fn enter_flat(chains: &mut Chains, subsidy: f64, scale: f64) {
    let zero = TIE * subsidy.abs().max(scale);
    for u in 0..chains.width {
        let (alpha, beta) = (chains.alpha[u], chains.beta[u]);
        let is_zero = (alpha - subsidy * beta).abs() <= zero;
        if beta.abs() <= FLAT && chains.action[u] > 0.0 {
            chains.crossing[u] = if is_zero { subsidy } else { f64::INFINITY };
        }
    }
}

/// The least position that moves at or before a subsidy.
#[inline(always)]
fn least_up_to(crossing: &[f64], subsidy: f64) -> Option<usize> {
    let mut blocks = crossing.chunks_exact(LANES);
    let block = blocks.position(|block| block.iter().fold(false, |any, c| any | (*c <= subsidy)))?;
    let within = crossing[block * LANES..].iter().position(|c| *c <= subsidy)?;
    Some(block * LANES + within)
}

/// Ends a tie group at this subsidy; false where a position that was passive before it is active after it.
#[inline(always)]
fn close_group(sweep: &mut Sweep, group: f64, last: &mut [f64]) -> bool {
    let mut grew = true;
    for &u in &sweep.moved {
        let is_passive = sweep.chains.action[u] < 0.0;
        if is_passive && !sweep.was_passive[u] {
            last[u] = group;
        }
        grew &= is_passive || !sweep.was_passive[u];
        sweep.was_passive[u] = is_passive;
    }
    sweep.moved.clear();
    grew
}

/// Keeps what the gradient of position u needs, at the moment its index is found. A position that is indifferent on a whole
/// interval has an index that can jump, and no gradient: 0.
#[inline(always)]
fn record(chains: &Chains, u: usize, subsidy: f64, inverse_slope: f64, tape: &mut Tape<'_>) {
    let m = chains.states;
    let numbers = &mut tape.numbers[u * 2 * m..][..2 * m];
    numbers[0] = inverse_slope;
    for k in 1..m {
        numbers[k] = chains.head_value(k, subsidy);
    }
    for (number, inflow) in numbers[m..].iter_mut().zip(&chains.inflow) {
        *number = inflow * inverse_slope;
    }
    let ends = &mut tape.ends[u * (m + 1)..][..m + 1];
    ends[0] = chains.run_end[u];
    ends[1..].copy_from_slice(&chains.head_end);
}
