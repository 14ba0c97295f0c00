//! The library's integration tests, in one binary.
//!
//! `recovery`: two roads to one number · `gradients`: every pullback against finite differences ·
//! `invariants`: properties that hold for all inputs · `golden`: numbers from `reference/` · `rooms`: which room
//! may know which · `predictor`, `two_stage`, `programme`: learning · `encoding`, `split`: features and parts of a study ·
//! `evaluation`, `fluid`, `coverage`: estimators against naive formulas, enumeration and repetition · `report`: pages and charts
//! read back as XML. `arms` draws random
//! arms, `oracle` holds the slow textbook truths.

mod arms;
mod coverage;
mod encoding;
mod evaluation;
mod fluid;
mod golden;
mod gradients;
mod invariants;
mod oracle;
mod predictor;
mod programme;
mod recovery;
mod report;
mod rooms;
mod selection;
mod simulation;
mod split;
mod two_stage;
