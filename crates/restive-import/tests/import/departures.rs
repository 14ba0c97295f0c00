//! Records about leaving and do-not-call that cannot be read: their people must not be called, and a note counts them.

use crate::kit::*;
use restive_import::Imported;

/// Number of people who must not be called, and the notes on those among them whom a quarantined row excludes.
fn excluded(imported: &Imported) -> (usize, Vec<&str>) {
    let notes = imported.summary.notes.iter().map(String::as_str);
    (imported.summary.do_not_call, notes.filter(|note| note.contains("must not be called")).collect())
}

fn note(table: &str) -> String {
    format!(
        "{table}: 1 person must not be called, because a quarantined row leaves open whether the person has left or objects to calls; correct the \
         rows that quarantine.csv lists and import again"
    )
}

/// A registry of P1, P3 and these rows, with columns for dates of joining and leaving and for do-not-call.
fn registry(rows: &str) -> String {
    format!(
        "id,name,phone,district,since,dnd,exit\nP1,Ada,+91 98200 10001,north,2026-01-01,no,2027-01-01\n\
         P3,Chitra,098200-10003,north,2026-01-01,no,\n{rows}"
    )
}

fn mapping() -> String {
    let keys = "id = \"id\"\njoined = \"since\"\nleft = \"exit\"\ndo_not_call = { column = \"dnd\", yes = \"yes\", no = \"no\" }\n\
                same = { column = \"phone\", as = \"phone\" }";
    MAPPING.replace("id = \"id\"", keys)
}

#[test]
fn quarantined_row_of_the_registry_excludes_a_person_of_an_earlier_import() {
    for (row, reason) in [
        ("P2,Bina,98200 10002,south,2026-01-01,no,2026-02-31\n", "no possible date in exit"),
        ("P2,Bina,98200 10002,south,2026-01-01,no,2025-01-01\n", "left before joining"),
        ("P2,Bina,98200 10002,south,2026-02-31,yes,\n", "no possible date in since"),
        ("P2,Bina,98200 10002,south,2026-01-01,no,#REF!\n", "the error #REF! in exit"),
        // another id of the person, who is known by the telephone number
        ("P7,Bina,98200 10002,south,2026-01-01,#REF!,\n", "the error #REF! in dnd"),
        ("P7,Bina,98200 10002,south,2026-01-01,no,2026-02-31\n", "no possible date in exit"),
    ] {
        let world = programme();
        world.write("registry.csv", registry("P2,Bina,98200 10002,south,2026-01-01,no,\n"));
        assert_eq!(excluded(&world.grow(&mapping()).unwrap()), (0, Vec::new()));
        world.write("registry.csv", registry(row));
        let again = world.grow(&mapping()).unwrap();
        assert_eq!((again.summary.people, again.summary.absent), (3, 1), "{row}");
        assert_eq!(reasons(&again), [format!("people 1 row: {reason}")]);
        assert_eq!(excluded(&again), (1, vec![note("people").as_str()]), "{row}");
    }
}

#[test]
fn quarantined_row_with_a_clear_no_does_not_exclude_its_person() {
    let world = programme();
    world.write("registry.csv", registry("P2,Bina,98200 10002,south,2026-01-01,no,\n"));
    world.grow(&mapping()).unwrap();
    world.write("registry.csv", registry("P2,Bina,98200 10002,south,2026-02-31,no,\n"));
    let again = world.grow(&mapping()).unwrap();
    assert_eq!(reasons(&again), ["people 1 row: no possible date in since"]);
    assert_eq!(excluded(&again), (0, Vec::new()));
}

#[test]
fn second_row_of_a_person_with_an_unreadable_day_of_leaving_excludes_the_person() {
    let world = programme();
    let rows =
        "P2,Bina,98200 10002,south,2026-01-01,no,\nP2,Bina B.,98200 10002,south,2026-01-01,no,2026-02-31\n";
    world.write("registry.csv", registry(rows));
    let imported = world.import(&mapping());
    assert_eq!(reasons(&imported), ["people 1 row: the id of another line again, with other cells"]);
    assert_eq!(excluded(&imported), (1, vec![note("people").as_str()]));
    // a day that can be read does not: the first row counts
    world.write("registry.csv", registry(&rows.replace("2026-02-31", "2027-02-28")));
    assert_eq!(excluded(&world.import(&mapping())), (0, Vec::new()));
}

#[test]
fn quarantined_row_of_a_table_of_exits_excludes_its_person() {
    for (day, reason) in [
        ("#REF!", "the error #REF! in day"),
        ("NA", "no date in day"),
        ("", "no date in day"),
        ("2026-02-31", "no possible date in day"),
    ] {
        let world = programme();
        world.write("exits.csv", format!("who,day\nP1,2026-03-20\nP2,{day}\nP9,{day}\n"));
        let exits = "[exits]\nfile = \"exits.csv\"\nperson = \"who\"\ntime = \"day\"\n";
        let imported = world.import(&format!("{MAPPING}{exits}"));
        assert_eq!(imported.summary.left, 1, "{day}");
        assert!(reasons(&imported).iter().any(|said| said.ends_with(reason)), "{:?}", reasons(&imported));
        assert_eq!(excluded(&imported), (1, vec![note("exits").as_str()]), "{day}");
    }
}

#[test]
fn exits_of_one_key_that_contradict_each_other_exclude_their_person() {
    let world = programme();
    world.write("exits.csv", "who,day,case\nP1,2026-03-20,1\nP2,2026-03-20,2\nP2,2026-04-20,2\n");
    let exits = "[exits]\nfile = \"exits.csv\"\nperson = \"who\"\ntime = \"day\"\nkey = \"case\"\n";
    let imported = world.import(&format!("{MAPPING}{exits}"));
    assert_eq!(reasons(&imported), ["exits 2 row: a record of the same key with other cells"]);
    assert_eq!(imported.summary.left, 1);
    assert_eq!(excluded(&imported), (1, vec![note("exits").as_str()]));
}

#[test]
fn quarantined_row_of_a_table_of_do_not_call_excludes_its_person() {
    let world = programme();
    world.write("never.csv", "who,kind\nP1,stop\nP2,#REF!\nP3,other\n");
    let never = "[do_not_call]\nfile = \"never.csv\"\nperson = \"who\"\nwhere = { kind = \"stop\" }\n";
    let imported = world.import(&format!("{MAPPING}{never}"));
    assert_eq!(reasons(&imported), ["do_not_call 1 row: the error #REF! in kind"]);
    assert_eq!(excluded(&imported), (2, vec![note("do_not_call").as_str()]));
}
