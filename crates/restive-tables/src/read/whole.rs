//! A file that is read whole: settings, cards, weights.

use crate::error::{Error, Result};
use crate::memory::require;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// All bytes of a file; refused where they do not fit into memory.
pub(crate) fn read_whole(path: &Path) -> Result<Vec<u8>> {
    let mut file = File::open(path).map_err(Error::io(path, "open"))?;
    let size = file.metadata().map_err(Error::io(path, "open"))?.len();
    require(path.display(), "the file", size as f64)?;
    let mut bytes = Vec::with_capacity(size as usize);
    file.read_to_end(&mut bytes).map_err(Error::io(path, "read"))?;
    Ok(bytes)
}
