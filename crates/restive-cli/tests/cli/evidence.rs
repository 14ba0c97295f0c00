//! `restive evaluate` and `restive compare`: the two questions, when they are not answered, and how often people were looked at.

use crate::harness::{Cli, assert_output, cli, stderr, stdout};
use serde_json::Value;
use std::fs;

/// A programme with enough calls to tell something, and quick to learn.
const PROGRAMME: &str =
    "generate maternal --out s --groups 6 --people 150 --budget 12 --effect-spread 2 --seed 5";
const FEW: &str = "--runs 20 --resamples 10 --deals 49";

fn with_model() -> Cli {
    let folder = cli();
    folder.run(PROGRAMME).success();
    folder.run("train s --out m --predictor effect --profile published").success();
    folder
}

fn evidence(folder: &Cli, arguments: &str) -> Value {
    let run = folder.run(&format!("evaluate {arguments} --json {FEW}")).success();
    serde_json::from_str::<Value>(&stdout(&run)).unwrap()["evidence"].clone()
}

#[test]
fn both_questions_are_answered_and_looks_are_counted() {
    let folder = with_model();
    let first = evidence(&folder, "m s");
    let number = |key: &str| first[key].as_f64().unwrap();
    assert_eq!((number("people"), number("folds"), number("looks")), (900.0, 5.0, 1.0));
    assert_eq!(first["design"], "made in turn");
    assert!(number("calls") >= 400.0 && number("p") > 0.0 && number("detectable") > 0.0);
    let gain = &first["gain"];
    let [value, low, high] = ["value", "low", "high"].map(|end| gain[end].as_f64().unwrap());
    assert!(low < value && value < high);
    assert_eq!(first["deciles"].as_array().unwrap().len(), 10);
    let policies: Vec<&str> =
        first["policies"].as_array().unwrap().iter().map(|row| row["policy"].as_str().unwrap()).collect();
    assert_eq!(policies, ["plan", "myopic", "least-engaged", "round-robin", "no-action"]);
    assert_eq!(first["unit"], "engaged weeks");

    // the same recipe again is no new look, for one thread as for two; another one is
    assert_eq!(evidence(&folder, "m s --threads 1"), first);
    folder.run("train s --out other --predictor linear --profile published --seed 2").success();
    let second = evidence(&folder, "other s");
    assert_eq!(second["looks"], 2);
    let [p, all] = ["p", "p_for_all_looks"].map(|key| second[key].as_f64().unwrap());
    assert!((all - (2.0 * p).min(1.0)).abs() < 1e-12);
    let looks = fs::read_to_string(folder.path("s/looks.csv")).unwrap();
    assert_eq!(looks.lines().count(), 3, "{looks}");
    assert!(looks.contains("\"effect, two-stage, published, seed 0\""), "{looks}");
    // the study is the same: its fingerprint knows nothing of looks
    assert_eq!(stderr(&folder.run("plan m s").success()), "");

    // the model as it is, on its test people: fewer calls, a wider interval
    let test = evidence(&folder, "m s --part test");
    assert!(test["refused"].is_string() || test["folds"].is_null(), "{test}");
}

#[test]
fn text_and_page_say_what_is_counted_first() {
    let folder = with_model();
    let run = folder.run(&format!("evaluate m s {FEW} --page e.html")).success();
    let study = folder.run("study s --json").success().json();
    let decisions = &study["horizon"];
    assert!(run.stdout.contains(&format!("over a programme of {decisions} decisions,")), "{}", run.stdout);
    assert!(run.stdout.contains(&format!("at {decisions} logged decisions,")), "{}", run.stdout);
    assert_output("evaluate", &[&run]);
    restive_testkit::assert_page!("evaluate-page", &folder.read("e.html"));
    // a page is replaced only where that is asked for, and only a page
    let message = stderr(&folder.run(&format!("evaluate m s {FEW} --page e.html")).code(1));
    assert!(message.contains("e.html"), "{message}");
    folder.run(&format!("evaluate m s {FEW} --page e.html --force")).success();
    fs::write(folder.path("mine.html"), "my own").unwrap();
    folder.run(&format!("evaluate m s {FEW} --page mine.html --force")).code(1);
    assert_eq!(fs::read_to_string(folder.path("mine.html")).unwrap(), "my own");
}

#[test]
fn what_cannot_be_believed_is_not_said() {
    let folder = with_model();
    let refused = |arguments: &str, reason: &str, what_to_do: &str| {
        let found = evidence(&folder, arguments);
        let [said, advice] = ["refused", "what_to_do"].map(|key| found[key].as_str().unwrap_or_default());
        assert!(said.contains(reason), "{found}");
        assert!(advice.contains(what_to_do), "{found}");
    };
    refused("m s --behaviour none", "nobody says how those who were pulled were chosen", "--behaviour");
    refused("m s --part train", "the model was learnt from these people", "--part folds");
    refused("m s --part all", "the model was learnt from some of these people", "--part folds");
    refused("m s --behaviour uniform", "differ from the others in earlier calls", "--behaviour rota");
    assert!(!folder.path("s/looks.csv").exists(), "no answer is no look");
    assert_output(
        "evaluate-no-answer",
        &[&folder.run(&format!("evaluate m s --part train {FEW}")).success()],
    );

    // too few calls
    folder.run("generate maternal --out few --groups 3 --people 200 --budget 4").success();
    folder.run("train few --out fm --predictor effect --profile published").success();
    refused("fm few", "expected at least 200", "go on with pulls");

    // calls that went to the badly off, said to be dealt by lot
    folder
        .run("generate two-state --out t --instances 6 --arms 60 --budget 12 --trajectories 1 --format csv")
        .success();
    let path = folder.path("t/trajectories.csv");
    let log = fs::read_to_string(&path).unwrap();
    let columns: Vec<&str> = log.lines().next().unwrap().split(',').collect();
    let [state, action] = ["state", "action"].map(|name| columns.iter().position(|c| *c == name).unwrap());
    let lines = log.lines().enumerate().map(|(k, line)| {
        let mut cells: Vec<String> = line.split(',').map(String::from).collect();
        if k > 0 && !cells[action].is_empty() && cells[state] == "1" {
            cells[action] = "0".into();
        }
        cells.join(",") + "\n"
    });
    fs::write(&path, lines.collect::<String>()).unwrap();
    folder.run("train t --out tm --predictor linear --profile published").success();
    refused("tm t --behaviour uniform", "differ from the others in state", "--behaviour estimated");
    // states seen at pulls only
    folder.run("generate collapsing --out c --instances 4 --arms 20 --budget 5 --trajectories 2").success();
    folder.run("train c --out cm --predictor linear --profile published --epochs 2").success();
    refused("cm c", "states are seen at pulls only", "--estimators published");
}

#[test]
fn recipes_are_compared_on_the_same_people() {
    let folder = with_model();
    folder.run("train s --out l --predictor linear --profile published").success();
    let run = folder.run("compare m l s --folds 3 --json").success();
    let found: Value = serde_json::from_str(&stdout(&run)).unwrap();
    let recipes = found["recipes"].as_array().unwrap();
    assert_eq!((recipes.len(), &found["looks"]), (2, &Value::from(2)));
    assert!(recipes[0].get("behind").is_none() && recipes[1]["behind"]["value"].as_f64().unwrap() >= 0.0);
    // test people are still unseen: the next look at them is the first
    let compared = folder.run("compare l m s --folds 3").success();
    assert_eq!(
        fs::read_to_string(folder.path("s/looks.csv")).unwrap().matches("train+validation of").count(),
        2
    );
    // the same recipe twice cannot be told apart
    assert_output("compare", &[&compared, &folder.run("compare m m s --folds 2").success()]);
    for (arguments, expected) in [
        ("compare m s", "MODEL... STUDY"),
        ("compare s m l", "STUDY comes last"),
        ("compare m l s --folds 1", "folds"),
    ] {
        let message = stderr(&folder.run(arguments).code(2));
        assert!(message.contains(expected), "{message}");
    }
}
