//! The tables that a file has, by the names that a mapping would give them.

use super::archive::{self, Kind};
use super::error::SourceError;
use super::find;
use super::sheet::{Format, Workbook};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The tables of a file, and whether they are sheets of a workbook: `x.zip#FORM.csv`, `x.xlsx#Sheet1`, `x.csv`.
pub(crate) fn tables(base: &Path, file: &str) -> Result<(Vec<String>, bool), SourceError> {
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
        let mut archive = archive::open(&found.path, file)?;
        match archive::kind(&mut archive, file)? {
            Kind::Workbook(format) => format,
            Kind::Tables => {
                let members = archive::members(&mut archive, file, None)?;
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
