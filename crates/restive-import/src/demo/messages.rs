//! `messages.csv`: a row for each automated message, as a telephone provider logs it.

use super::SyntheticProgramme;
use super::draws::{Draws, Purpose};
use super::tables::{Form, Table, plain_phone, written_phone};
use jiff::ToSpan;
use jiff::civil::DateTime;

const NAME: &str = "messages.csv";
const HEADER: [&str; 10] = [
    "CallSid",
    "DateCreated",
    "From",
    "To",
    "Direction",
    "Status",
    "StartTime",
    "EndTime",
    "Duration",
    "ConversationDuration",
];
/// Seconds of talk that make a week an engaged one.
const LISTENED: usize = 30;
const PROGRAMME_NUMBER: &str = "02249990000";
/// Weekdays and hours at which messages begin to go out, for up to five hours: Friday to Sunday.
const SLOTS: [(i64, usize); 5] = [(4, 16), (5, 9), (5, 14), (6, 9), (6, 14)];
/// Faults of each week.
const UNKNOWN_NUMBERS: usize = 1;
const REPEATED: usize = 2;

/// Time of creation and CallSid, by which rows are sorted, and the cells.
type Row = (DateTime, String, Vec<String>);

/// Counts over all weeks.
#[derive(Default)]
struct Counts {
    rows: usize,
    repeated: usize,
    unknown: usize,
    silent: usize,
    ringing: usize,
}

pub(super) fn table(programme: &SyntheticProgramme) -> Table {
    let mut counts = Counts::default();
    let rows: Vec<Row> =
        (0..programme.weeks()).flat_map(|week| week_rows(programme, week, &mut counts)).collect();
    let bytes = Form::PLAIN.write(&HEADER, rows.iter().map(|(_, _, cells)| cells));
    Table::new(
        NAME,
        bytes,
        [
            ("rows", counts.rows),
            ("rows repeated exactly", counts.repeated),
            ("rows with unknown numbers", counts.unknown),
            ("rows without durations", counts.silent),
            ("rows with Duration >= 30 > ConversationDuration", counts.ringing),
        ],
    )
}

fn week_rows(programme: &SyntheticProgramme, week: usize, counts: &mut Counts) -> Vec<Row> {
    let seed = programme.options.seed;
    let mut rows = Vec::new();
    for (k, (person, states)) in programme.people.iter().zip(&programme.states).enumerate() {
        let Some(engaged) = states[week] else { continue };
        let mut draws = Draws::new(seed, Purpose::Messages, &[week, k]);
        let mut listened = vec![engaged];
        let (has_second, place, second) = (draws.is(0.4), draws.below(2), draws.is(0.5));
        if has_second {
            listened.insert(place, engaged && second);
        }
        for (n, is_listened) in listened.into_iter().enumerate() {
            // the first messages of a week are spread over its three days, so that each week has records on all of them
            let slot = match (n, (k + week) % 3) {
                (0, 0) => SLOTS[0],
                (0, day) => SLOTS[2 * day - 1 + draws.below(2)],
                _ => draws.choose(&SLOTS),
            };
            let talk = match is_listened {
                true => LISTENED + draws.below(91),
                false => usize::from(draws.is(0.5)) * (1 + draws.below(LISTENED - 1)),
            };
            rows.push(message(programme, &mut draws, (week, slot), &person.phone, talk));
        }
    }
    if programme.options.faults && !rows.is_empty() {
        let mut draws = Draws::new(seed, Purpose::MessageFaults, &[week]);
        for _ in 0..REPEATED {
            rows.push(rows[draws.below(rows.len())].clone());
        }
        for _ in 0..UNKNOWN_NUMBERS {
            let (slot, number) = (draws.choose(&SLOTS), format!("99998{:05}", draws.below(100_000)));
            let talk = 20 + draws.below(60);
            rows.push(message(programme, &mut draws, (week, slot), &number, talk));
        }
        counts.unknown += UNKNOWN_NUMBERS;
        counts.repeated += REPEATED;
    }
    rows.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let seconds = |cell: &String| cell.parse().unwrap_or(0);
    for (_, _, cells) in &rows {
        counts.rows += 1;
        counts.silent += usize::from(cells[8].is_empty());
        counts.ringing += usize::from(seconds(&cells[8]) >= LISTENED && LISTENED > seconds(&cells[9]));
    }
    rows
}

/// The row of a message; without seconds of talk, the call was not answered.
fn message(
    programme: &SyntheticProgramme,
    draws: &mut Draws,
    (week, (weekday, hour)): (usize, (i64, usize)),
    number: &str,
    talk: usize,
) -> Row {
    let midnight = programme.day(week, weekday).to_datetime(jiff::civil::Time::midnight());
    let after = |time: DateTime, seconds: usize| time.saturating_add((seconds as i64).seconds());
    let created = after(midnight, 3600 * hour + draws.below(5 * 3600));
    let started = after(created, 1 + draws.below(4));
    let ringing = 4 + draws.below(40);
    let ended = after(started, ringing + talk);
    let status = ["no-answer", "busy", "failed"][draws.place(&[0.6, 0.25, 0.15])];
    let sid = format!("CA{:014x}", (draws.unit() * (1u64 << 53) as f64) as u64);
    let phone = match programme.options.faults {
        true => written_phone(draws, number),
        false => plain_phone(number),
    };
    let seconds = |seconds: usize| if talk > 0 { seconds.to_string() } else { String::new() };
    let text = |time: DateTime| time.strftime("%Y-%m-%d %H:%M:%S").to_string();
    let cells = vec![
        sid.clone(),
        text(created),
        PROGRAMME_NUMBER.into(),
        phone,
        "outbound-api".into(),
        if talk > 0 { "completed" } else { status }.into(),
        text(started),
        text(ended),
        seconds(ringing + talk),
        seconds(talk),
    ];
    (created, sid, cells)
}
