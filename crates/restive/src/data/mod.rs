//! Where instances come from: synthetic [`domain`]s here, people's own tables through `restive-tables`.

pub mod domain;
