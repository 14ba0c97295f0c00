//! The calendar of a programme: weeks, months or runs of days.
//!
//! Periods are numbered, and each has the day on which it begins; its decision is made then, at 00:00 on the programme's wall clock.

use crate::dates::{date_of, day_of};
use jiff::civil::Date;

/// How long a period is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Every {
    /// seven days; the day since 1970 on which some week begins
    Week(i64),
    /// a month of the calendar
    Month,
    /// so many days, from a day on
    Days(i64, i64),
}

impl Every {
    pub(crate) const EXPECTED: &str =
        "\"week\" (from Monday), \"week from Sunday\", \"month\" or \"10 days\"";

    /// `origin` is the day on which runs of days begin.
    pub(crate) fn parse(text: &str, origin: Option<Date>) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["week"] => Some(Self::Week(4)), // 5 January 1970 was a Monday
            ["week", "from", day] => {
                let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
                let which = days.iter().position(|name| name.eq_ignore_ascii_case(day))?;
                Some(Self::Week(4 + which as i64))
            }
            ["month"] => Some(Self::Month),
            [count, "day" | "days"] => {
                let count = count.parse().ok().filter(|count| (1..=3660).contains(count))?;
                Some(Self::Days(count, origin.map_or(0, day_of)))
            }
            _ => None,
        }
    }

    /// The period of a day.
    pub(crate) fn number(self, day: i64) -> i64 {
        match self {
            Self::Week(first) => (day - first).div_euclid(7),
            Self::Days(count, first) => (day - first).div_euclid(count),
            Self::Month => date_of(day)
                .map_or(i64::MIN / 2, |date| 12 * i64::from(date.year()) + i64::from(date.month()) - 1),
        }
    }

    /// The day on which a period begins.
    pub(crate) fn start(self, number: i64) -> i64 {
        match self {
            Self::Week(first) => 7 * number + first,
            Self::Days(count, first) => count * number + first,
            Self::Month => {
                let (year, month) = (number.div_euclid(12), number.rem_euclid(12) + 1);
                Date::new(year.clamp(-9999, 9999) as i16, month as i8, 1).map_or(0, day_of)
            }
        }
    }

    /// What a period is called.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Week(_) => "week",
            Self::Month => "month",
            Self::Days(..) => "period",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_is_in_the_period_that_begins_last() {
        let origin = Some(Date::constant(2026, 1, 7));
        for (text, days) in
            [("week", 7..=7), ("week from Sunday", 7..=7), ("month", 28..=31), ("10 days", 10..=10)]
        {
            let every = Every::parse(text, origin).unwrap();
            for day in 20_000..20_800 {
                let number = every.number(day);
                let (start, end) = (every.start(number), every.start(number + 1));
                assert!(start <= day && day < end && days.contains(&(end - start)), "{text} {day}");
            }
        }
        let start = |text| Every::parse(text, origin).unwrap();
        let day = |date: &str| day_of(date.parse().unwrap());
        for (text, expected) in
            [("week", "2026-03-02"), ("week from Sunday", "2026-03-01"), ("month", "2026-03-01")]
        {
            let every = start(text);
            assert_eq!(every.start(every.number(day("2026-03-05"))), day(expected));
        }
        for text in ["", "fortnight", "0 days", "week from Noday", "ten days"] {
            assert_eq!(Every::parse(text, origin), None, "{text}");
        }
    }
}
