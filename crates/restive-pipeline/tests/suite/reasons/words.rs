//! Words of a programme: what they change, what stays English, and what is refused with its line.

use restive_pipeline::reasons::{Chance, Contribution, Reason, RecordPart, Words, sentence};
use std::path::Path;

fn words(text: &str) -> Words {
    Words::from_text(Path::new("words.toml"), text).unwrap()
}

fn refused(text: &str) -> String {
    Words::from_text(Path::new("words.toml"), text).unwrap_err().to_string()
}

fn contribution(column: &str, value: Option<&str>, amount: f64) -> Contribution {
    Contribution {
        column: column.into(),
        value_text: value.map(String::from),
        reference_text: Some("herself".into()),
        amount,
    }
}

/// Log-odds of 0 left alone, and called.
fn reason() -> Reason {
    let even = Chance { value: 0.5, interval: None };
    Reason {
        chance_left_alone: even,
        chance_called: even,
        level: vec![contribution("age", None, -0.04), contribution("phone_owner", Some("{value}"), 0.01)],
        effect: vec![contribution("age", None, 0.01), contribution("phone_owner", Some("husband"), 0.4)],
        record: Some(RecordPart { level: 0.2, effect: 0.0, periods: 12, good: 3, calls: 2 }),
        level_difference: 0.0,
        effect_difference: 0.0,
    }
}

#[test]
fn english_is_what_there_is_without_a_file() {
    // ½ − σ(−0.4) is 9.87 points, ½ − σ(−0.2) is 4.98, ½ − σ(0.04) is −1.00
    let call = "A call helps more than most: phone owner is husband (+10 points).";
    let record = "Own record, good periods: 3 of 12 (+5).";
    let all = sentence(&reason(), &Words::default(), None);
    assert_eq!(all, format!("{call} Worse off anyway: age is not known (-1). {record}"));
    // with the place it would be 164 characters long: the smallest thing goes
    let placed = sentence(&reason(), &Words::default(), Some(0.083));
    assert_eq!(placed, format!("{call} {record} 0.083 above the last place."));
    assert_eq!(words("# nothing\n"), Words::default());
    assert!(sentence(&reason(), &Words::default(), Some(-1.25)).ends_with("(+5). 1.2 below the last place."));
    assert!(sentence(&reason(), &Words::default(), Some(0.0)).ends_with("(+5). The last place."));
    let nothing = Reason { level: vec![], effect: vec![], record: None, ..reason() };
    assert_eq!(sentence(&nothing, &Words::default(), None), "Much like a typical person.");
}

#[test]
fn a_programme_has_words_of_its_own() {
    let own = words(
        "record = \"Ihre Aufzeichnung: {good} von {periods} Wochen, {calls} Anrufe.\"\n\
         helps_more = \"Ein Anruf hilft ihr mehr: {things}.\"\n\
         [columns]\nphone_owner = \"Telefon\"\n[values.phone_owner]\nhusband = \"beim Mann\"\nherself = \"bei ihr\"\n\
         [things]\nphone_owner = \"{column} {value} statt {reference} {points}\"\n",
    );
    let said = sentence(&reason(), &own, None);
    let expected = "Ein Anruf hilft ihr mehr: Telefon beim Mann statt bei ihr (+10 points). Worse off anyway: age is not known (-1). \
                    Ihre Aufzeichnung: 3 von 12 Wochen, 2 Anrufe.";
    assert_eq!(said, expected);
}

#[test]
fn what_stands_in_a_table_is_no_template() {
    let braces =
        Reason { effect: vec![contribution("a_b", Some("{points} {x"), 0.4)], record: None, ..reason() };
    assert!(
        sentence(&braces, &Words::default(), None)
            .starts_with("A call helps more than most: a b is {points} {x (+10 points).")
    );
}

#[test]
fn long_values_leave_room_for_fewer_things() {
    let long = "x".repeat(60);
    let effect = (0..3).map(|k| contribution("ward", Some(&long), 0.4 + 0.1 * f64::from(k))).collect();
    let said = sentence(&Reason { effect, ..reason() }, &Words::default(), None);
    assert!(said.chars().count() <= 160, "{said}");
    assert!(said.contains("(+15 points)"), "the largest stays: {said}");
}

#[test]
fn what_nobody_knows_is_refused_with_its_line() {
    let found = refused("\nrecord = \"{good}\"\nhelps = \"x\"\n");
    assert!(
        found.starts_with("words.toml: line 3, column 1: found \"helps\", expected one of helps_more"),
        "{found}"
    );
    let found = refused("unit = \"weeks\"\nthing = \"{column} = {wert}\"\n");
    let expected = "words.toml: line 2, column 9: thing: found the place \"wert\", expected one of {column}, {value}, {reference}, \
                    {points}";
    assert_eq!(found, expected);
    let found = refused("alike = \"like {column}\"\n");
    assert!(
        found.contains("line 1, column 9: alike: found the place \"column\", expected none here"),
        "{found}"
    );
    assert!(refused("thing = \"{column\"\n").contains("found { without }"));
    assert!(
        refused("[things]\nage = \"{things}\"\n")
            .contains("line 2, column 7: things: found the place \"things\"")
    );
    assert!(refused("unit = 3\n").contains("line 1, column 8: unit: found no text"));
    assert!(refused("columns = \"x\"\n").contains("columns: found no table, expected [columns]"));
    assert!(refused("[values]\nage = \"old\"\n").contains("values.age: found no table"));
    assert!(refused("unit = \n").contains("line 1"));
}
