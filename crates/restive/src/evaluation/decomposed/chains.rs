//! One arm of labels: (I − γP^π + γ 1 μ⁰ᵀ) h = r^π along its chains, from the left and from the right.
//!
//! With J = μ⁰·h for an unknown of its own, the equation of a label l = (s, h) is
//!
//! ```text
//! h(l) = r(l) − γJ + γ (1 − π(l)) h(later l) + γ π(l) Σ_x b(l)(x) h(x, 0)
//! ```
//!
//! so that from the last label of a chain backwards every h is an affine function of 2M + 1 numbers: the u(x) = h(x, 0) that
//! pulls lead to, the z(s) = h(s, T−1) of the last labels, and J. The equations of first and last labels and J = μ⁰·h are one
//! small system, by which all others follow. The last labels are kept because at γ = 1 one that is never pulled stays for
//! ever, and its equation cannot be solved for itself; all pivots of what is eliminated are 1. So the small matrix
//! has the determinant of the large one, and is singular where that is: arms with several recurrent classes at γ = 1.
//!
//! The time y in each label solves the transposed system: the small one for first labels, last labels and w, then forwards
//! y(s, h) = γ (1 − π(s, h−1)) y(s, h−1) + w μ⁰(s, h). O(L·M + M³).

use crate::belief::Belief;
use crate::lu::{Lu, dot};

/// Memory for one arm after the other.
pub(super) struct Chains {
    m: usize,
    chain: usize,
    /// over u, z and J/T: J comes with factors up to T, and a pivot is judged by its size
    lu: Lu,
    /// h of each label, `[L]`
    pub(super) bias: Vec<f64>,
    /// y of each label, `[L]`
    pub(super) time: Vec<f64>,
    /// u, z and J/T
    kept: Vec<f64>,
    /// the coefficients of a label: of u, `[M]`
    on_first: Vec<f64>,
}

impl Chains {
    pub(super) fn new(m: usize, chain: usize) -> Self {
        let (labels, kept) = (vec![0.0; m * chain], vec![0.0; 2 * m + 1]);
        Self {
            m,
            chain,
            lu: Lu::new(2 * m + 1),
            bias: labels.clone(),
            time: labels,
            kept,
            on_first: vec![0.0; m],
        }
    }

    /// J of an arm with beliefs b `[L,M]` that earns r `[L]`, is pulled with probability π `[L]` and starts as μ⁰ `[L]`; leaves
    /// bias and time behind. None where the system is singular.
    pub(super) fn solve(&mut self, b: &[f64], r: &[f64], pull: &[f64], start: &[f64], g: f64) -> Option<f64> {
        let (m, chain, size) = (self.m, self.chain, 2 * self.m + 1);
        let scale = 1.0 / chain as f64;
        self.lu.factors.fill(0.0);
        self.kept.fill(0.0);
        self.lu.factors[size * size - 1] = scale;
        for s in 0..m {
            // h(l) = α + ρ z(s) + β·u + κ J
            let (mut alpha, mut rho, mut kappa) = (0.0, 1.0, 0.0);
            self.on_first.fill(0.0);
            let (top, total) = self.lu.factors.split_at_mut((size - 1) * size);
            for h in (0..chain).rev() {
                let l = s * chain + h;
                let (stay, go) = (g * (1.0 - pull[l]), g * pull[l]);
                let b = &b[l * m..][..m];
                if h + 1 == chain {
                    let row = &mut top[(m + s) * size..][..size];
                    row[..m].iter_mut().zip(b).for_each(|(row, b)| *row = -go * b);
                    row[m + s] = (1.0 - g) + go;
                    row[2 * m] = g * scale;
                    self.kept[m + s] = r[l];
                } else {
                    alpha = r[l] + stay * alpha;
                    rho *= stay;
                    kappa = stay * kappa - g;
                    self.on_first.iter_mut().zip(b).for_each(|(on, b)| *on = stay * *on + go * b);
                }
                let mass = start[l];
                if h == 0 && chain > 1 {
                    total[s] -= mass; // u itself
                } else if mass != 0.0 {
                    total[..m].iter_mut().zip(&self.on_first).for_each(|(row, on)| *row -= mass * on);
                    total[m + s] -= mass * rho;
                    total[2 * m] -= mass * kappa * scale;
                    self.kept[2 * m] += mass * alpha;
                }
            }
            let row = &mut top[s * size..][..size];
            row[..m].iter_mut().zip(&self.on_first).for_each(|(row, on)| *row = -on);
            row[s] += 1.0;
            row[m + s] = -rho;
            row[2 * m] = -kappa * scale;
            self.kept[s] = alpha;
        }
        if !self.lu.factor() {
            return None;
        }
        self.lu.solve_vector(&mut self.kept);
        let value = self.kept[2 * m] * scale;
        for s in 0..m {
            let mut later = self.kept[m + s];
            self.bias[(s + 1) * chain - 1] = later;
            for l in (s * chain..(s + 1) * chain - 1).rev() {
                let seen = dot(&b[l * m..][..m], &self.kept[..m]);
                later = r[l] - g * value + g * ((1.0 - pull[l]) * later + pull[l] * seen);
                self.bias[l] = later;
            }
        }
        self.kept.fill(0.0);
        self.kept[2 * m] = scale;
        self.lu.solve_rows(&mut self.kept);
        for s in 0..m {
            let mut before = self.kept[s];
            for l in s * chain..(s + 1) * chain - 1 {
                if l > s * chain {
                    before = g * (1.0 - pull[l - 1]) * before + self.kept[2 * m] * start[l];
                }
                self.time[l] = before;
            }
            self.time[(s + 1) * chain - 1] = self.kept[m + s];
        }
        Some(value)
    }

    /// (P₁ − P₀)(l)·h
    pub(super) fn gap(&self, b: &[f64], l: usize) -> f64 {
        let seen = b[l * self.m..][..self.m].iter().zip(self.bias.iter().step_by(self.chain));
        seen.map(|(b, h)| b * h).sum::<f64>() - self.bias[Belief::later(l, self.chain)]
    }
}
