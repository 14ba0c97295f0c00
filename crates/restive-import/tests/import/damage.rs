//! Files of an import that are not as it wrote them.

use crate::kit::*;
use restive_import::{ImportAsked, ImportedFolder};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const REMEDY: &str = "; restive import MAPPING --out programme --afresh writes all files of the import again";

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn afresh(world: &World) -> ImportAsked {
    ImportAsked { out: Some(world.path("programme")), afresh: true, ..ImportAsked::default() }
}

/// A programme that was imported twice, so that it has a table of changes.
fn imported_twice() -> (World, String) {
    let world = programme();
    world.grow(MAPPING).unwrap();
    let fingerprint = world.grow(MAPPING).unwrap().study.fingerprint();
    (world, fingerprint)
}

#[test]
fn damage_of_any_file_is_refused_with_its_remedy_and_an_import_afresh_repairs_it() {
    let (world, fingerprint) = imported_twice();
    let (all, pointer) = (world.imported().folder().to_path_buf(), world.path("programme/current"));
    let names: BTreeSet<PathBuf> =
        files(&all).iter().map(|path| path.strip_prefix(&all).unwrap().to_path_buf()).collect();
    assert_eq!(names.len(), 9, "{names:?}");
    let places = |world: &World| {
        let folder = world.imported().folder().to_path_buf();
        let within: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
        within.into_iter().chain([pointer.clone()]).collect::<Vec<_>>()
    };
    for file in 0..=names.len() {
        for damage in ["missing", "empty", "changed", "longer"] {
            let path = &places(&world)[file];
            let mut bytes = fs::read(path).unwrap();
            let middle = bytes.len() / 2;
            match damage {
                "missing" => fs::remove_file(path).unwrap(),
                "empty" => fs::write(path, "").unwrap(),
                "changed" => {
                    bytes[middle] ^= 1;
                    fs::write(path, bytes).unwrap();
                }
                _ => {
                    bytes.push(b'x');
                    fs::write(path, bytes).unwrap();
                }
            }
            let name = path.strip_prefix(world.path("")).unwrap().display().to_string();
            let said = world.refused(MAPPING);
            // a pointer that was changed may name a summary that is not there
            let is_named =
                said.starts_with(&name) || path == &pointer && said.starts_with("programme/imported/");
            assert!(is_named, "{name} {damage}: {said}");
            assert!(said.ends_with(REMEDY), "{name} {damage}: {said}");
            let repaired = world.asked(MAPPING, &afresh(&world)).unwrap();
            assert_eq!(repaired.study.fingerprint(), fingerprint, "{name} {damage}");
            // and the next one grows it
            let grown = world.grow(MAPPING).unwrap();
            assert_eq!(grown.study.fingerprint(), fingerprint, "{name} {damage}");
            assert!(grown.summary.earlier.is_some() && grown.summary.changes.is_some(), "{name} {damage}");
        }
    }
}

/// A table of records with one flipped bit could be read, and gave another study.
#[test]
fn records_with_any_flipped_bit_are_refused() {
    let (world, _) = imported_twice();
    let path = world.imported().folder().join("records.parquet");
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, bytes).unwrap();
        assert!(world.refused(MAPPING).contains("records.parquet: found other content"), "byte {at}");
    }
    fs::write(&path, whole).unwrap();
    world.grow(MAPPING).unwrap();
}

#[test]
fn opening_compares_lengths_of_all_files_and_the_content_of_small_ones() {
    let (world, _) = imported_twice();
    let open = || ImportedFolder::open(&world.path("programme"));
    for path in files(world.imported().folder()) {
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[1..]).unwrap();
        assert!(open().is_err(), "{}", path.display());
        let mut changed = whole.clone();
        changed[0] ^= 1;
        fs::write(&path, changed).unwrap();
        assert!(open().is_err(), "{}", path.display());
        fs::write(&path, &whole).unwrap();
        open().unwrap();
    }
    // of a large one the length
    let others =
        (0..9000).map(|k| format!("Q{k},{:x},,north\n", 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(k + 1)));
    world.write("registry.csv", REGISTRY.to_string() + &others.collect::<String>());
    world.grow(MAPPING).unwrap();
    let people = world.imported().people();
    let mut bytes = fs::read(&people).unwrap();
    assert!(bytes.len() > 1 << 16, "{}", bytes.len());
    bytes[1 << 15] ^= 1;
    fs::write(&people, bytes).unwrap();
    let (imported, summary) = open().unwrap();
    let damage = imported.verify(&summary).unwrap();
    assert_eq!(damage.len(), 1);
    assert_eq!((&damage[0].path, damage[0].found.as_str()), (&people, "other content"));
    assert!(world.refused(MAPPING).contains("people.parquet: found other content"));
}

#[test]
fn a_folder_of_a_programme_without_its_pointer_is_damaged_and_not_new() {
    let (world, fingerprint) = imported_twice();
    fs::remove_file(world.path("programme/current")).unwrap();
    let said = world.refused(MAPPING);
    assert_eq!(
        said,
        format!("programme/current: found no file, expected the name of a folder in imported/{REMEDY}")
    );
    assert_eq!(world.asked(MAPPING, &afresh(&world)).unwrap().study.fingerprint(), fingerprint);
    // of what an import left that was ended before it had results nothing is lost
    fs::remove_dir_all(world.path("programme")).unwrap();
    fs::create_dir_all(world.path("programme/imported/.restive-aB3xyZ.tmp")).unwrap();
    assert_eq!(world.grow(MAPPING).unwrap().study.fingerprint(), fingerprint);
    // only the results are gone: what else is of the programme stays
    fs::remove_dir_all(world.path("programme/imported")).unwrap();
    world.write("programme/rules.toml", "budget = 1\n");
    assert!(world.refused(MAPPING).ends_with(REMEDY));
    world.asked(MAPPING, &afresh(&world)).unwrap();
    assert_eq!(fs::read_to_string(world.path("programme/rules.toml")).unwrap(), "budget = 1\n");
}

#[test]
fn the_same_import_has_the_same_name_and_the_one_before_stays_until_the_next() {
    let world = programme();
    let mut names = Vec::new();
    for _ in 0..4 {
        world.grow(MAPPING).unwrap();
        names.push(world.imported().folder().to_path_buf());
    }
    assert!(names[0] != names[1] && names[1] == names[2] && names[2] == names[3], "{names:?}");
    let there = || fs::read_dir(world.path("programme/imported")).unwrap().count();
    assert_eq!(there(), 2);
    // who has opened the first can read it to the end, until the import after the next
    assert!(names[0].join("study/study.toml").is_file());
    world.write("messages.csv", MESSAGES.replace("P1,2026-03-10,5", "P1,2026-03-10,50"));
    world.grow(MAPPING).unwrap();
    assert!(!names[0].exists() && names[1].join("people.parquet").is_file());
    assert_eq!(there(), 2);
}

#[test]
fn looks_at_a_study_are_counted_on_after_an_import() {
    let world = programme();
    world.grow(MAPPING).unwrap();
    let mut looks = restive_tables::Looks::default();
    looks.look("effect", &restive_tables::People::all(), "a recipe");
    looks.write(&world.imported().study()).unwrap();
    world.write("messages.csv", MESSAGES.replace("P1,2026-03-10,5", "P1,2026-03-10,50"));
    for asked in [ImportAsked { afresh: false, ..afresh(&world) }, afresh(&world)] {
        world.asked(MAPPING, &asked).unwrap();
        assert_eq!(restive_tables::Looks::read(&world.imported().study()).unwrap(), looks);
    }
}
