//! What the program prints.

use crate::arms::{COMPACT, csv, f64_bytes, full_columns, npy};
use crate::harness::{assert_output, cli, stderr, stdout};
use std::process::{Command, Stdio};

#[test]
fn the_first_rows_are_shown_as_an_aligned_table() {
    let folder = cli();
    let text = "arm,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\nA,0.2,0.8,0.5,0.5\nlong name,0.5,0.5,0.5,0.5\nC,0.5,0.5,0.5,0.5\n";
    folder.write("arms.csv", text);
    let run = folder.run("index arms.csv --discount 0.5 --rows 2").success();
    assert_output("index", &[&run]);
    let text = stdout(&run);
    let row = |line: usize| text.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(row(1), ["A", "0.352941", "0.000000", "yes"]);
    assert_eq!(row(2), ["long", "name", "0.000000", "0.000000", "yes"]);
    assert_eq!(row(3)[..2], ["…", "1"]);
    assert!(text.contains("\n3 arms, 2 states, discount 0.5: "), "{text}");
    // no progress bar where standard error is not a terminal
    assert_eq!(stderr(&run), "");
}

#[test]
fn arms_without_index_are_unknown_and_warned_of() {
    let folder = cli();
    folder.write("arms.csv", csv(&COMPACT, &[0.2, 0.8, 0.5, 0.5, 0.0, 0.0, 1.0, 1.0]));
    let run = folder.run("index arms.csv --discount 1").success();
    assert_output("index-undetermined", &[&run]);
    let json = folder.run("index arms.csv --discount 1 --json").success().json();
    assert_eq!((&json["not_indexable"], &json["statuses"]["undetermined"]), (&0.into(), &1.into()));
    assert_eq!(json["arms"], 2);
}

#[test]
fn many_states_are_cut_in_the_middle() {
    let folder = cli();
    folder.write("arms.csv", csv(&full_columns(12), &vec![1.0 / 12.0; 288]));
    let table = stdout(&folder.run("index arms.csv").success());
    let header: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(header, ["arm", "w_0", "w_1", "w_2", "w_3", "w_4", "w_5", "…", "w_11", "is_indexable"]);
}

#[test]
fn the_summary_as_json_has_every_field() {
    let folder = cli();
    folder.write("arms.npy", npy("<f8", "(5, 2, 2, 2)", &f64_bytes(&[0.5; 40])));
    let text = stdout(&folder.run("index arms.npy --discount 0.9 --out w.csv --json").success());
    let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
    let expected = serde_json::json!({
        "input": "arms.npy", "arms": 5, "states": 2, "discount": 0.9, "algorithm": "two-state",
        "not_indexable": 0, "share_not_indexable": 0.0, "worst_residual": f64::EPSILON, "out": "w.csv",
        "statuses": {"exact": 5, "approximate": 0, "ill-conditioned": 0, "undetermined": 0},
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&summary[field], value, "{field}");
    }
    assert!(summary["seconds"].as_f64().unwrap() > 0.0 && summary["arms_per_second"].as_f64().unwrap() > 0.0);
    assert!(summary["peak_memory_bytes"].is_u64() || cfg!(not(target_os = "linux")));
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let folder = cli();
    folder.write("arms.csv", csv(&COMPACT, &[0.5; 40_000]));
    let mut child = Command::new(env!("CARGO_BIN_EXE_restive"))
        .args(["index", "arms.csv", "--rows", "10000"])
        .current_dir(folder.path("."))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
