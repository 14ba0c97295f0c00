//! A plan of people who lie in partitions that never meet: the tables of Spark, Ray, a warehouse, or any stream of Arrow batches.
//!
//! A [`PlanJob`] is all that a worker needs, as bytes: the model, the settings of the study, the rules. A partition answers it with a few bytes,
//! whoever drives the job merges these, in any order, and the plan is that of one machine to the last bit:
//!
//! | pass | a partition answers with | the driver |
//! |---|---|---|
//! | [`sample`](PlanJob::sample) | those who may stand for everybody (the smallest keys), how many people there are | finds the [prices](PlanJob::priced) of pulls to come |
//! | [`gather`](PlanJob::gather) | counts, exact sums, and who can still have a place: the best of every cell that rules tell apart | deals the places: a [`Draft`] |
//! | [`details`](PlanJob::details) | those on the list, and those who stand for all in the certificate, once more | [finishes](Draft::finish) the plan |
//!
//! Every pass is a pure function of the job and of the partition, so that an engine may run a part twice, or again elsewhere. A table of
//! people has one row each ([`restive_tables::PeoplePiece`]); nobody may be in it twice, which is not looked for.

mod details;
mod draft;
mod gathered;
mod job;
mod sampled;
mod score;

pub use details::{Details, Wanted};
pub use draft::Draft;
pub use gathered::GatheredPart;
pub use job::PlanJob;
pub use sampled::Sampled;
