//! Training: from instances to a predictor.
//!
//! Three methods: [`TwoStage`] fits the transitions by their [likelihood](mod@crate::evaluation::likelihood) and leaves planning
//! for later; [`DecisionFocused`] goes through the decision; [`Selection`] does the first and then the second, where that pays.
//! A [`Method`] says which, with all that decides its outcome but the data; [`fit`] runs it to its end, and a [`Fit`] is any
//! of them on its way: advanced epoch by epoch, saved and restored between any two of them.

pub mod auto;
mod batches;
mod candidates;
mod config;
pub mod decision_focused;
mod descent;
mod fit;
mod method;
mod prepared;
mod recipe;
pub mod selection;
mod snapshot;
pub mod two_stage;
pub mod value;

pub use auto::Auto;
pub use config::{Config, Keep, Protocol, Rate};
pub use decision_focused::{DecisionFocused, ObjectiveValue, Prior};
pub use descent::{EpochReport, Fitted, Status};
pub use fit::{Finished, Fit, fit};
pub use method::Method;
pub use recipe::{Choice, Recipe};
pub use selection::{Selected, Selection, Verdict};
pub use snapshot::Snapshot;
pub use two_stage::TwoStage;
pub use value::{Decision, Value};
