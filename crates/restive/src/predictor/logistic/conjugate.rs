//! Newton's step without the Hessian: conjugate gradients, for problems whose [blocks](super::arrow) would be too large.
//!
//! Each iteration multiplies by the Hessian once, at the cost of a gradient. How many are needed depends on how well a simpler
//! matrix, the [preconditioner](Preconditioner), stands for the Hessian. The iterations end when the residual r, measured by
//! √(rᵀ·M⁻¹·r), is a small share of what it was. What is then left is in proportion to the step, so that a short last step leaves
//! as little as an exact one would, even along directions that only the penalty of 10⁻⁶ bends; far from the minimum, where an exact step would not lead there either, a rough one is made.

use super::preconditioner::Preconditioner;
use super::problem::{Point, Problem};

/// Share of the residual that is left: of a step that may be the last, and of one with more than a nat to gain.
const EXACT: f64 = 1e-11;
const ROUGH: f64 = 1e-2;
/// Iterations of a step, at most; a step that is cut short still leads downhill.
const MOST: usize = 2000;

/// A system H·x = g, half solved.
pub(super) struct Conjugate {
    preconditioner: Preconditioner,
    x: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    /// rᵀ·M⁻¹·r, and where it is small enough
    size: f64,
    small: f64,
    iterations: usize,
}

impl Conjugate {
    /// At x = 0; nothing where the preconditioner is not positive definite.
    pub(super) fn new(problem: &Problem, point: &Point, slope: &[f64]) -> Option<Self> {
        let preconditioner = Preconditioner::new(problem, point)?;
        let direction = preconditioner.solve(problem, slope);
        let size = dot(slope, &direction);
        let share: f64 = if size > 1.0 { ROUGH } else { EXACT };
        let (x, residual) = (vec![0.0; slope.len()], slope.to_vec());
        Some(Self {
            preconditioner,
            x,
            residual,
            direction,
            size,
            small: size * share * share,
            iterations: 0,
        })
    }

    /// Goes on by at most so many iterations; whether that was the end of it.
    pub(super) fn advance(&mut self, problem: &Problem, point: &Point, iterations: usize) -> bool {
        for _ in 0..iterations {
            if self.is_done() {
                break;
            }
            let bent = problem.curvature_times(point, &self.direction);
            let along = self.size / dot(&self.direction, &bent);
            if !along.is_finite() {
                self.iterations = MOST;
                break;
            }
            add(&mut self.x, along, &self.direction);
            add(&mut self.residual, -along, &bent);
            let next = self.preconditioner.solve(problem, &self.residual);
            let size = dot(&self.residual, &next);
            let kept = size / self.size;
            self.direction.iter_mut().zip(&next).for_each(|(d, z)| *d = z + kept * *d);
            self.size = size;
            self.iterations += 1;
        }
        self.is_done()
    }

    fn is_done(&self) -> bool {
        !(self.size > self.small) || self.iterations >= MOST
    }

    /// x
    pub(super) fn finish(self) -> Vec<f64> {
        self.x
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn add(x: &mut [f64], share: f64, y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += share * y);
}
