//! How the gradient of the smoothed dual turns when its prices move: its curvature, and what that turn depends on.
//!
//! # What it is
//! With x_t(s) = A_t(s) − λ_t what a pull gains beside its price, pull_t = σ(x_t/e) the chance of one, and e the temperature, the slopes of
//! an arm's values by the prices, u ≥ t, follow backwards in time, and with them those of the gains:
//!
//! ```text
//! ∂x_t(s)/∂λ_u = γ (P₁ − P₀)(s,·) ∂V_{t+1}/∂λ_u − [u = t]      ∂V_t(s)/∂λ_u = γ P₀(s,·) ∂V_{t+1}/∂λ_u + pull_t(s) ∂x_t(s)/∂λ_u
//! ```
//!
//! The second derivative of a softened maximum is pull (1 − pull)/e times the square of the slope of its gain, carried to the start by the
//! masses μ_t (discounted) with which the softened policy is there. So the curvature of D is a sum of squares,
//!
//! ```text
//! ∂²D/∂λ∂λᵀ = Σ_i Σ_t Σ_s μ_t(s) pull_t(s) (1 − pull_t(s))/e · (∂x_t(s)/∂λ)(∂x_t(s)/∂λ)ᵀ
//! ```
//!
//! of which nothing cancels: O(N H M (H M + H²)) in all.
//!
//! # What the turn depends on
//! Along a direction v of the prices, the slope v·∂D/∂λ is a function of transitions, rewards, start, budget, discount and temperature like any
//! other. Its gradient is the derivative of D's own [gradient](super::pullback()) along v: the same two passes, each number with its
//! derivative (dotted here, `turn_` in the code) beside it. O(N H M²).

use super::arm::{in_a_row, softened};
use super::dual::in_chunks;
use super::pullback::{PlanCotangent, by_arm, entropy, power};
use super::{Ending, Programme};
use crate::belief::Motion;
use crate::simd::exp;
use ndarray::{Array2, ArrayView2};

/// ∂²D/∂λ∂λᵀ of some arms, `[H,H]`, at prices `[H]` and a temperature above 0.
pub(super) fn curvature(
    programme: &Programme<'_>,
    initial: ArrayView2<'_, f64>,
    members: &[usize],
    price: &[f64],
    temperature: f64,
) -> Array2<f64> {
    let Motion::Rows(transition) = programme.motion else {
        panic!("motion: transitions [N,M,2,M]; beliefs have no cotangent")
    };
    let (m, h) = (programme.motion.states(), programme.horizon);
    let rows = in_a_row(transition);
    let parts = in_chunks(members, |members| {
        let (mut walk, mut squares) = (Walk::new(m, h), Squares::new(m, h));
        for &i in members {
            let p = &rows[2 * i * m * m..][..2 * m * m];
            walk.backward(programme, i, p, |t| price[t], |_| 0.0, temperature);
            squares.add(programme, i, p, &walk, initial);
        }
        squares.sum
    });
    let mut sum = vec![0.0; h * h];
    parts.iter().for_each(|part| sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
    // what stands above the diagonal stands below it too
    Array2::from_shape_fn((h, h), |(t, u)| sum[t.min(u) * h + t.max(u)])
}

/// The gradient of v·∂D/∂λ for a direction v `[G,H]` of the prices; its `d_price` is the curvature times v.
pub(super) fn turn(
    programme: &Programme<'_>,
    initial: ArrayView2<'_, f64>,
    price: ArrayView2<'_, f64>,
    temperature: f64,
    along: ArrayView2<'_, f64>,
) -> PlanCotangent {
    let (m, h) = (programme.motion.states(), programme.horizon);
    let mut d = by_arm(
        programme,
        || (Walk::new(m, h), [(); 5].map(|()| vec![0.0; m])),
        |(walk, [mass, turn_mass, next, turn_next, change]), i, p, part| {
            let (g, span) = (programme.group_of(i), programme.span(i));
            walk.backward(programme, i, p, |t| price[[g, t]], |t| along[[g, t]], temperature);
            let (weight, gamma) = (programme.weight(span.start), programme.discount);
            let (d_price, d_settings) = part.d_shared.split_at_mut(h);
            let entered = &walk.turn_value[span.start * m..][..m];
            for s in 0..m {
                (mass[s], turn_mass[s]) = (weight * initial[[i, s]], 0.0);
                part.d_initial[s] = weight * entered[s];
                d_settings[0] += power(gamma, span.start) * initial[[i, s]] * entered[s];
            }
            for t in span.clone() {
                let (later, turn_later) =
                    (&walk.value[(t + 1) * m..][..m], &walk.turn_value[(t + 1) * m..][..m]);
                next.fill(0.0);
                turn_next.fill(0.0);
                for s in 0..m {
                    let Step { gap, pull, growth, turn_gap } = walk.step[t * m + s];
                    let turn_pull = growth * turn_gap;
                    let active = turn_mass[s] * pull + mass[s] * turn_pull;
                    d_price[t] -= active;
                    d_settings[1] +=
                        turn_mass[s] * entropy(gap, temperature) - mass[s] * turn_pull * (gap / temperature);
                    let pulls = [(mass[s] * (1.0 - pull), turn_mass[s] - active), (mass[s] * pull, active)];
                    for (a, (w, turn_w)) in pulls.into_iter().enumerate() {
                        part.d_reward[2 * s + a] += turn_w;
                        let row = &p[(2 * s + a) * m..][..m];
                        let mut mean = 0.0;
                        for to in 0..m {
                            change[to] = turn_w * later[to] + w * turn_later[to];
                            mean += change[to] / m as f64;
                            d_settings[0] += change[to] * row[to];
                            next[to] += gamma * w * row[to];
                            turn_next[to] += gamma * turn_w * row[to];
                        }
                        let d_row = &mut part.d_transition[(2 * s + a) * m..][..m];
                        d_row.iter_mut().zip(&*change).for_each(|(d, change)| *d += gamma * (change - mean));
                    }
                }
                std::mem::swap(mass, next);
                std::mem::swap(turn_mass, turn_next);
            }
            if programme.ending == Ending::State && !span.is_empty() {
                turn_mass.iter().enumerate().for_each(|(s, turn)| part.d_reward[2 * s] += turn);
            }
        },
    );
    for (g, budget) in programme.budget.iter().enumerate() {
        for t in 0..h {
            d.d_budget[g] += programme.weight(t) * along[[g, t]];
            d.d_discount += budget * along[[g, t]] * power(programme.discount, t);
        }
    }
    d
}

/// What is known of a step in a state: the gain of a pull beside its price, its chance, how that grows with the gain, and how the gain turns.
#[derive(Clone, Copy, Default)]
struct Step {
    gap: f64,
    pull: f64,
    growth: f64,
    turn_gap: f64,
}

/// The way of one arm backwards in time.
struct Walk {
    /// V_t, `[H + 1,M]`
    value: Vec<f64>,
    /// its derivative along a direction of the prices, `[H + 1,M]`
    turn_value: Vec<f64>,
    /// `[H,M]`
    step: Vec<Step>,
}

impl Walk {
    fn new(m: usize, h: usize) -> Self {
        let zeros = vec![0.0; (h + 1) * m];
        Self { value: zeros.clone(), turn_value: zeros, step: vec![Step::default(); h * m] }
    }

    /// Values and choices of every step in which arm i is there, and their derivatives along a direction.
    fn backward(
        &mut self,
        programme: &Programme<'_>,
        i: usize,
        p: &[f64],
        price: impl Fn(usize) -> f64,
        along: impl Fn(usize) -> f64,
        temperature: f64,
    ) {
        let (m, gamma) = (programme.motion.states(), programme.discount);
        let (span, reward) = (programme.span(i), programme.reward.arm(i));
        self.value.fill(0.0);
        self.turn_value.fill(0.0);
        if programme.ending == Ending::State && !span.is_empty() {
            (0..m).for_each(|s| self.value[span.end * m + s] = reward[2 * s]);
        }
        for t in span.rev() {
            let (here, later) = self.value.split_at_mut((t + 1) * m);
            let (turn_here, turn_later) = self.turn_value.split_at_mut((t + 1) * m);
            for s in 0..m {
                let [(passive, turn_passive), (active, turn_active)] = [0, 1].map(|a| {
                    let row = &p[(2 * s + a) * m..][..m];
                    (reward[2 * s + a] + gamma * dot(row, later), gamma * dot(row, turn_later))
                });
                let gap = active - passive - price(t);
                let turn_gap = turn_active - turn_passive - along(t);
                let (rise, pull) = softened(gap, temperature);
                here[t * m + s] = passive + rise;
                turn_here[t * m + s] = turn_passive + pull * turn_gap;
                self.step[t * m + s] = Step { gap, pull, growth: growth(gap, temperature), turn_gap };
            }
        }
    }
}

/// The sum of squares that the curvature is.
struct Squares {
    /// ∂V/∂λ of the step after the one at hand, and of that one, `[M,H]`
    later: Vec<f64>,
    here: Vec<f64>,
    /// ∂x_t(s)/∂λ, `[H,M,H]`
    slope: Vec<f64>,
    mass: Vec<f64>,
    next: Vec<f64>,
    /// `[H,H]`, on and above the diagonal
    sum: Vec<f64>,
}

impl Squares {
    fn new(m: usize, h: usize) -> Self {
        let (rows, mass, sum) = (vec![0.0; m * h], vec![0.0; m], vec![0.0; h * h]);
        Self {
            later: rows.clone(),
            here: rows,
            slope: vec![0.0; h * m * h],
            mass: mass.clone(),
            next: mass,
            sum,
        }
    }

    /// Adds those of arm i.
    fn add(
        &mut self,
        programme: &Programme<'_>,
        i: usize,
        p: &[f64],
        walk: &Walk,
        initial: ArrayView2<'_, f64>,
    ) {
        let (m, h, gamma) = (programme.motion.states(), programme.horizon, programme.discount);
        let span = programme.span(i);
        self.later.fill(0.0);
        for t in span.clone().rev() {
            for s in 0..m {
                let slope = &mut self.slope[(t * m + s) * h..][..h];
                let here = &mut self.here[s * h..][..h];
                slope.fill(0.0);
                here.fill(0.0);
                for to in 0..m {
                    let (passive, active) = (gamma * p[2 * s * m + to], gamma * p[(2 * s + 1) * m + to]);
                    let later = &self.later[to * h..][..h];
                    for u in t + 1..h {
                        slope[u] += (active - passive) * later[u];
                        here[u] += passive * later[u];
                    }
                }
                slope[t] = -1.0;
                let pull = walk.step[t * m + s].pull;
                here[t..].iter_mut().zip(&slope[t..]).for_each(|(here, slope)| *here += pull * slope);
            }
            std::mem::swap(&mut self.later, &mut self.here);
        }
        let weight = programme.weight(span.start);
        (0..m).for_each(|s| self.mass[s] = weight * initial[[i, s]]);
        for t in span {
            self.next.fill(0.0);
            for s in 0..m {
                let (mass, Step { pull, growth, .. }) = (self.mass[s], walk.step[t * m + s]);
                let (slope, by) = (&self.slope[(t * m + s) * h..][..h], mass * growth);
                for u in t..h {
                    let (by, row) = (by * slope[u], &mut self.sum[u * h + u..(u + 1) * h]);
                    row.iter_mut().zip(&slope[u..]).for_each(|(sum, slope)| *sum += by * slope);
                }
                for to in 0..m {
                    let rows = (p[2 * s * m + to], p[(2 * s + 1) * m + to]);
                    self.next[to] += gamma * mass * ((1.0 - pull) * rows.0 + pull * rows.1);
                }
            }
            std::mem::swap(&mut self.mass, &mut self.next);
        }
    }
}

/// d σ(gap/e)/d gap = pull (1 − pull)/e, to its own digits however small.
fn growth(gap: f64, temperature: f64) -> f64 {
    let tail = exp(-(gap / temperature).abs());
    tail / ((1.0 + tail) * (1.0 + tail)) / temperature
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
