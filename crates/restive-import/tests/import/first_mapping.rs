//! What is guessed of a table that nobody knows, and what is not.

use crate::kit::*;

/// A registry of forty, with a column of each kind.
fn registry(date: impl Fn(usize) -> String) -> String {
    let schools = ["primary", "Primary", "prim.", "primry", "secondary", "primary", "secondary", "primary"];
    let row = |i: usize| {
        let income = ["12,5", "7,25", "-", "9,0"][i % 4];
        format!(
            "W{i:03};Name {i};0982001{i:04};{};{income};{};{};{}\n",
            schools[i % 8],
            ["no", "yes", "no", "no"][i % 4],
            date(i),
            ["NA", "3", "nil", "4"][i % 4],
        )
    };
    let rows: String = (1..=40).map(row).collect();
    format!("woman_id;full name;mobile;education;income;dnd;registered;children\n{rows}")
}

#[test]
fn a_table_is_guessed_and_what_could_be_either_is_not() {
    let world = World::new();
    world.write("people.csv", registry(|i| format!("{:02}/{:02}/2026", i % 12 + 1, i % 3 + 1)));
    let mapping = world.init(&["people.csv"]);
    for part in [
        "id = \"woman_id\"",
        "keep = [\"full name\", \"mobile\"]",
        "# DECIDE: should people with one number be one person?\n# same = { column = \"mobile\", as = \"phone\" }",
        "02/02/2026 is 2 February 2026 as \"%d/%m/%Y\" and 2 February 2026 as \"%m/%d/%Y\"; every cell can be read as either\n\
         # joined = { column = \"registered\", format = \"%d/%m/%Y\" }\n# joined = { column = \"registered\", format = \"%m/%d/%Y\" }",
        "income = { number = \"income\", decimal = \",\" }",
        "children = \"number\"",
        "education = { text = \"education\", case = \"lower\" }",
        "# education = { text = \"education\", case = \"lower\", synonyms = { primary = [\"primry\", \"prim.\"] } }",
        "(no)? An empty cell means no. There are \"no\" (30), \"yes\" (10)\n# do_not_call = { column = \"dnd\", yes = [\"yes\"], no = [\"no\"] }",
        "# DECIDE: do [\"-\"] stand for nothing",
        "# [actions]",
        "# [[events]]",
    ] {
        assert!(mapping.contains(part), "{part}\n\n{mapping}");
    }
    assert!(!mapping.contains("Name 1") && !mapping.contains("0982001"), "{mapping}");
    // where a day is beyond 12 there is nothing to decide
    world.write("people.csv", registry(|i| format!("{:02}/{:02}/2026", i % 28 + 1, i % 3 + 1)));
    let mapping = world.init(&["people.csv"]);
    assert!(mapping.contains("\njoined = { column = \"registered\", format = \"%d/%m/%Y\" }"), "{mapping}");
}

#[test]
fn a_file_without_a_header_gives_none_of_its_cells_away() {
    let world = World::new();
    world.write("people.csv", "W1,Ada,9820010001\nW2,Bina,9820010002\nW3,Chitra,9820010003\n");
    let mapping = world.init(&["people.csv"]);
    assert!(mapping.contains("header = [\"column 1\", \"column 2\", \"column 3\"]"), "{mapping}");
    assert!(!mapping.contains("Ada") && !mapping.contains("98200"), "{mapping}");
}

#[test]
fn what_is_not_decided_is_what_an_import_asks_for() {
    let world = programme();
    let mapping = world.init(&["registry.csv", "messages.csv", "calls.csv"]);
    let said = world.refused(&mapping);
    assert!(said.contains("found no at_least in [state], expected at_least = [30]"), "{said}");
    let mapping = mapping.replace("# at_least", "at_least");
    let said = world.refused(&mapping);
    assert!(said.contains("found no silence in [state], expected what a period"), "{said}");
    let imported = world.import(&decided(&mapping, &[SILENCE, OUTCOME]));
    assert_eq!(told(&imported), TOLD);
    let said = restive_import::init(&[], &restive_import::Input::Files { base: &world.path("") });
    assert_eq!(
        said.unwrap_err().to_string(),
        "found no file, expected the exports that a mapping is to be written for"
    );
}

#[test]
fn logs_in_several_files_become_one() {
    let world = programme();
    let row = |who: &str, day: &str| {
        format!(
            "CallSid,To,Direction,StartTime,ConversationDuration\n{who},982001000{who},outbound-api,2026-03-{day} 10:00:00,45\n"
        )
    };
    world.write("cdr-1.csv", row("1", "03")).write("cdr-2.csv", row("2", "10"));
    let mapping = world.init(&["registry.csv", "cdr-1.csv", "cdr-2.csv", "calls.csv"]);
    assert_eq!(mapping.matches("[[events]]").count(), 1, "{mapping}");
    assert!(mapping.contains("file = \"cdr-*.csv\""), "{mapping}");
}
