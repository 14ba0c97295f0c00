//! Synthetic programmes: their exports, imported, are the truth behind them, except for the faults that are counted.

use crate::kit::{World, placed, reasons};
use jiff::civil::{Date, Weekday};
use restive::instance::{NO_ACTION, UNSEEN};
use restive_import::Imported;
use restive_import::demo::{
    Assignment, CallOutcome, Effect, ExportFile, ProgrammeOptions, SyntheticProgramme,
};
use std::collections::{HashMap, HashSet};

pub(crate) fn small() -> ProgrammeOptions {
    ProgrammeOptions { people: 150, weeks: 12, calls: 12, ..ProgrammeOptions::default() }
}

pub(crate) fn programme(options: ProgrammeOptions) -> SyntheticProgramme {
    SyntheticProgramme::new(&options).unwrap()
}

fn imported(programme: &SyntheticProgramme) -> Imported {
    World::exported(programme).import(&programme.mapping())
}

pub(crate) fn file(files: &[ExportFile], name: &str) -> Vec<u8> {
    files.iter().find(|file| file.name == name).unwrap_or_else(|| panic!("no {name}")).bytes.clone()
}

pub(crate) fn planted(programme: &SyntheticProgramme) -> HashMap<(&'static str, &'static str), u64> {
    programme.planted().into_iter().map(|one| ((one.file, one.what), one.count as u64)).collect()
}

/// Compares states and actions of the study with the truth, person by person.
pub(crate) fn assert_is_truth(programme: &SyntheticProgramme, imported: &Imported) {
    let instance = &imported.study.instances[0];
    let (state, action) = (instance.trajectories.state(), instance.trajectories.action());
    assert_eq!(instance.trajectories.steps(), programme.weeks());
    let ids: HashSet<&String> = programme.people().iter().map(|person| &person.id).collect();
    assert_eq!(instance.arms.iter().collect::<HashSet<_>>(), ids);
    for (i, arm) in instance.arms.iter().enumerate() {
        let person = programme.position(arm).unwrap();
        let states = &programme.states()[person];
        for t in 0..programme.weeks() {
            let expected = states[t].map_or(UNSEEN, u16::from);
            assert_eq!(state[[0, t, i]], expected, "{arm} in week {t}");
            let next = states.get(t + 1).copied().flatten();
            let expected = match (states[t], next) {
                (Some(_), Some(_)) => u8::from(programme.is_called(person, t + 1)),
                _ => NO_ACTION,
            };
            assert_eq!(action[[0, t, i]], expected, "{arm}, call of week {}", t + 1);
        }
    }
    assert_eq!(programme.calls().count(), programme.options().calls * (programme.weeks() - 1));
}

#[test]
fn clean_exports_are_imported_as_the_truth() {
    for assignment in [Assignment::Random, Assignment::Hunch] {
        for turnover in [true, false] {
            let programme = programme(ProgrammeOptions { assignment, turnover, faults: false, ..small() });
            let imported = imported(&programme);
            assert_is_truth(&programme, &imported);
            assert!(reasons(&imported).is_empty(), "{:?}", reasons(&imported));
            assert_eq!(imported.summary.notes, Vec::<String>::new());
            assert_eq!(placed(&imported, "people"), [150, 0, 0, 0, 0, 0]);
            let calls = programme.calls().count() as u64;
            assert_eq!(placed(&imported, "actions"), [calls, 0, 0, 0, 0, 0]);
            let counts = planted(&programme);
            assert_eq!(placed(&imported, "messages"), [counts[&("messages.csv", "rows")], 0, 0, 0, 0, 0]);
            let present = programme.people().iter().filter(|person| person.exit.is_some()).count();
            assert_eq!(imported.summary.left, present);
            assert_eq!(present > 0, turnover);
        }
    }
}

#[test]
fn the_smallest_and_the_shortest_programme_are_imported_as_the_truth() {
    for seed in 0..5 {
        let options = ProgrammeOptions { people: 20, weeks: 4, calls: 2, turnover: false, seed, ..small() };
        for faults in [true, false] {
            let programme = programme(ProgrammeOptions { faults, ..options.clone() });
            assert_is_truth(&programme, &imported(&programme));
        }
    }
}

#[test]
fn exports_with_faults_are_imported_as_the_truth_but_for_what_is_counted() {
    for seed in 1..4 {
        let programme = programme(ProgrammeOptions { people: 300, weeks: 15, calls: 24, seed, ..small() });
        let imported = imported(&programme);
        assert_is_truth(&programme, &imported);
        let counts = planted(&programme);
        assert!(counts.values().all(|count| *count > 0), "{counts:?}");
        let of = |file, what| counts[&(file, what)];
        let (repeated, twice) = ("rows repeated exactly", "second registrations with the same phone");
        assert_eq!(
            placed(&imported, "people"),
            [300, of("registry.csv", repeated), of("registry.csv", twice), 0, 0, 0]
        );
        let messages = |what| of("messages.csv", what);
        let unknown = messages("rows with unknown numbers");
        let used = messages("rows") - messages(repeated) - unknown;
        assert_eq!(placed(&imported, "messages"), [used, messages(repeated), 0, 0, 0, unknown]);
        let calls = |what| of("calls.csv", what);
        let quarantined = calls("unknown ids") + calls("before enrolment");
        assert_eq!(placed(&imported, "actions"), [calls("rows") - quarantined, 0, 0, 0, 0, quarantined]);
        assert_eq!(
            calls("rows"),
            programme.calls().count() as u64
                + calls("second attempts in a week")
                + calls("cancelled")
                + quarantined
        );
        let said = reasons(&imported);
        for reason in [
            format!(
                "people {twice} merged: one person with that of another line, by phone",
                twice = of("registry.csv", twice)
            ),
            "people 1 cell: no possible date in date_of_birth: left empty".into(),
            format!("messages {unknown} row: unknown person in To"),
            format!("actions {} row: unknown person in Beneficiary", calls("unknown ids")),
            format!("actions {} row: a call before the person joined", calls("before enrolment")),
        ] {
            assert!(said.contains(&reason), "{reason}: {said:?}");
        }
        assert_eq!(said.len(), 5, "{said:?}");
        assert_eq!(imported.summary.do_not_call as u64, 300 * 3 / 100);
    }
}

#[test]
fn the_mapping_of_the_exports_is_the_one_for_import() {
    let programme = programme(small());
    assert_eq!(file(&programme.exports(), "mapping.toml"), programme.mapping().as_bytes());
    let folder = tempfile::tempdir().unwrap();
    let written = programme.write(folder.path()).unwrap();
    assert_eq!(written, programme.planted());
    for file in programme.exports().into_iter().chain(programme.truth()) {
        assert_eq!(std::fs::read(folder.path().join(file.name)).unwrap(), file.bytes, "{}", file.name);
    }
}

#[test]
fn mapping_has_synonyms_only_with_faults() {
    let [with, clean] =
        [true, false].map(|faults| programme(ProgrammeOptions { faults, ..small() }).mapping());
    assert_eq!(with.lines().count(), clean.lines().count());
    let lines: Vec<(&str, &str)> = with.lines().zip(clean.lines()).filter(|(a, b)| a != b).collect();
    let [(with, clean)] = lines[..] else { panic!("{lines:?}") };
    assert!(with.contains(", synonyms = { \"no schooling\" = \"unschooled\", "), "{with}");
    assert_eq!(clean, "features.education = { text = \"education\", case = \"lower\" }");
}

#[test]
fn messages_follow_the_calls_of_their_week() {
    let programme = programme(small());
    let exports = programme.exports();
    let messages = String::from_utf8(file(&exports, "messages.csv")).unwrap();
    let mut rows = 0;
    for line in messages.lines().skip(1) {
        let started: jiff::civil::DateTime = line.split(',').nth(6).unwrap().parse().unwrap();
        let hour = started.hour();
        match started.weekday() {
            Weekday::Friday => assert!((16..=21).contains(&hour), "{line}"),
            Weekday::Saturday | Weekday::Sunday => assert!((9..=19).contains(&hour), "{line}"),
            _ => panic!("{line}"),
        }
        rows += 1;
    }
    assert!(rows > 1000);
    let calls: String = file(&exports, "calls.csv").into_iter().map(char::from).collect();
    for line in calls.lines().skip(1) {
        let cell = line.split('\t').next().unwrap();
        let called = jiff::civil::DateTime::strptime("%d-%b-%Y %H:%M", cell).unwrap();
        let last = if called.weekday() == Weekday::Friday { 12 } else { 14 };
        assert!((9..last).contains(&called.hour()), "{line}");
        assert!(!matches!(called.weekday(), Weekday::Monday | Weekday::Saturday | Weekday::Sunday), "{line}");
    }
}

#[test]
fn files_with_faults_have_them_and_clean_files_have_not() {
    let with = programme(ProgrammeOptions { people: 400, ..small() }).exports();
    let registry = file(&with, "registry.csv");
    assert!(registry.starts_with("\u{feff}beneficiary_id;".as_bytes()) && registry.ends_with(b"\r\n"));
    let registry = String::from_utf8(registry).unwrap();
    for part in [
        ";+91 99999 ",
        ";+9199999",
        ";099999",
        ";+91-99999-",
        ";NA;",
        ";N/A;",
        ";nil;",
        ";---;",
        ";₹ ",
        ",00;",
        "\u{a0};",
        " ;",
        ";PRIMARY",
        ";primary school",
        ";Primary",
        "31/02/1998",
    ] {
        assert!(registry.contains(part), "{part}");
    }
    let calls = file(&with, "calls.csv");
    assert!(String::from_utf8(calls.clone()).is_err());
    let calls: String = calls.into_iter().map(char::from).collect();
    for part in
        ["\tmb-", " \t", "\t MB-", "\tcancelled\t", "ê", "½", "\"said \"\"later\"\", then hung up\"", "\r\n"]
    {
        assert!(calls.contains(part), "{part}");
    }
    let clean = programme(ProgrammeOptions { people: 400, faults: false, ..small() });
    for (counts, what) in planted(&clean).into_iter().map(|((_, what), count)| (count, what)) {
        let is_natural = ["rows", "do not call", "exits"].contains(&what) || what.contains("uration");
        assert_eq!(counts > 0, is_natural, "{what}");
    }
    for file in clean.exports() {
        let text = String::from_utf8(file.bytes).unwrap();
        assert!(!text.contains(['"', '\r', '\t', '\u{a0}', '\u{feff}']) || file.name == "mapping.toml");
    }
}

#[test]
fn the_truth_does_not_depend_on_faults_and_everything_depends_on_the_seed() {
    let with = programme(small());
    let clean = programme(ProgrammeOptions { faults: false, ..small() });
    assert_eq!((with.people(), with.states()), (clean.people(), clean.states()));
    assert!(with.calls().eq(clean.calls()));
    assert_eq!(with.truth()[..3], clean.truth()[..3]);
    assert_eq!((with.exports(), with.truth()), (programme(small()).exports(), programme(small()).truth()));
    let other = programme(ProgrammeOptions { seed: 2, ..small() });
    for (one, two) in
        with.exports().iter().chain(&with.truth()).zip(other.exports().iter().chain(&other.truth()))
    {
        assert_eq!(one.bytes == two.bytes, one.name == "mapping.toml", "{}", one.name);
    }
}

#[test]
fn another_week_leaves_the_earlier_bytes_of_all_exports() {
    for faults in [true, false] {
        let mut programme = programme(ProgrammeOptions { faults, ..small() });
        let before = programme.exports();
        let (states, called) = (programme.states().to_vec(), programme.calls().count());
        let reached: HashSet<String> = programme
            .people()
            .iter()
            .filter(|one| one.exit.is_none())
            .take(9)
            .map(|one| one.id.clone())
            .collect();
        for is_recorded in [false, true] {
            let last = programme.exports();
            programme.advance_week(&reached, is_recorded).unwrap();
            let now = programme.exports();
            for (old, new) in before.iter().chain(&last).zip(now.iter().chain(&now)) {
                assert!(new.bytes.starts_with(&old.bytes), "{}", old.name);
                let grows = old.name == "messages.csv" || old.name == "calls.csv" && is_recorded;
                assert_eq!(new.bytes.len() > old.bytes.len(), grows, "{} {is_recorded}", old.name);
            }
        }
        programme.play_week();
        assert_eq!(programme.weeks(), 15);
        assert!(programme.states().iter().zip(&states).all(|(now, before)| now.starts_with(before)));
        assert_eq!(programme.calls().count(), called + 2 * 9 + 12);
        let recorded = programme.calls().filter(|call| !call.is_recorded).count();
        assert_eq!(recorded, 9);
        assert!(programme.calls_of_week(12).iter().all(|call| call.outcome == CallOutcome::Reached));
    }
}

#[test]
fn hidden_numbers_of_people_are_written_with_six_decimals() {
    let programme = programme(small());
    let table = String::from_utf8(file(&programme.truth(), "truth/people.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 150);
    let columns = ["inclination", "effect_if_not_engaged", "effect_if_engaged"];
    for (row, person) in rows.iter().zip(programme.people()) {
        let hidden = [person.inclination, person.effect[0], person.effect[1]];
        for (name, value) in columns.iter().zip(hidden) {
            let cell = &row[header.iter().position(|column| column == *name).unwrap()];
            assert!(cell.split_once('.').is_none_or(|(_, decimals)| decimals.len() <= 6), "{name} {cell}");
            assert!((cell.parse::<f64>().unwrap() - value).abs() <= 5.1e-7, "{name} {cell}: {value}");
        }
    }
}

#[test]
fn ids_and_phones_are_unique_and_a_language_is_rare() {
    let programme = programme(ProgrammeOptions { people: 30_000, weeks: 4, calls: 10, ..small() });
    let phones: HashSet<&String> = programme.people().iter().map(|person| &person.phone).collect();
    assert_eq!(phones.len(), 30_000);
    for (k, person) in programme.people().iter().enumerate() {
        assert_eq!(programme.position(&person.id), Some(k));
        assert_eq!(person.phone.len(), 10);
    }
    let rare = programme.people().iter().filter(|person| person.language == "Konkani").count();
    assert_eq!(rare, 600);
    let mut of_household: HashMap<&String, HashSet<[&str; 3]>> = HashMap::new();
    for person in programme.people() {
        let shared = [person.worker.as_str(), person.village.as_str(), person.district];
        of_household.entry(&person.household).or_default().insert(shared);
    }
    assert!(of_household.values().all(|shared| shared.len() == 1));
    assert!(of_household.len() < 25_000, "{} households", of_household.len());
}

#[test]
fn options_out_of_range_are_refused() {
    let default = ProgrammeOptions::default;
    let district = |name: &str, chance| Effect::InDistrict { district: name.into(), chance };
    for (options, expected) in [
        (ProgrammeOptions { people: 19, ..default() }, "found 19 people, expected 20 to 100000"),
        (ProgrammeOptions { people: 100_001, ..default() }, "found 100001 people, expected 20 to 100000"),
        (ProgrammeOptions { weeks: 3, ..default() }, "found 3 weeks, expected 4 to 520"),
        (ProgrammeOptions { weeks: 521, ..default() }, "found 521 weeks, expected 4 to 520"),
        (
            ProgrammeOptions { calls: 334, ..default() },
            "found 334 calls per week, expected 1 to 333, a third of the people",
        ),
        (
            ProgrammeOptions { calls: 0, ..default() },
            "found 0 calls per week, expected 1 to 333, a third of the people",
        ),
        (ProgrammeOptions { workers: 27, ..default() }, "found 27 caseworkers, expected 1 to 26"),
        (
            ProgrammeOptions { first_day: Date::constant(2026, 1, 6), ..default() },
            "the first day 2026-01-06 is not a Monday; choose the Monday with which the first week begins",
        ),
        (
            ProgrammeOptions { first_day: Date::constant(2201, 1, 5), ..default() },
            "found a first day in the year 2201, expected 1900 to 2200",
        ),
        (
            ProgrammeOptions { effect: district("west", 0.9), ..default() },
            "found district \"west\", expected one of north, south, east",
        ),
        (
            ProgrammeOptions { effect: district("east", 1.5), ..default() },
            "found probability 1.5, expected 0 to 1",
        ),
    ] {
        assert_eq!(SyntheticProgramme::new(&options).unwrap_err().to_string(), expected);
    }
    let mut programme = programme(small());
    let person = programme.people().iter().find(|person| person.exit.is_some()).unwrap().id.clone();
    for (id, expected) in [
        ("MB-99999", "the programme has no person \"MB-99999\"; use the ids of its registry".to_string()),
        (
            &person,
            format!(
                "person {person} cannot be called in week 12; call people who have messages in that week and in the week before"
            ),
        ),
    ] {
        let refused = programme.advance_week(&HashSet::from([id.to_string()]), true).unwrap_err();
        assert_eq!(refused.to_string(), expected);
        assert_eq!(programme.weeks(), 12);
    }
}
