//! Dates and times, by declared formats only.
//!
//! A moment is kept as the wall clock of the programme shows it: seconds of the civil day, counted from 1 January 1970 without any
//! zone. What an export writes without a zone is taken as it stands, unless its column declares one; what it writes with an offset,
//! as UTC or as an epoch is turned to the programme's zone, which must then be declared.
//!
//! Without a format only dates that begin with the year are read: `2026-03-05`, `2026-03-05 14:30:00`, `2026-03-05T14:30:00.000Z`.
//! `03/04/2026` is never guessed: [`Clock::both_readings`] shows what it could mean.

use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::fmt::{rfc2822, strtime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;

/// How a column writes its dates.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DateFormat {
    /// year first
    Iso,
    /// milliseconds since 1970
    EpochMillis,
    /// seconds since 1970
    EpochSeconds,
    /// `Thu, 05 Mar 2026 14:30:00 +0000`
    Rfc2822,
    /// days since 1900, as spreadsheets count them
    Serial,
    /// `%d/%m/%Y`
    Pattern(String),
}

impl DateFormat {
    pub(crate) const EXPECTED: &str = "\"iso\", \"epoch\", \"epoch ms\", \"rfc2822\", \"serial\" or a pattern such as \"%d/%m/%Y\" or \
                                       \"%d-%b-%Y %H:%M\"";

    /// A format by its word or pattern; none where it could never read a date.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "iso" => Self::Iso,
            "epoch ms" => Self::EpochMillis,
            "epoch" => Self::EpochSeconds,
            "rfc2822" => Self::Rfc2822,
            "serial" => Self::Serial,
            pattern => {
                // it must write a date, and read back the same
                let moment: DateTime = "2026-03-25T14:35:50".parse().ok()?;
                let zoned = moment.to_zoned(TimeZone::UTC).ok()?;
                let written = strtime::format(pattern, &zoned).ok()?;
                let read = BrokenDownTime::parse(pattern, &written).ok()?;
                (read.to_date().ok()? == moment.date()).then(|| Self::Pattern(pattern.into()))?
            }
        })
    }

    /// Whether what it reads says where it is on the globe.
    pub(crate) fn is_absolute(&self) -> bool {
        match self {
            Self::EpochMillis | Self::EpochSeconds | Self::Rfc2822 => true,
            Self::Pattern(pattern) => {
                ["%z", "%:z", "%Z", "%Q", "%s"].iter().any(|part| pattern.contains(part))
            }
            Self::Iso | Self::Serial => false,
        }
    }

    /// The same with day and month in each other's place, where both are numbers.
    pub(crate) fn swapped(&self) -> Option<Self> {
        let Self::Pattern(pattern) = self else { return None };
        let has = |part: &str| pattern.contains(part);
        if !(has("%d") || has("%e") || has("%-d")) || !(has("%m") || has("%-m")) {
            return None;
        }
        let plain = pattern.replace("%-d", "%d").replace("%e", "%d").replace("%-m", "%m");
        Some(Self::Pattern(plain.replace("%d", "\u{0}").replace("%m", "%d").replace('\u{0}', "%m")))
    }

    /// As a mapping writes it.
    pub(crate) fn shown(&self) -> &str {
        match self {
            Self::Iso => "iso",
            Self::EpochMillis => "epoch ms",
            Self::EpochSeconds => "epoch",
            Self::Rfc2822 => "rfc2822",
            Self::Serial => "serial",
            Self::Pattern(pattern) => pattern,
        }
    }
}

/// Reads the cells of one column of dates.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    pub(crate) formats: Vec<DateFormat>,
    /// whether the mapping gives them
    pub(crate) is_declared: bool,
    /// of what is written without one
    pub(crate) zone: Option<TimeZone>,
    /// the programme's
    pub(crate) home: Option<TimeZone>,
    /// whether cells may be typed, and then come year first whatever the format
    pub(crate) is_typed: bool,
}

impl Clock {
    /// Seconds on the programme's wall clock.
    pub(crate) fn read(&self, cell: &str) -> Option<i64> {
        if self.is_typed
            && let Some(moment) = self.by(&DateFormat::Iso, cell)
        {
            return Some(moment);
        }
        self.formats.iter().find_map(|format| self.by(format, cell))
    }

    /// The same, by one format.
    pub(crate) fn by(&self, format: &DateFormat, cell: &str) -> Option<i64> {
        match format {
            DateFormat::Iso => {
                let (civil, offset) = iso(cell)?;
                match offset {
                    None => self.civil(civil),
                    Some(offset) => self.absolute(Timestamp::from_second(civil - offset).ok()?),
                }
            }
            DateFormat::EpochMillis => {
                let millis: f64 = cell.parse().ok()?;
                self.absolute(Timestamp::from_millisecond(whole(millis)?).ok()?)
            }
            DateFormat::EpochSeconds => {
                let seconds: f64 = cell.parse().ok()?;
                self.absolute(Timestamp::from_second(whole(seconds.floor())?).ok()?)
            }
            DateFormat::Rfc2822 => {
                static PARSER: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new();
                self.absolute(PARSER.parse_timestamp(cell).ok()?)
            }
            DateFormat::Serial => {
                let days: f64 = cell.parse().ok()?;
                // day 60 was 29 February 1900, which was not; nobody writes dates before that
                if !(61.0..2_958_466.0).contains(&days) {
                    return None;
                }
                self.civil(((days - 25_569.0) * DAY as f64).round() as i64)
            }
            DateFormat::Pattern(pattern) => {
                let read = BrokenDownTime::parse(pattern, cell).ok()?;
                if format.is_absolute() {
                    return self.absolute(read.to_timestamp().ok()?);
                }
                let date = read.to_date().ok()?;
                let time = read.to_time().ok();
                self.civil(
                    day_of(date) * DAY
                        + time.map_or(0, |t| {
                            i64::from(t.hour()) * 3600 + i64::from(t.minute()) * 60 + i64::from(t.second())
                        }),
                )
            }
        }
    }

    fn civil(&self, seconds: i64) -> Option<i64> {
        let (Some(zone), Some(home)) = (&self.zone, &self.home) else { return Some(seconds) };
        if zone == home {
            return Some(seconds);
        }
        let moment = zone.to_ambiguous_zoned(moment_of(seconds)?).compatible().ok()?;
        Some(seconds_of(home.to_datetime(moment.timestamp())))
    }

    fn absolute(&self, moment: Timestamp) -> Option<i64> {
        let home = self.home.as_ref()?;
        Some(seconds_of(home.to_datetime(moment)))
    }

    /// What a cell that no format reads could be: every usual pattern that reads it, with the day it would be.
    pub(crate) fn both_readings(cell: &str) -> Vec<(String, Date)> {
        let mut found = Vec::new();
        for separator in ["/", "-", "."] {
            for order in [["%d", "%m", "%Y"], ["%m", "%d", "%Y"], ["%d", "%m", "%y"], ["%m", "%d", "%y"]] {
                for time in ["", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p"] {
                    let pattern = order.join(separator) + time;
                    if let Some(date) =
                        BrokenDownTime::parse(&pattern, cell).ok().and_then(|read| read.to_date().ok())
                        && (1900..2100).contains(&date.year())
                    {
                        found.push((pattern, date));
                    }
                }
            }
        }
        found
    }
}

fn whole(x: f64) -> Option<i64> {
    (x.fract() == 0.0 && x.abs() < 1e17).then_some(x as i64)
}

/// A date and time with the year first: seconds, and the seconds by which it is ahead of UTC where it says so.
fn iso(cell: &str) -> Option<(i64, Option<i64>)> {
    let bytes = cell.as_bytes();
    let digits = |from: usize, count: usize| -> Option<i64> {
        let part = bytes.get(from..from + count)?;
        part.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| 10 * sum + i64::from(byte - b'0')))
    };
    if bytes.get(4) != Some(&b'-') || bytes.get(7) != Some(&b'-') {
        return None;
    }
    let date = Date::new(digits(0, 4)? as i16, digits(5, 2)? as i8, digits(8, 2)? as i8).ok()?;
    let day = day_of(date) * DAY;
    if bytes.len() == 10 {
        return Some((day, None));
    }
    if !matches!(bytes[10], b' ' | b'T' | b't') || bytes.get(13) != Some(&b':') {
        return None;
    }
    let (hour, minute) = (digits(11, 2)?, digits(14, 2)?);
    let (mut second, mut at) = (0, 16);
    if bytes.get(at) == Some(&b':') {
        second = digits(17, 2)?;
        at = 19;
        if matches!(bytes.get(at), Some(b'.' | b',')) {
            at += 1;
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
        }
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = day + 3600 * hour + 60 * minute + second.min(59);
    let rest = cell.get(at..)?.trim();
    if rest.is_empty() {
        return Some((seconds, None));
    }
    if rest.eq_ignore_ascii_case("z") || rest.eq_ignore_ascii_case("utc") {
        return Some((seconds, Some(0)));
    }
    let (sign, offset) = match rest.as_bytes()[0] {
        b'+' => (1, &rest[1..]),
        b'-' => (-1, &rest[1..]),
        _ => return None,
    };
    let plain: String = offset.chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match plain.len() {
        2 => (plain.parse::<i64>().ok()?, 0),
        4 => (plain.get(..2)?.parse::<i64>().ok()?, plain.get(2..)?.parse::<i64>().ok()?),
        _ => return None,
    };
    (hours < 15 && minutes < 60).then_some((seconds, Some(sign * (3600 * hours + 60 * minutes))))
}

/// Whether a cell is a time with the year first that says where it is on the globe.
pub(crate) fn has_offset(cell: &str) -> bool {
    matches!(iso(cell), Some((_, Some(_))))
}

/// Days since 1 January 1970.
pub(crate) fn day_of(date: Date) -> i64 {
    // Years begin in March, so that a leap day is the last of its year; 400 years are 146,097 days.
    let (year, month, day) = (i64::from(date.year()), i64::from(date.month()), i64::from(date.day()));
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date that is so many days after 1 January 1970, where the calendar goes that far.
pub(crate) fn date_of(day: i64) -> Option<Date> {
    Date::constant(1970, 1, 1).checked_add(i32::try_from(day).ok()?.days()).ok()
}

fn moment_of(seconds: i64) -> Option<DateTime> {
    let rest = seconds.rem_euclid(DAY);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    Some(date_of(seconds.div_euclid(DAY))?.at(hour as i8, minute as i8, second as i8, 0))
}

fn seconds_of(moment: DateTime) -> i64 {
    day_of(moment.date()) * DAY
        + i64::from(moment.hour()) * 3600
        + i64::from(moment.minute()) * 60
        + i64::from(moment.second())
}

/// `Monday 2 March 2026`.
pub(crate) fn in_words(day: i64) -> String {
    date_of(day).map_or_else(|| format!("day {day}"), |date| date.strftime("%A %-d %B %Y").to_string())
}

/// `2026-03-02`.
pub(crate) fn iso_day(day: i64) -> String {
    date_of(day).map_or_else(|| format!("day {day}"), |date| date.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(formats: &[&str], home: Option<&str>, zone: Option<&str>) -> Clock {
        let named = |name: &str| TimeZone::get(name).unwrap();
        Clock {
            formats: formats.iter().map(|format| DateFormat::parse(format).unwrap()).collect(),
            is_declared: true,
            zone: zone.map(named),
            home: home.map(named),
            is_typed: false,
        }
    }

    fn shown(clock: &Clock, cell: &str) -> Option<String> {
        clock.read(cell).map(|seconds| moment_of(seconds).unwrap().to_string())
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for day in (-200_000..200_000).step_by(37) {
            assert_eq!(day_of(date_of(day).unwrap()), day);
        }
        assert_eq!(day_of(Date::constant(2026, 3, 2)), 20_514);
        assert_eq!(in_words(20_514), "Monday 2 March 2026");
    }

    #[test]
    fn every_way_of_exports_is_read() {
        // 09:00 UTC is 14:30 in India
        let india = Some("Asia/Kolkata");
        for (format, cell) in [
            ("iso", "2026-03-05 14:30:00"),
            ("iso", "2026-03-05T14:30"),
            ("iso", "2026-03-05T09:00:00.000Z"),
            ("iso", "2026-03-05T11:00:00+02:00"),
            ("epoch ms", "1772701200000"),
            ("epoch", "1772701200"),
            ("rfc2822", "Thu, 05 Mar 2026 09:00:00 +0000"),
            ("%d/%m/%Y %H:%M", "05/03/2026 14:30"),
            ("%d-%b-%Y %H:%M", "05-Mar-2026 14:30"),
            ("%m/%d/%y %I:%M %p", "3/5/26 2:30 PM"),
            ("%Y-%m-%dT%H:%M:%S%z", "2026-03-05T11:00:00+0200"),
        ] {
            let read = shown(&clock(&[format], india, None), cell);
            assert_eq!(read.as_deref(), Some("2026-03-05T14:30:00"), "{format}");
        }
        // days since 1900 as spreadsheets count them: 46086 is 5 March 2026
        assert_eq!(shown(&clock(&["serial"], None, None), "46086.5").unwrap(), "2026-03-05T12:00:00");
        // a column in another zone than the programme's
        let utc = clock(&["%d/%m/%Y %H:%M"], india, Some("UTC"));
        assert_eq!(shown(&utc, "05/03/2026 20:00").unwrap(), "2026-03-06T01:30:00");
    }

    #[test]
    fn what_is_no_date_is_none() {
        let iso = clock(&["iso"], None, None);
        for cell in [
            "",
            "2026-02-30",
            "05/03/2026",
            "2026-3-5",
            "2026-03-05 25:00",
            "2026-03-05x",
            "yesterday",
            "2026-03-05T09:00Z",
        ] {
            assert_eq!(iso.read(cell), None, "{cell}");
        }
        assert_eq!(clock(&["%d/%m/%Y"], None, None).read("31/02/2026"), None);
        for pattern in ["", "%d", "day %q", "%d/%m", "%H:%M", "%"] {
            assert_eq!(DateFormat::parse(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn both_readings_of_a_day_and_month_are_shown() {
        let found = Clock::both_readings("03/04/2026");
        let days: Vec<String> = found.iter().map(|(pattern, date)| format!("{pattern} {date}")).collect();
        assert_eq!(days, ["%d/%m/%Y 2026-04-03", "%m/%d/%Y 2026-03-04"]);
        assert_eq!(Clock::both_readings("25/04/2026").len(), 1);
        let swapped = DateFormat::parse("%d/%m/%Y").unwrap().swapped();
        assert_eq!(swapped, DateFormat::parse("%m/%d/%Y"));
        assert_eq!(DateFormat::parse("%d-%b-%Y").unwrap().swapped(), None);
    }
}
