//! The ledger, as a programme uses it and as accidents treat it.

mod cells;
mod chain;
mod child;
mod constraints;
mod damage;
mod draft;
mod forged;
mod history;
mod kill;
mod made;
mod oracle;
mod outcomes;
mod places;
mod programme;
mod round_trip;
mod trials;
mod versions;
mod writers;
