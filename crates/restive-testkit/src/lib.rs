//! Fixtures and harness for the tests of the workspace.
//!
//! | module | contents |
//! |---|---|
//! | [`cli`] | runs a program in a temporary folder with bounded time and memory |
//! | [`cache`] | keeps built fixtures on disk, shared by threads, processes and test runs |
//! | [`folder`] | temporary folders and private copies |
//! | [`http`] | an HTTP client for the web UI |
//! | [`model_card`] | changes to the card of a model |
//! | [`snapshot`] | masks and settings of snapshots |
//! | [`programme`] | a synthetic programme: exports, hidden truth, weeks of lists |
//! | [`mod@page_text`] | words of an HTML page, for snapshots |
//! | [`study`] | a small study with its true transition probabilities |
//! | [`random_study`] | random studies with every kind of gap, and with declarations |
//! | [`naive_study`] | the naive reader of studies, oracle for the readers |
//! | [`chance`] | reproducible random numbers |
//!
//! The crate depends on no crate above the generator of synthetic data. A test that needs a folder made by a higher crate passes a
//! function that makes it. Only integration tests use the kit: the unit tests of a crate that the kit depends on would see two copies of
//! each type.

pub mod cache;
pub mod chance;
pub mod cli;
mod declarations;
pub mod folder;
pub mod http;
pub mod model_card;
pub mod naive_study;
pub mod page_text;
pub mod programme;
pub mod random_study;
pub mod snapshot;
pub mod study;

pub use chance::Chance;
pub use cli::{Cli, Run, stderr, stdout};
pub use folder::{Folder, copy_folder};
pub use http::{HttpClient, HttpResponse, form_encoded};
pub use insta;
pub use model_card::identify_effects;
pub use page_text::{page_text, wrapped};
pub use programme::{ProgrammeFixture, ProgrammeOptions};
pub use snapshot::{Masks, masked, snapshot_settings};
pub use study::{StudyFixture, StudyOptions};
