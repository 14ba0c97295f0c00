//! How the judge is fitted: expectation of the own parts, then one Newton step, in turn.
//!
//! Given the weights w of the nodes, the penalised log-likelihood is concave in all parameters, because η and the levels are linear in
//! them. A person enters it by few numbers: moves of one person from one state, called or not, differ in nothing, and features act
//! through three directions only (β, γ, β₀). So each person has a small gradient and a small matrix over (levels, δ, σ, σ₀ and the
//! three directions), and only their sums with x and x·xᵀ are large: three products of matrices a step.
//!
//! **Information.** By Fisher's identity the gradient of a person, at the weights that his record leaves, is that of the observed
//! likelihood. The sum of its squares over people is the information that is used for draws: unlike the Newton matrix it knows that
//! the own parts were not seen.

use super::people::{Columns, People};
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
/// Steps at most, and how little the last one changes.
const STEPS: usize = 100;
const SMALL: f64 = 1e-5;
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
            let every = total.div_ceil(MOST_PEOPLE);
            let thin = |instance: &Instance| {
                instance.select_arms(&(0..instance.arms()).step_by(every).collect::<Vec<_>>())
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
        let mut theta = start(place, &people);
        for _ in 0..STEPS {
            interrupt::check();
            let (mut step, mut matrix) = sums(place, &theta, &scale, &people, Curvature::Newton);
            step.scaled_add(-1.0, &(&penalty * &theta));
            matrix.diag_mut().scaled_add(1.0, &penalty);
            let Some(factor) = Cholesky::new(matrix) else {
                return unsuitable(
                    "people to fit the judge to",
                    "features that depend on each other",
                    "others",
                );
            };
            let step = step.as_slice_mut().expect("contiguous");
            factor.solve(step);
            theta.iter_mut().zip(step.iter()).for_each(|(x, step)| *x += step.clamp(-2.0, 2.0));
            if step.iter().all(|step| step.abs() < SMALL) {
                break;
            }
        }
        let (_, mut information) = sums(place, &theta, &scale, &people, Curvature::Scores);
        information.diag_mut().scaled_add(1.0, &penalty);
        let factor = Cholesky::new(information).expect("squares and penalties above 0");
        let theta = theta.to_vec();
        Ok(Self { columns, place, theta, scale, factor, people: people.len() })
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
    /// minus the second derivative, given the weights of the nodes
    Newton,
    /// the square of each person's gradient
    Scores,
}

/// The gradient `[D]` and the curvature `[D,D]` (its lower half) of everybody.
fn sums(
    place: Places,
    theta: &Array1<f64>,
    scale: &[f64],
    people: &People,
    curvature: Curvature,
) -> (Array1<f64>, Array2<f64>) {
    let theta = theta.as_slice().expect("contiguous");
    let chunks = people.len().div_ceil(CHUNK);
    let parts: Vec<_> = (0..chunks)
        .into_par_iter()
        .map(|k| {
            let whom = k * CHUNK..((k + 1) * CHUNK).min(people.len());
            chunk(place, theta, scale, people, whom, curvature)
        })
        .collect();
    let (mut gradient, mut matrix) = (Array1::zeros(place.all()), Array2::zeros((place.all(), place.all())));
    for (part, square) in parts {
        gradient += &part;
        matrix += &square;
    }
    (gradient, matrix)
}

fn chunk(
    place: Places,
    theta: &[f64],
    scale: &[f64],
    people: &People,
    whom: std::ops::Range<usize>,
    curvature: Curvature,
) -> (Array1<f64>, Array2<f64>) {
    let (head, f, n) = (place.head(), place.features, whom.len());
    let x = people.x.slice(s![whom.clone(), ..]);
    let along = [0, 1, 2].map(|which| x.dot(&ndarray::aview1(&theta[place.block(which)])));
    let mut gradient = Array1::zeros(place.all());
    let mut matrix = Array2::zeros((place.all(), place.all()));
    // of each person: of the three directions, those with the head, and among themselves (ββ, βγ, γγ, β₀β₀ and the crosses with β₀)
    let mut direction = Array2::zeros((n, 3));
    let mut beside = [0, 1, 2].map(|_| Array2::<f64>::zeros((n, head)));
    let mut among = Array2::zeros((n, 6));
    let mut person = Person::new(place);
    for (k, i) in whom.enumerate() {
        person.add_up(theta, scale, people, i, along.each_ref().map(|along| along[k]));
        if curvature == Curvature::Scores {
            person.square();
        }
        for a in 0..head {
            gradient[a] += person.gradient[a];
            let row = person.matrix.row(a);
            for b in 0..=a {
                matrix[[a, b]] += row[b];
            }
        }
        for which in 0..3 {
            direction[[k, which]] = person.gradient[head + which];
            for a in 0..head {
                beside[which][[k, a]] = person.matrix[[head + which, a]];
            }
        }
        for (at, (a, b)) in PAIRS.into_iter().enumerate() {
            among[[k, at]] = person.matrix[[head + a, head + b]];
        }
    }
    for which in 0..3 {
        let block = place.block(which);
        gradient.slice_mut(s![block.clone()]).assign(&x.t().dot(&direction.column(which)));
        let mut rows = matrix.slice_mut(s![block, ..head]);
        general_mat_mul(1.0, &x.t(), &beside[which], 0.0, &mut rows);
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
    (gradient, matrix)
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

    /// Sets gradient and matrix to those of person i; `along` is x·β, x·γ, x·β₀.
    fn add_up(&mut self, theta: &[f64], scale: &[f64], people: &People, i: usize, along: [f64; 3]) {
        let Self { place, prior, gradient, matrix, situations, shares: all } = self;
        let (place, m, head) = (*place, place.states, place.head());
        gradient.fill(0.0);
        matrix.fill(0.0);
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
            let all: Vec<(usize, f64, bool)> = directions(place, scale, at, 1.0)
                .map(|(b, part)| (b, part, b == place.sigma() || b == place.sigma_first()))
                .collect();
            for (k, &(a, part, is_own)) in all.iter().enumerate() {
                gradient[a] += part * if is_own { pulls.slope[1] } else { pulls.slope[0] };
                for &(b, other, is_other_own) in &all[..=k] {
                    let power = usize::from(is_own) + usize::from(is_other_own);
                    matrix[[a.max(b), a.min(b)]] += part * other * pulls.curve[power];
                }
            }
        }
        debug_assert!(gradient.len() == head + 3);
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
