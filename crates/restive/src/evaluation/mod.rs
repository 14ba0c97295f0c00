//! Evaluation: what a policy is worth, with an interval that says what it covers.
//!
//! | estimator | judges by | needs | blind to |
//! |---|---|---|---|
//! | [`cwpdis()`] (`is`) | the log, reweighted | propensities, several trajectories | the competition for the budget: other arms are where the behaviour policy left them |
//! | [`segmented()`] | one trajectory, reweighted step by step | propensities, no drift | nearly everything: the paper's metric, not evidence |
//! | [`Simulated`] (`simulated`) | rollouts on transitions estimated from the log | enough transitions of every kind | errors of the Markov model |
//! | [`Simulated`] (`true`) | rollouts on the true transitions | synthetic data | – |
//! | [`fluid()`] | the mean-field limit on transitions estimated from the log | as `simulated` | O(1/N) |
//!
//! Where transitions are taken as given, a [`Certificate`] holds a plan against what no policy can exceed. Predictive loss is the [`likelihood()`] of the logged transitions. [`evaluate()`] runs every estimator that applies for
//! every policy, over one or several instances.

mod availability;
pub mod bootstrap;
mod by_model;
mod by_ratio;
mod by_weight;
pub mod certificate;
mod combine;
pub mod cwpdis;
pub mod decisions;
pub mod decomposed;
mod draws;
pub mod estimate;
pub mod evaluate;
mod flow;
pub mod fluid;
mod fluid_by_step;
pub mod foreseen;
mod frequencies;
pub mod known;
mod latest;
pub mod likelihood;
pub mod propensity;
mod ratios;
pub mod record;
pub mod score;
pub mod segmented;
pub mod sightings;
pub mod simulated;
pub mod start;
pub mod strength;
pub mod transitions;
pub mod world;

pub use bootstrap::{bootstrap, times_drawn};
pub use certificate::{Budgeted, Certificate, Certified};
pub use cwpdis::{Cwpdis, EarnedCotangent, RatioUpTo, cwpdis};
pub use decisions::{Decisions, LogOddsCotangent, PullCotangent, target_log_odds, target_log_odds_available};
pub use decomposed::{Decomposed, DecomposedCotangent, Relaxation, WorldCotangent, decomposed};
pub use estimate::{Covers, Estimate, NORMAL, difference, moments, stretch};
pub use evaluate::{Case, Ends, EvaluationSettings, evaluate};
pub use flow::MeanField;
pub use fluid::{Fluid, FluidCotangent, fluid, fluid_of_tables};
pub use fluid_by_step::fluid_by_step;
pub use foreseen::Foreseen;
pub use frequencies::{alike, frequencies};
pub use known::{first_mass, first_states, known_states, labelled, later_label, unknown_label};
pub use latest::{latest, latest_states};
pub use likelihood::{Likelihood, LossCotangent, likelihood};
pub use propensity::{Behaviour, Drift, Hindrance, Propensity, drift, without_overlap};
pub use record::{Loss, Record};
pub use score::{Estimator, Evaluation, Evidence, Score};
pub use segmented::{Segmented, segmented};
pub use sightings::{POOLED_STRENGTH, fitted};
pub use simulated::Simulated;
pub use start::Start;
pub use strength::strength;
pub(crate) use transitions::log_prior;
pub use transitions::{GRID, PRIOR_STRENGTH, Strength, empirical, fit_strength, log_likelihood, smoothed};
pub use world::World;
