//! Whom the lists served: groups of people, their part of the places, and what a floor for one of them would cost.
//!
//! # What is random?
//! A list is no sample: everybody who could be called was considered, and a rule chose. Three questions have three kinds of chance.
//!
//! | question | what is dealt anew | answer |
//! |---|---|---|
//! | would a lottery have given this group as few? | the places, among those who could be called | [`Chance`]: an exact range and p-value |
//! | what does the rule do to people like these? | the people, as a sample of their like | an interval of the rate, by person |
//! | has it changed since the last period? | the people, each with both periods | an interval of the difference |
//!
//! **Against chance.** In one week the count of a group is hypergeometric. Over several weeks a rule lists the same people again and again, so
//! person-weeks are not independent, and a lottery dealt afresh every week would make every rule look unfair to somebody. What is dealt
//! anew is then who belongs to which group: every person keeps the weeks they were listed. Where people could be called in different numbers of
//! weeks, it is what they had beyond the overall rate that is dealt. P-values of the groups of a table are corrected by Holm's method.
//!
//! **Rates.** Wilson's interval, on as many independent observations as the people's own variation says that the weeks are worth.
//!
//! # From lists to a printed page
//! [`Groups`] says who is in which group, a [`Period`] what happened to everybody, [`table`] makes a [`Table`] of it; [`suppress`]
//! withholds what would tell on a few people, and enough more that it cannot be worked out. [`floor_prices`] is what the planner loses by
//! a floor on a group's places. [`describe`] and [`compare`] hold two sets of people against each other, as tables of papers do.
//!
//! ```
//! use restive::fairness::{Groups, Period, table};
//!
//! let groups = Groups::new(vec!["rural".into(), "urban".into()], &[Some(0), Some(0), Some(1), None], "not known")?;
//! let (could, none) = ([1, 1, 1, 1], [0; 4]);
//! let period = Period {
//!     enrolled: &[true; 4],
//!     could: &could,
//!     listed: &[0, 1, 1, 0],
//!     outcomes: &none,
//!     reached: &none,
//!     benefit: &[0.0, 0.3, 0.2, 0.0],
//!     need: &[0.5; 4],
//! };
//! let table = table(&groups, &period, None)?;
//! let rural = table.rows[0].lists.as_ref().expect("nothing is withheld yet");
//! assert_eq!(rural.rate.expect("two could be called").share, 0.5);
//! assert_eq!(rural.chance.expect("others could be called").expected, 1.0);
//! # Ok::<(), restive::Error>(())
//! ```

mod audit;
mod cells;
mod chance;
mod compare;
mod floor;
mod groups;
mod period;
mod rate;
mod row;
mod suppress;
mod table;

pub use audit::{Count, Withheld, audit};
pub use cells::Crossing;
pub use compare::{Comparison, Description, compare, describe};
pub use floor::{FloorPrice, FloorPrices, floor_prices};
pub use groups::{Groups, cross};
pub use period::Period;
pub use row::{Chance, Change, Lists, Population, Reach, Row};
pub use suppress::{LEAST, suppress};
pub use table::{Overall, Table, Test, table};
