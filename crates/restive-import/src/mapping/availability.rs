//! Section `[availability]` of a mapping: log of the periods in which people could, or could not, be called.

use super::log::{Context, LogRule, READING, TimeRule};
use super::text::Section;
use crate::error::Result;

/// Log of the periods in which people could, or could not, be called.
#[derive(Debug, Clone)]
pub(crate) struct AvailabilityRule {
    pub(crate) log: LogRule,
    /// Column of the last day of a record. `None`: a record is of the period of its time alone.
    pub(crate) until: Option<TimeRule>,
    /// Whether a record means that the person could be called; in periods without a record the opposite holds.
    pub(crate) says_available: bool,
}

impl AvailabilityRule {
    pub(crate) fn parse(section: &Section<'_>, context: &Context<'_>) -> Result<Self> {
        section.only(&[&READING[..], &["person", "time", "until", "is", "key", "where"]].concat())?;
        let log = LogRule::parse(section, context, true)?;
        let until = TimeRule::parse(section, "until", context)?;
        let expected =
            "\"available\" or \"unavailable\": whether a record says that the person could be called";
        let word = section.need_text("is", expected)?;
        let says_available = match &*word.value {
            "available" => true,
            "unavailable" => false,
            other => {
                let found = format!("is: found {other:?}, expected {expected}");
                return Err(section.text.fault(word.at, found));
            }
        };
        Ok(Self { log, until, says_available })
    }
}
