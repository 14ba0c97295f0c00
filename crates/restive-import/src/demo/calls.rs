//! `calls.csv`: a row for each call, or with faults for each attempt to call, as caseworkers write it down.

use super::SyntheticProgramme;
use super::draws::{Draws, Purpose};
use super::tables::{Encoding, Form, Table};
use super::weeks::CallOutcome;
use jiff::ToSpan;
use jiff::civil::DateTime;

const NAME: &str = "calls.csv";
const HEADER: [&str; 5] = ["Call Date", "Beneficiary", "Caseworker", "Outcome", "Notes"];
const CASEWORKERS: [&str; 6] = [
    "Inês Namunekar",
    "José Udaharan",
    "Renée Misalkar",
    "Zoë Kalpanik",
    "Conceição Manlekar",
    "André Pratirup",
];
const NOTES: [&str; 8] = [
    "phone of the husband",
    "call again after 5 o'clock",
    "said \"later\", then hung up",
    "moved; new ward",
    "spoke for ½ hour",
    "asked about vaccination, iron tablets",
    "network bad",
    "mère / sister took the call",
];
const CANCELLED: &str = "cancelled";
/// People with a call before they registered, if that many joined late enough.
const EARLY_CALLS: usize = 6;
/// One call to an unknown id in this number of weeks.
const WEEKS_PER_UNKNOWN_ID: usize = 3;
const WITH_FAULTS: Form = Form { delimiter: b'\t', is_crlf: true, encoding: Encoding::Latin1 };

/// Time, by which rows are sorted, and the cells.
type Row = (DateTime, [String; HEADER.len()]);

/// Counts over all weeks.
#[derive(Default)]
struct Counts {
    cancelled: usize,
    second_attempts: usize,
    unknown: usize,
}

pub(super) fn table(programme: &SyntheticProgramme) -> Table {
    let has_faults = programme.options.faults;
    let mut counts = Counts::default();
    let mut rows = Vec::new();
    let early = if has_faults { early_calls(programme) } else { Vec::new() };
    for week in 0..programme.weeks() {
        let mut of_week = week_rows(programme, week, &mut counts);
        of_week.extend(early.iter().filter(|(at, _)| *at == week).map(|(_, row)| row.clone()));
        // times may be equal: then the order of people decides
        of_week.sort_by_key(|(time, _)| *time);
        rows.append(&mut of_week);
    }
    let odd = |id: &str| id != id.trim().to_uppercase();
    let counts = [
        ("rows", rows.len()),
        ("cancelled", counts.cancelled),
        ("second attempts in a week", counts.second_attempts),
        ("before enrolment", early.len()),
        ("unknown ids", counts.unknown),
        ("ids in lower case or with spaces", rows.iter().filter(|(_, row)| odd(&row[1])).count()),
    ];
    let form = if has_faults { WITH_FAULTS } else { Form::PLAIN };
    Table::new(NAME, form.write(&HEADER, rows.iter().map(|(_, row)| row)), counts)
}

fn week_rows(programme: &SyntheticProgramme, week: usize, counts: &mut Counts) -> Vec<Row> {
    let (seed, has_faults) = (programme.options.seed, programme.options.faults);
    let mut rows = Vec::new();
    let calls = programme.calls_of_week(week);
    for call in calls.iter().filter(|call| call.is_recorded) {
        let mut draws = Draws::new(seed, Purpose::CallRows, &[week, call.person]);
        let person = &programme.people[call.person];
        // Tuesday to Friday; a second attempt follows on the next day
        let weekday = 1 + draws.below(5 - call.attempts);
        for attempt in 1..=call.attempts {
            let outcome = if attempt == call.attempts { call.outcome } else { CallOutcome::NoAnswer };
            let time = time(programme, &mut draws, week, weekday + attempt - 1);
            let uses_second = draws.is(0.5) && person.second_registered.is_some_and(|day| day < time.date());
            let id = match &person.second_id {
                Some(second) if has_faults && uses_second => second,
                _ => &person.id,
            };
            let row = row(&mut draws, time, id, outcome.word(), has_faults);
            // without faults there is one row for a call
            if has_faults || attempt == call.attempts {
                rows.push(row);
            }
        }
        counts.second_attempts += usize::from(has_faults && call.attempts > 1);
    }
    if has_faults && calls.iter().any(|call| call.is_recorded) {
        let mut draws = Draws::new(seed, Purpose::CallFaults, &[week]);
        let others: Vec<usize> = (0..programme.people.len())
            .filter(|person| programme.may_be_called(*person, week) && !programme.is_called(*person, week))
            .collect();
        for person in draws.sample(&others, (calls.len() / 12).max(1), |_| 1.0) {
            let weekday = 1 + draws.below(4);
            let time = time(programme, &mut draws, week, weekday);
            rows.push(row(&mut draws, time, &programme.people[person].id, CANCELLED, true));
            counts.cancelled += 1;
        }
        if week % WEEKS_PER_UNKNOWN_ID == 1 {
            let (weekday, id) = (1 + draws.below(4), format!("MB-{}", 200_000 + draws.below(100_000)));
            let time = time(programme, &mut draws, week, weekday);
            rows.push(row(&mut draws, time, &id, CallOutcome::Reached.word(), true));
            counts.unknown += 1;
        }
    }
    rows
}

/// Calls to people who had not registered yet, with their weeks.
fn early_calls(programme: &SyntheticProgramme) -> Vec<(usize, Row)> {
    let mut draws = Draws::new(programme.options.seed, Purpose::EarlyCalls, &[]);
    let late: Vec<usize> =
        (0..programme.people.len()).filter(|k| programme.people[*k].first_week > 2).collect();
    let chosen = draws.sample(&late, EARLY_CALLS, |_| 1.0);
    let mut row_of = |k: usize| {
        let person = &programme.people[k];
        // they registered in the week before their first one
        let (week, weekday) = (person.first_week - 2 - draws.below(2), 1 + draws.below(4));
        let time = time(programme, &mut draws, week, weekday);
        (week, row(&mut draws, time, &person.id, CallOutcome::Reached.word(), true))
    };
    chosen.into_iter().map(&mut row_of).collect()
}

/// A time from 9:00 to 14:00, on Friday to noon.
fn time(programme: &SyntheticProgramme, draws: &mut Draws, week: usize, weekday: usize) -> DateTime {
    let minutes = draws.below(if weekday < 4 { 300 } else { 180 }) as i64;
    let morning = programme.day(week, weekday as i64).at(9, 0, 0, 0);
    morning.saturating_add(minutes.minutes())
}

fn row(draws: &mut Draws, time: DateTime, id: &str, outcome: &str, has_faults: bool) -> Row {
    let caseworker = draws.choose(&CASEWORKERS);
    let (is_lower, spaces) = (draws.is(0.1), draws.place(&[0.9, 0.05, 0.05]));
    let (has_note, note) = (draws.is(0.15), draws.choose(&NOTES));
    let id = match has_faults {
        true => {
            let id = if is_lower { id.to_lowercase() } else { id.into() };
            [id.clone(), format!("{id} "), format!(" {id} ")][spaces].clone()
        }
        false => id.into(),
    };
    let note = if has_faults && has_note { note } else { "" };
    let when = time.strftime("%d-%b-%Y %H:%M").to_string();
    (time, [when, id, caseworker.into(), outcome.into(), note.into()])
}
