//! The laboratory: what the paper compares, repeated from scratch, without a terminal.
//!
//! | room | what happens there |
//! |---|---|
//! | `method`, `metric`, `regime`, `people` | what numbers are of, as types; words stand in files only |
//! | [`problem`] | what methods are compared on: the synthetic domains and the synthetic maternal programme |
//! | `learn` | the trainings that are compared, each from instances to a predictor |
//! | `trial`, `compare` | what a method is worth on a test instance; one run of a comparison |
//! | [`demo`] | a comparison of a few runs, with a plan, models and a report |
//! | [`experiment`] | every figure and table of the paper, in resumable units, with intervals and paired tests |
//! | [`figure`] | a chart as SVG and PNG files |
//!
//! Nothing is printed: whoever asks hears of progress through a callback, and gets strings and files.

mod compare;
pub mod demo;
pub mod experiment;
pub mod figure;
mod learn;
mod method;
mod metric;
mod people;
pub mod problem;
mod progress;
mod regime;
mod trial;

pub use progress::{Heard, Listener};

use method::{Method, PUBLISHED_DISCOUNT};
use metric::Metric;
use regime::Regime;
use restive_pipeline::generate::DomainName;
