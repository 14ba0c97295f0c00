//! The names of columns.
//!
//! A name is trimmed. A second column of the same name is told from the first by `.2`, and a column without a name is
//! called by its place, `column 3`. Further files of a source may have the same columns in another order: [`order`]
//! says where each one is.

use super::error::{SourceError, advice};
use super::row::trimmed;
use restive_tables::show;
use std::collections::{HashMap, HashSet};

/// Names that differ from each other.
pub(super) fn distinct(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let names: Vec<String> = names.into_iter().map(|name| trimmed(&name).to_string()).collect();
    let given: HashSet<String> = names.iter().cloned().collect();
    let mut used = HashSet::new();
    let mut times: HashMap<String, usize> = HashMap::new();
    let mut unique = |place: usize, name: String| {
        let name = if name.is_empty() { format!("column {}", place + 1) } else { name };
        let time = times.entry(name.clone()).or_insert(0);
        let mut candidate = name.clone();
        while *time > 0 && given.contains(&candidate) || used.contains(&candidate) {
            *time += 1;
            candidate = format!("{name}.{}", *time);
        }
        *time = (*time).max(1);
        used.insert(candidate.clone());
        candidate
    };
    names.into_iter().enumerate().map(|(place, name)| unique(place, name)).collect()
}

/// Whether a name was given to a column that has none.
fn is_made(name: &str) -> bool {
    name.strip_prefix("column ").is_some_and(|place| place.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Where the columns of the first file are in another one, and the columns that only the other one has.
pub(super) fn order(
    first: (&str, &[String]),
    other: (&str, &[String]),
    members: bool,
) -> Result<(Vec<usize>, Vec<String>), SourceError> {
    let places: HashMap<&str, usize> =
        other.1.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    let missing: Vec<String> =
        first.1.iter().filter(|name| !places.contains_key(name.as_str())).cloned().collect();
    // the first line of a file without any of the names may be a person's row, or that of the first file
    let is_shared = |name: &&String| !is_made(name) && places.contains_key(name.as_str());
    if !missing.is_empty() && !first.1.iter().any(|name| is_shared(&name)) {
        let expected = format!("the columns of {}{}", show::plain(first.0), advice(members));
        return Err(SourceError::content(other.0, "none of the columns", expected));
    }
    if !missing.is_empty() {
        let (file, first) = (other.0.to_string(), first.0.to_string());
        return Err(SourceError::Columns { file, missing, first, members });
    }
    let known: HashSet<&str> = first.1.iter().map(String::as_str).collect();
    let extra = other.1.iter().filter(|name| !known.contains(name.as_str())).cloned().collect();
    Ok((first.1.iter().map(|name| places[name.as_str()]).collect(), extra))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(given: &[&str]) -> Vec<String> {
        distinct(given.iter().map(|name| name.to_string()))
    }

    #[test]
    fn repeated_names_are_counted() {
        assert_eq!(names(&["a", "a", "b", "a"]), ["a", "a.2", "b", "a.3"]);
        assert_eq!(names(&["a", "a", "a.2"]), ["a", "a.3", "a.2"]);
        assert_eq!(names(&["\u{a0}a ", "", " ", "column 2"]), ["a", "column 2", "column 3", "column 2.2"]);
    }

    #[test]
    fn columns_are_found_in_another_order() {
        let (a, b) = (names(&["x", "y"]), names(&["z", "y", "x"]));
        let (places, extra) = order(("a", &a), ("b", &b), false).expect("all are there");
        assert_eq!((places, extra), (vec![2, 1], vec!["z".to_string()]));
        let error = order(("b.csv", &b), ("a.csv", &a), false).expect_err("z is missing");
        assert_eq!(error.to_string(), "a.csv: found no column z, expected the columns of b.csv");
        // rows instead of names: no cell is shown
        let (a, b) = (names(&["B1", "Asha", ""]), names(&["B2", "Bina", ""]));
        let error = order(("a", &a), ("b.csv", &b), false).expect_err("nothing in common");
        assert_eq!(error.to_string(), "b.csv: found none of the columns, expected the columns of a");
    }
}
