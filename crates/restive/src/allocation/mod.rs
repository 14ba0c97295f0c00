//! Who gets the places, under rules, with exact probabilities.
//!
//! # What it is
//! N people, each with what a place is worth to them, and K places. Planners have rules: a worker makes at most 15 calls, a household
//! gets one, each centre at least 20, these people must be called, no more may be spent than this. [`allocate`] finds the list worth most
//! among those that keep all rules; [`price`] says what a rule costs; [`draw`] keeps some places for a draw and states
//! everybody's probability to be on the list, without which nothing can be learned from the calls later.
//!
//! A [`Family`] is one rule: groups that no two share a person of, a floor and a cap for each. Ties in value are broken by a
//! [key](tie_key) that anybody who knows the seed can compute. All chance is a function of the keys, and nothing depends on the order in
//! which people are stored.
//!
//! # How it is computed
//! | the groups of all families are | [`Method`] | optimal | time |
//! |---|---|---|---|
//! | disjoint or nested, pair by pair | `Greedy`: by rank, places kept back for floors | always | O(N log N) |
//! | two such systems that cross | `Flow` of least cost | always, values rounded to 2⁻⁵² of the largest | O(K · cells) at worst |
//! | anything else, or costs that bind | `Integer` | within `gap`, 0 where proven (to 10⁻⁹, the solver's) | bounded by steps and nodes |
//!
//! Groups whose rules say nothing do not count. An integer programme that is too large even for a first list is refused as such.
//!
//! Rules that cannot all be met are answered by a [`Conflict`]: an irreducible set of rules, proven the smallest where `is_smallest`
//! says so, and how many places are missing.
//!
//! Where people come as a stream or in partitions, a [`Contest`] leaves those of them who can get a place at all.
//!
//! # Chance
//! Probabilities are over the keys, as if each were drawn afresh.
//!
//! - **Nested rules, no draw**: exact. People of equal value share what is left for them: their chances rise at the same rate until a set
//!   that holds them is full; one dependent rounding, innermost sets first, makes a list that keeps every chance, every rule and the
//!   optimum. [`draw`] so gives ties of groups to other people than [`allocate`] may, which goes by key; the value is the same. Without
//!   groups both go by key.
//! - **Nested rules, a draw, and ties that do not matter**: exact, likewise, on the room that the places by rank leave. Without
//!   groups the draw is the E smallest keys among the rest, each with probability E/rest, and ties are exact too.
//! - **Nested groups, a draw, and ties that matter before it**: simulated, because who is left for the draw is itself a matter of chance.
//!   Given a tie-break the chances are exact, and their mean is taken.
//! - **Crossing rules, programmes and costs**: exact, 0 or 1, where no tie can change the list and nothing is drawn; else simulated. The
//!   draw goes through the rest by key, and whoever still fits has a place: it may leave places empty that another order would fill.
//!
//! [`Inclusion`] says which it was, and with how many repetitions: as many as asked for, fewer for many people (20 million people in
//! all repetitions, a hundredth of K times that for flows whose ties matter, 5,000 times that for programmes; never below 20).
//!
//! # An example
//! ```
//! use restive::allocation::{Change, Draw, Family, Inclusion, NO_GROUP, Problem, allocate, draw, price, tie_key};
//!
//! let people = ["asha", "bela", "chitra", "devi", "esha"];
//! let key = people.map(|id| tie_key(7, "2026-W03", id));
//! // asha and bela share a household, which gets one place
//! let household = Family { group: vec![0, 0, NO_GROUP, NO_GROUP, NO_GROUP], at_least: vec![0], at_most: vec![1] };
//! let families = [household];
//! let problem = Problem {
//!     value: &[0.9, 0.8, 0.5, 0.2, 0.2],
//!     key: &key,
//!     must: &[false; 5],
//!     places: 3,
//!     fill: true,
//!     families: &families,
//!     cost: None,
//! };
//! let list = allocate(&problem)?;
//! assert!(list.chosen[0] && !list.chosen[1] && list.chosen[2]); // and one of the two who tie
//! let without = price(&problem, &list, Change::WithoutFamily(0))?;
//! assert!((without.lost - 0.6).abs() < 1e-12); // bela's 0.8 instead of 0.2
//!
//! // who ties has the same probability
//! let tied = draw(&problem, &Draw::default())?;
//! assert_eq!(tied.probability, [1.0, 0.0, 1.0, 0.5, 0.5]);
//!
//! // one of the three places is drawn among the rest; bela's household is full
//! let drawn = draw(&problem, &Draw { explore: 1, ..Draw::default() })?;
//! assert_eq!(drawn.probability, [1.0, 0.0, 1.0, 0.5, 0.5]);
//! assert_eq!(drawn.inclusion, Inclusion::Exact);
//! # Ok::<(), restive::allocation::Refusal>(())
//! ```

mod by_rank;
mod conflict;
mod contest;
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

pub use contest::Contest;
pub use draw::{Draw, Drawn, Inclusion, draw};
pub use key::{place_key, tie_key};
pub use price::{Change, RulePrice, price};
pub use problem::{Allocation, Cost, Family, Method, NO_GROUP, Problem};
pub use refusal::{Conflict, Refusal, RuleRef};
pub use solve::allocate;
