//! Which files a mapping means.
//!
//! `*` in the name of a file stands for anything; all files that match are read, in the order in which people count. After
//! a `#` stands a member of an archive or a sheet of a workbook. Where a file has a `#` in its own name, the name of the
//! file is believed first. What editors and spreadsheet programs leave beside an open file is no match.

use super::error::{SourceError, file_name};
use restive_tables::{by_name, show};
use std::fs;
use std::path::{Path, PathBuf};

/// A file that was found.
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// as the mapping would give it
    pub(super) file: String,
}

/// The files of a mapping's `file`, and the member or sheet where one is named.
pub(super) fn files<'p>(base: &Path, pattern: &'p str) -> Result<(Vec<Found>, Option<&'p str>), SourceError> {
    let splits = pattern.match_indices('#').map(|(at, _)| (&pattern[..at], Some(&pattern[at + 1..])));
    for (name, member) in std::iter::once((pattern, None)).chain(splits) {
        let found = matching(base, name)?;
        if !found.is_empty() {
            return Ok((found, member));
        }
    }
    let name = pattern.split_once('#').map_or(pattern, |(name, _)| name);
    let (folder, last) = split(name);
    let there = listed(base, folder);
    if !there.is_dir() {
        let found = match there.parent().is_some_and(Path::is_dir) {
            true => format!("no folder {}", show::name(&file_name(&there))),
            false => "no such folder".into(),
        };
        let expected = "the folder of the export".into();
        return Err(SourceError::Missing { file: pattern.into(), found, expected, there: Vec::new() });
    }
    let (found, expected) = match last.contains('*') {
        true => ("no file that matches", format!("at least one {}", show::name(last))),
        false => ("no such file", "the export".into()),
    };
    let there = similar(last, names_in(&there, name)?);
    Err(SourceError::Missing { file: pattern.into(), found: found.into(), expected, there })
}

/// Whether a name is what a pattern means; `*` stands for anything, also for nothing.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Up to five of the names, those that share most with the wanted one first.
pub(super) fn similar(wanted: &str, mut names: Vec<String>) -> Vec<String> {
    let pairs = |text: &str| -> Vec<(char, char)> {
        let lower = text.to_lowercase();
        lower.chars().zip(lower.chars().skip(1)).collect()
    };
    let wanted = pairs(wanted);
    let share = |name: &String| {
        let pairs = pairs(name);
        let common = wanted.iter().filter(|pair| pairs.contains(pair)).count();
        (2000 * common).checked_div(wanted.len() + pairs.len()).unwrap_or(0)
    };
    names.sort_by(|a, b| by_name(a, b));
    names.sort_by_cached_key(|name| std::cmp::Reverse(share(name)));
    names.truncate(5);
    names
}

fn matching(base: &Path, name: &str) -> Result<Vec<Found>, SourceError> {
    let (folder, last) = split(name);
    if !last.contains('*') {
        let path = base.join(name);
        let is_there = !name.is_empty() && path.exists();
        return Ok(if is_there { vec![Found { path, file: name.into() }] } else { Vec::new() });
    }
    let there = listed(base, folder);
    if !there.is_dir() {
        return Ok(Vec::new());
    }
    let is_hidden = |name: &str| !last.starts_with(['.', '~']) && name.starts_with(['.', '~']);
    let mut names = names_in(&there, name)?;
    names.retain(|name| matches(last, name) && !is_hidden(name) && there.join(name).is_file());
    names.sort_by(|a, b| by_name(a, b));
    let found = |name| Found { path: there.join(&name), file: format!("{folder}{name}") };
    Ok(names.into_iter().map(found).collect())
}

/// The folders, with the last separator, and the name of the file.
fn split(name: &str) -> (&str, &str) {
    let at = name.rfind(std::path::is_separator).map_or(0, |at| at + 1);
    name.split_at(at)
}

/// The folder whose names are listed; the one that the program runs in has a name too.
fn listed(base: &Path, folder: &str) -> PathBuf {
    let there = base.join(folder);
    if there.as_os_str().is_empty() { ".".into() } else { there }
}

fn names_in(folder: &Path, file: &str) -> Result<Vec<String>, SourceError> {
    let entries = fs::read_dir(folder).map_err(SourceError::io(file, "list the folder"))?;
    Ok(entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, is_match) in [
            ("a.csv", "a.csv", true),
            ("a.csv", "a.csv2", false),
            ("*", "", true),
            ("a*.csv", "a.csv", true),
            ("a*.csv", "ab.c.csv", true),
            ("a*a", "a", false),
            ("*b*c", "abcbc", true),
            ("*b*b", "ab", false),
            ("*.csv", ".csv.gz", false),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
    }

    #[test]
    fn similar_names_come_first() {
        let names = ["visits.csv", "calls-2026.csv", "b", "a", "readme.md", "c"].map(String::from).to_vec();
        assert_eq!(similar("call.csv", names)[..2], ["calls-2026.csv", "visits.csv"]);
    }
}
