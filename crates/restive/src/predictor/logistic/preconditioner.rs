//! A matrix that is like the Hessian and easy to solve with.
//!
//! Were no next state the reference, a row with n moves would have the curvature n·(diag P − P·Pᵀ) over all M logits, and but for
//! the direction in which all logits grow alike, which changes nothing, that is diag(n·P) seen through differences between next
//! states. So each next state is taken by itself, with the weights n·P_j, and log-odds are differences of what comes out:
//! M⁻¹ = E·diag(K_0⁻¹, …, K_{M−1}⁻¹)·Eᵀ, where E takes logit 0 from the others and K_j = Xᵀ·diag(n·P_j)·X + 2ρ. Where all arms move
//! alike that is the exact inverse. K_j is cut into blocks of neighbouring columns, and shifts, which meet what they are added to at
//! pulls, are taken apart from it, but for the levels of the effect model; the iterations make up for both.

use super::problem::{Point, Problem};
use crate::cholesky::Cholesky;
use ndarray::Array2;
use rayon::prelude::*;
use std::ops::Range;

/// Columns of a block, at most.
const WIDEST: usize = 128;
/// Numbers in all blocks together, about at most: 512 MB.
const MEMORY: usize = 1 << 26;

/// Columns of a block of the preconditioner.
pub(super) fn block_width(columns: usize, states: usize) -> usize {
    (MEMORY / (states * (2 * states + 1) * columns)).clamp(1, WIDEST)
}

/// Cholesky factors of each block of columns, of each state and of what they share, and of each next state.
pub(super) struct Preconditioner {
    blocks: Vec<Block>,
}

struct Block {
    columns: Range<usize>,
    role: Role,
    /// of each next state; with the level behind the columns where the intercept is among them
    factors: Vec<Cholesky>,
}

/// What a block of columns explains.
#[derive(Clone, Copy)]
enum Role {
    /// the moves from a state
    Passive(usize),
    /// the shift of all states
    Common,
    /// the shift of a state
    Own(usize),
}

impl Preconditioner {
    /// Nothing where a block is not positive definite.
    pub(super) fn new(problem: &Problem, point: &Point) -> Option<Self> {
        let (m, columns) = (problem.layout.states, problem.columns.len());
        let width = block_width(columns, m);
        let mut kinds = Vec::new();
        for first in (0..columns).step_by(width) {
            let end = (first + width).min(columns);
            kinds.extend((0..m).map(|s| (first..end, Role::Passive(s))));
            if problem.layout.is_by_state {
                kinds.push((first..end, Role::Common));
                kinds.extend((0..m).map(|s| (first..end, Role::Own(s))));
            } else {
                kinds.push((first.max(1)..end, Role::Common)); // the intercept's shifts are the levels
            }
        }
        kinds.retain(|(columns, _)| !columns.is_empty());
        let factor = |(columns, role): (Range<usize>, Role)| {
            let factors = (0..m).map(|next| factor(problem, point, &columns, role, next));
            Some(Block { factors: factors.collect::<Option<_>>()?, columns, role })
        };
        let blocks = kinds.into_par_iter().map(factor).collect::<Option<_>>()?;
        Some(Self { blocks })
    }

    /// M⁻¹·g, in the layout of the problem.
    pub(super) fn solve(&self, problem: &Problem, g: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; g.len()];
        let solved: Vec<Vec<f64>> = self.blocks.par_iter().map(|block| block.solve(problem, g)).collect();
        for (block, solved) in self.blocks.iter().zip(solved) {
            let q = problem.layout.odds();
            for (start, x) in block.stretches(problem).zip(solved.chunks_exact(q.max(1))) {
                out[start..start + q].copy_from_slice(x);
            }
        }
        out
    }
}

impl Block {
    /// Where the log-odds of each column lie, and of the level.
    fn stretches(&self, problem: &Problem) -> impl Iterator<Item = usize> {
        let (m, q, width) = (problem.layout.states, problem.layout.odds(), problem.layout.width());
        let group = match self.role {
            Role::Passive(s) => s,
            Role::Common => m,
            Role::Own(s) => m + 1 + s,
        };
        let level = self.role.level(problem, &self.columns).map(|s| problem.layout.own(0, s, 0));
        self.columns.clone().map(move |g| g * width + group * q).chain(level)
    }

    /// Stretch by stretch.
    fn solve(&self, problem: &Problem, g: &[f64]) -> Vec<f64> {
        let q = problem.layout.odds();
        let mut out = vec![0.0; q * self.stretches(problem).count()];
        // the derivatives by all M logits of a stretch sum to nothing
        let mut first: Vec<f64> =
            self.stretches(problem).map(|start| -g[start..start + q].iter().sum::<f64>()).collect();
        self.factors[0].solve(&mut first);
        let mut x = Vec::new();
        for k in 0..q {
            x.clear();
            x.extend(self.stretches(problem).map(|start| g[start + k]));
            self.factors[k + 1].solve(&mut x);
            (0..x.len()).for_each(|at| out[at * q + k] = x[at] - first[at]);
        }
        out
    }
}

impl Role {
    /// The state whose level belongs to these columns: of the effect model, and where the intercept is among them.
    fn level(self, problem: &Problem, columns: &Range<usize>) -> Option<usize> {
        match self {
            Role::Passive(s) if columns.start == 0 && !problem.layout.is_by_state => Some(s),
            _ => None,
        }
    }
}

/// L of K_j over some columns, with the level where it belongs to them.
fn factor(
    problem: &Problem,
    point: &Point,
    columns: &Range<usize>,
    role: Role,
    next: usize,
) -> Option<Cholesky> {
    let (m, width, ridge) = (problem.layout.states, columns.len(), &problem.ridge);
    let with_level = role.level(problem, columns);
    let mut gram = Array2::<f64>::zeros((width, width));
    // pulls alone, by the intercept: the level's row
    let mut level = vec![0.0; width + 1];
    for (part, p) in problem.parts.iter().zip(&point.p) {
        let weight = |i: usize, row: usize| part.totals[[i, row]] * p[[i, row * m + next]];
        let arms = 0..part.design.arms();
        let weights: Vec<f64> = match role {
            Role::Passive(s) => arms.clone().map(|i| weight(i, 2 * s) + weight(i, 2 * s + 1)).collect(),
            Role::Common => arms.clone().map(|i| (0..m).map(|s| weight(i, 2 * s + 1)).sum()).collect(),
            Role::Own(s) => arms.clone().map(|i| weight(i, 2 * s + 1)).collect(),
        };
        part.design.add_gram(columns, &weights, &mut gram);
        if let Some(s) = with_level {
            let active: Vec<f64> = arms.map(|i| weight(i, 2 * s + 1)).collect();
            let d = Array2::from_shape_vec((active.len(), 1), active).expect("its length");
            let moments = part.design.transposed_times(d.view(), problem.columns.len());
            (0..width).for_each(|g| level[g] += moments[[g, 0]]);
            level[width] += d.sum();
        }
    }
    let size = width + usize::from(with_level.is_some());
    let mut k = Array2::from_shape_fn((size, size), |(g, h)| {
        if g == width {
            level[h]
        } else if h < width {
            gram[[g, h]]
        } else {
            0.0
        }
    });
    for g in 0..size {
        let rho = match role {
            _ if g == width => ridge.own(0),
            Role::Passive(_) => ridge.passive(columns.start + g),
            Role::Common => ridge.common(columns.start + g),
            Role::Own(_) => ridge.own(columns.start + g),
        };
        k[[g, g]] += 2.0 * rho;
    }
    Cholesky::new(k)
}
