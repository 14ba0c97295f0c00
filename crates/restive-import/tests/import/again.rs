//! The same programme again, on fresher exports.

use crate::demo::{self, assert_is_truth};
use crate::kit::*;
use restive_import::ImportAsked;
use restive_import::demo::ProgrammeOptions;

const NEXT: &str =
    "person,date,seconds\nP1,2026-03-24,45\nP3,2026-03-29,50\nP2,2026-04-01,31\nP1,2026-04-05,45\n";
const NEXT_CALLS: &str = "person,when,outcome\nP1,2026-03-25,reached\nP2,2026-04-01,cancelled\n";

fn open_ended() -> String {
    MAPPING.replace("until = 2026-03-23\n", "until = 2026-04-06\n")
}

/// Bytes of the last rows of a table.
fn last_rows(table: &[u8], count: usize) -> Vec<u8> {
    let rows: Vec<&[u8]> = table.split_inclusive(|byte| *byte == b'\n').skip(1).collect();
    rows[rows.len().saturating_sub(count)..].concat()
}

/// The second exports begin where the first ended, overlap with them, or contain them.
#[test]
fn two_more_weeks_grow_the_study_to_that_of_all_at_once() {
    for faults in [false, true] {
        let mut synthetic = demo::programme(ProgrammeOptions { faults, ..demo::small() });
        let before = synthetic.clone();
        synthetic.play_week();
        synthetic.play_week();
        let whole = World::exported(&synthetic).import(&synthetic.mapping());
        assert_is_truth(&synthetic, &whole);
        for overlap in [0, 100, usize::MAX] {
            let world = World::exported(&before);
            let first = world.grow(&synthetic.mapping()).unwrap();
            assert_is_truth(&before, &first);
            for (old, new) in before.exports().iter().zip(synthetic.exports()) {
                if ["messages.csv", "calls.csv"].contains(&new.name) {
                    let header = old.bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap();
                    let fresh = &new.bytes[old.bytes.len()..];
                    world.write(new.name, [header, &last_rows(&old.bytes, overlap), fresh].concat());
                }
            }
            let grown = world.grow(&synthetic.mapping()).unwrap();
            assert_is_truth(&synthetic, &grown);
            assert_eq!(grown.study.fingerprint(), whole.study.fingerprint());
            let earlier = grown.summary.earlier.unwrap();
            let used = placed(&first, "messages")[0] + placed(&first, "actions")[0];
            // calls before enrolment are records too
            let known = used + demo::planted(&before)[&("calls.csv", "before enrolment")];
            assert_eq!((earlier.known, earlier.amended, earlier.absent), (known, 0, 0));
            match overlap {
                0 => assert_eq!(earlier.kept, earlier.known),
                usize::MAX => assert_eq!(earlier.kept, 0),
                _ => assert!((1..earlier.known).contains(&earlier.kept), "{}", earlier.kept),
            }
            let changes = grown.summary.changes.unwrap();
            let found = (changes.states, changes.actions, changes.new_people, changes.new_periods);
            assert_eq!(found, (0, 0, 0, 2));
        }
    }
}

#[test]
fn a_late_outcome_amends_and_is_listed() {
    let world = programme();
    let keyed = CALLS.lines().enumerate().map(|(k, line)| match k {
        0 => format!("{line},call\n"),
        k => format!("{line},k{k}\n"),
    });
    let keyed: String = keyed.collect();
    let mapping = MAPPING.replace("time = \"when\"", "time = \"when\"\nkey = \"call\"");
    world.write("calls.csv", &keyed);
    world.grow(&mapping).unwrap();
    world.write("calls.csv", keyed.replace("2026-03-18,cancelled", "2026-03-18,reached"));
    let again = world.grow(&mapping).unwrap();
    assert_eq!(told(&again), ["P1 100 00.", "P2 011 11.", "P3 001 11."]);
    assert_eq!(again.summary.earlier.unwrap().amended, 1);
    let changes = std::fs::read_to_string(world.imported().folder().join("changes.csv")).unwrap();
    assert_eq!(changes, "period,arm,what,before,now\n2026-03-09,P3,action,0,1\n");
}

#[test]
fn people_who_are_not_in_the_new_registry_stay() {
    let world = programme();
    let first = world.grow(MAPPING).unwrap();
    world.write("registry.csv", REGISTRY.replace("P1,Ada,+91 98200 10001,north\n", ""));
    let again = world.grow(MAPPING).unwrap();
    assert_eq!((again.summary.people, again.summary.absent), (3, 1));
    assert_eq!(again.study.fingerprint(), first.study.fingerprint());
    let afresh = ImportAsked { out: Some(world.path("programme")), afresh: true, ..ImportAsked::default() };
    let afresh = world.asked(MAPPING, &afresh).unwrap();
    assert_eq!(told(&afresh), ["P2 011 11.", "P3 001 10."]);
    assert_eq!(placed(&afresh, "messages"), [4, 0, 0, 0, 0, 2]);
}

#[test]
fn another_mapping_is_refused_unless_afresh() {
    let world = programme();
    let first = world.grow(MAPPING).unwrap();
    let other = MAPPING.replace("[30]", "[50]");
    assert_eq!(
        world.refused(&other),
        "programme: found another mapping than that of the earlier imports (it differs in state), expected the same rules, or an import \
         afresh from all exports"
    );
    let study = restive_tables::Study::read(&world.imported().study()).unwrap();
    assert_eq!(study.fingerprint(), first.study.fingerprint());
    let asked = ImportAsked { out: Some(world.path("programme")), afresh: true, ..ImportAsked::default() };
    assert_eq!(told(&world.asked(&other, &asked).unwrap())[1], "P2 001 11.");
}

#[test]
fn a_mapping_with_its_sections_in_one_line_is_recognised_again() {
    let world = programme();
    let people = "[people]\nfile = \"registry.csv\"\nid = \"id\"\nkeep = [\"name\", \"phone\"]\n[people.features]\ndistrict = \"text\"\n";
    let inline = "people = { file = \"registry.csv\", id = \"id\", keep = [\"name\", \"phone\"], features = { district = \"text\" } }\n";
    let mapping = format!("{inline}{}", MAPPING.replace(people, ""));
    world.grow(&mapping).unwrap();
    world.grow(&mapping).unwrap();
}

#[test]
fn pseudonyms_need_their_key_and_leave_no_id() {
    let world = programme();
    let asked = |key: &str| ImportAsked {
        out: Some(world.path("programme")),
        pseudonymise: Some(world.path(key)),
        ..ImportAsked::default()
    };
    let first = world.asked(MAPPING, &asked("key")).unwrap();
    assert_eq!(std::fs::read_to_string(world.path("key")).unwrap().trim().len(), 64);
    for entry in std::fs::read_dir(world.imported().study()).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!["P1", "P2", "P3", "Ada", "98200"].iter().any(|id| text.contains(id)), "{text}");
    }
    assert!(first.study.instances[0].arms.iter().all(|arm| arm.len() == 20));
    world.write("other", "ab".repeat(32));
    let said = |key: &str| world.asked(MAPPING, &asked(key)).err().unwrap().to_string();
    assert!(
        said("other")
            .ends_with("other: found another key than the programme was made with, expected that one")
    );
    assert!(said("none").ends_with("none: found no key, expected the one that the programme was made with"));
    assert!(!world.path("none").exists());
    assert!(said("programme/key").contains("found the key in the folder of the programme"));
    assert!(world.refused(MAPPING).contains("found pseudonyms of an earlier import and no key"));
    let again = world.asked(MAPPING, &asked("key")).unwrap();
    assert_eq!(again.study.fingerprint(), first.study.fingerprint());
}

#[test]
fn an_import_that_fails_leaves_what_was_there() {
    let world = programme();
    world.grow(MAPPING).unwrap();
    let all = || {
        let mut found = Vec::new();
        let mut folders = vec![world.path("programme")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => found.push((path.clone(), std::fs::read(path).unwrap())),
                }
            }
        }
        found.sort();
        found
    };
    let before = all();
    world.write("messages.csv", NEXT).write("calls.csv", b"%PDF-1.7 no table");
    let said = world.refused(&open_ended());
    assert_eq!(
        said,
        "mapping.toml: line 21, column 8: calls.csv: found a PDF document, expected a table as text, .xlsx, .xls, .ods or Parquet, or \
         such text as .gz or in a .zip"
    );
    assert_eq!(all(), before);
    world.write("calls.csv", NEXT_CALLS).write("registry.csv", "");
    assert!(world.refused(&open_ended()).contains("registry.csv: found an empty file, expected a table"));
    assert_eq!(all(), before);
}

#[test]
fn one_person_of_two_ids_stays_who_she_was() {
    let world = programme();
    let same = "keep = [\"name\", \"phone\"]\nsame = { column = \"phone\", as = \"phone\" }";
    let mapping = MAPPING.replace("keep = [\"name\", \"phone\"]", same);
    let twice = "P9,Ada B.,09820010001,north\n";
    world.write("registry.csv", format!("{REGISTRY}{twice}"));
    let first = world.grow(&mapping).unwrap();
    assert_eq!(told(&first), TOLD);
    // the other id first, and alone
    let (header, people) = REGISTRY.split_once('\n').unwrap();
    for registry in [
        format!("{header}\n{twice}{people}"),
        format!("{header}\n{twice}{}", people.split_once('\n').unwrap().1),
    ] {
        world.write("registry.csv", registry);
        let again = world.grow(&mapping).unwrap();
        assert_eq!(told(&again), TOLD);
        assert_eq!(again.study.fingerprint(), first.study.fingerprint());
        assert_eq!(again.summary.absent, 0);
    }
    // two who were two so far turn out to have one number
    let world = programme();
    world.grow(&mapping).unwrap();
    world.write("registry.csv", REGISTRY.replace("098200-10003", "9820010001"));
    assert_eq!(told(&world.grow(&mapping).unwrap()), ["P1 101 10.", "P2 011 11."]);
}

#[test]
fn who_left_by_an_earlier_log_of_exits_stays_away() {
    let world = programme();
    let exits = "[exits]\nfile = \"exits.csv\"\nperson = \"who\"\ntime = \"day\"\n";
    world.write("exits.csv", "who,day\nP2,2026-03-20\n");
    world.grow(&format!("{MAPPING}{exits}")).unwrap();
    world
        .write("exits.csv", "who,day\nP3,2026-04-03\n")
        .write("messages.csv", NEXT)
        .write("calls.csv", NEXT_CALLS);
    let grown = world.grow(&format!("{}{exits}", open_ended())).unwrap();
    assert_eq!(told(&grown), ["P1 10011 0010.", "P2 01... 1....", "P3 0011. 100.."]);
}
