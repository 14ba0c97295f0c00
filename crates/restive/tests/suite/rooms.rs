//! Who may know whom: packages look down only, and inside the library values flow instance → index → policy.
//!
//! Packages are read from their manifests and from every path that their sources name, so that a package that appears later
//! is covered on the day it appears: one that is missing from [`PACKAGES`] fails the test.

use std::fs;
use std::path::{Path, PathBuf};

/// Package that the tests of all others may use, and nothing else.
const TEST_KIT: &str = "restive-testkit";

/// Sources of the kit that contain oracles: they may name no package of this workspace.
const ORACLES: [&str; 2] = ["naive_study.rs", "random_study.rs"];

/// package → the packages it may use
const PACKAGES: [(&str, &[&str]); 12] = [
    ("restive", &[]),
    ("restive-tables", &["restive"]),
    ("restive-import", &["restive", "restive-tables"]),
    ("restive-pipeline", &["restive", "restive-tables"]),
    ("restive-report", &[]),
    ("restive-ledger", &[]),
    (
        "restive-programme",
        &[
            "restive",
            "restive-tables",
            "restive-import",
            "restive-pipeline",
            "restive-report",
            "restive-ledger",
        ],
    ),
    (
        "restive-serve",
        &[
            "restive",
            "restive-tables",
            "restive-import",
            "restive-pipeline",
            "restive-report",
            "restive-ledger",
            "restive-programme",
        ],
    ),
    (TEST_KIT, &["restive-import"]),
    ("restive-lab", &["restive", "restive-tables", "restive-pipeline", "restive-report"]),
    (
        "restive-py",
        &[
            "restive",
            "restive-tables",
            "restive-import",
            "restive-pipeline",
            "restive-report",
            "restive-programme",
        ],
    ),
    (
        "restive-cli",
        &[
            "restive",
            "restive-tables",
            "restive-import",
            "restive-pipeline",
            "restive-report",
            "restive-ledger",
            "restive-programme",
            "restive-serve",
            "restive-lab",
        ],
    ),
];

/// room of the library → the rooms it may name
const ROOMS: [(&str, &[&str]); 27] = [
    ("error", &[]),
    ("interrupt", &[]),
    ("random", &[]),
    ("simd", &[]),
    ("product", &["simd"]),
    ("lu", &["product"]),
    ("cholesky", &[]),
    ("sum", &[]),
    ("twofold", &[]),
    ("bytes", &["error"]),
    ("allocation", &["error", "interrupt"]),
    ("belief", &["error", "interrupt"]),
    ("instance", &["belief", "error"]),
    ("predictor", &["bytes", "cholesky", "error", "interrupt", "random", "simd", "twofold"]),
    ("index", &["belief", "error", "interrupt", "lu", "product", "simd"]),
    ("policy", &["interrupt", "random", "simd"]),
    ("planning", &["belief", "cholesky", "index", "instance", "interrupt", "simd", "sum"]),
    ("simulation", &["belief", "instance", "interrupt", "policy", "random"]),
    (
        "data",
        &["belief", "bytes", "error", "instance", "interrupt", "policy", "random", "simulation", "twofold"],
    ),
    (
        "evaluation",
        &[
            "belief",
            "error",
            "instance",
            "interrupt",
            "lu",
            "planning",
            "policy",
            "random",
            "simd",
            "simulation",
            "statistics",
        ],
    ),
    ("history", &["belief", "error", "evaluation", "instance", "interrupt", "simd", "statistics"]),
    (
        "evidence",
        &["cholesky", "error", "instance", "interrupt", "planning", "policy", "random", "simd", "statistics"],
    ),
    ("fairness", &["allocation", "error", "interrupt", "statistics"]),
    (
        "training",
        &["data", "error", "evaluation", "index", "instance", "planning", "policy", "predictor", "random"],
    ),
    ("joint", &["error", "evaluation", "instance", "policy", "predictor", "simd"]),
    ("statistics", &["cholesky"]),
    ("trial", &["allocation", "error", "instance", "interrupt", "random", "statistics"]),
];

fn may(table: &[(&str, &'static [&'static str])], name: &str) -> &'static [&'static str] {
    table
        .iter()
        .find(|(known, _)| *known == name)
        .unwrap_or_else(|| panic!("nothing says what {name} may use"))
        .1
}

/// Every source file under a folder; none where the folder is not there.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// The packages of this workspace that a manifest depends on, in any of its tables of dependencies.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut is_inside = false;
    let mut found = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[') {
            is_inside = table.contains("dependencies");
        }
        let name = line.split(['.', '=', ' ']).next().unwrap();
        if is_inside && (name == "restive" || name.starts_with("restive-")) {
            found.push(name.to_string());
        }
    }
    found
}

/// The packages whose paths a source names: words that begin with restive and stand before two colons.
fn named(source: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let heads = source.split("::").filter_map(|before| before.rsplit(|c| !is_word(c)).next());
    let packages = heads.filter(|head| *head == "restive" || head.starts_with("restive_"));
    packages.map(|head| head.replace('_', "-")).collect()
}

#[test]
fn packages_look_down_only() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut seen = 0;
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(manifest) = fs::read_to_string(folder.join("Cargo.toml")) else { continue };
        let package = folder.file_name().unwrap().to_str().unwrap();
        let below = may(&PACKAGES, package);
        let (built, _) = manifest.split_once("[dev-dependencies]").unwrap_or((&manifest, ""));
        assert!(
            !dependencies(built).iter().any(|other| other == TEST_KIT),
            "{package} is built with the kit"
        );
        for other in dependencies(&manifest) {
            let may_use = other == TEST_KIT || below.contains(&other.as_str());
            assert!(may_use, "{package} depends on {other}");
            seen += 1;
        }
        for path in
            ["src", "tests", "benches", "examples"].iter().flat_map(|part| sources(&folder.join(part)))
        {
            let is_test = path.starts_with(folder.join("tests"));
            for other in named(&fs::read_to_string(&path).unwrap()) {
                let is_known = PACKAGES.iter().any(|(name, _)| *name == other);
                let is_kit = is_test && other == TEST_KIT;
                let is_below = is_kit || other == package || below.contains(&other.as_str());
                assert!(!is_known || is_below, "{} names {other}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "the test reads manifests and sources");
    for name in ORACLES {
        let source = fs::read_to_string(crates.join(TEST_KIT).join("src").join(name)).unwrap();
        assert!(!source.contains("restive_"), "{name} names a package, expected none: it is an oracle");
    }
}

#[test]
fn rooms_know_only_the_rooms_they_may() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = 0;
    for path in sources(&root) {
        let inside = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        let room = inside.split('/').next().unwrap().trim_end_matches(".rs");
        if room == "lib" {
            continue;
        }
        let doors = may(&ROOMS, room);
        let whole = fs::read_to_string(&path).unwrap();
        let source = whole.split("#[cfg(test)]").next().unwrap();
        let depth = inside.matches('/').count();
        assert!(!source.contains(&"super::".repeat(depth + 1)), "{inside} leaves its room by super");
        for mention in source.split("crate::").skip(1) {
            let other: String = mention.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            assert!(other == room || doors.contains(&other.as_str()), "{inside} reaches into {other}");
            seen += 1;
        }
    }
    assert!(seen > 100, "the test reads the sources");
}

#[test]
fn manifests_and_paths_are_read_as_cargo_reads_them() {
    let manifest = "[package]\nname = \"restive-x\"\n[dependencies]\nrestive.workspace = true\nrestive-tables = { path = \"y\" }\n\
                    rand = \"1\"\n[dev-dependencies]\nrestive-lab.workspace = true\n[lints]\nrestive-cli = 1";
    assert_eq!(dependencies(manifest), ["restive", "restive-tables", "restive-lab"]);
    let source =
        "use restive.index;\nlet x = restive_tables.Study.read();\nuse my_restive.y; // restive alone";
    assert_eq!(named(&source.replace('.', "::")), ["restive", "restive-tables"]);
}
