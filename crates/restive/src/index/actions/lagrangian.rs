//! The Lagrangian policy: one price for all arms at which what they cost equals the budget, and what every action is worth at it.
//!
//! # What it is
//! Let the budget K hold on average. At price m ≥ 0 arms fall apart, each earns J_i(m) per step (discounted from its initial distribution μ_i; the
//! average at γ = 1), less what it pays, and
//!
//! ```text
//! D(m) = Σ_i J_i(m) + m K
//! ```
//!
//! is at least what any policy of at most K a step can reach. Its minimum is where the expected cost of all arms passes K: D is convex and
//! piecewise linear, its corners are the prices at which some arm changes its policy, and the walk knows them all, so that the
//! price is exact: the price of one change of one arm (`marginal`), or 0 where the budget does not bind.
//!
//! The scores are the advantages Q(s, a) − Q(s, 0) at that price, costs included: positive where an action pays. They need no indexability. A
//! planner gives out actions in their order, per unit of cost, until the budget is spent.
//!
//! # Its pullback
//! At the held price, as for the prices of a programme that ends: exact for D (the envelope theorem) but at the margin, and without the price's own
//! movement for the advantages. Whoever wants that takes the gradient of the threshold of the marginal state. With z = (γ Σ c (P_a − P₀) + d_D μ) X, as in the
//! parent module.

use super::Actions;
use super::walk::{Arm, Walk};
use crate::interrupt;
use crate::lu::dot;
use ndarray::{Array1, Array2, Array3, Array4, ArrayView2, ArrayView3};
use rayon::prelude::*;

/// Costs closer than this, relative to what all arms can cost, are equal.
const EQUAL: f64 = 1e-12;

/// One price for all arms.
#[derive(Debug, Clone, PartialEq)]
pub struct Lagrangian {
    /// m, at least 0; NaN where an arm has no average reward (γ = 1, several recurrent classes)
    pub price: f64,
    /// D(m): per step, what no policy within the budget exceeds
    pub bound: f64,
    /// `[N]`: what each arm is expected to cost per step just above the price; their sum is at most the budget
    pub spent: Array1<f64>,
    /// `[N,M,A]`: Q(s, a) − Q(s, 0), costs included
    pub advantage: Array3<f64>,
    /// the arm whose change of policy sets the price; none where the price is 0
    pub marginal: Option<usize>,
}

/// What cotangents of bound and advantages become at a held price.
#[derive(Debug, Clone, PartialEq)]
pub struct LagrangianCotangent {
    /// `[N,M,A,M]`; rows sum to zero
    pub d_transition: Array4<f64>,
    /// `[N,M,A]`: where rewards are shared, sum over the arms
    pub d_reward: Array3<f64>,
    /// `[N,M]`
    pub d_initial: Array2<f64>,
    /// `[A]`
    pub d_cost: Vec<f64>,
    /// `[N]`: where the discount is shared, their sum
    pub d_discount: Array1<f64>,
    /// by the budget
    pub d_budget: f64,
    /// by the price
    pub d_price: f64,
}

impl Actions<'_> {
    /// The price at which arms that start as `initial` (`[N,M]`) cost `budget` per step, and the advantages at it.
    pub fn lagrangian(&self, initial: ArrayView2<'_, f64>, budget: f64) -> Lagrangian {
        let (n, m, a) = self.check();
        assert_eq!(initial.dim(), (n, m), "initial: [N,M]");
        assert!(budget >= 0.0, "budget: at least 0");
        let rows = self.transition.as_standard_layout();
        let p = rows.as_slice().expect("row-major").par_chunks(m * a * m);
        let start = initial.as_standard_layout();
        let start = start.as_slice().expect("row-major");
        let memory = || (Walk::new(m, self.cost, false), vec![0.0; 2 * m * (a - 1)]);
        let paths: Vec<Option<Vec<(f64, f64)>>> = (p.clone().enumerate())
            .with_min_len(self.arms_per_task())
            .map_init(memory, |(walk, spare), (i, p)| {
                interrupt::check();
                let is_known = walk.at(&self.arm(i, p), &start[i * m..][..m], f64::INFINITY, spare);
                is_known.then(|| std::mem::take(&mut walk.spent))
            })
            .collect();
        let Some(paths) = paths.into_iter().collect::<Option<Vec<_>>>() else {
            return Lagrangian {
                price: f64::NAN,
                bound: f64::NAN,
                spent: Array1::from_elem(n, f64::NAN),
                advantage: Array3::from_elem((n, m, a), f64::NAN),
                marginal: None,
            };
        };
        let (price, marginal) = crossing(&paths, budget);
        let mut found = Lagrangian {
            price,
            bound: price * budget,
            spent: Array1::zeros(n),
            advantage: Array3::zeros((n, m, a)),
            marginal,
        };
        let outputs = (found.advantage.as_slice_mut().expect("row-major").par_chunks_mut(m * a))
            .zip(found.spent.as_slice_mut().expect("row-major").par_iter_mut());
        let earned: Vec<f64> = (p.zip(outputs).enumerate())
            .with_min_len(self.arms_per_task())
            .map_init(memory, |(walk, spare), (i, (p, (advantage, spent)))| {
                interrupt::check();
                let (arm, start) = (self.arm(i, p), &start[i * m..][..m]);
                walk.at(&arm, start, price, spare);
                let value = values(walk, price);
                *spent = dot(start, &walk.slope);
                for s in 0..m {
                    let free = quality(&arm, s, 0, price, &value);
                    (0..a).for_each(|b| advantage[s * a + b] = quality(&arm, s, b, price, &value) - free);
                }
                dot(start, &value)
            })
            .collect();
        found.bound += earned.iter().sum::<f64>();
        found
    }

    /// What cotangents of [`Lagrangian::bound`] and of its advantages (`[N,M,A]`) become, at its price held.
    pub fn lagrangian_pullback(
        &self,
        initial: ArrayView2<'_, f64>,
        budget: f64,
        price: f64,
        d_bound: f64,
        d_advantage: Option<ArrayView3<'_, f64>>,
    ) -> LagrangianCotangent {
        let (n, m, a) = self.check();
        assert_eq!(initial.dim(), (n, m), "initial: [N,M]");
        assert!(d_advantage.is_none_or(|d| d.dim() == (n, m, a)), "d_advantage: [N,M,A]");
        let mut d_transition = Array4::zeros((n, m, a, m));
        let (mut d_reward, mut d_initial) = (Array3::zeros((n, m, a)), Array2::zeros((n, m)));
        // of costs, discount and price, `[N,A + 2]`
        let mut shared = vec![0.0; n * (a + 2)];
        let rows = self.transition.as_standard_layout();
        let start = initial.as_standard_layout();
        let start = start.as_slice().expect("row-major");
        let outputs = (d_transition.as_slice_mut().expect("row-major").par_chunks_mut(m * a * m))
            .zip(d_reward.as_slice_mut().expect("row-major").par_chunks_mut(m * a))
            .zip(d_initial.as_slice_mut().expect("row-major").par_chunks_mut(m))
            .zip(shared.par_chunks_mut(a + 2));
        (rows.as_slice().expect("row-major").par_chunks(m * a * m).zip(outputs))
            .enumerate()
            .with_min_len(self.arms_per_task())
            .for_each_init(
                || (Walk::new(m, self.cost, false), vec![0.0; 2 * m * (a - 1)], vec![0.0; m]),
                |(walk, spare, push), (i, (p, (((d_transition, d_reward), d_initial), shared)))| {
                    interrupt::check();
                    let (arm, start) = (self.arm(i, p), &start[i * m..][..m]);
                    if price.is_nan() || !walk.at(&arm, start, price, spare) {
                        // what is not known moves with everything
                        [d_transition, d_reward, d_initial, shared]
                            .into_iter()
                            .for_each(|d| d.fill(f64::NAN));
                        return;
                    }
                    let g = arm.discount;
                    let value = values(walk, price);
                    let (mean, total) = (value.iter().sum::<f64>() / m as f64, dot(start, &value));
                    let mut spread = |s: usize, b: usize, weight: f64| {
                        d_reward[s * a + b] += weight;
                        shared[b] -= price * weight;
                        shared[a] += weight * dot(arm.row(s, b, m), &value);
                        shared[a + 1] -= weight * self.cost[b];
                        let d_row = &mut d_transition[(s * a + b) * m..][..m];
                        d_row.iter_mut().zip(&value).for_each(|(d, v)| *d += g * weight * (v - mean));
                    };
                    push.iter_mut().zip(start).for_each(|(push, mass)| *push = d_bound * mass);
                    if let Some(d_advantage) = d_advantage {
                        for s in 0..m {
                            for b in 1..a {
                                let c = d_advantage[[i, s, b]];
                                spread(s, b, c);
                                spread(s, 0, -c);
                                let pair = arm.row(s, b, m).iter().zip(arm.row(s, 0, m));
                                push.iter_mut().zip(pair).for_each(|(push, (p, q))| *push += g * c * (p - q));
                            }
                        }
                    }
                    for x in 0..m {
                        let column = walk.inverse.iter().skip(x).step_by(m);
                        let weight: f64 = push.iter().zip(column).map(|(push, inverse)| push * inverse).sum();
                        spread(x, walk.policy[x], weight);
                    }
                    shared[a] -= d_bound * total;
                    let each = d_initial.iter_mut().zip(&value);
                    each.for_each(|(d, v)| *d = d_bound * ((1.0 - g) * v + g * total));
                },
            );
        let mut d = LagrangianCotangent {
            d_transition,
            d_reward,
            d_initial,
            d_cost: vec![0.0; a],
            d_discount: shared.chunks_exact(a + 2).map(|arm| arm[a]).collect(),
            d_budget: d_bound * price,
            d_price: d_bound * budget,
        };
        for arm in shared.chunks_exact(a + 2) {
            d.d_cost.iter_mut().zip(arm).for_each(|(d, part)| *d += part);
            d.d_price += arm[a + 1];
        }
        d
    }
}

/// The values of the policy at hand at a price, relative to their mean under the shift but for what that earns: J = shift·values.
fn values(walk: &Walk, price: f64) -> Vec<f64> {
    walk.level.iter().zip(&walk.slope).map(|(u, w)| u + walk.middle - price * w).collect()
}

/// Q(s, b), up to the constant that the values leave out.
fn quality(arm: &Arm<'_>, s: usize, b: usize, price: f64, value: &[f64]) -> f64 {
    let a = arm.cost.len();
    arm.reward[s * a + b] - price * arm.cost[b] + arm.discount * dot(arm.row(s, b, value.len()), value)
}

/// The smallest price of at least 0 above which all arms together cost at most the budget, and whose change it is. A path is the
/// cost of an arm from each of its prices on, the first from −∞.
fn crossing(paths: &[Vec<(f64, f64)>], budget: f64) -> (f64, Option<usize>) {
    let most: f64 = paths.iter().map(|path| path[0].1).sum();
    let mut drops: Vec<(f64, usize, f64)> = Vec::new();
    for (i, path) in paths.iter().enumerate() {
        drops.extend(path.windows(2).map(|pair| (pair[1].0, i, pair[0].1 - pair[1].1)));
    }
    drops.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
    let (mut spent, enough) = (most, budget + EQUAL * most);
    let mut rest = drops.iter().peekable();
    while let Some((_, _, drop)) = rest.next_if(|(price, ..)| *price <= 0.0) {
        spent -= drop;
    }
    let mut found = (0.0, None);
    for &(price, i, drop) in rest {
        if spent <= enough {
            break;
        }
        spent -= drop;
        found = (price, Some(i));
    }
    found
}
