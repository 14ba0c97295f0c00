//! `restive import`: from exports to a study, without names or numbers beyond the table that is made for them.

use crate::harness::{Cli, stderr, stdout};
use crate::programme::Programme;
use restive_import::demo::{CallOutcome, Person};
use restive_testkit::assert_snapshot;
use restive_testkit::programme::{ProgrammeFixture, ProgrammeOptions, SyntheticProgramme, table};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const PEOPLE: usize = 60;
const WEEKS: usize = 12;
/// Numbers of a message and of registrations that are not used.
const UNKNOWN_NUMBER: &str = "9999812345";
const UNUSED_NUMBER: &str = "9999854321";

fn options(weeks: usize) -> ProgrammeOptions {
    ProgrammeOptions { people: PEOPLE, weeks, calls: 6, ..ProgrammeFixture::plain_options() }
}

/// Returns the exports of the first weeks.
fn exports(weeks: usize) -> Programme {
    let programme = Programme::exported(&options(weeks));
    edit_mapping(&programme);
    programme
}

/// Adds a budget to the mapping, and patterns of file names.
fn edit_mapping(programme: &Programme) {
    let mut mapping = programme.read("exports/mapping.toml");
    for (from, to) in [
        ("\"messages.csv\"", "\"messages*.csv\""),
        ("\"calls.csv\"", "\"calls*.csv\""),
        ("study = { unit", "study = { budget = 6, unit"),
    ] {
        assert!(mapping.contains(from), "{mapping}");
        mapping = mapping.replace(from, to);
    }
    programme.write("exports/mapping.toml", mapping);
}

/// Makes a programme with a model in a folder; if `is_planned`, with a list, `list.xlsx` and `list.csv`, on which B12 is.
pub(crate) fn programme(folder: &Cli, name: &str, is_planned: bool) {
    let made = Programme::cached(&options(WEEKS), &"with a model", |programme| {
        edit_mapping(&programme);
        // ids as in the examples of the help
        for file in ["exports/registry.csv", "exports/calls.csv"] {
            programme.write(file, programme.read(file).replace("MB-000", "B"));
        }
        programme.import();
        programme.run("train programme --profile published --epochs 3").success();
    });
    fs::rename(made.path("programme"), folder.path(name)).unwrap();
    if is_planned {
        folder.write(&format!("{name}/rules.toml"), "must_call = [\"B12\"]\n");
        folder.run(&format!("plan {name} --out list.xlsx --out list.csv")).success();
    }
}

#[test]
fn exports_become_a_study_whose_rows_are_what_the_time_stamps_say() {
    let programme = exports(WEEKS);
    let truth = programme.truth();
    let said = programme.import();
    assert_eq!(said["people"], PEOPLE);
    assert_eq!(said["periods"].as_array().unwrap().len(), WEEKS);
    for account in said["accounts"].as_array().unwrap() {
        let places = ["used", "repeated", "merged", "aside", "outside", "quarantined"];
        let placed: u64 = places.iter().map(|place| account[*place].as_u64().unwrap()).sum();
        assert_eq!(account["rows"], placed);
    }
    let rows = table(&programme.read(&programme.imported("study/trajectories.csv")));
    assert_eq!(rows.len(), PEOPLE * WEEKS);
    for row in rows {
        let (t, i): (usize, usize) = (row["t"].parse().unwrap(), programme.position(&row["arm"]));
        assert_eq!(row["state"], ["0", "1"][usize::from(truth.states()[i][t].unwrap())], "{row:?}");
        let called = ["0", "1"][usize::from(truth.is_called(i, t + 1))];
        assert_eq!(row["action"], if t + 1 == WEEKS { "" } else { called }, "{row:?}");
    }
    assert_snapshot!("import", &programme.text("import exports/mapping.toml --out other"));
}

/// Names and numbers that may be in no output.
fn planted(programme: &Programme) -> BTreeSet<String> {
    let people = programme.truth().people().iter();
    let of = |person: &Person| {
        let (first, last) = person.phone.split_at(5);
        let surname = person.name.split(' ').nth(1).unwrap();
        [surname.to_string(), person.phone.clone(), format!("{first} {last}")]
    };
    people.flat_map(of).chain([UNKNOWN_NUMBER.into(), UNUSED_NUMBER.into()]).collect()
}

/// Returns the files in a folder and below, except exports and tables that contain names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let all = entries.filter(|path| !path.ends_with("exports"));
    let all = all.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    let with_names = ["people.parquet", "list.csv", "list-of-names.csv", "list-of-names.html"];
    all.filter(|path| !with_names.iter().any(|name| path.ends_with(name))).collect()
}

/// Appends a name to the notes of all calls.
fn add_name_to_notes(programme: &Programme, name: &str) {
    let calls = programme.read("exports/calls.csv");
    let (header, rows) = calls.split_once('\n').unwrap();
    assert!(header.ends_with("Notes"), "{header}");
    let rows: String = rows.lines().map(|row| format!("{row} {name}\n")).collect();
    programme.write("exports/calls.csv", format!("{header}\n{rows}"));
}

/// Adds a row of each kind that is not used, with a name or a number in it.
fn add_unused_rows(programme: &Programme, name: &str) {
    let number = UNUSED_NUMBER;
    let append = |file: &str, rows: String| {
        let file = format!("exports/{file}");
        programme.write(&file, programme.read(&file) + &rows);
    };
    let mut registry = String::new();
    writeln!(registry, "MB-00001,{name} twice,{number},,,,,north,,01/12/2025,,,,,,,").unwrap();
    writeln!(registry, ",{name},{number},,,,,north,,never,,,,,,,,too,many").unwrap();
    writeln!(registry, "MB-00099,{name},{number},,,,,north,,31/02/2025,twenty,,,,,,").unwrap();
    append("registry.csv", registry);
    let mut messages = String::new();
    let time = "2026-01-05 10:00:00";
    for (to, time, talk) in [(UNKNOWN_NUMBER, time, "4"), (name, time, "4"), (number, "yesterday", name)] {
        writeln!(messages, "sid,,,{to},,,{time},,,{talk}").unwrap();
    }
    append("messages.csv", messages);
    let date = "03-Feb-2026 10:00";
    append(
        "calls.csv",
        format!("{date},{name},,reached,\n{date},MB-00002,,{name},\n{name},MB-00003,,reached,\n"),
    );
}

#[test]
fn no_output_of_any_command_has_a_name_or_a_number() {
    for is_pseudonymised in [false, true] {
        let programme = exports(WEEKS);
        let planted = planted(&programme);
        assert!(planted.len() > 2 * PEOPLE + 5, "{planted:?}");
        let name = programme.truth().people()[30].name.split(' ').nth(1).unwrap();
        add_name_to_notes(&programme, name);
        add_unused_rows(&programme, name);
        let key = if is_pseudonymised { " --pseudonymise secret.key" } else { "" };
        let commands = [
            format!("import exports/mapping.toml --out programme{key}"),
            format!("import exports/mapping.toml --out programme{key} --json"),
            "study programme".into(),
            "study programme --json".into(),
            "doctor programme --json".into(),
            "doctor programme --out doctor.html".into(),
            "train programme --out model --profile published --epochs 3".into(),
            "evaluate model programme --part all --runs 20 --deals 20 --page page.html".into(),
            "evaluate model programme --part all --runs 20 --deals 20 --json".into(),
            "plan model programme".into(),
            "plan model programme --json --people programme".into(),
            "plan model programme --people programme --out list.csv".into(),
            "programme init programme".into(),
            "train programme --profile published --epochs 3".into(),
            "plan programme --rehearse --json".into(),
            "plan programme --explore 0.5 --out list-of-names.csv".into(),
            "programme status programme".into(),
            "programme list programme --out list-of-names.html".into(),
            "outcomes programme list-of-names.csv".into(),
        ];
        let refused = [
            format!("import exports/registry.csv --out elsewhere{key}"),
            "plan model programme --people exports/registry.csv".into(),
            "train programme/current --out nothing".into(),
            "study nowhere".into(),
            "outcomes programme exports/registry.csv".into(),
        ];
        for command in commands.iter().chain(&refused) {
            let run = programme.run(command);
            let said = stdout(&run) + &stderr(&run);
            for word in &planted {
                assert!(!said.contains(word), "{command}: {said}");
            }
            match refused.contains(command) {
                true => drop(run.failure()),
                // the doctor's code is what it found
                false if command.starts_with("doctor") => {}
                false => drop(run.success()),
            }
        }
        let written = files(&programme.path(""));
        assert!(written.len() > 12, "{written:?}");
        for path in written {
            let bytes = fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            for word in &planted {
                assert!(!text.contains(word), "{} contains {word}", path.display());
            }
            if is_pseudonymised
                && path.starts_with(programme.path("programme"))
                && path.extension().is_some_and(|e| e == "csv")
            {
                assert!(!text.contains("MB-000"), "{}", path.display());
            }
        }
        let list = programme.read("list.csv");
        let columns = "instance,arm,name,phone,worker,centre,household,village,language,state,";
        assert!(list.starts_with(columns), "{list}");
        for row in table(&list) {
            assert!(planted.contains(row["name"].split(' ').nth(1).unwrap()), "{row:?}");
        }
        #[cfg(unix)]
        for private in [programme.imported("people.parquet"), "list.csv".into()] {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(programme.path(&private)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{private}");
        }
        // the longest list has neither the person who must not be called nor people with a wrong number
        let truth = programme.truth();
        let is_wrong = |k: usize| {
            let last = truth.calls().filter(|call| call.person == k).last();
            last.is_some_and(|call| call.outcome == CallOutcome::WrongNumber)
        };
        let wrong = (0..PEOPLE).filter(|k| is_wrong(*k)).count();
        let plan = programme.json("plan model programme --budget 60 --people programme");
        let listed = plan["plan"].as_array().unwrap();
        assert_eq!(listed.len(), PEOPLE - 1 - wrong);
        assert_eq!(plan["not_to_be_called"], 1);
        let never = truth.people().iter().find(|person| person.do_not_call).unwrap();
        assert!(is_pseudonymised || listed.iter().all(|row| row["arm"] != never.id.as_str()));
    }
}

/// Returns the rows of an export from a week on, with its header.
fn rows_from(week: usize, name: &str) -> String {
    let text = |weeks: usize| {
        let files = SyntheticProgramme::new(&options(weeks)).unwrap().exports();
        let file = files.into_iter().find(|file| file.name == name).unwrap();
        String::from_utf8(file.bytes).unwrap()
    };
    let all = text(WEEKS);
    let rows = all.strip_prefix(&text(week)).expect("exports after another week begin with earlier ones");
    all.lines().next().unwrap().to_string() + "\n" + rows
}

#[test]
fn fresher_exports_grow_the_study_and_what_else_is_in_the_folder_stays() {
    let (once, grown) = (exports(WEEKS), exports(8));
    let whole = once.import();
    grown.import();
    grown.write("programme/notes.txt", "mine");
    // only new weeks, and one week again
    let calls = rows_from(7, "calls.csv");
    grown.write("exports/messages.csv", rows_from(7, "messages.csv"));
    grown.write("exports/calls.csv", &calls);
    let said = grown.import();
    assert_eq!(said["fingerprint"], whole["fingerprint"]);
    assert_eq!(said["changes"]["new_periods"], WEEKS - 8);
    assert_eq!(said["changes"]["states"], 0);
    assert_eq!(grown.read("programme/notes.txt"), "mine");
    grown.run("study programme").success();

    // without a key a record is identified by all of its cells; with one, a late outcome amends it
    let keyed = exports(WEEKS);
    let mapping = keyed.read("exports/mapping.toml");
    let with_key = mapping
        .replace("file = \"calls*.csv\"", "file = \"calls*.csv\"\nkey = [\"Beneficiary\", \"Call Date\"]");
    assert_ne!(mapping, with_key);
    keyed.write("exports/mapping.toml", with_key);
    keyed.import();
    // a call of the past was cancelled
    keyed.write("exports/calls.csv", calls.replacen("reached", "cancelled", 1));
    let said = keyed.import();
    assert_eq!((&said["changes"]["actions"], &said["earlier"]["amended"]), (&1.into(), &1.into()));
    let changes = keyed.read(&keyed.imported("changes.csv"));
    assert_eq!(changes.lines().count(), 2, "{changes}");
    assert!(changes.contains(",action,1,0"), "{changes}");

    // a failed import leaves everything as it was
    let before = keyed.read(&keyed.imported("study/trajectories.csv"));
    keyed.write("exports/registry.csv", "beneficiary_id,name\nMB-00001,x\n");
    let refused = keyed.refused("import exports/mapping.toml --out programme");
    assert!(
        refused.contains("mapping.toml: line 10, column 21: found no column \"registered\" in registry.csv"),
        "{refused}"
    );
    assert_eq!(keyed.read(&keyed.imported("study/trajectories.csv")), before);
    let listed = fs::read_dir(keyed.path("programme")).unwrap().count();
    assert_eq!(listed, 4, "no temporary file is left beside current, imported, exports.toml and the lock");
}

#[test]
fn a_folder_of_something_else_is_left_alone() {
    let folder = exports(WEEKS);
    fs::create_dir(folder.path("mine")).unwrap();
    folder.write("mine/letter.txt", "dear");
    let said = folder.refused("import exports/mapping.toml --out mine");
    assert!(
        said.contains("mine: found a folder with something else in it, expected the folder of a programme"),
        "{said}"
    );
    assert_eq!(fs::read_dir(folder.path("mine")).unwrap().count(), 1);
    let said = folder.refused("import exports/mapping.toml --out a/b");
    assert!(said.contains("there is no folder a"), "{said}");
}
