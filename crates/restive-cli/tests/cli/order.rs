//! The order of rows decides nothing: the same rows give the same study, the same training and the same plan.

use crate::harness::{Chance, Cli, assert_output, cli, stderr, stdout};
use std::fs;

/// The lines of a table below its header, in another order.
fn shuffled(text: &str, seed: u64) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut chance = Chance::new(seed);
    for i in (2..lines.len()).rev() {
        lines.swap(i, 1 + (chance.next() * i as f64) as usize);
    }
    lines.join("\n") + "\n"
}

/// A generated study without a column split, under names of people whose order is not that of their numbers.
fn generated(folder: &Cli) {
    let size = "--instances 2 --arms 12 --budget 3 --horizon 4 --trajectories 3";
    folder.run(&format!("generate two-state --out s --seed 5 {size} --format csv")).success();
    for table in ["arms.csv", "trajectories.csv", "truth.csv"] {
        let text = fs::read_to_string(folder.path("s").join(table)).unwrap();
        let arm = text.lines().next().unwrap().split(',').position(|name| name == "arm").unwrap();
        let lines = text.lines().enumerate().map(|(i, line)| {
            let mut cells: Vec<String> = line.split(',').map(String::from).collect();
            if i > 0 {
                let number: usize = cells[arm].parse().unwrap();
                cells[arm] = format!("{} {number}", ["Zoe", "Ada", "鳥"][number % 3]);
            }
            let keep = if table == "arms.csv" { cells.len() - 1 } else { cells.len() };
            cells[..keep].join(",") + "\n"
        });
        let text: String = lines.collect();
        folder.write(&format!("s/{table}"), text);
    }
}

#[test]
fn rows_in_any_order_give_the_same_study_training_and_plan() {
    let folder = cli();
    generated(&folder);
    fs::create_dir(folder.path("t")).unwrap();
    fs::copy(folder.path("s/study.toml"), folder.path("t/study.toml")).unwrap();
    for (seed, table) in ["arms.csv", "trajectories.csv", "truth.csv"].into_iter().enumerate() {
        let text = fs::read_to_string(folder.path("s").join(table)).unwrap();
        let other = shuffled(&text, seed as u64 + 1);
        assert_ne!(text, other);
        folder.write(&format!("t/{table}"), other);
    }
    let answers = ["s", "t"].map(|study| {
        folder.run(&format!("train {study} --out {study}-model --epochs 3 --seed 4")).success();
        folder.run(&format!("plan {study}-model {study} --history --out {study}.csv")).success();
        let scores = format!(
            "evaluate {study}-model {study} --estimators published --part all --runs 20 --resamples 10 --out {study}-scores.csv"
        );
        folder.run(&scores).success();
        let said = stdout(&folder.run(&format!("study {study} --json")).success());
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        let file = |name: String| fs::read(folder.path(&name)).unwrap();
        let files = [
            format!("{study}-model/weights.safetensors"),
            format!("{study}.csv"),
            format!("{study}-scores.csv"),
        ];
        (said["fingerprint"].clone(), files.map(file))
    });
    assert_eq!(answers[0], answers[1]);
}

/// Ada is last seen in state 1 in spring and in state 0 in autumn.
#[test]
fn the_latest_trajectory_is_the_last_by_name_or_as_a_column_says() {
    let folder = cli();
    fs::create_dir(folder.path("s")).unwrap();
    folder.write(
        "s/study.toml",
        "states = 2\ndiscount = 0.9\nbudget = 1\nhorizon = 4\nbehaviour = \"uniform\"\n",
    );
    folder.write("s/arms.csv", "arm,age,split\nAda,31,train\nBen,24,train\nCho,50,train\nDia,40,test\n");
    let log = |order: &str| {
        let row = |name: &str, number: &str, t: usize, arm: &str, state: usize| {
            let action = if t == 0 { usize::from(arm == "Ada").to_string() } else { String::new() };
            let number = if order.is_empty() { String::new() } else { format!(",{number}") };
            format!("{name},{t},{arm},{state},{action}{number}\n")
        };
        let mut text = format!("trajectory,t,arm,state,action{order}\n");
        for (name, number, state) in [("spring", "1", 1), ("autumn", "2", 0)] {
            for arm in ["Ada", "Ben", "Cho"] {
                text += &(row(name, number, 0, arm, 1 - state) + &row(name, number, 1, arm, state));
            }
        }
        text
    };
    let state = || {
        folder.run("train s --out m --predictor linear --epochs 1 --force").success();
        let plan = stdout(&folder.run("plan m s --budget 4 --json").success());
        let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
        plan["plan"][0]["state"].as_u64().unwrap()
    };
    folder.write("s/trajectories.csv", log(""));
    let by_name = folder.run("study s").success();
    assert_eq!(state(), 1);
    folder.write("s/trajectories.csv", log(",order"));
    assert_output("study-latest-trajectory", &[&by_name, &folder.run("study s").success()]);
    assert_eq!(state(), 0);
    folder.write("s/trajectories.csv", log(",order").replace("autumn,1,Cho,0,,2", "autumn,1,Cho,0,,3"));
    let said = stderr(&folder.run("study s").code(1));
    assert!(said.contains("column order, trajectory autumn, t 1: found 3, expected 2"), "{said}");
}
