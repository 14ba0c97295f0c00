//! What is not what it looks like: files of another kind than their names say, and names with characters that nobody sees.

use crate::harness::{Cli, cli, stderr};
use std::fs;

const ARMS: &str = "arm,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\nA,0.2,0.8,0.5,0.5\n";

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The first file of an archive: a header of 30 bytes, and its name.
fn zip(first: &str) -> Vec<u8> {
    let (mut bytes, name) = (b"PK\x03\x04\x14\0\x06\0\x08\0\0\0\x21\0".to_vec(), first.as_bytes());
    bytes.extend([0; 12]);
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes.extend([0; 2]);
    [&bytes, name, &[7; 40]].concat()
}

/// The bytes of a file, what it is called in a message, and what to do about it.
fn disguises() -> Vec<(Vec<u8>, &'static str, &'static str)> {
    let save = "save it as CSV UTF-8";
    vec![
        (utf16(ARMS), "found UTF-16 text", save),
        (utf16(&format!("\u{feff}{ARMS}")), "found UTF-16 text", save),
        (zip("[Content_Types].xml"), "found an Excel workbook", save),
        (zip("arms.csv"), "found a zip archive", "unpack it first (unzip)"),
        (
            b"\x1f\x8b\x08\0\0\0\0\0\0\x03KN\xcd".to_vec(),
            "found gzip-compressed data",
            "unpack it first (gunzip)",
        ),
        (
            b"\x28\xb5\x2f\xfd\x24\x05".to_vec(),
            "found Zstandard-compressed data",
            "unpack it first (zstd -d)",
        ),
        (
            b"PAR1\x15\x04\x15".to_vec(),
            "found a Parquet file",
            "a name that ends in .parquet is read as Parquet",
        ),
    ]
}

fn refused(folder: &Cli, command: &str, parts: &[&str]) {
    let message = stderr(&folder.run(command).code(1));
    assert_eq!(message.lines().count(), 1, "{message}");
    for part in parts {
        assert!(message.contains(part), "{command}: no {part:?} in {message}");
    }
}

#[test]
fn arms_of_another_kind_are_named_for_what_they_are() {
    for (bytes, found, advice) in disguises() {
        let folder = cli();
        folder.write("arms.csv", bytes);
        refused(
            &folder,
            "index arms.csv",
            &["restive: arms.csv: found", found, ", expected CSV in UTF-8: ", advice],
        );
    }
    let folder = cli();
    folder.write("arms.parquet", ARMS);
    let text = "arms.parquet: found text, expected Parquet: a name that ends in .csv is read as CSV";
    refused(&folder, "index arms.parquet", &[text]);
    folder.write("arms.npy", zip("arr_0.npy"));
    refused(
        &folder,
        "index arms.npy",
        &["found a zip archive, expected a NumPy array: unpack it first (an .npz"],
    );
    // the mark of UTF-8 is none
    folder.write("arms.csv", format!("\u{feff}{ARMS}"));
    folder.run("index arms.csv").success();
}

const SETTINGS: &str = "states = 2\ndiscount = 0.9\nbudget = 1\nhorizon = 4\nbehaviour = \"uniform\"\n";

/// A study of arm 17 in the district 5, with one file replaced.
fn study(name: &str, content: impl AsRef<[u8]>) -> Cli {
    let folder = cli();
    fs::create_dir(folder.path("s")).unwrap();
    folder.write("s/study.toml", SETTINGS);
    folder.write("s/arms.csv", "instance,arm,age\n5,17,31\n5,18,32\n");
    folder.write("s/trajectories.csv", "instance,trajectory,t,arm,state,action\n5,1,0,17,0,1\n5,1,1,17,1,\n");
    let truth = "instance,arm,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\n5,17,0.2,0.8,0.5,0.5\n5,18,0.2,0.8,0.5,0.5\n";
    folder.write("s/truth.csv", truth);
    folder.write(&format!("s/{name}"), content);
    folder
}

#[test]
fn tables_and_settings_of_another_kind_are_named_for_what_they_are() {
    study("study.toml", SETTINGS).run("study s").success();
    for (bytes, found, advice) in disguises() {
        for name in ["arms.csv", "trajectories.csv", "truth.csv"] {
            refused(
                &study(name, &bytes),
                "study s",
                &[&format!("s/{name}: {found}, expected CSV in UTF-8: {advice}")],
            );
        }
        refused(
            &study("study.toml", &bytes),
            "study s",
            &[&format!("s/study.toml: {found}, expected text in UTF-8: ")],
        );
    }
    let folder = study("study.toml", utf16(SETTINGS));
    refused(&folder, "study s", &["expected text in UTF-8: save it as UTF-8"]);
    let folder = study("truth.parquet", ARMS);
    fs::remove_file(folder.path("s/truth.csv")).unwrap();
    refused(&folder, "study s", &["s/truth.parquet: found text, expected Parquet"]);
}

#[test]
fn names_show_what_the_eye_misses() {
    let log =
        |arm: &str| format!("instance,trajectory,t,arm,state,action\n5,1,0,{arm},0,1\n5,1,1,{arm},1,\n");
    let there = "expected an arm of the table of arms; \"17\" is there, which differs in spaces or other characters that cannot be seen";
    for (arm, shown) in [
        ("17 ", "\"17 \" (ends with a space)"),
        (" 17", "\" 17\" (starts with a space)"),
        ("17\u{a0}", "\"17\\u{a0}\" (ends with a no-break space U+00A0)"),
        ("1\u{200b}7", "\"1\\u{200b}7\" (holds a zero-width space U+200B)"),
        ("17\t", "\"17\\t\" (ends with a tab)"),
    ] {
        let place = format!(
            "s/trajectories.csv: line 2 (arm {shown}), column arm, instance 5: found {shown}, an arm without"
        );
        refused(&study("trajectories.csv", log(arm)), "study s", &[&place, there]);
    }
    // a name that is no lookalike of any
    let message = stderr(&study("trajectories.csv", log("19 ")).run("study s").code(1));
    assert!(message.contains("(ends with a space)") && !message.contains("is there"), "{message}");
    let arms = "instance,arm,age\n5,17\u{a0},31\n5,17\u{a0},32\n";
    let twice = "line 3 (arm \"17\\u{a0}\" (ends with a no-break space U+00A0)), instance 5: found the arm a second time";
    refused(&study("arms.csv", arms), "study s", &[twice]);
    let rows = "5 ,17,0.2,0.8,0.5,0.5\n";
    let truth = format!("instance,arm,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\n{rows}");
    let instance = "found instance \"5 \" (ends with a space), expected an instance of the table of arms; \"5\" is there";
    refused(&study("truth.csv", truth), "study s", &[instance]);
}
