//! What a study says of its past: more calls than the budget of today, and a behaviour that nobody knows.

use crate::harness::{Cli, cli, stderr, stdout};
use crate::models::write_model;
use serde_json::Value;
use std::fs;

const FEW: &str = "--runs 20 --resamples 10";

/// A study that pulled 4 of 12 arms at every step, with one text of its settings replaced.
fn generated(from: &str, to: &str) -> Cli {
    let folder = cli();
    let size = "--instances 5 --arms 12 --budget 4 --horizon 5 --trajectories 3";
    folder.run(&format!("generate two-state --out s --seed 5 {size} --format csv")).success();
    let settings = fs::read_to_string(folder.path("s/study.toml")).unwrap();
    assert!(settings.contains(from), "{settings}");
    folder.write("s/study.toml", settings.replace(from, to));
    write_model(&folder.path("s"), &folder.path("m"));
    folder
}

fn evaluated(folder: &Cli, arguments: &str) -> Value {
    let run = folder.run(&format!("evaluate m s --estimators published --json {FEW} {arguments}")).success();
    serde_json::from_str(&stdout(&run)).unwrap()
}

/// The generator knows the propensities of its log, 4/12: K of N at random must come to the same with a budget of 3.
#[test]
fn a_uniform_past_is_weighed_by_the_pulls_it_made() {
    let folder = generated("budget = 4", "budget = 3");
    let [uniform, logged] =
        ["uniform", "logged"].map(|source| evaluated(&folder, &format!("--behaviour {source}")));
    assert!(uniform["policies"]["model-strict"]["is"]["value"].as_f64().unwrap() > 0.0);
    assert_eq!(uniform["policies"], logged["policies"]);
    assert_eq!(uniform["about"]["budget"], serde_json::json!([3, 3]));
}

#[test]
fn whoever_uses_the_study_notes_that_its_past_had_more_pulls() {
    let folder = generated("budget = 4", "budget = 3");
    // 5 instances, 3 trajectories of 5 decisions
    let note = "restive: note: 75 logged steps with more pulls than the budget of 3, 4 at most";
    for command in [
        "study s",
        "train s --out new --epochs 1",
        &format!("evaluate m s --estimators published {FEW}"),
        "plan m s",
    ] {
        let run = folder.run(command).success();
        assert_eq!(stderr(&run).matches(note).count(), 1, "{command}: {}", stderr(&run));
    }
}

#[test]
fn a_behaviour_that_nobody_knows_leaves_importance_sampling_out() {
    let folder = generated("behaviour = \"logged\"", "behaviour = \"none\"");
    let (said, asked) = (evaluated(&folder, ""), evaluated(&folder, "--behaviour none"));
    assert_eq!(said["policies"], asked["policies"]);
    assert!(
        said["policies"]["random"].get("is").is_none() && said["policies"]["random"].get("fluid").is_some()
    );
    assert_eq!(said["about"]["propensities"], "none: no importance sampling");
    assert_eq!(said["about"]["assumptions"], serde_json::json!([]));
    // the log has propensities all the same, for whoever asks for them
    assert!(evaluated(&folder, "--behaviour logged")["policies"]["random"].get("is").is_some());
    let focused = "train s --objective decision-focused --epochs 1";
    let message = stderr(&folder.run(&format!("{focused} --value is --out is")).code(1));
    let expected = "restive: --value is: found behaviour = \"none\" in study.toml, expected \"logged\"";
    assert!(message.starts_with(expected), "{message}");
    folder.run(&format!("{focused} --value fluid --out fluid")).success();
}
