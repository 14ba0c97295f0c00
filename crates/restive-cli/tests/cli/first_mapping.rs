//! `restive import --init`: a mapping that is whole or not there, and never takes the place of something else.

use crate::harness::{Cli, assert_output, cli, stderr};
use std::fs;

fn exports() -> Cli {
    let folder = cli();
    fs::create_dir(folder.path("exports")).unwrap();
    for name in ["registry.csv", "messages.csv", "calls.csv"] {
        let shipped =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/import").join(name);
        fs::copy(shipped, folder.path("exports").join(name)).unwrap();
    }
    folder
}

const FILES: &str = "exports/registry.csv exports/messages.csv exports/calls.csv";

#[test]
fn files_are_named_from_where_the_mapping_stands() {
    let folder = exports();
    let run = folder.run(&format!("import --init {FILES}")).success();
    assert_output("import-init", &[&run]);
    let text = fs::read_to_string(folder.path("mapping.toml")).unwrap();
    restive_testkit::assert_snapshot!("import-init-mapping", &text);
    assert_eq!(text.matches("# DECIDE: ").count(), 8);
    assert!(text.contains("file = \"exports/registry.csv\""), "{text}");
    folder.run(&format!("import --init {FILES} --out exports/m.toml")).success();
    let text = fs::read_to_string(folder.path("exports/m.toml")).unwrap();
    assert!(text.contains("file = \"registry.csv\""), "{text}");
    fs::create_dir(folder.path("maps")).unwrap();
    folder.run(&format!("import --init {FILES} --out maps/m.toml")).success();
    let text = fs::read_to_string(folder.path("maps/m.toml")).unwrap();
    assert!(text.contains("file = \"../exports/registry.csv\""), "{text}");
    // with what there is to decide decided it is one
    let decided: String = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(line)
                if ["country", "at_least", "silence", "outcome"].iter().any(|key| line.starts_with(key)) =>
            {
                format!("{line}\n")
            }
            _ => format!("{line}\n"),
        })
        .collect();
    fs::write(folder.path("maps/m.toml"), decided).unwrap();
    let json = folder.run("import maps/m.toml --out programme --json").success().json();
    assert_eq!((&json["people"], json["periods"].as_array().unwrap().len()), (&12.into(), 6));
}

#[test]
fn a_mapping_is_replaced_only_where_that_is_asked_for() {
    let folder = exports();
    fs::write(folder.path("mapping.toml"), "[people]\nfile = \"mine\"\n").unwrap();
    let run = folder.run(&format!("import --init {FILES}")).code(1);
    assert!(stderr(&run).contains("mapping.toml"), "{}", stderr(&run));
    assert_eq!(fs::read_to_string(folder.path("mapping.toml")).unwrap(), "[people]\nfile = \"mine\"\n");
    folder.run(&format!("import --init {FILES} --force")).success();
    assert!(fs::read_to_string(folder.path("mapping.toml")).unwrap().contains("DECIDE"));
    // what is no mapping is never replaced, and an export is none
    fs::write(folder.path("notes.toml"), "mine = true\n").unwrap();
    for (out, code) in [("notes.toml", 1), ("exports/calls.csv", 2)] {
        let before = fs::read(folder.path(out)).unwrap();
        folder.run(&format!("import --init {FILES} --force --out {out}")).code(code);
        assert_eq!(fs::read(folder.path(out)).unwrap(), before);
    }
    let run = folder.run("import --init exports/nothing.csv --out new.toml").code(1);
    assert_eq!(
        stderr(&run),
        "restive: exports/nothing.csv: found no such file, expected the export; there is calls.csv, messages.csv, registry.csv\n"
    );
    assert!(!folder.path("new.toml").exists());
    let run = folder.run(&format!("import {FILES} --out programme")).code(2);
    assert!(
        stderr(&run).contains("found 3 files, expected one mapping; --init writes one for exports"),
        "{}",
        stderr(&run)
    );
}
