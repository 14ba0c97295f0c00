//! The files that a programme may edit: written once, with everything in them commented out, and never over what is there.

use crate::error::Result;
use crate::folder::Programme;
use restive_ledger::{Ledger, Lock};
use restive_pipeline::reasons::Words;
use restive_tables::write_files;
use std::path::PathBuf;

/// Rules, all of them comments.
pub const RULES: &str = include_str!("rules.toml");

/// Words of lists, all of them comments; those of reasons stand before them.
const LIST_WORDS: &str = include_str!("words.toml");

/// Words, all of them comments.
pub fn words() -> String {
    let line = |line: &str| match line.trim().is_empty() || line.starts_with('#') {
        true => format!("{line}\n"),
        false => format!("# {line}\n"),
    };
    Words::ENGLISH.lines().map(line).collect::<String>() + "\n" + LIST_WORDS
}

impl Programme {
    /// Writes the files that are not there yet; which ones they are.
    pub fn init(&self) -> Result<Vec<PathBuf>> {
        let mut made = Vec::new();
        let lock = Lock::take(&self.ledger())?;
        for (path, text) in [(self.rules_file(), RULES.to_string()), (self.words_file(), words())] {
            if !path.exists() {
                write_files(&[(path.clone(), text.as_bytes())], None)?;
                made.push(path);
            }
        }
        let ledger = self.ledger();
        if !ledger.exists() {
            drop(Ledger::open_locked(&ledger, lock)?);
            made.push(ledger);
        }
        Ok(made)
    }
}
