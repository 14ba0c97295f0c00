//! Words that say who must not be called and who has left: every one is listed by the mapping, or the import stops.

use crate::kit::*;

/// A registry of seventy; `word` says what stands in the column.
fn seventy(column: &str, word: impl Fn(usize) -> &'static str) -> String {
    let rows: String = (1..=70).map(|i| format!("P{i},Name{i},9820010{i:03},north,{}\n", word(i))).collect();
    format!("id,name,phone,district,{column}\n{rows}")
}

fn never(answers: &str) -> String {
    MAPPING.replace("id = \"id\"", &format!("id = \"id\"\ndo_not_call = {{ column = \"dnd\", {answers} }}"))
}

fn left(answers: &str) -> String {
    MAPPING.replace("id = \"id\"", &format!("id = \"id\"\nleft = {{ column = \"exit\", {answers} }}"))
}

#[test]
fn word_of_do_not_call_that_is_not_listed_stops_the_import() {
    let world = programme();
    world.write("registry.csv", seventy("dnd", |i| if i % 2 == 0 { "Y" } else { "do not call" }));
    assert_eq!(
        world.refused(&never("yes = \"Y\"")),
        "mapping.toml: line 9, column 26: do_not_call: found 35 cells that the mapping does not list in column \"dnd\" of \
         registry.csv: \"do not call\" (35), expected each word in yes (must not be called) or in no, such as do_not_call = { column = \"dnd\", yes = \
         [\"Y\", \"do not call\"], no = [] }"
    );
    assert!(!world.path("programme").exists());
    // the line that was shown
    let listed = never("yes = [\"Y\", \"do not call\"], no = []");
    assert_eq!(world.import(&listed).summary.do_not_call, 70);
    let other = never("yes = [\"Y\"], no = [\"DO NOT  CALL\"]");
    assert_eq!(world.import(&other).summary.do_not_call, 35);
}

#[test]
fn empty_cell_may_be_called_and_a_word_for_missing_must_be_listed() {
    let world = programme();
    let word = |i: usize| ["", "no", "yes", "NA", "0"][i % 5];
    world.write("registry.csv", seventy("dnd", word));
    let said = world.refused(&never("yes = \"yes\""));
    assert!(said.contains("found 42 cells"), "{said}");
    assert!(said.contains("\"0\" (14), \"NA\" (14), \"no\" (14)"), "{said}");
    assert!(said.ends_with("yes = [\"yes\"], no = [\"0\", \"NA\", \"no\"] }"), "{said}");
    let imported = world.import(&never("yes = \"yes\", no = [\"0\", \"na\", \"no\"]"));
    assert_eq!(imported.summary.do_not_call, 14);
    // "missing" says nothing here
    let said = world.refused(&format!("missing = [\"NA\", \"no\", \"0\"]\n{}", never("yes = \"yes\"")));
    assert!(said.contains("found 42 cells"), "{said}");
}

#[test]
fn names_of_a_wrong_column_are_not_shown() {
    let world = programme();
    world.write("registry.csv", seventy("dnd", |_| "no"));
    for column in ["name", "phone"] {
        let said = world
            .refused(&never("yes = \"yes\"").replace("column = \"dnd\"", &format!("column = \"{column}\"")));
        assert!(
            said.contains(&format!("found 70 cells that the mapping does not list in column \"{column}\" of registry.csv: 70 not shown here (the first in line 2)")),
            "{said}"
        );
        assert!(!said.contains("Name") && !said.contains("98200"), "{said}");
    }
}

#[test]
fn word_in_both_lists_or_without_a_list_is_refused() {
    let world = programme();
    let said = world.refused(&never("yes = \"Y\", no = [\"n\", \"y\"]"));
    assert!(said.ends_with("no: found \"y\" in both lists, expected each word in one"), "{said}");
    let said = world.refused(&never("no = [\"n\"]"));
    assert!(said.ends_with("found no yes in [people.do_not_call], expected the words that say that a person must not be called"), "{said}");
}

#[test]
fn word_of_left_that_is_not_listed_stops_the_import() {
    let world = programme();
    let word = |i: usize| ["", "2026-03-20", "moved", "-"][i % 4];
    world.write("registry.csv", seventy("exit", word));
    let said = world.refused(&left("format = \"%Y-%m-%d\""));
    assert!(
        said.contains("left: found 35 cells that the mapping does not list in column \"exit\""),
        "{said}"
    );
    assert!(
        said.contains("\"moved\" (18), \"-\" (17), expected each word in yes (has left) or in no"),
        "{said}"
    );
    assert!(
        said.ends_with(
            "left = { column = \"exit\", format = \"%Y-%m-%d\", yes = [\"moved\"], no = [\"-\"] }"
        ),
        "{said}"
    );
    let imported = world.import(&left("yes = \"moved\", no = \"-\""));
    // 18 on 20 March, 18 on an unknown day
    assert_eq!(imported.summary.left, 36);
    assert_eq!(reasons(&imported), Vec::<String>::new());
}

#[test]
fn person_who_left_on_an_unknown_day_counts_until_the_last_record() {
    let world = programme();
    let exits = "id,name,phone,district,exit\nP1,Ada,1,north,moved\nP2,Bina,2,south,\nP3,Chitra,3,north,MOVED \nP4,Devi,4,north,moved\n";
    world.write("registry.csv", exits);
    // P1 has her last record on 10 March, in the second week: that week is not whole; P3 on the last day of the last one
    let imported = world.import(&left("yes = \"moved\""));
    assert_eq!(told(&imported), ["P1 1.. ...", "P2 011 11.", "P3 001 10.", "P4 ... ..."]);
}

#[test]
fn words_may_be_added_between_imports() {
    let world = programme();
    world.write("registry.csv", seventy("dnd", |i| if i % 2 == 0 { "Y" } else { "" }));
    world.grow(&never("yes = \"Y\"")).unwrap();
    world.write("registry.csv", seventy("dnd", |i| if i % 2 == 0 { "Y" } else { "stop" }));
    let again = world.grow(&never("yes = [\"Y\", \"stop\"]")).unwrap();
    assert_eq!(again.summary.do_not_call, 70);
    // another column is another rule
    let said = world.refused(&never("yes = [\"Y\", \"stop\", \"north\"]").replace("\"dnd\"", "\"district\""));
    assert!(
        said.contains("found another mapping than that of the earlier imports (it differs in people)"),
        "{said}"
    );
}

#[test]
fn first_mapping_proposes_the_words_that_occur() {
    let world = programme();
    let word = |i: usize| ["Y", "do not call", "none", "", "#REF!"][i % 5];
    let registry = seventy("dnd", word);
    let exits = |(k, line): (usize, &str)| match k {
        0 => format!("{line},exit_date\n"),
        k if k % 10 == 0 => format!("{line},{}\n", ["moved", "NA"][k % 20 / 10]),
        k => format!("{line},2026-03-{}\n", 20 + k % 5),
    };
    world.write("registry.csv", registry.lines().enumerate().map(exits).collect::<String>());
    let mapping = world.init(&["registry.csv", "messages.csv", "calls.csv"]);
    for part in [
        "An empty cell means no. There are \"do not call\" (14), \"none\" (14), \"Y\" (14)\n\
         # do_not_call = { column = \"dnd\", yes = [\"do not call\", \"Y\"], no = [\"none\"] }",
        "left = \"exit_date\"\n# DECIDE: which words of this column say that a person has left (yes), and which that a person has not (no)? There are \
         \"NA\" (4), \"moved\" (3). In place of the line above\n\
         # left = { column = \"exit_date\", yes = [\"moved\"], no = [\"NA\"] }",
    ] {
        assert!(mapping.contains(part), "{part}\n\n{mapping}");
    }
    // its lines are what an import accepts
    let key = "left = { column = \"exit_date\", yes = [\"moved\"], no = [\"NA\"] }";
    let taken = mapping.replace("\nleft = \"exit_date\"", "").replace("\n# do_not_call", "\ndo_not_call");
    let imported = world.import(&decided(&taken, &[("left =", key), LEAST, SILENCE, OUTCOME]));
    assert_eq!(imported.summary.do_not_call, 28);
}
