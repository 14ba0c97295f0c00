//! The belief chains of one arm under a passive set: runs to the next pull, and the values of the heads.
//!
//! From a position of a chain the arm rests until the next active position, the *end* of its run. With the gain G (the
//! value per step of the first head) and the values H of the heads relative to the first one, the value of a position is
//!
//! ```text
//! h = A + m·C − G·D + E·H     A rewards, D steps, C passive steps (all discounted), E = γⁿ b(end) after n steps
//! ```
//!
//! and a run that goes on for ever has what the frozen last position earns at its end, r/(1−γ). With the discounted sums of
//! all rewards down the chain at hand, A, C, D and E of a run are two terms each: a move of one position into or out of the
//! passive set gives new ends to the runs between it and the pull before it, and no error builds up. The heads' own runs
//! are M equations for G and H, affine in the subsidy m; they are solved anew when one of their runs has changed. Otherwise
//! a move changes the advantages of those few positions only.
//!
//! Beliefs and H are held without state 0: b(0) = 1 − Σ b(k), H(0) = 0.

mod values;

use super::rewards::Rewards;
use crate::lu::{Lu, subtract};
use ndarray::ArrayView2;

/// Positions handled side by side; arrays are padded to a multiple.
pub(super) const LANES: usize = 8;
/// A slope smaller than this is none.
pub(super) const FLAT: f64 = 1e-12;

/// One thread's memory for an arm; arrays over positions are `[M·T]`, padded, position h of chain s at s·T + h.
pub(super) struct Chains {
    /// M
    pub(super) states: usize,
    /// T
    pub(super) beliefs: usize,
    /// M·T, padded
    pub(super) width: usize,
    pub(super) discount: f64,
    /// 1/(1−γ)
    for_ever: f64,
    pub(super) rewards: Rewards,
    /// γᵏ and Σ_{v<k} γᵛ for k = T … 0, `[T+1]`
    powers: Vec<f64>,
    sums: Vec<f64>,
    /// b(k) for k = 1 … M−1, `[M−1,M·T]`
    pub(super) belief: Vec<f64>,
    /// the expected reward of either action, and of a pull less that of passivity
    pub(super) reward: [Vec<f64>; 2],
    gain: Vec<f64>,
    /// Σ γᵛ r(h+v) down to the last position
    tail: Vec<f64>,
    /// 1 for an active position, −1 for a passive one and for padding
    pub(super) action: Vec<f64>,
    /// of the run after each position: Δ − γA, D, 1 + γC, b − E (`[M−1,M·T]`), and its end (T: none)
    offset: Vec<f64>,
    steps: Vec<f64>,
    rest: Vec<f64>,
    link: Vec<f64>,
    pub(super) run_end: Vec<u32>,
    /// A, D, C of the run from each head on, `[M]`, E, `[M,M−1]`, and its end
    head_reward: Vec<f64>,
    head_steps: Vec<f64>,
    head_passive: Vec<f64>,
    head_link: Vec<f64>,
    pub(super) head_end: Vec<u32>,
    /// G and H as u + m·w: `[2][M]`, G first
    values: [Vec<f64>; 2],
    system: Lu,
    /// the determinant for two states
    determinant: f64,
    /// Adv = α − m·β of every position
    pub(super) alpha: Vec<f64>,
    pub(super) beta: Vec<f64>,
    /// α/β where the position moves if the subsidy passes there, infinity where it does not
    pub(super) crossing: Vec<f64>,
    /// whether any slope has been nearly zero
    pub(super) has_flat: bool,
    /// how the equations of the heads weigh in the advantage of one position, `[M]`
    pub(super) inflow: Vec<f64>,
}

/// A, D, C at the end of a run and the weight of b(end) in E.
#[derive(Clone, Copy)]
struct End {
    reward: f64,
    steps: f64,
    passive: f64,
    link: f64,
}

impl Chains {
    pub(super) fn new(m: usize, beliefs: usize) -> Self {
        let width = (m * beliefs).next_multiple_of(LANES);
        let (row, heads) = (vec![0.0; width], vec![0.0; m]);
        Self {
            states: m,
            beliefs,
            width,
            discount: 0.0,
            for_ever: 1.0,
            rewards: Rewards::new(m),
            powers: vec![1.0; beliefs + 1],
            sums: vec![0.0; beliefs + 1],
            belief: vec![0.0; (m - 1) * width],
            reward: [row.clone(), row.clone()],
            gain: row.clone(),
            tail: row.clone(),
            action: vec![-1.0; width],
            offset: row.clone(),
            steps: row.clone(),
            rest: vec![1.0; width],
            link: vec![0.0; (m - 1) * width],
            run_end: vec![0; width],
            head_reward: heads.clone(),
            head_steps: heads.clone(),
            head_passive: heads.clone(),
            head_link: vec![0.0; m * (m - 1)],
            head_end: vec![0; m],
            values: [heads.clone(), heads.clone()],
            system: Lu::new(if m == 2 { 0 } else { m }),
            determinant: 1.0,
            alpha: row.clone(),
            beta: row.clone(),
            crossing: row,
            has_flat: false,
            inflow: heads,
        }
    }

    /// Takes up reward (`[M,2]`) and discount of the arms that follow.
    pub(super) fn take(&mut self, (reward, discount): (ArrayView2<'_, f64>, f64)) {
        self.rewards.take(reward);
        self.discount = discount;
        self.for_ever = 1.0 / (1.0 - discount);
        for i in (0..self.beliefs).rev() {
            self.powers[i] = discount * self.powers[i + 1];
            self.sums[i] = 1.0 + discount * self.sums[i + 1];
        }
    }

    /// The beliefs of an arm (`[M,2,M]`), `b(s,h) = P₁[s]·P₀ʰ`.
    #[inline(always)]
    pub(super) fn load_beliefs(&mut self, arm: &[f64]) {
        let (m, width) = (self.states, self.width);
        let p = |s: usize, a: usize, next: usize| arm[(2 * s + a) * m + next];
        for chain in 0..m {
            let head = chain * self.beliefs;
            for k in 1..m {
                self.belief[(k - 1) * width + head] = p(chain, 1, k);
            }
            for u in head..head + self.beliefs - 1 {
                for k in 1..m {
                    let mut b = p(0, 0, k);
                    for j in 1..m {
                        b += self.belief[(j - 1) * width + u] * (p(j, 0, k) - p(0, 0, k));
                    }
                    self.belief[(k - 1) * width + u + 1] = b;
                }
            }
        }
    }

    /// The expected rewards of the beliefs that have been loaded.
    #[inline(always)]
    pub(super) fn load_rewards(&mut self) {
        for a in 0..2 {
            self.reward[a].fill(self.rewards.base[a]);
            for (rise, belief) in self.rewards.rise[a].iter().zip(self.belief.chunks_exact(self.width)) {
                subtract(&mut self.reward[a], -rise, belief);
            }
        }
    }

    /// Takes up an arm (`[M,2,M]`) with every position active; false where its equations cannot be solved.
    #[inline(always)]
    pub(super) fn load(&mut self, arm: &[f64]) -> bool {
        let (beliefs, g) = (self.beliefs, self.discount);
        self.load_beliefs(arm);
        self.load_rewards();
        for ((gain, passive), active) in self.gain.iter_mut().zip(&self.reward[0]).zip(&self.reward[1]) {
            *gain = active - passive;
        }
        self.action[..self.states * beliefs].fill(1.0);
        self.has_flat = false;
        for chain in 0..self.states {
            let (first, last) = (chain * beliefs, (chain + 1) * beliefs - 1);
            self.tail[last] = self.reward[0][last];
            for u in (first..last).rev() {
                self.tail[u] = self.reward[0][u] + g * self.tail[u + 1];
            }
            for u in first..last {
                self.offset[u] = self.gain[u] - g * self.reward[1][u + 1];
                (self.steps[u], self.rest[u]) = (1.0, 1.0);
                self.run_end[u] = (u + 1 - first) as u32;
            }
            for (belief, link) in
                self.belief.chunks_exact(self.width).zip(self.link.chunks_exact_mut(self.width))
            {
                for u in first..last {
                    link[u] = belief[u] - g * belief[u + 1];
                }
            }
            self.set_last(chain);
            self.set_head(chain);
        }
        let is_solved = self.solve();
        self.refresh(0, self.width);
        is_solved
    }

    /// Moves position u into or out of the passive set; false where the equations cannot be solved.
    #[inline(always)]
    pub(super) fn flip(&mut self, u: usize) -> bool {
        self.action[u] = -self.action[u];
        let (chain, position) = (u / self.beliefs, u % self.beliefs);
        let first = chain * self.beliefs;
        if position + 1 == self.beliefs {
            self.set_last(chain);
        }
        let end = self.end_from(chain, position);
        let before = self.action[first..u].iter().rposition(|action| *action > 0.0);
        self.set_runs(chain, before.unwrap_or(0), position, end);
        if before.is_some() {
            self.refresh(first + before.unwrap_or(0), u + 1);
            return true;
        }
        self.set_head(chain);
        let is_solved = self.solve();
        self.refresh(0, self.width);
        is_solved
    }

    /// The first active position from this one on; T where there is none.
    #[inline(always)]
    fn end_from(&self, chain: usize, position: usize) -> usize {
        let u = chain * self.beliefs + position;
        if self.action[u] > 0.0 { position } else { self.run_end[u] as usize }
    }

    /// What a run meets at its end.
    #[inline(always)]
    fn end(&self, chain: usize, end: usize) -> End {
        let first = chain * self.beliefs;
        if end < self.beliefs {
            let reward = self.reward[1][first + end] - self.tail[first + end];
            End { reward, steps: 1.0, passive: 0.0, link: self.discount }
        } else {
            let reward = self.reward[0][first + self.beliefs - 1] * self.for_ever;
            End { reward, steps: self.for_ever, passive: self.for_ever, link: 0.0 }
        }
    }

    /// The runs after some positions, none of them the last, that now end at `end`.
    #[inline(always)]
    fn set_runs(&mut self, chain: usize, from: usize, to: usize, end: usize) {
        let (first, length, g) = (chain * self.beliefs, to - from, self.discount);
        let at = self.end(chain, end);
        let (u, back) = (first + from, self.beliefs - end + from + 1);
        let (powers, sums) = (&self.powers[back..][..length], &self.sums[back..][..length]);
        let (gain, tail) = (&self.gain[u..][..length], &self.tail[u + 1..][..length]);
        let (offset, steps) = (&mut self.offset[u..][..length], &mut self.steps[u..][..length]);
        let rest = &mut self.rest[u..][..length];
        for i in 0..length {
            offset[i] = gain[i] - g * (tail[i] + powers[i] * at.reward);
            steps[i] = sums[i] + powers[i] * at.steps;
            rest[i] = 1.0 + g * (sums[i] + powers[i] * at.passive);
        }
        let each = self.belief.chunks_exact(self.width).zip(self.link.chunks_exact_mut(self.width));
        for (belief, link) in each {
            let (weight, own) = (at.link * belief[first + end.min(self.beliefs - 1)], &belief[u..][..length]);
            for ((link, b), power) in link[u..][..length].iter_mut().zip(own).zip(powers) {
                *link = b - power * weight;
            }
        }
        self.run_end[u..][..length].fill(end as u32);
    }

    /// The run after the last position, which is the last position again.
    #[inline(always)]
    fn set_last(&mut self, chain: usize) {
        let (u, g) = ((chain + 1) * self.beliefs - 1, self.discount);
        let is_active = self.action[u] > 0.0;
        let reward = if is_active { self.reward[1][u] } else { self.reward[0][u] * self.for_ever };
        self.offset[u] = self.gain[u] - g * reward;
        self.steps[u] = if is_active { 1.0 } else { self.for_ever };
        self.rest[u] = if is_active { 1.0 } else { self.for_ever }; // 1 + γ/(1−γ)
        self.run_end[u] = (self.beliefs - usize::from(is_active)) as u32;
        let weight = if is_active { g } else { 0.0 };
        for (belief, link) in self.belief.chunks_exact(self.width).zip(self.link.chunks_exact_mut(self.width))
        {
            link[u] = belief[u] - weight * belief[u];
        }
    }

    /// The run from a head on.
    #[inline(always)]
    fn set_head(&mut self, chain: usize) {
        let end = self.end_from(chain, 0);
        let (at, back, first) = (self.end(chain, end), self.beliefs - end, chain * self.beliefs);
        let (power, sum) = (self.powers[back], self.sums[back]);
        self.head_reward[chain] = self.tail[first] + power * at.reward;
        self.head_steps[chain] = sum + power * at.steps;
        self.head_passive[chain] = sum + power * at.passive;
        self.head_end[chain] = end as u32;
        let rest = self.states - 1;
        for k in 0..rest {
            let belief = self.belief[k * self.width + first + end.min(self.beliefs - 1)];
            self.head_link[chain * rest + k] = power * at.link * belief;
        }
    }
}
