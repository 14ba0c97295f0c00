//! Which room may know which: values flow instance → index → policy, and the kernels know arrays only.

use std::fs;
use std::path::{Path, PathBuf};

/// room → the rooms it may name
const DOORS: [(&str, &[&str]); 16] = [
    ("error", &["index"]), // its essay points to Status
    ("random", &[]),
    ("simd", &[]),
    ("lu", &[]),
    ("belief", &["index"]), // its essay points to the simplex
    ("instance", &["belief", "error", "index"]),
    ("predictor", &["error", "random", "simd"]),
    ("index", &["lu", "simd", "Result", "Error"]),
    ("policy", &["simd", "random"]),
    ("simulation", &["belief", "instance", "policy", "random"]),
    ("data", &["belief", "error", "instance", "policy", "random", "simulation"]),
    ("evaluation", &["belief", "error", "instance", "lu", "policy", "random", "simd", "simulation"]),
    ("training", &["data", "error", "evaluation", "index", "instance", "policy", "predictor", "random"]),
    ("joint", &["error", "evaluation", "instance", "policy", "predictor", "simd"]),
    ("statistics", &[]),
    ("report", &[]),
];

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, out) } else { out.push(path) }
    }
}

#[test]
fn rooms_know_only_the_rooms_they_may() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&source, &mut all);
    let mut seen = 0;
    for path in all {
        let inside = path.strip_prefix(&source).unwrap().to_str().unwrap().replace('\\', "/");
        let room = inside.split('/').next().unwrap().trim_end_matches(".rs");
        if room == "lib" {
            continue;
        }
        let (_, doors) =
            DOORS.iter().find(|(name, _)| *name == room).unwrap_or_else(|| panic!("a new room: {room}"));
        let whole = fs::read_to_string(&path).unwrap();
        let source_text = whole.split("#[cfg(test)]").next().unwrap();
        let depth = inside.matches('/').count();
        assert!(!source_text.contains(&"super::".repeat(depth + 1)), "{inside} leaves its room by super");
        for mention in source_text.split("crate::").skip(1) {
            let other: String = mention.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            assert!(other == room || doors.contains(&other.as_str()), "{inside} reaches into {other}");
            seen += 1;
        }
    }
    assert!(seen > 5, "the test reads the sources");
}
