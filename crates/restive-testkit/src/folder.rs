//! Temporary folders of tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// A temporary folder, removed with its last clone.
#[derive(Debug, Clone)]
pub struct Folder(Arc<TempDir>);

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Folder {
    /// Creates an empty folder.
    pub fn new() -> Self {
        Self(Arc::new(TempDir::new().unwrap()))
    }

    /// Returns the path of the folder.
    pub fn root(&self) -> &Path {
        self.0.path()
    }

    /// Returns the path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Writes a file.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// Returns the text of a file.
    ///
    /// # Panics
    /// If the file cannot be read or is not UTF-8.
    pub fn read(&self, name: &str) -> String {
        let path = self.path(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Returns the sorted names of the entries of the folder, hidden ones included.
    pub fn listing(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root()).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Copies a folder with everything below it; `to` and its parents are created.
///
/// # Panics
/// If an entry cannot be read or written.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    let entries = fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    for entry in entries {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            fs::copy(&path, &copy).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_has_all_files_of_the_original() {
        let folder = Folder::new();
        fs::create_dir_all(folder.path("a/b")).unwrap();
        folder.write("a/one", "1");
        folder.write("a/b/two", "2");
        copy_folder(&folder.path("a"), &folder.path("c/d"));
        assert_eq!((folder.read("c/d/one"), folder.read("c/d/b/two")), ("1".into(), "2".into()));
        assert_eq!(folder.listing(), ["a", "c"]);
    }
}
