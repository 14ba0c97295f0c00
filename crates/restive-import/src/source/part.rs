//! What a file is, and the tables in it.
//!
//! A file is known by its first bytes, not by its name: people rename exports, and servers name them as they like. An
//! archive has a table per member and a workbook one per sheet; each is a part of the source.

use super::archive::{Archive, Kind};
use super::columnar::Columnar;
use super::error::{SourceError, file_name};
use super::find::Found;
use super::list::Archives;
use super::sheet::{Format, Workbook};
use super::stream::Place;
use super::text::Text;
use super::{Reading, header};
use restive_tables::show;
use std::fs::File;
use std::io::Read;

/// One table of a source.
pub(super) struct Part {
    /// as messages call it
    pub(super) name: String,
    pub(super) table: Table,
    /// its columns
    pub(super) names: Vec<String>,
    /// where each column of the source is among them
    pub(super) order: Vec<usize>,
    /// its part of the work
    pub(super) weight: f64,
}

pub(super) enum Table {
    Text(Text),
    /// a sheet of one of the source's workbooks
    Sheet(usize, String),
    Columnar(Columnar),
}

/// All parts of a source that were found so far.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) parts: Vec<Part>,
    pub(super) books: Vec<Workbook>,
    pub(super) notes: Vec<String>,
    pub(super) bytes: u64,
}

impl Parts {
    /// Takes the tables of a file: those that a member or sheet is named for.
    pub(super) fn add(
        &mut self,
        found: &Found,
        member: Option<&str>,
        reading: &Reading,
        archives: &Archives,
    ) -> Result<(), SourceError> {
        let Found { path, file } = found;
        let looks = path.metadata().map_err(SourceError::io(file, "open"))?;
        if !looks.is_file() {
            let what = if looks.is_dir() { "a folder" } else { "a pipe or device" };
            let advice = if looks.is_dir() { "a file (for all its files, end with /*)" } else { "a file" };
            return Err(SourceError::content(file, what, advice));
        }
        self.bytes += looks.len();
        let mut head = Vec::new();
        let bytes = File::open(path).map_err(SourceError::io(file, "open"))?;
        bytes.take(8).read_to_end(&mut head).map_err(SourceError::io(file, "read"))?;
        let size = looks.len() as f64;
        let name = file_name(path);
        if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
            let archive = archives.open(path, file)?;
            return match archive.kind(file)? {
                Kind::Workbook(format) => self.add_sheets(found, format, member, reading),
                Kind::Tables => self.add_members(&archive, file, &name, member, reading),
            };
        }
        if head.starts_with(b"\xd0\xcf\x11\xe0") {
            return self.add_sheets(found, Format::Xls, member, reading);
        }
        if let Some(member) = member {
            let found = format!("{} after the #, but a file without parts", show::quoted_name(member));
            return Err(SourceError::content(file, found, "an archive or a workbook"));
        }
        if head.starts_with(b"PAR1") {
            let table = Columnar::parquet(path, file)?;
            let names = table.names();
            self.push(name, Table::Columnar(table), names, size);
            return Ok(());
        }
        self.add_text(Place::File(path.clone()), file.clone(), name, reading, size)
    }

    /// Takes the tables of an archive.
    pub(super) fn add_members(
        &mut self,
        archive: &Archive,
        file: &str,
        name: &str,
        member: Option<&str>,
        reading: &Reading,
    ) -> Result<(), SourceError> {
        for table in archive.members(file, member)? {
            let place = Place::Member(archive.clone(), table.index);
            let (called, shown) = (format!("{file}#{}", table.name), format!("{name}#{}", table.name));
            self.add_text(place, called, shown, reading, table.packed as f64)?;
        }
        Ok(())
    }

    fn add_text(
        &mut self,
        place: Place,
        file: String,
        name: String,
        reading: &Reading,
        weight: f64,
    ) -> Result<(), SourceError> {
        let (text, names, notes) = Text::open(place, file, reading)?;
        self.notes.extend(notes);
        self.push(name, Table::Text(text), names, weight);
        Ok(())
    }

    fn add_sheets(
        &mut self,
        found: &Found,
        format: Format,
        sheet: Option<&str>,
        reading: &Reading,
    ) -> Result<(), SourceError> {
        let mut book = Workbook::open(&found.path, &found.file, format)?;
        let sheets = book.sheets(sheet)?;
        let size = found.path.metadata().map_or(0, |looks| looks.len());
        let weight = size as f64 / sheets.len() as f64;
        let before = self.parts.len();
        for sheet in sheets {
            let names = book.header(&sheet, reading.skip)?;
            let shown = format!("{}#{sheet}", file_name(&found.path));
            if names.is_empty() {
                self.notes.push(format!("{}: the sheet is empty and was left out", show::plain(&shown)));
                continue;
            }
            let names = reading.header.clone().unwrap_or(names);
            self.push(shown, Table::Sheet(self.books.len(), sheet), names, weight);
        }
        if self.parts.len() == before {
            return Err(SourceError::content(&found.file, "nothing but empty sheets", "a table"));
        }
        self.books.push(book);
        Ok(())
    }

    /// Takes one table, its columns as yet in no order.
    pub(super) fn push(&mut self, name: String, table: Table, names: Vec<String>, weight: f64) {
        self.parts.push(Part { name, table, names: header::distinct(names), order: Vec::new(), weight });
    }
}
