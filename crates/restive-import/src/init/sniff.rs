//! What the cells of a column look like.
//!
//! One pass over the first rows of a table. Cells are counted by what they could be: dates by every usual format, numbers with a point
//! or a comma, telephone numbers, words for missing. Words are kept only while a column has few, and hashes for finding the same people
//! in another table; what is written of them is for [`write`](super::write) to say, and it says little.

use super::profile::words;
use crate::dates::{Clock, DAY, DateFormat, date_of, has_offset};
use crate::matching::folded;
use crate::numbers::number;
use crate::source::{Source, SourceError, cell_error};
use crate::words::{FEW, Words};
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

/// Rows that are looked at.
const ROWS: u64 = 50_000;
/// Cells of a column that are tried as dates.
const DATED: u64 = 2000;
/// What a column looks like.
#[derive(Debug, Clone, Default)]
pub(super) struct Looks {
    pub(super) name: String,
    /// cells that are not missing
    pub(super) cells: u64,
    /// their different hashes, of the folded cell
    pub(super) keys: HashSet<u64>,
    /// hashes of the cells as they stand
    pub(super) exact: HashSet<u64>,
    /// hashes of the last nine digits, of cells that look like telephone numbers
    pub(super) tails: HashSet<u64>,
    /// cells that look like telephone numbers
    pub(super) phones: u64,
    /// every word, and every word without a digit
    all_words: Words,
    undated_words: Words,
    /// words and how often, while there are few
    words: BTreeMap<String, u64>,
    has_many: bool,
    /// words that look like missing, without those that are taken for it anyway
    pub(super) missing: BTreeMap<String, u64>,
    /// cells read with a point, with a comma, and by both to different numbers
    pub(super) pointed: u64,
    pub(super) commas: u64,
    pub(super) either: u64,
    tried: u64,
    dates: BTreeMap<String, (u64, String)>,
}

/// What a column of dates is written in.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Dated {
    No,
    /// one format; whether it says where on the globe
    Is {
        format: String,
        is_absolute: bool,
    },
    /// day and month could be either: both formats, a cell, and what it would be
    Either {
        formats: [String; 2],
        example: String,
        days: [String; 2],
    },
}

/// A table that was looked at.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) rows: u64,
    pub(super) columns: Vec<Looks>,
}

impl Table {
    pub(super) fn column(&self, name: &str) -> Option<&Looks> {
        self.columns.iter().find(|column| column.name == name)
    }
}

enum Halt {
    Enough,
    Source(SourceError),
}

impl From<SourceError> for Halt {
    fn from(error: SourceError) -> Self {
        Halt::Source(error)
    }
}

/// Looks at the first rows of a table.
pub(super) fn look(mut source: Source) -> Result<Table, SourceError> {
    let header = source.header().to_vec();
    let mut columns: Vec<Looks> =
        header.iter().map(|name| Looks { name: name.clone(), ..Looks::default() }).collect();
    let all: Vec<usize> = (0..header.len()).collect();
    let formats = formats();
    let clock = Clock {
        formats: Vec::new(),
        is_declared: true,
        zone: None,
        home: Some(TimeZone::UTC),
        is_typed: false,
    };
    let mut rows = 0;
    let read = source.rows(&all, |row| {
        rows += 1;
        if row.fault().is_none() {
            for (k, column) in columns.iter_mut().enumerate() {
                column.take(row.cell(k), &formats, &clock);
            }
        }
        if rows < ROWS { Ok(()) } else { Err(Halt::Enough) }
    });
    match read {
        Ok(()) | Err(Halt::Enough) => Ok(Table { rows, columns }),
        Err(Halt::Source(error)) => Err(error),
    }
}

/// Every usual way of writing a date.
fn formats() -> Vec<(DateFormat, bool)> {
    let mut formats =
        vec![(DateFormat::Iso, false), (DateFormat::Rfc2822, true), (DateFormat::EpochMillis, true)];
    let mut days: Vec<String> =
        ["%Y/%m/%d", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"]
            .map(String::from)
            .to_vec();
    for separator in ["/", "-", "."] {
        for order in [["%d", "%m", "%Y"], ["%m", "%d", "%Y"], ["%d", "%m", "%y"], ["%m", "%d", "%y"]] {
            days.push(order.join(separator));
        }
    }
    for day in days {
        for time in ["", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p"] {
            formats.push((DateFormat::Pattern(format!("{day}{time}")), false));
        }
    }
    formats
}

impl Looks {
    fn take(&mut self, cell: &str, formats: &[(DateFormat, bool)], clock: &Clock) {
        let plain = folded(cell);
        if plain.is_empty() || cell_error(cell).is_some() {
            return;
        }
        self.all_words.take(cell, 0);
        if !cell.contains(char::is_numeric) {
            self.undated_words.take(cell, 0);
        }
        if words().missing.iter().any(|word| folded(word) == plain) {
            *self.missing.entry(cell.into()).or_default() += 1;
            return;
        }
        self.cells += 1;
        self.keys.insert(xxh3_64(plain.as_bytes()));
        self.exact.insert(xxh3_64(cell.as_bytes()));
        if !self.has_many {
            *self.words.entry(cell.into()).or_default() += 1;
            if self.words.len() > 2 * FEW {
                self.has_many = true;
                self.words.clear();
            }
        }
        let digits: Vec<u8> = cell.bytes().filter(u8::is_ascii_digit).collect();
        let is_part = |c: char| c.is_ascii_digit() || c.is_whitespace() || "+-()./".contains(c);
        let mut is_date = false;
        if self.tried < DATED {
            self.tried += 1;
            is_date = self.take_date(cell, formats, clock);
        }
        if !is_date && cell.chars().all(is_part) && (9..=15).contains(&digits.len()) {
            self.phones += 1;
            self.tails.insert(xxh3_64(&digits[digits.len() - 9..]));
        }
        self.take_number(cell);
    }

    fn take_date(&mut self, cell: &str, formats: &[(DateFormat, bool)], clock: &Clock) -> bool {
        let mut is_date = false;
        if cell.len() < 6 || cell.len() > 40 || !cell.bytes().any(|byte| byte.is_ascii_digit()) {
            return false;
        }
        for (format, _) in formats {
            let Some(seconds) = clock.by(format, cell) else { continue };
            let year = date_of(seconds.div_euclid(DAY)).map_or(0, |date| date.year());
            if !(1900..2100).contains(&year) || (*format == DateFormat::EpochMillis && year < 2001) {
                continue;
            }
            is_date = true;
            let has_offset = *format == DateFormat::Iso && has_offset(cell);
            let name = if has_offset { "iso with an offset" } else { format.shown() };
            let counted = self.dates.entry(name.into()).or_insert((0, cell.into()));
            counted.0 += 1;
        }
        is_date
    }

    fn take_number(&mut self, cell: &str) {
        let (letters, digits) = cell.chars().fold((0, 0), |(letters, digits), c| {
            (letters + usize::from(c.is_alphabetic()), digits + usize::from(c.is_ascii_digit()))
        });
        if letters > 3 || digits == 0 || (letters > 0 && !cell.contains([' ', '.', '\u{a0}'])) {
            return;
        }
        let (point, comma) = (number(cell, b'.'), number(cell, b','));
        self.pointed += u64::from(point.is_some());
        self.commas += u64::from(comma.is_some());
        self.either += u64::from(point.is_some() && comma.is_some() && point != comma);
    }

    /// Whether the name of the column has one of these parts.
    pub(super) fn is_called(&self, parts: &[String]) -> bool {
        let name = self.name.to_lowercase();
        parts.iter().any(|part| name.contains(part))
    }

    /// Whether there is another value in nearly every cell.
    pub(super) fn is_distinct(&self) -> bool {
        self.cells > 0 && self.keys.len() as u64 * 20 >= self.cells * 19
    }

    pub(super) fn is_phone(&self) -> bool {
        self.cells > 0 && 2 * self.phones > self.cells
    }

    pub(super) fn is_number(&self) -> bool {
        self.cells > 0 && self.pointed.max(self.commas) * 10 >= self.cells * 9 && !self.is_phone()
    }

    /// Words of a column of categories: few, and repeated; no numbers, and nothing of a column that may name people.
    pub(super) fn categories(&self) -> Vec<&String> {
        let is_few = !self.has_many && self.words.len() <= FEW && self.words.len() as u64 * 2 <= self.cells;
        if !is_few || self.is_number() || self.is_phone() || self.is_called(&words().kept) {
            return Vec::new();
        }
        let is_word = |word: &&String| word.bytes().filter(u8::is_ascii_digit).count() < 5;
        self.words.keys().filter(is_word).collect()
    }

    /// Words of a column of yes and no, those that look like missing too. `rows` is the number of rows.
    pub(super) fn answers(&self, rows: u64) -> Vec<(&str, u64)> {
        self.all_words.shown(rows)
    }

    /// Words without a digit: not dates.
    pub(super) fn undated(&self, rows: u64) -> Vec<(&str, u64)> {
        self.undated_words.shown(rows)
    }

    /// How often a word stands in the column, whatever its capitals.
    pub(super) fn count(&self, word: &str) -> u64 {
        let lower = word.to_lowercase();
        self.words.iter().filter(|(other, _)| other.to_lowercase() == lower).map(|(_, count)| count).sum()
    }

    /// What its dates are written in.
    pub(super) fn dated(&self) -> Dated {
        let offset = self.dates.get("iso with an offset").map_or(0, |(count, _)| *count);
        if offset * 10 >= self.tried * 9 && self.tried > 0 {
            return Dated::Is { format: "iso".into(), is_absolute: true };
        }
        let best = self.dates.iter().max_by_key(|(name, (count, _))| {
            // the one with the year first, then with the day first
            (*count, *name == "iso", name.starts_with("%d"))
        });
        let Some((name, (count, example))) = best else { return Dated::No };
        if *count * 10 < self.tried * 8 {
            return Dated::No;
        }
        let format = DateFormat::parse(name);
        let swapped = format.as_ref().and_then(DateFormat::swapped);
        if let Some(swapped) = &swapped
            && self.dates.get(swapped.shown()).is_some_and(|(other, _)| other == count)
        {
            let formats = [name.clone(), swapped.shown().to_string()];
            let readings = Clock::both_readings(example);
            let day = |pattern: &String| {
                let found = readings.iter().find(|(known, _)| known == pattern);
                found.map_or(String::new(), |(_, date)| date.strftime("%-d %B %Y").to_string())
            };
            let days = [day(&formats[0]), day(&formats[1])];
            return Dated::Either { formats, example: example.clone(), days };
        }
        let is_absolute = format.as_ref().is_some_and(DateFormat::is_absolute);
        Dated::Is { format: name.clone(), is_absolute }
    }

    /// Cells that only the other order of day and month reads.
    pub(super) fn is_mixed(&self, format: &str) -> bool {
        let swapped = DateFormat::parse(format).and_then(|format| format.swapped());
        let count = |name: &str| self.dates.get(name).map_or(0, |(count, _)| *count);
        count(format) < self.tried && swapped.is_some_and(|swapped| count(swapped.shown()) > 0)
    }
}
