//! Training: from instances to a predictor.
//!
//! [`TwoStage`] fits the transitions by their [likelihood](mod@crate::evaluation::likelihood) and leaves planning for later. It is advanced epoch by
//! epoch and can be saved and restored between any two of them. [`fit`] runs it to the end, [`ensemble`] several times.

mod config;
pub mod decision_focused;
mod descent;
mod lesson;
mod recipe;
pub mod selection;
mod snapshot;
pub mod two_stage;
pub mod value;
mod way;

pub use config::{Config, Keep, Rate};
pub use decision_focused::{DecisionFocused, Objective, Prior};
pub use descent::{EpochReport, Fitted, Status};
pub use recipe::{Choice, Recipe};
pub use selection::{Selected, Selection, Verdict};
pub use snapshot::Snapshot;
pub use two_stage::TwoStage;
pub use value::{Decision, Value};

use crate::error::Result;
use crate::instance::Instance;
use crate::predictor::Ensemble;

/// Trains to the end.
///
/// ```
/// use restive::data::domain::Domain;
/// use restive::training::{Config, fit};
///
/// let domain = Domain { instances: 3, arms: 20, budget: 4, trajectories: 10, ..Domain::two_state() };
/// let instances = domain.generate(1)?;
/// let config = Config { epochs: 20, ..Config::recommended(&instances[..2]) };
/// let fitted = fit(config, &instances[..2], &instances[2..])?;
/// assert!(fitted.history.last().unwrap().train_loss < fitted.history[0].train_loss);
/// # Ok::<(), restive::Error>(())
/// ```
pub fn fit(config: Config, train: &[Instance], validation: &[Instance]) -> Result<Fitted> {
    let mut training = TwoStage::new(config, train, validation)?;
    while !training.is_finished() {
        training.epoch();
    }
    Ok(training.finish())
}

/// The mean of `members` fits, whose seeds are those of [`Config::member`].
pub fn ensemble(
    config: &Config,
    members: usize,
    train: &[Instance],
    validation: &[Instance],
) -> Result<Ensemble> {
    let one = |k: usize| Ok(fit(config.member(k), train, validation)?.predictor);
    Ok(Ensemble { members: (0..members.max(1)).map(one).collect::<Result<_>>()? })
}
