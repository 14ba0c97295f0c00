//! The desk: a programme's pages on the planner's own machine.
//!
//! `restive serve PROGRAMME` opens a browser on a server that nobody else can reach. Pages are made here, from templates that the compiler
//! has checked; forms are plain; all that a page needs is inside the program, and it asks nothing of any other machine. Nothing is decided
//! here: lists, outcomes and records belong to [`restive_programme`], and this package shows them and passes on what people say.
//!
//! | room | what happens there |
//! |---|---|
//! | `serve` | from what was asked on the command line to a server that runs |
//! | `security` | who may ask, from where, how much and how often: a file for each point |
//! | `desk` | what the pages share: a picture of the programme, jobs, one writer, what was done |
//! | `look` | how a page is made: words, the frame around it, small pictures, refusals |
//! | `pages` | the pages, a file or folder each |
//! | `demo` | an invented programme, in seconds |
//!
//! **To add a page**: a file in `pages` with its handlers, a template that extends `base.html`, its words in `words/en` and `words/es`, a line in
//! [`pages`]' router and one in its navigation. What it shows it takes from [`desk::Snapshot`], which is never locked; what it
//! writes goes through [`desk::Desk::write`], and what lasts through [`desk::Desk::start`]. The role that may ask is in the handler's
//! signature.

pub mod demo;
pub mod desk;
mod error;
mod look;
pub mod pages;
mod security;
mod serve;

pub use error::{Error, Result};
pub use look::words::Words;
pub use security::role::{Anybody, Caller, Planner, Role, Viewer};
pub use security::session::Session;
pub use security::users::{User, Users};
pub use serve::{Opened, Server};
