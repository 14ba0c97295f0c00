//! `restive train`: models of every kind, the same after any interruption, and one clear message for what cannot be trained.

use crate::harness::{Cli, assert_output, cli, stderr, stdout};
use crate::running::start;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};

/// A folder with a small generated study `s`.
fn small() -> Cli {
    let folder = cli();
    let size = "--seed 3 --instances 4 --arms 12 --budget 3 --trajectories 4 --features-kept 5";
    folder.run(&format!("generate two-state --out s --format csv {size}")).success();
    folder
}

pub(crate) fn card(folder: &Cli, model: &str) -> Value {
    serde_json::from_slice(&fs::read(folder.path(model).join("card.json")).unwrap()).unwrap()
}

pub(crate) fn weights(folder: &Cli, model: &str) -> Vec<u8> {
    fs::read(folder.path(model).join("weights.safetensors")).unwrap()
}

/// Adds a column to the table of arms of the study `s`: the value of each arm by its number in the table.
fn add_column(folder: &Cli, name: &str, value: impl Fn(usize) -> String) {
    let text = fs::read_to_string(folder.path("s/arms.csv")).unwrap();
    let line = |(k, line): (usize, &str)| match k {
        0 => format!("{line},{name}\n"),
        _ => format!("{line},{}\n", value(k - 1)),
    };
    folder.write("s/arms.csv", text.lines().enumerate().map(line).collect::<String>());
}

#[test]
fn every_predictor_trains_under_every_profile() {
    let folder = small();
    let mut recommended = Vec::new();
    for predictor in ["auto", "network", "linear", "effect", "hierarchical"] {
        for profile in ["recommended", "published", "paper"] {
            let out = format!("{predictor}-{profile}");
            let is_logistic = ["effect", "hierarchical"].contains(&predictor);
            let epochs = if is_logistic { "" } else { "--epochs 30" };
            if predictor == "auto" && profile != "recommended" {
                let command = format!("train s --predictor auto --profile {profile} --out {out}");
                let refused = folder.run(&command).failure().code(2);
                let expected = "--predictor auto: the profiles published and paper train one predictor; it needs --profile recommended";
                assert!(stderr(&refused).contains(expected), "{}", stderr(&refused));
                continue;
            }
            let run = folder
                .run(&format!("train s --predictor {predictor} --profile {profile} --out {out} {epochs}"))
                .success();
            assert_eq!(stderr(&run), "");
            let card = card(&folder, &out);
            assert_eq!(
                [&card["configuration"]["profile"], &card["configuration"]["predictor"]],
                [profile, predictor]
            );
            assert_eq!(card["history"]["loss"]["train"]["transitions"], 864);
            let train = serde_json::json!({"instances": 2, "arms": 24});
            assert_eq!(card["configuration"]["split"]["train"], train);
            let is_standardised = is_logistic || profile == "recommended" && predictor != "auto";
            assert_eq!(card["configuration"]["standardise"], is_standardised);
            let loss = |part: &str| card["history"]["loss"][part]["per_transition"].as_f64().unwrap();
            assert!(loss("train") < 2f64.ln() && loss("test").is_finite(), "{card}");
            // the published loss: 12 arms, 9 steps
            let per_trajectory = card["history"]["loss"]["train"]["per_trajectory"].as_f64().unwrap();
            assert!((per_trajectory - 108.0 * loss("train")).abs() < 1e-9);
            recommended.extend((profile == "recommended").then_some(run));
        }
    }
    assert_output("train", &recommended.iter().collect::<Vec<_>>());
    assert_eq!(folder.listing().iter().filter(|name| name.contains("checkpoint")).count(), 0);
}

#[test]
fn a_model_of_another_training_is_replaced_only_by_force() {
    let folder = small();
    folder.run("train s --predictor effect --out m").success();
    let message = stderr(&folder.run("train s --predictor effect --seed 5 --out m").code(1));
    assert!(
        message.contains("m: found a folder with files") && message.ends_with("replaced: --force\n"),
        "{message}"
    );
    folder.run("train s --predictor effect --seed 5 --out m --force").success();
}

#[test]
fn the_card_says_all_that_decided_the_weights() {
    let folder = small();
    let options =
        "--seed 5 --hidden 7,3 --dropout 0.25 --learning-rate 0.02 --epochs 30 --ensemble 2 --drop f_04,f_01";
    let run = folder
        .run(&format!("train s --out m --predictor network --standardise yes --json {options}"))
        .success();
    let card = card(&folder, "m");
    let configuration = &card["configuration"];
    for (name, expected) in [
        ("objective", serde_json::json!("two-stage")),
        ("profile", "recommended".into()),
        ("predictor", "network".into()),
        ("hidden", serde_json::json!([7, 3])),
        ("dropout", 0.25.into()),
        ("learning_rate", 0.02.into()),
        ("schedule", "cosine".into()),
        ("epochs", 30.into()),
        ("patience", 6.into()),
        ("keep", "best".into()),
        ("ensemble", 2.into()),
        ("seed", 5.into()),
        ("standardise", true.into()),
        ("drop", serde_json::json!(["f_04", "f_01"])),
    ] {
        assert_eq!(configuration[name], expected, "{name}");
    }
    assert_eq!(configuration["split"]["origin"], "study");
    assert_eq!(configuration["split"]["test"], serde_json::json!({"instances": 1, "arms": 12}));
    let study = restive_tables::Study::read(&folder.path("s")).unwrap();
    assert_eq!(card["fingerprint"], study.fingerprint());
    assert_eq!((&card["seed"], &card["restive"]), (&5.into(), &env!("CARGO_PKG_VERSION").into()));
    assert_eq!(card["encoding"]["columns"].as_array().unwrap().len(), 3);
    assert!(card["notes"].as_str().unwrap().contains("two-state, seed 3"));

    // a line for each epoch of each fit, as the card has them, and the summary
    let lines: Vec<Value> = stdout(&run).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (summary, epochs) = lines.split_last().unwrap();
    assert_eq!((&summary["event"], &summary["loss"]), (&"summary".into(), &card["history"]["loss"]));
    for (k, member) in card["history"]["members"].as_array().unwrap().iter().enumerate() {
        let of_member: Vec<&Value> = epochs.iter().filter(|line| line["member"] == k).collect();
        assert_eq!(of_member.len(), member["train_loss"].as_array().unwrap().len());
        for (epoch, line) in of_member.iter().enumerate() {
            assert_eq!(line["epoch"], epoch);
            assert_eq!(line["train_loss"], member["train_loss"][epoch]);
            assert_eq!(line["validation_loss"], member["validation_loss"][epoch]);
        }
    }
}

#[test]
fn the_weights_are_those_of_the_library() {
    use restive::data::encoding::{Encoding, Standardise};
    use restive::training::{Config, fit};
    let folder = small();
    folder.run("train s --out m --profile paper --epochs 5 --seed 9").success();
    let study = restive_tables::Study::read(&folder.path("s")).unwrap();
    let split = study.given_split().unwrap().unwrap();
    let encoding = Encoding::fit(&study.features(&split.train), Standardise::No, &[]).unwrap();
    let instances = study.instances(&encoding).unwrap();
    let config = Config { epochs: 5, seed: 9, ..Config::paper() };
    let fitted = fit(config, &instances[..2], &instances[2..3]).unwrap();
    let model = restive_tables::Model::read(&folder.path("m")).unwrap();
    for (name, block) in fitted.predictor.params() {
        let stored = model.array(&format!("member_0.{name}"), block.shape()).unwrap();
        assert_eq!(stored, block.iter().copied().collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn the_number_of_threads_does_not_matter_to_the_weights() {
    let folder = cli();
    folder
        .run("generate two-state --out s --instances 1 --arms 4000 --trajectories 1 --budget 800")
        .success();
    for (predictor, more) in [("network", "--profile paper --epochs 3"), ("effect", "--precision held-out")] {
        for threads in [1, 2] {
            let out = format!("{predictor}-{threads}");
            folder
                .run(&format!("train s --predictor {predictor} {more} --threads {threads} --out {out}"))
                .success();
        }
        let [one, two] = [1, 2].map(|n| format!("{predictor}-{n}"));
        assert!(weights(&folder, &one) == weights(&folder, &two), "{predictor}");
        assert_eq!(card(&folder, &one), card(&folder, &two));
    }
    // 2,800 of 4,000 arms of the one instance, and the precision that was chosen
    let card = card(&folder, "effect-1");
    assert_eq!(card["configuration"]["split"]["train"], serde_json::json!({"instances": 1, "arms": 2800}));
    assert!(card["predictor"]["precision"].as_f64().unwrap() <= 300.0, "{card}");
}

#[test]
fn options_that_contradict_each_other_or_make_no_sense() {
    let folder = small();
    let before = folder.listing();
    for (options, part) in [
        ("", "--out"),
        ("--out m --predictor tree", "tree"),
        ("--out m --objective both", "both"),
        ("--out m --profile best", "best"),
        ("--out m --epochs 0", "--epochs"),
        ("--out m --epochs -3", "-3"),
        ("--out m --learning-rate 0", "--learning-rate"),
        ("--out m --learning-rate nan", "--learning-rate"),
        ("--out m --learning-rate -1", "--learning-rate"),
        ("--out m --hidden 0", "--hidden"),
        ("--out m --hidden 64,", "--hidden"),
        ("--out m --hidden 1,1,1,1,1,1,1,1,1", "found 9 layers, expected at most 8"),
        ("--out m --dropout 1", "--dropout"),
        ("--out m --ensemble 0", "--ensemble"),
        ("--out m --seed -1", "-1"),
        ("--out m --standardise maybe", "maybe"),
        ("--out m --threads 0", "--threads"),
        ("--out m --precision 10", "--predictor effect"),
        ("--out m --predictor effect --precision 0", "above 0 or held-out"),
        ("--out m --predictor effect --epochs 3", "Newton"),
        ("--out m --predictor effect --ensemble 2", "do not depend on the seed"),
        ("--out m --ensemble 2", "each predictor of auto is the mean of its fold fits already"),
        ("--out m --predictor linear --hidden 3", "--predictor network"),
        ("--out m --predictor effect --dropout 0.1", "--predictor network"),
        ("--out ..", "expected the name of a folder"),
    ] {
        let run = folder.run(&format!("train s {options}")).code(2);
        let message = stderr(&run);
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(message.contains(part) && stdout(&run).is_empty(), "{options}: {message}");
    }
    assert_eq!(folder.listing(), before);
}

#[test]
fn studies_that_cannot_be_trained_on() {
    let folder = small();
    add_column(&folder, "same", |_| "1".into());
    let before = folder.listing();
    let refused = |options: &str, part: &str| {
        let run = folder.run(&format!("train {options}")).code(1);
        let message = stderr(&run);
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(message.contains(part) && stdout(&run).is_empty(), "{options}: {message}");
        assert_eq!(folder.listing(), before);
    };
    refused("s --out m", "feature same: found 1 in every training arm");
    refused("s --out m", "--drop same");
    refused("s --out m --drop none", "--drop: found \"none\", expected a feature: ");
    refused("nowhere --out m", "there is no such folder");
    refused("s --out nowhere/m --drop same", "there is no folder nowhere");
    refused("s --out s --drop same", "found a folder with files");
    refused("s --out s --drop same --force", "nothing but files of its kind");
    folder.run("train s --out m --drop same --epochs 2").success();
    assert_eq!(folder.listing(), ["m", "s"]);
}

#[test]
fn what_is_doubtful_is_said() {
    let folder = small();
    // the validation instance, the third of 12 arms, has a district of its own
    add_column(&folder, "district", |k| {
        ["north", "south", "islands"][if k / 12 == 2 { 2 } else { k % 2 }].into()
    });
    let train = |options: &str| folder.run(&format!("train s {options}")).success();
    let unseen = train("--out unseen --epochs 3");
    assert!(unseen.stderr.contains("feature district: 12 arms "), "{}", unseen.stderr);
    let diverged = train("--out diverged --epochs 3 --learning-rate 1e300 --drop district");
    assert_eq!(card(&folder, "diverged")["history"]["members"][0]["status"], "diverged");

    let arms = fs::read_to_string(folder.path("s/arms.csv")).unwrap();
    folder.write("s/arms.csv", arms.replace(",validation,", ",train,"));
    let without = train("--out without --epochs 3");
    assert_output("train-warnings", &[&unseen, &diverged, &without]);
    assert_eq!(card(&folder, "without")["history"]["members"][0]["validation_loss"][0], Value::Null);
    let held_out = folder.run("train s --out m --predictor effect --precision held-out").code(1);
    assert!(stderr(&held_out).contains("no validation part to choose on"));
}

#[test]
fn columns_that_cannot_be_learnt_from_are_named_before_training_and_by_study() {
    let folder = small();
    add_column(&folder, "file", |k| format!("F{k}"));
    let run = folder.run("train s --predictor effect --out m --json").success();
    let said = stderr(&run);
    let [identifier, unseen] = said.lines().collect::<Vec<_>>()[..] else { panic!("two warnings: {said}") };
    assert!(identifier.contains("24 values among 24 training arms"), "{identifier}");
    assert!(unseen.contains("24 arms with one of 24 values (F24, F25, F26, …)"), "{unseen}");
    let summary = stdout(&run);
    let summary: Value = serde_json::from_str(summary.lines().last().unwrap()).unwrap();
    let warnings: Vec<String> = (summary["warnings"].as_array().unwrap().iter())
        .map(|warning| format!("restive: warning: {}", warning.as_str().unwrap()))
        .collect();
    assert!(warnings.iter().any(|warning| warning == identifier), "{warnings:?}");
    let study = folder.run("study s").success();
    assert!(study.stderr.lines().any(|line| line == identifier), "{}", study.stderr);
    assert_output("study-identifier", &[&study]);
    let dropped = folder.run("train s --predictor effect --drop file --out without").success();
    assert_eq!(stderr(&dropped), "");
}

#[test]
fn a_long_training_says_so_before_it_begins() {
    let folder = small();
    let mut child = start(&folder, "train s --epochs 100000 --hidden 512,512 --out m");
    let mut first = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut first).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(first.starts_with("restive: note: training will take about "), "{first}");
}

#[test]
fn nothing_worse_than_bare_frequencies_is_written_and_the_cause_is_named() {
    let folder = small();
    // money beside numbers of size one
    let arms = std::fs::read_to_string(folder.path("s/arms.csv")).unwrap();
    let mut lines = arms.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = header.iter().position(|name| *name == "f_01").unwrap();
    let rich = |line: &str| {
        let mut cells: Vec<String> = line.split(',').map(String::from).collect();
        cells[column] = (25_000.0 + 9_000.0 * cells[column].parse::<f64>().unwrap()).to_string();
        cells.join(",") + "\n"
    };
    folder.write("s/arms.csv", header.join(",") + "\n" + &lines.map(rich).collect::<String>());
    let run =
        folder.run("train s --predictor network --standardise no --epochs 30 --out m").failure().code(1);
    let said = stderr(&run);
    assert!(
        said.contains("the network model predicts validation arms worse than the bare frequencies of moves"),
        "{said}"
    );
    assert!(said.contains("Features differ in size as rupees and years do; --standardise yes evens them out. --predictor auto"), "{said}");
    assert!(
        !folder.listing().iter().any(|name| name == "m" || name.starts_with("m.")),
        "{:?}",
        folder.listing()
    );
    // the default leaves the raw network out
    folder.run("train s --epochs 30 --out m").success();
    let bases = &card(&folder, "m")["history"]["members"][0]["choice"]["bases"];
    assert!(bases.as_array().unwrap().iter().all(|base| base["name"] != "network"), "{bases}");
    // and without a single pull there is nothing to rank by
    let log = std::fs::read_to_string(folder.path("s/trajectories.csv")).unwrap();
    let mut lines = log.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let action = header.iter().position(|name| *name == "action").unwrap();
    let propensity = header.iter().position(|name| *name == "propensity").unwrap();
    let idle = |line: &str| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if cells[action] == "1" {
            (cells[action], cells[propensity]) = ("0", "0.75");
        }
        cells.join(",") + "\n"
    };
    folder.write("s/trajectories.csv", header.join(",") + "\n" + &lines.map(idle).collect::<String>());
    let said = stderr(&folder.run("train s --out n").failure().code(1));
    assert!(said.contains("training part: found no pull among 864 transitions, expected some: nothing says what a pull changes"), "{said}");
}

#[test]
fn the_card_says_what_was_chosen_and_what_records_are_worth() {
    let folder = small();
    folder.run("train s --epochs 30 --out m").success();
    let card = card(&folder, "m");
    assert_eq!(card["configuration"]["predictor"], "auto");
    let choice = &card["history"]["members"][0]["choice"];
    let names: Vec<&str> =
        choice["bases"].as_array().unwrap().iter().map(|base| base["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["hierarchical", "network", "standardised-network"]);
    assert_eq!((&choice["transitions"], &choice["folds"]), (&864.into(), &8.into()));
    assert!(choice["loss"].as_f64() <= choice["frequencies_loss"].as_f64(), "{choice}");
    if choice["outcome"] != "frequencies" {
        assert_eq!(card["predictor"]["kind"], "pool");
        let used = card["predictor"]["bases"].as_array().unwrap();
        assert!(used.iter().all(|base| base["fits"] == 8), "{used:?}");
        let record = &card["own_record"];
        assert_eq!(
            (&record["from"], &record["arms"], &record["moves"]),
            (&"out-of-fold".into(), &24.into(), &864.into())
        );
    }
    // what decision-focused training begins with is what was chosen
    let run = folder.run("train s --objective decision-focused --preset weak --epochs 30 --out d").success();
    assert_output("train-preset", &[&run]);
    folder.run("plan d s").success();
    folder.run("evaluate d s --estimators published --runs 10 --resamples 5").success();
}
