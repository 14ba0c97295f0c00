//! Plans for a programme that ends: prices for the pulls of each step, and what a pull is worth beside them.
//!
//! # What it is
//! A programme of H decisions is not an endless one, for which Whittle indices are made: a pull late in it has little time to pay. Price a pull at step t by λ_t ≥ 0 and every arm is on its own, with γ the discount of the value:
//!
//! ```text
//! V_H = 0 or R(s, passive) [Ending]      Q_t(s,a) = R(s,a) + γ Σ_s′ P(s,a,s′) V_{t+1}(s′) − a λ_t      V_t = max_a Q_t
//! D(λ) = Σ_i V_i,0(s_i) + K Σ_t γ^t λ_t
//! ```
//!
//! By weak duality D(λ) is at least what **any** policy with at most K pulls a step can reach in expectation, for every λ ≥ 0: the
//! smallest one is a certificate, and [`prices`] looks for it. The **plan** pulls, at step t, the K arms with the largest
//! [advantage](advantages) A_t(s) = Q_t(s,1) − Q_t(s,0) + λ_t: the price of the step itself cancels in the ranking; those of later
//! steps are in V_{t+1}. Where A is negative a pull does harm: D would leave it out, a plan that must spend its K does not. A week
//! later, ask again from the states seen then.
//!
//! Arms may belong to groups with a budget each, and may enter late or leave early ([`Programme`]). States may be labels of
//! collapsing arms ([`Motion`](crate::belief::Motion)).
//!
//! # How it is computed
//! D is convex and piecewise linear in H numbers for each group, and groups do not know each other: each has its own minimum. It
//! is found on a smoothed D ([`smoothed`]), whose gradient is γ^t (K − expected pulls at t), at temperatures of 5, 1 and 0.2 % of the
//! range of the rewards, each from the prices of the one before, by projected quasi-Newton steps. What is reported is D itself,
//! not smoothed. An evaluation is O(N H M²) for M states, O(N H L M) for L labels. For millions of arms,
//! [`prices_on_sample`] finds λ on some of them, and D on all. D is the exact sum of the arms' [worths] and of what is [spent], whatever their order.
//!
//! What the prices themselves depend on is asked of [`smooth_prices`], which are those of a smoothed D at a temperature that is given, with derivatives
//! by everything; [`pullback`](pullback()) answers at held prices.
//!
//! # An example
//! ```
//! use ndarray::{Array3, array};
//! use restive::Reward;
//! use restive::planning::{Ending, Programme, advantages, first_advantages, prices};
//!
//! // two arms in state 0; a pull helps the first at once, and the second for as long as it likes
//! let p = array![
//!     [[[1.0, 0.0], [0.1, 0.9]], [[1.0, 0.0], [1.0, 0.0]]],
//!     [[[1.0, 0.0], [0.3, 0.7]], [[0.1, 0.9], [0.1, 0.9]]],
//! ];
//! let reward = Reward::linear(2);
//! let programme = Programme {
//!     motion: p.view().into(),
//!     reward: (&reward).into(),
//!     discount: 1.0,
//!     horizon: 3,
//!     ending: Ending::State,
//!     group: None,
//!     budget: &[1.0],
//!     presence: None,
//! };
//! let start = array![[1.0, 0.0], [1.0, 0.0]];
//! let found = prices(&programme, start.view());
//! let plan: Array3<f64> = advantages(&programme, found.price.view());
//! let worth = |t: usize, arm: usize| plan[[t, arm, 0]];
//! assert!(worth(0, 1) > worth(0, 0)); // three steps are left: the effect that lasts
//! assert!(worth(2, 0) > worth(2, 1)); // one step is left: the likelier one
//! assert_eq!(first_advantages(&programme, found.price.view())[[1, 0]], worth(0, 1));
//! assert!(found.bound < 3.0 * 2.0); // nobody can earn more than this
//! ```

mod advantages;
mod arm;
mod curvature;
mod descent;
mod dual;
mod horizon;
mod pairs;
mod prices;
mod programme;
mod pullback;
mod sample;
mod smooth;

pub use advantages::{advantages, first_advantages};
pub use dual::{Smoothed, bound, smoothed, spent, worths};
pub use horizon::{Horizon, HorizonCotangent, HorizonIndices};
pub use prices::{Prices, prices, prices_on_sample};
pub use programme::{Ending, Programme};
pub use pullback::{PlanCotangent, pullback};
pub use sample::SAMPLE;
pub use smooth::{SmoothPrices, smooth_prices};
