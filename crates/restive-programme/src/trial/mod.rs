//! Trials of a programme's lists: designed on its own people, agreed in a file, drawn once, and analysed as it was agreed.
//!
//! ```text
//! design ──► protocol.toml ──► assign ──► a list each week, as ever ──► analyse
//!            read and signed     drawn,       control people are left       by the estimator
//!            by people           recorded     alone, and recorded           that was named before
//! ```
//!
//! Half of the people (or another share) are in the group [`LIST`]: the lists are made of them. The others are in the group
//! [`CONTROL`](crate::CONTROL): nobody calls them while the trial runs, and every plan records what it would have thought of them. The mathematics is
//! [`restive::trial`]; what is decided here is where its numbers come from, and what keeps people honest: what is asked is written down before
//! the first call, groups are drawn once from a seed, and the analysis refuses a plan or a record that was changed since.
//!
//! | file | what happens there |
//! |---|---|
//! | `pool` | who would be randomised, in which strata and clusters; the draw and its balance |
//! | `design`, `designed` | how small an effect such a trial would find |
//! | `protocol` | the file that is agreed on |
//! | `assign` | the draw, recorded |
//! | `gather` | what the ledger and the study know of a trial: weeks, plans, outcomes |
//! | `status` | how far it is; its end |
//! | `record` | what an analysis reads: scores, ties, cuts, prognoses |
//! | `analyse`, `words` | what the trial found, in words |

mod analyse;
mod assign;
mod design;
mod designed;
mod gather;
mod pool;
mod protocol;
mod record;
mod status;
mod words;

pub use analyse::{AnalyseAsked, Analysed, EffectFound, EffectLine};
pub use assign::{Balance, TrialAssigned};
pub use design::{DesignAsked, design};
pub use designed::{AtEffect, AtSize, Designed};
pub use protocol::{Protocol, recognise_protocol};
pub use restive::trial::Estimator;
pub use status::TrialStanding;

/// The group of a trial that lists are made of.
pub const LIST: &str = "list";

/// What a week of the study's reward is called.
pub(crate) fn unit(study: &restive_tables::Study) -> String {
    study.settings.unit.clone().unwrap_or_else(|| "reward".into())
}
