//! Tables of a file, by the names that a mapping would give them.

use super::archive::{Archive, Kind};
use super::error::SourceError;
use super::find;
use super::sheet::{Format, Workbook};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Archives that were opened so far, by their paths: several tables of one are opened without reading its directory again.
#[derive(Default)]
pub(crate) struct Archives(RefCell<HashMap<PathBuf, Archive>>);

impl Archives {
    pub(super) fn open(&self, path: &Path, file: &str) -> Result<Archive, SourceError> {
        if let Some(known) = self.0.borrow().get(path) {
            return Ok(known.clone());
        }
        let opened = Archive::open(path, file)?;
        self.0.borrow_mut().insert(path.into(), opened.clone());
        Ok(opened)
    }
}

/// Tables of a file, and whether they are sheets of a workbook: `x.zip#FORM.csv`, `x.xlsx#Sheet1`, `x.csv`.
pub(crate) fn tables(
    base: &Path,
    file: &str,
    archives: &Archives,
) -> Result<(Vec<String>, bool), SourceError> {
    let alone = (vec![file.to_string()], false);
    let (found, member) = find::files(base, file)?;
    let ([found], None) = (&found[..], member) else { return Ok(alone) };
    let mut head = Vec::new();
    if !found.path.is_file() {
        return Ok(alone);
    }
    let bytes = File::open(&found.path).map_err(SourceError::io(file, "open"))?;
    bytes.take(8).read_to_end(&mut head).map_err(SourceError::io(file, "read"))?;
    let format = if head.starts_with(b"PK\x03\x04") {
        let archive = archives.open(&found.path, file)?;
        match archive.kind(file)? {
            Kind::Workbook(format) => format,
            Kind::Tables => {
                let members = archive.members(file, None)?;
                return Ok((members.iter().map(|member| format!("{file}#{}", member.name)).collect(), false));
            }
        }
    } else if head.starts_with(b"\xd0\xcf\x11\xe0") {
        Format::Xls
    } else {
        return Ok(alone);
    };
    let book = Workbook::open(&found.path, file, format)?;
    let sheets = book.sheets(Some("*"))?;
    Ok((sheets.into_iter().map(|sheet| format!("{file}#{sheet}")).collect(), true))
}
