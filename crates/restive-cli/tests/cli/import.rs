//! `restive import`: from exports to a study, and not a name or a number beyond the table that is made for them.

use crate::harness::{Cli, cli, stderr, stdout};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const PEOPLE: usize = 60;
const WEEKS: usize = 12;
/// what must never leave the table of people
const NAME: &str = "Xanthippe";
const NUMBER: &str = "98765";

const MAPPING: &str = r#"country = "IN"
period = { every = "week" }
state = { at_least = 30, silence = "lowest", names = ["not engaged", "engaged"] }
[study]
budget = 6
[people]
file = "registry.csv"
id = "id"
keep = ["name", "phone"]
joined = "joined"
do_not_call = { column = "dnd", is = "yes" }
features.district = "text"
features.age = "number"
[[events]]
file = "messages*.csv"
person = { column = "To", is = "phone", as = "phone" }
time = "when"
value = "talk"
[actions]
file = "calls*.csv"
person = "id"
time = { column = "date", format = "%d/%m/%Y" }
outcome = { column = "outcome", made = ["reached", "no answer"], not_made = "cancelled" }
"#;

/// The day of week `week` (from 0) that is `day` days after its Monday, 5 January 2026 the first: (month, day).
fn date(week: usize, day: usize) -> (usize, usize) {
    let day = 5 + 7 * week + day;
    let months = [31, 28, 31, 30];
    let mut left = day;
    for (k, days) in months.iter().enumerate() {
        if left <= *days {
            return (k + 1, left);
        }
        left -= days;
    }
    unreachable!("weeks of four months")
}

/// Messages of some weeks: person `i` listens in week `w` by a rule that calls push.
fn messages(weeks: std::ops::Range<usize>) -> String {
    let mut text = "sid,To,when,talk\n".to_string();
    for week in weeks {
        for i in 0..PEOPLE {
            let ((month, first), (_, last)) = (date(week, 0), date(week, 6));
            let day = if i % 2 == 0 { first } else { last };
            let month = if i % 2 == 0 { month } else { date(week, 6).0 };
            let talk = if (7 * i + 3 * week + i * week % 5) % 4 == 0 || called(i, week) { 45 } else { 5 };
            writeln!(text, "m{week}-{i},0{NUMBER}{i:05},2026-{month:02}-{day:02} 10:00:00,{talk}").unwrap();
        }
    }
    text
}

fn called(i: usize, week: usize) -> bool {
    week > 0 && (i + week * 6) % PEOPLE < 6
}

fn calls(weeks: std::ops::Range<usize>) -> String {
    let mut text = "id,date,outcome,note\n".to_string();
    for week in weeks {
        let (month, day) = date(week, 2);
        for i in (0..PEOPLE).filter(|i| called(*i, week)) {
            writeln!(
                text,
                "B{i},{day:02}/{month:02}/2026,{},{NAME} again",
                if i % 5 == 0 { "no answer" } else { "reached" }
            )
            .unwrap();
        }
    }
    text
}

fn registry() -> String {
    let mut text = "id,name,phone,joined,dnd,district,age\n".to_string();
    for i in 0..PEOPLE {
        let dnd = if i == 7 { "yes" } else { "" };
        let district = ["north", "south", "east"][i % 3];
        writeln!(text, "B{i},{NAME} {i},+91 {NUMBER} {i:05},2025-12-01,{dnd},{district},{}", 20 + i % 17)
            .unwrap();
    }
    text
}

fn exports() -> Cli {
    let folder = cli();
    folder.write("registry.csv", registry());
    folder.write("messages.csv", messages(0..WEEKS));
    folder.write("calls.csv", calls(0..WEEKS));
    folder.write("mapping.toml", MAPPING);
    folder
}

/// A programme with a model in a folder; with a list, `list.xlsx` and `list.csv`, on which B12 is, where there is to be one.
pub(crate) fn programme(folder: &Cli, name: &str, is_planned: bool) {
    let made = exports();
    made.run("import mapping.toml --out programme").success();
    fs::rename(made.path("programme"), folder.path(name)).unwrap();
    folder.run(&format!("train {name} --profile published --epochs 3")).success();
    if is_planned {
        folder.write(&format!("{name}/rules.toml"), "must_call = [\"B12\"]\n");
        folder.run(&format!("plan {name} --out list.xlsx --out list.csv")).success();
    }
}

fn import(folder: &Cli, arguments: &str) -> Value {
    let run = folder.run(&format!("import mapping.toml --json {arguments}")).success();
    serde_json::from_str(&stdout(&run)).unwrap()
}

#[test]
fn exports_become_a_study_whose_rows_are_what_the_time_stamps_say() {
    let folder = exports();
    let said = import(&folder, "--out programme");
    assert_eq!(said["people"], PEOPLE);
    assert_eq!(said["periods"].as_array().unwrap().len(), WEEKS);
    for account in said["accounts"].as_array().unwrap() {
        let places = ["used", "repeated", "merged", "aside", "outside", "quarantined"];
        let placed: u64 = places.iter().map(|place| account[*place].as_u64().unwrap()).sum();
        assert_eq!(account["rows"], placed);
    }
    let rows = fs::read_to_string(folder.path("programme/study/trajectories.csv")).unwrap();
    for line in rows.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let (t, i): (usize, usize) = (cells[2].parse().unwrap(), cells[3][1..].parse().unwrap());
        let listened = (7 * i + 3 * t + i * t % 5) % 4 == 0 || called(i, t);
        assert_eq!(cells[4], if listened { "1" } else { "0" }, "{line}");
        let action = if t + 1 == WEEKS { "" } else { ["0", "1"][usize::from(called(i, t + 1))] };
        assert_eq!(cells[5], action, "{line}");
    }
    assert!(said["example"].as_str().unwrap().contains("called on Wednesday"), "{}", said["example"]);
    let text = stdout(&folder.run("import mapping.toml --out other").success());
    assert!(text.contains("Where every row went") && text.contains("What a row means. Person B"), "{text}");
}

/// Everything below a folder, but for what may hold names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let all = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    let may_name = [
        "people.parquet",
        "registry.csv",
        "messages.csv",
        "calls.csv",
        "list.csv",
        "list-of-names.csv",
        "list-of-names.html",
    ];
    all.filter(|path| !may_name.iter().any(|name| path.ends_with(name))).collect()
}

#[test]
fn no_output_of_any_command_has_a_name_or_a_number() {
    for is_pseudonymised in [false, true] {
        let folder = exports();
        // one row of every kind that can be refused, names in all of them
        let mut registry = registry();
        writeln!(registry, "B1,{NAME} twice,{NUMBER} 1,2025-12-01,,north,20").unwrap();
        writeln!(registry, ",{NAME},{NUMBER},never,,north,20,too,many").unwrap();
        writeln!(registry, "B99,{NAME},{NUMBER} 99999,31/02/2025,,north,twenty").unwrap();
        folder.write("registry.csv", registry);
        let mut messages = messages(0..WEEKS);
        writeln!(
            messages,
            "x,{NUMBER}77777,2026-01-05,4\ny,{NAME},2026-01-05,4\nm0-0,0{NUMBER}00000,yesterday,{NAME}"
        )
        .unwrap();
        folder.write("messages.csv", messages);
        let mut calls = calls(0..WEEKS);
        writeln!(calls, "{NAME},01/02/2026,reached,\nB2,01/02/2026,{NAME},\nB3,{NAME},reached,").unwrap();
        folder.write("calls.csv", calls);
        let key = if is_pseudonymised { " --pseudonymise secret.key" } else { "" };
        let commands = [
            format!("import mapping.toml --out programme{key}"),
            format!("import mapping.toml --out programme{key} --json"),
            "study programme/study".into(),
            "study programme/study --json".into(),
            "doctor programme/study --json".into(),
            "doctor programme/study --out doctor.html".into(),
            "train programme/study --out model --profile published --epochs 3".into(),
            "evaluate model programme/study --part all --runs 20 --deals 20 --page page.html".into(),
            "evaluate model programme/study --part all --runs 20 --deals 20 --json".into(),
            "plan model programme/study".into(),
            "plan model programme/study --json --people programme/people.parquet".into(),
            "plan model programme/study --people programme/people.parquet --out list.csv".into(),
            "study programme".into(),
            "programme init programme".into(),
            "train programme --profile published --epochs 3".into(),
            "plan programme --rehearse --json".into(),
            "plan programme --explore 0.5 --out list-of-names.csv".into(),
            "programme status programme".into(),
            "programme list programme --out list-of-names.html".into(),
            "outcomes programme list-of-names.csv".into(),
        ];
        let refused = [
            format!("import registry.csv --out elsewhere{key}"),
            "plan model programme/study --people registry.csv".into(),
            "train programme/people.parquet --out nothing".into(),
            "study nowhere".into(),
            "outcomes programme registry.csv".into(),
        ];
        for command in commands.iter().chain(&refused) {
            let run = folder.run(command);
            let said = stdout(&run) + &stderr(&run);
            for planted in [NAME, NUMBER] {
                assert!(!said.contains(planted), "{command}: {said}");
            }
            match refused.contains(command) {
                true => drop(run.failure()),
                // the doctor's code is what it found
                false if command.starts_with("doctor") => {}
                false => drop(run.success()),
            }
        }
        let written = files(&folder.path(""));
        assert!(written.len() > 12, "{written:?}");
        for path in written {
            let bytes = fs::read(&path).unwrap();
            for planted in [NAME, NUMBER] {
                let is_there = bytes.windows(planted.len()).any(|window| window == planted.as_bytes());
                assert!(!is_there, "{} holds {planted}", path.display());
            }
            if is_pseudonymised
                && path.starts_with(folder.path("programme"))
                && path.extension().is_some_and(|e| e == "csv")
            {
                assert!(!String::from_utf8(bytes).unwrap().contains("B17"), "{}", path.display());
            }
        }
        let list = fs::read_to_string(folder.path("list.csv")).unwrap();
        assert!(list.starts_with("instance,arm,name,phone,state,") && list.contains(NAME), "{list}");
        #[cfg(unix)]
        for private in ["programme/people.parquet", "list.csv"] {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(folder.path(private)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{private}");
        }
        // whoever must not be called is not on the list, however long it is
        let run = folder
            .run("plan model programme/study --budget 60 --json --people programme/people.parquet")
            .success();
        let plan: Value = serde_json::from_str(&stdout(&run)).unwrap();
        assert_eq!(plan["plan"].as_array().unwrap().len(), PEOPLE - 1);
        assert_eq!(plan["not_to_be_called"], 1);
        assert!(is_pseudonymised || plan["plan"].as_array().unwrap().iter().all(|row| row["arm"] != "B7"));
    }
}

#[test]
fn fresher_exports_grow_the_study_and_what_else_is_in_the_folder_stays() {
    let (once, grown) = (exports(), exports());
    let whole = import(&once, "--out programme");
    grown.write("messages.csv", messages(0..8));
    grown.write("calls.csv", calls(0..8));
    import(&grown, "--out programme");
    grown.write("programme/notes.txt", "mine");
    // only what is new, one week twice, and a call of the past that turns out to have been cancelled
    grown.write("messages.csv", messages(7..WEEKS));
    let late = calls(7..WEEKS).replacen("reached", "cancelled", 1);
    grown.write("calls.csv", calls(7..WEEKS));
    let said = import(&grown, "--out programme");
    assert_eq!(said["fingerprint"], whole["fingerprint"]);
    assert_eq!(said["changes"]["new_periods"], WEEKS - 8);
    assert_eq!(said["changes"]["states"], 0);
    assert_eq!(fs::read_to_string(grown.path("programme/notes.txt")).unwrap(), "mine");
    grown.run("study programme/study").success();

    // without a key of its own a record is known by all of its cells: with one, a late outcome amends
    let keyed = exports();
    keyed.write(
        "mapping.toml",
        MAPPING.replace("file = \"calls*.csv\"", "file = \"calls*.csv\"\nkey = [\"id\", \"date\"]"),
    );
    import(&keyed, "--out programme");
    keyed.write("calls.csv", late);
    let said = import(&keyed, "--out programme");
    assert_eq!((&said["changes"]["actions"], &said["earlier"]["amended"]), (&1.into(), &1.into()));
    let changes = fs::read_to_string(keyed.path("programme/changes.csv")).unwrap();
    assert_eq!(changes.lines().count(), 2, "{changes}");
    assert!(changes.contains(",action,1,0"), "{changes}");

    // a failed import leaves everything as it was
    let before = fs::read(keyed.path("programme/study/trajectories.csv")).unwrap();
    keyed.write("registry.csv", "id,name\nB1,x\n");
    let refused = stderr(&keyed.run("import mapping.toml --out programme").failure());
    assert!(
        refused.contains("mapping.toml: line 10, column 10: found no column \"joined\" in registry.csv"),
        "{refused}"
    );
    assert_eq!(fs::read(keyed.path("programme/study/trajectories.csv")).unwrap(), before);
    let listed = fs::read_dir(keyed.path("programme")).unwrap().count();
    assert_eq!(listed, 8, "nothing is left over");
}

#[test]
fn a_folder_of_something_else_is_left_alone() {
    let folder = exports();
    fs::create_dir(folder.path("mine")).unwrap();
    folder.write("mine/letter.txt", "dear");
    let said = stderr(&folder.run("import mapping.toml --out mine").failure());
    assert!(
        said.contains("mine: found a folder with something else in it, expected the folder of a programme"),
        "{said}"
    );
    assert_eq!(fs::read_dir(folder.path("mine")).unwrap().count(), 1);
    let said = stderr(&folder.run("import mapping.toml --out a/b").failure());
    assert!(said.contains("there is no folder a"), "{said}");
}
