//! The joint problem: all arms at once, as one Markov decision process.
//!
//! N arms with M states are one process with M^N *joint states*, and pulling exactly K of them is one of C(N, K) *joint
//! actions*. Small problems can be solved so, exactly ([`optimum`], [`best_value`], [`policy_value`]), and there a policy of indices
//! can be held against the best there is.
//!
//! It is also how decision-focused learning was done before indices: a [soft plan](plan()) of the whole process with a gradient by the
//! transitions, through the fixed point of the soft Bellman equation ([`Planner::Implicit`], Wang et al. 2021) or through unrolled
//! planning ([`Planner::Unrolled`], POPCORN, Futoma et al. 2020), judged by importance sampling on whole joint actions
//! ([`Objective`]), and trained behind a predictor ([`train()`]). They are baselines: their cost grows as M^N·C(N, K), which
//! [`Cost`] tells beforehand and [`Limit`] refuses.
//!
//! ```
//! use restive::data::domain::Domain;
//! use restive::joint::{Joint, Limit, Planner, best_value, greedy, plan, policy_value};
//!
//! let domain = Domain { instances: 1, arms: 4, budget: 1, trajectories: 2, ..Domain::two_state() };
//! let instance = &domain.generate(1)?[0];
//! let joint = Joint::from_instance(instance, &Limit::default())?;
//! let truth = instance.truth().unwrap().view();
//! let plan = plan(&joint, truth, 0.05, Planner::Implicit);
//! let planned = policy_value(&joint, truth, greedy(plan.q.view()).view(), 9);
//! let best = best_value(&joint, truth, 9);
//! assert!(planned[0] <= best[0] + 1e-9 && planned[0] > 0.95 * best[0]); // from joint state 0
//! // twenty arms with three states are too many
//! let large = Domain { states: 3, arms: 20, ..domain }.generate(1)?.remove(0);
//! assert!(Joint::from_instance(&large, &Limit::default()).is_err());
//! # Ok::<(), restive::Error>(())
//! ```

mod cost;
mod edge;
mod exact;
mod implicit;
mod krylov;
mod objective;
mod plan;
mod process;
mod soft;
pub mod train;
mod tree;
mod unrolled;

pub use cost::{Cost, Limit};
pub use exact::{Optimum, best_value, greedy, optimum, policy_value, strict, uniform};
pub use objective::{Judged, Objective};
pub use plan::{Plan, PlanCotangent, PlanStatus, Planner, plan};
pub use process::Joint;
pub use train::{JointGradient, JointSettings, JointTask, Trained, train};
