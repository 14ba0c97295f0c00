//! One telephone number, however it is written.
//!
//! What a country's numbers look like (its code, the digit before numbers at home, the patterns of valid ones) comes from the tables of
//! `phonenumber`, which are those of libphonenumber. Its parser takes tens of microseconds for a number, a minute for a log of a few
//! million; what matching needs of it is little, and is done here in less than one:
//!
//! 1. after a `+` stands an international number;
//! 2. a number that is valid at home stands as it is, or after the prefix of calls at home (`0`);
//! 3. otherwise it may begin with `00` or with the country's code, of which somebody dropped the `+`.

use phonenumber::country::Id as Country;
use phonenumber::metadata::DATABASE;
use regex::{Regex, RegexBuilder};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// The longest number of the world has 15 digits; with `00` and a prefix some more.
const DIGITS: std::ops::RangeInclusive<usize> = 6..=18;

/// How a country numbers its telephones.
#[derive(Debug)]
pub(crate) struct Numbering {
    country: Country,
    code: String,
    prefix: Option<String>,
    valid: Regex,
}

impl PartialEq for Numbering {
    fn eq(&self, other: &Self) -> bool {
        self.country == other.country
    }
}

impl Eq for Numbering {}

impl Hash for Numbering {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.code.hash(state);
    }
}

impl Numbering {
    /// Of a country by its two letters; none where there is no such country. It is made once and stays.
    pub(crate) fn of(letters: &str) -> Option<&'static Self> {
        static MADE: Mutex<Option<HashMap<String, &'static Numbering>>> = Mutex::new(None);
        let letters = letters.to_ascii_uppercase();
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let made = made.get_or_insert_default();
        if let Some(known) = made.get(&letters) {
            return Some(known);
        }
        let country: Country = letters.parse().ok()?;
        let metadata = DATABASE.by_id(&letters)?;
        let pattern = metadata.descriptors().general().national_number().as_str().to_string();
        let numbering = Self {
            country,
            code: metadata.country_code().to_string(),
            prefix: metadata.national_prefix().map(String::from),
            // patterns are written over several lines
            valid: RegexBuilder::new(&format!("^(?:{pattern})$")).ignore_whitespace(true).build().ok()?,
        };
        let numbering: &'static Self = Box::leak(Box::new(numbering));
        made.insert(letters, numbering);
        Some(numbering)
    }

    /// What a number is known by; none where the cell is no number.
    pub(crate) fn key(&self, cell: &str) -> Option<u64> {
        let mut digits = [0u8; 2 + 18];
        let mut count = 0;
        let mut is_international = false;
        for c in cell.chars() {
            match c {
                '0'..='9' if count < *DIGITS.end() => {
                    digits[count] = c as u8;
                    count += 1;
                }
                '+' if count == 0 => is_international = true,
                '-' | '(' | ')' | '.' | '/' | '\u{2010}'..='\u{2015}' => {}
                c if c.is_whitespace() => {}
                _ => return None,
            }
        }
        let number =
            std::str::from_utf8(&digits[..count]).ok().filter(|number| DIGITS.contains(&number.len()))?;
        let national = self.national(number, is_international);
        match national {
            Some(national) => Some(xxh3_64(national.as_bytes())),
            // a number of another country is known by all of its digits
            None if is_international => Some(xxh3_64(number.as_bytes()) ^ 1),
            None => None,
        }
    }

    /// The number as the country itself counts it.
    fn national<'a>(&self, number: &'a str, is_international: bool) -> Option<&'a str> {
        let valid = |number: &'a str| self.valid.is_match(number).then_some(number);
        let after_prefix = |number: &'a str| valid(number.strip_prefix(self.prefix.as_deref()?)?);
        let after_code = |number: &'a str| {
            let rest = number.strip_prefix(&self.code)?;
            valid(rest).or_else(|| after_prefix(rest))
        };
        if is_international {
            return after_code(number);
        }
        valid(number)
            .or_else(|| after_prefix(number))
            .or_else(|| after_code(number.strip_prefix("00")?))
            .or_else(|| after_code(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the library of the tables makes of a number.
    fn parsed(country: Country, cell: &str) -> Option<String> {
        let number =
            phonenumber::parse(Some(country), cell).ok().filter(phonenumber::PhoneNumber::is_valid)?;
        Some(number.format().mode(phonenumber::Mode::E164).to_string())
    }

    #[test]
    fn one_number_is_one_person_however_it_is_written() {
        for (country, forms) in [
            (
                "RW",
                [
                    "250788383383",
                    "250(78) 8 383 383",
                    "0788383383",
                    "+250 788-383-383",
                    "00250788383383",
                    "788 383 383",
                ],
            ),
            (
                "IN",
                [
                    "+91 98765 43210",
                    "098765 43210",
                    "9876543210",
                    "919876543210",
                    "0091-98765-43210",
                    "91 0 9876543210",
                ],
            ),
            (
                "KE",
                [
                    "+254 712 345678",
                    "0712345678",
                    "254712345678",
                    "712345678",
                    "00254712345678",
                    "+254-0712345678",
                ],
            ),
        ] {
            let numbering = Numbering::of(country).unwrap();
            let keys: Vec<Option<u64>> = forms.iter().map(|form| numbering.key(form)).collect();
            assert!(keys[0].is_some() && keys.iter().all(|key| *key == keys[0]), "{country} {keys:?}");
        }
    }

    #[test]
    fn numbers_are_those_that_the_parser_of_the_tables_finds() {
        let country: Country = "IN".parse().unwrap();
        let numbering = Numbering::of("in").unwrap();
        for k in 0..200u64 {
            let digits = (6_000_000_000 + k * 19_937_001).to_string();
            if digits.starts_with("91") {
                // the parser takes the first digits of 9110172156 for the country, which are its own: there it is wrong
                let keys = ["", "0", "+91", "91"].map(|before| numbering.key(&format!("{before}{digits}")));
                assert!(keys[0].is_some() && keys.iter().all(|key| *key == keys[0]), "{digits}");
                continue;
            }
            for cell in [
                digits.clone(),
                format!("0{digits}"),
                format!("+91{digits}"),
                format!("+91 {} {}", &digits[..5], &digits[5..]),
            ] {
                let known = parsed(country, &cell);
                let plain = parsed(country, &digits);
                assert_eq!(numbering.key(&cell).is_some(), known.is_some(), "{cell}");
                assert_eq!(numbering.key(&cell) == numbering.key(&digits), known == plain, "{cell}");
            }
        }
    }

    #[test]
    fn what_is_no_number_has_no_key() {
        let numbering = Numbering::of("IN").unwrap();
        for cell in [
            "",
            "12",
            "Asha",
            "9.19877E+11",
            "98765 43210 (husband)",
            "1234567890123456789012",
            "98765+43210",
        ] {
            assert_eq!(numbering.key(cell), None, "{cell}");
        }
        // of another country: known by its digits, and by no others
        assert_ne!(numbering.key("+250788383383"), None);
        assert_eq!(Numbering::of("XX"), None);
    }
}
