//! Trials of an index policy: who gets which arm, what the trial found, and how large it has to be.
//!
//! A policy calls few of many. A trial of it has an arm whose K people with the highest index are called each week, and an arm
//! that is not called, or is called by another policy. The plain comparison of the arms is valid and nearly blind: most people of
//! either arm were never called. Since the rule is known, so is whom it *would* have called, and comparing like with like gives
//! intervals six to seven times shorter.
//!
//! | question | answer |
//! |---|---|
//! | who gets which arm? | [`assign`](assign()), [`balance`] |
//! | what does one trial know? | [`Record`] |
//! | since when would the rules treat a person differently? | [`divergence`](divergence()) |
//! | what did the policy bring? | [`analyse`](analyse()): [`subgroup_adjusted`], [`subgroup`](subgroup()), [`exchange`](exchange()), [`lin`](lin()), [`difference`](difference()) |
//! | may it be believed? | [`Analysis::is_contradictory`], [`Missing`], each [`Refusal`] |
//! | how many people does it take? | [`power`](power()) |
//!
//! **What is not here.** Three comparisons that a planner would make first find effects where there are none: the called before and after
//! (they were called because they fared badly, and would have come back), the called against the others of their arm (the same), both in
//! every trial; and those ever called against those of the control arm who could have been called in the first week (22 % of trials without
//! effect, where 5 % are allowed). They are not offered, and neither is drawing assignments until one looks balanced.

mod adjusted;
mod analyse;
mod assign;
mod complete;
mod cut;
mod difference;
mod divergence;
mod effect;
mod exchange;
mod lin;
mod ols;
mod power;
mod record;
mod refusal;
mod stage;
mod subgroup;
mod world;

pub use adjusted::subgroup_adjusted;
pub use analyse::{Analysis, Asked, Estimator, Missing, analyse};
pub use assign::{Unit, assign, balance};
pub use cut::{Cut, Edge};
pub use difference::difference;
pub use divergence::{Divergence, divergence};
pub use effect::{Effect, Interval};
pub use exchange::exchange;
pub use lin::lin;
pub use power::{Clusters, Design, Power, Simulated, power};
pub use record::{Group, Parts, Record, Rule, Rules};
pub use refusal::{Gap, Refusal};
pub use subgroup::subgroup;
pub use world::World;
