//! The belief chains of one arm under a passive set: runs to the next pull, and the values of the heads.
//!
//! From a position of a chain the arm rests until the next active position, the *end* of its run. With the gain G (the
//! value per step of the first head) and the values H of the heads relative to the first one, the value of a position is
//!
//! ```text
//! h = A + m·C − G·D + E·H     A rewards, D steps, C passive steps (all discounted), E = γⁿ b(end) after n steps
//! ```
//!
//! and a run that goes on for ever in the frozen last position has A = r/(1−γ), C = D = 1/(1−γ), E = 0 from there. A run is
//! one step longer than that of the position after it, so that four recursions keep A, C, D and E. A move of one position
//! into or out of the passive set changes the runs between it and the pull before it, and no others: they are computed
//! anew, and no error builds up. The heads' own runs are M equations for G and H, affine in the subsidy m; they are solved
//! anew when one of their runs has changed.
//!
//! Beliefs and H are held without state 0: b(0) = 1 − Σ b(k), H(0) = 0.

use crate::lu::Lu;
use ndarray::ArrayView2;

/// Positions handled side by side; arrays are padded to a multiple.
pub(super) const LANES: usize = 8;

/// Rewards as a belief meets them: R(0,a) and R(k,a) − R(0,a), less their common mid-range.
#[derive(Debug, Clone)]
pub(super) struct Rewards {
    base: [f64; 2],
    /// for k = 1 … M−1
    pub(super) rise: [Vec<f64>; 2],
    /// the largest difference between rewards
    pub(super) span: f64,
}

impl Rewards {
    pub(super) fn new(reward: ArrayView2<'_, f64>) -> Self {
        let (low, high) = reward.iter().fold((f64::MAX, f64::MIN), |(l, h), &r| (l.min(r), h.max(r)));
        let middle = low + 0.5 * (high - low);
        let rise = |a: usize| reward.column(a).iter().skip(1).map(|r| r - reward[[0, a]]).collect();
        Self { base: [0, 1].map(|a| reward[[0, a]] - middle), rise: [rise(0), rise(1)], span: high - low }
    }
}

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
    /// b(k) for k = 1 … M−1, `[M−1,M·T]`
    pub(super) belief: Vec<f64>,
    /// the expected reward of either action
    reward: [Vec<f64>; 2],
    /// 1 for an active position, −1 for a passive one and for padding
    pub(super) action: Vec<f64>,
    /// of the run after each position: A, D, C, E (`[M−1,M·T]`) and its end (T: none)
    run_reward: Vec<f64>,
    run_steps: Vec<f64>,
    run_passive: Vec<f64>,
    run_link: Vec<f64>,
    pub(super) run_end: Vec<u32>,
    /// the same of the run from each head on, `[M]`; E is `[M,M−1]`
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
    /// how the equations of the heads weigh in the advantage of one position, `[M]`
    pub(super) inflow: Vec<f64>,
}

impl Chains {
    pub(super) fn new(reward: ArrayView2<'_, f64>, discount: f64, beliefs: usize) -> Self {
        let m = reward.nrows();
        let width = (m * beliefs).next_multiple_of(LANES);
        let (row, heads) = (vec![0.0; width], vec![0.0; m]);
        Self {
            states: m,
            beliefs,
            width,
            discount,
            for_ever: 1.0 / (1.0 - discount),
            rewards: Rewards::new(reward),
            belief: vec![0.0; (m - 1) * width],
            reward: [row.clone(), row.clone()],
            action: vec![-1.0; width],
            run_reward: row.clone(),
            run_steps: row.clone(),
            run_passive: row.clone(),
            run_link: vec![0.0; (m - 1) * width],
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
            beta: row,
            inflow: heads,
        }
    }

    /// The beliefs of an arm (`[M,2,M]`), b(s,h) = P₁[s]·P₀ʰ.
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

    /// Takes up an arm (`[M,2,M]`) with every position active; false where its equations cannot be solved.
    #[inline(always)]
    pub(super) fn load(&mut self, arm: &[f64]) -> bool {
        self.load_beliefs(arm);
        for a in 0..2 {
            self.reward[a].fill(self.rewards.base[a]);
            for (rise, belief) in self.rewards.rise[a].iter().zip(self.belief.chunks_exact(self.width)) {
                crate::lu::subtract(&mut self.reward[a], -rise, belief);
            }
        }
        self.action[..self.states * self.beliefs].fill(1.0);
        for chain in 0..self.states {
            for position in (0..self.beliefs).rev() {
                self.set_run(chain, position);
            }
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
        let (chain, from) = (u / self.beliefs, u % self.beliefs);
        let mut position = if from + 1 == self.beliefs { from + 1 } else { from };
        let mut reaches_head = true;
        while position > 0 {
            position -= 1;
            self.set_run(chain, position);
            if position != from && self.action[chain * self.beliefs + position] > 0.0 {
                reaches_head = false;
                break;
            }
        }
        if reaches_head {
            self.set_head(chain);
            let is_solved = self.solve();
            self.refresh(0, self.width);
            return is_solved;
        }
        self.refresh(chain * self.beliefs + position, u + 1);
        true
    }

    /// The run after a position, from the one after the next.
    #[inline(always)]
    fn set_run(&mut self, chain: usize, position: usize) {
        let u = chain * self.beliefs + position;
        let is_last = position + 1 == self.beliefs;
        let next = if is_last { u } else { u + 1 };
        let g = self.discount;
        if self.action[next] > 0.0 {
            self.run_reward[u] = self.reward[1][next];
            (self.run_steps[u], self.run_passive[u]) = (1.0, 0.0);
            self.run_end[u] = (next - chain * self.beliefs) as u32;
            for k in (0..self.belief.len()).step_by(self.width) {
                self.run_link[k + u] = g * self.belief[k + next];
            }
        } else if is_last {
            self.run_reward[u] = self.reward[0][u] * self.for_ever;
            (self.run_steps[u], self.run_passive[u]) = (self.for_ever, self.for_ever);
            self.run_end[u] = self.beliefs as u32;
            for k in (0..self.belief.len()).step_by(self.width) {
                self.run_link[k + u] = 0.0;
            }
        } else {
            self.run_reward[u] = self.reward[0][next] + g * self.run_reward[next];
            self.run_steps[u] = 1.0 + g * self.run_steps[next];
            self.run_passive[u] = 1.0 + g * self.run_passive[next];
            self.run_end[u] = self.run_end[next];
            for k in (0..self.belief.len()).step_by(self.width) {
                self.run_link[k + u] = g * self.run_link[k + next];
            }
        }
    }

    /// The run from a head on.
    #[inline(always)]
    fn set_head(&mut self, chain: usize) {
        let (u, g) = (chain * self.beliefs, self.discount);
        let links = self.head_link.chunks_exact_mut((self.states - 1).max(1)).nth(chain).unwrap_or_default();
        if self.action[u] > 0.0 {
            self.head_reward[chain] = self.reward[1][u];
            (self.head_steps[chain], self.head_passive[chain]) = (1.0, 0.0);
            self.head_end[chain] = 0;
            for (link, belief) in links.iter_mut().zip(self.belief.chunks_exact(self.width)) {
                *link = g * belief[u];
            }
        } else {
            self.head_reward[chain] = self.reward[0][u] + g * self.run_reward[u];
            self.head_steps[chain] = 1.0 + g * self.run_steps[u];
            self.head_passive[chain] = 1.0 + g * self.run_passive[u];
            self.head_end[chain] = self.run_end[u];
            for (link, run) in links.iter_mut().zip(self.run_link.chunks_exact(self.width)) {
                *link = g * run[u];
            }
        }
    }

    /// G and H from D_s·G + H_s − E_s·H = A_s + m·C_s.
    #[inline(always)]
    fn solve(&mut self) -> bool {
        if self.states == 2 {
            let ([d0, d1], [e0, e1]) = (two(&self.head_steps), two(&self.head_link));
            self.determinant = d0 * (1.0 - e1) + e0 * d1;
            let inverse = 1.0 / self.determinant;
            for (values, right) in self.values.iter_mut().zip([&self.head_reward, &self.head_passive]) {
                let [a0, a1] = two(right);
                values[0] = ((1.0 - e1) * a0 + e0 * a1) * inverse;
                values[1] = (d0 * a1 - d1 * a0) * inverse;
            }
            return self.determinant > 0.0;
        }
        let m = self.states;
        for (s, row) in self.system.factors.chunks_exact_mut(m).enumerate() {
            row[0] = self.head_steps[s];
            for k in 1..m {
                row[k] = f64::from(u8::from(k == s)) - self.head_link[s * (m - 1) + k - 1];
            }
        }
        let is_solved = self.system.factor();
        for (values, right) in self.values.iter_mut().zip([&self.head_reward, &self.head_passive]) {
            values.copy_from_slice(right);
            self.system.solve_vector(values);
        }
        is_solved
    }

    /// α and β of some positions: Adv = Δ − m + γ(b·H − h), where h is the value of the run after the position.
    #[inline(always)]
    fn refresh(&mut self, from: usize, to: usize) {
        let g = self.discount;
        let [u, w] = &self.values;
        let (u_gain, w_gain) = (g * u[0], g * w[0]);
        let (alpha, beta) = (&mut self.alpha[from..to], &mut self.beta[from..to]);
        let (passive, active) = (&self.reward[0][from..to], &self.reward[1][from..to]);
        let (a, d, c) = (&self.run_reward[from..to], &self.run_steps[from..to], &self.run_passive[from..to]);
        for i in 0..alpha.len() {
            alpha[i] = (active[i] - passive[i]) + (d[i] * u_gain - g * a[i]);
            beta[i] = 1.0 - (d[i] * w_gain - g * c[i]);
        }
        let each = self.belief.chunks_exact(self.width).zip(self.run_link.chunks_exact(self.width));
        for (k, (belief, link)) in each.enumerate() {
            let (u_head, w_head) = (g * u[k + 1], g * w[k + 1]);
            for (((alpha, beta), b), e) in
                alpha.iter_mut().zip(&mut *beta).zip(&belief[from..to]).zip(&link[from..to])
            {
                let f = b - e;
                *alpha += f * u_head;
                *beta -= f * w_head;
            }
        }
    }

    /// H(k) at a subsidy, for k = 1 … M−1.
    #[inline(always)]
    pub(super) fn head_value(&self, k: usize, subsidy: f64) -> f64 {
        self.values[0][k] + subsidy * self.values[1][k]
    }

    /// The adjoint of the heads' equations for the advantage of u: the discounted visits to each head, with and without a
    /// pull in u now, subtracted. Returns how strongly errors of all equations move the advantage.
    #[inline(always)]
    pub(super) fn set_inflow(&mut self, u: usize) -> f64 {
        let g = self.discount;
        let steps = g * self.run_steps[u];
        if self.states == 2 {
            let ([d0, d1], [e0, e1]) = (two(&self.head_steps), two(&self.head_link));
            let f = g * (self.belief[u] - self.run_link[u]);
            let inverse = 1.0 / self.determinant;
            self.inflow[0] = (steps * (1.0 - e1) - d1 * f) * inverse;
            self.inflow[1] = (d0 * f + e0 * steps) * inverse;
        } else {
            self.inflow[0] = steps;
            for k in 1..self.states {
                let at = (k - 1) * self.width + u;
                self.inflow[k] = g * (self.belief[at] - self.run_link[at]);
            }
            self.system.solve_rows(&mut self.inflow);
        }
        let visits: f64 = self.inflow.iter().zip(&self.head_steps).map(|(i, d)| i.abs() * d).sum();
        visits + steps + 2.0
    }

    /// How large the arm's subsidies are, while every position is active.
    #[inline(always)]
    pub(super) fn scale(&self) -> f64 {
        let largest = |numbers: &[f64]| numbers.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let positions = self.states * self.beliefs;
        let gain = self.reward[1]
            .iter()
            .zip(&self.reward[0])
            .fold(0.0f64, |most, (r1, r0)| most.max((r1 - r0).abs()));
        largest(&self.alpha[..positions]) + self.discount * largest(&self.reward[1][..positions]) + gain
    }
}

#[inline(always)]
fn two(pair: &[f64]) -> [f64; 2] {
    [pair[0], pair[1]]
}
