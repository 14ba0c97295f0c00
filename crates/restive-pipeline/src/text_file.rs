//! Text files of a programme that are written with content and never empty.

use crate::error::{Error, Result};
use restive_tables::show;
use std::path::Path;

/// Reads a text file.
///
/// # Errors
/// If it cannot be read, or like [`refuse_empty`].
pub fn read_text_file(path: &Path, remedy: &str) -> Result<String> {
    let text = std::fs::read_to_string(path).map_err(|answer| restive_tables::Error::Io {
        path: path.into(),
        doing: "read",
        answer,
    })?;
    refuse_empty(path, text.as_bytes(), remedy)?;
    Ok(text)
}

/// Refuses a file without content.
///
/// # Errors
/// Such a file is damaged and not a file of default values: nothing writes one, and a power cut can leave one. `remedy` states what to do.
pub fn refuse_empty(path: &Path, bytes: &[u8], remedy: &str) -> Result<()> {
    let content = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    if content.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0) {
        let path = show::path(path);
        return Err(Error::Data(
            format!("{path}: the file is empty, as a power cut can leave it; {remedy}").into(),
        ));
    }
    Ok(())
}
