//! `restive doctor`: codes for automation, JSON, a page, what is silenced, and a guide that knows every check.

use crate::harness::{Cli, assert_output, cli, stderr, stdout};
use restive_testkit::{StudyFixture, StudyOptions};
use serde_json::Value;
use std::fs;
use std::path::Path;

const SETTINGS: &str =
    "name = \"calls\"\nstates = 3\ndiscount = 0.9\nbudget = 45\nhorizon = 8\nbehaviour = \"uniform\"\n";

/// A study of 300 people by lot, in the folder `s`; `early` writes every outcome beside its call.
fn study(settings: &str, early: bool) -> Cli {
    let folder = cli();
    let mut study = StudyFixture::new(&StudyOptions {
        instances: 1,
        arms: 300,
        states: 3,
        trajectories: 1,
        steps: 21,
        budget: 45,
        ..StudyOptions::default()
    });
    if early {
        let log = &mut study.log[0][0];
        for t in 1..log.len() {
            let next: Vec<usize> = log[t].iter().map(|row| row.state).collect();
            log[t - 1].iter_mut().zip(next).for_each(|(row, state)| row.state = state);
        }
        log.pop();
    }
    study.write(&folder.path("s"));
    folder.write("s/study.toml", settings);
    folder
}

fn json(folder: &Cli, code: i32) -> Value {
    serde_json::from_str(&stdout(&folder.run("doctor s --json").code(code))).unwrap()
}

fn finding<'a>(found: &'a Value, name: &str) -> &'a Value {
    found["findings"].as_array().unwrap().iter().find(|finding| finding["name"] == name).unwrap()
}

#[test]
fn codes_say_how_grave_it_is() {
    let good = study(SETTINGS, false);
    let found = json(&good, 0);
    assert_eq!((&found["worst"], &found["exit_code"]), (&Value::from("fine"), &Value::from(0)), "{found}");
    assert_eq!(finding(&found, "alignment")["severity"], "fine");
    let fine = good.run("doctor s").code(0);

    let off = study(SETTINGS, true);
    let found = json(&off, 2);
    assert_eq!(finding(&found, "alignment")["severity"], "serious");
    assert_output("doctor", &[&fine, &off.run("doctor s").code(2)]);

    // a column that is the same for everybody: a warning
    let arms = fs::read_to_string(good.path("s/arms.csv")).unwrap();
    let arms = arms.replace("split\n", "split,flat\n");
    let with = arms.lines().map(|line| match line.contains("flat") {
        true => format!("{line}\n"),
        false => format!("{line},1\n"),
    });
    good.write("s/arms.csv", with.collect::<String>());
    assert_eq!(finding(&json(&good, 1), "empty-columns")["severity"], "warning");

    // what cannot be read is 1, and a command line that is wrong 2, with nothing on standard output
    let run = good.run("doctor nowhere").code(1);
    assert_eq!(stdout(&run), "");
    good.run("doctor").code(2);
}

#[test]
fn what_is_silenced_is_listed_and_does_not_count() {
    let reason = "the registry counts so";
    // rows that are off look like a choice by the state, too: here nobody says how people were chosen
    let settings = SETTINGS.replace("uniform", "none");
    let silenced = study(&format!("{settings}silenced = {{ alignment = \"{reason}\" }}\n"), true);
    let run = silenced.run("doctor s --json");
    let found: Value = run.json();
    assert_ne!(found["worst"], "serious", "{found}");
    let last = found["findings"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["name"], &last["silenced"]), (&Value::from("alignment"), &Value::from(reason)));
    assert_eq!(last["severity"], "serious");
    assert_output("doctor-silenced", &[&silenced.run("doctor s")]);

    for (line, place, message) in [
        (
            "silenced = { drfit = \"x\" }",
            "line 7, column 14",
            "silenced: found \"drfit\", expected one of alignment, ",
        ),
        ("silenced = { drift = \" \" }", "line 7, column 14", "silenced: drift: found no reason"),
        ("silenced = { drift = 3 }", "line 7, column 12", "expected a table of checks and reasons"),
        ("silenced = \"drift\"", "line 7, column 12", "expected a table of checks and reasons"),
    ] {
        silenced.write("s/study.toml", format!("{SETTINGS}{line}\n"));
        let said = stderr(&silenced.run("doctor s").code(1));
        assert!(said.contains(place) && said.contains(message), "{said}");
    }
}

#[test]
fn a_page_is_written_and_replaced_only_where_that_is_asked_for() {
    let folder = study(SETTINGS, true);
    folder.run("doctor s --out d.html").code(2);
    let page = fs::read_to_string(folder.path("d.html")).unwrap();
    assert!(!page.contains("://"));
    restive_testkit::assert_page!("doctor-page", &page);
    let said = stderr(&folder.run("doctor s --out d.html").code(1));
    assert!(said.contains("--force"), "{said}");
    folder.run("doctor s --out d.html --force").code(2);
    folder.write("mine.html", "my own");
    folder.run("doctor s --out mine.html --force").code(1);
    assert_eq!(fs::read_to_string(folder.path("mine.html")).unwrap(), "my own");
    folder.run("doctor s --out s/arms.csv --force").code(2);
}

#[test]
fn the_guide_and_the_help_have_every_check() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/doctor.md");
    let guide = fs::read_to_string(guide).unwrap();
    let help = stdout(&cli().run("doctor --help").success());
    for name in restive_tables::CHECKS {
        assert!(guide.contains(&format!("\n### {name}\n")), "{name} has no paragraph in the guide");
        assert!(help.contains(name), "{name} is not in the help");
    }
}

#[test]
fn tiny_studies_and_studies_of_nothing_are_answered() {
    let folder = cli();
    fs::create_dir(folder.path("s")).unwrap();
    folder.write("s/study.toml", SETTINGS);
    for (arms, log) in [
        ("arm,x\nA,1\n", "trajectory,t,arm,state,action\n"),
        ("arm\nA\n", "trajectory,t,arm,state,action\n1,0,A,0,1\n1,1,A,1,\n"),
        ("arm,x\nA,\nB,2\n", "trajectory,t,arm,state,action\n1,0,A,,1\n1,0,B,1,0\n1,1,B,,\n"),
    ] {
        folder.write("s/arms.csv", arms);
        folder.write("s/trajectories.csv", log);
        let run = folder.run("doctor s --json");
        let code = run.status.code();
        assert!(stderr(&run).is_empty() || code == Some(1), "{}", stderr(&run));
        assert!(!stderr(&run).contains("internal error"), "{}", stderr(&run));
    }
}
