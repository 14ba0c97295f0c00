//! One answer of one check.

use crate::message::Message;
use serde::Serialize;

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// nothing was found
    Fine,
    /// worth knowing; also where a check does not apply or has too few data
    Note,
    /// answers may mislead
    Warning,
    /// answers would mislead
    Serious,
}

impl Severity {
    /// From the gravest on.
    pub const ALL: [Self; 4] = [Self::Serious, Self::Warning, Self::Note, Self::Fine];

    /// In a word.
    pub fn name(self) -> &'static str {
        ["fine", "note", "warning", "serious"][self as usize]
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// the check, by the name that study.toml can silence it by
    pub name: &'static str,
    /// how grave it is
    pub severity: Severity,
    /// in one or two sentences, with figures
    pub found: String,
    /// where there is something to do
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_to_do: Option<Message>,
    /// why it does not count, where study.toml says so
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silenced: Option<String>,
}

impl Finding {
    pub(super) fn fine(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, severity: Severity::Fine, found: found.into(), what_to_do: None, silenced: None }
    }

    /// Something that is worth knowing, and nothing to do about it.
    pub(super) fn note(name: &'static str, found: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::fine(name, found) }
    }

    /// Something to do.
    pub(super) fn new(
        name: &'static str,
        severity: Severity,
        found: impl Into<String>,
        what_to_do: impl Into<Message>,
    ) -> Self {
        Self { severity, what_to_do: Some(what_to_do.into()), ..Self::fine(name, found) }
    }

    /// Of states that are seen at pulls only.
    pub(super) fn collapsing(name: &'static str) -> Self {
        Self::note(name, "Does not apply: states are seen at calls only, so nobody knows how others fared.")
    }
}
