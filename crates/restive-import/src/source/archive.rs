//! Zip archives: the tables in them, and whether they can be read.
//!
//! An export may be an archive of several tables, as the forms of ODK Central with a table per repeated group are, and a
//! workbook is an archive too. Members are known by their whole names or by the last part. What a Mac puts beside them is
//! left out.
//!
//! The directory is read when the archive is opened, and never again: n members cost O(n).

use super::error::SourceError;
use super::find::{matches, similar};
use super::sheet::Format;
use restive_tables::{by_name, show};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

/// Bytes of an archive.
pub(super) trait Bytes: Read + Seek + Send {}

impl<B: Read + Seek + Send> Bytes for B {}

type Reader = BufReader<Box<dyn Bytes>>;

/// An open archive. Clones share its directory, so that opening a member does not read the directory again.
#[derive(Clone)]
pub(super) struct Archive(Arc<Opened>);

struct Opened {
    zip: Mutex<ZipArchive<Reader>>,
    members: Vec<Member>,
    /// positions in `members` by whole name and by last part
    named: HashMap<String, Vec<usize>>,
}

/// Limit of unpacked data.
pub(super) const LIMIT: &str = "at most 64 GiB, and beyond 1 GiB at most a thousand times the packed size";
const MOST: u64 = 64 << 30;
const MUCH: u64 = 1 << 30;

/// Whether `size` bytes are too many for `packed` bytes.
pub(super) fn is_bomb(size: u64, packed: u64) -> bool {
    size > MOST || size > MUCH && size / 1000 > packed
}

/// Content of an archive.
pub(super) enum Kind {
    /// a workbook of Excel or OpenDocument
    Workbook(Format),
    /// anything else
    Tables,
}

/// Member of an archive that is not a folder.
#[derive(Clone)]
pub(super) struct Member {
    pub(super) index: usize,
    pub(super) name: String,
    size: u64,
    pub(super) packed: u64,
    is_encrypted: bool,
}

impl Member {
    fn last(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Whether the member is the user's, not one that a Mac or an editor puts beside it.
    fn is_visible(&self) -> bool {
        !self.name.starts_with("__MACOSX/") && !self.last().starts_with('.')
    }
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

impl Archive {
    pub(super) fn open(path: &Path, file: &str) -> Result<Self, SourceError> {
        Self::read(File::open(path).map_err(SourceError::io(file, "open"))?, file)
    }

    /// Reads the directory of an archive. Refuses members of one name: the decoder keeps only the last of them.
    pub(super) fn read(bytes: impl Bytes + 'static, file: &str) -> Result<Self, SourceError> {
        let failed = |error| damaged(file, error);
        let bytes: Box<dyn Bytes> = Box::new(bytes);
        let zip = ZipArchive::new(BufReader::new(bytes)).map_err(failed)?;
        let start = zip.central_directory_start();
        let mut bytes = zip.into_inner();
        refuse_repeated(&names(&mut bytes, start).map_err(|error| failed(error.into()))?, file)?;
        let mut zip = ZipArchive::new(bytes).map_err(failed)?;
        let mut members = Vec::with_capacity(zip.len());
        for index in 0..zip.len() {
            let member = zip.by_index_raw(index).map_err(failed)?;
            if !member.is_dir() {
                let (size, packed) = (member.size(), member.compressed_size());
                let (name, is_encrypted) = (member.name().to_string(), member.encrypted());
                members.push(Member { index, name, size, packed, is_encrypted });
            }
        }
        let mut named: HashMap<String, Vec<usize>> = HashMap::new();
        for (k, member) in members.iter().enumerate() {
            named.entry(member.name.clone()).or_default().push(k);
            if member.last() != member.name {
                named.entry(member.last().to_string()).or_default().push(k);
            }
        }
        Ok(Self(Arc::new(Opened { zip: Mutex::new(zip), members, named })))
    }

    /// Works with the unpacked bytes of a member. Only one member of an archive is read at a time.
    pub(super) fn with<T>(
        &self,
        index: usize,
        file: &str,
        work: impl FnOnce(ZipFile<'_, Reader>) -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        // what a reader left behind is of no matter: every member is sought anew
        let mut zip = self.0.zip.lock().unwrap_or_else(PoisonError::into_inner);
        work(zip.by_index(index).map_err(|error| damaged(file, error))?)
    }

    /// Content of the archive by the names of its members. Sizes of a workbook are checked before it is unpacked.
    pub(super) fn kind(&self, file: &str) -> Result<Kind, SourceError> {
        const SIGNS: [(&str, Format); 3] = [
            ("xl/workbook.xml", Format::Xlsx),
            ("xl/workbook.bin", Format::Xlsb),
            ("content.xml", Format::Ods),
        ];
        let is_there = |sign: &str| self.0.members.iter().any(|member| member.name == sign);
        let Some((_, format)) = SIGNS.into_iter().find(|(sign, _)| is_there(sign)) else {
            return Ok(Kind::Tables);
        };
        match self.0.members.iter().any(|member| is_bomb(member.size, member.packed)) {
            true => Err(too_large(file)),
            false => Ok(Kind::Workbook(format)),
        }
    }

    /// Tables that match a pattern; without one all tables.
    pub(super) fn members(&self, file: &str, pattern: Option<&str>) -> Result<Vec<Member>, SourceError> {
        let all = &self.0.members;
        let mut found: Vec<Member> = match pattern {
            Some(name) if !name.contains('*') => {
                self.0.named.get(name).into_iter().flatten().map(|k| all[*k].clone()).collect()
            }
            Some(pattern) => {
                let is_wanted = |m: &&Member| matches(pattern, &m.name) || matches(pattern, m.last());
                all.iter().filter(is_wanted).cloned().collect()
            }
            None => all.iter().filter(|member| is_table(member.last())).cloned().collect(),
        };
        found.retain(Member::is_visible);
        for member in &found {
            if member.is_encrypted {
                let found = format!("the member {} behind a password", show::name(&member.name));
                return Err(SourceError::content(file, found, "an archive without one"));
            }
            if is_bomb(member.size, member.packed) {
                return Err(too_large(file));
            }
        }
        if found.is_empty() {
            let there: Vec<String> =
                all.iter().filter(|member| member.is_visible()).map(|member| member.name.clone()).collect();
            let expected = match pattern {
                Some(pattern) => format!("a member {}", show::name(pattern)),
                None => "a member that ends in .csv, .tsv or .txt".into(),
            };
            let found = if there.is_empty() { "an empty archive" } else { "an archive without it" }.into();
            let there = similar(pattern.unwrap_or(""), there);
            return Err(SourceError::Missing { file: file.into(), found, expected, there });
        }
        found.sort_by(|a, b| by_name(&a.name, &b.name));
        Ok(found)
    }
}

/// Names of all records of a directory, those of one name too.
fn names(bytes: &mut Reader, start: u64) -> std::io::Result<Vec<Vec<u8>>> {
    const SIGNATURE: &[u8] = b"PK\x01\x02";
    const LENGTHS: usize = 28;
    let mut names = Vec::new();
    bytes.seek(SeekFrom::Start(start))?;
    loop {
        let mut head = [0; 46];
        let mut read = 0;
        while read < head.len() {
            match bytes.read(&mut head[read..])? {
                0 => break,
                more => read += more,
            }
        }
        if read < head.len() || !head.starts_with(SIGNATURE) {
            return Ok(names);
        }
        let length = |k: usize| u16::from_le_bytes([head[LENGTHS + 2 * k], head[LENGTHS + 2 * k + 1]]);
        let mut name = vec![0; usize::from(length(0))];
        bytes.read_exact(&mut name)?;
        names.push(name);
        bytes.seek_relative(i64::from(length(1)) + i64::from(length(2)))?;
    }
}

/// Refuses two members of one name; folders may repeat.
fn refuse_repeated(names: &[Vec<u8>], file: &str) -> Result<(), SourceError> {
    let mut places: HashMap<&[u8], usize> = HashMap::new();
    for (place, name) in names.iter().enumerate().filter(|(_, name)| !name.ends_with(b"/")) {
        if let Some(first) = places.insert(name, place) {
            let shown = show::name(&String::from_utf8_lossy(name));
            let found =
                format!("two members called {shown}, members {} and {} of the archive", first + 1, place + 1);
            return Err(SourceError::content(file, found, "a name of its own for each: keep one of them"));
        }
    }
    Ok(())
}

fn too_large(file: &str) -> SourceError {
    SourceError::content(file, "an archive that unpacks to more than it should", LIMIT)
}

fn is_table(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".csv", ".tsv", ".txt"].into_iter().any(|ending| name.ends_with(ending))
}
