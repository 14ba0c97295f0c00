//! The pullback from the indices of finite chains to the transitions of the observed states.
//!
//! At its index W the advantage of position u is zero, so that a change of the arm moves W by 1/β of what it does to the
//! advantage at that subsidy and passive set. The advantage meets the beliefs in three places, each with a weight that the
//! sweep has recorded:
//!
//! ```text
//! b(u)                                    γ H/β
//! the run after u:    Σ γᵛ r, and b(end)  −γ/β, and with γᵛ·γH at its end
//! the run from head s, likewise           inflow(s)/β
//! ```
//!
//! Runs are geometric, so that the runs of all positions together cost one recursion along the chain: what starts somewhere
//! is discounted step by step and taken out again at its end. What is left at the frozen last position earns for ever,
//! 1/(1−γ). Rewards are linear in beliefs, and beliefs go back through b(h+1) = b(h)·P₀ to P₀ and, at the head, to P₁.

use super::chains::Chains;
use crate::interrupt;
use crate::lu::subtract;
use crate::simd::for_cpu;
use ndarray::ArrayView2;

/// One arm's share of the tape: see [`Tape`](super::sweep::Tape).
#[derive(Clone, Copy)]
pub(super) struct ArmTape<'a> {
    pub(super) numbers: &'a [f64],
    pub(super) ends: &'a [u32],
}

/// One thread's memory.
pub(super) struct Return {
    pub(super) chains: Chains,
    /// γᵛ, `[T]`
    pub(super) power: Vec<f64>,
    /// weights of the runs that start and end at each position, `[M·T]`
    starts: Vec<f64>,
    ends: Vec<f64>,
    /// what either action's reward is worth there
    pub(super) d_reward: [Vec<f64>; 2],
    /// `[M−1,M·T]`
    d_belief: Vec<f64>,
    /// what comes down the chain, `[2,M−1]`
    flow: Vec<f64>,
}

impl Return {
    pub(super) fn new(m: usize, beliefs: usize) -> Self {
        let chains = Chains::new(m, beliefs);
        let (row, rest) = (vec![0.0; chains.width], chains.states - 1);
        Self {
            power: vec![1.0; beliefs],
            starts: row.clone(),
            ends: row.clone(),
            d_reward: [row.clone(), row],
            d_belief: vec![0.0; rest * chains.width],
            flow: vec![0.0; 2 * rest],
            chains,
        }
    }

    /// Takes up reward (`[M,2]`) and discount of the arms that follow.
    pub(super) fn take(&mut self, inputs: (ArrayView2<'_, f64>, f64)) {
        self.chains.take(inputs);
        for v in 1..self.power.len() {
            self.power[v] = self.power[v - 1] * inputs.1;
        }
    }

    /// Writes what a cotangent of the indices (`[M·T]`) becomes on an arm, `[M,2,M]`; rows sum to zero.
    pub(super) fn run(&mut self, arm: &[f64], tape: ArmTape<'_>, d_index: &[f64], d_arm: &mut [f64]) {
        run_for_cpu(self, arm, tape, d_index, d_arm);
    }
}

for_cpu!(fn run_for_cpu(back: &mut Return, arm: &[f64], tape: ArmTape<'_>, d_index: &[f64], d_arm: &mut [f64]) = run);

#[inline(always)]
fn run(back: &mut Return, arm: &[f64], tape: ArmTape<'_>, d_index: &[f64], d_arm: &mut [f64]) {
    back.chains.load_beliefs(arm);
    back.starts.fill(0.0);
    back.ends.fill(0.0);
    back.d_reward.iter_mut().for_each(|d| d.fill(0.0));
    back.d_belief.fill(0.0);
    if tape.numbers.iter().all(|number| *number == 0.0) {
        d_arm.fill(0.0); // no index, no gradient
        return;
    }
    for (u, &c) in d_index.iter().enumerate().filter(|(_, c)| **c != 0.0) {
        interrupt::check();
        spread(back, u, c, tape);
    }
    sum_runs(back);
    descend(back, arm, d_arm);
}

/// Adds one index's weights where its beliefs and runs are.
#[inline(always)]
fn spread(back: &mut Return, u: usize, c: f64, tape: ArmTape<'_>) {
    let (m, beliefs, width, g) =
        (back.chains.states, back.chains.beliefs, back.chains.width, back.chains.discount);
    let numbers = &tape.numbers[u * 2 * m..][..2 * m];
    let ends = &tape.ends[u * (m + 1)..][..m + 1];
    let (own, heads) = (c * numbers[0], &numbers[1..m]);
    back.d_reward[1][u] += own;
    back.d_reward[0][u] -= own;
    for (k, h) in heads.iter().enumerate() {
        back.d_belief[k * width + u] += own * g * h;
    }
    let mut add_run = |chain: usize, from: usize, end: usize, weight: f64| {
        let first = chain * beliefs;
        back.starts[first + from] += weight;
        if end < beliefs {
            let at_end = weight * back.power[end - from];
            back.ends[first + end] += at_end;
            for (k, h) in heads.iter().enumerate() {
                back.d_belief[k * width + first + end] += at_end * g * h;
            }
        }
    };
    let (chain, position) = (u / beliefs, u % beliefs);
    add_run(chain, (position + 1).min(beliefs - 1), ends[0] as usize, -own * g);
    for (chain, (weight, end)) in numbers[m..].iter().zip(&ends[1..]).enumerate() {
        add_run(chain, 0, *end as usize, c * weight);
    }
}

/// Runs become weights of rewards, and those weights of beliefs.
#[inline(always)]
fn sum_runs(back: &mut Return) {
    let (beliefs, width, g) = (back.chains.beliefs, back.chains.width, back.chains.discount);
    for chain in 0..back.chains.states {
        let mut running = 0.0;
        for u in chain * beliefs..(chain + 1) * beliefs {
            running = g * running + back.starts[u] - back.ends[u];
            back.d_reward[1][u] += back.ends[u];
            back.d_reward[0][u] += running;
        }
        back.d_reward[0][(chain + 1) * beliefs - 1] += running * (1.0 / (1.0 - g) - 1.0);
    }
    for (d_reward, rise) in back.d_reward.iter().zip(&back.chains.rewards.rise) {
        for (d_belief, rise) in back.d_belief.chunks_exact_mut(width).zip(rise) {
            subtract(d_belief, -rise, d_reward);
        }
    }
}

/// From beliefs to the arm.
#[inline(always)]
fn descend(back: &mut Return, arm: &[f64], d_arm: &mut [f64]) {
    let (m, beliefs, width) = (back.chains.states, back.chains.beliefs, back.chains.width);
    let p = |s: usize, next: usize| arm[2 * s * m + next];
    let (flow, next) = back.flow.split_at_mut(m - 1);
    d_arm.fill(0.0);
    for chain in 0..m {
        next.fill(0.0);
        for u in (chain * beliefs..(chain + 1) * beliefs).rev() {
            // `next` is what b(u+1) is worth
            let mut remaining = 1.0;
            for j in 1..m {
                let b = back.chains.belief[(j - 1) * width + u];
                remaining -= b;
                let mut worth = back.d_belief[(j - 1) * width + u];
                for k in 1..m {
                    d_arm[2 * j * m + k] += b * next[k - 1];
                    worth += (p(j, k) - p(0, k)) * next[k - 1];
                }
                flow[j - 1] = worth;
            }
            subtract(&mut d_arm[1..m], -remaining, next);
            next.copy_from_slice(flow);
        }
        d_arm[(2 * chain + 1) * m + 1..][..m - 1].copy_from_slice(next);
    }
    for row in d_arm.chunks_exact_mut(m) {
        let mean = row.iter().sum::<f64>() / m as f64;
        row.iter_mut().for_each(|d| *d -= mean);
    }
}
