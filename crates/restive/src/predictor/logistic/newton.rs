//! Newton's method on arms that are in memory.
//!
//! A step solves H·x = gradient, [exactly](super::arrow) or by [conjugate gradients](super::conjugate), whichever costs less. How far it is
//! made, and where the fit ends, are the rules of its [course](super::course).

use super::conjugate::Conjugate;
use super::cost::{Road, Size};
use super::course::{Course, halved, is_downhill, is_short, moved, within_reach};
use super::evidence;
use super::problem::{Point, Problem};
use super::{Held, Logistic};

/// Conjugate gradients between two looks at the clock.
const ITERATIONS: usize = 10;

/// A fit with one precision, on its way.
pub(super) struct Newton {
    problem: Problem,
    road: Road,
    point: Point,
    slope: Vec<f64>,
    solving: Option<Conjugate>,
    pub course: Course,
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
        let slope = problem.gradient(&point);
        let course = Course::new(is_rough, &slope, problem.observed);
        Self { problem, road, point, slope, solving: None, course }
    }

    /// The same arms held otherwise, from where this fit ended.
    pub(super) fn again(self, held: Held, is_rough: bool) -> Self {
        let Self { mut problem, point, .. } = self;
        problem.ridge = super::ridge::Ridge::new(problem.columns.len(), problem.layout.states, held);
        Self::from_params(problem, point.params, is_rough)
    }

    /// The penalties that the evidence asks for here.
    pub(super) fn evidence(&self) -> Option<[f64; 3]> {
        let Self { problem, point, road, .. } = self;
        let traces = evidence::traces(problem, point, *road)?;
        Some(evidence::penalties(&problem.layout, &problem.ridge, &point.params, traces))
    }

    /// A step, or a part of one.
    pub(super) fn advance(&mut self) {
        let Self { problem, point, slope, .. } = self;
        let step = match (self.road, self.solving.take()) {
            (Road::Exact, _) => {
                evidence::exact(problem, point).map(|arrow| arrow.solve(&problem.layout, slope))
            }
            (Road::Iterative, begun) => {
                let Some(mut solving) = begun.or_else(|| Conjugate::new(problem, point, slope)) else {
                    return self.course.give_up();
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
            None => self.course.give_up(),
        }
    }

    /// Takes a step, or as much of it as leads downhill.
    fn walk(&mut self, step: &[f64]) {
        let here = &self.point;
        let was_short = is_short(step, &here.params);
        let go = |share: f64| self.problem.at(moved(&here.params, step, share));
        let mut share = within_reach(self.problem.largest_change(step));
        let mut there = go(share);
        while !is_downhill(here.value, there.value) {
            let Some(half) = halved(share) else { return self.course.end() };
            share = half;
            there = go(share);
        }
        self.point = there;
        self.slope = self.problem.gradient(&self.point);
        self.course.arrive(was_short, &self.slope, self.problem.observed);
    }

    /// The parameters here.
    pub(super) fn give(&self, model: &mut Logistic) {
        self.problem.give(&self.point.params, model);
    }
}

#[cfg(test)]
mod tests {
    use super::super::fit::FitStatus;
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
        while newton.course.status.is_none() {
            newton.advance();
        }
        newton.give(&mut model);
        (model, newton.course.status.unwrap())
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
