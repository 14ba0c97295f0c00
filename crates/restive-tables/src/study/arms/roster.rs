//! Names and their numbers.
//!
//! Tables are mostly in order: the next row names the same instance and trajectory as the last and the same arm or its
//! neighbour. Those guesses come first; a hash of the name is the way out. When all names are known they are
//! [sorted](crate::by_name), so that numbers do not tell in which order the rows came.

use crate::{by_name, show};
use std::collections::HashMap;

/// Distinct names, numbered in the order in which they were first met.
#[derive(Default)]
pub(in crate::study) struct Roster {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
    last: usize,
}

impl Roster {
    /// The number of a name that is there.
    pub(in crate::study) fn find(&mut self, name: &str) -> Option<usize> {
        for guess in [self.last, self.last + 1, 0] {
            if self.names.get(guess).is_some_and(|there| there == name) {
                self.last = guess;
                return Some(guess);
            }
        }
        self.last = *self.numbers.get(name)?;
        Some(self.last)
    }

    /// The number of a name, a new one where it is not there.
    pub(in crate::study) fn find_or_add(&mut self, name: &str) -> usize {
        if let Some(number) = self.find(name) {
            return number;
        }
        self.last = self.names.len();
        self.names.push(name.into());
        self.numbers.insert(name.into(), self.last);
        self.last
    }

    /// What a message expects in the place of a name that is not there.
    pub(in crate::study) fn expected(&self, name: &str, what: &str) -> String {
        expected_name(name, what, self.names())
    }

    pub(in crate::study) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The same names in their order, and where each of them stood before.
    pub(in crate::study) fn sorted(self) -> (Self, Vec<usize>) {
        let mut before: Vec<usize> = (0..self.names.len()).collect();
        before.sort_by(|a, b| by_name(&self.names[*a], &self.names[*b]));
        let mut sorted = Self::default();
        before.iter().for_each(|number| _ = sorted.find_or_add(&self.names[*number]));
        (sorted, before)
    }

    pub(in crate::study) fn len(&self) -> usize {
        self.names.len()
    }

    pub(in crate::study) fn name(&self, number: usize) -> &str {
        &self.names[number]
    }

    pub(in crate::study) fn into_names(self) -> Vec<String> {
        self.names
    }
}

/// What a message expects in the place of a name that is not among others, with the one that is and only looks the same.
pub(in crate::study) fn expected_name<'a>(
    name: &str,
    what: &str,
    names: impl Iterator<Item = &'a str>,
) -> String {
    match show::lookalike(name, names) {
        None => what.into(),
        Some(other) => format!(
            "{what}; {} is there, which differs in spaces or other characters that cannot be seen",
            show::quoted_name(other)
        ),
    }
}
