//! A programme's week: import, model, this week's list under its rules with a reason for every name, and the outcomes that close the loop.
//!
//! | file | what happens there |
//! |---|---|
//! | `folder` | the folder of a programme: where everything is |
//! | `init` | the files that people edit |
//! | `grow` | an import that knows what was planned, and what came of it |
//! | `exports` | where the exports are: an import made again, and what it could not use |
//! | `train` | a new model |
//! | `evidence`, `findings` | whether the ranking finds the right people; what the data can answer: as pages |
//! | `weeks` | what came of the last lists |
//! | `made`, `store` | a plan and its record from what they are made of; what that was, kept |
//! | `kept` | what was kept of a recorded plan, laid out again |
//! | `week` | this week's list, made and recorded |
//! | `trial` | trials of lists: designed, agreed, drawn, analysed |
//! | `audit` | plans on record: looked at, verified, one against another |
//! | `fairness` | whom the lists served, and what a floor for a group would cost |
//! | `report` | one page for a director: whom to call, why, what it brings, what is unknown |
//! | `row`, `list`, `words` | what is said of one person; the list for people, in their words |
//! | `files` | the list as a file |
//! | `change` | changes to a list by hand |
//! | `draft` | a list as its editors see it: versions, moved up, final |
//! | `past` | what the ledger says of earlier lists, kept while it stays so |
//! | `outcomes` | filled-in lists, read back |
//! | `person` | one person: her weeks, what the model says, what would change it, her places |
//! | `archive` | a week as one file |
//! | `place` | what came of one person's place, told by whoever called her, and taken back |
//! | `capacity`, `dials` | what other numbers in the rules would bring, before they are written there |
//! | `status` | where a programme stands |

mod archive;
mod audit;
mod capacity;
mod change;
mod dials;
mod draft;
mod effects;
mod error;
pub mod evidence;
mod exports;
pub mod fairness;
mod files;
mod findings;
mod folder;
mod grow;
mod init;
mod kept;
mod list;
mod made;
mod outcomes;
mod past;
mod person;
mod place;
mod report;
mod row;
mod status;
mod store;
mod train;
mod trial;
mod week;
mod weeks;
mod words;

pub use archive::Archive;
pub use audit::{Again, Diff, Entry, Moved, PlanAgain, Shown, Verified, VerifyAsked, WeekOnRecord, Why};
pub use capacity::{Capacity, Set, WhatIf};
pub use dials::{Dial, NewLimit, Turned};
pub use draft::{Backdrop, Draft, DraftRow, Edit, Edited};
pub use effects::{ListEffects, RecordedEffects, not_stated_of_people};
pub use error::{Error, Result};
pub use exports::{Exports, Refused};
pub use files::{System, check_list, list_columns, recognise_list, write_list};
pub use findings::findings_page;
pub use folder::{ModelEntry, Period, Programme};
pub use grow::grow;
pub use init::{RULES, words as template_words};
pub use outcomes::{OutcomesAsked, Told};
pub use person::{
    Casebook, Hold, InState, Person, PersonEffects, PersonPlace, PersonSaid, PersonWeek, Share, Silent,
};
pub use place::{Entered, OneOutcome, OpenList, is_day_of_call, seen};
pub use report::{
    ByState, Called, Group, Grouped, Learnt, MOST_BY, Moves, OnList, Record, Report, ReportAsked,
    ReportSource, Typical, Unknown,
};
pub use restive_ledger::{Code, Done, Input, Kind as Change, ListChange, Lock, Outcome, Override};
pub use row::{Chance, Row, RowEffects};
pub use status::Status;
pub use train::NewModel;
pub use trial::{
    AnalyseAsked, Analysed, AtEffect, AtSize, Balance, DesignAsked, Designed, EffectFound, EffectLine,
    Estimator, LIST, Protocol, TrialAssigned, TrialStanding, design as design_on_study, recognise_protocol,
};
pub use week::{CONTROL, REHEARSAL, Week, WeekAsked};
pub use weeks::WeekTold;
