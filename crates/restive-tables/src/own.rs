//! What restive recognises as its own, before it replaces it.
//!
//! A name proves nothing: another program writes a `card.json` too, and a folder may be called so. A table is recognised by its
//! columns, all of them and in order, so that one to which somebody added a column of notes is left alone. A folder is recognised
//! by the file that says what it is ([`Model::recognise`](crate::Model::recognise),
//! [`Study::recognise`](crate::Study::recognise)), and only where it holds nothing else.

use crate::error::{Error, Result};
use crate::study::columns_of;
use std::fs;
use std::path::Path;

/// Recognises a table by its columns; `what` it should be, for messages.
pub fn recognise_table(path: &Path, what: &str, is_own: impl Fn(&[&str]) -> bool) -> Result<()> {
    const SHOWN: usize = 8;
    let columns = columns_of(path)?;
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    if is_own(&columns) {
        return Ok(());
    }
    let dots = if columns.len() > SHOWN { ", …" } else { "" };
    let shown: String = columns[..columns.len().min(SHOWN)].join(", ").chars().take(200).collect();
    Err(Error::content(
        path,
        "",
        format!("columns {}{dots}", shown.escape_debug()),
        format!("{what} to replace"),
    ))
}

/// Recognises a file by its bytes; what it is otherwise (`found`) and what it should be (`what`), for messages.
pub fn recognise_bytes(path: &Path, found: &str, what: &str, is_own: impl Fn(&[u8]) -> bool) -> Result<()> {
    match is_own(&fs::read(path).map_err(Error::io(path, "read"))?) {
        true => Ok(()),
        false => Err(Error::content(path, "", found, format!("{what} to replace"))),
    }
}

/// Refuses a folder that holds anything else than some of these files and folders.
pub fn recognise_names(folder: &Path, files: &[&str], folders: &[&str]) -> Result<()> {
    let refused = |answer| Error::Io { path: folder.into(), doing: "read", answer };
    for entry in fs::read_dir(folder).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let (name, kind) = (entry.file_name(), entry.file_type().map_err(refused)?);
        let is_in = |names: &[&str]| names.iter().any(|own| *own == name);
        if !(kind.is_file() && is_in(files) || kind.is_dir() && is_in(folders)) {
            let what = if kind.is_dir() { "the folder " } else { "" };
            let found = format!("{what}{name:?} in the folder");
            return Err(Error::content(folder, "", found, "nothing but files of its kind to replace"));
        }
    }
    Ok(())
}
