//! The record of a programme's plans: every list, every person's probability, every outcome, in one SQLite file.
//!
//! Whoever judges a programme later needs to know what was decided, how, and with what probability it could have been otherwise. All
//! of that is known when a plan is made, and never again. A [`Ledger`] keeps it: each [`Plan`] with the fingerprints of what it was
//! made of, its seed and its rules; everybody it chose from, with the probability of being on the list; each [`Override`] with who
//! decided it and why; each [`Outcome`], and what it was before it was amended or [withdrawn](Ledger::withdraw). Nothing is ever removed.
//!
//! | file | what it is |
//! |---|---|
//! | `ledger.db` | the ledger, for its owner alone |
//! | `ledger.db-wal`, `ledger.db-shm` | SQLite's log while somebody writes, and after a kill; they belong to the ledger |
//! | `ledger.db.lock` | [lock](Lock) of the process that writes; contains its identity |
//! | `ledger.db.new` | a new ledger until it is whole |
//! | `ledger.db.v1` | the ledger as it was before it was brought up from version 1 |
//!
//! | table | one row is | key |
//! |---|---|---|
//! | `plans` | a plan; of each period at most one is current | `number`; `id` is its name |
//! | `people` | somebody from whom a plan chose; never changed | `plan`, `arm` |
//! | `excluded` | somebody whom a rule kept from being chosen; never changed | `plan`, `arm` |
//! | `overrides` | a change to a list by a person | `number` |
//! | `outcomes` | what came of a person's place on a list, as it holds now | `plan`, `arm` |
//! | `amended` | what an outcome was before it was amended or withdrawn; never changed | `number` |
//! | `trials` | a trial; at most one runs | `number`; `id` is its name |
//! | `assigned` | somebody who is in a trial; never changed | `trial`, `arm` |
//! | `chain` | something that was written, with a digest of all before it; never changed | `number` |
//! | `listed` (a view) | somebody who is on a list, overrides applied | |
//!
//! | source | what happens there |
//! |---|---|
//! | `open`, `lock`, `schema` | from a path to a connection: modes, one writer, versions |
//! | `plan`, `outcome`, `trial`, `words`, `check` | what the records are, and what must hold of them |
//! | `ledger`, `draft`, `record`, `receive`, `withdraw` | writing, one transaction for each call |
//! | `chain`, `seal`, `event` | what each write adds to the chain |
//! | `verify`, `replay`, `narrow` | whether all is as it was written, and what is not |
//! | `reader`, `history`, `part` | reading; what the next plan and the next import need; one person |
//!
//! ```
//! use restive_ledger::{Code, How, Ledger, Lock, NewPlan, Outcome, Planned};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("ledger.db");
//! let mut ledger = Ledger::open(&path)?;
//! let plan = NewPlan {
//!     made_at: "2026-03-13T09:30:00Z".into(),
//!     period: 11,
//!     period_start: "2026-03-16".into(),
//!     period_end: "2026-03-22".into(),
//!     restive: "0.1.0".into(),
//!     model: "spring".into(),
//!     model_fingerprint: "5bdcc146".into(),
//!     study_fingerprint: "bf60754e".into(),
//!     words_fingerprint: "6a04089b".into(),
//!     rules: "calls = 1".into(),
//!     policy: "whittle".into(),
//!     budget: 1,
//!     places: 1,
//!     explore_places: 0,
//!     seed: 7,
//!     steps: 12,
//!     inclusion: "exact".into(),
//!     value: 0.4,
//!     summary: "{}".into(),
//!     asked: "{}".into(),
//!     inputs: vec![],
//!     certificate: String::new(),
//!     trial: None,
//!     cuts: String::new(),
//! };
//! // both are worth the same: a draw among ties decided
//! let person = |arm: &str, how, row: Option<&str>| Planned {
//!     arm: arm.into(),
//!     probability: 0.5,
//!     how,
//!     rank: Some(1),
//!     state: Some(0),
//!     value: 0.4,
//!     group: None,
//!     row: row.map(Into::into),
//!     score: 0.4,
//!     tie: 0,
//!     trial: None,
//! };
//! let people = [person("B1", How::NotListed, None), person("B2", How::Rank, Some("{}"))];
//! let id = ledger.record(&plan, &people, &[], false)?;
//! assert_eq!(id, "2026-03-16");
//!
//! let outcome = Outcome {
//!     plan: id.clone(),
//!     arm: "B2".into(),
//!     code: Code::NoAnswer,
//!     day: Some("2026-03-17".into()),
//!     note: None,
//!     source: "calls.csv".into(),
//!     received_at: "2026-03-23T08:00:00Z".into(),
//! };
//! assert_eq!(ledger.receive(&[outcome.clone()])?.new, 1);
//! assert_eq!(ledger.receive(&[outcome.clone()])?.same, 1);
//! assert_eq!(ledger.receive(&[Outcome { code: Code::Reached, ..outcome }])?.amended, 1);
//! assert!(ledger.missing(&id)?.is_empty());
//! assert_eq!(ledger.amended(&id)?[0].code, Code::NoAnswer);
//!
//! // whatever was written is a link, and nothing was changed behind them
//! let verified = ledger.verify()?;
//! assert_eq!((verified.links, verified.faults.len()), (3, 0));
//! assert_eq!(ledger.verify_with_head(&ledger.chain()?[0].link)?.known, Some(1));
//!
//! // somebody else can read while this one writes, and nobody else can write
//! assert_eq!(Ledger::read(&path)?.calls()?[0].last.code, Code::Reached);
//! assert!(Lock::take_within(&path, std::time::Duration::ZERO).is_err());
//! # Ok::<(), restive_ledger::Error>(())
//! ```

mod chain;
mod check;
mod draft;
mod error;
mod event;
mod history;
mod ledger;
mod lock;
mod narrow;
mod open;
mod outcome;
mod part;
mod plan;
mod reader;
mod receive;
mod record;
mod replay;
mod schema;
mod seal;
mod trial;
mod verify;
mod withdraw;
mod words;

pub use chain::Link;
pub use draft::{Done, ListChange};
pub use error::{Error, Result};
pub use history::{Calls, Decided, LastCall, Standing, Standings};
pub use ledger::Ledger;
pub use lock::{Holder, Lock};
pub use outcome::{Code, Outcome, Problem, Received};
pub use part::Part;
pub use plan::{Excluded, How, Input, Kind, NewPlan, Override, Plan, Planned, Status};
pub use reader::Reader;
pub use trial::{Assigned, NewTrial, Trial, TrialEnd, TrialStatus};
pub use verify::{Fault, Verified};
pub use withdraw::Withdrawn;
