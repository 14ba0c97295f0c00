//! Commands that change a programme, ended just before each change of a name: the folder that is left holds the old results or the new ones,
//! or is refused with the remedy, and the next command completes the work.
//!
//! A build for tests aborts at the n-th change of a name if the variable `RESTIVE_FAIL_AT` is n.

use crate::harness::{Cli, Run};
use crate::programme::Programme;
use restive_import::ImportedFolder;
use restive_testkit::folder::{Folder, copy_folder};
use restive_testkit::programme::{ProgrammeFixture, ProgrammeOptions, fill_in};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// More changes of names than any command makes.
const MOST: usize = 200;

/// Exports of 60 people in folder `exports`; `older.toml` maps all weeks but the last two, `newer.toml` all, `other.toml` with other states.
fn exports() -> Programme {
    let options =
        ProgrammeOptions { people: 60, weeks: 8, calls: 6, workers: 2, ..ProgrammeFixture::plain_options() };
    let programme = Programme::exported(&options);
    let newer = programme.read("exports/mapping.toml");
    let until = format!("every = \"week\", until = {}", programme.date(6, 0));
    let older = newer.replace("every = \"week\"", &until);
    let other = newer.replace("at_least = 30", "at_least = 60");
    assert!(older != newer && other != newer, "{newer}");
    programme.write("exports/newer.toml", newer);
    programme.write("exports/older.toml", older);
    programme.write("exports/other.toml", other);
    programme
}

/// A programme with a model, rules and a plan, all of the older exports.
fn planned() -> Programme {
    let programme = exports();
    programme.run("import exports/older.toml --out programme").success();
    train(&programme);
    programme.write("programme/rules.toml", "budget = 6\nexplore = 0.5\n");
    programme.run("plan programme --out list.csv").success();
    programme
}

const TRAIN: &str = "train programme --profile published --epochs 3";

fn train(cli: &Cli) {
    cli.run(TRAIN).success();
}

/// Runs `command` in copies of a folder, ended at one change of a name after the other until it completes; `check` looks at what is left.
/// Returns how often it was ended.
fn end_everywhere(start: &Cli, command: &str, check: impl Fn(&Cli, &str)) -> usize {
    for at in 1..MOST {
        let folder = Folder::new();
        copy_folder(start.root(), folder.root());
        let cli = Cli::in_folder(env!("CARGO_BIN_EXE_restive"), folder);
        let run = cli.clone().env("RESTIVE_FAIL_AT", at.to_string()).run(command);
        if run.status.success() {
            return at - 1;
        }
        assert_eq!(run.status.code(), None, "{command} at {at}: an abort, not {}", run.stderr);
        check(&cli, &format!("{command} at {at}"));
    }
    panic!("{command}: more than {MOST} changes of names");
}

/// Files of a folder by their paths.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => all.extend(contents(&path)),
            false => all.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    all.sort();
    all
}

/// Results of the last import, whole: paths within their folder, and contents.
fn imported(cli: &Cli) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let (imported, summary) =
        ImportedFolder::open(&cli.path("programme")).map_err(|error| error.to_string())?;
    assert_eq!(imported.verify(&summary).unwrap(), []);
    let within = |path: PathBuf| path.strip_prefix(imported.folder()).unwrap().to_path_buf();
    Ok(contents(imported.folder()).into_iter().map(|(path, bytes)| (within(path), bytes)).collect())
}

fn assert_no_draft(cli: &Cli, context: &str) {
    for (path, _) in contents(&cli.path("programme")) {
        assert!(!path.to_string_lossy().contains("/.restive-"), "{context}: {}", path.display());
    }
}

/// Ends an import everywhere; what else is in the folder of the programme stays, byte for byte.
fn end_import(start: &Cli, command: &str) {
    let before = imported(start);
    let whole = Cli::in_folder(env!("CARGO_BIN_EXE_restive"), Folder::new());
    copy_folder(start.root(), whole.root());
    whole.run(command).success();
    let after = imported(&whole).unwrap();
    assert_ne!(before.as_ref().ok(), Some(&after));
    let kept = |cli: &Cli| {
        let root = cli.path("programme");
        let own = ["current", "imported", "exports.toml"];
        let is_kept = |path: &Path| {
            let within = path.strip_prefix(&root).unwrap();
            let name = within.to_string_lossy();
            !own.iter().any(|own| within.starts_with(own))
                && !name.starts_with(".restive-")
                && !name.ends_with(".lock")
        };
        let all = if root.is_dir() { contents(&root) } else { Vec::new() };
        let all = all.into_iter().filter(|(path, _)| is_kept(path));
        all.map(|(path, bytes)| (path.strip_prefix(&root).unwrap().to_path_buf(), bytes)).collect::<Vec<_>>()
    };
    let others = kept(start);
    let ended = end_everywhere(start, command, |cli, context| {
        match (imported(cli), &before) {
            (Ok(found), Ok(before)) => assert!(found == *before || found == after, "{context}"),
            (Ok(found), Err(_)) => assert!(found == after, "{context}"),
            (Err(error), Err(_)) => {
                assert!(error.contains("restive import MAPPING --out"), "{context}: {error}");
                let said = cli.run("study programme --json").failure().stderr;
                assert!(said.starts_with("restive: programme"), "{context}: {said}");
            }
            (Err(error), Ok(_)) => panic!("{context}: {error}"),
        }
        assert!(kept(cli) == others, "{context}");
        let again = cli.run(command);
        if !again.status.success() {
            // a first import that was ended between its results and their name
            assert!(
                before.is_err() && again.stderr.contains("--afresh writes"),
                "{context}: {}",
                again.stderr
            );
            cli.run(&format!("{command} --afresh")).success();
        }
        let healed = imported(cli).unwrap_or_else(|error| panic!("{context}: {error}"));
        let is_study =
            |(path, _): &&(PathBuf, Vec<u8>)| path.starts_with("study") || path.ends_with("people.parquet");
        let study = |all: &[(PathBuf, Vec<u8>)]| all.iter().filter(is_study).cloned().collect::<Vec<_>>();
        assert!(study(&healed) == study(&after), "{context}");
        assert_no_draft(cli, context);
        let results = fs::read_dir(cli.path("programme/imported")).unwrap().count();
        assert!(results <= 2, "{context}: {results} results of imports");
    });
    assert!(ended >= 8, "{command}: only {ended} changes of names");
}

#[test]
fn import_ended_at_any_change_of_a_name_leaves_the_old_or_the_new_results() {
    end_import(&exports(), "import exports/older.toml --out programme");
    end_import(&planned(), "import exports/newer.toml --out programme");
}

#[test]
fn import_afresh_ended_at_any_change_of_a_name_leaves_the_old_or_the_new_results() {
    end_import(&planned(), "import exports/other.toml --out programme --afresh");
}

/// The rows of the next list.
fn rows(run: Run) -> Value {
    run.success().json()["rows"].clone()
}

#[test]
fn training_ended_at_any_change_of_a_name_leaves_a_whole_model_or_none() {
    let start = exports();
    start.run("import exports/older.toml --out programme").success();
    let plan = "plan programme --rehearse --json";
    let trained = Cli::in_folder(env!("CARGO_BIN_EXE_restive"), Folder::new());
    copy_folder(start.root(), trained.root());
    train(&trained);
    let expected = rows(trained.run(plan));
    let ended = end_everywhere(&start, TRAIN, |cli, context| {
        let run = cli.run(plan);
        match run.status.success() {
            true => assert_eq!(rows(run), expected, "{context}"),
            false => {
                assert!(run.stderr.contains("restive train programme makes one"), "{context}: {}", run.stderr)
            }
        }
        train(cli);
        assert_eq!(rows(cli.run(plan)), expected, "{context}");
        assert_no_draft(cli, context);
    });
    assert!(ended >= 3, "only {ended} changes of names");
}

#[test]
fn plan_ended_at_any_change_of_a_name_leaves_no_plan_or_a_whole_one() {
    let start = exports();
    start.run("import exports/older.toml --out programme").success();
    train(&start);
    let plan = "plan programme --json";
    let planned = Cli::in_folder(env!("CARGO_BIN_EXE_restive"), Folder::new());
    copy_folder(start.root(), planned.root());
    let expected = rows(planned.run(plan));
    let ended = end_everywhere(&start, "plan programme --out list.csv", |cli, context| {
        let list = cli.run("programme list programme --out again.csv");
        if list.status.success() {
            cli.run("audit verify programme").success();
            return;
        }
        assert!(!cli.path("list.csv").exists(), "{context}");
        assert_eq!(rows(cli.run(plan)), expected, "{context}");
        cli.run("audit verify programme").success();
        assert_no_draft(cli, context);
    });
    assert!(ended >= 10, "only {ended} changes of names");
}

#[test]
fn outcomes_ended_at_any_change_of_a_name_are_recorded_whole_or_not_at_all() {
    let start = planned();
    let day = start.date(6, 2);
    start.write("filled.csv", fill_in(&start.read("list.csv"), |_, _| Some(("reached", day.clone()))));
    let all = start.read("list.csv").lines().count() - 1;
    end_everywhere(&start, "outcomes programme filled.csv", |cli, context| {
        let told = cli.run("outcomes programme filled.csv --json").success().json();
        let counts = [&told["new"], &told["same"]].map(|count| count.as_u64().unwrap() as usize);
        assert!(counts == [all, 0] || counts == [0, all], "{context}: {told}");
        cli.run("audit verify programme").success();
    });
}
