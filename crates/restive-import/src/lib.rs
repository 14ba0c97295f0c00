//! From a programme's own exports to a study: registries, logs of messages, visits and calls.

mod source;

pub use source::{Input, Reading, Row, Source, SourceError};
