//! Faults planted into good data: what can be seen is said.

use crate::kit::*;

fn log(date: impl Fn(usize, usize) -> String) -> String {
    let mut text = String::from("person,date,seconds\n");
    for month in 1..=6 {
        for day in 1..=12 {
            text += &format!("P{},{},45\n", day % 3 + 1, date(day, month));
        }
    }
    text
}

fn mapping(format: &str) -> String {
    MAPPING
        .replace("time = \"date\"", &format!("time = {{ column = \"date\", format = \"{format}\" }}"))
        .replace("from = 2026-03-02\nuntil = 2026-03-23\n", "")
}

#[test]
fn day_and_month_in_each_others_place_are_seen_by_days_beyond_twelve() {
    let world = programme();
    let mut text = log(|day, month| format!("{day:02}/{month:02}/2026"));
    (13..29).for_each(|day| text += &format!("P1,{day}/03/2026,45\n"));
    world.write("messages.csv", text);
    assert_eq!(
        world.refused(&mapping("%m/%d/%Y")),
        "mapping.toml: line 13, column 19: time: found 16 of 88 cells of column \"date\" in messages.csv that \"%m/%d/%Y\" does not read \
         and \"%d/%m/%Y\" does, expected the format of the file: are day and month in each other's place?"
    );
    assert!(!world.path("programme").exists());
    world.grow(&mapping("%d/%m/%Y")).unwrap();
}

#[test]
fn they_are_seen_by_the_order_of_a_log_where_all_days_could_be_months() {
    let world = programme();
    world.write("messages.csv", log(|day, month| format!("{day:02}/{month:02}/2026")));
    let said = world.refused(&mapping("%m/%d/%Y"));
    assert!(
        said.starts_with("mapping.toml: line 13, column 19: time: found a log in order if its dates are read as \"%d/%m/%Y\", and out of order "),
        "{said}"
    );
    world.grow(&mapping("%d/%m/%Y")).unwrap();
}

#[test]
fn ids_in_other_capitals_are_unknown_unless_folded_and_a_note_says_look() {
    let world = programme();
    world.write("messages.csv", MESSAGES.replace("\nP2", "\np2"));
    let imported = world.import(MAPPING);
    assert_eq!(told(&imported)[1], "P2 000 11.");
    assert_eq!(
        imported.summary.notes,
        [
            "messages: 33 % of 6 rows are quarantined: look at quarantine.csv before you go on; are the right columns compared, in the right \
          form, and are day and month in their places?"
        ]
    );
    let folded =
        MAPPING.replacen("person = \"person\"", "person = { column = \"person\", as = \"folded\" }", 1);
    let imported = world.import(&folded);
    assert_eq!(told(&imported), TOLD);
    assert!(imported.summary.notes.is_empty());
}

#[test]
fn times_with_an_offset_ask_for_the_programmes_zone() {
    let world = programme();
    world.write("messages.csv", MESSAGES.replace(",2026-03-03,", ",2026-03-03T09:00:00Z,"));
    assert_eq!(
        world.refused(MAPPING),
        "mapping.toml: line 15, column 8: time: found times in UTC or with an offset in column \"date\" of messages.csv, expected a line \
         zone = \"Asia/Kolkata\" or the like at the top: whose days the programme goes by"
    );
    assert_eq!(told(&world.import(&format!("zone = \"Asia/Kolkata\"\n{MAPPING}"))), TOLD);
}
