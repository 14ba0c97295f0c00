//! Places under rules, against enumeration of all lists.
//!
//! `cases` draws small problems and knows all their lists · `optimal`: values, fill and prices · `conflicts`: smallest sets of rules
//! and missing places · `chance`: probabilities against all orders of keys, fairness and frequencies · `keys`: published numbers ·
//! `contest`: who can be dropped · `sizes`: more people than can be enumerated.

mod cases;
mod chance;
mod conflicts;
mod contest;
mod keys;
mod optimal;
mod sizes;
