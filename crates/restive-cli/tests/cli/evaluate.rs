//! `restive evaluate`: the library's numbers, in the promised shape.

use crate::harness::{Cli, Run, assert_output, cli, stderr, stdout};
use crate::models::write_model;
use restive::evaluation::{Case, EvaluationSettings, evaluate, first_mass, likelihood};
use restive::index::{Algorithm, whittle_index};
use restive::planning::{Ending, Programme, advantages, prices};
use restive::policy::{Policy, Temperature};
use restive_tables::Study;
use serde_json::Value;
use std::fs;

const FEW: &str = "--runs 50 --resamples 20";

fn generated(trajectories: usize) -> Cli {
    let folder = cli();
    let size = "--instances 5 --arms 12 --budget 3 --horizon 5";
    folder
        .run(&format!(
            "generate two-state --out s --seed 5 {size} --trajectories {trajectories} --format csv"
        ))
        .success();
    folder
}

fn json(folder: &Cli, arguments: &str) -> Value {
    let run = folder.run(&format!("evaluate m s --estimators published --json {FEW} {arguments}")).success();
    serde_json::from_str(&stdout(&run)).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn same_numbers(a: &Value, b: &Value) -> bool {
    a["policies"] == b["policies"] && a["loss"] == b["loss"]
}

#[test]
fn the_numbers_are_the_librarys() {
    let folder = generated(6);
    let (encoding, predictor) = write_model(&folder.path("s"), &folder.path("m"));
    let study = Study::read(&folder.path("s")).unwrap();
    let instances = study.instances(&encoding).unwrap();
    let split = study.given_split().unwrap().unwrap();
    let [test] = &split.test[..] else { panic!("one instance to test on") };
    let instance = &instances[test.instance];
    let prediction = predictor.predict(instance.features());
    let table = whittle_index(prediction.view(), instance.reward().view(), 0.8, Algorithm::Auto).index;
    let softness = Temperature::Spread(0.1).resolve(table.as_slice().unwrap());
    let programme = Programme {
        motion: prediction.view().into(),
        reward: instance.reward().into(),
        discount: instance.discount(),
        horizon: 5,
        ending: Ending::Nothing,
        group: None,
        budget: &[instance.budget() as f64],
        presence: None,
    };
    let start = first_mass(instance.trajectories(), instance.observation());
    let price = prices(&programme, start.view()).price;
    let policies = vec![
        ("no-action".to_string(), Policy::NoAction),
        ("random".to_string(), Policy::Random),
        ("model-soft".to_string(), Policy::Soft(table.clone(), softness)),
        ("model-strict".to_string(), Policy::Strict(table)),
        ("model-horizon".to_string(), Policy::Horizon(advantages(&programme, price.view()))),
    ];
    let settings = EvaluationSettings { runs: 50, resamples: 20, seed: 0, ..EvaluationSettings::new(5) };
    let expected = evaluate(&[Case { instance, policies, prediction: None }], &settings).unwrap();
    let found = json(&folder, "");
    assert_eq!(keys(&found), ["about", "loss", "policies"]);
    let names = [
        "least-engaged",
        "model-horizon",
        "model-soft",
        "model-strict",
        "myopic",
        "no-action",
        "oracle-horizon",
        "oracle-soft",
        "oracle-strict",
        "random",
        "round-robin",
    ];
    assert_eq!(keys(&found["policies"]), names);
    for name in names {
        let policy = &found["policies"][name];
        assert_eq!(keys(policy), ["fluid", "is", "simulated", "true"]);
        let gains = ["gain_over_no_action", "gain_over_random"];
        assert_eq!(keys(&policy["is"]), ["ess", gains[0], gains[1], "high", "low", "value"]);
        assert_eq!(keys(&policy["true"]), [gains[0], gains[1], "high", "low", "value"]);
        assert_eq!(keys(&policy["true"][gains[0]]), ["high", "low", "value"]);
    }
    for (name, scores) in &expected.policies {
        for score in scores {
            let found = &found["policies"][name][score.estimator.name()];
            let same = |found: &Value, expected: f64| {
                assert_eq!(found.as_f64(), Some(expected), "{name} {}", score.estimator.name());
            };
            same(&found["value"], score.value.value);
            same(&found["low"], score.value.low);
            same(&found["high"], score.value.high);
            same(&found["gain_over_random"]["low"], score.gain_over_random.unwrap().low);
            same(&found["gain_over_no_action"]["value"], score.gain_over_no_action.unwrap().value);
            assert_eq!(found["ess"].as_f64(), score.value.effective_sample_size);
        }
    }
    let counts = instance.trajectories().counts();
    let loss = likelihood(&counts, prediction.view());
    assert!((found["loss"]["per_trajectory"].as_f64().unwrap() - loss.per_trajectory).abs() < 1e-9);
    assert!((found["loss"]["per_transition"].as_f64().unwrap() - loss.per_transition).abs() < 1e-12);
    // threads change nothing; whole instances judged one by one average to all
    assert_eq!(json(&folder, "--threads 1"), json(&folder, "--threads 2"));
    let uniform = json(&folder, "--behaviour uniform");
    assert!(same_numbers(&uniform, &found), "the log's propensities are K/N");
    let train = json(&folder, "--part train");
    assert_ne!(train["loss"], found["loss"]);
    assert!(json(&folder, "--behaviour none")["policies"]["random"].get("is").is_none());
}

#[test]
fn text_and_table_say_what_they_rest_on() {
    let folder = generated(6);
    write_model(&folder.path("s"), &folder.path("m"));
    let run = folder
        .run(&format!("evaluate m s --estimators published {FEW} --out scores.csv --ratio previous-step"))
        .success();
    assert_output("evaluate-published", &[&run]);
    let about = &json(&folder, "")["about"];
    let counts = ["instances", "arms", "horizon"].map(|key| about[key].as_u64().unwrap());
    assert_eq!((counts, &about["budget"]), ([1, 12, 5], &serde_json::json!([3, 3])));
    assert_eq!((&about["part"], &about["index_discount"]), (&"test".into(), &0.8.into()));
    assert_eq!(keys(&about["estimators"]), ["fluid", "is", "simulated", "true"]);
    let table = fs::read_to_string(folder.path("scores.csv")).unwrap();
    assert!(
        table.starts_with("policy,estimator,quantity,value,low,high,ess,covers\nno-action,is,value,"),
        "{table}"
    );
    assert_eq!(table.lines().count(), 1 + 11 * 4 * 3);
    for (arguments, part) in [
        ("--temperature warm", "expected spread:X, published:X or absolute:X"),
        ("--temperature spread:-1", "expected spread:X"),
        ("--out x.npy", "expected .csv or .parquet"),
        ("--part tset", "--part"),
        ("--index-discount 2", "--index-discount: found 2, expected a number from 0 to 1"),
        ("--runs 1", "--runs: found 1, expected at least 2"),
    ] {
        let message =
            stderr(&folder.run(&format!("evaluate m s --estimators published {arguments}")).code(2));
        assert!(message.contains(part) && message.lines().count() == 1, "{message}");
    }
    assert_eq!(folder.listing(), ["m", "s", "scores.csv"]);
}

#[test]
fn a_single_trajectory_is_judged_by_segments_and_without_truth_there_is_no_oracle() {
    let folder = generated(1);
    write_model(&folder.path("s"), &folder.path("m"));
    fs::remove_file(folder.path("s/truth.csv")).unwrap();
    let found = json(&folder, "--part all");
    let names = [
        "least-engaged",
        "model-horizon",
        "model-soft",
        "model-strict",
        "myopic",
        "no-action",
        "random",
        "round-robin",
    ];
    assert_eq!(keys(&found["policies"]), names);
    for name in names {
        assert_eq!(keys(&found["policies"][name]), ["fluid", "segmented", "simulated"]);
    }
    let settings = folder.path("s/study.toml");
    let rota = fs::read_to_string(&settings).unwrap().replace("\"logged\"", "\"round-robin-as-uniform\"");
    fs::write(&settings, rota).unwrap();
    let run = folder.run(&format!("evaluate m s --estimators published --part all {FEW}")).success();
    assert_output("evaluate-segmented", &[&run]);
}

/// The usual case: one programme, one trajectory, and a part of its arms to judge on.
#[test]
fn one_programme_is_judged_on_some_of_its_arms() {
    let folder = cli();
    let size = "--instances 1 --arms 40 --budget 10 --horizon 5 --trajectories 1";
    folder.run(&format!("generate two-state --out s --seed 5 {size} --format csv")).success();
    write_model(&folder.path("s"), &folder.path("m"));
    let found = json(&folder, "");
    assert_eq!(keys(&found["policies"]["model-strict"]), ["fluid", "segmented", "simulated", "true"]);
}

/// Of 20 arms in one instance, four judge: their pulls had the chance of any of the 20.
#[test]
fn a_part_of_an_instance_keeps_the_propensities_of_the_whole() {
    let folder = cli();
    let size = "--instances 1 --arms 20 --budget 5 --horizon 5 --trajectories 8";
    folder.run(&format!("generate two-state --out s --seed 5 {size} --format csv")).success();
    write_model(&folder.path("s"), &folder.path("m"));
    let [logged, uniform] =
        ["logged", "uniform"].map(|source| json(&folder, &format!("--behaviour {source}")));
    assert!(same_numbers(&logged, &uniform));
    let about = &logged["about"];
    assert_eq!((&about["part"], &about["instances"], &about["arms"]), (&"test".into(), &1.into(), &4.into()));
    let table = folder.path("s/trajectories.csv");
    let text = fs::read_to_string(&table).unwrap();
    let without: Vec<&str> = text.lines().map(|line| line.rsplit_once(',').unwrap().0).collect();
    fs::write(&table, without.join("\n") + "\n").unwrap();
    let settings = folder.path("s/study.toml");
    fs::write(&settings, fs::read_to_string(&settings).unwrap().replace("\"logged\"", "\"uniform\""))
        .unwrap();
    assert!(same_numbers(&json(&folder, ""), &uniform));
    let message = stderr(&folder.run("evaluate m s --estimators published --behaviour logged").code(1));
    assert!(message.contains("--behaviour logged: found no column propensity"), "{message}");
    // an arm's part may be missing altogether
    let arms = folder.path("s/arms.csv");
    fs::write(&arms, fs::read_to_string(&arms).unwrap().replace(",test", ",train")).unwrap();
    let message = stderr(&folder.run("evaluate m s --estimators published").code(1));
    assert!(message.contains("--part test: found no arms"), "{message}");
}

/// What a terminal says beside the numbers is not lost in JSON.
#[test]
fn json_says_what_the_numbers_rest_on() {
    let folder = generated(1);
    write_model(&folder.path("s"), &folder.path("m"));
    let settings = folder.path("s/study.toml");
    let rota = fs::read_to_string(&settings).unwrap().replace("\"logged\"", "\"round-robin-as-uniform\"");
    fs::write(&settings, rota).unwrap();
    let run = folder.run(&format!(
        "evaluate m s --estimators published --json {FEW} --part all --seed 7 --temperature absolute:0.5 --ratio previous-step"
    ));
    let run = run.success();
    let about = &run.json()["about"];
    let text = |key: &str| about[key].as_str().unwrap().to_string();
    let number = |key: &str| about[key].as_f64().unwrap();
    assert_eq!([text("part"), text("temperature"), text("ratio")], ["all", "absolute:0.5", "previous-step"]);
    let counts = ["instances", "arms", "horizon", "logged_decisions", "runs", "resamples", "seed"];
    assert_eq!(counts.map(number), [5.0, 60.0, 5.0, 5.0, 50.0, 20.0, 7.0]);
    assert_eq!((number("discount"), number("index_discount")), (0.99, 0.8));
    assert_eq!(about["budget"], serde_json::json!([3, 3]));
    assert_eq!(keys(&about["estimators"]), ["fluid", "segmented", "simulated", "true"]);
    assert_eq!(about["estimators"]["segmented"]["intervals_cover"], "arms");
    for kind in ["warnings", "notes"] {
        let said = about[kind].as_array().unwrap();
        assert!(
            !said.is_empty() && said.iter().all(|text| run.stderr.contains(text.as_str().unwrap())),
            "{said:?}"
        );
    }
    let words = serde_json::to_string_pretty(about).unwrap();
    restive_testkit::assert_snapshot!("evaluate-about", &words);
}

/// K of N at random with K = 0 or K = N leaves nothing to chance: the rest is judged, and the reason said.
#[test]
fn without_chance_in_the_log_the_others_remain() {
    let mut runs: Vec<Run> = Vec::new();
    for (logged, deployed) in [(0, 0), (12, 12), (3, 12)] {
        let folder = cli();
        let size = format!("--instances 5 --arms 12 --budget {logged} --horizon 5 --trajectories 3");
        folder.run(&format!("generate two-state --out s --seed 5 {size} --format csv")).success();
        write_model(&folder.path("s"), &folder.path("m"));
        let settings = folder.path("s/study.toml");
        let text = fs::read_to_string(&settings).unwrap().replace("\"logged\"", "\"uniform\"");
        fs::write(&settings, text.replace(&format!("budget = {logged}"), &format!("budget = {deployed}")))
            .unwrap();
        let run = folder.run(&format!("evaluate m s --estimators published --json {FEW}")).success();
        let found: Value = serde_json::from_str(&stdout(&run)).unwrap();
        assert_eq!(keys(&found["policies"]["model-soft"]), ["fluid", "simulated", "true"]);
        for warning in found["about"]["warnings"].as_array().unwrap() {
            assert!(run.stderr.contains(warning.as_str().unwrap()), "{warning}");
        }
        assert!(found["loss"]["per_transition"].as_f64().unwrap() > 0.0);
        runs.push(folder.run(&format!("evaluate m s --estimators published {FEW}")).success());
        // propensities that the log itself contradicts are broken data
        let table = folder.path("s/trajectories.csv");
        let zero =
            fs::read_to_string(&table).unwrap().replacen(",0.75\n", ",0\n", 1).replacen(",1.0\n", ",0\n", 1);
        fs::write(&table, zero).unwrap();
        let message = stderr(
            &folder.run(&format!("evaluate m s --estimators published --behaviour logged {FEW}")).code(1),
        );
        assert!(message.contains("propensity"), "{message}");
    }
    let warnings = runs.iter().map(stderr).collect::<Vec<_>>().join("\n");
    restive_testkit::assert_snapshot!("evaluate-without-chance", &warnings);
}

/// Two of ten arms make a part of two arms with a budget of one: half of them, not a fifth.
#[test]
fn a_part_too_small_for_the_ratio_of_the_budget_says_so() {
    let folder = cli();
    let size = "--instances 1 --arms 10 --budget 2 --horizon 5 --trajectories 3";
    folder.run(&format!("generate two-state --out s --seed 5 {size} --format csv")).success();
    write_model(&folder.path("s"), &folder.path("m"));
    let [test, all] = ["test", "all"].map(|part| {
        let command = format!("evaluate m s --estimators published --part {part} {FEW}");
        folder.run(&command).success()
    });
    let note = test.stderr.lines().find(|line| line.contains("1 of 2 are pulled where it is 2 of 10"));
    assert!(note.is_some_and(|note| !all.stderr.contains(note)), "{} {}", test.stderr, all.stderr);
    assert_output("evaluate-small-part", &[&test]);
}
