//! Availability, clusters and pulls per person in a mapping: a small programme, worked out by hand.

use super::kit::{CALLS, MAPPING, MESSAGES, TOLD, World, placed, programme, reasons, told};
use restive::instance::Assignment;
use restive_import::{ImportAsked, Imported};
use restive_tables::Study;

const ABSENT: &str = "[availability]\nfile = \"absences.csv\"\nperson = \"person\"\ntime = \"from\"\nuntil = \"back_on\"\nis = \"unavailable\"\n";
const HOUSEHOLDS: &str =
    "id,name,phone,district,household\nP1,Ada,1,north,h 1\nP2,Bina,2,south,\nP3,Chitra,3,north,h 1\n";

/// Everybody's availability, a character for each row of the study.
fn available(imported: &Imported) -> Vec<String> {
    let log = &imported.study.instances[0].trajectories;
    let all = log.available().expect("a column available");
    let one = |i| (0..log.steps()).map(|t| if all[[0, t, i]] { '1' } else { '0' }).collect();
    (0..log.arms()).map(one).collect()
}

fn with_absences(rows: &str) -> World {
    let world = programme();
    world.write("absences.csv", format!("person,from,back_on\n{rows}"));
    world
}

/// The mapping with a column of clusters.
fn clustered(column: &str) -> String {
    MAPPING.replace("id = \"id\"\n", &format!("id = \"id\"\ncluster = \"{column}\"\n"))
}

#[test]
fn rows_have_the_availability_of_their_decision() {
    // weeks from 2, 9 and 16 March: the decisions of rows 0 to 2 are for 9, 16 and 23 March
    let rows = "P1,2026-03-10,2026-03-17\nP3,2026-03-16,\nP2,2026-04-20,2026-04-21\nP3,2026-03-16,\n";
    let world = with_absences(rows);
    let mapping = MAPPING.to_string() + ABSENT;
    let imported = world.grow(&mapping).unwrap();
    assert_eq!(available(&imported), ["001", "111", "100"]);
    assert_eq!(told(&imported), TOLD);
    assert_eq!(placed(&imported, "availability"), [2, 1, 0, 0, 1, 0]);
    // the study that was written has the column
    let read = Study::read(&world.imported().study()).unwrap();
    assert_eq!(read.fingerprint(), imported.study.fingerprint());
    // without the section there is none, and no account of it
    let plain = world.import(MAPPING);
    assert!(plain.study.instances[0].trajectories.available().is_none());
    assert!(plain.summary.accounts.iter().all(|account| account.source != "availability"));
    assert_ne!(plain.study.fingerprint(), imported.study.fingerprint());
}

#[test]
fn records_may_say_when_people_could_be_called() {
    let world = programme();
    world.write("times.csv", "person,day\nP2,2026-03-10\nP3,2026-03-12\nP9,2026-03-12\n");
    let section =
        "[availability]\nfile = \"times.csv\"\nperson = \"person\"\ntime = \"day\"\nis = \"available\"\n";
    let imported = world.import(&(MAPPING.to_string() + section));
    assert_eq!(available(&imported), ["000", "100", "100"]);
    assert_eq!(placed(&imported, "availability"), [2, 0, 0, 0, 0, 1]);
    // the call of P2 in the week of 16 March contradicts that
    assert_eq!(told(&imported), ["P1 100 00.", "P2 011 1..", "P3 001 10."]);
}

#[test]
fn calls_without_availability_are_quarantined_and_not_known() {
    let world = with_absences("P2,2026-03-16,2026-03-18\n");
    let mapping = MAPPING.to_string() + ABSENT;
    let plain = world.import(MAPPING);
    let imported = world.import(&mapping);
    assert_eq!(available(&imported), ["111", "101", "111"]);
    assert_eq!(told(&imported), ["P1 100 00.", "P2 011 1..", "P3 001 10."]);
    let [before, now] = [&plain, &imported].map(|imported| placed(imported, "actions"));
    assert_eq!((before[0], before[5]), (now[0] + 1, now[5] - 1));
    let reason = "actions 1 row: a call in a week in which the person could not be called";
    assert!(reasons(&imported).contains(&reason.to_string()), "{:?}", reasons(&imported));
    let note = "1 call in weeks in which the person could not be called, as [availability] says";
    assert!(imported.summary.notes.iter().any(|found| found.starts_with(note)));
    let listed: Vec<_> = imported.quarantined.iter().map(|row| (row.file.as_str(), row.line)).collect();
    assert!(listed.contains(&("calls.csv", 4)), "{listed:?}");
}

#[test]
fn records_of_availability_that_cannot_be_are_quarantined() {
    let rows = "P1,2026-03-10,2026-03-01\nP1,2026-03-10,soon\nP1,2026-03-17,2026-03-17\nP7,2026-03-17,\n";
    let imported = with_absences(rows).import(&(MAPPING.to_string() + ABSENT));
    assert_eq!(available(&imported), ["101", "111", "111"]);
    assert_eq!(placed(&imported, "availability"), [1, 0, 0, 0, 0, 3]);
    for reason in ["an end in back_on before its beginning", "no possible date in back_on"] {
        let reason = format!("availability 1 row: {reason}");
        assert!(reasons(&imported).contains(&reason), "{:?}", reasons(&imported));
    }
}

#[test]
fn earlier_records_of_availability_stay() {
    let world = with_absences("P1,2026-03-10,2026-03-17\n");
    let mapping = MAPPING.to_string() + ABSENT;
    world.grow(&mapping).unwrap();
    world.write("absences.csv", "person,from,back_on\nP2,2026-03-24,\n");
    let imported = world.grow(&mapping).unwrap();
    assert_eq!(available(&imported), ["001", "110", "111"]);
    assert!(imported.summary.earlier.unwrap().kept >= 1);
    // another column of ends is another rule
    let other = mapping.replace("back_on", "end");
    world.write("absences.csv", "person,from,end\nP2,2026-03-24,\n");
    assert!(world.refused(&other).contains("it differs in availability"));
}

#[test]
fn clusters_are_a_column_of_the_registry() {
    let world = programme();
    world.write("registry.csv", HOUSEHOLDS);
    let mapping = clustered("household") + "[study]\nassignment = \"per-person\"\n";
    let imported = world.grow(&mapping).unwrap();
    let instance = &imported.study.instances[0];
    assert_eq!(instance.clusters.as_deref().unwrap(), ["h 1", "alone P2", "h 1"]);
    assert_eq!(instance.features.names(), ["district"]);
    assert_eq!(imported.study.settings.cluster.as_deref(), Some("household"));
    assert_eq!(imported.study.settings.assignment, Assignment::PerPerson);
    let reason = "people 1 cell: no cluster in household: a cluster of its own";
    assert!(reasons(&imported).contains(&reason.to_string()), "{:?}", reasons(&imported));
    let read = Study::read(&world.imported().study()).unwrap();
    assert_eq!(read.fingerprint(), imported.study.fingerprint());
    // a person who is not in the registry any more keeps the household
    world.write("registry.csv", HOUSEHOLDS.replace("P3,Chitra,3,north,h 1\n", ""));
    let later = world.grow(&mapping).unwrap();
    assert_eq!(later.summary.absent, 1);
    assert_eq!(later.study.instances[0].clusters.as_deref().unwrap(), ["h 1", "alone P2", "h 1"]);
}

#[test]
fn names_of_clusters_are_pseudonyms_where_ids_are() {
    let world = programme();
    world.write("registry.csv", HOUSEHOLDS.replace("south,", "south,P1"));
    let asked = ImportAsked { pseudonymise: Some(world.path("key")), ..ImportAsked::default() };
    let imported = world.asked(&clustered("household"), &asked).unwrap();
    let instance = &imported.study.instances[0];
    let mut clusters = instance.clusters.clone().unwrap();
    clusters.sort();
    clusters.dedup();
    assert_eq!(clusters.len(), 2);
    // a household called like a person has another pseudonym
    assert!(clusters.iter().all(|name| name.len() == 20 && !instance.arms.contains(name)), "{clusters:?}");
}

#[test]
fn declarations_that_cannot_be_are_refused_at_their_place() {
    let world = with_absences("P1,2026-03-10,\n");
    world.write("registry.csv", HOUSEHOLDS).write("messages.csv", MESSAGES).write("calls.csv", CALLS);
    let absent = |from: &str, to: &str| MAPPING.to_string() + &ABSENT.replace(from, to);
    let numbers = HOUSEHOLDS.replace("h 1", "98200 10001");
    for (mapping, expected) in [
        (
            absent("is = \"unavailable\"\n", ""),
            "found no is in [availability], expected \"available\" or \"unavailable\"",
        ),
        (absent("\"unavailable\"", "\"away\""), "is: found \"away\", expected \"available\" or"),
        (
            absent("is =", "through = { file = \"calls.csv\", on = \"person\" }\nis ="),
            "found \"through\" in [availability], expected one of file",
        ),
        (absent("\"back_on\"", "\"back\""), "found no column \"back\" in absences.csv"),
        (clustered("house"), "found no column \"house\" in registry.csv"),
        (
            clustered("district"),
            "cluster: found column \"district\" as the cluster and as the feature district",
        ),
        (clustered("arm"), "cluster: found \"arm\", expected the name of a column"),
        (
            MAPPING.to_string()
                + ABSENT
                + "[[events]]\nname = \"availability\"\nfile = \"messages.csv\"\nperson = \"person\"\ntime = \"date\"\n",
            "name: found \"availability\" again",
        ),
    ] {
        let said = world.refused(&mapping);
        assert!(said.starts_with("mapping.toml: line ") && said.contains(expected), "{said}");
    }
    // both lines are those of the mapping
    let mapping = MAPPING.to_string() + "[study]\nbehaviour = \"none\"\nassignment = \"per-person\"\n";
    let last = mapping.lines().count();
    let said = world.refused(&mapping);
    assert!(said.starts_with(&format!("mapping.toml: line {last}, column 14: assignment: ")), "{said}");
    assert!(said.contains(&format!("behaviour = \"none\" (line {})", last - 1)), "{said}");
    world.write("registry.csv", numbers);
    let said = world.refused(&clustered("household"));
    assert!(said.contains("cluster: found 2 of 2 cells that look like telephone numbers"), "{said}");
}

#[test]
fn absence_whose_end_is_filled_in_later_ends_there() {
    let world = with_absences("P3,2026-03-16,\n");
    let mapping = MAPPING.to_string() + ABSENT;
    assert_eq!(available(&world.grow(&mapping).unwrap()), ["111", "111", "100"]);
    world.write("absences.csv", "person,from,back_on\nP3,2026-03-16,2026-03-20\n");
    assert_eq!(available(&world.grow(&mapping).unwrap()), ["111", "111", "101"]);
}
