//! Files that restive has written and a power cut has emptied: damage that is named with its remedy, and never a default.

use crate::common::{now, programme};
use restive_programme::{Programme, WeekAsked};
use std::fs;
use std::path::{Path, PathBuf};

/// Plans again and returns the refusal.
fn refused(programme: &Programme) -> String {
    match programme.plan(&WeekAsked { again: true, ..WeekAsked::default() }, now()) {
        Ok(week) => panic!("a list of {}", week.rows.len()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn empty_rules_are_refused_with_the_remedy() {
    for text in ["", "\n\n", "\u{feff}", "\0\0\0\0\0\0\0\0"] {
        let (_kept, programme) = programme();
        fs::write(programme.rules_file(), text).unwrap();
        let said = refused(&programme);
        let expected = "the file is empty, as a power cut can leave it; restore it from a backup, or remove it to plan without rules";
        assert!(said.ends_with(expected), "{said}");
        assert!(programme.capacity().is_err() && programme.rules().is_err());
    }
    // comments alone are rules: those of restive programme init
    let (_kept, programme) = programme();
    fs::write(programme.rules_file(), "# none\n").unwrap();
    assert_eq!(programme.rules().unwrap().budget, None);
    // and so is no file, but not a link that leads nowhere
    fs::remove_file(programme.rules_file()).unwrap();
    assert_eq!(programme.rules().unwrap().budget, None);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", programme.rules_file()).unwrap();
        assert!(programme.rules().is_err());
    }
}

#[test]
fn empty_words_are_refused_with_the_remedy() {
    let (_kept, programme) = programme();
    fs::write(programme.words_file(), "").unwrap();
    let said = refused(&programme);
    assert!(said.ends_with("restore it from a backup, or remove it to use English"), "{said}");
}

/// All files in a folder and its folders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn empty_files_of_import_and_model_are_refused() {
    let (_kept, whole) = programme();
    let mut all = files(&whole.folder().join("imported"));
    all.extend(files(&whole.models_folder()));
    all.push(whole.folder().join("current"));
    assert!(all.len() >= 8, "{all:?}");
    for path in all {
        let (_kept, programme) = programme();
        fs::write(programme.folder().join(path.strip_prefix(whole.folder()).unwrap()), "").unwrap();
        let said = match Programme::open(programme.folder()) {
            Ok(programme) => refused(&programme),
            Err(error) => error.to_string(),
        };
        assert!(said.contains(path.file_name().unwrap().to_str().unwrap()), "{said}");
    }
}
