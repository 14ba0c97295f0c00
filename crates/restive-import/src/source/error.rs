//! What can be wrong with an export.
//!
//! A message is one line in the house's grammar, "FILE: found X, expected Y", with the file as the mapping gives it. It
//! may be sent to somebody who can help, so it holds names of files, sheets and columns, counts and lines, and never
//! what stands in a cell: that may be a name or a telephone number.

use restive_tables::show::{self, sentence};
use std::io;
use std::path::Path;

/// What is found of a file without rows.
pub(super) const HEADER_ONLY: &str = "a header and no rows";

/// What is wrong with a file of a source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// There is no such file, member, sheet or frame.
    #[error("{}: found {found}, expected {expected}{}", show::plain(file), instead(there))]
    Missing {
        /// as the mapping gives it
        file: String,
        /// what there is, in words
        found: String,
        /// what was looked for, in words
        expected: String,
        /// up to five names that there are, the most similar first
        there: Vec<String>,
    },
    /// The system refused.
    #[error("{}: cannot {doing}: {}", show::plain(file), plain(answer))]
    Io {
        /// the file
        file: String,
        /// what was tried: open, read
        doing: &'static str,
        /// the system's answer; the message has it
        answer: io::Error,
    },
    /// The file is something that cannot be read, or holds nothing.
    #[error("{}: found {found}, expected {expected}", show::plain(file))]
    Content {
        /// the file
        file: String,
        /// what it is, in words
        found: String,
        /// what could be read, in words
        expected: String,
    },
    /// The file is damaged.
    #[error("{}: found an unreadable {format} ({found}), expected a whole one", show::plain(file))]
    Damaged {
        /// the file
        file: String,
        /// what it is: gzip file, zip archive, workbook, Parquet file
        format: &'static str,
        /// what was found, in words
        found: String,
    },
    /// A row of text does not end.
    #[error(
        "{}: found a row that begins on line {line} and does not end, expected as many quotation marks that \
             close as open",
        show::plain(file)
    )]
    Unending {
        /// the file
        file: String,
        /// the line, from 1
        line: u64,
    },
    /// Files of one source have different columns.
    #[error(
        "{}: found no column {}, expected the columns of {}{}",
        show::plain(file),
        listed(missing),
        show::plain(first),
        advice(*members)
    )]
    Columns {
        /// the file
        file: String,
        /// columns that it has not
        missing: Vec<String>,
        /// the file that has them
        first: String,
        /// both are members of an archive of which none was named
        members: bool,
    },
    /// A column has values that have no text.
    #[error(
        "{}: column {}: found {found}, expected text, numbers, booleans, dates or times",
        show::plain(file),
        show::name(column)
    )]
    Type {
        /// the file
        file: String,
        /// the column
        column: String,
        /// its type
        found: String,
    },
}

impl SourceError {
    /// Whether a file holds a header and nothing below it.
    pub fn is_header_only(&self) -> bool {
        matches!(self, SourceError::Content { found, .. } if found == HEADER_ONLY)
    }

    pub(super) fn content(file: &str, found: impl Into<String>, expected: impl Into<String>) -> Self {
        SourceError::Content { file: file.into(), found: found.into(), expected: expected.into() }
    }

    pub(super) fn io(file: &str, doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |answer| SourceError::Io { file: file.into(), doing, answer }
    }

    pub(super) fn damaged(file: &str, format: &'static str, found: &str) -> Self {
        SourceError::Damaged { file: file.into(), format, found: sentence(found) }
    }

    /// The tables' error about a path as one about the file of that name.
    pub(super) fn of_table(file: &str) -> impl Fn(restive_tables::Error) -> Self {
        move |error| match error {
            restive_tables::Error::Io { doing, answer, .. } => {
                SourceError::Io { file: file.into(), doing, answer }
            }
            restive_tables::Error::Damaged { found, .. } => {
                SourceError::damaged(file, "Parquet file", &found)
            }
            other => SourceError::damaged(file, "Parquet file", &other.to_string()),
        }
    }
}

/// The name of a file without its folders.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn instead(there: &[String]) -> String {
    if there.is_empty() { String::new() } else { format!("; there is {}", listed(there)) }
}

/// Names, five at most.
fn listed(names: &[String]) -> String {
    const MOST: usize = 5;
    let shown: Vec<String> = names.iter().take(MOST).map(|name| show::name(name)).collect();
    let more = names.len().saturating_sub(MOST);
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{rest}", shown.join(", "))
}

/// Remedy for tables of one archive that differ.
pub(super) fn advice(members: bool) -> &'static str {
    if members { " (name one member after a #)" } else { "" }
}

/// The system's answer without its error number.
fn plain(answer: &io::Error) -> String {
    let text = answer.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}
