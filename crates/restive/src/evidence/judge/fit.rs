//! How the judge is fitted: its penalised likelihood, the own part of everybody summed out ([`sums`](super::sums)), is
//! [climbed](super::climb()) to its top.
//!
//! **Metric.** Given the weights of the nodes the likelihood is concave, because η and the levels are linear in the parameters. Minus its
//! second derivative there is the metric of the climb: the first step is one of expectation and Newton, and later ones learn how much
//! less is known because own parts were not seen.
//!
//! **Levels.** Many people are climbed from where a quarter of them leads, and these from a quarter of theirs: each level begins within
//! the error of the one before, and few steps look at everybody.
//!
//! **Information.** The sum over people of the squares of their gradients is the information that is used for draws: unlike the metric it
//! knows that the own parts were not seen. It is that of σ² and σ₀²: where people do not differ beyond their features the likelihood is
//! flat in σ at 0, σ → −σ being the same model, and its information about σ vanishes; about σ² it does not.

use super::climb::climb;
use super::people::{Columns, People};
use super::sums::{Curvature, sums};
use super::{Judge, Places, reward_scale};
use crate::cholesky::Cholesky;
use crate::error::{Error, Result};
use crate::instance::{Instance, Observation};
use crate::interrupt;
use ndarray::{Array1, Array2, Axis, s};

/// People that are fitted to, at most; of more, evenly spaced ones.
pub const MOST_PEOPLE: usize = 50_000;
/// People who need no level below them.
const FEW: usize = 2_500;
/// Of so many people one is of the level below.
const EVERY: usize = 4;
/// A spread at which the information about its square is that of no spread, to the fourth digit.
const HARDLY_ANY: f64 = 1e-2;
/// Penalties: of levels, of δ, of features.
const LEVELS: f64 = 1e-3;
const LEVELS_OF_MANY: f64 = 0.05;
const EFFECT: f64 = 0.5;
const RIDGE: f64 = 3.0;

impl Judge {
    /// Fits the judge to people: instances, or parts of them, whose states are seen at every step.
    pub fn fit(people: &[Instance]) -> Result<Self> {
        let unsuitable = |what, found: &str, expected: &str| {
            Err(Error::Unsuitable { what, found: found.into(), expected: expected.into() })
        };
        let Some(first) = people.first() else {
            return unsuitable("people to fit the judge to", "none", "some");
        };
        if people.iter().any(|instance| instance.observation() != Observation::Full) {
            return unsuitable(
                "observation",
                "states that are seen at pulls only",
                "states seen at every step",
            );
        }
        let Some(scale) = reward_scale(first.reward()) else {
            return unsuitable("reward", "the same in all states", "rewards that differ");
        };
        let total: usize = people.iter().map(Instance::arms).sum();
        let thinned: Vec<Instance>;
        let people = if total > MOST_PEOPLE {
            let thin = |instance: &Instance| {
                instance.select_arms(&Judge::evenly(&(0..instance.arms()).collect::<Vec<_>>(), total))
            };
            thinned = people.iter().map(thin).collect();
            &thinned
        } else {
            people
        };
        let columns = Columns::learn(people);
        let place = Places { states: first.states(), features: columns.len() };
        let people = People::new(&columns, people);
        let penalty = penalty(place);
        let task = Task { place, scale: &scale, people: &people, penalty: &penalty };
        let Some(theta) = task.climb(1) else {
            return unsuitable("people to fit the judge to", "features that depend on each other", "others");
        };
        let factor = Cholesky::new(task.information(&theta)).expect("squares and penalties above 0");
        let theta = theta.to_vec();
        Ok(Self { columns, place, theta, scale, factor, people: people.len() })
    }

    /// Those of some arms who are looked at where there are `total` people to fit to: all of them up to [`MOST_PEOPLE`], of more evenly
    /// spaced ones.
    pub fn evenly(arms: &[usize], total: usize) -> Vec<usize> {
        arms.iter().copied().step_by(total.div_ceil(MOST_PEOPLE).max(1)).collect()
    }
}

/// What is climbed.
struct Task<'a> {
    place: Places,
    scale: &'a [f64],
    people: &'a People,
    penalty: &'a Array1<f64>,
}

impl Task<'_> {
    /// The best parameters for one person of `every`; none where features depend on each other.
    fn climb(&self, every: usize) -> Option<Array1<f64>> {
        let is_few = self.people.len().div_ceil(every) <= FEW;
        let theta = if is_few { start(self.place, self.people) } else { self.climb(every * EVERY)? };
        let (_, slope, matrix) = self.sums(&theta, every, Curvature::Newton);
        let metric = Cholesky::new(matrix)?;
        let mut step = slope.to_vec();
        metric.solve(&mut step);
        let theta: Array1<f64> = theta.iter().zip(&step).map(|(x, step)| x + step.clamp(-2.0, 2.0)).collect();
        Some(climb(theta, &metric, |theta| {
            interrupt::check();
            let (value, slope, _) = self.sums(theta, every, Curvature::None);
            (value, slope)
        }))
    }

    /// The penalised log-likelihood of one person of `every`, its gradient `[D]` and its curvature `[D,D]` (its lower half).
    fn sums(
        &self,
        theta: &Array1<f64>,
        every: usize,
        curvature: Curvature,
    ) -> (f64, Array1<f64>, Array2<f64>) {
        let (mut value, mut slope, mut matrix) =
            sums(self.place, theta, self.scale, self.people, every, curvature);
        value -= 0.5 * (self.penalty * theta * theta).sum();
        slope.scaled_add(-1.0, &(self.penalty * theta));
        if curvature != Curvature::None {
            matrix.diag_mut().scaled_add(1.0, self.penalty);
        }
        (value, slope, matrix)
    }

    /// The information about the parameters, σ² and σ₀² in the places of σ and σ₀.
    fn information(&self, theta: &Array1<f64>) -> Array2<f64> {
        let spreads = [self.place.sigma(), self.place.sigma_first()];
        let mut theta = theta.clone();
        spreads.iter().for_each(|at| theta[*at] = theta[*at].abs().max(HARDLY_ANY));
        let (_, _, mut matrix) = sums(self.place, &theta, self.scale, self.people, 1, Curvature::Scores);
        for at in spreads {
            // dσ/dσ²
            let slope = 0.5 / theta[at];
            matrix.row_mut(at).map_inplace(|x| *x *= slope);
            matrix.column_mut(at).map_inplace(|x| *x *= slope);
        }
        matrix.diag_mut().scaled_add(1.0, self.penalty);
        matrix
    }
}

fn penalty(place: Places) -> Array1<f64> {
    let mut penalty = Array1::from_elem(place.all(), RIDGE);
    let levels = if place.states == 2 { LEVELS } else { LEVELS_OF_MANY };
    penalty.slice_mut(s![..place.delta(0)]).fill(levels);
    penalty.slice_mut(s![place.delta(0)..place.sigma()]).fill(EFFECT);
    penalty.slice_mut(s![place.sigma()..place.head()]).fill(LEVELS);
    penalty
}

/// Levels as frequent as seen, a small effect, some spread.
fn start(place: Places, people: &People) -> Array1<f64> {
    let mut theta = Array1::zeros(place.all());
    let m = place.states;
    let seen = people.moves.sum_axis(Axis(2)).sum_axis(Axis(0));
    let first = people.first.sum_axis(Axis(0));
    for row in 0..=m {
        let count = |next: usize| if row < m { seen[[row, next]] } else { first[next] };
        for next in 1..m {
            theta[place.alpha(row, next)] = ((count(next) + 0.5) / (count(0) + 0.5)).ln();
        }
    }
    (0..m).for_each(|s| theta[place.delta(s)] = 0.2);
    theta[place.sigma()] = 0.7;
    theta[place.sigma_first()] = 1.0;
    theta
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
