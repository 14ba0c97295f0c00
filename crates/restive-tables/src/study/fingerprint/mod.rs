//! A short name for the contents of a study.
//!
//! A hash of everything that a model can learn from: settings (without name, notes and what is silenced), names, features, splits,
//! trajectories and truth. It is the same for CSV and Parquet, for a study [in memory](crate::Study) and [one that passes
//! by](crate::Roll), and on every machine, and says which data a model was trained on; it is no proof against forgery. [`sums`] says how
//! it is made, [`declared`] what declarations add, [`earlier`] how it was. The weights of a model get a name from their bytes,
//! [`of_bytes`].

mod declared;
pub(super) mod earlier;
pub(super) mod sums;

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// A number of an arm that depends on its names alone: whoever takes the arms of the smallest numbers takes the same ones from any
/// file, in any order, on any machine.
pub fn arm_key(instance: &str, arm: &str) -> u64 {
    let mut digest = Digest(Xxh3::new());
    digest.text(instance);
    digest.text(arm);
    digest.0.digest()
}

/// A short name for a list of texts, 32 hexadecimal digits: the same for the same texts in the same order, on every machine.
pub fn texts_key<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut digest = Digest(Xxh3::new());
    texts.into_iter().for_each(|text| digest.text(text));
    format!("{:032x}", digest.0.digest128())
}

struct Digest(Xxh3);

impl Digest {
    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text.as_bytes());
    }

    /// NaN counts as one value, as do 0 and −0.
    fn floats<'a>(&mut self, values: impl ExactSizeIterator<Item = &'a f64>) {
        self.number(values.len() as u64);
        for value in values {
            self.number(if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() });
        }
    }
}

/// The hash of a file as it stands, 32 hexadecimal digits.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}
