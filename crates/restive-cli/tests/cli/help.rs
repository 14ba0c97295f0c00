//! Help of every command: its words, and its examples, which work.

use crate::harness::{assert_output, cli, stdout};
use crate::models::write_model;
use std::fs;
use std::path::Path;

/// Every command and the snapshot of its help and of the help of its subcommands.
const SNAPSHOTS: [(&str, &str); 22] = [
    ("", "help"),
    ("demo", "help-demo"),
    ("index", "help-index"),
    ("generate", "help-generate"),
    ("import", "help-import"),
    ("study", "help-study"),
    ("doctor", "help-doctor"),
    ("train", "help-train"),
    ("evaluate", "help-evaluate"),
    ("compare", "help-compare"),
    ("plan", "help-plan"),
    ("outcomes", "help-outcomes"),
    ("programme", "help-programme"),
    ("audit", "help-audit"),
    ("fairness", "help-fairness"),
    ("report", "help-report"),
    ("trial", "help-trial"),
    ("serve", "help-serve"),
    ("user", "help-user"),
    ("experiment", "help-experiment"),
    ("completions", "help-completions"),
    ("man", "help-man"),
];

/// Commands that a help text lists.
fn commands(help: &str) -> Vec<&str> {
    let list = help.split_once("Commands:\n").map_or("", |(_, list)| list);
    let lines = list.lines().take_while(|line| !line.is_empty());
    // a description may go on in a line without a command
    let named = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    named.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

#[test]
fn help_of_every_command_is_that_of_its_snapshot() {
    let cli = cli();
    let help = |command: &str| cli.run(&format!("{command} --help")).success();
    let listed = help("");
    let expected: Vec<&str> = SNAPSHOTS.iter().skip(1).map(|(command, _)| *command).collect();
    assert_eq!(commands(&listed.stdout), expected);
    for (command, snapshot) in SNAPSHOTS {
        let own = help(command);
        let below: Vec<_> = match command {
            "" => Vec::new(),
            command => commands(&own.stdout).iter().map(|name| help(&format!("{command} {name}"))).collect(),
        };
        let runs: Vec<_> = [&own].into_iter().chain(&below).collect();
        assert_output(snapshot, &runs);
    }
}

/// The examples at the end of a help text.
fn examples(help: &str) -> Vec<String> {
    let (_, examples) = help.split_once("Examples:\n").expect("help ends with examples");
    examples.lines().map(|line| line.trim().to_string()).filter(|line| !line.is_empty()).collect()
}

#[test]
fn the_examples_of_every_help_work() {
    for command in [
        "",
        "demo",
        "index",
        "generate",
        "generate maternal",
        "generate programme",
        "import",
        "study",
        "doctor",
        "train",
        "evaluate",
        "compare",
        "plan",
        "outcomes",
        "fairness",
        "programme",
        "programme init",
        "programme status",
        "programme list",
        "programme add",
        "programme remove",
        "report",
        "audit",
        "audit list",
        "audit show",
        "audit verify",
        "audit diff",
        "experiment",
        "experiment bars",
        "experiment curves",
        "experiment limited-data",
        "experiment cost-arms",
        "experiment cost-states",
        "experiment baselines",
        "experiment selection",
        "experiment quality",
        "experiment evidence",
        "experiment all",
        "completions",
        "man",
    ] {
        let folder = cli();
        fs::create_dir(folder.path("examples")).unwrap();
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        for name in ["arms.csv", "arms_three_states.csv"] {
            fs::copy(shipped.join(name), folder.path("examples").join(name)).unwrap();
        }
        fs::create_dir(folder.path("examples/study")).unwrap();
        for name in ["study.toml", "arms.csv", "trajectories.csv"] {
            fs::copy(shipped.join("study").join(name), folder.path("examples/study").join(name)).unwrap();
        }
        fs::create_dir(folder.path("examples/import")).unwrap();
        for name in ["registry.csv", "messages.csv", "calls.csv", "mapping.toml"] {
            fs::copy(shipped.join("import").join(name), folder.path("examples/import").join(name)).unwrap();
        }
        // what `restive train` would have left there
        if let "evaluate" | "compare" | "plan" | "fairness" | "report" = command {
            write_model(&folder.path("examples/study"), &folder.path("model"));
        }
        if command == "compare" {
            write_model(&folder.path("examples/study"), &folder.path("other"));
        }
        // a programme with a model and, where that is spoken of, a list
        if command == "train"
            || command == "plan"
            || command == "report"
            || command == "outcomes"
            || command == "fairness"
            || command.starts_with("programme")
            || command.starts_with("audit")
        {
            let name = if command == "train" { "programme" } else { "calls" };
            crate::import::programme(&folder, name, !["train", "plan", "report"].contains(&command));
            if command.starts_with("audit") {
                folder.run("plan calls --again --seed 1").success();
            }
        }
        // so wide that each example is one line
        let help = folder.clone().env("COLUMNS", "200").run(&format!("{command} --help")).success().stdout;
        let examples = examples(&help);
        assert!(examples.len() >= 2, "{help}");
        for example in examples {
            let arguments = example.strip_prefix("restive ").expect("an example starts with the program");
            // the published sizes would take their time
            let small = match arguments.split(' ').take(2).collect::<Vec<_>>()[..] {
                ["demo", ..] => " --arms 10 --trajectories 3",
                ["experiment", "report"] => "",
                ["experiment", _] => " --arms 10 --runs 1",
                _ => "",
            };
            let run = folder.run(&format!("{arguments}{small}"));
            match command {
                // a warning is an answer
                "doctor" => assert!(matches!(run.status.code(), Some(0 | 1)), "{run:?}"),
                _ => drop(run.success()),
            };
        }
    }
}

#[test]
fn the_version_is_the_packages() {
    let folder = cli();
    assert_eq!(
        stdout(&folder.run("--version").success()),
        format!("restive {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn without_a_command_the_help_is_shown() {
    let run = cli().run("").code(2);
    assert!(crate::harness::stderr(&run).contains("Usage: restive <COMMAND>"));
}
