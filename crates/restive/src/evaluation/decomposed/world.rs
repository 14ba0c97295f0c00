//! The way back from a decomposed value to the world it is earned in: transitions, rewards, start, discount, budget, charge and occupancy.
//!
//! With h and y of the parent module (y sums to 1), π and J,
//!
//! ```text
//! dJ/dR(s, 1) = y π     dJ/dR(s, 0) = y (1 − π)     dJ/dP_a(s,·) = γ y π_a h     dJ/dλ = −y·π
//! dJ/dμ⁰ = (1 − γ) h + γ J                          dJ/dγ = y·(P^π h) − J
//! ```
//!
//! and occupancy and budget move the threshold, as in [`Crowd`](crate::policy::soft_top_k::Crowd). Training holds all of these, and asks for
//! [`Decomposed::pullback`] alone; here every arm is solved again. O(N M³).

use super::{CHUNK, Decomposed};
use crate::belief::Motion;
use crate::evaluation::MeanField;
use crate::interrupt;
use crate::lu::{Lu, dot};
use ndarray::{Array2, Array3, Array4};
use rayon::prelude::*;

/// What a cotangent of a decomposed value becomes on all its inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct WorldCotangent {
    /// `[N,M]`
    pub d_index: Array2<f64>,
    /// by the temperature e
    pub d_temperature: f64,
    /// `[N,M,2,M]`; rows sum to zero
    pub d_transition: Array4<f64>,
    /// `[N,M,2]`: where rewards are shared, sum over the arms
    pub d_reward: Array3<f64>,
    /// `[N,M]`
    pub d_initial: Array2<f64>,
    /// by the discount γ
    pub d_discount: f64,
    /// by the budget K
    pub d_budget: f64,
    /// by the charge λ
    pub d_charge: f64,
    /// `[N,M]`: by the occupancy μ
    pub d_mass: Array2<f64>,
}

impl Decomposed<'_> {
    /// What a cotangent of the value becomes on everything it was computed from; `field` is what it was computed with, of
    /// transitions. NaN for arms with several recurrent classes at γ = 1, as their value.
    pub fn pullback_to_world(&self, field: &MeanField<'_>, d_value: f64) -> WorldCotangent {
        let &MeanField { motion, reward, initial, discount: g, budget } = field;
        let Motion::Rows(transition) = motion else {
            panic!("motion: transitions [N,M,2,M]; beliefs have no cotangent")
        };
        let (n, m) = self.pull.dim();
        assert_eq!((motion.arms(), motion.states(), initial.dim()), (n, m, (n, m)), "field: as it was");
        let mut d_index = Array2::zeros((n, m));
        let d_pull: Vec<f64> = self.advantage.iter().map(|a| d_value * a).collect();
        let pulls = self.pull.as_slice().expect("standard layout");
        let mass = self.relaxation.mass.as_slice().expect("standard layout");
        let d_scores = d_index.as_slice_mut().expect("standard layout");
        let crowd = self.crowd.pullback_into(&self.solved, mass, pulls, &d_pull, d_scores);
        let charge = self.relaxation.charge;
        // beyond 0 and N a budget buys nothing, and is not charged
        let is_charged = (0.0..=n as f64).contains(&budget);
        let mut d = WorldCotangent {
            d_index,
            d_temperature: crowd.d_temperature,
            d_transition: Array4::zeros((n, m, 2, m)),
            d_reward: Array3::zeros((n, m, 2)),
            d_initial: Array2::zeros((n, m)),
            d_discount: 0.0,
            d_budget: crowd.d_budget + if is_charged { d_value * charge } else { 0.0 },
            d_charge: d_value * budget.clamp(0.0, n as f64),
            d_mass: self.pull.mapv(|pull| -pull * crowd.d_budget),
        };
        let (rows, start) = (transition.as_standard_layout(), initial.as_standard_layout());
        let p = rows.as_slice().expect("row-major").par_chunks(CHUNK * 2 * m * m);
        let start = start.as_slice().expect("row-major").par_chunks(CHUNK * m);
        let outputs = (d.d_transition.as_slice_mut().expect("row-major").par_chunks_mut(CHUNK * 2 * m * m))
            .zip(d.d_reward.as_slice_mut().expect("row-major").par_chunks_mut(CHUNK * 2 * m))
            .zip(d.d_initial.as_slice_mut().expect("row-major").par_chunks_mut(CHUNK * m));
        let chunks = p.zip(start).zip(pulls.par_chunks(CHUNK * m)).zip(outputs).enumerate();
        let sums: Vec<[f64; 2]> = chunks
            .map(|(chunk, (((p, start), pull), ((d_p, d_r), d_start)))| {
                interrupt::check();
                let mut solver = Solver { lu: Lu::new(m), h: vec![0.0; m], y: vec![0.0; m], charge, g };
                let mut sums = [0.0; 2];
                for i in 0..start.len() / m {
                    let own = |size: usize| i * size..(i + 1) * size;
                    let arm = solver.arm(
                        &p[own(2 * m * m)],
                        reward.arm(chunk * CHUNK + i),
                        &start[own(m)],
                        &pull[own(m)],
                        d_value,
                        (&mut d_p[own(2 * m * m)], &mut d_r[own(2 * m)], &mut d_start[own(m)]),
                    );
                    sums.iter_mut().zip(arm).for_each(|(sum, x)| *sum += x);
                }
                sums
            })
            .collect();
        for [d_discount, d_charge] in sums {
            d.d_discount += d_discount;
            d.d_charge += d_charge;
        }
        d
    }
}

/// One thread's memory, and what all arms share.
struct Solver {
    lu: Lu,
    h: Vec<f64>,
    y: Vec<f64>,
    charge: f64,
    g: f64,
}

impl Solver {
    /// Writes the cotangents of transitions, rewards and start of one arm; returns those of discount and charge.
    fn arm(
        &mut self,
        p: &[f64],
        r: &[f64],
        start: &[f64],
        pull: &[f64],
        d_value: f64,
        (d_p, d_r, d_start): (&mut [f64], &mut [f64], &mut [f64]),
    ) -> [f64; 2] {
        let (m, g) = (start.len(), self.g);
        for s in 0..m {
            let (passive, active) = p[2 * s * m..2 * (s + 1) * m].split_at(m);
            let row = &mut self.lu.factors[s * m..(s + 1) * m];
            for to in 0..m {
                row[to] = g * (start[to] - passive[to] - pull[s] * (active[to] - passive[to]));
            }
            row[s] += 1.0;
            self.h[s] = r[2 * s] + pull[s] * (r[2 * s + 1] - self.charge - r[2 * s]);
        }
        if !self.lu.factor() {
            [d_p, d_r, d_start].into_iter().for_each(|d| d.fill(f64::NAN));
            return [f64::NAN; 2];
        }
        self.lu.solve_vector(&mut self.h);
        self.y.copy_from_slice(start);
        self.lu.solve_rows(&mut self.y);
        let value = dot(start, &self.h);
        let mean = self.h.iter().sum::<f64>() / m as f64;
        let (mut d_discount, mut d_charge) = (-value, 0.0);
        for s in 0..m {
            for (a, share) in [(0, 1.0 - pull[s]), (1, pull[s])] {
                let weight = self.y[s] * share;
                let (row, d_row) = (&p[(2 * s + a) * m..][..m], &mut d_p[(2 * s + a) * m..][..m]);
                d_discount += weight * dot(row, &self.h);
                d_r[2 * s + a] = d_value * weight;
                d_row.iter_mut().zip(&self.h).for_each(|(d, h)| *d = d_value * g * weight * (h - mean));
            }
            d_charge -= self.y[s] * pull[s];
            d_start[s] = d_value * ((1.0 - g) * self.h[s] + g * value);
        }
        [d_value * d_discount, d_value * d_charge]
    }
}
