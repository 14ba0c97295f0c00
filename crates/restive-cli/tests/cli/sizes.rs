//! Sizes that are absurd are refused with a sentence, and a sentence stays one.

use crate::arms::*;
use crate::harness::*;
use arrow_array::{ArrayRef, StringArray};
use std::fs;
use std::sync::Arc;

/// One line, short enough to be read, that is no mistake of ours.
fn sentence(run: &Run) -> String {
    let said = stderr(run);
    assert!(said.starts_with("restive: ") && said.lines().count() == 1 && said.len() < 800, "{said:.900}");
    assert!(!said.contains("internal error"), "{said}");
    said
}

#[test]
fn an_absurd_number_of_threads_in_the_environment_is_refused() {
    let folder = cli();
    folder.write("arms.csv", csv(&COMPACT, &[0.5; 4]));
    for command in ["index arms.csv", "generate two-state --out s", "study s", "plan m s"] {
        for (variable, threads) in [("RAYON_NUM_THREADS", "1025"), ("RAYON_RS_NUM_CPUS", "100000")] {
            let run = folder.clone().env(variable, threads).run(command);
            let expected = format!("restive: {variable}: found {threads}, expected at most 1024 threads\n");
            assert_eq!(sentence(&run.code(2)), expected);
        }
    }
    assert_eq!(folder.listing(), ["arms.csv"]);
    folder.clone().env("RAYON_NUM_THREADS", "3").run("index arms.csv").success();
}

/// 65,536 characters are more than a width may be in a formatted line.
#[test]
fn name_of_over_4096_characters_is_refused_and_a_shorter_one_is_cut() {
    let folder = cli();
    let header = "arm,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\n";
    let long = "é".repeat(65_536);
    folder.write("arms.csv", format!("{header}{long},0.2,0.8,0.5,0.5\n"));
    let said = sentence(&folder.run("index arms.csv").code(1));
    assert!(said.contains("…\" (65536 characters), expected at most 4096 characters"), "{said}");
    let fair = "é".repeat(4096);
    folder.write("arms.csv", format!("{header}{fair},0.2,0.8,0.5,0.5\n"));
    let shown = stdout(&folder.run("index arms.csv").success());
    assert!(shown.contains(&format!("{}…  ", "é".repeat(60))) && shown.len() < 2000, "{shown}");

    fs::create_dir(folder.path("s")).unwrap();
    folder.write(
        "s/study.toml",
        "states = 2\ndiscount = 0.9\nbudget = 1\nhorizon = 4\nbehaviour = \"uniform\"\n",
    );
    let study = |instance: &str, arm: &str, column: &str, cell: &str, trajectory: &str| {
        folder.write(
            "s/arms.csv",
            format!("instance,arm,{column},split\n{instance},{arm},{cell},train\n{instance},B,b,train\n{instance},C,b,test\n"),
        );
        let rows = format!("{instance},{trajectory},0,{arm},0,1\n{instance},{trajectory},1,{arm},1,\n");
        folder.write("s/trajectories.csv", format!("instance,trajectory,t,arm,state,action\n{rows}"));
    };
    for k in 0..5 {
        let name = |c: usize| if c == k { long.as_str() } else { "n" };
        study(name(0), name(1), name(2), name(3), name(4));
        let said = sentence(&folder.run("study s").code(1));
        assert!(said.contains("(65536 characters), expected at most 4096 characters"), "{k}: {said}");
    }
    study(&fair, &fair, &fair, &fair, &fair);
    let said = stdout(&folder.run("study s").success());
    assert!(said.contains(&format!("  {}…  text, 2 categories", "é".repeat(60))), "{said}");
    folder.run("train s --out m --predictor linear --epochs 1").success();
    let said = stdout(&folder.run("plan m s --budget 3").success());
    // the sentence on effects that are not identified is longer than 200 characters
    let (effects, others): (Vec<&str>, Vec<&str>) =
        said.lines().partition(|line| line.starts_with("effects of pulls: not stated, "));
    assert!(effects.len() == 1 && effects[0].matches('é').count() < 200, "{said}");
    assert!(others.iter().all(|line| line.chars().count() < 200), "{said}");
}

/// Refused by what the file says of its columns, and where that says little by the cell.
#[test]
fn a_giant_cell_of_parquet_is_refused() {
    let folder = cli();
    for (few, expected) in [(true, "column arm: found 64000"), (false, "row 1, column arm: found \"xxx")] {
        let giant = "x".repeat(if few { 64_000_000 } else { 100_000 });
        let names = ["a".to_string(), giant].into_iter().chain((0..200).map(|i| i.to_string()));
        let names: Vec<String> = names.take(if few { 2 } else { 200 }).collect();
        let mut columns = float_columns(&COMPACT, &vec![0.5; 4 * names.len()]);
        columns.push(("arm".into(), Arc::new(StringArray::from(names)) as ArrayRef));
        let mut writer = parquet_writer(&folder.path("arms.parquet"), &columns);
        writer.write(&batch(columns)).unwrap();
        writer.close().unwrap();
        let said = sentence(&folder.run("index arms.parquet").code(1));
        assert!(said.contains(expected) && said.contains("expected at most 4096 characters"), "{said}");
    }
}

/// Files as other programs might write them.
#[test]
fn names_in_files_of_weights_are_cut() {
    let folder = cli();
    let stored = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stored");
    fs::create_dir(folder.path("m")).unwrap();
    fs::copy(stored.join("network/card.json"), folder.path("m/card.json")).unwrap();
    let header =
        format!("{{\"{}\":{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}}}", "x".repeat(70_000));
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend([0; 4]);
    folder.write("m/weights.safetensors", bytes);
    let said = sentence(&folder.run(&format!("plan m {}", stored.join("study").display())).code(1));
    assert!(said.contains("xxx… (70000 characters): found numbers of type F32"), "{said}");
}

/// A card that claims a network of 10¹⁸ weights does not get it.
#[test]
fn a_card_gets_no_more_memory_than_its_weights_have() {
    let folder = cli();
    let stored = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stored");
    fs::create_dir(folder.path("m")).unwrap();
    fs::copy(stored.join("network/weights.safetensors"), folder.path("m/weights.safetensors")).unwrap();
    let card = fs::read_to_string(stored.join("network/card.json")).unwrap();
    let mut card: serde_json::Value = serde_json::from_str(&card).unwrap();
    card["predictor"]["hidden"] = serde_json::json!([1_000_000_000, 1_000_000_000]);
    folder.write("m/card.json", card.to_string());
    let said = sentence(&folder.run(&format!("plan m {}", stored.join("study").display())).code(1));
    assert!(said.contains("parameters of a member, expected at most the"), "{said}");
}
