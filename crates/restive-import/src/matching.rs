//! Who is who across files.
//!
//! A registry, a log of messages and a log of calls name the same woman in their own ways. How a column is compared is declared:
//!
//! | form | two cells are the same where |
//! |---|---|
//! | `exact` | they are, but for white space at their ends |
//! | `folded` | they are, but for capitals and any white space |
//! | `phone` | they are one number to a telephone exchange: `+250 788 383 383`, `250(78) 8 383 383` and `0788383383` in Rwanda |
//!
//! Keys are 64-bit hashes: among ten million of them two differing ones meet with a chance of 3 in a million. What a cell was is kept by
//! nobody here.

use crate::phones::Numbering;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use xxhash_rust::xxh3::xxh3_64;

/// How cells of a column are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// as they stand
    Exact,
    /// without capitals and white space
    Folded,
    /// as telephone numbers of a country
    Phone(&'static Numbering),
}

impl Form {
    /// The key of a cell; none where it is no telephone number.
    pub(crate) fn key(self, cell: &str) -> Option<u64> {
        match self {
            Form::Exact => Some(xxh3_64(cell.as_bytes())),
            Form::Folded => Some(xxh3_64(folded(cell).as_bytes())),
            Form::Phone(numbering) => numbering.key(cell),
        }
    }
}

/// Text without capitals and white space.
pub(crate) fn folded(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// A hash is its own hash.
#[derive(Default)]
pub(crate) struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are whole numbers")
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// From keys to positions.
pub(crate) type Keys = HashMap<u64, u32, BuildHasherDefault<Same>>;

/// Nobody, and more than one person: positions that nobody has.
pub(crate) const NOBODY: u32 = u32::MAX;
pub(crate) const SEVERAL: u32 = u32::MAX - 1;
/// Somebody whose row in the registry is quarantined.
pub(crate) const SET_ASIDE: u32 = u32::MAX - 2;

/// The people that a column of the registry names.
pub(crate) struct Directory {
    form: Form,
    keys: Keys,
    /// what cells that were met before turned out to be, where finding out is slow
    met: Keys,
}

impl Directory {
    pub(crate) fn new(form: Form, people: usize) -> Self {
        let keys = Keys::with_capacity_and_hasher(people, Default::default());
        Self { form, keys, met: Keys::default() }
    }

    #[cfg(test)]
    fn enter(&mut self, cell: &str, person: u32) {
        if let Some(key) = self.form.key(cell) {
            self.enter_key(key, person);
        }
    }

    /// Enters a person under the key of a cell. A row that is quarantined gives way to one that is not.
    pub(crate) fn enter_key(&mut self, key: u64, person: u32) {
        let entered = self.keys.entry(key).or_insert(person);
        if *entered == SET_ASIDE {
            *entered = person;
        } else if *entered != person && person != SET_ASIDE {
            *entered = SEVERAL;
        }
    }

    /// How many cells name several people.
    pub(crate) fn ambiguous(&self) -> usize {
        self.keys.values().filter(|person| **person == SEVERAL).count()
    }

    /// Whom a cell names: a position, [`NOBODY`] or [`SEVERAL`].
    pub(crate) fn find(&mut self, cell: &str) -> u32 {
        if !matches!(self.form, Form::Phone(_)) {
            return self.form.key(cell).and_then(|key| self.keys.get(&key).copied()).unwrap_or(NOBODY);
        }
        let raw = xxh3_64(cell.as_bytes());
        if let Some(person) = self.met.get(&raw) {
            return *person;
        }
        let person = self.form.key(cell).and_then(|key| self.keys.get(&key).copied()).unwrap_or(NOBODY);
        self.met.insert(raw, person);
        person
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_two_people_names_neither() {
        let mut directory = Directory::new(Form::Folded, 2);
        directory.enter("B 01", 0);
        directory.enter("b01", 0);
        directory.enter("B02", 1);
        assert_eq!([directory.find(" b0 1"), directory.find("B02"), directory.find("x")], [0, 1, NOBODY]);
        directory.enter("B02", 0);
        assert_eq!((directory.find("B02"), directory.ambiguous()), (SEVERAL, 1));
    }
}
