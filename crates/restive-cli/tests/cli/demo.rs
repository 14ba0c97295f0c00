//! `restive demo`: the same numbers for any number of threads, a folder that is whole, and what others can do with it.

use crate::harness::{assert_output, cli, stderr, stdout};
use crate::train::weights;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// Small enough for a test: the published sizes take some seconds a run.
const SMALL: &str = "--runs 2 --arms 15 --trajectories 5";

fn json(text: &str) -> Value {
    let mut all: Value = serde_json::from_str(text).unwrap();
    let object = all.as_object_mut().unwrap();
    ["seconds", "peak_memory_bytes", "out"].iter().for_each(|name| drop(object.remove(*name).unwrap()));
    all
}

#[test]
fn one_thread_and_two_give_the_same_numbers_tables_and_report() {
    let folder = cli();
    let [one, two] = [1, 2].map(|threads| {
        let run = folder.run(&format!("demo --out d --force {SMALL} --threads {threads} --json")).success();
        let files = ["report.html", "results.csv", "plan.csv", "figure.svg", "study/study.toml"];
        let files = files.map(|name| fs::read(folder.path("d").join(name)).unwrap());
        (json(&stdout(&run)), files, weights(&folder, "d/two-stage"), weights(&folder, "d/decision-focused"))
    });
    assert!(one == two);
}

#[test]
fn the_numbers_are_all_there_and_agree_with_each_other() {
    let folder = cli();
    let all = json(&stdout(&folder.run(&format!("demo --out d {SMALL} --seed 3 --json")).success()));
    let results = fs::read_to_string(folder.path("d/results.csv")).unwrap();
    let mut lines = results.lines();
    assert_eq!(lines.next(), Some("domain,run,seed,method,metric,value"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 2 * (6 * 5 + 1));
    let methods: BTreeSet<&str> = rows.iter().map(|row| row[3]).collect();
    let expected = [
        "decision-focused",
        "decision-focused-recommended",
        "oracle",
        "oracle-matched",
        "random",
        "two-stage",
        "two-stage-recommended",
    ];
    assert_eq!(methods.into_iter().collect::<Vec<_>>(), expected);
    for row in &rows {
        assert_eq!(
            (row[0], row[2].parse::<u64>().unwrap()),
            ("two-state", 3 + row[1].parse::<u64>().unwrap())
        );
        let said = &all["runs"][row[1].parse::<usize>().unwrap()]["values"][row[3]][row[4]];
        assert_eq!(said.as_f64().unwrap(), row[5].parse::<f64>().unwrap(), "{row:?}");
    }
    for method in all["methods"].as_array().unwrap() {
        let name = method["method"].as_str().unwrap();
        for metric in ["loss", "is", "simulated", "strict_true"] {
            let of = |k: usize| all["runs"][k]["values"][name][metric].as_f64().unwrap();
            let (mean, half) = (method[metric]["mean"].as_f64().unwrap(), 0.5 * (of(0) - of(1)).abs());
            assert!((mean - 0.5 * (of(0) + of(1))).abs() < 1e-9);
            // two values: Student's t with one degree of freedom, times half their distance
            let reach = method[metric]["high"].as_f64().unwrap() - mean;
            assert!((reach - 12.706_204_736 * half).abs() < 1e-6 * (1.0 + half), "{name} {metric}");
        }
        let share = method["share_of_way_to_oracle"]["mean"].as_f64().unwrap();
        match name {
            "random" => assert_eq!(share, 0.0),
            "oracle" => assert_eq!(share, 1.0),
            _ => assert!((-1.0..1.5).contains(&share), "{name} {share}"),
        }
        // who knows nothing loses ln 2 on each of 15 arms × 9 steps
        let loss = method["loss"]["mean"].as_f64().unwrap();
        assert!(if name == "random" { (loss - 135.0 * 2f64.ln()).abs() < 1e-9 } else { loss < 200.0 });
    }
    let chosen = &all["selection"];
    let total: u64 = ["two-stage", "weak", "strong"].iter().map(|name| chosen[name].as_u64().unwrap()).sum();
    assert_eq!(total, 2);
    assert_eq!(all["plan"]["plan"].as_array().unwrap().len(), 3);
}

#[test]
fn the_models_are_those_that_train_would_write_and_the_other_commands_work_on_them() {
    let folder = cli();
    let run = folder.run("demo --out d --runs 1 --arms 15 --trajectories 5 --seed 4").success();
    let text = stdout(&run);
    assert!(stderr(&run).is_empty());
    assert_output("demo-one-run", &[&run]);
    let expected =
        ["decision-focused", "figure.svg", "plan.csv", "report.html", "results.csv", "study", "two-stage"];
    let listing = |name: &str| {
        let names =
            fs::read_dir(folder.path(name)).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        names.collect::<BTreeSet<_>>()
    };
    assert_eq!(listing("d").iter().map(String::as_str).collect::<Vec<_>>(), expected);
    for objective in ["two-stage", "decision-focused"] {
        folder
            .run(&format!(
                "train d/study --predictor network --standardise no --objective {objective} --seed 4 --out {objective}"
            ))
            .success();
        assert_eq!(weights(&folder, objective), weights(&folder, &format!("d/{objective}")));
        let card = |path: &str| {
            let text = fs::read_to_string(folder.path(path).join("card.json")).unwrap();
            serde_json::from_str::<Value>(&text).unwrap()
        };
        assert_eq!(card(objective), card(&format!("d/{objective}")));
        folder.run(&format!("evaluate d/{objective} d/study --estimators published")).success();
    }
    // the next commands that the output names
    folder.run("plan d/decision-focused d/study --instance 8 --out p.csv").success();
    let read = |name: &str| fs::read_to_string(folder.path(name)).unwrap();
    assert_eq!(read("p.csv"), read("d/plan.csv"));
    let next = text.lines().find_map(|line| line.strip_prefix("next: restive ")).unwrap();
    assert_eq!(next, "plan d/decision-focused d/study --instance 8");
    // nothing is fetched, nothing is run
    let report = read("d/report.html");
    assert!(
        !report.contains("://")
            && !report.contains("<script")
            && report.contains("prefers-color-scheme: dark")
    );
    restive_testkit::assert_page!("demo-page", &report);
}

#[test]
fn a_plan_and_what_it_brings_are_printed_first() {
    let folder = cli();
    let run = folder.run(&format!("demo --out d {SMALL}")).success();
    assert_output("demo", &[&run]);
    let text = stdout(&run);
    // the people are those of the plan, in its order
    let plan = fs::read_to_string(folder.path("d/plan.csv")).unwrap();
    let people: Vec<&str> = plan.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    let shown = text.lines().skip_while(|line| !line.starts_with("person")).skip(1).take(people.len());
    let shown: Vec<&str> = shown.map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(shown, people);
    // what is said is what the table of all numbers says
    let results = fs::read_to_string(folder.path("d/results.csv")).unwrap();
    let mean = |method: &str| {
        let end = format!(",{method},strict_true,");
        let values = results.lines().filter_map(|line| line.split_once(&end)?.1.parse::<f64>().ok());
        values.sum::<f64>() / 2.0
    };
    let gain = mean("decision-focused-recommended") - mean("random");
    let sentence = text.split_once("The plan brings ").unwrap().1;
    assert!(sentence.starts_with(&format!("{gain:.1} ")), "{gain}: {text}");
}

#[test]
fn a_folder_that_is_there_is_replaced_only_by_force_and_only_where_it_is_a_demo() {
    let folder = cli();
    let small = "demo --out d --runs 1 --arms 5 --trajectories 2";
    folder.run(small).success();
    let before = fs::read(folder.path("d/results.csv")).unwrap();
    let message = stderr(&folder.run(small).code(1));
    assert!(
        message.contains("d: found a folder with files") && message.ends_with("replaced: --force\n"),
        "{message}"
    );
    for other in ["d/mine.txt", "d/study/mine.txt", "d/two-stage/mine.txt"] {
        folder.write(other, "mine");
        let message = stderr(&folder.run(&format!("{small} --seed 1 --force")).code(1));
        assert!(message.contains("mine.txt"), "{message}");
        assert_eq!(fs::read(folder.path("d/results.csv")).unwrap(), before);
        fs::remove_file(folder.path(other)).unwrap();
    }
    folder.run(&format!("{small} --seed 1 --force")).success();
    assert_ne!(fs::read(folder.path("d/results.csv")).unwrap(), before);
    assert_eq!(folder.listing(), ["d"]);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_computed() {
    let folder = cli();
    for wrong in ["--runs 0", "--domain three-state", "--out nowhere/d", "--threads 0"] {
        let run = folder.run(&format!("demo {wrong}")).failure();
        assert!(stderr(&run).starts_with("restive: "), "{wrong}");
    }
    assert!(folder.listing().is_empty());
}
