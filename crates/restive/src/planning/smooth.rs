//! Prices that have a derivative: the minimum of the smoothed dual at a temperature, and the way back through it.
//!
//! # What it is
//! The smallest bound lies at a corner of a piecewise linear D, and where a corner is does not tell how it moves. With every maximum softened at a
//! temperature e > 0 ([`smoothed`](super::smoothed)) the dual D_e is smooth and its minimum over λ ≥ 0 a function λ(θ) of everything that
//! the programme is made of. Softened maxima are above the sharp ones: D_e is a **bound** on every policy too, at most
//! e ln 2 for each arm and step above D. Each price, the bound and the advantages of the softened recursion then have derivatives,
//! nothing held. A softened choice pulls half of those who do not care, so that steps at which nobody gains have a price of the order of e.
//!
//! # How it is computed
//! Newton's method with the exact [curvature](super::curvature), projected onto λ ≥ 0, from where a [descent](super::descent) at higher
//! temperatures ends. Steps are accepted where the value falls, or the residual (by how much of its budget a step is over- or
//! underspent), and end where neither does: a residual of 10⁻¹³ is usual.
//!
//! # Its pullback
//! At the minimum ∂D_e/∂λ = 0 for the prices above 0, whatever θ is; those at 0 stay there. With c the cotangent of the free prices, their own and
//! what those of the advantages become on them,
//!
//! ```text
//! v = −(∂²D_e/∂λ∂λᵀ)⁻¹ c        dθ = what held prices give  +  ∂/∂θ (v·∂D_e/∂λ)
//! ```
//!
//! the last term being one more walk along every arm. A budget of 0 has no such prices (no finite one empties a softened
//! list), and where the temperature is so low that no arm is near any price the curvature vanishes: `is_converged` is false then,
//! because prices between two arms are all alike. The bound has its derivative even so.

use super::Programme;
use super::advantages::softened_advantages;
use super::curvature::{curvature, turn};
use super::descent::minimise;
use super::dual::Dual;
use super::prices::{MOST, STAGES};
use super::pullback::{PlanCotangent, pullback};
use crate::cholesky::Cholesky;
use ndarray::{Array2, Array3, ArrayView1, ArrayView2, ArrayView3};

/// Newton steps, at most.
const STEPS: usize = 60;
/// A residual up to which prices count as found: the part of its budget by which a step is over- or underspent.
const RESIDUAL: f64 = 1e-9;

/// Prices within this many temperatures of 0 may be held there on the way.
const NEAR: f64 = 1e-6;
/// What holds a price at least, in units of its budget per temperature.
const HOLD: f64 = 1e-6;

/// Prices at a temperature, and what they imply.
#[derive(Debug, Clone, PartialEq)]
pub struct SmoothPrices {
    /// `[G,H]`: of a pull of each group at each step
    pub price: Array2<f64>,
    /// the smoothed dual at these prices: at least the expected value of any policy within the budgets
    pub bound: f64,
    /// `[H,N,M]`: what a pull is worth at each step in each state, later choices being softened
    pub advantage: Array3<f64>,
    /// the largest part of a budget by which a step with a price is over- or underspent
    pub residual: f64,
    /// whether these are the prices: a small residual, and a curvature that singles them out
    pub is_converged: bool,
    temperature: f64,
}

/// The prices that minimise the dual of a programme, smoothed at a temperature above 0; its budgets are above 0 and its motion has transitions.
///
/// ```
/// use ndarray::array;
/// use restive::Reward;
/// use restive::planning::{Ending, Programme, smooth_prices};
///
/// let p = array![
///     [[[0.9, 0.1], [0.3, 0.7]], [[0.4, 0.6], [0.1, 0.9]]],
///     [[[0.8, 0.2], [0.5, 0.5]], [[0.3, 0.7], [0.2, 0.8]]],
/// ];
/// let (reward, start) = (Reward::linear(2), array![[1.0, 0.0], [1.0, 0.0]]);
/// let programme = Programme {
///     motion: p.view().into(),
///     reward: (&reward).into(),
///     discount: 1.0,
///     horizon: 3,
///     ending: Ending::State,
///     group: None,
///     budget: &[1.0],
///     presence: None,
/// };
/// let found = smooth_prices(&programme, start.view(), 0.05);
/// assert!(found.is_converged);
/// let first = array![[1.0, 0.0, 0.0]];
/// let d = found.pullback(&programme, start.view(), Some(first.view()), 0.0, None);
/// assert!(d.d_budget[0] < 0.0); // with more places a pull costs less
/// ```
pub fn smooth_prices(
    programme: &Programme<'_>,
    initial: ArrayView2<'_, f64>,
    temperature: f64,
) -> SmoothPrices {
    assert!(temperature > 0.0 && temperature.is_finite(), "temperature: above 0, not {temperature}");
    assert!(programme.budget.iter().all(|k| *k > 0.0), "budget: above 0 where prices are smooth");
    let dual = Dual::new(programme, initial);
    let mut price = Array2::zeros((programme.groups(), programme.horizon));
    let (mut bound, mut residual, mut is_converged) = (0.0, 0.0f64, true);
    for (g, members) in programme.members().iter().enumerate() {
        let [largest, _] = dual.largest_advantages(members);
        let unit = largest.min(programme.reward.range()).max(temperature);
        let budget = programme.budget[g];
        let group = Group { programme, initial, dual: &dual, members, budget, temperature, unit };
        let found = group.minimum();
        bound += found.value;
        residual = residual.max(found.residual);
        is_converged &= found.residual <= RESIDUAL && group.is_singled_out(&found.price);
        price.row_mut(g).assign(&ArrayView1::from(&found.price));
    }
    let advantage = softened_advantages(programme, price.view(), temperature);
    SmoothPrices { price, bound, advantage, residual, is_converged, temperature }
}

impl SmoothPrices {
    /// The temperature at which the prices were found.
    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// Whether cotangents of prices and advantages ask how prices move, which has an answer where `is_converged`. The bound does not: at the
    /// minimum it moves with no price.
    pub fn is_felt(d_price: Option<ArrayView2<'_, f64>>, d_advantage: Option<ArrayView3<'_, f64>>) -> bool {
        d_price.is_some_and(|d| d.iter().any(|d| *d != 0.0))
            || d_advantage.is_some_and(|d| d.iter().any(|d| *d != 0.0))
    }

    /// What cotangents of the prices `[G,H]`, of the bound and of the advantages `[H,N,M]` become; `programme` and `initial` are those of which the
    /// prices were found. There is no more to say of the prices: `d_price` is 0.
    pub fn pullback(
        &self,
        programme: &Programme<'_>,
        initial: ArrayView2<'_, f64>,
        d_price: Option<ArrayView2<'_, f64>>,
        d_bound: f64,
        d_advantage: Option<ArrayView3<'_, f64>>,
    ) -> PlanCotangent {
        let (price, temperature) = (self.price.view(), self.temperature);
        let mut d = pullback(programme, initial, price, temperature, d_bound, d_advantage);
        let mut along = std::mem::replace(&mut d.d_price, Array2::zeros(price.raw_dim()));
        if let Some(own) = d_price {
            along += &own;
        }
        if !Self::is_felt(d_price, d_advantage) {
            return d;
        }
        for (g, members) in programme.members().iter().enumerate() {
            let (mut along, price) = (along.row_mut(g), price.row(g).to_vec());
            let free = priced(&price);
            let mut v: Vec<f64> = free.iter().map(|&t| -along[t]).collect();
            let curvature = curvature(programme, initial, members, &price, temperature);
            match Cholesky::new(among(&curvature, &free)) {
                Some(factor) => factor.solve(&mut v),
                None => v.fill(f64::NAN), // not singled out, as `is_converged` said
            }
            along.fill(0.0);
            free.iter().zip(v).for_each(|(&t, v)| along[t] = v);
        }
        let turned = turn(programme, initial, price, temperature, along.view());
        d.d_transition += &turned.d_transition;
        d.d_reward += &turned.d_reward;
        d.d_initial += &turned.d_initial;
        d.d_budget.iter_mut().zip(turned.d_budget).for_each(|(d, turned)| *d += turned);
        d.d_discount += turned.d_discount;
        d.d_temperature += turned.d_temperature;
        d
    }
}

/// The arms that share a budget: groups do not know each other.
struct Group<'a, 'b> {
    programme: &'a Programme<'b>,
    initial: ArrayView2<'a, f64>,
    dual: &'a Dual<'b, 'a>,
    members: &'a [usize],
    budget: f64,
    temperature: f64,
    /// what prices are counted in: the largest advantage, the range of the rewards where that is less, at least the temperature
    unit: f64,
}

/// Prices on the way, with what the dual is there.
struct Point {
    price: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    residual: f64,
}

impl Group<'_, '_> {
    fn minimum(&self) -> Point {
        let mut at = self.point(self.beginning());
        for _ in 0..STEPS {
            let step = self.newton(&at);
            let Some(better) = step.and_then(|step| self.searched(&at, &step)) else { break };
            at = better;
        }
        at
    }

    fn point(&self, price: Vec<f64>) -> Point {
        let (value, gradient) = self.dual.gradient(self.members, &price, self.budget, self.temperature);
        let mut residual = 0.0f64;
        for (t, (d, price)) in gradient.iter().zip(&price).enumerate() {
            // at 0 too little may be spent; a step that weighs nothing has no price
            let weight = self.programme.weight(t);
            if weight > 0.0 && (*price > 0.0 || *d < 0.0) {
                residual = residual.max((d / (weight * self.budget)).abs());
            }
        }
        Point { price, value, gradient, residual }
    }

    fn curvature(&self, price: &[f64]) -> Array2<f64> {
        curvature(self.programme, self.initial, self.members, price, self.temperature)
    }

    /// The Newton step of the free prices; those that are held go to 0. None where the curvature is not finite.
    fn newton(&self, at: &Point) -> Option<Vec<f64>> {
        let curvature = self.curvature(&at.price);
        // at 0, or so near that the gradient would take it there at once: those are held (Bertsekas 1982)
        let is_held = |t: usize| at.gradient[t] >= 0.0 && at.price[t] <= NEAR * self.temperature;
        let free: Vec<usize> = (0..at.price.len()).filter(|&t| !is_held(t)).collect();
        let mut d: Vec<f64> = free.iter().map(|&t| -at.gradient[t]).collect();
        ridged(&among(&curvature, &free))?.solve(&mut d);
        // on a plateau, where nobody is near the prices, the step would go beyond all of them
        let longest = d.iter().fold(0.0f64, |a, d| a.max(d.abs()));
        let part = (self.unit / longest).min(1.0);
        let mut step: Vec<f64> = at.price.iter().map(|price| -price).collect();
        free.iter().zip(d).for_each(|(&t, d)| step[t] = part * d);
        Some(step)
    }

    /// The first point along a step, projected and halved, at which the value falls, or, where its digits no longer tell, the residual does;
    /// none where nothing falls.
    fn searched(&self, at: &Point, step: &[f64]) -> Option<Point> {
        let mut alpha = 1.0;
        while alpha > 1e-9 {
            let price: Vec<f64> = at.price.iter().zip(step).map(|(x, d)| (x + alpha * d).max(0.0)).collect();
            let slope: f64 = (0..price.len()).map(|t| (price[t] - at.price[t]) * at.gradient[t]).sum();
            let there = self.point(price);
            let is_better = match -slope > 1e-10 * at.value.abs() {
                true => there.value <= at.value + 1e-4 * slope,
                false => there.residual < 0.9 * at.residual,
            };
            if is_better {
                return Some(there);
            }
            alpha *= 0.5;
        }
        None
    }

    /// Whether the curvature holds every price to within a small part of the temperature, when budgets are met but for rounding: its smallest
    /// eigenvalue, in units of budgets and temperature, is above [`HOLD`].
    fn is_singled_out(&self, price: &[f64]) -> bool {
        let free = priced(price);
        let unit = |t: usize| (self.temperature / (self.programme.weight(t) * self.budget)).sqrt();
        let mut scaled = among(&self.curvature(price), &free);
        scaled.indexed_iter_mut().for_each(|((a, b), x)| *x *= unit(free[a]) * unit(free[b]));
        scaled.diag_mut().iter_mut().for_each(|x| *x -= HOLD);
        Cholesky::new(scaled).is_some()
    }

    /// Where Newton's method begins: a descent at falling temperatures, down to the one asked for.
    fn beginning(&self) -> Vec<f64> {
        let unit = self.unit;
        let scale = unit * self.budget.max(1.0);
        let in_rewards = |x: &[f64]| -> Vec<f64> { x.iter().map(|x| x * unit).collect() };
        let stages = STAGES.iter().map(|(softness, tolerance)| (softness * unit, *tolerance));
        let warmer = stages.filter(|(softness, _)| *softness > self.temperature);
        let mut x = vec![0.0; self.programme.horizon];
        for (softness, tolerance) in warmer.chain([(self.temperature, STAGES[2].1)]) {
            let found = minimise(x, tolerance, MOST, |x| {
                let (value, d_price) =
                    self.dual.gradient(self.members, &in_rewards(x), self.budget, softness);
                (value / scale, d_price.iter().map(|d| d * unit / scale).collect())
            });
            x = found.x;
        }
        in_rewards(&x)
    }
}

/// The factors of a curvature that is positive definite, or is made so: far from the minimum it may vanish. None where it is not finite.
fn ridged(curvature: &Array2<f64>) -> Option<Cholesky> {
    let largest = curvature.diag().fold(f64::MIN_POSITIVE, |a, b| a.max(*b));
    let ridges = [0.0, 1e-14, 1e-11, 1e-8, 1e-5, 1e-2, 10.0].map(|ridge| ridge * largest);
    let with = |ridge: f64| curvature + &(Array2::<f64>::eye(curvature.nrows()) * ridge);
    ridges.into_iter().find_map(|ridge| Cholesky::new(with(ridge)))
}

/// The steps with a price above 0: the others' stay where they are.
fn priced(price: &[f64]) -> Vec<usize> {
    (0..price.len()).filter(|&t| price[t] > 0.0).collect()
}

/// The rows and columns of some steps.
fn among(curvature: &Array2<f64>, free: &[usize]) -> Array2<f64> {
    Array2::from_shape_fn((free.len(), free.len()), |(a, b)| curvature[[free[a], free[b]]])
}
