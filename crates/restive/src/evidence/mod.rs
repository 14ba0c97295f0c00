//! Honest evidence from a log: does a ranking find those for whom a call makes a difference, and what would its plan bring?
//!
//! A simulation on counted moves, and the paper's one-trajectory metric, can be won without knowing anyone. This cannot: scores of
//! what a call brings (doubly robust, from a [judge](Judge) who was fitted to other people and never sees the
//! ranking), compared only within group, decision and state, with the ranking entering through its ranks alone. What
//! is asked of the log is a [design](Design): how calls came to whom they came.
//!
//! | question | answer |
//! |---|---|
//! | does the ranking find those for whom a call makes a difference? | [`Ranking::p`], [`Evidence::redealt`], [`Evidence::deciles`] |
//! | how much more than random calls would its plan bring? | [`Ranking::plan`] |
//! | which of two rankings? | [`Ranking::less`] |
//! | may the design be believed? | [`Evidence::balance`] |
//! | does a call act between its row and the next, as it should? | [`Alignment`] |
//! | what do random calls bring, what did those that were made? | [`Evidence::random`], [`Evidence::brought`] |
//! | what rests on chances that were recorded, and did calls go as they were drawn? | [`Evidence::recorded`] |
//! | are predicted effects as large as those that are seen? | [`Evidence::calibration`] |
//! | effect of a treatment that is assigned once per person and lasts | [`Evidence::course`] |
//!
//! **Whom to judge.** People whom the ranking was not learnt from: with a model for each fold of people everybody can be judged, and
//! the answer is one about how the models were made.
//!
//! **What it does not see.** A loss from calling in the wrong state: people are compared with others in the same state. Effects
//! beyond the next step are those of the judge, who takes a person's chances of staying engaged from his features and his record.
//!
//! **Declarations.** Evidence uses three declarations of a log and its settings. A decision at which an arm was not
//! [available](crate::instance::Trajectories::available) is neither a pull nor a control. Influences are summed by
//! [cluster](crate::instance::Instance::clusters), and pulls that were assigned to whole clusters are permuted between clusters. Pulls that are
//! assigned [once per person](crate::instance::Assignment::PerPerson) are compared by the outcomes of the whole course.
//!
//! ```
//! use restive::data::maternal::Maternal;
//! use restive::evidence::{Design, Evidence, EvidenceSettings, Judge, Judged};
//! use restive::instance::Assignment;
//! use restive::planning::Ending;
//! use ndarray::{Array3, Axis};
//!
//! let programme = Maternal { groups: 2, people: 400, budget: 20, effect_spread: 2.0, ..Maternal::default() }.generate(3)?;
//! let [others, judged] = [&programme.instances[0], &programme.instances[1]];
//! let judge = Judge::fit(std::slice::from_ref(others))?;
//! let everyone: Vec<usize> = (0..judged.arms()).collect();
//! let (design, ending) = (Design::Rota, Ending::State);
//! let assignment = Assignment::PerDecision;
//! let settings = EvidenceSettings { design, uses_recorded: true, horizon: 7, ending, seed: 0, assignment };
//! let evidence = Evidence::new(&[Judged { instance: judged, arms: &everyone, judge: &judge }], settings)?;
//!
//! // the true one-step effects, as somebody would rank by who knew everything: `[1,N,2]`
//! let p = judged.truth().unwrap().view();
//! let effect = Array3::from_shape_fn((1, judged.arms(), 2), |(_, i, s)| p[[i, s, 1, 1]] - p[[i, s, 0, 1]]);
//! let ranking = evidence.ranking(&[effect])?;
//! assert!(ranking.p < 0.05 && ranking.plan.value > 0.0);
//! # Ok::<(), restive::Error>(())
//! ```

mod alignment;
mod balance;
mod called;
mod cells;
mod clusters;
mod course;
mod deciles;
mod design;
mod exchange;
mod judge;
mod logged;
mod ranking;
mod ranks;
mod redeal;
mod rows;
mod scores;

pub use alignment::{Alignment, AlignmentVerdict};
pub use balance::{Balance, MOST_SCORE};
pub use cells::Cells;
pub use deciles::{DECILES, Deciles};
pub use design::{Design, Recorded};
pub use judge::{Judge, MOST_COLUMNS, MOST_PEOPLE};
pub use ranking::{Gain, Ranking};
pub use rows::{Evidence, EvidenceSettings, Judged};
