//! Words of a column that mean yes, and words that mean no: `{ column = "dnd", yes = ["Y", "do not call"], no = ["N"] }`.
//!
//! Words are compared without capitals and white space. An empty cell means no. Words of `missing` have no meaning of their own here.

use super::text::Section;
use crate::error::Result;
use crate::matching::folded;

/// Words and their meaning.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answers {
    pub(crate) yes: Vec<String>,
    pub(crate) no: Vec<String>,
    /// folded, and whether they mean yes
    meanings: Vec<(String, bool)>,
}

impl Answers {
    /// Reads the keys `yes` and `no` of a section.
    pub(crate) fn parse(section: &Section<'_>) -> Result<Self> {
        let mut answers = Self::default();
        for (key, is_yes) in [("yes", true), ("no", false)] {
            for word in section.texts(key)?.unwrap_or_default() {
                let plain = folded(&word.value);
                if answers.meanings.iter().any(|(known, meaning)| *known == plain && *meaning != is_yes) {
                    let found =
                        format!("{key}: found {:?} in both lists, expected each word in one", word.value);
                    return Err(section.text.fault(word.at, found));
                }
                answers.meanings.push((plain, is_yes));
                if is_yes { &mut answers.yes } else { &mut answers.no }.push(word.value);
            }
        }
        Ok(answers)
    }

    /// Meaning of a cell; `None` if the mapping does not list it.
    pub(crate) fn meaning(&self, cell: &str) -> Option<bool> {
        if cell.is_empty() {
            return Some(false);
        }
        let plain = folded(cell);
        self.meanings.iter().find(|(word, _)| *word == plain).map(|(_, meaning)| *meaning)
    }
}
