//! Faults planted into good data: what can be seen is said.

use crate::demo::{assert_is_truth, file, programme as synthetic, small};
use crate::kit::*;
use jiff::civil::DateTime;
use restive_import::demo::{ProgrammeOptions, SyntheticProgramme};

/// A programme whose log of messages has days in the format `%d/%m/%Y` instead of times. Second result: number of rows; third:
/// number of rows with a day beyond 12.
fn world(synthetic: &SyntheticProgramme) -> (World, usize, usize) {
    let world = World::exported(synthetic);
    let messages = String::from_utf8(file(&synthetic.exports(), "messages.csv")).unwrap();
    let mut lines = messages.lines();
    let mut text = format!("{}\n", lines.next().unwrap());
    let (mut rows, mut beyond) = (0, 0);
    for line in lines {
        let mut cells: Vec<&str> = line.split(',').collect();
        let started: DateTime = cells[STARTED].parse().unwrap();
        let day = started.strftime("%d/%m/%Y").to_string();
        cells[STARTED] = &day;
        text += &format!("{}\n", cells.join(","));
        rows += 1;
        beyond += usize::from(started.day() > 12);
    }
    world.write("messages.csv", text);
    (world, rows, beyond)
}

const STARTED: usize = 6;
const TIME: &str = "time = \"StartTime\"";

#[test]
fn day_and_month_in_each_others_place_are_seen_by_days_beyond_twelve() {
    let synthetic = synthetic(ProgrammeOptions { people: 60, calls: 6, faults: false, ..small() });
    let (world, rows, beyond) = world(&synthetic);
    let line = synthetic.mapping().lines().position(|line| line == TIME).unwrap() + 1;
    let mapping = |format: &str| {
        let time = format!("time = {{ column = \"StartTime\", format = \"{format}\" }}");
        synthetic.mapping().replace(TIME, &time)
    };
    assert!(beyond > 100 && rows > beyond + 100, "{beyond} of {rows}");
    assert_eq!(
        world.refused(&mapping("%m/%d/%Y")),
        format!(
            "mapping.toml: line {line}, column 19: time: found {beyond} of {rows} cells of column \"StartTime\" in messages.csv that \"%m/%d/%Y\" does not read \
             and \"%d/%m/%Y\" does, expected the format of the file: are day and month in each other's place?"
        )
    );
    assert!(!world.path("programme").exists());
    assert_is_truth(&synthetic, &world.grow(&mapping("%d/%m/%Y")).unwrap());
}

#[test]
fn they_are_seen_by_the_order_of_a_log_where_all_days_could_be_months() {
    let world = programme();
    let mut text = String::from("person,date,seconds\n");
    for month in 1..=6 {
        for day in 1..=12 {
            text += &format!("P{},{day:02}/{month:02}/2026,45\n", day % 3 + 1);
        }
    }
    world.write("messages.csv", text);
    let mapping = |format: &str| {
        MAPPING
            .replace("time = \"date\"", &format!("time = {{ column = \"date\", format = \"{format}\" }}"))
            .replace("from = 2026-03-02\nuntil = 2026-03-23\n", "")
    };
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
