//! `restive study`: what it shows, and one clear message for every broken study.

use crate::harness::{Cli, assert_output, cli, stderr, stdout};
use std::fs;

const SETTINGS: &str = "\
name = \"calls\"
states = 2
rewards = [0, [1, 0.5]]
discount = 0.9
budget = 1
horizon = 4
behaviour = \"logged\"
";
const ARMS: &str = "\
instance,arm,age,district
east,Ada,31,north
east,\"Ben, jr\",,south
west,Ada,25,north
";
const TRAJECTORIES: &str = "\
instance,trajectory,t,arm,state,action,propensity
east,1,0,Ada,0,1,0.5
east,1,0,\"Ben, jr\",1,0,0.5
east,1,1,Ada,1,,
east,1,1,\"Ben, jr\",,,
west,1,0,Ada,1,1,1
west,1,1,Ada,0,,
";
const TRUTH: &str = "\
instance,arm,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1
east,Ada,0.1,0.6,0.5,0.9
east,\"Ben, jr\",0.2,0.6,0.5,0.9
west,Ada,0.3,0.6,0.5,0.9
";

/// A folder that holds the good study, but for one file.
fn study(name: &str, content: &str) -> Cli {
    let folder = cli();
    fs::create_dir(folder.path("s")).unwrap();
    let files = [
        ("study.toml", SETTINGS),
        ("arms.csv", ARMS),
        ("trajectories.csv", TRAJECTORIES),
        ("truth.csv", TRUTH),
    ];
    files.iter().for_each(|(name, content)| folder.write(&format!("s/{name}"), content));
    folder.write(&format!("s/{name}"), content);
    folder
}

fn listing(folder: &Cli) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder.path("s"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    [names, folder.listing()].concat()
}

fn refused_folder(folder: &Cli, parts: &[&str]) {
    let before = listing(folder);
    for arguments in ["study s", "study s --json"] {
        let run = folder.run(arguments).code(1);
        let message = stderr(&run);
        assert!(message.starts_with("restive: s") && message.lines().count() == 1, "{message}");
        for part in parts {
            assert!(message.contains(part), "no {part:?} in {message}");
        }
        assert!(!message.contains("internal error"), "{message}");
        assert_eq!(stdout(&run), "");
    }
    assert_eq!(listing(folder), before, "something was left behind");
}

/// The good study with one text of one file replaced.
fn refused(name: &str, from: &str, to: &str, parts: &[&str]) {
    let files = [
        ("study.toml", SETTINGS),
        ("arms.csv", ARMS),
        ("trajectories.csv", TRAJECTORIES),
        ("truth.csv", TRUTH),
    ];
    let (_, good) = files.iter().find(|(n, _)| *n == name).unwrap();
    assert!(good.contains(from), "{from:?} is not in {name}");
    let parts: Vec<&str> = [&[name], parts].concat();
    refused_folder(&study(name, &good.replacen(from, to, 1)), &parts);
}

#[test]
fn a_good_study_is_summarised() {
    let folder = study("study.toml", SETTINGS);
    let run = folder.run("study s --json").success();
    let summary: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap();
    let expected = serde_json::json!({
        "study": "s", "name": "calls", "states": 2, "rewards": [0.0, [1.0, 0.5]], "discount": 0.9, "budget": 1,
        "horizon": 4, "behaviour": "logged", "instances": 2, "arms": 3, "newcomers": 0, "trajectories": 2,
        "decision_steps": 1, "decisions": 3, "pulls": 2, "pulls_per_step": 1.0, "most_pulls": 1,
        "has_propensity": true, "has_reward": false, "has_truth": true, "split": null, "warnings": [],
        "features": [
            {"name": "age", "kind": "numbers", "categories": null, "missing": 1},
            {"name": "district", "kind": "text", "categories": 2, "missing": 0},
        ],
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&summary[field], value, "{field}");
    }
    assert_eq!(summary["share_unobserved"], 1.0 / 6.0);
    assert_output("study", &[&folder.run("study s").success()]);
}

#[test]
fn newcomers_are_welcome_and_useless_features_are_warned_of() {
    let folder = study("arms.csv", &(ARMS.replace("25", "31") + "west,Zoë,31,north\n"));
    folder.write("s/truth.csv", TRUTH.to_string() + "west,Zoë,0.3,0.6,0.5,0.9\n");
    let run = folder.run("study s").success();
    assert!(stderr(&run).starts_with("restive: warning: feature age: found 31 "), "{}", stderr(&run));
    let json = folder.run("study s --json").success().json();
    assert_eq!((&json["arms"], &json["newcomers"]), (&4.into(), &1.into()));
    assert_output("study-newcomer", &[&run]);
}

/// Both arms of the east were pulled at its one decision: the budget of 1 is today's.
#[test]
fn more_calls_in_the_past_than_the_budget_of_today_are_noted() {
    let folder = study("trajectories.csv", &TRAJECTORIES.replacen("jr\",1,0,0.5", "jr\",1,1,0.5", 1));
    let run = folder.run("study s --json").success();
    let summary = run.json();
    let note = summary["notes"][0].as_str().unwrap();
    assert!(note.starts_with("1 logged step with more pulls than the budget of 1, 2 at most"), "{note}");
    assert_eq!(stderr(&run), format!("restive: note: {note}\n"));
    assert_eq!((&summary["most_pulls"], &summary["pulls_per_step"]), (&2.into(), &1.5.into()));
    assert_output("study-more-pulls", &[&folder.run("study s").success()]);
}

#[test]
fn broken_settings() {
    refused("study.toml", "states = 2", "states = ", &["line 2, column"]);
    refused(
        "study.toml",
        "states = 2",
        "states = 2\ncolour = 1",
        &["line 3, column 1", "found the setting \"colour\", expected one of name, notes, unit, states"],
    );
    let absent =
        "found no states, expected a line states = …, how many states an arm has: a whole number from 1";
    refused("study.toml", "states = 2\n", "", &[absent]);
    refused(
        "study.toml",
        "budget = 1\n",
        "",
        &["found no budget, expected a line budget = …, how many arms"],
    );
    refused(
        "study.toml",
        "states = 2",
        "states = 0",
        &["line 2, column 10: states: found 0, expected a whole number from 1 to 1024"],
    );
    refused(
        "study.toml",
        "0.9",
        "\"high\"",
        &["line 4, column 12: discount: found \"high\", expected a number"],
    );
    refused("study.toml", "0.9", "1.9", &["discount: found 1.9, expected a number from 0 to 1"]);
    refused(
        "study.toml",
        "[0, [1, 0.5]]",
        "[0, 1, 2]",
        &[
            "rewards: found [0, 1, 2], expected a list with one number of at most 1e100 or one pair [passive, active] for each",
        ],
    );
    refused("study.toml", "[1, 0.5]", "[1]", &["line 3, column 11: rewards: found [0, [1]], expected"]);
    refused("study.toml", "[1, 0.5]", "nan", &["rewards: found [0, nan], expected"]);
    refused("study.toml", "horizon = 4", "horizon = 0", &["horizon: found 0"]);
    for (budget, shown) in [("-6", "-6"), ("1.5", "1.5"), ("\"six\"", "\"six\"")] {
        let expected =
            format!("line 5, column 10: budget: found {shown}, expected a whole number of arms, at least 0");
        refused("study.toml", "budget = 1", &format!("budget = {budget}"), &[&expected]);
    }
    refused(
        "study.toml",
        "\"logged\"",
        "\"guessed\"",
        &["behaviour: found \"guessed\", expected one of \"logged\""],
    );
    let collapsing = "\"logged\"\nobservation = \"some\"";
    refused(
        "study.toml",
        "\"logged\"",
        collapsing,
        &["observation: found \"some\", expected \"full\" (at every step) or \"collapsing\" (at pulls only)"],
    );
    let folder = study("study.toml", SETTINGS);
    fs::remove_file(folder.path("s/study.toml")).unwrap();
    refused_folder(&folder, &["s/study.toml: cannot open: no such file"]);
    let message = stderr(&folder.run("study none").code(1));
    assert_eq!(message, "restive: none: cannot open: there is no such folder\n");
}

#[test]
fn broken_tables_of_arms() {
    refused(
        "arms.csv",
        ",arm,",
        ",name,",
        &["found columns instance, name, age, district, expected a column arm"],
    );
    refused(
        "arms.csv",
        "25",
        "young",
        &["line 4 (arm Ada), column age: found \"young\", expected a number", "study.toml"],
    );
    refused(
        "arms.csv",
        "25,north",
        "25,7",
        &["line 4 (arm Ada), column district: found \"7\", expected text"],
    );
    refused(
        "arms.csv",
        "west,Ada",
        "east,Ada",
        &["line 4 (arm Ada), instance east: found the arm a second time"],
    );
    refused("arms.csv", "west,Ada", "west,", &["line 4, column arm: found an empty cell, expected a name"]);
    refused("arms.csv", "west,Ada", ",Ada", &["line 4 (arm Ada), column instance: found an empty cell"]);
    refused("arms.csv", "25", "inf", &["column age: found an infinite number"]);
    refused("arms.csv", "district", "age", &["column age: found more than once"]);
    refused(
        "arms.csv",
        "district",
        "split",
        &["line 2 (arm Ada), column split: found \"north\", expected train"],
    );
    refused("arms.csv", ARMS, "", &["found an empty file"]);
    let semicolons = "expected columns separated by commas";
    refused(
        "arms.csv",
        ARMS,
        &ARMS.replace(',', ";"),
        &["line 1: found one column \"instance;arm;age", semicolons],
    );
    refused("arms.csv", ARMS, &ARMS.replace(',', "\t"), &[semicolons]);
    // the cell that differs from all others is the culprit, also where it is the first
    let three = ARMS.replace("31", "old") + "west,Bo,30,south\n";
    refused(
        "arms.csv",
        ARMS,
        &three,
        &["line 2 (arm Ada), column age: found \"old\", expected a number as in most"],
    );
    let four = ARMS.replace("31,north", "31,7") + "west,Bo,30,south\n";
    refused(
        "arms.csv",
        ARMS,
        &four,
        &["line 2 (arm Ada), column district: found \"7\", expected text as in most"],
    );
    refused("arms.csv", ARMS, "arm,x\n", &["found a header and no rows"]);
    refused("arms.csv", "west,Ada,25", "west,Ada", &["line 4: found 3 fields, expected 4"]);
    let folder = study("arms.parquet", "x");
    refused_folder(&folder, &["found both arms.csv and arms.parquet, expected one of them"]);
    fs::remove_file(folder.path("s/arms.csv")).unwrap();
    refused_folder(
        &folder,
        &["s/arms.parquet: found text, expected Parquet: a name that ends in .csv is read as CSV"],
    );
    fs::remove_file(folder.path("s/arms.parquet")).unwrap();
    refused_folder(&folder, &["found neither arms.csv nor arms.parquet"]);
    let folder = study("study.toml", &SETTINGS.replace("budget = 1", "budget = 2"));
    refused_folder(&folder, &["s/arms.csv: instance west: found 1 arms, expected at least the budget of 2"]);
    let folder = study("study.toml", &(SETTINGS.to_string() + "text = [\"village\"]\n"));
    refused_folder(&folder, &["s/arms.csv: text in study.toml: found \"village\", which is no feature"]);
}

#[test]
fn broken_trajectories() {
    let file = "trajectories.csv";
    for column in ["trajectory", "t", "arm", "state", "action", "propensity", "instance"] {
        let renamed = TRAJECTORIES.replacen(&format!("{column},"), "other,", 1).replacen(
            "propensity\n",
            "other\n",
            usize::from(column == "propensity"),
        );
        refused_folder(&study(file, &renamed), &[&format!(", expected a column {column}")]);
    }
    refused(
        file,
        "propensity\n",
        "other\n",
        &["expected a column propensity: study.toml says behaviour = \"logged\""],
    );
    let row = "west,1,0,Ada,1,1,1";
    refused(
        file,
        row,
        "west,1,0,Ada,1,yes,1",
        &["column action: found \"yes\", expected a number: 0 for an arm left"],
    );
    let place = "line 6 (arm Ada)";
    refused(file, row, "west,1,0,Ada,good,1,1", &[place, "column state: found \"good\", expected a number"]);
    refused(
        file,
        row,
        "west,1,0,Ada,2,1,1",
        &[place, "column state, instance west, trajectory 1, t 0: found 2, expected a state from 0 to 1"],
    );
    refused(file, row, "west,1,0,Ada,0.5,1,1", &[place, "found 0.5, expected a state"]);
    refused(file, row, "west,1,0,Ada,-1,1,1", &[place, "found -1, expected a state"]);
    refused(
        file,
        row,
        "west,1,0,Ada,1,2,1",
        &[place, "column action", "found 2, expected 0, 1 or an empty cell"],
    );
    refused(file, row, "west,1,-1,Ada,1,1,1", &[place, "column t, instance west: found -1, expected a step"]);
    refused(file, row, "west,1,,Ada,1,1,1", &[place, "column t, instance west: found an empty cell"]);
    refused(file, row, "west,,0,Ada,1,1,1", &[place, "column trajectory"]);
    refused(
        file,
        row,
        "west,1,0,Eve,1,1,1",
        &["line 6 (arm Eve), column arm", "\"Eve\", an arm without features"],
    );
    refused(
        file,
        row,
        "north,1,0,Ada,1,1,1",
        &[place, "column instance: found \"north\", expected an instance of"],
    );
    for propensity in ["0", "1.5", "-0.1"] {
        let row = format!("west,1,0,Ada,1,1,{propensity}");
        refused(file, "west,1,0,Ada,1,1,1", &row, &[place, "column propensity", "above 0 and at most 1"]);
    }
    refused(
        file,
        "west,1,1,Ada,0,,",
        "west,1,0,Ada,0,,",
        &["line 7 (arm Ada)", "trajectory 1, t 0: found a second row"],
    );
    refused(file, "west,1,0,Ada,1,1,1\nwest,1,1,Ada,0,,\n", "", &["instance west: found no rows"]);
    refused(file, TRAJECTORIES, "", &["found an empty file"]);
    refused(file, "west,1,1,Ada,0,,", "west,1,1,Ada", &["line 7: found 4 fields, expected 7"]);
}

#[test]
fn broken_truths() {
    let file = "truth.csv";
    refused(
        file,
        "west,Ada,0.3",
        "west,Ada,1.3",
        &["line 4 (arm Ada), state 0, passive, next state 1: found 1.3"],
    );
    refused(file, "west,Ada,0.3", "west,Ada,", &["line 4 (arm Ada), state 0, passive"]);
    refused(file, "west,Ada", "west,Eve", &["line 4 (arm Eve): found arm \"Eve\" of instance \"west\""]);
    refused(
        file,
        "west,Ada",
        "east,Ada",
        &["line 4 (arm Ada): found the arm of instance \"east\" a second time"],
    );
    refused(file, "west,Ada,0.3,0.6,0.5,0.9\n", "", &["instance west, arm Ada: found no row"]);
    refused(file, "p_1_1_1", "note", &["found no column p_1_1_1"]);
    let full = "instance,arm,p_0_0_0,p_0_0_1,p_0_1_0,p_0_1_1,p_1_0_0,p_1_0_1,p_1_1_0,p_1_1_1\neast,Ada,0.5,0.4,1,0,1,0,1,0\n";
    let rest = "east,\"Ben, jr\",1,0,1,0,1,0,1,0\nwest,Ada,1,0,1,0,1,0,1,0\n";
    let sum = "line 2 (arm Ada), state 0, passive: found a sum of 0.9, expected 1";
    refused_folder(&study(file, &format!("{full}{rest}")), &[sum]);
    let one = "instance,arm,p_0_0_0,p_0_1_0\neast,Ada,1,1\n";
    refused_folder(&study(file, one), &["found probabilities of 1 states, expected those of 2"]);
}

#[test]
fn half_written_parquet() {
    let folder = cli();
    folder.run("generate two-state --out s --instances 3 --arms 5 --budget 1 --trajectories 2").success();
    for name in ["arms", "trajectories", "truth"] {
        let path = folder.path(&format!("s/{name}.parquet"));
        let whole = fs::read(&path).unwrap();
        for size in [0, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..size]).unwrap();
            let expected = if size == 0 { "found an empty file" } else { "found an unreadable Parquet file" };
            refused_folder(&folder, &[&format!("s/{name}.parquet: {expected}")]);
        }
        fs::write(&path, whole).unwrap();
    }
    folder.run("study s").success();
}
