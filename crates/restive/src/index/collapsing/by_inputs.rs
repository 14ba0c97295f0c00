//! The pullback from the indices of finite chains to rewards and discount.
//!
//! Rewards are linear in beliefs: what the reward of either action is worth at every position, which the pullback to the
//! transitions has found, is spread over the states by the position's belief.
//!
//! The discount meets the advantage of u in its run and in those of the heads. With the gain G, the heads H and the subsidy m
//! held, a run of n passive steps from x to its end e is worth
//!
//! ```text
//! h = Σ_{v<n} γᵛ (r₀(x+v) + m − G) + γⁿ (r₁(e) − G + γ b(e)·H)
//! ```
//!
//! and dW = [b(u)·H − h − γ h′ of the run after u + Σ_s inflow(s) h′ of the run from head s]/β, with h′ = dh/dγ. Sums down the
//! chain and their derivatives make a run two terms each, as in the sweep; G is what makes the first head's value zero.

use super::pullback::{ArmTape, Return};

/// Sums down the chains and their derivatives by γ; one thread's memory.
pub(super) struct Slopes {
    /// Σ γᵛ r₀ down to the last position, and its derivative, `[M·T]`
    tail: [Vec<f64>; 2],
    /// Σ_{v<n} γᵛ and its derivative, `[T+1]`
    sums: [Vec<f64>; 2],
}

/// What a run is held at: subsidy, gain and the heads' values H(1) … H(M−1).
#[derive(Clone, Copy)]
struct Held<'a> {
    subsidy: f64,
    gain: f64,
    heads: &'a [f64],
}

impl Slopes {
    pub(super) fn new(m: usize, beliefs: usize) -> Self {
        let (row, sums) = (vec![0.0; m * beliefs], vec![0.0; beliefs + 1]);
        Self { tail: [row.clone(), row], sums: [sums.clone(), sums] }
    }

    /// Right after [`Return::run`] of the same arm: writes the cotangent of its reward, `[M,2]`, and returns that of its
    /// discount.
    pub(super) fn run(
        &mut self,
        back: &mut Return,
        tape: ArmTape<'_>,
        index: &[f64],
        d_index: &[f64],
        d_reward: &mut [f64],
    ) -> f64 {
        if tape.numbers.iter().all(|number| *number == 0.0) {
            d_reward.fill(0.0); // no index, no gradient
            return 0.0;
        }
        spread_rewards(back, d_reward);
        back.chains.load_rewards();
        self.load(back);
        let given = d_index.iter().zip(index).enumerate().filter(|(_, (c, _))| **c != 0.0);
        given.map(|(u, (c, w))| c * self.slope(back, tape, u, *w)).sum()
    }

    /// Sums down the chains of an arm.
    fn load(&mut self, back: &Return) {
        let (beliefs, g, reward) = (back.chains.beliefs, back.chains.discount, &back.chains.reward[0]);
        let [tail, d_tail] = &mut self.tail;
        for chain in 0..back.chains.states {
            let (first, last) = (chain * beliefs, (chain + 1) * beliefs - 1);
            (tail[last], d_tail[last]) = (reward[last], 0.0);
            for u in (first..last).rev() {
                tail[u] = reward[u] + g * tail[u + 1];
                d_tail[u] = tail[u + 1] + g * d_tail[u + 1];
            }
        }
        let [sums, d_sums] = &mut self.sums;
        for n in 0..beliefs {
            sums[n + 1] = 1.0 + g * sums[n];
            d_sums[n + 1] = sums[n] + g * d_sums[n];
        }
    }

    /// dW/dγ of position u, whose index is w.
    fn slope(&self, back: &Return, tape: ArmTape<'_>, u: usize, w: f64) -> f64 {
        let (m, beliefs, g) = (back.chains.states, back.chains.beliefs, back.chains.discount);
        let numbers = &tape.numbers[u * 2 * m..][..2 * m];
        let ends = &tape.ends[u * (m + 1)..][..m + 1];
        if numbers[0] == 0.0 {
            return 0.0; // indifferent on a whole interval
        }
        let mut held = Held { subsidy: w, gain: 0.0, heads: &numbers[1..m] };
        let steps =
            if (ends[1] as usize) < beliefs { self.sums[0][ends[1] as usize + 1] } else { 1.0 / (1.0 - g) };
        held.gain = self.value(back, 0, 0, ends[1] as usize, held).0 / steps;
        let (chain, position) = (u / beliefs, u % beliefs);
        let (after, d_after) =
            self.value(back, chain, (position + 1).min(beliefs - 1), ends[0] as usize, held);
        let own = numbers[0] * (linked(back, u, held.heads) - after - g * d_after);
        let heads = numbers[m..].iter().zip(&ends[1..]).enumerate();
        own + heads
            .map(|(s, (weight, end))| weight * self.value(back, s, 0, *end as usize, held).1)
            .sum::<f64>()
    }

    /// The value of a run and its derivative.
    fn value(&self, back: &Return, chain: usize, from: usize, end: usize, held: Held<'_>) -> (f64, f64) {
        let (beliefs, g) = (back.chains.beliefs, back.chains.discount);
        let ([tail, d_tail], [sums, d_sums]) = (&self.tail, &self.sums);
        let (x, step) = (chain * beliefs + from, held.subsidy - held.gain);
        let power = |n: usize| (back.power[n], if n == 0 { 0.0 } else { n as f64 * back.power[n - 1] });
        if end < beliefs {
            let (n, e) = (end - from, chain * beliefs + end);
            let (p, d_p) = power(n);
            let link = linked(back, e, held.heads);
            let at_end = back.chains.reward[1][e] - held.gain + g * link;
            let value = tail[x] - p * tail[e] + step * sums[n] + p * at_end;
            let slope =
                d_tail[x] - d_p * tail[e] - p * d_tail[e] + step * d_sums[n] + d_p * at_end + p * link;
            return (value, slope);
        }
        // for ever: the last position earns γ/(1−γ) more than the tail counts
        let (n, last) = (beliefs - 1 - from, (chain + 1) * beliefs - 1);
        let (p, d_p) = power(n);
        let (for_ever, r) = (1.0 / (1.0 - g), back.chains.reward[0][last]);
        let value = tail[x] + p * g * for_ever * r + step * for_ever;
        let slope = d_tail[x] + (d_p * g + p * for_ever) * for_ever * r + step * for_ever * for_ever;
        (value, slope)
    }
}

/// b(u)·H.
fn linked(back: &Return, u: usize, heads: &[f64]) -> f64 {
    heads.iter().enumerate().map(|(k, h)| back.chains.belief[k * back.chains.width + u] * h).sum()
}

/// From positions to states, `[M,2]`.
fn spread_rewards(back: &Return, d_reward: &mut [f64]) {
    let (m, width) = (back.chains.states, back.chains.width);
    for (a, worth) in back.d_reward.iter().enumerate() {
        let positions = &worth[..m * back.chains.beliefs];
        d_reward[a] = positions.iter().sum();
        for (k, belief) in back.chains.belief.chunks_exact(width).enumerate() {
            let by_state: f64 = positions.iter().zip(belief).map(|(d, b)| d * b).sum();
            d_reward[2 * (k + 1) + a] = by_state;
            d_reward[a] -= by_state;
        }
    }
}
