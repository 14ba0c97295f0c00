//! From a study to a model, from a model to a plan, without a terminal: what the program and the Python face share.
//!
//! | file | what happens there |
//! |---|---|
//! | `asked`, `resolve`, `describe` | what a training was asked for, resolved to numbers, and told on a card |
//! | `prepare` | a study's split, the encoding of its features, its instances by part |
//! | `method`, `train`, `card` | the ways to train behind one door; a training, epoch by epoch; how it went |
//! | `model` | trained predictors to and from their folder |
//! | `apply`, `history`, `latest`, `plan` | a model meets a study: predictions, what they are worth, whom to pull |
//!
//! Messages name options as the command line writes them (`--index-discount`); the Python face translates these.
//!
//! ```
//! use restive_pipeline::{Applied, Asked, PlanAsked, Trained, Training};
//! use restive_tables::Study;
//!
//! # fn main() -> Result<(), restive_pipeline::Error> {
//! # let study_folder = std::path::Path::new("../../examples/study");
//! let study = Study::read(study_folder)?;
//! let asked = Asked { epochs: Some(2), drop: vec!["district".into()], ..Asked::default() };
//! let training = Training::new(&study, &asked, "an example")?;
//! let progressed = training.run(Default::default(), None, |_| Ok::<_, restive_pipeline::Error>(()))?;
//! let model = training.model(progressed.members, progressed.histories);
//!
//! let applied = Applied::new(Trained::new(model)?, study, "the model", "the study")?;
//! let plan = applied.plan(&PlanAsked::default())?;
//! assert_eq!(plan.plan.len(), plan.budget * applied.instances.len());
//! # Ok(())
//! # }
//! ```

mod apply;
mod asked;
pub mod card;
mod describe;
mod error;
mod history;
mod latest;
mod method;
mod model;
mod plan;
pub mod prepare;
mod resolve;
mod train;
pub mod words;

pub use apply::{Applied, indices};
pub use asked::{
    Asked, Objective, PRECISION_CAP, PredictorName, Preset, Profile, temperature, temperature_text,
};
pub use error::{Error, Result};
pub use history::History;
pub use latest::latest;
pub use method::{Fit, Method};
pub use model::{Trained, describe as describe_predictor, rebuild, weights};
pub use plan::{LastSeen, Plan, PlanAsked, Row, pulls};
pub use train::{Progressed, Step, Training};
