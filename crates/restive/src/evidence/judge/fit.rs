//! How the judge is fitted: its penalised likelihood, the own part of everybody summed out, is [climbed](super::climb()) to its top.
//!
//! A person enters it by few numbers: moves of one person from one state, called or not, differ in nothing, and features act
//! through three directions only (β, γ, β₀). So each person has a small gradient (and where it is asked for a small matrix) over
//! (levels, δ, σ, σ₀ and the three directions), and only their sums with x and x·xᵀ are large: products of matrices. By Fisher's
//! identity the gradient of a person, at the weights that his record leaves, is that of the likelihood itself.
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
use super::two_state::{self, TwoState};
use super::{Judge, NODES, Places, prior, reward_scale, shares};
use crate::cholesky::Cholesky;
use crate::error::{Error, Result};
use crate::instance::{Instance, Observation};
use crate::interrupt;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, Axis, s};
use rayon::prelude::*;

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
/// People of a chunk; part of the order of sums.
const CHUNK: usize = 1024;

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

/// What is summed beside the gradient.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Curvature {
    /// nothing
    None,
    /// minus the second derivative, given the weights of the nodes
    Newton,
    /// the square of each person's gradient
    Scores,
}

/// The log-likelihood, its gradient `[D]` and the curvature `[D,D]` (its lower half) of one person of `every`.
fn sums(
    place: Places,
    theta: &Array1<f64>,
    scale: &[f64],
    people: &People,
    every: usize,
    curvature: Curvature,
) -> (f64, Array1<f64>, Array2<f64>) {
    let theta = theta.as_slice().expect("contiguous");
    let n = people.len().div_ceil(every);
    let parts: Vec<_> = (0..n.div_ceil(CHUNK))
        .into_par_iter()
        .map(|k| {
            let whom = k * CHUNK..((k + 1) * CHUNK).min(n);
            chunk(place, theta, scale, people, whom, every, curvature)
        })
        .collect();
    let mut parts = parts.into_iter();
    let mut all = parts.next().expect("some people");
    for (value, slope, matrix) in parts {
        all.0 += value;
        all.1 += &slope;
        all.2 += &matrix;
    }
    all
}

/// The same of some people: the k-th of them is number k·`every`.
fn chunk(
    place: Places,
    theta: &[f64],
    scale: &[f64],
    people: &People,
    whom: std::ops::Range<usize>,
    every: usize,
    curvature: Curvature,
) -> (f64, Array1<f64>, Array2<f64>) {
    let (head, f, n) = (place.head(), place.features, whom.len());
    let x = people.x.slice(s![whom.start * every..((whom.end - 1) * every + 1); every, ..]);
    let along = [0, 1, 2].map(|which| x.dot(&ndarray::aview1(&theta[place.block(which)])));
    let is_curved = curvature != Curvature::None;
    let size = if is_curved { place.all() } else { 0 };
    let (mut value, mut gradient, mut matrix) =
        (0.0, Array1::zeros(place.all()), Array2::zeros((size, size)));
    // of each person: of the three directions, those with the head, and among themselves (ββ, βγ, γγ, β₀β₀ and the crosses with β₀)
    let mut direction = Array2::zeros((n, 3));
    let curved = if is_curved { n } else { 0 };
    let mut beside = [0, 1, 2].map(|_| Array2::<f64>::zeros((curved, head)));
    let mut among = Array2::zeros((curved, 6));
    let mut person = Person::new(place);
    let is_quick = place.states == 2 && curvature != Curvature::Newton;
    let mut slopes = vec![0.0; if is_quick { n * two_state::SMALL } else { 0 }];
    if is_quick {
        let seen = two_state::Seen {
            moves: people.moves.as_slice().expect("row-major"),
            firsts: people.first.as_slice().expect("row-major"),
            first: whom.start * every,
            every,
            along: along.each_ref().map(|along| along.as_slice().expect("contiguous")),
        };
        value = two_state::slopes(&TwoState::new(place, theta, scale), &seen, &mut slopes);
    }
    for (k, i) in whom.map(|k| k * every).enumerate() {
        if is_quick {
            person.gradient.copy_from_slice(&slopes[k * two_state::SMALL..][..two_state::SMALL]);
        } else {
            let along = along.each_ref().map(|along| along[k]);
            value += person.add_up(theta, scale, people, i, along, curvature == Curvature::Newton);
        }
        for a in 0..head {
            gradient[a] += person.gradient[a];
        }
        for which in 0..3 {
            direction[[k, which]] = person.gradient[head + which];
        }
        if !is_curved {
            continue;
        }
        if curvature == Curvature::Scores {
            person.square();
        }
        for a in 0..head {
            let row = person.matrix.row(a);
            for b in 0..=a {
                matrix[[a, b]] += row[b];
            }
        }
        for which in 0..3 {
            for a in 0..head {
                beside[which][[k, a]] = person.matrix[[head + which, a]];
            }
        }
        for (at, (a, b)) in PAIRS.into_iter().enumerate() {
            among[[k, at]] = person.matrix[[head + a, head + b]];
        }
    }
    let along = x.t().dot(&direction);
    for which in 0..3 {
        let block = place.block(which);
        gradient.slice_mut(s![block.clone()]).assign(&along.column(which));
        if is_curved {
            let mut rows = matrix.slice_mut(s![block, ..head]);
            general_mat_mul(1.0, &x.t(), &beside[which], 0.0, &mut rows);
        }
    }
    if !is_curved {
        return (value, gradient, matrix);
    }
    let mut weighted = Array2::zeros((n, f));
    for (at, (a, b)) in PAIRS.into_iter().enumerate() {
        let weights = among.column(at);
        if weights.iter().all(|w| *w == 0.0) {
            continue;
        }
        ndarray::Zip::from(weighted.rows_mut()).and(x.rows()).and(weights).for_each(|mut row, x, w| {
            row.assign(&x);
            row *= *w;
        });
        let mut square = matrix.slice_mut(s![place.block(a), place.block(b)]);
        general_mat_mul(1.0, &x.t(), &weighted, 0.0, &mut square);
    }
    (value, gradient, matrix)
}

/// The directions that meet: the lower half.
const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)];

/// The small gradient and the small matrix of one person, in memory that is used again.
struct Person {
    place: Places,
    /// ln of it, `[9]`
    prior: [f64; NODES.len()],
    /// `[head + 3]`
    gradient: Vec<f64>,
    /// `[head + 3, head + 3]`, its lower half
    matrix: Array2<f64>,
    situations: Vec<Situation>,
    /// P(s′) in every situation and at every node
    shares: Vec<f64>,
}

/// A state to move from, called or not; or the first one.
#[derive(Clone, Copy)]
struct Situation {
    row: usize,
    is_called: bool,
    /// moves from there
    moves: f64,
}

impl Person {
    fn new(place: Places) -> Self {
        let small = place.head() + 3;
        Self {
            place,
            prior: prior().map(f64::ln),
            gradient: vec![0.0; small],
            matrix: Array2::zeros((small, small)),
            situations: Vec::new(),
            shares: Vec::new(),
        }
    }

    /// Sets the gradient, and the matrix where it is `curved`, to those of person i, and returns the log-likelihood; `along` is x·β, x·γ,
    /// x·β₀.
    fn add_up(
        &mut self,
        theta: &[f64],
        scale: &[f64],
        people: &People,
        i: usize,
        along: [f64; 3],
        is_curved: bool,
    ) -> f64 {
        let Self { place, prior, gradient, matrix, situations, shares: all } = self;
        let (place, m, head) = (*place, place.states, place.head());
        gradient.fill(0.0);
        if is_curved {
            matrix.fill(0.0);
        }
        situations.clear();
        all.clear();
        let count = |at: &Situation, next: usize| match at.row == m {
            true => people.first[[i, next]],
            false => people.moves[[i, at.row, usize::from(at.is_called), next]],
        };
        let mut weight = *prior;
        let first = Situation { row: m, is_called: false, moves: people.first.row(i).sum() };
        let moves = (0..m).flat_map(|row| [false, true].map(|is_called| (row, is_called)));
        let moves = moves.map(|(row, is_called)| {
            let moves = (0..m).map(|next| people.moves[[i, row, usize::from(is_called), next]]).sum();
            Situation { row, is_called, moves }
        });
        for at in moves.chain([first]).filter(|at| at.moves > 0.0) {
            let (level, sigma) = level(place, theta, scale, &at, along);
            for (weight, u) in weight.iter_mut().zip(NODES) {
                let begin = all.len();
                all.resize(begin + m, 0.0);
                shares(place, theta, scale, at.row, level + sigma * u, &mut all[begin..]);
                for next in 0..m {
                    let n = count(&at, next);
                    if n > 0.0 {
                        *weight += n * all[begin + next].max(f64::MIN_POSITIVE).ln();
                    }
                }
            }
            situations.push(at);
        }
        let most = weight.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut weight = weight.map(|w| (w - most).exp());
        let sum: f64 = weight.iter().sum();
        weight.iter_mut().for_each(|w| *w /= sum);

        for (at, shares) in situations.iter().zip(all.chunks_exact(NODES.len() * m)) {
            let mut pulls = Pulls::default();
            let alphas = place.alpha(at.row, 1);
            let seen: f64 = (0..m).map(|next| count(at, next) * scale[next]).sum();
            for ((w, u), share) in weight.iter().zip(NODES).zip(shares.chunks_exact(m)) {
                let mean: f64 = share.iter().zip(scale).map(|(p, h)| p * h).sum();
                let square: f64 = share.iter().zip(scale).map(|(p, h)| p * h * h).sum();
                pulls.add(w * (seen - at.moves * mean), w * at.moves * (square - mean * mean), u);
                for next in 1..m {
                    let share_next = share[next];
                    let a = alphas + next - 1;
                    gradient[a] += w * (count(at, next) - at.moves * share_next);
                    if !is_curved {
                        continue;
                    }
                    for other in 1..=next {
                        let same = if other == next { share_next } else { 0.0 };
                        matrix[[a, alphas + other - 1]] += w * at.moves * (same - share_next * share[other]);
                    }
                    // with η: what the level of `next` and the scale have in common
                    let common = w * at.moves * share_next * (scale[next] - mean);
                    for (b, part) in directions(place, scale, at, u) {
                        matrix[[b.max(a), b.min(a)]] += common * part;
                    }
                }
            }
            let is_own = |b: usize| b == place.sigma() || b == place.sigma_first();
            for (a, part) in directions(place, scale, at, 1.0) {
                gradient[a] += part * pulls.slope[usize::from(is_own(a))];
                if !is_curved {
                    continue;
                }
                for (b, other) in directions(place, scale, at, 1.0).take_while(|(b, _)| *b <= a) {
                    let power = usize::from(is_own(a)) + usize::from(is_own(b));
                    matrix[[a.max(b), a.min(b)]] += part * other * pulls.curve[power];
                }
            }
        }
        debug_assert!(gradient.len() == head + 3);
        most + sum.ln()
    }

    /// The matrix becomes the square of the gradient.
    fn square(&mut self) {
        for a in 0..self.gradient.len() {
            for b in 0..=a {
                self.matrix[[a, b]] = self.gradient[a] * self.gradient[b];
            }
        }
    }
}

/// Derivatives by η, times powers of the own part.
#[derive(Default)]
struct Pulls {
    slope: [f64; 2],
    curve: [f64; 3],
}

impl Pulls {
    fn add(&mut self, slope: f64, curve: f64, u: f64) {
        self.slope[0] += slope;
        self.slope[1] += slope * u;
        self.curve[0] += curve;
        self.curve[1] += curve * u;
        self.curve[2] += curve * u * u;
    }
}

/// η without the own part, and σ or σ₀.
fn level(place: Places, theta: &[f64], scale: &[f64], at: &Situation, along: [f64; 3]) -> (f64, f64) {
    if at.row == place.first() {
        return (along[2], theta[place.sigma_first()]);
    }
    let call = if at.is_called { theta[place.delta(at.row)] } else { 0.0 };
    (call + along[0] + scale[at.row] * along[1], theta[place.sigma()])
}

/// The parameters that η is made of, and what each of them is multiplied by; small positions.
fn directions(
    place: Places,
    scale: &[f64],
    at: &Situation,
    u: f64,
) -> impl Iterator<Item = (usize, f64)> + use<> {
    let head = place.head();
    let is_first = at.row == place.first();
    let parts = match is_first {
        true => [None, Some((place.sigma_first(), u)), Some((head + 2, 1.0)), None],
        false => [
            at.is_called.then(|| (place.delta(at.row), 1.0)),
            Some((place.sigma(), u)),
            Some((head, 1.0)),
            Some((head + 1, scale[at.row])),
        ],
    };
    parts.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use ndarray::Array4;
    use rand::RngExt;

    /// People with moves and features by lot.
    fn people(n: usize, m: usize, f: usize) -> People {
        let mut random = stream(5, &[m as u64]);
        let x = Array2::from_shape_fn((n, f), |_| random.random_range(-2.0..2.0));
        let moves = Array4::from_shape_fn((n, m, 2, m), |_| f64::from(random.random_range(0..4_u8) / 2));
        let mut first = Array2::zeros((n, m));
        first.rows_mut().into_iter().for_each(|mut row| row[random.random_range(0..m)] = 1.0);
        People { x, moves, first }
    }

    #[test]
    fn two_states_are_gone_through_as_any_number_is() {
        let (people, place) = (people(40, 2, 3), Places { states: 2, features: 3 });
        for scale in [[0.0, 1.0], [1.0, 0.0]] {
            let theta: Vec<f64> = (0..place.all()).map(|k| 0.3 * (k as f64).sin()).collect();
            let along = [0, 1, 2].map(|which| people.x.dot(&ndarray::aview1(&theta[place.block(which)])));
            let (every, first) = (3, 1);
            let n = (people.len() - first).div_ceil(every);
            let picked = along
                .each_ref()
                .map(|along| -> Vec<f64> { along.iter().skip(first).step_by(every).copied().collect() });
            let seen = two_state::Seen {
                moves: people.moves.as_slice().unwrap(),
                firsts: people.first.as_slice().unwrap(),
                first,
                every,
                along: picked.each_ref().map(Vec::as_slice),
            };
            let mut slopes = vec![0.0; n * two_state::SMALL];
            let value = two_state::slopes(&TwoState::new(place, &theta, &scale), &seen, &mut slopes);
            let (mut person, mut expected) = (Person::new(place), 0.0);
            for (k, slope) in slopes.chunks_exact(two_state::SMALL).enumerate() {
                let i = first + k * every;
                let along = along.each_ref().map(|along| along[i]);
                expected += person.add_up(&theta, &scale, &people, i, along, false);
                for (found, expected) in slope.iter().zip(&person.gradient) {
                    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
                }
            }
            assert!((value - expected).abs() < 1e-11, "{value} {expected}");
        }
    }

    /// The slope is that of the value, and its length at the top nothing.
    #[test]
    fn slopes_are_those_of_the_likelihood() {
        for (m, scale) in [(2, vec![0.0, 1.0]), (3, vec![0.0, 0.4, 1.0])] {
            let (people, place) = (people(60, m, 2), Places { states: m, features: 2 });
            let penalty = penalty(place);
            let task = Task { place, scale: &scale, people: &people, penalty: &penalty };
            let theta = Array1::from_shape_fn(place.all(), |k| 0.3 * (k as f64 + 1.0).sin());
            let (_, slope, _) = task.sums(&theta, 1, Curvature::None);
            for k in 0..place.all() {
                let at = |h: f64| {
                    let mut moved = theta.clone();
                    moved[k] += h;
                    task.sums(&moved, 1, Curvature::None).0
                };
                let difference = |h: f64| (at(h) - at(-h)) / (2.0 * h);
                // Richardson: the error is of the fourth order
                let expected = (4.0 * difference(5e-4) - difference(1e-3)) / 3.0;
                assert!(
                    (slope[k] - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                    "{k}: {} {expected}",
                    slope[k]
                );
            }
            let top = task.climb(1).unwrap();
            let (_, slope, _) = task.sums(&top, 1, Curvature::None);
            assert!(slope.iter().all(|x| x.abs() < 1e-3), "{slope}");
        }
    }

    /// Where everybody is alike the information about σ vanishes, and that about σ² does not.
    #[test]
    fn where_nobody_differs_draws_stay_near() {
        let n = 4_000;
        let mut random = stream(9, &[]);
        let mut moves = Array4::zeros((n, 2, 2, 2));
        let mut first = Array2::zeros((n, 2));
        for i in 0..n {
            let mut s = usize::from(random.random::<f64>() < 0.5);
            first[[i, s]] = 1.0;
            for _ in 0..8 {
                let next = usize::from(random.random::<f64>() < [0.3, 0.7][s]);
                moves[[i, s, 0, next]] += 1.0;
                s = next;
            }
        }
        let people = People { x: Array2::zeros((n, 0)), moves, first };
        let place = Places { states: 2, features: 0 };
        let (penalty, scale) = (penalty(place), vec![0.0, 1.0]);
        let task = Task { place, scale: &scale, people: &people, penalty: &penalty };
        let theta = task.climb(1).unwrap();
        assert!(theta[place.sigma()].abs() < 0.35, "{theta}");
        let factor = Cholesky::new(task.information(&theta)).unwrap();
        let columns = Columns::learn(&[]);
        let judge = Judge { columns, place, theta: theta.to_vec(), scale, factor, people: n };
        // 28,000 moves: the standard error of σ² is a few hundredths, and no draw is far from what was found
        let drawn: Vec<Judge> = (0..200).map(|seed| judge.drawn(seed)).collect();
        assert!(drawn.iter().all(|drawn| drawn.spread() < 0.6));
        assert!(
            drawn.iter().any(|drawn| drawn.spread() == 0.0)
                && drawn.iter().any(|drawn| drawn.spread() > 0.05)
        );
        let away =
            |at: usize| drawn.iter().map(|drawn| (drawn.theta[at] - theta[at]).abs()).fold(0.0, f64::max);
        for row in 0..2 {
            assert!(away(place.alpha(row, 1)) < 0.25, "{}", away(place.alpha(row, 1)));
        }
    }
}
