//! Whether a log shows what a call does: a model's effects of calls may be stated only if it does.

use crate::error::{Error, Result};
use crate::read::whole::read_whole;
use crate::show::sentence;
use crate::write::write_files;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// File beside a model with a refusal that an evaluation found after the training.
pub(super) const REFUSAL: &str = "refusal.json";

/// Whether effects of calls can be told from a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Identification {
    /// No check objects to the declared assignment of calls.
    Identified,
    /// The log contradicts the declared assignment of calls, or leaves people nobody can be compared with.
    NotIdentified {
        /// Finding that contradicts it, as a clause.
        reason: String,
    },
    /// The log cannot be checked.
    Unknown {
        /// Missing information, as a clause.
        reason: String,
    },
}

impl Identification {
    /// Reason why effects cannot be told; `None` if they can.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Identified => None,
            Self::NotIdentified { reason } | Self::Unknown { reason } => Some(reason),
        }
    }

    /// Reads the refusal beside a model; `None` if there is none.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(REFUSAL);
        if !path.try_exists().map_err(Error::io(&path, "look for"))? {
            return Ok(None);
        }
        let found = serde_json::from_slice(&read_whole(&path)?).map_err(|error| {
            Error::content(&path, "", sentence(&error.to_string()), "the refusal of an evaluation")
        })?;
        Ok(Some(found))
    }

    /// Writes the refusal beside a model.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(REFUSAL);
        let text = serde_json::to_string_pretty(self).expect("plain values") + "\n";
        write_files(&[(path, text.as_bytes())], Some(Self::recognise))
    }

    /// Refuses to replace a file that is not a refusal.
    fn recognise(path: &Path) -> Result<()> {
        path.parent().map_or(Ok(None), Self::read).map(drop)
    }
}
