//! Newton's method with step halving on a convex objective: the rules of the walk, whoever sums over the arms.
//!
//! A step is halved until the objective does not grow. To begin with it is cut so that no logit changes by more than 10: the curvature of
//! where one stands says nothing of places further away, and arms that a long step takes to the wrong side come back slowly. The fit has
//! converged when the largest derivative, per observed transition, is below 10⁻¹⁰ and the last step was short (10⁻⁶): the distance
//! that is left is of the order of its square. A *rough* fit, of which only the size of the weights is asked, ends at 10⁻⁷.

use super::fit::FitStatus;

/// Largest derivative per observed transition of a fit that has converged.
const CONVERGED: f64 = 1e-10;
/// And of a rough one.
const ROUGH: f64 = 1e-7;
/// Largest last step of such a fit, against the size of the parameter.
const SHORT: f64 = 1e-6;
const MOST_STEPS: usize = 100;
/// Largest change of a logit in one step.
const REACH: f64 = 10.0;
/// A step of which less is left leads nowhere.
const LEAST: f64 = 1e-10;

/// How far a walk has come.
pub(super) struct Course {
    /// the largest derivative per observed transition: now, and at first
    pub gradient: f64,
    first: f64,
    pub steps: usize,
    was_short: bool,
    is_rough: bool,
    /// once it has ended
    pub status: Option<FitStatus>,
}

impl Course {
    /// From where the objective has this slope.
    pub(super) fn new(is_rough: bool, slope: &[f64], observed: f64) -> Self {
        let mut course =
            Self { gradient: 0.0, first: 0.0, steps: 0, was_short: false, is_rough, status: None };
        course.look(slope, observed);
        course.first = course.gradient;
        course
    }

    /// A step was made to where the objective has this slope.
    pub(super) fn arrive(&mut self, was_short: bool, slope: &[f64], observed: f64) {
        self.was_short = was_short;
        self.steps += 1;
        self.look(slope, observed);
    }

    /// Whether this is the end.
    fn look(&mut self, slope: &[f64], observed: f64) {
        self.gradient =
            slope.iter().fold(0.0, |a: f64, g| if g.is_nan() { *g } else { a.max(g.abs()) }) / observed;
        let is_over = self.is_flat() && self.was_short
            || self.is_rough && self.gradient <= ROUGH
            || self.steps == MOST_STEPS
            || slope.is_empty()
            || self.gradient.is_nan();
        if is_over {
            self.end();
        }
    }

    fn is_flat(&self) -> bool {
        self.gradient <= CONVERGED
    }

    /// Where no step leads any further.
    pub(super) fn end(&mut self) {
        let status = if self.is_flat() { FitStatus::Converged } else { FitStatus::NotConverged };
        self.status = Some(status);
    }

    /// Where there is no step.
    pub(super) fn give_up(&mut self) {
        self.status = Some(FitStatus::NotConverged);
    }

    /// How far it has come, from 0 to 1: in orders of magnitude of the largest derivative.
    pub(super) fn share(&self) -> f64 {
        let way = |from: f64| (from / CONVERGED).ln();
        match self.status {
            Some(_) => 1.0,
            None if self.first <= CONVERGED => 0.0,
            None => (1.0 - way(self.gradient) / way(self.first)).clamp(0.0, 0.99),
        }
    }
}

/// Whether a step is short, against the parameters that it is made from.
pub(super) fn is_short(step: &[f64], params: &[f64]) -> bool {
    step.iter().zip(params).all(|(d, x)| d.abs() <= SHORT * (1.0 + x.abs()))
}

/// The parameters after some share of a step.
pub(super) fn moved(params: &[f64], step: &[f64], share: f64) -> Vec<f64> {
    params.iter().zip(step).map(|(x, d)| x - share * d).collect()
}

/// How much of a step may be made that changes a logit by so much, at most.
pub(super) fn within_reach(largest_change: f64) -> f64 {
    (REACH / largest_change).min(1.0)
}

/// Half a share, while there is anything to be had.
pub(super) fn halved(share: f64) -> Option<f64> {
    let half = share * 0.5;
    (half >= LEAST).then_some(half)
}

/// Whether the objective does not grow from here to there; near the minimum it stands still to rounding.
pub(super) fn is_downhill(here: f64, there: f64) -> bool {
    there <= here + 1e-13 * here.abs()
}
