//! The bytes of a text, wherever they lie: in a file, compressed or not, or in a member of an archive.
//!
//! Compression is known by the first bytes, whatever the name. Archives are read where they are and nothing is
//! unpacked to disk, so that names of members can do no harm. A few bytes can unpack to more than any disk holds: what
//! comes out may be 64 GiB, and beyond 1 GiB no more than a thousand times what went in.

use super::archive::{self, Archive};
use super::error::SourceError;
use flate2::bufread::MultiGzDecoder;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

/// Where a text lies.
pub(super) enum Place {
    /// a file
    File(PathBuf),
    /// a member of a zip archive, by its position
    Member(Archive, usize),
}

/// How much was read so far of how much.
pub(super) struct Progress {
    read: Cell<u64>,
    total: u64,
}

impl Progress {
    pub(super) fn share(&self) -> f64 {
        (self.read.get() as f64 / self.total.max(1) as f64).min(1.0)
    }
}

/// Opens a text, and works with it.
pub(super) fn with<T>(
    place: &Place,
    file: &str,
    work: impl FnOnce(&mut dyn Read, &Progress) -> Result<T, SourceError>,
) -> Result<T, SourceError> {
    match place {
        Place::File(path) => {
            let bytes = File::open(path).map_err(SourceError::io(file, "open"))?;
            let size = bytes.metadata().map_err(SourceError::io(file, "open"))?.len();
            let progress = Progress { read: Cell::new(0), total: size };
            unpacked(Counted { bytes, count: &progress.read }, size, file, |text| work(text, &progress))
        }
        Place::Member(archive, index) => archive.with(*index, file, |member| {
            let (size, packed) = (member.size(), member.compressed_size());
            let progress = Progress { read: Cell::new(0), total: size };
            let bytes = Bounded { bytes: member, given: 0, packed };
            unpacked(Counted { bytes, count: &progress.read }, size, file, |text| work(text, &progress))
        }),
    }
}

fn unpacked<T>(
    bytes: impl Read,
    packed: u64,
    file: &str,
    work: impl FnOnce(&mut dyn Read) -> Result<T, SourceError>,
) -> Result<T, SourceError> {
    let mut bytes = BufReader::with_capacity(1 << 16, bytes);
    let is_gzip = bytes.fill_buf().map_err(|error| unreadable(file, error))?.starts_with(b"\x1f\x8b");
    match is_gzip {
        true => work(&mut Bounded { bytes: MultiGzDecoder::new(bytes), given: 0, packed }),
        false => work(&mut bytes),
    }
}

/// Why bytes could not be read: the system's answer has a number, all others come from the unpacking.
pub(super) fn unreadable(file: &str, error: io::Error) -> SourceError {
    match error.kind() {
        io::ErrorKind::FileTooLarge => SourceError::content(file, error.to_string(), archive::LIMIT),
        _ if error.raw_os_error().is_some() => SourceError::io(file, "read")(error),
        _ => SourceError::damaged(file, "compressed file", &error.to_string()),
    }
}

struct Counted<'c, R> {
    bytes: R,
    count: &'c Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(room)?;
        self.count.set(self.count.get() + count as u64);
        Ok(count)
    }
}

/// What comes out of `packed` bytes.
struct Bounded<R> {
    bytes: R,
    given: u64,
    packed: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(room)?;
        self.given += count as u64;
        match archive::is_bomb(self.given, self.packed) {
            true => {
                Err(io::Error::new(io::ErrorKind::FileTooLarge, "compressed data that grows without end"))
            }
            false => Ok(count),
        }
    }
}
