//! What plans were made of, kept so that any of them can be made again: `records/` in the folder of a programme.
//!
//! Every file that a plan read is kept once, under the SHA-256 of its content, however many plans were made of it
//! (`records/3f/3fa1…`, compressed by zlib). The ledger says which contents a plan was made of, and its chain covers that list, so that a
//! content that was changed or lost is found and named. Of people only what the plan needed is kept: no names and no numbers. The folder is
//! for its owner alone. Contents may be thrown away to save room; the plans that were made of them can then be read and no longer be made again.

use crate::error::{Error, Result};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use restive_ledger::Input;
use restive_tables::{make_private_folders, show, write_private_files};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// The contents that plans were made of.
pub(crate) struct Store {
    folder: PathBuf,
}

/// Why a content cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// it is not there
    Missing,
    /// it is there and is something else
    Changed,
}

/// A content, or why it is lost.
pub(crate) type Found = std::result::Result<Vec<u8>, Lost>;

impl Store {
    /// Of a programme.
    pub(crate) fn of(programme: &Path) -> Self {
        Self { folder: programme.join("records") }
    }

    /// Keeps contents, each under a name. All of them are on the disk when this returns. An existing file is compared with its
    /// content, and replaced if it is damaged.
    pub(crate) fn keep(&self, contents: &[(String, Vec<u8>)]) -> Result<Vec<Input>> {
        let (mut inputs, mut new) = (Vec::new(), BTreeMap::new());
        for (name, content) in contents {
            let input = Input { name: name.clone(), digest: digest(content), bytes: content.len() as u64 };
            let path = self.path(&input.digest);
            if !new.contains_key(&path) && self.unpacked(&input)?.as_ref() != Ok(content) {
                let refused =
                    |answer| restive_tables::Error::Io { path: path.clone(), doing: "write", answer };
                let mut packed = ZlibEncoder::new(Vec::new(), Compression::new(3));
                let packed = packed.write_all(content).and_then(|()| packed.finish()).map_err(refused)?;
                new.insert(path, packed);
            }
            inputs.push(input);
        }
        let folders = new.keys().filter_map(|path| path.parent());
        make_private_folders(folders).map_err(|answer| restive_tables::Error::Io {
            path: self.folder.clone(),
            doing: "make folders in",
            answer,
        })?;
        let files: Vec<(PathBuf, &[u8])> =
            new.iter().map(|(path, packed)| (path.clone(), packed.as_slice())).collect();
        write_private_files(&files, Some(|_| Ok(())))?;
        Ok(inputs)
    }

    /// Whether a content is there.
    pub(crate) fn has(&self, input: &Input) -> bool {
        self.path(&input.digest).is_file()
    }

    /// Whether nothing was ever kept.
    pub(crate) fn is_empty(&self) -> bool {
        fs::read_dir(&self.folder).map_or(true, |mut entries| entries.next().is_none())
    }

    /// A content as it was kept; an error if the system refuses to read it.
    pub(crate) fn content(&self, input: &Input) -> Result<Found> {
        Ok(self.unpacked(input)?.and_then(|content| match digest(&content) == input.digest {
            true => Ok(content),
            false => Err(Lost::Changed),
        }))
    }

    /// Unpacked file of a content, whether or not it has the right digest.
    fn unpacked(&self, input: &Input) -> Result<Found> {
        let path = self.path(&input.digest);
        let packed = match fs::read(&path) {
            Ok(packed) => packed,
            Err(answer) if answer.kind() == ErrorKind::NotFound => return Ok(Err(Lost::Missing)),
            Err(answer) => return Err(restive_tables::Error::Io { path, doing: "read", answer }.into()),
        };
        let mut content = Vec::new();
        // one byte more than there should be tells a longer content from the right one
        let mut unpacked = ZlibDecoder::new(&packed[..]).take(input.bytes.saturating_add(1));
        let is_whole = unpacked.read_to_end(&mut content).is_ok();
        Ok(if is_whole { Ok(content) } else { Err(Lost::Changed) })
    }

    fn path(&self, digest: &str) -> PathBuf {
        // a digest from a ledger that was tampered with is no way out of the folder
        let is_digest = digest.len() == 64 && digest.bytes().all(|digit| digit.is_ascii_hexdigit());
        let digest = if is_digest { digest } else { "none" };
        self.folder.join(&digest[..2]).join(digest)
    }
}

/// SHA-256, 64 hexadecimal digits.
pub(crate) fn digest(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path)
        .map_err(|answer| restive_tables::Error::Io { path: path.into(), doing: "read", answer }.into())
}

/// The files of a folder by name, in order.
pub(crate) fn files(folder: &Path) -> Result<Vec<String>> {
    let refused =
        |answer| Error::from(restive_tables::Error::Io { path: folder.into(), doing: "read", answer });
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        if entry.file_type().map_err(refused)?.is_file() {
            let name = entry.file_name().into_string().map_err(|name| {
                let path = show::path(folder);
                Error::Refused(format!("{path}: found a file {name:?}, expected names in Unicode"))
            })?;
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_come_back_or_are_told_to_be_lost() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::of(folder.path());
        // one content under two names is kept once
        let contents = ["a", "b"].map(|name| (name.to_string(), b"some bytes".to_vec()));
        let all = store.keep(&contents).unwrap();
        assert_eq!(all, store.keep(&contents).unwrap());
        let kept = all[0].clone();
        assert_eq!(kept.digest, all[1].digest);
        assert_eq!(store.content(&kept).unwrap().unwrap(), b"some bytes");
        // the value of SHA-256 of the empty text, as published
        assert_eq!(digest(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        let path = store.path(&kept.digest);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(&path, &flipped).unwrap();
            // zlib's own bits may differ and mean the same
            if let Ok(content) = store.content(&kept).unwrap() {
                assert_eq!(content, b"some bytes");
            }
        }
        fs::write(&path, b"").unwrap();
        assert_eq!(store.content(&kept).unwrap(), Err(Lost::Changed));
        fs::remove_file(&path).unwrap();
        assert_eq!(store.content(&kept).unwrap(), Err(Lost::Missing));
        // a damaged content is written again, by whoever has the right one
        for damaged in [&b""[..], b"something else", &whole[..whole.len() - 1], b"\0\0\0\0"] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(store.keep(&contents).unwrap(), all);
            assert_eq!(store.content(&kept).unwrap().unwrap(), b"some bytes");
        }
        let mut longer = ZlibEncoder::new(Vec::new(), Compression::new(3));
        longer.write_all(b"some bytes and more").unwrap();
        fs::write(&path, longer.finish().unwrap()).unwrap();
        store.keep(&contents).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole);
        let outside = Input { name: "b".into(), digest: "../../../etc/passwd".into(), bytes: 1 };
        assert_eq!(store.content(&outside).unwrap(), Err(Lost::Missing));
    }
}
