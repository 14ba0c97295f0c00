//! One person's part in the [likelihood](super::sums), for any number of states: what it weighs each node by, its small gradient and, where
//! it is asked for, its small matrix over (levels, δ, σ, σ₀ and the three directions of features).

use super::people::People;
use super::{NODES, Places, prior, shares};
use ndarray::Array2;

/// The small gradient and the small matrix of one person, in memory that is used again.
pub(super) struct Person {
    place: Places,
    /// ln of it, `[9]`
    prior: [f64; NODES.len()],
    /// `[head + 3]`
    pub(super) gradient: Vec<f64>,
    /// `[head + 3, head + 3]`, its lower half
    pub(super) matrix: Array2<f64>,
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
    pub(super) fn new(place: Places) -> Self {
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
    pub(super) fn add_up(
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
    pub(super) fn square(&mut self) {
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
