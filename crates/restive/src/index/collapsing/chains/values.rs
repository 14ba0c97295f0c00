//! The values of the heads, the advantages of all positions, and how errors move them.
//!
//! Letters are those of the parent module.

use super::{Chains, FLAT, LANES};

impl Chains {
    /// G and H from D_s·G + H_s − E_s·H = A_s + m·C_s.
    #[inline(always)]
    pub(super) fn solve(&mut self) -> bool {
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

    /// Adv = Δ − m + γ(b·H − h) of some positions, where h is the value of the run after the position.
    #[inline(always)]
    pub(super) fn refresh(&mut self, from: usize, to: usize) {
        let (g, length) = (self.discount, to - from);
        let [u, w] = &self.values;
        let (u_gain, w_gain) = (g * u[0], g * w[0]);
        let (alpha, beta) = (&mut self.alpha[from..to], &mut self.beta[from..to]);
        let (offset, steps, rest) = (&self.offset[from..to], &self.steps[from..to], &self.rest[from..to]);
        for i in 0..length {
            alpha[i] = offset[i] + steps[i] * u_gain;
            beta[i] = rest[i] - steps[i] * w_gain;
        }
        for (k, link) in self.link.chunks_exact(self.width).enumerate() {
            let (u_head, w_head) = (g * u[k + 1], g * w[k + 1]);
            for ((alpha, beta), link) in alpha.iter_mut().zip(&mut *beta).zip(&link[from..to]) {
                *alpha += link * u_head;
                *beta -= link * w_head;
            }
        }
        let (action, crossing) = (&self.action[from..to], &mut self.crossing[from..to]);
        let mut flattest = f64::INFINITY;
        for i in 0..length {
            let (at, slope) = (alpha[i] / beta[i], action[i] * beta[i]);
            crossing[i] = if slope > FLAT { at } else { f64::INFINITY };
        }
        let mut smallest = [f64::INFINITY; LANES];
        let lanes = beta.chunks_exact(LANES);
        for beta in lanes.remainder() {
            flattest = if beta.abs() < flattest { beta.abs() } else { flattest };
        }
        for beta in lanes {
            for l in 0..LANES {
                smallest[l] = if beta[l].abs() < smallest[l] { beta[l].abs() } else { smallest[l] };
            }
        }
        flattest = smallest.iter().fold(flattest, |least, x| least.min(*x));
        self.has_flat |= flattest <= FLAT;
    }

    /// H(k) at a subsidy, for k = 1 … M−1.
    #[inline(always)]
    pub(in crate::index::collapsing) fn head_value(&self, k: usize, subsidy: f64) -> f64 {
        self.values[0][k] + subsidy * self.values[1][k]
    }

    /// The adjoint of the heads' equations for the advantage of u: the discounted visits to each head, with and without a
    /// pull in u now, subtracted. Returns how strongly errors of all equations move the advantage.
    #[inline(always)]
    pub(in crate::index::collapsing) fn set_inflow(&mut self, u: usize) -> f64 {
        let g = self.discount;
        let steps = g * self.steps[u];
        if self.states == 2 {
            let ([d0, d1], [e0, e1]) = (two(&self.head_steps), two(&self.head_link));
            let (f, inverse) = (g * self.link[u], 1.0 / self.determinant);
            self.inflow[0] = (steps * (1.0 - e1) - d1 * f) * inverse;
            self.inflow[1] = (d0 * f + e0 * steps) * inverse;
        } else {
            self.inflow[0] = steps;
            for k in 1..self.states {
                self.inflow[k] = g * self.link[(k - 1) * self.width + u];
            }
            self.system.solve_rows(&mut self.inflow);
        }
        let visits: f64 = self.inflow.iter().zip(&self.head_steps).map(|(i, d)| i.abs() * d).sum();
        visits + steps + 2.0
    }

    /// How large the arm's subsidies are, while every position is active.
    #[inline(always)]
    pub(in crate::index::collapsing) fn scale(&self) -> f64 {
        let positions = self.states * self.beliefs;
        let largest = |numbers: &[f64]| numbers[..positions].iter().fold(0.0f64, |most, x| most.max(x.abs()));
        largest(&self.alpha) + self.discount * largest(&self.reward[1]) + largest(&self.gain)
    }
}

#[inline(always)]
fn two(pair: &[f64]) -> [f64; 2] {
    [pair[0], pair[1]]
}
