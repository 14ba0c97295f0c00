//! Who was judged: everybody of a study, or some parts of one of its splits.
//!
//! A split is named by what made it, `given` by the column `split` or `seed 7`. Two splits of different names deal the same people
//! in different ways, so that any part of one has people of any part of the other, near enough: they overlap. It is written
//! `all` or `train+validation of seed 7`, and read back as it was.
//!
//! ```
//! use restive::data::split::Part;
//! use restive_tables::People;
//!
//! let [test, rest] = [&[Part::Test][..], &[Part::Train, Part::Validation]].map(|parts| People::of("seed 7", parts));
//! assert_eq!(rest.to_string(), "train+validation of seed 7");
//! assert!(!rest.overlaps(&test) && rest.overlaps(&People::all()));
//! assert!(test.overlaps(&People::of("seed 8", &[Part::Train])));
//! assert_eq!("test of seed 7".parse(), Ok(test));
//! ```

use crate::show::is_hostile;
use restive::data::split::Part;
use std::fmt;
use std::str::FromStr;

/// What stands in a table for it.
pub(super) const EXPECTED: &str = "all, or parts of a split such as train+validation of seed 7";
const ALL: &str = "all";
const OF: &str = " of ";

/// Who was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct People(Option<Parts>);

/// Some of the three parts of a split, not all.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Parts {
    split: String,
    /// in the order of [`Part::ALL`], each once
    parts: Vec<Part>,
}

impl People {
    /// Everybody.
    pub fn all() -> Self {
        Self(None)
    }

    /// Parts of a split, at least one; all three are everybody. The name of the split is a few plain words.
    pub fn of(split: &str, parts: &[Part]) -> Self {
        assert!(is_key(split), "split: a few plain words, found {split:?}");
        assert!(!parts.is_empty(), "parts: at least one");
        let parts: Vec<Part> = Part::ALL.into_iter().filter(|part| parts.contains(part)).collect();
        Self((parts.len() < Part::ALL.len()).then(|| Parts { split: split.into(), parts }))
    }

    /// Whether somebody may be among both.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => {
                one.split != other.split || one.parts.iter().any(|part| other.parts.contains(part))
            }
            _ => true,
        }
    }
}

/// Whether a text can name a split.
fn is_key(text: &str) -> bool {
    !text.is_empty() && text.trim() == text && !text.contains(is_hostile)
}

impl fmt::Display for People {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str(ALL),
            Some(Parts { split, parts }) => {
                let names: Vec<&str> = parts.iter().map(|part| part.name()).collect();
                write!(f, "{}{OF}{split}", names.join("+"))
            }
        }
    }
}

impl FromStr for People {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected {EXPECTED}");
        if text == ALL {
            return Ok(Self::all());
        }
        let (names, split) = text.split_once(OF).filter(|(_, split)| is_key(split)).ok_or_else(wrong)?;
        let part = |name: &str| Part::ALL.into_iter().find(|part| part.name() == name);
        let parts: Vec<Part> = names.split('+').map(part).collect::<Option<_>>().ok_or_else(wrong)?;
        Ok(Self::of(split, &parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Part::*;

    #[test]
    fn people_are_read_as_they_are_written() {
        let everybody = [People::all(), People::of("given", &Part::ALL)];
        assert_eq!(everybody.map(|people| people.to_string()), ["all", "all"]);
        let some = [&[Train][..], &[Validation], &[Test], &[Validation, Train], &[Test, Train]];
        for people in
            some.into_iter().flat_map(|parts| ["given", "seed 7", "a of b"].map(|s| People::of(s, parts)))
        {
            assert_eq!(people.to_string().parse(), Ok(people));
        }
        for text in [
            "",
            "All",
            "test",
            "test of ",
            "test of  a",
            "train, test of given",
            "+test of given",
            "every of a",
        ] {
            assert_eq!(text.parse::<People>(), Err(format!("expected {EXPECTED}")), "{text:?}");
        }
    }

    #[test]
    fn people_overlap_unless_they_are_other_parts_of_one_split() {
        let [learnt, test] = [&[Train, Validation][..], &[Test]].map(|parts| People::of("given", parts));
        let (both, other) = (People::of("given", &[Validation, Test]), People::of("seed 0", &[Test]));
        assert!(!learnt.overlaps(&test) && !test.overlaps(&learnt));
        for (one, another) in [(&learnt, &both), (&both, &test), (&learnt, &other), (&other, &test)] {
            assert!(one.overlaps(another) && another.overlaps(one), "{one}, {another}");
            assert!(one.overlaps(one) && one.overlaps(&People::all()) && People::all().overlaps(one));
        }
    }
}
