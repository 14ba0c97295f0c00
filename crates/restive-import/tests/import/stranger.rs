//! What somebody found who used it for the first time.

use crate::kit::{CALLS, MAPPING, MESSAGES, REGISTRY, placed, programme, reasons, told};

#[test]
fn whoever_has_no_record_is_never_enrolled() {
    let world = programme();
    world.write("registry.csv", format!("{REGISTRY}P4,Devi,,north\n"));
    let mapping = MAPPING.replace("\"lowest\"", "\"not enrolled\"");
    // P2 has no record in the first week, P4 none at all
    let expected = ["P1 100 00.", "P2 .11 .1.", "P3 001 10.", "P4 ... ..."];
    assert_eq!(told(&world.import(&mapping)), expected);
}

#[test]
fn what_is_quarantined_decides_nothing() {
    let world = programme();
    let since = REGISTRY.replace("district\n", "district,since\n").replace("north\n", "north,2026-01-01\n");
    world.write("registry.csv", since.replace("south\n", "south,2026-03-12\n"));
    world.write("messages.csv", format!("{MESSAGES}P1,1996-01-07,40\n"));
    let mapping = MAPPING.replace("id = \"id\"", "id = \"id\"\njoined = \"since\"");
    let open = mapping.replace("from = 2026-03-02\nuntil = 2026-03-23\n", "");
    let imported = world.import(&open);
    assert!(imported.summary.periods.len() <= 3, "{:?}", imported.summary.periods);
    // the message of 10 March came before P2 joined, and is not her first
    let imported = world.import(&mapping.replace("\"lowest\"", "\"not enrolled\""));
    assert_eq!(told(&imported)[1], "P2 ..1 ...");
}

#[test]
fn a_value_that_cannot_be_read_leaves_the_state_unknown() {
    let world = programme();
    world.write("messages.csv", MESSAGES.replace("P2,2026-03-10,31", "P2,2026-03-10,much"));
    let imported = world.import(MAPPING);
    assert_eq!(told(&imported)[1], "P2 0.1 11.");
    assert_eq!(placed(&imported, "messages"), [5, 0, 0, 0, 0, 1]);
    assert_eq!(reasons(&imported), ["messages 1 row: no number in seconds"]);
}

#[test]
fn whoever_says_no_once_is_not_called() {
    let world = programme();
    let dnd = REGISTRY.replace("district\n", "district,dnd\n").replace("th\n", "th,\n");
    let with = |rows: &str| world.write("registry.csv", format!("{dnd}{rows}"));
    let mapping = MAPPING.replace(
        "id = \"id\"",
        "id = \"id\"\ndo_not_call = { column = \"dnd\", yes = \"yes\" }\nsame = { column = \"phone\", as = \"phone\" }",
    );
    // another id of P2, and P1 again
    with("P7,Bina,+91 98200 10002,south,yes\nP1,Ada,,north,yes\n");
    assert_eq!(world.import(&mapping).summary.do_not_call, 2);
    with("");
    let imported = world.import(&mapping);
    assert_eq!(imported.summary.do_not_call, 0);
    assert!(imported.summary.notes.iter().any(|note| note.starts_with("do_not_call: no cell of column dnd")));
}

#[test]
fn a_week_without_calls_is_no_fault() {
    let world = programme();
    world.write("calls.csv", CALLS.lines().next().unwrap());
    let imported = world.import(
        &MAPPING.replace("[people]", "[study]\nbudget = 1\nsilenced = { drift = \"none\" }\n[people]"),
    );
    assert_eq!(told(&imported), ["P1 100 00.", "P2 011 00.", "P3 001 00."]);
    assert_eq!(placed(&imported, "actions"), [0; 6]);
}

#[test]
fn a_first_line_that_is_a_row_is_not_repeated() {
    let world = programme();
    world.write("registry.csv", REGISTRY.split_once('\n').unwrap().1);
    let said = world.refused(MAPPING);
    assert!(
        said.contains("the first line looks like a row") && !said.contains("Ada") && !said.contains("98200"),
        "{said}"
    );
}

#[test]
fn where_nothing_is_left_the_accounts_say_why() {
    let world = programme();
    let said = world.refused(&MAPPING.replace("value = ", "where = { person = \"zzz\" }\nvalue = "));
    assert!(said.contains("6 rows of messages: 0 quarantined, 6 set aside"), "{said}");
}
