//! Exports as rows of text: whatever a programme's systems write, cell by cell.
//!
//! A [`Source`] is one table, in one file or in several that have the same columns: delimited text in any encoding,
//! compressed or in an archive, sheets of workbooks, Parquet, frames that Python hands over. What can be recognised is
//! recognised, and what had to be guessed is [noted](Source::notes). Nothing is interpreted here. A cell is text without
//! the white space around it; what it means is for others to say.
//!
//! A row that cannot be used does not end the reading. It comes with a [fault](Row::fault), so that it can be set aside
//! and counted. A file that cannot be used is a [`SourceError`].

mod archive;
mod cell_error;
mod columnar;
mod encoding;
mod error;
mod find;
mod header;
mod list;
mod part;
mod records;
mod row;
mod sheet;
mod stream;
mod text;
mod value;

pub(crate) use cell_error::cell_error;
pub use error::SourceError;
pub(crate) use list::{Archives, tables};
pub use row::Row;

use arrow_array::RecordBatch;
use columnar::Columnar;
use part::{Part, Parts, Table};
use restive_tables::show;
use row::{Arranged, Raw};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;

/// How files are to be read, as the mapping says. By default everything is recognised.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// the file, relative to a base; `*` in its name stands for anything, and all files that match are read. After a `#`
    /// stands the member of an archive or the sheet of a workbook, also with `*`; without it all tables of an archive
    /// are read, which must have the same columns, and the first sheet of a workbook
    pub file: String,
    /// what stands between cells of text; by default told from the first line
    pub delimiter: Option<u8>,
    /// the encoding of text, by a label such as `utf-16` or `iso-8859-1`
    pub encoding: Option<String>,
    /// what stands before a quotation mark within quotes, where marks are not doubled
    pub escape: Option<u8>,
    /// lines, or rows of a sheet, before the header
    pub skip: usize,
    /// the names of the columns, where there is no header
    pub header: Option<Vec<String>>,
}

/// Where tables are found.
pub enum Input<'a> {
    /// in files
    Files {
        /// the folder to which they are relative
        base: &'a Path,
    },
    /// in memory, by the name that [`Reading::file`] gives
    Tables(&'a BTreeMap<String, Vec<RecordBatch>>),
}

/// An opened table: one or several files with the same columns.
pub struct Source {
    header: Vec<String>,
    files: Vec<String>,
    tables: Parts,
    bytes: Option<u64>,
    skip: usize,
    has_header: bool,
}

impl Source {
    /// Opens every file of a table and reads the headers.
    pub fn open(reading: &Reading, input: &Input<'_>) -> Result<Self, SourceError> {
        Self::open_from(reading, input, &Archives::default())
    }

    /// Like [`open`](Self::open), but archives that were opened before are not opened again.
    pub(crate) fn open_from(
        reading: &Reading,
        input: &Input<'_>,
        archives: &Archives,
    ) -> Result<Self, SourceError> {
        let mut tables = Parts::default();
        let mut is_whole_archive = false;
        match input {
            Input::Files { base } => {
                let (files, member) = find::files(base, &reading.file)?;
                is_whole_archive = member.is_none();
                for file in &files {
                    tables.add(file, member, reading, archives)?;
                }
            }
            Input::Tables(frames) => {
                let Some(batches) = frames.get(&reading.file) else {
                    return Err(SourceError::Missing {
                        file: reading.file.clone(),
                        found: "no frame of this name".into(),
                        expected: "one of those that were given".into(),
                        there: find::similar(&reading.file, frames.keys().cloned().collect()),
                    });
                };
                let table = Columnar::frames(batches, &reading.file)?;
                let names = table.names();
                tables.push(reading.file.clone(), Table::Columnar(table), names, 1.0);
            }
        }
        let bytes = matches!(input, Input::Files { .. }).then_some(tables.bytes);
        Self::of_parts(tables, is_whole_archive, bytes, reading)
    }

    fn of_parts(
        mut tables: Parts,
        is_whole_archive: bool,
        bytes: Option<u64>,
        reading: &Reading,
    ) -> Result<Self, SourceError> {
        let header = align(&mut tables, is_whole_archive)?;
        Ok(Self {
            header,
            files: tables.parts.iter().map(|part| part.name.clone()).collect(),
            bytes,
            tables,
            skip: reading.skip,
            has_header: reading.header.is_none(),
        })
    }

    /// The names of the columns, as the first file has them.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The files as messages call them: without their folders, with the member or sheet after a `#`.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Whether values have types, so that dates come as ISO text whatever format is declared.
    pub fn is_typed(&self) -> bool {
        self.tables.parts.iter().any(|part| !matches!(part.table, Table::Text(_)))
    }

    /// What was guessed or left out, in a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.tables.notes
    }

    /// The size of all files; none of frames.
    pub fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// Visits every row in order, with the `wanted` columns (positions in [`header`](Self::header)).
    pub fn rows<E: From<SourceError>>(
        &mut self,
        wanted: &[usize],
        mut visit: impl FnMut(Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Parts { parts, books, .. } = &mut self.tables;
        let total: f64 = parts.iter().map(|part| part.weight).sum::<f64>().max(1.0);
        let (mut cells, mut before, mut count, mut refused) = (Arranged::default(), 0.0, 0_u64, None);
        for (file, part) in parts.iter().enumerate() {
            let Part { order, names, weight, .. } = part;
            let is_columnar = matches!(part.table, Table::Columnar(_));
            let mut take = |raw: &Raw| {
                if !is_columnar && raw.is_blank() {
                    return ControlFlow::Continue(());
                }
                count += 1;
                cells.take(raw, order, names.len());
                let share = ((before + raw.share * weight) / total).min(1.0);
                match visit(Row { cells: &cells, wanted, file, line: raw.line, share }) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        refused = Some(error);
                        ControlFlow::Break(())
                    }
                }
            };
            let ended = match &part.table {
                Table::Text(text) => text.each(&mut take),
                Table::Sheet(book, sheet) => {
                    let shape = (self.skip, self.has_header, names.len());
                    books[*book].each(sheet, shape, &mut take)
                }
                Table::Columnar(table) => table.each(wanted.iter().map(|k| order[*k]), &mut take),
            };
            if let (ControlFlow::Break(()), Some(error)) = (ended?, refused.take()) {
                return Err(error);
            }
            before += weight;
        }
        if count == 0 {
            let file = self.files.first().map_or("", String::as_str);
            return Err(SourceError::content(file, error::HEADER_ONLY, "at least one row").into());
        }
        Ok(())
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("header", &self.header).field("files", &self.files).finish()
    }
}

/// Finds the columns of the first part in all others. Tables of an archive of which none was named must have no others.
fn align(tables: &mut Parts, is_whole_archive: bool) -> Result<Vec<String>, SourceError> {
    let Some((first, names)) = tables.parts.first().map(|part| (part.name.clone(), part.names.clone()))
    else {
        return Ok(Vec::new());
    };
    for part in &mut tables.parts {
        let members = is_whole_archive && part.name.contains('#') && matches!(part.table, Table::Text(_));
        let (order, extra) = header::order((&first, &names), (&part.name, &part.names), members)?;
        if members && !extra.is_empty() {
            let (file, first) = (first.clone(), part.name.clone());
            return Err(SourceError::Columns { file, missing: extra, first, members });
        }
        for column in extra {
            let (file, column, first) = (show::plain(&part.name), show::name(&column), show::plain(&first));
            tables.notes.push(format!("{file}: the column {column} is not in {first} and was left out"));
        }
        part.order = order;
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::archive::Archive;
    use super::*;
    use std::io::{Cursor, Read, Seek, SeekFrom, Write};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct Counted(Cursor<Vec<u8>>, Arc<AtomicU64>);

    impl Read for Counted {
        fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
            let count = self.0.read(room)?;
            self.1.fetch_add(count as u64, Ordering::Relaxed);
            Ok(count)
        }
    }

    impl Seek for Counted {
        fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
            self.0.seek(to)
        }
    }

    /// Bytes that are read to read every row of an archive of so many tables.
    fn bytes_read(tables: usize) -> u64 {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for k in 0..tables {
            archive.start_file(format!("{k:06}.csv"), zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(b"a,b\n1,2\n").unwrap();
        }
        let count = Arc::new(AtomicU64::new(0));
        let archive = Archive::read(Counted(archive.finish().unwrap(), count.clone()), "z.zip").unwrap();
        let (mut parts, reading) = (Parts::default(), Reading::default());
        parts.add_members(&archive, "z.zip", "z.zip", None, &reading).unwrap();
        let mut source = Source::of_parts(parts, true, None, &reading).unwrap();
        let mut rows = 0;
        source
            .rows(&[0], |_| {
                rows += 1;
                Ok::<(), SourceError>(())
            })
            .unwrap();
        assert_eq!(rows, tables);
        count.load(Ordering::Relaxed)
    }

    #[test]
    fn archive_of_twice_the_tables_costs_twice_the_bytes() {
        let (once, twice) = (bytes_read(1000), bytes_read(2000));
        assert!(10 * twice < 21 * once, "{once} and {twice} bytes");
    }
}
