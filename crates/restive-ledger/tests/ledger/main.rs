//! The ledger, as a programme uses it and as accidents treat it.

mod child;
mod constraints;
mod damage;
mod history;
mod kill;
mod made;
mod outcomes;
mod places;
mod round_trip;
mod versions;
mod writers;
