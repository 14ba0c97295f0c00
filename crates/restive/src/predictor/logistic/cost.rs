//! What a fit costs, counted before it is made: floating-point operations of Newton's steps, by either road.
//!
//! With N arms, D dense columns and L listed numbers among F + 1, M states, q = M − 1 and b = (F + 2)·q, or 2·(F + 1)·q of the
//! hierarchical model:
//!
//! - exactly, a step makes M·q·(q + 1) Gram matrices, of N·D·(D + a few) operations each where nothing is listed, and solves with M
//!   blocks, 2M·b³;
//! - by conjugate gradients it makes M·(M + 1) Gram matrices of blocks, and some tens of products with X, Xᵀ and the blocks.
//!
//! The unit is an operation of a product of matrices; those that wait for memory count five times. The exact road is taken where it
//! is the cheaper one, or cheap.

use super::design::Columns;
use super::evidence;
use super::preconditioner::block_width;
use super::problem::Problem;
use super::{Form, GRID, Penalties, Precision};
use crate::error::{Error, Result};
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

/// Operations of a solve at which a fit in pieces refuses: ten seconds or so.
const LARGEST: f64 = 2e10;

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
    is_by_state: bool,
}

impl Size {
    pub(super) fn of_problem(problem: &Problem) -> Self {
        let arms = problem.parts.iter().map(|part| part.design.arms()).sum();
        Self::new(&problem.columns, arms, problem.layout.states, problem.layout.is_by_state)
    }

    fn new(columns: &Columns, arms: usize, states: usize, is_by_state: bool) -> Self {
        let listed = columns.listed as f64 / arms.max(1) as f64;
        let dense = columns.dense as f64;
        Self { arms: arms as f64, columns: columns.len(), dense, listed, states, is_by_state }
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

    /// Of a Newton step, or of the diagonal of the inverse.
    pub(super) fn exact(&self) -> f64 {
        let m = self.states as f64;
        let own = if self.is_by_state { self.columns as f64 } else { 1.0 };
        let block = (self.columns as f64 + own) * (m - 1.0);
        m * (m - 1.0) * m * self.gram(f64::INFINITY) + 2.0 * m * block.powi(3)
    }

    fn iterative(&self, iterations: f64) -> f64 {
        let m = self.states as f64;
        let columns = self.columns as f64;
        let width = columns.min(block_width(self.columns, self.states) as f64);
        let roles = if self.is_by_state { 2.0 * m + 1.0 } else { m + 1.0 };
        let factors = m * roles * (self.gram(width) + columns * width.powi(2) / 3.0);
        let filled = self.dense + SLOW * self.listed;
        let product = self.arms * (4.0 * filled * roles * (m - 1.0) + SLOW * 16.0 * m * m);
        let solve = SLOW * 2.0 * m * roles * columns * width;
        factors + iterations * (product + solve)
    }
}

/// An error where the blocks of the Hessian would be too large to solve with in every step.
pub(super) fn check_direct(features: usize, states: usize, form: Form) -> Result<()> {
    let (m, columns) = (states as f64, features as f64 + 1.0);
    let own = if matches!(form, Form::Hierarchical(_)) { columns } else { 1.0 };
    let block = (columns + own) * (m - 1.0);
    if 2.0 * m * block.powi(3) <= LARGEST {
        return Ok(());
    }
    let found = format!("{features} encoded features and {states} states, blocks of {block:.0} numbers");
    let largest = (LARGEST / (2.0 * m)).cbrt();
    let expected = format!("blocks of at most {largest:.0} numbers where arms pass by in pieces");
    Err(Error::Unsuitable { what: "sizes of the fit", found, expected })
}

/// About how many floating-point operations, each as fast as in a product of matrices, a fit takes: to arms with these features
/// `[N,F]` and so many states, of which so many moves were seen.
pub fn operations(features: ArrayView2<'_, f64>, states: usize, moves: f64, form: impl Into<Form>) -> f64 {
    let form = form.into();
    let is_by_state = matches!(form, Form::Hierarchical(_));
    let size = Size::new(&Columns::new(features), features.nrows(), states, is_by_state);
    let params = (size.columns * states * (states - 1)) as f64;
    let is_loose = usize::from(params > moves);
    let step = match size.road() {
        Road::Exact => size.exact(),
        Road::Iterative => size.iterative(ITERATIONS[is_loose]),
    };
    let steps = match form {
        Form::Effect(Precision::HeldOut { .. }) => GRID.len() as f64 * STEPS[is_loose],
        Form::Hierarchical(Penalties::Evidence) => STEPS[is_loose] + evidence::USUAL_ROUNDS * 4.0,
        Form::Effect(Precision::Fixed(_)) | Form::Hierarchical(Penalties::Fixed(_)) => STEPS[is_loose],
    };
    steps * step
}
