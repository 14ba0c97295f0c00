//! What exports of every system have: marks, signs, spaces, spellings, people twice, late, gone.

use crate::kit::*;
use restive_tables::Cells;

#[test]
fn marks_delimiters_and_spaces_are_seen_through() {
    for (delimiter, mark) in [(';', "\u{feff}"), ('\t', ""), ('\t', "\u{feff}"), (',', "\u{feff}")] {
        let world = programme();
        let swap =
            |text: &str| format!("{mark}{}", text.replace(',', &delimiter.to_string()).replace('\n', "\r\n"));
        world.write("registry.csv", swap(REGISTRY)).write("calls.csv", swap(CALLS));
        world.write("messages.csv", swap(&MESSAGES.replace("P1", "\u{a0}P1  ").replace("45", "45\u{a0}")));
        assert_eq!(told(&world.import(MAPPING)), TOLD, "{delimiter:?}");
    }
}

#[test]
fn numbers_missing_words_and_spellings_are_what_they_say() {
    let world = programme();
    world.write(
        "registry.csv",
        "id,name,phone,income,rupees,school\n\
         P1,Ada,9820010001,\"1250,5\",\"₹ 12,500\",Primary\n\
         P2,Bina,NA,N/A,nil, prim. \n\
         P3,Chitra,---,\"0,75\",-,primary\u{a0}school\n",
    );
    let features = r#"income = { number = "income", decimal = "," }
rupees = { number = "rupees" }
school = { text = "school", case = "lower", synonyms = { primary = ["prim.", "primary school"] } }"#;
    let imported = world.import(&MAPPING.replace("district = \"text\"", features));
    let shown = format!("{:?}", imported.study.instances[0].features.columns());
    assert!(shown.contains("Number([1250.5, NaN, 0.75])"), "{shown}");
    assert!(shown.contains("Number([12500.0, NaN, NaN])"), "{shown}");
    assert!(shown.contains("Text([Some(\"primary\"), Some(\"primary\"), Some(\"primary\")])"), "{shown}");
    // a dash is nobody's number: the cell is left out and listed
    assert_eq!(reasons(&imported), ["people 1 cell: no number in rupees: left empty"]);
    let phone = imported.people.iter().find(|(name, _)| name == "phone").unwrap();
    assert!(matches!(&phone.1, Cells::Text(cells) if cells == &["9820010001", "", ""]));
    // unless the mapping says that it stands for nothing
    let mapping = format!(
        "missing = [\"-\", \"NA\", \"N/A\", \"nil\"]\n{}",
        MAPPING.replace("district = \"text\"", features)
    );
    assert!(reasons(&world.import(&mapping)).is_empty());
}

#[test]
fn a_date_that_reads_only_the_other_way_round_is_quarantined_with_a_note() {
    let world = programme();
    let mut messages = String::from("person,date,seconds\n");
    (3..29).for_each(|day| messages += &format!("P1,{day:02}/03/2026,45\n"));
    messages += "P2,03/25/2026,45\nP2,10/03/2026,31\n";
    world.write("messages.csv", messages);
    let imported = world
        .import(&MAPPING.replace("time = \"date\"", "time = { column = \"date\", format = \"%d/%m/%Y\" }"));
    assert_eq!(reasons(&imported), ["messages 1 row: no possible date in date"]);
    assert_eq!(
        imported.summary.notes,
        [
            "messages.csv, column \"date\": 1 date read only with day and month in each other's place and are quarantined; others may have been swapped unseen"
        ]
    );
}

#[test]
fn women_registered_twice_are_one_only_by_rule() {
    let world = programme();
    world.write("registry.csv", format!("{REGISTRY}P9,Ada B.,09820010001,south\n"));
    world.write(
        "messages.csv",
        "number,date,seconds\n+919820010001,2026-03-03,45\n9820010002,2026-03-10,45\n",
    );
    let by_phone = MAPPING.replacen(
        "person = \"person\"",
        "person = { column = \"number\", is = \"phone\", as = \"phone\" }",
        1,
    );
    let imported = world.import(&by_phone);
    assert_eq!(told(&imported), ["P1 000 00.", "P2 010 11.", "P3 000 10.", "P9 000 00."]);
    assert_eq!(reasons(&imported), ["messages 1 row: more than one person by number"]);
    assert!(
        imported.summary.notes[0].starts_with("1 cell of column phone each name more than one person"),
        "{:?}",
        imported.summary.notes
    );

    world.write("calls.csv", format!("{CALLS}P9,2026-03-19,reached\n"));
    let same = "keep = [\"name\", \"phone\"]\nsame = { column = \"phone\", as = \"phone\" }";
    let imported = world.import(&by_phone.replace("keep = [\"name\", \"phone\"]", same));
    // the call to P9 was one to P1
    assert_eq!(told(&imported), ["P1 100 01.", "P2 010 11.", "P3 000 10."]);
    assert_eq!(placed(&imported, "people"), [3, 0, 1, 0, 0, 0]);
    assert_eq!(reasons(&imported), ["people 1 merged: one person with that of another line, by phone"]);
    assert_eq!((imported.quarantined[0].line, imported.quarantined[0].what), (5, "merged"));
}

#[test]
fn people_join_late_and_leave() {
    let world = programme();
    world.write(
        "registry.csv",
        "id,name,phone,district,since,gone\nP1,Ada,,north,2026-03-09,\nP2,Bina,,south,2026-01-01,2026-03-20\nP3,Chitra,,north,2026-03-04,2026-03-01\nP4,Devi,,north,2026-03-04,\n",
    );
    let times = "id = \"id\"\njoined = \"since\"\nleft = \"gone\"";
    // whoever joins on a Monday was not there when that Monday's decision was made
    let monday = world.import(&MAPPING.replace("id = \"id\"", times));
    assert_eq!(told(&monday), ["P1 ..0 ...", "P2 01. 1..", "P4 .00 .0."]);
    let registry = std::fs::read_to_string(world.path("registry.csv")).unwrap();
    world.write("registry.csv", registry.replace("2026-03-09", "2026-03-08"));
    let imported = world.import(&MAPPING.replace("id = \"id\"", times));
    // P3 left before joining; the message of 3 March reached P1 before she was there; P4 is there from her first whole week
    assert_eq!(told(&imported), ["P1 .00 .0.", "P2 01. 1..", "P4 .00 .0."]);
    assert_eq!(
        reasons(&imported),
        [
            "people 1 row: left before joining",
            "messages 2 row: a person whose row in the registry is quarantined",
            "messages 1 row: a record before the person joined",
            "actions 2 row: a person whose row in the registry is quarantined",
        ]
    );
    assert_eq!(placed(&imported, "messages"), [2, 0, 0, 0, 1, 3]);
    // from a file of their own
    world
        .write("registry.csv", REGISTRY)
        .write("exits.csv", "who,day\nP2,2026-03-20\n")
        .write("never.csv", "who\nP3\n");
    let files = "[exits]\nfile = \"exits.csv\"\nperson = \"who\"\ntime = \"day\"\n[do_not_call]\nfile = \"never.csv\"\nperson = \"who\"\n";
    let imported = world.import(&format!("{MAPPING}{files}"));
    assert_eq!(told(&imported), ["P1 100 00.", "P2 01. 1..", "P3 001 10."]);
    assert_eq!((imported.summary.left, imported.summary.do_not_call), (1, 1));
}

#[test]
fn calls_count_by_their_outcome() {
    let world = programme();
    world.write(
        "calls.csv",
        "person,when,outcome\nP1,2026-03-11,Reached \nP2,2026-03-11,wrong number\nP3,2026-03-11,cancelled\nP1,2026-03-18,asleep\nP2,2026-03-18,NO ANSWER\nP2,2026-03-18,cancelled\nP8,2026-03-18,reached\n",
    );
    let imported =
        world.import(&MAPPING.replace("\"cancelled\" }", "\"cancelled\", unknown = \"wrong number\" }"));
    assert_eq!(told(&imported), ["P1 100 1..", "P2 011 .1.", "P3 001 00."]);
    assert_eq!(
        reasons(&imported),
        [
            "actions 1 row: an outcome that the mapping does not name",
            "actions 1 row: unknown person in person"
        ]
    );
    assert_eq!(
        imported.summary.notes[0],
        "actions: 1 row with an outcome that the mapping does not name: 1 not shown here (the first in line 5); whether these were calls is not known: add each word to a \
         list of outcome"
    );
}
