//! What is said to people, with the options that it names as facts: each face writes an option in its own way, the command line
//! `--index-discount`, Python `index_discount`.

use serde::{Serialize, Serializer};
use std::fmt;

/// An option by the name that the command line has for it, without its dashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opt(pub &'static str);

/// Text in which options are named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Option(Opt),
}

impl Message {
    /// The text, options written as `name` says.
    pub fn with_options(&self, name: impl Fn(&str) -> String) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Option(Opt(option)) => name(option),
        };
        self.0.iter().map(text).collect()
    }

    /// This, and then that.
    pub fn and(mut self, more: impl Into<Message>) -> Self {
        self.0.extend(more.into().0);
        self
    }
}

impl fmt::Display for Message {
    /// As the command line writes options.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_options(|name| format!("--{name}")))
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<Opt> for Message {
    fn from(option: Opt) -> Self {
        Message(vec![Piece::Option(option)])
    }
}

impl<T: Into<String>> From<T> for Message {
    fn from(text: T) -> Self {
        Message(vec![Piece::Text(text.into())])
    }
}

/// A message of pieces: `message!("try a lower ", Opt("learning-rate"))`.
macro_rules! message {
    ($first:expr $(, $more:expr)* $(,)?) => { $crate::message::Message::from($first)$(.and($more))* };
}
pub(crate) use message;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_written_as_each_face_writes_them() {
        let said = message!(Opt("value"), format!(": found {}; see ", 3), Opt("index-discount"));
        assert_eq!(said.to_string(), "--value: found 3; see --index-discount");
        assert_eq!(said.with_options(|name| name.replace('-', "_")), "value: found 3; see index_discount");
    }
}
