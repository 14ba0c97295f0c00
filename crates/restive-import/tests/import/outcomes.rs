//! Sheets of outcomes as they come back: half filled in, late, twice, renamed, retyped, and written by somebody who means harm.

use super::kit::World;
use proptest::prelude::*;
use restive_import::outcomes::{OutcomeCode, OutcomeColumns, OutcomeSheet, OutcomesAsked, read};
use restive_import::{Contact, Result};
use rust_xlsxwriter::{ExcelDateTime, Format, Workbook};

fn sheet(world: &World, name: &str) -> OutcomeSheet {
    asked(world, name, &OutcomesAsked::default()).unwrap()
}

fn asked(world: &World, name: &str, asked: &OutcomesAsked) -> Result<OutcomeSheet> {
    read(&world.path(name), asked, |plan, id| id.starts_with('B') && plan.is_none_or(|plan| plan == "w12"))
}

/// Whom, what and when.
fn told(sheet: &OutcomeSheet) -> Vec<(String, &'static str, String)> {
    let day = |day: Option<jiff::civil::Date>| day.map_or(String::new(), |day| day.to_string());
    sheet.rows.iter().map(|row| (row.id.clone(), row.code.name(), day(row.day))).collect()
}

fn problems(sheet: &OutcomeSheet) -> Vec<String> {
    sheet.problems.iter().map(|problem| problem.to_string()).collect()
}

fn row(id: &str, code: &'static str, day: &str) -> (String, &'static str, String) {
    (id.into(), code, day.into())
}

#[test]
fn codes_are_read_in_any_spelling() {
    for (cell, code) in [
        ("reached", OutcomeCode::Reached),
        ("REACHED ", OutcomeCode::Reached),
        ("no_answer", OutcomeCode::NoAnswer),
        ("No-Answer", OutcomeCode::NoAnswer),
        ("noanswer", OutcomeCode::NoAnswer),
        ("Wrong  Number", OutcomeCode::WrongNumber),
        ("not called", OutcomeCode::NotCalled),
        ("baadaye", OutcomeCode::Later),
    ] {
        assert_eq!(
            OutcomeCode::parse(cell, &[("Baa daye".into(), OutcomeCode::Later)]),
            Some(code),
            "{cell}"
        );
    }
    for cell in ["", "reach", "reached?", "yes"] {
        assert_eq!(OutcomeCode::parse(cell, &[]), None, "{cell}");
    }
    let contacts = OutcomeCode::ALL.map(OutcomeCode::contact);
    assert_eq!(contacts[0], Contact::Reached);
    assert_eq!(contacts[7], Contact::NotCalled);
    assert!(contacts[1..7].iter().all(|contact| *contact == Contact::NotReached));
}

#[test]
fn a_sheet_that_is_partly_filled_in_gives_what_it_has() {
    let world = World::new();
    world.write(
        "list.csv",
        "Plan;ID;name;Outcome;Day;Note;\nw12;B1;Ada;reached;2026-03-17;fine;\nw12;B2;Ben;;;;\nw12;B3;Cho;Refused;;;\nw12;B1;Ada;reached;;late;\n",
    );
    let found = sheet(&world, "list.csv");
    assert_eq!(told(&found), [row("B1", "reached", "2026-03-17"), row("B3", "refused", "")]);
    assert_eq!((found.not_filled_in, problems(&found)), (1, vec![]));
    assert_eq!(found.rows[0].plan.as_deref(), Some("w12"));
    assert_eq!(found.rows[0].note.as_deref(), Some("fine"));
    assert_eq!(found.rows[0].at.line, 2);
    // nothing filled in at all, and no rows at all
    world.write("none.csv", "arm,outcome\nB1,\nB2,\n").write("empty.csv", "arm,outcome\n");
    assert_eq!(sheet(&world, "none.csv"), OutcomeSheet { not_filled_in: 2, ..OutcomeSheet::default() });
    assert_eq!(sheet(&world, "empty.csv"), OutcomeSheet::default());
}

#[test]
fn what_cannot_be_used_is_listed_and_the_rest_is_used() {
    let world = World::new();
    world.write(
        "list.csv",
        "plan,id,outcome,day\nw12,B1,reached,\nw12,B2,gone fishing,\nw12,X7,reached,\nw12,B3,reached,03/04/2026\nw12,B4,reached,soon\n\
         w12,B5,reached,\nw12,B5,moved,\nw12,B5,later,\nw12,,later,\nw11,B6,later,\nw12,B7,call +91 99999 12345,\nw12,B8,moved,2026-03-17\n\
         w12,B8,moved,2026-03-18\nw12,B9,reached\n",
    );
    let found = sheet(&world, "list.csv");
    assert_eq!(told(&found), [row("B1", "reached", "")]);
    let codes = "expected reached, no answer, not found, wrong number, refused, moved, later, not called";
    let expected = [
        format!("list.csv, line 3: found the outcome \"gone fishing\", {codes}"),
        "list.csv, line 4: found an id that the plan does not have, expected one that is on the list".into(),
        "list.csv, line 5: found a day whose order of day and month nobody says, expected a day such as 2026-03-17".into(),
        "list.csv, line 6: found no possible day, expected a day such as 2026-03-17".into(),
        "list.csv, line 8: found another outcome or day of the same person than on line 7, expected one".into(),
        "list.csv, line 9: found another outcome or day of the same person than on the lines before".into(),
        "list.csv, line 10: found an outcome of nobody, expected an id".into(),
        "list.csv, line 11: found an id that the plan does not have".into(),
        format!("list.csv, line 12: found another outcome, {codes}"),
        "list.csv, line 14: found another outcome or day of the same person than on line 13".into(),
        "list.csv, line 15: found 3 fields, expected 4 as in the header".into(),
    ];
    let found = problems(&found);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    found.iter().zip(&expected).for_each(|(found, expected)| assert!(found.starts_with(expected), "{found}"));
    assert!(found.iter().all(|said| !said.contains("99999") && !said.contains("X7") && !said.contains("B5")));
    // a format decides which is the day
    let formats = OutcomesAsked { day_formats: vec!["%d/%m/%Y".into()], ..OutcomesAsked::default() };
    world.write("days.csv", "id,outcome,day\nB3,reached,03/04/2026\nB4,reached,2026-04-05\n");
    let read = asked(&world, "days.csv", &formats).unwrap();
    assert_eq!(told(&read), [row("B3", "reached", "2026-04-03"), row("B4", "reached", "2026-04-05")]);
    let wrong = OutcomesAsked { day_formats: vec!["dd/mm".into()], ..OutcomesAsked::default() };
    assert!(asked(&world, "days.csv", &wrong).is_err());
    world.write("other.csv", "who,what\nB1,reached\n");
    let said = asked(&world, "other.csv", &OutcomesAsked::default()).unwrap_err().to_string();
    assert_eq!(
        said,
        "other.csv: found no heading of a list in the first line, expected id or arm and outcome"
    );
    world.write("other.csv", "id,name,result\nB1,Asha,reached\n");
    let said = asked(&world, "other.csv", &OutcomesAsked::default()).unwrap_err().to_string();
    assert_eq!(said, "other.csv: found the columns id, name, result, expected id or arm and outcome");
}

#[test]
fn workbooks_with_renamed_sheets_and_real_dates() {
    let world = World::new();
    let mut book = Workbook::new();
    let date = Format::new().set_num_format("dd/mm/yyyy");
    let notes = book.add_worksheet().set_name("read me").unwrap();
    notes.write(0, 0, "fill in the outcome").unwrap();
    book.add_worksheet().set_name("empty").unwrap();
    for (name, first) in [("Asha (old)", 1), ("Blatt 2", 3)] {
        let sheet = book.add_worksheet().set_name(name).unwrap();
        for (column, heading) in ["name", "ARM", "Out come", "DATE", "Notes"].iter().enumerate() {
            sheet.write(0, column as u16, *heading).unwrap();
        }
        for k in 0..2 {
            sheet.write(k + 1, 1, format!("B{}", first + k)).unwrap();
            sheet.write(k + 1, 2, "no answer").unwrap();
            let day = ExcelDateTime::from_ymd(2026, 3, 17 + k as u8).unwrap();
            sheet.write_datetime_with_format(k + 1, 3, &day, &date).unwrap();
        }
        sheet.write(3, 1, "B9").unwrap();
        sheet.write(3, 2, "left").unwrap();
    }
    book.save(world.path("list.xlsx")).unwrap();
    let found = sheet(&world, "list.xlsx");
    let expected = [("B1", "17"), ("B2", "18"), ("B3", "17"), ("B4", "18")];
    let expected = expected.map(|(id, day)| row(id, "no answer", &format!("2026-03-{day}")));
    assert_eq!(told(&found), expected);
    let found = problems(&found);
    assert!(
        found[0].starts_with("list.xlsx, sheet Asha (old), line 4: found the outcome \"left\""),
        "{found:?}"
    );
    assert!(found[1].starts_with("list.xlsx, sheet Blatt 2, line 4"), "{found:?}");
}

#[test]
fn programs_hand_over_json() {
    let world = World::new();
    let rows = r#"[{"id": "B1", "outcome": "reached", "day": "2026-03-17", "extra": [1, {"a": 2}]}, {"id": "B2"}, {"id": "B3", "outcome": null},
        {"arm": "B4", "id": "B4", "outcome": "later", "note": 12}, {"id": "B5", "outcome": {"code": 1}}]"#;
    world
        .write("bare.json", rows)
        .write("rows.json", format!("\u{feff}  {{\"rows\": {rows}, \"by\": \"app\"}}"));
    for name in ["bare.json", "rows.json"] {
        let found = sheet(&world, name);
        assert_eq!(told(&found), [row("B1", "reached", "2026-03-17"), row("B4", "later", "")]);
        assert_eq!((found.not_filled_in, found.problems.len()), (2, 1));
        assert_eq!(found.rows[1].note.as_deref(), Some("12"));
        assert_eq!(found.problems[0].at.line, 4);
    }
    world.write("none.json", "[]");
    assert_eq!(sheet(&world, "none.json"), OutcomeSheet::default());
    for (text, expected) in [
        ("{\"a\": 1}", "found an object without rows"),
        ("[1, 2]", "found something else than objects"),
        ("[{\"id\": \"secret\"", "found no JSON (line 1"),
    ] {
        let said =
            match read(&world.write("bad.json", text).path("bad.json"), &OutcomesAsked::default(), |_, _| {
                true
            }) {
                Ok(_) => panic!("{text}"),
                Err(error) => error.to_string(),
            };
        assert!(said.contains(expected) && !said.contains("secret"), "{said}");
    }
}

#[test]
fn guarded_and_hostile_cells_are_text() {
    let world = World::new();
    // the list wrote '=… so that no spreadsheet takes the id for a formula
    world.write(
        "list.csv",
        "id,outcome,note\n'=B1+1,reached,'@SUM(A1)\n-B2,later,\"=HYPERLINK(\"\"http://x\"\")\"\n'B3,later,'tis late\n\"B\u{202e}4\",\"=cmd|' /C calc'!A0\",\n",
    );
    let found = read(&world.path("list.csv"), &OutcomesAsked::default(), |_, _| true).unwrap();
    let ids: Vec<&str> = found.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["=B1+1", "-B2", "'B3"]);
    assert_eq!(found.rows[0].note.as_deref(), Some("@SUM(A1)"));
    assert_eq!(found.rows[2].note.as_deref(), Some("'tis late"));
    let said = found.problems[0].to_string();
    assert!(!said.contains("calc") && !said.chars().any(char::is_control), "{said}");
}

#[test]
fn other_headings_and_languages_are_declared() {
    let world = World::new();
    let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let asked = OutcomesAsked {
        columns: OutcomeColumns {
            id: words(&["Kennung"]),
            outcome: words(&["Ergebnis"]),
            ..OutcomeColumns::default()
        },
        translations: vec![("nicht erreicht".into(), OutcomeCode::NoAnswer)],
        ..OutcomesAsked::default()
    };
    world.write("list.csv", "id,kennung,ergebnis\nx,B1,Nicht  erreicht\ny,B2,reached\n");
    let found = self::asked(&world, "list.csv", &asked).unwrap();
    assert_eq!(told(&found), [row("B1", "no answer", ""), row("B2", "reached", "")]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever stands in the cells, every row is used, not filled in, repeated or listed, and nothing panics.
    #[test]
    fn every_row_goes_somewhere(cells in proptest::collection::vec(("[B1-3]{0,2}", "\\PC{0,12}|reached|moved", "\\PC{0,12}|2026-03-1[0-9]"), 1..20)) {
        let world = World::new();
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["id", "outcome", "day", "more"]).unwrap();
        for (id, outcome, day) in &cells {
            writer.write_record([id.as_str(), outcome, day, "x"]).unwrap();
        }
        world.write("list.csv", writer.into_inner().unwrap());
        let found = asked(&world, "list.csv", &OutcomesAsked::default()).unwrap();
        let people: std::collections::HashSet<&str> = found.rows.iter().map(|row| row.id.as_str()).collect();
        prop_assert_eq!(people.len(), found.rows.len());
        prop_assert!(found.rows.len() + found.not_filled_in + found.problems.len() <= cells.len());
        let filled = cells.iter().filter(|(_, outcome, _)| OutcomeCode::parse(outcome, &[]).is_some()).count();
        prop_assert!(found.rows.len() <= filled);
    }
}
