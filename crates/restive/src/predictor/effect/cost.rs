//! What a fit costs, counted before it is made: floating-point operations of Newton's steps, by either road.
//!
//! With N arms, D dense columns and L listed numbers among F + 1, M states, q = M − 1 and b = (F + 2)·q:
//!
//! - exactly, a step makes M·q·(q + 1) Gram matrices, of N·D·(D + a few) operations each where nothing is listed, and solves with M
//!   blocks, 2M·b³;
//! - by conjugate gradients it makes M·(M + 1) Gram matrices of blocks, and some tens of products with X, Xᵀ and the blocks.
//!
//! The unit is an operation of a product of matrices; those that wait for memory count five times. The exact road is taken where it
//! is the cheaper one, or cheap.

use super::design::Columns;
use super::preconditioner::block_width;
use super::problem::Problem;
use super::{GRID, Precision};
use ndarray::ArrayView2;

/// Steps of a fit, and conjugate gradients of a step: as they usually are, and where there are more parameters than moves, so
/// that little but the penalty holds them.
const STEPS: [f64; 2] = [12.0, 40.0];
const ITERATIONS: [f64; 2] = [40.0, 400.0];
/// What an operation that waits for memory costs.
const SLOW: f64 = 5.0;
/// What weighing a number of a Gram matrix costs.
const WEIGHING: f64 = 30.0;
/// Operations of a step that nobody waits for.
const CHEAP: f64 = 2e9;

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
        if exact <= CHEAP || exact <= self.iterative(ITERATIONS[0]) { Road::Exact } else { Road::Iterative }
    }

    /// Of one Gram matrix of at most so many columns.
    fn gram(&self, width: f64) -> f64 {
        let filled = self.dense + self.listed;
        2.0 * self.arms * filled * (filled.min(width) + WEIGHING)
    }

    fn exact(&self) -> f64 {
        let m = self.states as f64;
        let block = (self.columns as f64 + 1.0) * (m - 1.0);
        m * (m - 1.0) * m * self.gram(f64::INFINITY) + 2.0 * m * block.powi(3)
    }

    fn iterative(&self, iterations: f64) -> f64 {
        let m = self.states as f64;
        let columns = self.columns as f64;
        let width = columns.min(block_width(self.columns, self.states) as f64);
        let factors = m * (m + 1.0) * (self.gram(width) + columns * width.powi(2) / 3.0);
        let filled = self.dense + SLOW * self.listed;
        let product = self.arms * (4.0 * filled * (m + 1.0) * (m - 1.0) + SLOW * 16.0 * m * m);
        let solve = SLOW * 2.0 * m * (m + 1.0) * columns * width;
        factors + iterations * (product + solve)
    }
}

/// About how many floating-point operations, each as fast as in a product of matrices, a fit takes: to arms with these features
/// `[N,F]` and so many states, of which so many moves were seen.
pub fn operations(features: ArrayView2<'_, f64>, states: usize, moves: f64, precision: Precision) -> f64 {
    let size = Size::new(&Columns::new(features), features.nrows(), states);
    let params = (size.columns * states * (states - 1)) as f64;
    let is_loose = usize::from(params > moves);
    let step = match size.road() {
        Road::Exact => size.exact(),
        Road::Iterative => size.iterative(ITERATIONS[is_loose]),
    };
    let fits = match precision {
        Precision::Fixed(_) => 1.0,
        Precision::HeldOut { .. } => GRID.len() as f64,
    };
    fits * STEPS[is_loose] * step
}
