//! A person's own record beside the prediction.
//!
//! A predictor knows people by their features; a log also knows what each of them did. A [`Rule`] weighs the two:
//!
//! | rule | states | where it is used |
//! |---|---|---|
//! | [`Rule::Alone`] | any | where held-out people do not say that records help |
//! | [`Carry`] | any number; seen at every step, or at pulls only | where they do |
//! | [`Gauss`] | two, seen at every step | where, besides, first states tell something of people, as in programmes |
//!
//! Records speak mostly of being left alone, for few are called; decisions turn on what a call would change. Both rules move what is
//! expected of a call along with what was seen without one, on the scale of log-odds. [`learn()`] chooses and fits the rule on people
//! that the predictor has not been trained on, and says what the choice rests on; [`Rule::apply`] serves planning, and [`intervals()`] say
//! how far people like a person are from what is planned with.
//!
//! ```
//! use ndarray::Array4;
//! use restive::data::domain::Domain;
//! use restive::history::{HeldOut, Past, Rule, learn};
//!
//! let domain = Domain { instances: 2, arms: 60, budget: 12, trajectories: 3, ..Domain::two_state() };
//! let instances = domain.generate(1)?;
//! // a prediction that knows nothing of anybody: records have to help
//! let prediction = Array4::from_elem((60, 2, 2, 2), 0.5);
//! let (log, observation) = (instances[0].trajectories(), instances[0].observation());
//! let learnt = learn(&[HeldOut { log, observation, prediction: prediction.view() }], None);
//! assert!(matches!(learnt.rule, Rule::Carry(_)), "{}", learnt.why);
//!
//! let past = Past::new(instances[1].trajectories(), observation);
//! let p = learnt.rule.apply(&past, prediction.view())?;
//! let error = |p: &Array4<f64>| (p - &instances[1].truth().unwrap().view()).mapv(|x| x * x).sum();
//! assert!(error(&p.view().to_owned()) < 0.7 * error(&prediction));
//! # Ok::<(), restive::Error>(())
//! ```

mod by_moves;
mod by_sightings;
pub mod carry;
pub mod fit_carry;
pub mod gauss;
pub mod intervals;
pub mod learn;
mod past;
mod prequential;
mod rule;
mod sighted;

pub use carry::Carry;
pub use fit_carry::{CarryFit, fit_carry};
pub use gauss::{Gauss, GaussEnd, GaussFit, fit_gauss, fit_gauss_with};
pub use intervals::{COVERAGE, intervals};
pub use learn::{FOLDS, HeldOut, HistoryLead, LEAST_ARMS, Learnt, RestsOn, Why, learn};
pub use past::Past;
pub use rule::Rule;
