//! Files that are not what their names say, by their first bytes.
//!
//! Spreadsheet programs save UTF-16 and workbooks, archives come compressed, and people rename files. What such a file is can be
//! read off its start, so that a message names it and says what to do, where a parser would only complain of its first odd byte.
//! A file that starts as none of these is left to its reader.

use crate::error::{Error, Result};
use std::fmt;
use std::path::Path;

/// How many bytes [`refuse`] looks at.
pub(crate) const HEAD: usize = 512;

/// What a file is by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// text of two bytes per character, with or without a byte-order mark
    Utf16,
    /// a workbook of Excel, `.xlsx` or the older `.xls`
    Excel,
    /// a spreadsheet of OpenDocument
    OpenDocument,
    /// a zip archive of something else, such as `.npz`
    Zip,
    /// compressed by gzip
    Gzip,
    /// compressed by Zstandard
    Zstd,
    /// Apache Parquet
    Parquet,
    /// a NumPy array
    Npy,
    /// text in UTF-8, such as CSV
    Text,
}

/// What a reader can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// comma-separated text in UTF-8
    Csv,
    /// Apache Parquet
    Parquet,
    /// a NumPy array
    Npy,
    /// settings: TOML in UTF-8
    Toml,
}

impl Content {
    /// What the first bytes of a file say, where they say anything.
    fn of(head: &[u8]) -> Option<Self> {
        const MAGIC: [(&[u8], Content); 7] = [
            (b"PAR1", Content::Parquet),
            (b"\x93NUMPY", Content::Npy),
            (b"\x1f\x8b", Content::Gzip),
            (b"\x28\xb5\x2f\xfd", Content::Zstd),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Content::Excel),
            (b"\xff\xfe", Content::Utf16),
            (b"\xfe\xff", Content::Utf16),
        ];
        if let Some((_, content)) = MAGIC.into_iter().find(|(magic, _)| head.starts_with(magic)) {
            return Some(content);
        }
        if head.starts_with(b"PK\x03\x04") {
            // the name of the first file stands at byte 30, and its bytes follow where they are not compressed
            let first = head.get(30..).unwrap_or(&[]);
            let is_excel = |name: &[u8]| first.starts_with(name);
            return Some(match first {
                _ if first.starts_with(b"mimetypeapplication/vnd.oasis") => Content::OpenDocument,
                _ if [&b"[Content_Types]"[..], b"_rels/", b"docProps/", b"xl/"].into_iter().any(is_excel) => {
                    Content::Excel
                }
                _ => Content::Zip,
            });
        }
        match head {
            // no mark, but every other byte of plain letters is zero
            [0, 1..=255, 0, 1..=255, ..] | [1..=255, 0, 1..=255, 0, ..] => Some(Content::Utf16),
            _ => is_text(head).then_some(Content::Text),
        }
    }

    /// What it is, in words.
    fn words(self) -> &'static str {
        match self {
            Content::Utf16 => "UTF-16 text",
            Content::Excel => "an Excel workbook",
            Content::OpenDocument => "an OpenDocument spreadsheet",
            Content::Zip => "a zip archive",
            Content::Gzip => "gzip-compressed data",
            Content::Zstd => "Zstandard-compressed data",
            Content::Parquet => "a Parquet file",
            Content::Npy => "a NumPy array",
            Content::Text => "text",
        }
    }

    /// What to do about it.
    fn advice(self, wanted: Wanted) -> &'static str {
        match (self, wanted) {
            (Content::Utf16, Wanted::Toml) => "save it as UTF-8",
            (Content::Excel | Content::OpenDocument | Content::Parquet | Content::Npy, Wanted::Toml) => {
                "write it with a text editor"
            }
            (Content::Utf16 | Content::Excel | Content::OpenDocument, _) => {
                "save it as CSV UTF-8, with a name that ends in .csv"
            }
            (Content::Zip, Wanted::Npy) => "unpack it first (an .npz holds .npy files)",
            (Content::Zip, _) => "unpack it first (unzip)",
            (Content::Gzip, _) => "unpack it first (gunzip)",
            (Content::Zstd, _) => "unpack it first (zstd -d)",
            (Content::Parquet, _) => "a name that ends in .parquet is read as Parquet",
            (Content::Npy, _) => "save it as a table, with columns that have names",
            (Content::Text, _) => "a name that ends in .csv is read as CSV",
        }
    }
}

impl Wanted {
    fn words(self) -> &'static str {
        match self {
            Wanted::Csv => "CSV in UTF-8",
            Wanted::Parquet => "Parquet",
            Wanted::Npy => "a NumPy array",
            Wanted::Toml => "text in UTF-8",
        }
    }

    /// What a file of its kind starts as.
    fn content(self) -> Content {
        match self {
            Wanted::Csv | Wanted::Toml => Content::Text,
            Wanted::Parquet => Content::Parquet,
            Wanted::Npy => Content::Npy,
        }
    }
}

/// What was found where something else was wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignFile {
    /// what the file is
    pub found: Content,
    /// what its reader reads
    pub expected: Wanted,
}

impl fmt::Display for ForeignFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, expected } = *self;
        write!(f, "found {}, expected {}: {}", found.words(), expected.words(), found.advice(expected))
    }
}

/// Refuses a file whose first bytes are those of something else than is wanted.
pub(crate) fn refuse(path: &Path, head: &[u8], expected: Wanted) -> Result<()> {
    match Content::of(&head[..head.len().min(HEAD)]) {
        Some(found) if found != expected.content() => {
            Err(Error::Foreign { path: path.into(), fault: ForeignFile { found, expected } })
        }
        _ => Ok(()),
    }
}

/// Whether bytes are text, the last character perhaps cut.
fn is_text(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).expect("valid up to here")
        }
        Err(_) => return false,
    };
    !text.chars().any(|c| c.is_control() && !"\t\r\n".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_first_bytes() {
        let utf16 =
            |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        let zip = |name: &str| [&b"PK\x03\x04"[..], &[0; 26], name.as_bytes()].concat();
        let cases = [
            (utf16("arm,age\n", u16::to_le_bytes), Some(Content::Utf16)),
            (utf16("arm,age\n", u16::to_be_bytes), Some(Content::Utf16)),
            (utf16("\u{feff}größe\n", u16::to_le_bytes), Some(Content::Utf16)),
            (utf16("\u{feff}größe\n", u16::to_be_bytes), Some(Content::Utf16)),
            (zip("[Content_Types].xml"), Some(Content::Excel)),
            (zip("xl/workbook.xml"), Some(Content::Excel)),
            (zip("mimetypeapplication/vnd.oasis.opendocument.spreadsheet"), Some(Content::OpenDocument)),
            (zip("arms.csv"), Some(Content::Zip)),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0".to_vec(), Some(Content::Excel)),
            (b"\x1f\x8b\x08\0".to_vec(), Some(Content::Gzip)),
            (b"\x28\xb5\x2f\xfd\0".to_vec(), Some(Content::Zstd)),
            (b"PAR1\x15\x04".to_vec(), Some(Content::Parquet)),
            (b"\x93NUMPY\x01\0".to_vec(), Some(Content::Npy)),
            ("\u{feff}arm,größe\r\n".into(), Some(Content::Text)),
            ("Ñ".as_bytes()[..1].to_vec(), Some(Content::Text)), // cut within a character
            (b"arm,na\xefve\n".to_vec(), None),                  // another encoding: the cell will be named
            (b"\x00\x01\x02\x03".to_vec(), None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(Content::of(&bytes), expected, "{bytes:?}");
        }
    }
}
