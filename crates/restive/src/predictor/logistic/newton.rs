//! Newton's method with step halving on a convex objective.
//!
//! A step solves H·x = gradient, [exactly](super::arrow) or by [conjugate gradients](super::conjugate), whichever costs less, and
//! is halved until the objective does not grow. To begin with it is cut so that no logit changes by more than 10: the curvature of
//! where one stands says nothing of places further away, and arms that a long step takes to the wrong side come back slowly. The fit has converged when the largest derivative, per observed
//! transition, is below 10⁻¹⁰ and the last step was short (10⁻⁶): the distance that is left is of the order of its square. A
//! *rough* fit, of which only the size of the weights is asked, ends at 10⁻⁷.

use super::arrow::Arrow;
use super::conjugate::Conjugate;
use super::cost::{Road, Size};
use super::evidence;
use super::fit::FitStatus;
use super::problem::{Point, Problem};
use super::{Held, Logistic};

/// Largest derivative per observed transition of a fit that has converged.
const CONVERGED: f64 = 1e-10;
/// And of a rough one.
const ROUGH: f64 = 1e-7;
/// Largest last step of such a fit, against the size of the parameter.
const SHORT: f64 = 1e-6;
const MOST_STEPS: usize = 100;
/// Largest change of a logit in one step.
const REACH: f64 = 10.0;
/// Conjugate gradients between two looks at the clock.
const ITERATIONS: usize = 10;

/// A fit with one precision, on its way.
pub(super) struct Newton {
    problem: Problem,
    road: Road,
    point: Point,
    slope: Vec<f64>,
    /// the largest derivative per observed transition: now, and at first
    pub gradient: f64,
    first: f64,
    pub steps: usize,
    was_short: bool,
    is_rough: bool,
    solving: Option<Conjugate>,
    /// once it has ended
    pub status: Option<FitStatus>,
}

impl Newton {
    /// From the parameters of a model.
    pub(super) fn new(problem: Problem, model: &Logistic, is_rough: bool) -> Self {
        let params = problem.take(model);
        Self::from_params(problem, params, is_rough)
    }

    fn from_params(problem: Problem, params: Vec<f64>, is_rough: bool) -> Self {
        let point = problem.at(params);
        let road = Size::of_problem(&problem).road();
        let mut newton = Self {
            problem,
            road,
            point,
            slope: Vec::new(),
            gradient: 0.0,
            first: 0.0,
            steps: 0,
            was_short: false,
            is_rough,
            solving: None,
            status: None,
        };
        newton.look();
        newton.first = newton.gradient;
        newton
    }

    /// The same arms held otherwise, from where this fit ended.
    pub(super) fn again(self, held: Held, is_rough: bool) -> Self {
        let Self { mut problem, point, .. } = self;
        problem.ridge = super::ridge::Ridge::new(problem.columns.len(), problem.states, held);
        Self::from_params(problem, point.params, is_rough)
    }

    /// The penalties that the evidence asks for here.
    pub(super) fn evidence(&self) -> Option<[f64; 3]> {
        evidence::penalties(&self.problem, &self.point, self.road)
    }

    /// The gradient here, and whether this is the end.
    fn look(&mut self) {
        self.slope = self.problem.gradient(&self.point);
        self.gradient = self.slope.iter().fold(0.0, |a: f64, g| if g.is_nan() { *g } else { a.max(g.abs()) })
            / self.problem.observed;
        let is_over = self.is_flat() && self.was_short
            || self.is_rough && self.gradient <= ROUGH
            || self.steps == MOST_STEPS
            || self.slope.is_empty()
            || self.gradient.is_nan();
        if is_over {
            self.end();
        }
    }

    fn is_flat(&self) -> bool {
        self.gradient <= CONVERGED
    }

    fn end(&mut self) {
        let status = if self.is_flat() { FitStatus::Converged } else { FitStatus::NotConverged };
        self.status = Some(status);
    }

    /// A step, or a part of one.
    pub(super) fn advance(&mut self) {
        let Self { problem, point, slope, .. } = self;
        let step = match (self.road, self.solving.take()) {
            (Road::Exact, _) => Arrow::new(problem, point).map(|arrow| arrow.solve(problem, slope)),
            (Road::Iterative, begun) => {
                let Some(mut solving) = begun.or_else(|| Conjugate::new(problem, point, slope)) else {
                    self.status = Some(FitStatus::NotConverged);
                    return;
                };
                if !solving.advance(problem, point, ITERATIONS) {
                    self.solving = Some(solving);
                    return;
                }
                Some(solving.finish())
            }
        };
        match step {
            Some(step) => self.walk(&step),
            None => self.status = Some(FitStatus::NotConverged),
        }
    }

    /// Takes a step, or as much of it as leads downhill.
    fn walk(&mut self, step: &[f64]) {
        let here = &self.point;
        let is_short = |(d, x): (&f64, &f64)| d.abs() <= SHORT * (1.0 + x.abs());
        let was_short = step.iter().zip(&here.params).all(is_short);
        let go =
            |share: f64| self.problem.at(here.params.iter().zip(step).map(|(x, d)| x - share * d).collect());
        let mut share = (REACH / self.problem.largest_change(step)).min(1.0);
        let mut there = go(share);
        // near the minimum the objective stands still to rounding
        while !(there.value <= here.value + 1e-13 * here.value.abs()) {
            share *= 0.5;
            if share < 1e-10 {
                return self.end();
            }
            there = go(share);
        }
        self.point = there;
        self.was_short = was_short;
        self.steps += 1;
        self.look();
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

    /// The parameters here.
    pub(super) fn give(&self, model: &mut Logistic) {
        self.problem.give(&self.point.params, model);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use ndarray::{Array2, Array4};
    use rand::RngExt;

    /// Of the effect model, and of the hierarchical one.
    const BOTH: [Held; 2] = [Held::Effect(10.0), Held::Hierarchical([2.0, 20.0, 300.0])];

    fn fit(x: &Array2<f64>, counts: &Array4<f64>, held: Held, road: Road) -> (Logistic, FitStatus) {
        let problem = Problem::new((x.view(), counts.view()), held);
        let mut model = Logistic::new(x.ncols(), counts.shape()[1], held.form()).unwrap();
        let mut newton = Newton { road, ..Newton::new(problem, &model, false) };
        while newton.status.is_none() {
            newton.advance();
        }
        newton.give(&mut model);
        (model, newton.status.unwrap())
    }

    /// (arms, numbers, categories, states)
    fn data(
        [n, numbers, categories, m]: [usize; 4],
        is_seen: impl Fn(usize, usize) -> bool,
    ) -> (Array2<f64>, Array4<f64>) {
        let mut random = stream(n as u64, &[categories as u64]);
        let mut x = Array2::from_shape_simple_fn((n, numbers + categories), || random.random::<f64>() - 0.5);
        for i in 0..n {
            (0..categories).for_each(|g| x[[i, numbers + g]] = f64::from(i * i % categories == g));
        }
        let counts = Array4::from_shape_fn((n, m, 2, m), |(_, s, _, next)| {
            f64::from(random.random_range(0..3u8)) * f64::from(is_seen(s, next))
        });
        (x, counts)
    }

    #[test]
    fn both_roads_lead_to_the_same_place() {
        for sizes in [[200, 4, 0, 2], [300, 2, 40, 3], [150, 3, 0, 6], [400, 5, 150, 2], [60, 0, 0, 3]] {
            for held in BOTH {
                let (x, counts) = data(sizes, |_, _| true);
                let [(exact, end), (iterative, other)] =
                    [Road::Exact, Road::Iterative].map(|road| fit(&x, &counts, held, road));
                assert_eq!([end, other], [FitStatus::Converged; 2], "{sizes:?} {held:?}");
                for (exact, iterative) in exact.flat().iter().zip(iterative.flat()) {
                    // both to the square of a short step
                    let allowed = 1e-9 * exact.abs().max(1.0);
                    assert!(
                        (exact - iterative).abs() < allowed,
                        "{sizes:?} {held:?}: {exact} or {iterative}"
                    );
                }
            }
        }
    }

    #[test]
    fn moves_that_nobody_saw_are_as_unlikely_by_both_roads() {
        // their log-odds hang on a penalty of 1e-6, and rounding of the gradient, 1e-14, moves them by 1e-8; what they say
        // of the arms does not move
        for sizes in [[150, 3, 0, 6], [60, 0, 0, 3], [300, 1, 30, 2]] {
            for held in BOTH {
                let (x, counts) = data(sizes, |s, next| s + next != sizes[3] - 1);
                let [p, q] = [Road::Exact, Road::Iterative].map(|road| {
                    let (model, end) = fit(&x, &counts, held, road);
                    assert_eq!(end, FitStatus::Converged, "{sizes:?} {held:?}");
                    model.predict(x.view())
                });
                assert!(p.iter().zip(&q).all(|(p, q)| (p - q).abs() < 1e-10), "{sizes:?} {held:?}");
            }
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let (x, counts) = data([2500, 3, 20, 3], |_, _| true);
        for (road, held) in
            [Road::Exact, Road::Iterative].into_iter().flat_map(|road| BOTH.map(|held| (road, held)))
        {
            let with = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| fit(&x, &counts, held, road)).0
            };
            assert_eq!(with(1), with(3), "{road:?} {held:?}");
        }
    }
}
