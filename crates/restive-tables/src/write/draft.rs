//! A file that is not there until it is complete.
//!
//! It is written beside its final place under a temporary name and renamed at the end. Whatever goes wrong
//! before that, the temporary file is removed and the file that was there before, if any, is untouched.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file in the making.
pub(crate) struct Draft {
    path: PathBuf,
    file: NamedTempFile,
}

impl Draft {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        if path.is_dir() {
            let source = io::ErrorKind::IsADirectory.into();
            return Err(Error::Io { path: path.into(), doing: "write", source });
        }
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            let source = io::Error::other(format!("there is no folder {}", folder.display()));
            return Err(Error::Io { path: path.into(), doing: "write", source });
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".restive-").suffix(".tmp");
        // Temporary files are private by default; the finished one has the permissions of any new file.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder).map_err(|e| Error::Io {
            path: path.into(),
            doing: "write",
            source: e.kind().into(),
        })?;
        Ok(Self { path: path.into(), file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(Error::io(&self.path, "write"))
    }

    pub(crate) fn put_in_place(self) -> Result<()> {
        match self.file.persist(&self.path) {
            Ok(_) => Ok(()),
            Err(refused) => Err(Error::Io { path: self.path, doing: "write", source: refused.error }),
        }
    }
}
