//! Ids that say nothing: keyed hashes.
//!
//! A plain hash of a telephone number is undone by hashing all numbers. HMAC-SHA-256 with a random key of 256 bits is not, as long as
//! the key stays secret: it lives in a file of its own, for its owner alone, and is needed again at the next import. Of the hash 80 bits
//! are kept: among a million people two meet with a chance of 4 in 10¹³.

use crate::error::{Error, Result};
use hmac::{Hmac, KeyInit, Mac};
use restive_tables::write_private_file;
use sha2::Sha256;
use std::path::Path;

/// Makes pseudonyms.
pub struct Pseudonyms {
    key: [u8; 32],
}

impl Pseudonyms {
    /// Reads the key, or makes one where there is no such file.
    pub fn open(path: &Path) -> Result<Self> {
        let refused = |doing: &'static str| {
            move |answer| Error::Tables(restive_tables::Error::Io { path: path.into(), doing, answer })
        };
        if !path.exists() {
            let mut key = [0; 32];
            getrandom::fill(&mut key).map_err(|error| {
                refused("make a random key for")(std::io::Error::other(error.to_string()))
            })?;
            write_private_file(path, format!("{}\n", hex(&key)).as_bytes(), None)?;
            return Ok(Self { key });
        }
        let text = std::fs::read_to_string(path).map_err(refused("read"))?;
        Self::parse(text.trim()).ok_or_else(|| {
            Error::Refused(format!(
                "{}: found no key, expected the 64 hexadecimal digits that an earlier import wrote, or no file",
                path.display()
            ))
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let mut key = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (k, byte) in key.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * k..2 * k + 2], 16).ok()?;
        }
        Some(Self { key })
    }

    /// The pseudonym of an id.
    pub fn of(&self, id: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("a key of any length");
        mac.update(id.as_bytes());
        hex(&mac.finalize().into_bytes()[..10])
    }

    /// What tells one key from another without telling the key.
    pub(crate) fn mark(&self) -> String {
        self.of("the key of this programme")
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pseudonyms_are_those_of_the_published_algorithm() {
        // RFC 4231, test case 2: key "Jefe", data "what do ya want for nothing?"; a short key is the same as one padded by zeros
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        let found = Pseudonyms { key }.of("what do ya want for nothing?");
        assert_eq!(found, "5bdcc146bf60754e6a04");
    }

    #[test]
    fn a_key_is_made_once_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let first = Pseudonyms::open(&path).unwrap();
        assert_eq!(Pseudonyms::open(&path).unwrap().of("B01"), first.of("B01"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        std::fs::write(&path, "secret").unwrap();
        assert!(Pseudonyms::open(&path).is_err());
    }
}
