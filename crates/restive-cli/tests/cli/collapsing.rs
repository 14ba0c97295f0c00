//! Arms that are seen at pulls only, from `generate` to `plan`: the library's numbers, and one clear message for bad input.

use crate::harness::{Cli, assert_output, cli, stderr, stdout};
use ndarray::ArrayView2;
use restive::Instance;
use restive::data::domain::Domain;
use restive::data::encoding::{Encoding, Standardise};
use restive::evaluation::{Case, EvaluationSettings, Record, evaluate};
use restive::history::{HeldOut, Past, learn};
use restive::index::whittle_index;
use restive::instance::{Chain, Observation, UNSEEN};
use restive::policy::Policy;
use restive::predictor::Predictor;
use restive::training::{Config, Decision, DecisionFocused, fit};
use restive_tables::Study;
use serde_json::Value;
use std::fs;

const SIZE: &str = "--seed 7 --instances 4 --arms 12 --budget 3 --horizon 5 --trajectories 6 --format csv";

fn json(folder: &Cli, arguments: &str) -> Value {
    let run = folder.run(&format!("{arguments} --json")).success();
    let text = stdout(&run);
    let last = text.lines().last().unwrap();
    // train prints JSON lines, the others one value
    serde_json::from_str(&text).unwrap_or_else(|_| serde_json::from_str(last).unwrap())
}

fn instances(folder: &Cli) -> Vec<Instance> {
    let study = Study::read(&folder.path("s")).unwrap();
    let split = study.given_split().unwrap().unwrap();
    let encoding = Encoding::fit(&study.features(&split.train), Standardise::No, &[]).unwrap();
    study.instances(&encoding).unwrap()
}

fn table(instance: &Instance, predictor: &Predictor, discount: f64) -> ndarray::Array2<f64> {
    let (p, reward) = (predictor.predict(instance.features()), instance.reward().view());
    whittle_index(p.view(), reward, discount, instance.observation()).index
}

/// (arm, last state, since) of the highest indices at the last labels.
fn best(instance: &Instance, table: ArrayView2<'_, f64>, budget: usize) -> Vec<(String, u64, u64)> {
    let (log, labels) = (instance.trajectories(), instance.observation().chain().unwrap().beliefs());
    let label = |i: usize| usize::from(log.state()[[log.trajectories() - 1, log.steps() - 1, i]]);
    let mut order: Vec<usize> = (0..instance.arms()).collect();
    order.sort_by(|a, b| table[[*b, label(*b)]].total_cmp(&table[[*a, label(*a)]]));
    let row = |i: &usize| (i.to_string(), (label(*i) / labels) as u64, (label(*i) % labels) as u64);
    order[..budget].iter().map(row).collect()
}

#[test]
fn the_numbers_are_the_librarys() {
    for (asked, chain) in [
        ("", Chain::Finite(10)),
        ("--chain 4", Chain::Finite(4)),
        ("--chain infinite", Chain::Infinite { beliefs: 15 }),
    ] {
        let folder = cli();
        folder.run(&format!("generate collapsing --out s {SIZE} {asked}")).success();
        let all = instances(&folder);
        let observation = Observation::Collapsing(chain);
        let size =
            Domain { instances: 4, arms: 12, budget: 3, horizon: 5, trajectories: 6, ..Domain::collapsing() };
        assert_eq!(all, Domain { observation, ..size }.generate(7).unwrap());
        // two to train on, one to validate, one to test
        let (train, validation, test) = (&all[..2], &all[2..3], &all[3]);

        let config = Config { seed: 3, epochs: 20, ..Config::published() };
        let two_stage = fit(config.clone(), train, validation).unwrap().predictor;
        let mut through =
            DecisionFocused::new(config, Decision::published(5), None, train, validation).unwrap();
        while !through.is_finished() {
            through.epoch();
        }
        for (objective, predictor) in
            [("two-stage", two_stage), ("decision-focused", through.finish().predictor)]
        {
            let train =
                format!("train s --objective {objective} --profile published --seed 3 --out {objective}");
            let said = json(&folder, &train);
            let record = Record::new(test);
            let loss = record.loss(predictor.predict(test.features()).view()).per_trajectory;
            let found = &said["loss"]["test"];
            assert_eq!(found["transitions"], 6 * 5 * 3, "only pulls count");
            assert!((found["per_trajectory"].as_f64().unwrap() - loss).abs() < 1e-12 * loss);

            let index = table(test, &predictor, 0.99);
            let policies = vec![
                ("no-action".to_string(), Policy::NoAction),
                ("random".to_string(), Policy::Random),
                ("model-strict".to_string(), Policy::Strict(index.clone())),
            ];
            let settings =
                EvaluationSettings { runs: 30, resamples: 10, seed: 0, ..EvaluationSettings::new(5) };
            let cases = [Case { instance: test, policies, prediction: None }];
            let expected = evaluate(&cases, &settings).unwrap();
            let found = json(
                &folder,
                &format!("evaluate {objective} s --estimators published --runs 30 --resamples 10"),
            );
            assert!((found["loss"]["per_trajectory"].as_f64().unwrap() - loss).abs() < 1e-12 * loss);
            for (name, scores) in &expected.policies {
                for score in scores {
                    let found = &found["policies"][name][score.estimator.name()];
                    assert_eq!(
                        found["value"].as_f64(),
                        Some(score.value.value),
                        "{name} {}",
                        score.estimator.name()
                    );
                }
            }
            for name in ["myopic", "round-robin", "oracle-soft", "oracle-strict", "model-soft"] {
                assert!(found["policies"][name]["true"]["value"].is_number(), "{name}");
            }
            let rows = |plan: &Value| -> Vec<_> {
                let row = |row: &Value| {
                    let number = |name: &str| row[name].as_u64().unwrap();
                    (row["arm"].as_str().unwrap().to_string(), number("last_state"), number("since"))
                };
                plan["plan"].as_array().unwrap().iter().map(row).collect()
            };
            let plan = json(&folder, &format!("plan {objective} s --instance 3"));
            assert_eq!(rows(&plan), best(test, index.view(), 3));
            assert!(plan["plan"][0].get("state").is_none());
            // with the arms' own records
            let prediction = |instance: &Instance| predictor.predict(instance.features());
            let predicted = prediction(&validation[0]);
            let held_out =
                HeldOut { log: validation[0].trajectories(), observation, prediction: predicted.view() };
            let learnt = learn(&[held_out], None);
            let plan = json(&folder, &format!("plan {objective} s --instance 3 --history"));
            assert_eq!(plan["history"]["rule"]["active"], learnt.carry.carry.strength[1]);
            let past = Past::new(test.trajectories(), observation);
            let own = learnt.candidate.apply(&past, prediction(test).view()).unwrap();
            let index = whittle_index(own.view(), test.reward().view(), 0.99, observation);
            assert_eq!(rows(&plan), best(test, index.index.view(), 3));
        }
    }
}

#[test]
fn a_study_is_summarised_and_planned_for() {
    let folder = cli();
    let generated = folder.run(&format!("generate collapsing --out s {SIZE} --states 3 --chain 4")).success();
    let said = json(&folder, "study s");
    assert_eq!((&said["observation"], &said["pulls"]), (&"collapsing".into(), &360.into()));
    let labels = serde_json::json!({
        "is_infinite": false, "chain": 4, "sightings": 360, "longest_gap": 4, "has_derived_rewards": false
    });
    assert_eq!(said["labels"], labels);
    assert_eq!([&said["states"], &said["budget"]], [3, 3]);
    let study = folder.run("study s").success();
    let trained = folder.run("train s --predictor linear --epochs 5 --out m").success();
    folder.run("train s --objective decision-focused --epochs 5 --out d").success();
    let message = stderr(&folder.run("train s --predictor effect --out e").code(1));
    assert!(
        message.contains("--predictor effect") && message.contains("seen") | message.contains("sees"),
        "{message}"
    );
    folder.run("plan m s --out plan.csv").success();
    let plan = fs::read_to_string(folder.path("plan.csv")).unwrap();
    assert!(plan.starts_with("instance,arm,last_state,since,score,rank,inclusion\n"), "{plan}");
    let shown = folder.run("plan m s --rows 2").success();
    assert_output("collapsing", &[&generated, &study, &trained, &shown]);
}

/// Without columns of labels arms start unknown; without rewards those of pulls are known.
#[test]
fn a_bare_log_is_enough() {
    let folder = cli();
    let size = SIZE.replace("--horizon 5", "--horizon 20");
    folder.run(&format!("generate collapsing --out s {size} --chain 30")).success();
    let path = folder.path("s/trajectories.csv");
    let text = fs::read_to_string(&path).unwrap();
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let is_kept = |c: &usize| !["last_state", "since", "reward"].contains(&header[*c]);
    let bare = text.lines().map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        (0..cells.len()).filter(is_kept).map(|c| cells[c]).collect::<Vec<_>>().join(",") + "\n"
    });
    // arm 11 of the last instance is never pulled in what is left of its log
    let bare: String =
        bare.filter(|line| !(line.starts_with("3,") && line.split(',').nth(3) == Some("11"))).collect();
    fs::write(&path, bare).unwrap();
    let toml = fs::read_to_string(folder.path("s/study.toml"))
        .unwrap()
        .replace("chain = 30", "chain = \"infinite\"");
    folder.write("s/study.toml", toml);
    let said = json(&folder, "study s");
    assert_eq!(said["labels"]["is_infinite"], true);
    let gap = said["labels"]["longest_gap"].as_u64().unwrap();
    assert_eq!(said["labels"]["chain"], gap + 20);
    assert!(said["labels"]["sightings"].as_u64().unwrap() < said["pulls"].as_u64().unwrap());
    assert_eq!(instances(&folder)[0].trajectories().state()[[0, 0, 0]], UNSEEN);
    assert_eq!((&said["has_reward"], &said["labels"]["has_derived_rewards"]), (&false.into(), &true.into()));
    let study = folder.run("study s").success();
    folder.run("train s --epochs 5 --out m").success();
    let evaluated = folder.run("evaluate m s --estimators published --runs 20 --resamples 10").success();
    assert!(
        evaluated.stderr.contains("12 arms with an unknown label at the start (72 of 72 starts"),
        "{}",
        evaluated.stderr
    );
    // where nobody is pulled no reward is known: there is no value, rather than one of average rewards
    let found = json(&folder, "evaluate m s --estimators published --runs 20 --resamples 10");
    assert!(found["policies"]["no-action"].get("is").is_none());
    assert!(found["policies"]["no-action"]["simulated"]["value"].is_number());
    assert!(found["policies"]["random"]["is"].get("gain_over_no_action").is_none());
    assert!(found["policies"]["random"]["is"]["gain_over_random"]["value"].is_number());
    let run = folder.run("plan m s --budget 12 --json").success();
    let plan: Value = serde_json::from_str(&stdout(&run)).unwrap();
    let rows = plan["plan"].as_array().unwrap();
    assert_eq!((&plan["never_observed"], rows.len()), (&1.into(), 48));
    let is_never = |row: &&Value| row["last_state"].is_null() && row["since"].is_null();
    let never: Vec<&Value> = rows.iter().filter(is_never).collect();
    assert_eq!(never.len(), 1);
    assert_eq!((&never[0]["instance"], &never[0]["arm"]), (&"3".into(), &"11".into()));
    folder.run("plan m s --budget 12 --instance 3 --out plan.csv").success();
    let table = fs::read_to_string(folder.path("plan.csv")).unwrap();
    assert!(table.lines().any(|line| line.starts_with("3,11,,,")), "{table}");
    let planned = folder.run("plan m s --budget 12 --instance 3").success();
    assert_output("collapsing-bare-log", &[&study, &evaluated, &planned]);
}

#[test]
fn bad_input_ends_in_one_clear_message() {
    let folder = cli();
    for (arguments, part) in [
        ("collapsing --chain 0", "expected a whole number, at least 1, or infinite"),
        ("collapsing --chain long", "expected a whole number, at least 1, or infinite"),
        (
            "collapsing --chain infinite --states 3",
            "--chain: states: found 3, expected 2 for an infinite chain",
        ),
        ("collapsing --chain infinite --beliefs 5", "more than the horizon"),
        ("collapsing --beliefs 5", "--beliefs: it belongs to --chain infinite"),
        ("collapsing --states 0", "--states: found 0, expected at least 2"),
        (
            "collapsing --states 1",
            "--states: found 1, expected at least 2: with one state all arms are the same",
        ),
        ("collapsing --chain 5000", "at most 4096"),
        ("collapsing --chain 2500 --instances 1 --arms 1 --budget 1", "at most 4096"),
        ("collapsing --states 1000000000000000000", "cells of arms"),
        ("collapsing --chain infinite --horizon 18446744073709551615", "expected fewer than 2^32 beliefs"),
        ("two-state --chain 5", "unexpected argument '--chain'"),
        ("five-state --states 4", "unexpected argument '--states'"),
    ] {
        let message = stderr(&folder.run(&format!("generate {arguments} --out x")).code(2));
        assert!(message.contains(part) && message.lines().count() == 1, "{message}");
    }
    folder.run(&format!("generate collapsing --out s {SIZE} --chain 10")).success();
    let file = |name: &str| fs::read_to_string(folder.path(&format!("s/{name}"))).unwrap();
    let (toml, log) = (file("study.toml"), file("trajectories.csv"));
    let header: Vec<&str> = log.lines().next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|other| *other == name).unwrap();
    let action = column("action");
    // the log with one cell of the first row with that action changed
    let changed = |taken: &str, name: &str, to: &str| {
        let mut is_done = false;
        let lines = log.lines().map(|line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            if !is_done && cells[action] == taken {
                (is_done, cells[column(name)]) = (true, to);
            }
            cells.join(",") + "\n"
        });
        lines.collect::<String>()
    };
    // the last step of an arm with another state than was seen last
    let last = log.lines().find(|line| line.split(',').nth(action) == Some("")).unwrap();
    let mut cells: Vec<&str> = last.split(',').collect();
    let place = column("last_state");
    cells[place] = if cells[place] == "0" { "1" } else { "0" };
    let flipped = log.replacen(last, &cells.join(","), 1);
    let cases = [
        (
            toml.replace("chain = 10", "chain = 0"),
            log.clone(),
            "study.toml: line",
            "chain: found 0, expected a whole number",
        ),
        (
            toml.replace("chain = 10", "chain = 4"),
            log.clone(),
            "column since",
            "expected a whole number from 0 to 3 (a chain of 4 labels)",
        ),
        (toml.clone(), changed("0", "state", "1"), "column state", "found 1, expected an empty cell"),
        (toml.clone(), changed("1", "state", ""), "column state", "expected the state that the pull saw"),
        (toml.clone(), flipped, "column since", "as follows from the step before"),
    ];
    for (toml, log, place, part) in cases {
        folder.write("s/study.toml", toml);
        folder.write("s/trajectories.csv", log);
        for command in ["study s", "train s --out m"] {
            let message = stderr(&folder.run(command).code(1));
            assert!(message.contains(place) && message.contains(part), "{message}");
            assert!(message.lines().count() == 1 && message.starts_with("restive: s/"), "{message}");
        }
    }
    assert_eq!(folder.listing(), ["s"]);
}

/// A programme's table of calls: who was called when and what was seen, nothing else.
#[test]
fn a_table_of_calls_is_enough() {
    let folder = cli();
    fs::create_dir(folder.path("s")).unwrap();
    let toml = "states = 2\ndiscount = 0.9\nbudget = 2\nhorizon = 4\nbehaviour = \"uniform\"\nobservation = \"collapsing\"\nchain = 20\n";
    let arms: String = (0..10).map(|i| format!("{i},{}\n", (7 * i) % 10)).collect();
    folder.write("s/arms.csv", format!("arm,age\n{arms}"));
    // two calls a day for eight days, in turns; arms 8 and 9 are never called
    let calls = (1..=8).flat_map(|t| [(t, (2 * t) % 8), (t, (2 * t + 1) % 8)]);
    let calls: String = calls.map(|(t, i)| format!("1,{t},{i},{},1\n", (t + i) % 2)).collect();
    folder.write("s/trajectories.csv", format!("trajectory,t,arm,state,action\n{calls}"));
    folder.write("s/study.toml", toml);
    let message = stderr(&folder.run("study s").code(1));
    let expected = "column action: found rows for pulls only, expected rows with action 0 for arms that were left alone, or rows = \"pulls\" in study.toml";
    assert!(message.contains(expected) && message.lines().count() == 1, "{message}");

    folder.write("s/study.toml", format!("{toml}rows = \"pulls\"\n"));
    let said = json(&folder, "study s");
    assert_eq!((&said["pulls"], &said["decisions"]), (&16.into(), &80.into()));
    // the second call of each of eight arms, four steps after the first
    assert_eq!((&said["labels"]["sightings"], &said["labels"]["longest_gap"]), (&8.into(), &4.into()));
    folder.run("train s --predictor linear --profile published --epochs 3 --out m").success();
    let run = folder.run("plan m s --budget 10 --json").success();
    let plan: Value = serde_json::from_str(&stdout(&run)).unwrap();
    assert_eq!(plan["never_observed"], 2);
    for row in plan["plan"].as_array().unwrap() {
        let i: u64 = row["arm"].as_str().unwrap().parse().unwrap();
        // called last on the day t of 5 to 8 with 2t mod 8 = i or i - 1; day 9 is planned
        let called = (5..=8).rev().find(|t| (2 * t) % 8 == i || (2 * t + 1) % 8 == i);
        assert_eq!(row["since"].as_u64(), called.map(|t| 8 - t), "{row}");
        assert_eq!(row["last_state"].as_u64(), called.map(|t| (t + i) % 2), "{row}");
    }
    folder.run("evaluate m s --estimators published --part all --runs 10 --resamples 5").success();
    let text = fs::read_to_string(folder.path("s/trajectories.csv")).unwrap();
    let with = text.replace("action\n", "action,propensity\n").replace(",1\n1", ",1,0.2\n1");
    folder.write("s/trajectories.csv", with.trim_end().to_string() + ",0.2\n");
    let message = stderr(&folder.run("study s").code(1));
    assert!(message.contains("found a column propensity, expected no such column"), "{message}");
    folder.write("s/trajectories.csv", text);
    folder.write(
        "s/study.toml",
        "states = 2\ndiscount = 0.9\nbudget = 2\nhorizon = 4\nbehaviour = \"uniform\"\nrows = \"pulls\"\n",
    );
    let message = stderr(&folder.run("study s").code(1));
    assert!(message.contains("rows: found \"pulls\", expected \"all\""), "{message}");
}

/// Some rewards are logged where nobody was pulled: the note stays, with their share; all are: it goes.
#[test]
fn the_share_of_rewards_that_are_known_is_said() {
    let folder = cli();
    folder.run(&format!("generate collapsing --out s {SIZE}")).success();
    folder.run("train s --epochs 2 --out m").success();
    let note = || {
        let all = stderr(&folder.run("evaluate m s --estimators published --runs 5 --resamples 5").success());
        all.lines().find(|line| line.contains("rewards are known at pulls")).map(String::from)
    };
    assert_eq!(note(), None);
    let path = folder.path("s/trajectories.csv");
    let text = fs::read_to_string(&path).unwrap();
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|other| *other == name).unwrap();
    // of arms left alone those with an even name keep their rewards, 6 of 12
    let some = text.lines().enumerate().map(|(k, line)| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if k > 0 && cells[column("action")] == "0" && cells[column("arm")].parse::<u32>().unwrap() % 2 == 1 {
            cells[column("reward")] = "";
        }
        cells.join(",") + "\n"
    });
    fs::write(&path, some.collect::<String>()).unwrap();
    restive_testkit::assert_snapshot!("collapsing-known-rewards", &note().unwrap());
}
