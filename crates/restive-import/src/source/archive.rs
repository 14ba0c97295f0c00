//! Zip archives: which tables are in one, and whether they can be read.
//!
//! An export may be an archive of several tables, as the forms of ODK Central with a table per repeated group are, and a
//! workbook is an archive too. Members are known by their whole names or by the last part. What a Mac puts beside them is
//! left out.

use super::error::SourceError;
use super::find::{matches, similar};
use super::sheet::Format;
use restive_tables::by_name;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;

pub(super) type Archive = ZipArchive<BufReader<File>>;

/// What unpacked data may be.
pub(super) const LIMIT: &str = "at most 64 GiB, and beyond 1 GiB at most a thousand times the packed size";
const MOST: u64 = 64 << 30;
const MUCH: u64 = 1 << 30;

/// Whether so many bytes are too many to come out of so few.
pub(super) fn is_bomb(size: u64, packed: u64) -> bool {
    size > MOST || size > MUCH && size / 1000 > packed
}

/// What an archive is.
pub(super) enum Kind {
    /// a workbook of Excel or OpenDocument
    Workbook(Format),
    /// of anything else
    Tables,
}

/// A table in an archive.
pub(super) struct Member {
    pub(super) index: usize,
    pub(super) name: String,
    pub(super) packed: u64,
}

pub(super) fn open(path: &Path, file: &str) -> Result<Archive, SourceError> {
    let bytes = File::open(path).map_err(SourceError::io(file, "open"))?;
    ZipArchive::new(BufReader::new(bytes)).map_err(|error| damaged(file, error))
}

pub(super) fn damaged(file: &str, error: ZipError) -> SourceError {
    match error {
        ZipError::Io(answer) if answer.raw_os_error().is_some() => SourceError::io(file, "read")(answer),
        ZipError::CompressionMethodNotSupported(_) => SourceError::content(
            file,
            "a member that is compressed in a rare way",
            "one that is stored or deflated, as zip does unless told otherwise",
        ),
        other => SourceError::damaged(file, "zip archive", &other.to_string()),
    }
}

/// What an archive is, by the names of its members. A workbook's sizes are looked at here, before it is unpacked.
pub(super) fn kind(archive: &mut Archive, file: &str) -> Result<Kind, SourceError> {
    const SIGNS: [(&str, Format); 3] =
        [("xl/workbook.xml", Format::Xlsx), ("xl/workbook.bin", Format::Xlsb), ("content.xml", Format::Ods)];
    let is_there = |sign: &str| archive.file_names().any(|name| name == sign);
    let Some((_, format)) = SIGNS.into_iter().find(|(sign, _)| is_there(sign)) else {
        return Ok(Kind::Tables);
    };
    for index in 0..archive.len() {
        let member = archive.by_index_raw(index).map_err(|error| damaged(file, error))?;
        if is_bomb(member.size(), member.compressed_size()) {
            return Err(too_large(file));
        }
    }
    Ok(Kind::Workbook(format))
}

/// The tables that are wanted, by name; all of them where no pattern is given.
pub(super) fn members(
    archive: &mut Archive,
    file: &str,
    pattern: Option<&str>,
) -> Result<Vec<Member>, SourceError> {
    let (mut found, mut there) = (Vec::new(), Vec::new());
    for index in 0..archive.len() {
        let member = archive.by_index_raw(index).map_err(|error| damaged(file, error))?;
        let name = member.name().to_string();
        let last = name.rsplit('/').next().unwrap_or(&name);
        if member.is_dir() || name.starts_with("__MACOSX/") || last.starts_with('.') {
            continue;
        }
        let is_wanted = match pattern {
            Some(pattern) => matches(pattern, &name) || matches(pattern, last),
            None => is_table(last),
        };
        if is_wanted && member.encrypted() {
            let found = format!("the member {} behind a password", restive_tables::show::name(&name));
            return Err(SourceError::content(file, found, "an archive without one"));
        }
        if is_wanted && is_bomb(member.size(), member.compressed_size()) {
            return Err(too_large(file));
        }
        there.push(name.clone());
        if is_wanted {
            found.push(Member { index, name, packed: member.compressed_size() });
        }
    }
    if found.is_empty() {
        let expected = match pattern {
            Some(pattern) => format!("a member {}", restive_tables::show::name(pattern)),
            None => "a member that ends in .csv, .tsv or .txt".into(),
        };
        let found = if there.is_empty() { "an empty archive" } else { "an archive without it" }.into();
        let there = similar(pattern.unwrap_or(""), there);
        return Err(SourceError::Missing { file: file.into(), found, expected, there });
    }
    found.sort_by(|a, b| by_name(&a.name, &b.name));
    Ok(found)
}

fn too_large(file: &str) -> SourceError {
    SourceError::content(file, "an archive that unpacks to more than it should", LIMIT)
}

fn is_table(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".csv", ".tsv", ".txt"].into_iter().any(|ending| name.ends_with(ending))
}
