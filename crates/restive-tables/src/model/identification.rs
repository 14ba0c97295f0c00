//! Whether a log shows what a call does: a model's effects of calls may be stated only if it does.

use crate::error::{Error, Result};
use crate::read::whole::read_whole;
use crate::show::sentence;
use crate::write::write_files;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// File in the folder of a model that contains a refusal. An evaluation found the refusal after the training.
pub(super) const REFUSAL: &str = "refusal.json";

/// Whether a log identifies the effects of calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Identification {
    /// No check objects to the declared assignment of calls.
    Identified,
    /// The log contradicts the declared assignment of calls. Or it has enough calls, but too few of them can be compared with people
    /// who were not called.
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
    /// Reason why effects are not identified; `None` if they are.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Identified => None,
            Self::NotIdentified { reason } | Self::Unknown { reason } => Some(reason),
        }
    }

    /// Reads the refusal from the folder of a model; `None` if the folder has none.
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

    /// Writes the refusal into the folder of a model.
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
