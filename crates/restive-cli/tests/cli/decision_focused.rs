//! `restive train --objective decision-focused`: every value and predictor, the answer on the card, the same after any
//! interruption and on any number of threads, and one clear message for what contradicts itself.

use crate::harness::{Cli, assert_output, cli, stderr, stdout};
use crate::train::{card, weights};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Duration;

const TRAIN: &str = "train s --objective decision-focused";

fn study(options: &str) -> Cli {
    let folder = cli();
    folder.run(&format!("generate two-state --out s --seed 3 {options}")).success();
    folder
}

#[test]
fn every_value_trains_every_predictor_and_the_card_has_the_answer() {
    let folder = study("--instances 5 --arms 20 --budget 4 --trajectories 4 --features-kept 5");
    let mut runs = Vec::new();
    for (value, predictor) in [("is", "network"), ("fluid", "linear"), ("decomposed", "effect")] {
        let epochs = if predictor == "effect" { "" } else { "--epochs 30" };
        let out = format!("m-{value}");
        let command = format!("{TRAIN} --value {value} --predictor {predictor} {epochs} --out {out}");
        runs.push(folder.run(&command).success());
        let card = card(&folder, &out);
        assert_eq!(card["configuration"]["objective"], "decision-focused");
        assert_eq!(card["configuration"]["value"], value);
        assert_eq!(card["configuration"]["index_discount"], 1.0 - 1.0 / 9.0);
        let selection = &card["history"]["members"][0]["selection"];
        assert_eq!(selection["value_per_arm"].as_array().unwrap().len(), 3, "{selection}");
        folder.run(&format!("evaluate {out} s --estimators published --runs 10 --resamples 4")).success();
    }
    // as published: from scratch, no selection, index discount 0.99 from training to plan
    runs.push(folder.run(&format!("{TRAIN} --profile published --out p")).success());
    assert_output("train-decision-focused", &runs.iter().collect::<Vec<_>>());
    let published = card(&folder, "p");
    let member = &published["history"]["members"][0];
    assert_eq!((&member["status"], &member["selection"]), (&"completed".into(), &Value::Null));
    assert_eq!(member["train_loss"].as_array().unwrap().len(), 50);
    let configuration = &published["configuration"];
    assert_eq!([&configuration["value_weight"], &configuration["loss_weight"]], [0.9, 0.1]);
    assert_eq!(configuration["temperature"], "published:0.1");
    let plan: Value = serde_json::from_str(&stdout(&folder.run("plan p s --json").success())).unwrap();
    assert_eq!(plan["index_discount"], 0.99);
    let plan = folder.run("plan p s --json --index-discount 0.5").success();
    assert_eq!(serde_json::from_str::<Value>(&stdout(&plan)).unwrap()["index_discount"], 0.5);
}

#[test]
fn one_programme_with_a_single_trajectory_is_cut_into_groups_of_arms() {
    let folder = study("--instances 1 --arms 150 --budget 15 --trajectories 2");
    for value in ["is", "decomposed"] {
        let command = format!("{TRAIN} --predictor effect --value {value} --out {value} --json");
        let text = stdout(&folder.run(&command).success());
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        let selection = &last["members"][0]["selection"];
        assert_eq!(selection["value_per_arm"].as_array().unwrap().len(), 8, "{last}");
    }
}

#[test]
fn an_ensemble_takes_the_choice_of_its_first_member() {
    let folder = study("--instances 5 --arms 20 --budget 4 --trajectories 4");
    folder.run(&format!("{TRAIN} --ensemble 3 --epochs 20 --predictor linear --out m")).success();
    let card = card(&folder, "m");
    let choices: Vec<&Value> =
        (0..3).map(|k| &card["history"]["members"][k]["selection"]["choice"]).collect();
    assert!(choices[1] == choices[0] && choices[2] == choices[0], "{choices:?}");
    assert!(card["history"]["members"][1]["selection"]["value_per_arm"].as_array().unwrap().is_empty());
}

#[test]
fn killed_ten_times_it_ends_in_the_same_weights_as_on_one_thread() {
    let folder = study("--instances 6 --arms 60 --budget 12 --trajectories 10");
    let train = format!("{TRAIN} --epochs 400");
    folder.run(&format!("{train} --threads 1 --out whole")).success();
    let (mut kills, mut resumed) = (0u64, 0);
    loop {
        let mut child = Command::new(env!("CARGO_BIN_EXE_restive"))
            .current_dir(folder.path(""))
            .args(format!("{train} --threads 2 --out killed").split(' '))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // at instants that are all over the training, ever later so that it ends on any machine
        std::thread::sleep(Duration::from_millis(40 + 13 * (kills % 5) + 6 * kills));
        let ended = child.try_wait().unwrap();
        if ended.is_none() {
            child.kill().unwrap(); // SIGKILL
        }
        let has_succeeded = child.wait().unwrap().success();
        let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
        resumed += usize::from(said.contains("killed.checkpoint: going on after "));
        if has_succeeded && kills >= 10 {
            break;
        }
        if has_succeeded {
            // too quick a machine: once more from the beginning
            std::fs::remove_dir_all(folder.path("killed")).unwrap();
        }
        assert!(has_succeeded || ended.is_none(), "{said}");
        kills += u64::from(!has_succeeded);
        assert!(kills < 300);
    }
    assert!(kills >= 10 && resumed >= 3, "killed {kills} times, resumed {resumed} times");
    assert!(weights(&folder, "killed") == weights(&folder, "whole"), "after {kills} kills");
    assert_eq!(card(&folder, "killed"), card(&folder, "whole"));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let folder = study("--format csv --instances 4 --arms 12 --budget 3 --trajectories 2");
    let refuse = |options: &str, code: i32, part: &str| {
        let message = stderr(&folder.run(&format!("train s --out m {options}")).code(code));
        assert!(message.contains(part), "{options}: {message}");
        assert!(!folder.path("m").exists());
    };
    for option in ["--value fluid", "--preset weak", "--temperature spread:0.1"] {
        refuse(option, 2, "it needs --objective decision-focused");
    }
    refuse("--objective decision-focused --profile paper --preset weak", 2, "--preset: the profiles");
    refuse(
        "--objective decision-focused --temperature warm",
        2,
        "expected spread:X, published:X or absolute:X",
    );
    refuse("--objective decision-focused --index-discount 1.5", 2, "1.5");
    // no validation part
    let text = std::fs::read_to_string(folder.path("s/arms.csv")).unwrap();
    folder.write("s/arms.csv", text.replace(",validation", ",train"));
    refuse("--objective decision-focused", 1, "found no validation part");
    folder.run(&format!("{TRAIN} --profile published --epochs 3 --out m")).success();
}

#[test]
fn trainings_that_differ_in_their_steps_are_not_taken_for_each_other() {
    let folder = study("--instances 4 --arms 12 --budget 3 --trajectories 2");
    let train = format!("{TRAIN} --predictor effect --profile published --out m");
    folder.run(&format!("{train} --epochs 3")).success();
    let message = stderr(&folder.run(&format!("{train} --epochs 4")).code(1));
    assert!(message.contains("--force"), "{message}");
    let message = stderr(&folder.run(&format!("{train} --epochs 3 --precision 5")).code(2));
    assert!(message.contains("--precision"), "{message}");
    let message = stderr(&folder.run(&format!("{TRAIN} --out n --temperature spread:0")).code(2));
    assert!(message.contains("the strict policy has no gradient"), "{message}");
}

#[test]
fn json_has_one_line_for_each_epoch_on_all_instances() {
    let folder = study("--instances 5 --arms 20 --budget 4 --trajectories 4");
    let command = format!("{TRAIN} --predictor linear --epochs 20 --preset weak --out m --json");
    let text = stdout(&folder.run(&command).success());
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut seen: Vec<String> = (lines.iter().filter(|line| line["event"] == "epoch"))
        .map(|line| format!("{} {}", line["stage"], line["epoch"]))
        .collect();
    let all = seen.len();
    seen.dedup();
    assert_eq!(seen.len(), all);
    assert!(
        seen.iter().any(|line| line.contains("two-stage")) && seen.iter().any(|line| line.contains("weak"))
    );
}

#[test]
fn rewards_that_would_overflow_are_refused() {
    let folder = study("--format csv --instances 4 --arms 12 --budget 3 --trajectories 2");
    let text = std::fs::read_to_string(folder.path("s/study.toml")).unwrap();
    let line = text.lines().find(|line| line.starts_with("rewards")).unwrap();
    folder.write("s/study.toml", text.replace(line, "rewards = [0.0, 1e308]"));
    let message = stderr(&folder.run(&format!("{TRAIN} --predictor effect --out m")).code(1));
    assert!(message.contains("1e100"), "{message}");
}

#[test]
fn transitions_that_were_never_logged_are_said_to_be_guesses() {
    let folder = study("--instances 4 --arms 6 --budget 6 --trajectories 3");
    folder.run("train s --predictor effect --profile published --out m").success();
    let run = folder.run("evaluate m s --estimators published --runs 10 --resamples 4").success();
    assert_output("evaluate-guessed-transitions", &[&run]);
}
