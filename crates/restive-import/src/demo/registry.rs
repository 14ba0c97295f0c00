//! `registry.csv`: a row for each registration.

use super::SyntheticProgramme;
use super::draws::{Draws, Purpose};
use super::people::{EDUCATION, Person};
use super::tables::{Encoding, Form, Table, plain_phone, written_phone};
use jiff::civil::Date;

const NAME: &str = "registry.csv";
const HEADER: [&str; 17] = [
    "beneficiary_id",
    "name",
    "phone",
    "worker",
    "centre",
    "household",
    "village",
    "district",
    "language",
    "registered",
    "date_of_birth",
    "education",
    "income",
    "children",
    "phone_owner",
    "dnd",
    "exit_date",
];
const BORN: usize = 10;
const DND: usize = 15;
const EXIT: usize = 16;
const MISSING: [&str; 4] = ["NA", "N/A", "nil", "---"];
/// Spellings of each school level.
const SPELLINGS: [[&str; 3]; 4] = [
    ["No schooling", "no schooling", "Unschooled"],
    ["Primary", "PRIMARY", "primary school"],
    ["Secondary", "secondary", "Sec. school"],
    ["Higher", "HIGHER", "higher education"],
];
const WITH_FAULTS: Form = Form { delimiter: b';', is_crlf: true, encoding: Encoding::Utf8Mark };

type Row = [String; HEADER.len()];

pub(super) fn table(programme: &SyntheticProgramme) -> Table {
    let has_faults = programme.options.faults;
    let mut rows: Vec<Row> = programme.people.iter().map(plain).collect();
    let mut repeated = 0;
    let mut twice = 0;
    if has_faults {
        for (k, (person, row)) in programme.people.iter().zip(&mut rows).enumerate() {
            let draws = Draws::new(programme.options.seed, Purpose::Registry, &[k]);
            spoil(row, draws, person);
        }
        for (k, person) in programme.people.iter().enumerate() {
            let (Some(id), Some(day)) = (&person.second_id, person.second_registered) else { continue };
            let second = Person {
                id: id.clone(),
                name: person.name.to_uppercase(),
                registered: day,
                ..person.clone()
            };
            let mut row = plain(&second);
            spoil(&mut row, Draws::new(programme.options.seed, Purpose::SecondRegistry, &[k]), &second);
            rows.push(row);
            twice += 1;
        }
        rows.sort();
        let place = rows.len() / 5;
        rows[place][BORN] = "31/02/1998".into();
        rows.insert(rows.len() / 2, rows[rows.len() / 3].clone());
        repeated = 1;
    }
    let cells = rows.iter().flatten();
    let counts = [
        ("rows", rows.len()),
        ("rows repeated exactly", repeated),
        ("impossible dates of birth", rows.iter().filter(|row| row[BORN] == "31/02/1998").count()),
        ("second registrations with the same phone", twice),
        ("cells with a word for missing", cells.filter(|cell| MISSING.contains(&cell.as_str())).count()),
        ("do not call", rows.iter().filter(|row| row[DND] == "yes").count()),
        ("exits", rows.iter().filter(|row| !row[EXIT].is_empty()).count()),
    ];
    let form = if has_faults { WITH_FAULTS } else { Form::PLAIN };
    Table::new(NAME, form.write(&HEADER, &rows), counts)
}

fn day_first(day: Date) -> String {
    format!("{:02}/{:02}/{}", day.day(), day.month(), day.year())
}

/// The row of a registration without faults.
fn plain(person: &Person) -> Row {
    [
        person.id.clone(),
        person.name.clone(),
        plain_phone(&person.phone),
        person.worker.clone(),
        person.centre.into(),
        person.household.clone(),
        person.village.clone(),
        person.district.into(),
        person.language.into(),
        day_first(person.registered),
        day_first(person.born),
        person.education.into(),
        person.income.to_string(),
        person.children.to_string(),
        person.phone_owner.into(),
        if person.do_not_call { "yes" } else { "" }.into(),
        person.exit.map_or(String::new(), day_first),
    ]
}

/// Writes the faults of hand-written registries into a row.
fn spoil(row: &mut Row, mut draws: Draws, person: &Person) {
    row[2] = written_phone(&mut draws, &person.phone);
    let level = EDUCATION.iter().position(|level| *level == person.education).unwrap_or(0);
    row[11] = draws.choose(&SPELLINGS[level]).into();
    let decimals = if draws.is(1.0 / 3.0) { ",00" } else { "" };
    row[12] = format!("₹ {}{decimals}", grouped(person.income));
    // cells that end in a space or a non-breaking one: name, district, language, education
    for k in [1, 7, 8, 11] {
        row[k].push_str(["", " ", "\u{a0}"][draws.place(&[0.8, 0.1, 0.1])]);
    }
    // cells that may be missing: date of birth, education, income, children, owner of the phone
    for k in [BORN, 11, 12, 13, 14] {
        let word = draws.choose(&MISSING);
        if !draws.is(0.975) {
            row[k] = word.into();
        }
    }
}

/// An amount below a million with a point between thousands.
fn grouped(amount: u32) -> String {
    match amount {
        0..1000 => amount.to_string(),
        _ => format!("{}.{:03}", amount / 1000, amount % 1000),
    }
}
