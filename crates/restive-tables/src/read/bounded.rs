//! A file that ends, and that can be visited only so often.
//!
//! A damaged Parquet file can keep its decoder busy for ever, in two ways. The header of a page says how long it is, and a length may
//! lead back to where the decoder has been: every page is one visit of the file and takes more than four bytes of it, so that more
//! visits than that are a circle. And a list in a header may claim billions of elements, which the decoder skips one by one although
//! the file has ended: here a read at the end of the file is an error, not nothing.

use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::atomic::{AtomicU64, Ordering};

/// Visits that a file of no length may have: its footer, and what the decoder looks at before the pages.
const FEW: u64 = 1024;

/// A file whose visits are counted.
pub(crate) struct BoundedFile {
    file: File,
    visits_left: AtomicU64,
}

impl BoundedFile {
    pub(crate) fn new(file: File) -> Self {
        let visits = FEW + file.len() / 4;
        Self { file, visits_left: AtomicU64::new(visits) }
    }

    fn visit(&self) -> Result<()> {
        let left =
            self.visits_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| ParquetError::General("its pages lead round in a circle".into()))
    }
}

impl Length for BoundedFile {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for BoundedFile {
    type T = Ending;

    fn get_read(&self, start: u64) -> Result<Ending> {
        self.visit()?;
        self.file.get_read(start).map(Ending)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.visit()?;
        self.file.get_bytes(start, length)
    }
}

/// A reader for which the end of the file is an error.
pub(crate) struct Ending(BufReader<File>);

impl Read for Ending {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => {
                Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends too soon"))
            }
            read => Ok(read),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_ends_and_can_be_visited_only_so_often() {
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(path.path(), [7; 40]).unwrap();
        let file = BoundedFile::new(File::open(path.path()).unwrap());
        let mut reader = file.get_read(36).unwrap();
        let mut bytes = [0; 8];
        assert_eq!(reader.read(&mut bytes).unwrap(), 4);
        // skipping what is not there must not look like success
        assert_eq!(reader.read(&mut bytes).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        let visits = (0..).take_while(|_| file.get_bytes(0, 1).is_ok()).count() as u64;
        assert_eq!(visits, FEW + 40 / 4 - 1, "one was made before");
    }
}
