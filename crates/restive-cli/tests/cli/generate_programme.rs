//! `restive generate programme`: exports, their mapping and the truth, checked by counts of their own rows and by an import.

use crate::harness::{Cli, assert_output, cli, stderr, stdout};
use restive_testkit::programme::table;
use serde_json::Value;
use std::fs;

const SMALL: &str = "--people 150 --weeks 12 --calls 12 --seed 7";
const EXPORTS: [&str; 4] = ["calls.csv", "mapping.toml", "messages.csv", "registry.csv"];
const TRUTH: [&str; 4] = ["truth/calls.csv", "truth/people.csv", "truth/planted.csv", "truth/truth.csv"];

fn json(folder: &Cli, arguments: &str) -> Value {
    folder.run(&format!("{arguments} --json")).success().json()
}

fn files(folder: &Cli, out: &str) -> Vec<Vec<u8>> {
    EXPORTS.iter().chain(&TRUTH).map(|name| fs::read(folder.path(out).join(name)).unwrap()).collect()
}

#[test]
fn counts_of_the_summary_are_those_of_the_files() {
    let folder = cli();
    for (faults, more) in [(true, ""), (false, " --no-faults")] {
        let out = format!("exports{more}").replace(' ', "");
        let summary = json(&folder, &format!("generate programme --out {out} {SMALL}{more}"));
        assert_eq!(summary["people"], 150);
        assert_eq!(summary["weeks"], 12);
        assert_eq!(summary["calls"], 12);
        assert_eq!(summary["seed"], 7);
        assert_eq!(summary["assignment"], "random");
        assert_eq!(summary["has_faults"], faults);
        for name in ["registry.csv", "messages.csv", "calls.csv"] {
            let counts: Vec<&Value> =
                summary["counts"].as_array().unwrap().iter().filter(|one| one["file"] == name).collect();
            let bytes = fs::read(folder.path(&out).join(name)).unwrap();
            let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
            assert_eq!(lines.pop(), Some(&b""[..]));
            assert_eq!(
                (counts[0]["what"].as_str(), &counts[0]["count"]),
                (Some("rows"), &(lines.len() - 1).into())
            );
            let rows = lines.len();
            lines.sort();
            lines.dedup();
            let repeated = counts.iter().find(|one| one["what"] == "rows repeated exactly");
            assert_eq!(
                repeated.map_or(0, |one| one["count"].as_u64().unwrap()),
                (rows - lines.len()) as u64,
                "{name}"
            );
        }
        let planted = table(&folder.read(&format!("{out}/truth/planted.csv")));
        assert_eq!(summary["counts"].as_array().unwrap().len(), planted.len());
        for (count, row) in summary["counts"].as_array().unwrap().iter().zip(planted) {
            assert_eq!(
                (count["what"].as_str().unwrap(), count["count"].to_string()),
                (&*row["what"], row["count"].clone())
            );
        }
    }
    // without faults: a row for each person, and for each call in all weeks but the first
    assert_eq!(table(&folder.read("exports--no-faults/registry.csv")).len(), 150);
    assert_eq!(table(&folder.read("exports--no-faults/calls.csv")).len(), 12 * 11);
    let called: usize = table(&folder.read("exports/truth/people.csv"))
        .iter()
        .map(|row| row["called"].matches('C').count())
        .sum();
    assert_eq!(called, 12 * 11);
}

#[test]
fn equal_options_give_equal_bytes_and_another_seed_does_not() {
    let folder = cli();
    for (out, more) in [("one", ""), ("two", ""), ("clean", "--no-faults"), ("other", "--seed 8")] {
        let options = SMALL.replace("--seed 7", if more.contains("seed") { "" } else { "--seed 7" });
        folder.run(&format!("generate programme --out {out} {options} {more}")).success();
    }
    let one = files(&folder, "one");
    assert_eq!(one, files(&folder, "two"));
    let names = EXPORTS.iter().chain(&TRUTH);
    for (name, ((one, other), clean)) in
        names.zip(one.iter().zip(files(&folder, "other")).zip(files(&folder, "clean")))
    {
        assert_eq!(*one == other, *name == "mapping.toml", "{name}");
        let is_true = name.starts_with("truth/") && *name != "truth/planted.csv";
        // without faults no synonym occurs in the exports, and the mapping has none
        assert_eq!(*one == clean, is_true, "{name}");
    }
}

#[test]
fn import_reads_the_exports_as_they_are() {
    let folder = cli();
    for more in ["", "--no-faults", "--assignment hunch"] {
        folder.run(&format!("generate programme --out exports {SMALL} {more} --force")).success();
        let imported = json(&folder, "import exports/mapping.toml --out programme --afresh");
        assert_eq!(imported["people"], 150);
        assert_eq!(imported["calls"], 12 * 11);
        assert_eq!(imported["budget"], 12);
        assert_eq!(imported["periods"].as_array().unwrap().len(), 12);
        fs::remove_dir_all(folder.path("programme")).unwrap();
    }
}

#[test]
fn default_number_of_calls_is_6_per_100_people() {
    let folder = cli();
    for (people, calls) in [(20, 1), (150, 9)] {
        let summary =
            json(&folder, &format!("generate programme --out p{people} --people {people} --weeks 4"));
        assert_eq!(summary["calls"], calls);
    }
}

/// The mean trait of people drawn at random is within five standard errors of that of all; by hunch it is far above.
///
/// The trait is the sum of two uniform numbers minus 1, with variance 1/6. There are 60 · 11 calls.
#[test]
fn a_hunch_prefers_people_with_a_larger_hidden_trait() {
    let folder = cli();
    let mean_trait = |assignment: &str| {
        let options = "--people 600 --weeks 12 --calls 60";
        folder
            .run(&format!("generate programme --out {assignment} --assignment {assignment} {options}"))
            .success();
        let people = table(&folder.read(&format!("{assignment}/truth/people.csv")));
        let sum: f64 = people
            .iter()
            .map(|row| row["called"].matches('C').count() as f64 * row["inclination"].parse::<f64>().unwrap())
            .sum();
        sum / 660.0
    };
    let five_errors = 5.0 * (1.0 / 6.0 / 660.0_f64).sqrt();
    assert!(mean_trait("random").abs() < five_errors + 5.0 * (1.0 / 6.0 / 600.0_f64).sqrt());
    assert!(mean_trait("hunch") > 3.0 * five_errors);
}

#[test]
fn options_out_of_range_are_usage_errors_and_write_nothing() {
    let folder = cli();
    for (arguments, part) in [
        ("--out p --people 19", "found 19 people, expected 20 to 100000"),
        ("--out p --people 100001", "found 100001 people, expected 20 to 100000"),
        ("--out p --weeks 3", "found 3 weeks, expected 4 to 520"),
        ("--out p --weeks 521", "found 521 weeks, expected 4 to 520"),
        (
            "--out p --people 90 --calls 31",
            "found 31 calls per week, expected 1 to 30, a third of the people",
        ),
        ("--out p --calls 0", "found 0 calls per week, expected 1 to 333, a third of the people"),
        ("--out p --people -5", "--people"),
        ("--out p --assignment lot", "[possible values: random, hunch]"),
        ("--out p --instances 3", "--instances"),
        ("", "--out"),
    ] {
        let message = stderr(&folder.run(&format!("generate programme {arguments}")).code(2));
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(message.contains(part), "{arguments}: {message}");
    }
    let message = stderr(&folder.run("generate programme --out none/p").code(1));
    assert!(message.contains("there is no folder none"), "{message}");
    assert_eq!(folder.listing(), Vec::<String>::new());
}

#[test]
fn only_an_empty_folder_or_by_force_another_synthetic_programme_is_replaced() {
    let folder = cli();
    let command = format!("generate programme --out p {SMALL}");
    fs::create_dir(folder.path("p")).unwrap();
    folder.run(&command).success();
    let message = stderr(&folder.run(&command).code(1));
    assert!(
        message.starts_with("restive: p: found a folder with files, expected a new or empty folder"),
        "{message}"
    );
    assert!(message.ends_with(": --force\n"), "{message}");
    let before = files(&folder, "p");
    folder.run(&format!("{} --force", command.replace("150", "160"))).success();
    assert_ne!(files(&folder, "p"), before);
    folder.write("p/notes.txt", "mine");
    let message = stderr(&folder.run(&format!("{command} --force")).code(1));
    assert!(message.contains("notes.txt"), "{message}");
    fs::remove_file(folder.path("p/notes.txt")).unwrap();
    folder.write("p/truth/planted.csv", "mine");
    folder.run(&format!("{command} --force")).code(1);
    assert_eq!(folder.read("p/truth/planted.csv"), "mine");
    fs::create_dir(folder.path("other")).unwrap();
    folder.write("other/mapping.toml", "");
    folder.run("generate programme --out other --force").code(1);
    assert_eq!(folder.listing(), ["other", "p"]);
}

#[test]
fn text_of_the_summary_names_the_next_command() {
    let folder = cli();
    let run = folder.run(&format!("generate programme --out exports {SMALL}")).success();
    assert_output("generate-programme", &[&run]);
    let next = run.stdout.lines().last().unwrap().strip_prefix("Next: restive ").unwrap();
    folder.run(next).success();
    // an escape sequence in the name of the folder is not sent to the terminal
    let text = stdout(&folder.run(&format!("generate programme --out e\u{1b}[2J {SMALL}")).success());
    assert!(!text.contains('\u{1b}') && text.contains("import e\\u{1b}[2J/mapping.toml"), "{text}");
}
