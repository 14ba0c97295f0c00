//! Names cannot paint: whatever a file, a path or an argument holds, nothing that a terminal obeys comes through, no line is forged,
//! and no table starts a formula in a spreadsheet.

use crate::arms::*;
use crate::harness::*;
use arrow_array::{ArrayRef, StringArray};
use restive_tables::Model;
use std::fs;
use std::sync::Arc;

/// Colour, a bell, a title, a turn of direction, an isolate, a C1 sequence, and a line of its own.
const PAINT: &str = "\u{1b}[31mred\u{7}\u{1b}]0;x\u{202e}live\u{2066}\u{9b}2J\r\nrestive: forged\u{2028}";

fn run(folder: &Cli, arguments: &[&str]) -> Run {
    let run = folder.run_args(arguments);
    for said in [&run.stdout, &run.stderr] {
        let obeyed =
            |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}\u{2028}\u{feff}".contains(c);
        assert!(!said.contains(obeyed), "{arguments:?}: {said:?}");
        assert!(!said.lines().any(|line| line.starts_with("restive: forged")), "{arguments:?}: {said}");
        assert!(!said.contains("internal error"), "{arguments:?}: {said}");
    }
    run.stderr.lines().for_each(|line| assert!(line.starts_with("restive: "), "{arguments:?}: {line}"));
    run
}

/// A cell of CSV.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A study whose every name would paint.
fn study(folder: &Cli) {
    fs::create_dir(folder.path("s")).unwrap();
    let text = |text: &str| toml_text(text);
    folder.write(
        "s/study.toml",
        format!(
            "name = {}\nnotes = {}\nstates = 2\ndiscount = 0.9\nbudget = 2\nhorizon = 4\nbehaviour = \"uniform\"\n",
            text(PAINT),
            text(PAINT)
        ),
    );
    let (instance, trajectory) = (quoted(PAINT), quoted(&format!("t{PAINT}")));
    let mut arms =
        format!("instance,arm,{},{},split\n", quoted(&format!("word{PAINT}")), quoted(&format!("=x{PAINT}")));
    let mut log = "instance,trajectory,t,arm,state,action\n".to_string();
    for i in 0..12 {
        let arm = quoted(&format!("=cmd{i}{PAINT}"));
        let part = ["train", "train", "validation", "test"][i % 4];
        arms += &format!("{instance},{arm},{},{},{part}\n", quoted(&format!("{}{PAINT}", i % 3)), i * i % 7);
        for t in 0..4 {
            let action = if t < 3 { u8::from((i + t) % 6 == 0).to_string() } else { String::new() };
            log += &format!("{instance},{trajectory},{t},{arm},{},{action}\n", (i * t + i / 3) % 2);
            log +=
                &format!("{instance},{},{t},{arm},{},{action}\n", quoted(&format!("u{PAINT}")), (i + t) % 2);
        }
    }
    folder.write("s/arms.csv", arms);
    folder.write("s/trajectories.csv", log);
}

fn toml_text(text: &str) -> String {
    let escaped: String = text.chars().map(|c| format!("\\U{:08X}", u32::from(c))).collect();
    format!("\"{escaped}\"")
}

#[test]
fn every_command_is_safe_with_hostile_names() {
    let folder = cli();
    study(&folder);
    for json in [&[][..], &["--json"]] {
        let with = |arguments: &[&'static str]| [arguments, json].concat();
        run(&folder, &with(&["study", "s"])).success();
        run(
            &folder,
            &with(&[
                "train",
                "s",
                "--out",
                "m",
                "--predictor",
                "linear",
                "--profile",
                "published",
                "--epochs",
                "2",
                "--force",
            ]),
        )
        .success();
        run(
            &folder,
            &with(&["evaluate", "m", "s", "--estimators", "published", "--runs", "10", "--resamples", "5"]),
        )
        .success();
        run(&folder, &with(&["plan", "m", "s"])).success();
    }
    run(&folder, &["plan", "m", "s", "--instance", PAINT]).success();
    let said = stderr(&run(&folder, &["plan", "m", "s", "--instance", "none"]).code(2));
    assert!(said.contains("expected an instance such as \"\\u{1b}[31mred"), "{said}");
    run(&folder, &["train", "s", "--out", "n", "--drop", PAINT]).failure();

    // arms of restive index: shown, refused, and with columns that nobody uses
    let header = format!("arm,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1,{}\n", quoted(PAINT));
    folder.write("arms.csv", format!("{header}{},0.2,0.8,0.5,0.5,\n", quoted(PAINT)));
    run(&folder, &["index", "arms.csv"]).success();
    folder.write("bad.csv", format!("{header}{},0.2,{},0.5,0.5,\n", quoted(PAINT), quoted(PAINT)));
    run(&folder, &["index", "bad.csv"]).code(1);
    folder.write("bad.csv", format!("{}\n1\n", quoted(PAINT)));
    run(&folder, &["index", "bad.csv"]).code(1);
    let columns = vec![(format!("p_{PAINT}"), Arc::new(StringArray::from(vec![PAINT])) as ArrayRef)];
    let mut writer = parquet_writer(&folder.path("bad.parquet"), &columns);
    writer.write(&batch(columns)).unwrap();
    writer.close().unwrap();
    run(&folder, &["index", "bad.parquet"]).code(1);
    folder.write("bad.npy", npy(PAINT, "(1, 2, 2, 2)", &[0; 64]));
    run(&folder, &["index", "bad.npy"]).code(1);
}

#[test]
fn every_refusal_is_safe_with_hostile_files() {
    let folder = cli();
    study(&folder);
    let good = |name: &str| fs::read_to_string(folder.path("s").join(name)).unwrap();
    let (settings, arms, log) = (good("study.toml"), good("arms.csv"), good("trajectories.csv"));
    let cases = [
        ("study.toml", settings.clone() + &format!("\"{}\" = 1\n", "x\\u001b[31m")),
        ("study.toml", settings.replace("budget = 2", &format!("budget = {}", toml_text(PAINT)))),
        ("study.toml", settings.clone() + &format!("text = [{}]\n", toml_text(PAINT))),
        ("study.toml", settings.clone() + "\u{1b}[31m = \u{202e}\n"),
        ("study.toml", settings.replace("discount = 0.9", "discount = \u{1b}[31m")),
        ("arms.csv", arms.replacen(",train\n", &format!(",{}\n", quoted(PAINT)), 1)),
        ("arms.csv", arms.clone() + &format!("{0},{0},{0},{0},train\n", quoted(PAINT))),
        ("trajectories.csv", log.clone() + &format!("{0},{0},0,{0},0,0\n", quoted(PAINT))),
        ("trajectories.csv", log.clone() + &format!("{0}x,t,0,{0},0,0\n", quoted(PAINT))),
        ("trajectories.csv", log.replacen(",0,", &format!(",{},", quoted(PAINT)), 1)),
        ("trajectories.csv", log.replacen("state", &quoted(PAINT), 1)),
    ];
    for (file, text) in cases {
        let whole = good(file);
        folder.write(&format!("s/{file}"), text);
        run(&folder, &["study", "s"]).code(1);
        folder.write(&format!("s/{file}"), whole);
    }

    run(
        &folder,
        &["train", "s", "--out", "m", "--predictor", "linear", "--profile", "published", "--epochs", "1"],
    )
    .success();
    let card = fs::read_to_string(folder.path("m/card.json")).unwrap();
    let card: serde_json::Value = serde_json::from_str(&card).unwrap();
    for (pointer, value) in [
        ("/schema", PAINT.into()),
        ("/seed", PAINT.into()),
        ("/configuration/objective", PAINT.into()),
        ("/predictor/kind", PAINT.into()),
        ("/encoding/columns/0/categories", serde_json::json!([PAINT, PAINT])),
        ("/weights", PAINT.into()),
    ] {
        let mut other = card.clone();
        *other.pointer_mut(pointer).unwrap() = value;
        other["restive"] = PAINT.into();
        folder.write("m/card.json", other.to_string());
        run(&folder, &["plan", "m", "s"]).code(1);
    }
    folder.write("m/card.json", card.to_string().replacen('{', &format!("{{\"{}\": 1,", "x\\u001b[31m"), 1));
    run(&folder, &["plan", "m", "s"]).code(1);
    folder.write("m/card.json", "{\u{1b}[31m");
    run(&folder, &["plan", "m", "s"]).code(1);
    folder.write("m/card.json", card.to_string());
    let mut model = Model::read(&folder.path("m")).unwrap();
    model.weights[0].0 = PAINT.into();
    model.write(&folder.path("m"), true).unwrap();
    run(&folder, &["plan", "m", "s"]).code(1);
    folder.write("m/weights.safetensors", PAINT);
    run(&folder, &["plan", "m", "s"]).code(1);
}

#[cfg(unix)]
#[test]
fn paths_and_arguments_are_safe() {
    let folder = cli();
    let path = |end: &str| PAINT.to_string() + end;
    let (here, csv) = (path(""), path(".csv"));
    for arguments in [
        &["study", &here][..],
        &["index", &csv],
        &["index", &here],
        &["plan", &here, &here],
        &["evaluate", &here, &here],
        &["train", &here, "--out", &here],
        &["demo", "--out", &path("/none")],
        &["experiment", &here],
        &["generate", &here],
        &["completions", &here],
        &["man", &here],
        &[&here],
        &["plan", &path("--option")],
        &["plan", "m", "s", "--seed", &here],
        &["plan", "m", "s", "--out", &here],
        &["index", "arms.csv", "--rewards", &here],
        &["evaluate", "m", "s", "--temperature", &here],
    ] {
        run(&folder, arguments).failure();
    }
    let size = ["--instances", "1", "--arms", "4", "--budget", "1", "--horizon", "2", "--trajectories", "1"];
    run(&folder, &[&["generate", "two-state", "--out", &here][..], &size].concat()).success();
    run(&folder, &["study", &here]).success();
    run(&folder, &["train", &here, "--out", &path(" m"), "--epochs", "1"]).success();
    run(&folder, &["plan", &path(" m"), &here, "--out", &csv]).success();
    let (model, scores) = (path(" m"), path(" e.csv"));
    let few = ["--part", "all", "--runs", "5", "--resamples", "5", "--out", &scores];
    run(&folder, &[&["evaluate", &model, &here, "--estimators", "published"][..], &few].concat()).success();
}

#[test]
fn a_plan_starts_no_formula_and_names_come_back() {
    let folder = cli();
    fs::create_dir(folder.path("s")).unwrap();
    folder
        .write("s/study.toml", "states = 2\ndiscount = 0.9\nbudget = 9\nhorizon = 4\nbehaviour = \"none\"\n");
    let names = ["=1+1", "@SUM(A1)", "+cmd", "-2+3", "\t=1", "'=1", "O'Brien", "-5", "+4917"];
    let arms: String =
        names.iter().enumerate().map(|(i, name)| format!("{},{i},train\n", quoted(name))).collect();
    folder.write("s/arms.csv", format!("arm,age,split\n{arms}"));
    let rows = |name: &&str| format!("1,0,{0},0,1\n1,1,{0},1,0\n1,2,{0},1,\n", quoted(name));
    folder.write(
        "s/trajectories.csv",
        "trajectory,t,arm,state,action\n".to_string() + &names.iter().map(rows).collect::<String>(),
    );
    folder.run("train s --out m --predictor linear --profile published --epochs 1").success();
    folder.run("plan m s --out plan.csv").success();
    let plan = fs::read_to_string(folder.path("plan.csv")).unwrap();
    let cell = |line: &str| line.split(',').nth(1).unwrap().to_string();
    let mut cells: Vec<String> = plan.lines().skip(1).map(cell).collect();
    cells.sort();
    // '=1 was read as =1, for that is how =1 is written
    let mut expected = ["'=1+1", "'@SUM(A1)", "'+cmd", "'-2+3", "'\t=1", "'=1", "O'Brien", "-5", "+4917"];
    expected.sort();
    assert_eq!(cells, expected);
    // the same names, as restive reads its own table
    let rows = cells.iter().map(|cell| format!("{cell},0.2,0.8,0.5,0.5\n"));
    folder.write("w.csv", "arm,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\n".to_string() + &rows.collect::<String>());
    let said = stdout(&folder.run("index w.csv").success());
    for name in ["\n=1+1 ", "\n@SUM(A1) ", "\n+cmd ", "\n-5 "] {
        assert!(said.contains(name), "{said}");
    }
}
