//! Who gets the places, under rules, with exact probabilities.

mod by_rank;
mod conflict;
mod draw;
mod dual;
mod flow;
mod greedy;
mod integer;
mod key;
mod lot;
mod network;
mod price;
mod problem;
mod programme;
mod ranked;
mod refusal;
mod rounding;
mod smallest;
mod solve;
mod structure;
mod water;

pub use draw::{Draw, Drawn, Inclusion, draw};
pub use key::tie_key;
pub use price::{Change, RulePrice, price};
pub use problem::{Allocation, Cost, Family, Method, NO_GROUP, Problem};
pub use refusal::{Conflict, Refusal, RuleRef};
pub use solve::allocate;
