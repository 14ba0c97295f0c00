//! From a programme's own exports to a study: registries, logs of messages, visits and calls.
//!
//! A [`Mapping`] says once what the exports mean; [`import`] reads them and makes a study of them, with the people it is of, an account
//! of where every row went, and one person's weeks in a sentence.
//!
//! | file | what happens there |
//! |---|---|
//! | `mapping` | what the exports mean, with the line and column of every word |
//! | `source` | files of any shape as rows of cells |
//! | `dates`, `numbers`, `matching`, `phones`, `periods` | what a cell says: a moment, a number, a person; and when that was |
//! | `columns` | the columns that are asked for, and whether their dates can be what the mapping says |
//! | `registry`, `records` | people, and what happened to them |
//! | `departures` | tables of their own for people who left and people who must not be called |
//! | `align` | the state of a row is what was known when its decision was made |
//! | `planned`, `last` | records of plans: calls with their probabilities; the people called last, with the outcomes of these calls |
//! | `availability`, `clusters` | the periods in which people could be called; the household or other cluster of each person |
//! | `accounts` | where every row went |
//! | `words` | words of a column that a message may show |
//! | `earlier`, `changes`, `programme`, `imported` | earlier imports, what they and this one write, and where |
//! | `outcomes` | a sheet that comes back: who was called, and what became of it |
//! | `pseudonym` | ids that say nothing |
//! | `demo` | synthetic programmes: their exports and the truth behind them |
//! | `init` | a first mapping, from the exports themselves |
//! | `import`, `summary`, `example` | all of it in order, and what there is to say |
//!
//! ```
//! use restive_import::{Input, Mapping, import};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
//! write("registry.csv", "id,name,district\nB1,Ada,north\nB2,Ben,south\n");
//! write("messages.csv", "who,when,seconds\nB1,2026-03-03,45\nB2,2026-03-08,3\nB1,2026-03-09,5\nB1,2026-03-15,5\nB2,2026-03-22,60\n");
//! write("calls.csv", "who,when\nB2,2026-03-17\n");
//! write(
//!     "mapping.toml",
//!     r#"
//!     [period]
//!     every = "week"
//!     [people]
//!     file = "registry.csv"
//!     id = "id"
//!     keep = ["name"]
//!     [people.features]
//!     district = "text"
//!     [[events]]
//!     file = "messages.csv"
//!     person = "who"
//!     time = "when"
//!     value = "seconds"
//!     [state]
//!     at_least = [30]
//!     silence = "lowest"
//!     [actions]
//!     file = "calls.csv"
//!     person = "who"
//!     time = "when"
//!     "#,
//! );
//! let mapping = Mapping::read(&folder.join("mapping.toml"))?;
//! let imported = import(&mapping, &Input::Files { base: folder }, &Default::default(), |_, _| {})?;
//! let programme = &imported.study.instances[0];
//! assert_eq!(programme.arms, ["B1", "B2"]);
//! // weeks from 2, 9 and 16 March; B2 is called in the third, by the decision of row 1
//! assert_eq!(programme.trajectories.state().as_slice().unwrap(), [1, 0, 0, 0, 0, 1]);
//! assert_eq!(programme.trajectories.action()[[0, 1, 1]], 1);
//! # Ok::<(), restive_import::Error>(())
//! ```

mod accounts;
mod align;
mod availability;
mod changes;
mod clusters;
mod columns;
mod dates;
pub mod demo;
mod departures;
mod earlier;
mod error;
mod example;
mod import;
mod imported;
mod init;
mod last;
mod mapping;
mod matching;
mod numbers;
pub mod outcomes;
mod periods;
mod phones;
mod planned;
mod programme;
mod pseudonym;
mod records;
mod registry;
mod source;
mod summary;
mod texts;
mod words;

pub use accounts::{Account, Quarantined, ReasonCount};
pub use changes::Change;
pub use earlier::Earlier;
pub use error::{Error, Result};
pub use import::{ImportAsked, Imported, import};
pub use imported::{Damage, ImportedFile, ImportedFolder};
pub use init::init;
pub use mapping::{At, Mapping, MappingText};
pub use planned::{Contact, Planned, PlannedOutcome, PlannedPerson, PlannedWeek};
pub use programme::recognise_mapping;
pub use source::{Input, Reading, Source, SourceError};
pub use summary::{Changed, PeriodRow, Summary};
