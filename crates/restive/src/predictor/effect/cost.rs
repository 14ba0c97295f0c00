//! What a fit costs, counted before it is made: floating-point operations of Newton's steps, by either road.
//!
//! With N arms, D dense columns and L listed numbers among F + 1, M states, q = M − 1 and b = (F + 2)·q:
//!
//! - exactly, a step makes M·q·(q + 1) Gram matrices of N·D² + … each and solves with M blocks, 2M·b³;
//! - by conjugate gradients it makes M·(M + 1) Gram matrices of blocks, and some tens of products with X and Xᵀ. These wait for
//!   memory: their operations count five times.
//!
//! The exact road is taken where it is the cheaper one, or cheap.

use super::design::Columns;
use super::preconditioner::block_width;
use super::problem::Problem;
use super::{GRID, Precision};
use ndarray::ArrayView2;

/// Steps of a fit, and conjugate gradients of a step, as they usually are.
const STEPS: f64 = 12.0;
const ITERATIONS: f64 = 40.0;
/// What an operation of a product with X costs beside one of a Gram matrix.
const SLOW: f64 = 5.0;
/// Operations of a step that nobody waits for.
const CHEAP: f64 = 1e9;

/// How the steps are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Road {
    Exact,
    Iterative,
}

/// What the cost of a fit depends on.
pub(super) struct Size {
    arms: f64,
    columns: usize,
    dense: f64,
    listed: f64,
    states: usize,
}

impl Size {
    pub(super) fn of_problem(problem: &Problem) -> Self {
        let arms = problem.parts.iter().map(|part| part.design.arms()).sum();
        Self::new(&problem.columns, arms, problem.states)
    }

    fn new(columns: &Columns, arms: usize, states: usize) -> Self {
        let listed = columns.listed as f64 / arms.max(1) as f64;
        Self { arms: arms as f64, columns: columns.len(), dense: columns.dense as f64, listed, states }
    }

    /// The cheaper road.
    pub(super) fn road(&self) -> Road {
        let exact = self.exact();
        if exact <= CHEAP || exact <= self.iterative() { Road::Exact } else { Road::Iterative }
    }

    fn exact(&self) -> f64 {
        let (m, q) = (self.states as f64, self.states as f64 - 1.0);
        let gram = self.arms * (self.dense + self.listed).powi(2);
        let block = (self.columns as f64 + 1.0) * q;
        2.0 * m * q * (q + 1.0) / 2.0 * 2.0 * gram + 2.0 * m * block.powi(3)
    }

    fn iterative(&self) -> f64 {
        let m = self.states as f64;
        let width = block_width(self.columns, self.states) as f64;
        let filled = self.dense + self.listed;
        let gram = self.arms * filled * filled.min(width) + self.columns as f64 * width.powi(2) / 3.0;
        let product = self.arms * (4.0 * filled * (m + 1.0) * (m - 1.0) + 16.0 * m * m);
        let solve = 2.0 * m * (m + 1.0) * self.columns as f64 * width.min(self.columns as f64);
        2.0 * m * (m + 1.0) * gram + ITERATIONS * SLOW * (product + solve)
    }
}

/// About how many floating-point operations, as fast as those of a product of matrices, a fit to arms with these features `[N,F]` and so many states takes.
pub fn operations(features: ArrayView2<'_, f64>, states: usize, precision: Precision) -> f64 {
    let size = Size::new(&Columns::new(features), features.nrows(), states);
    let step = match size.road() {
        Road::Exact => size.exact(),
        Road::Iterative => size.iterative(),
    };
    let fits = match precision {
        Precision::Fixed(_) => 1.0,
        Precision::HeldOut { .. } => GRID.len() as f64,
    };
    fits * STEPS * step
}
