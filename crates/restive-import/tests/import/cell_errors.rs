//! Errors of a spreadsheet and formulas without a result: quarantined in every table, never read as empty.

use crate::kit::*;
use restive_import::Imported;
use restive_import::outcomes::{OutcomesAsked, read};

/// Errors as text, and how a reason calls them; a formula is one in a workbook alone.
const ERRORS: [(&str, &str); 3] =
    [("#REF!", "the error #REF!"), ("#N/A", "the error #N/A"), ("=1+1", "a formula without a stored result")];

/// Runs a check with a table as CSV and as workbooks of both formats, for every error in place of `E`.
fn with_errors(table: &str, text: &str, check: impl Fn(&World, &str, &str)) {
    for (error, reason) in ERRORS {
        for ending in ["csv", "xlsx", "ods"] {
            let world = programme();
            let (name, text) = (format!("{table}.{ending}"), text.replace('E', error));
            match ending {
                "xlsx" => world.sheet(&name, &text),
                "ods" => world.ods(&name, &text),
                _ if error.starts_with('=') => continue,
                _ => world.write(&name, text),
            };
            check(&world, &MAPPING.replace(&format!("{table}.csv"), &name), reason);
        }
    }
}

fn never_called(imported: &Imported) -> usize {
    imported.summary.do_not_call
}

#[test]
fn error_in_a_value_leaves_the_period_unknown_and_the_row_quarantined() {
    let text = MESSAGES.replace("P2,2026-03-10,31", "P2,2026-03-10,E");
    with_errors("messages", &text, |world, mapping, reason| {
        let imported = world.import(mapping);
        assert_eq!(told(&imported)[1], "P2 0.1 11.");
        assert_eq!(placed(&imported, "messages"), [5, 0, 0, 0, 0, 1]);
        assert_eq!(reasons(&imported), [format!("messages 1 row: {reason} in seconds")]);
        // only a mapping that takes the word for nothing reads it as nothing
        if reason.ends_with("#N/A") {
            let imported = world.import(&format!("missing = [\"#N/A\"]\n{mapping}"));
            assert_eq!((told(&imported)[1].as_str(), reasons(&imported).len()), ("P2 001 11.", 0));
        }
    });
}

#[test]
fn error_in_an_outcome_leaves_the_call_unknown_and_the_row_quarantined() {
    with_errors(
        "calls",
        &CALLS.replace("P2,2026-03-11,reached", "P2,2026-03-11,E"),
        |world, mapping, reason| {
            let imported = world.import(mapping);
            assert_eq!(told(&imported)[1], "P2 011 .1.");
            assert_eq!(reasons(&imported), [format!("actions 1 row: {reason} in outcome")]);
            // an error is no outcome to be listed
            assert!(!imported.summary.notes.iter().any(|note| note.contains("does not name")));
        },
    );
}

#[test]
fn error_in_a_person_a_day_a_filter_or_a_key_quarantines_the_row() {
    let rows = "person,date,seconds,kind,sid\nP1,2026-03-03,45,a,1\nE,2026-03-10,31,a,2\nP2,E,31,a,3\nP2,2026-03-10,31,E,4\n\
                P2,2026-03-10,31,a,E\nP2,2026-03-17,60,E,E\nP3,2026-03-04,E,b,E\n";
    with_errors("messages", rows, |world, mapping, reason| {
        let keyed = "value = \"seconds\"\nkey = \"sid\"\nwhere = { kind = \"a\" }";
        let imported = world.import(&mapping.replace("value = \"seconds\"", keyed));
        assert_eq!(placed(&imported, "messages"), [1, 0, 0, 1, 0, 5]);
        let expected = [
            format!("messages 1 row: {reason} in person"),
            format!("messages 1 row: {reason} in date"),
            format!("messages 2 row: {reason} in kind"),
            format!("messages 1 row: {reason} in sid"),
        ];
        assert_eq!(reasons(&imported), expected);
    });
}

/// The registry with columns for those who left and those who must not be called.
fn registry(dnd: &str, exit: &str) -> String {
    format!(
        "id,name,phone,district,dnd,exit\nP1,Ada,+91 98200 10001,north,no,\nP2,Bina,98200 10002,south,{dnd},{exit}\n\
         P3,Chitra,098200-10003,north,yes,\n"
    )
}

fn asked(mapping: &str) -> String {
    let keys = "id = \"id\"\nleft = \"exit\"\ndo_not_call = { column = \"dnd\", yes = \"yes\", no = [\"no\", \"NA\"] }";
    mapping.replace("id = \"id\"", keys)
}

#[test]
fn error_in_do_not_call_or_left_quarantines_the_person() {
    for (text, column) in [(registry("E", ""), "dnd"), (registry("no", "E"), "exit")] {
        with_errors("registry", &text, |world, mapping, reason| {
            // a word for missing does not change it
            for mapping in [asked(mapping), format!("missing = [\"#N/A\"]\n{}", asked(mapping))] {
                let imported = world.import(&mapping);
                assert_eq!(told(&imported).len(), 2, "{:?}", told(&imported));
                assert_eq!(placed(&imported, "people"), [2, 0, 0, 0, 0, 1]);
                let expected = [
                    format!("people 1 row: {reason} in {column}"),
                    "messages 2 row: a person whose row in the registry is quarantined".into(),
                    "actions 2 row: a person whose row in the registry is quarantined".into(),
                ];
                assert_eq!(reasons(&imported), expected);
            }
        });
    }
}

#[test]
fn person_of_an_earlier_import_must_not_be_called_while_do_not_call_is_an_error() {
    for (dnd, exit) in [("#N/A", ""), ("no", "#VALUE!")] {
        let world = programme();
        world.write("registry.csv", registry("no", ""));
        assert_eq!(never_called(&world.grow(&asked(MAPPING)).unwrap()), 1);
        world.write("registry.csv", registry(dnd, exit));
        let again = world.grow(&asked(MAPPING)).unwrap();
        assert_eq!((again.summary.people, again.summary.absent, never_called(&again)), (3, 1, 2));
    }
    // another row of the person says nothing of the one with the error
    for other in ["P2,Bina,98200 10002,south,no,\n", "P9,Bina B.,9820010002,south,no,\n"] {
        let world = programme();
        world.write("registry.csv", format!("{}{other}", registry("#N/A", "")));
        let same = asked(MAPPING).replace("left =", "same = { column = \"phone\", as = \"phone\" }\nleft =");
        assert_eq!(never_called(&world.import(&same)), 2, "{other}");
    }
}

#[test]
fn error_in_a_feature_or_a_kept_column_is_left_empty_and_listed() {
    let text = "id,name,phone,district,born\nP1,E,+91 98200 10001,E,E\nP2,Bina,98200 10002,south,2000-01-01\nP3,Chitra,1,north,\n";
    with_errors("registry", text, |world, mapping, reason| {
        let features = "district = \"text\"\nage = { born = \"born\" }";
        let imported = world.import(&mapping.replace("district = \"text\"", features));
        assert_eq!(placed(&imported, "people"), [3, 0, 0, 0, 0, 0]);
        let expected = ["name", "born", "district"];
        assert_eq!(
            reasons(&imported),
            expected.map(|column| format!("people 1 cell: {reason} in {column}: left empty"))
        );
        let shown = format!("{:?}", imported.study.instances[0].features.columns());
        assert!(shown.contains("Text([None, Some(\"south\"), Some(\"north\")])"), "{shown}");
    });
}

#[test]
fn error_in_a_filled_in_list_is_a_problem_of_its_row() {
    let rows = "id,outcome,day,note\nB1,reached,,\nE,reached,,\nB3,E,,\nB4,moved,E,\nB5,later,,E\nB6,,E,E\n";
    with_errors("list", rows, |world, mapping, reason| {
        let name =
            if mapping.contains("list") { unreachable!() } else { ["list.csv", "list.xlsx", "list.ods"] };
        let name = name.into_iter().find(|name| world.path(name).exists()).unwrap();
        let found = read(&world.path(name), &OutcomesAsked::default(), |_, _| true).unwrap();
        assert_eq!((found.rows.len(), found.not_filled_in), (1, 1));
        let said: Vec<String> = found.problems.iter().map(|problem| problem.found.clone()).collect();
        assert_eq!(said, ["id", "outcome", "day", "note"].map(|column| format!("{reason} in {column}")));
    });
}

#[test]
fn formula_with_a_stored_result_is_its_result() {
    let world = programme();
    world.sheet("messages.xlsx", MESSAGES);
    let mapping = MAPPING.replace("messages.csv", "messages.xlsx");
    assert_eq!(told(&world.import(&mapping)), TOLD);
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet();
    for (row, line) in MESSAGES.lines().enumerate() {
        for (column, cell) in line.split(',').enumerate() {
            let (row, column) = (row as u32, column as u16);
            match cell.parse::<f64>() {
                Ok(_) => {
                    sheet.write(row, column, rust_xlsxwriter::Formula::new("=1+1").set_result(cell)).unwrap()
                }
                // a result that is empty text is empty
                Err(_) => sheet.write(row, column, cell).unwrap(),
            };
        }
        sheet.write(row as u32, 7, rust_xlsxwriter::Formula::new("=\"\"").set_result("")).unwrap();
    }
    book.save(world.path("messages.xlsx")).unwrap();
    let imported = world.import(&mapping);
    assert_eq!(told(&imported), TOLD);
    assert_eq!(reasons(&imported), Vec::<String>::new());
}
