//! A training of people who lie in partitions that never meet: sums of gradients and curvatures, one pass for every Newton step.
//!
//! A [`TrainJob`] is what a worker needs, as bytes; a partition answers it with a [`TrainPart`], which merges with those of others in any order.
//! Whoever drives it has a [`PartitionTraining`]: it says what to ask next, takes the answers, and has the model in the end:
//!
//! 1. a survey: what the encoding learns of training arms, how often people moved;
//! 2. the fit ([`restive::predictor::logistic::Passing`]): value, slope and curvature of the likelihood, one pass a step;
//! 3. a pass that judges all three parts.
//!
//! The weights are those of one machine to what rounding leaves, 10⁻⁹. Parts are those of a column `split`, otherwise dealt by keys, as those of
//! very many people are everywhere. A table of people counts moves and does not say when they were made, so that the model says nothing of what
//! own records are worth: plans with it go by predictions.

mod driver;
mod job;
mod part;

pub use driver::PartitionTraining;
pub use job::TrainJob;
pub use part::TrainPart;
