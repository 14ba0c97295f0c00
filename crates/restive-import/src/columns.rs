//! The columns of a source that a mapping asks for, and what its dates turn out to be.
//!
//! A column is found by its name or the mapping is wrong, at that line. Dates are read by declared formats; what the column as a whole
//! looks like then says whether the declaration can be right: a format that leaves cells unread which it would read with day and month
//! in each other's place, or that makes a jumble of a log which is in order the other way round, is refused.

use crate::dates::{Clock, DAY, DateFormat, date_of, day_of, has_offset};
use crate::error::Result;
use crate::mapping::{At, Mapping, TimeRule};
use crate::matching::folded;
use crate::source::Source;
use jiff::civil::Date;
use restive_tables::show::quoted_name;
use std::collections::{BTreeMap, HashSet};

/// How many names a message lists.
const LISTED: usize = 30;

/// Columns of one source.
pub(crate) struct Wanted<'a> {
    mapping: &'a Mapping,
    header: Vec<String>,
    files: Vec<String>,
    is_typed: bool,
    positions: Vec<usize>,
    clocks: BTreeMap<usize, TimeRule>,
}

impl<'a> Wanted<'a> {
    pub(crate) fn new(mapping: &'a Mapping, source: &Source) -> Self {
        Self {
            mapping,
            header: source.header().to_vec(),
            files: source.files().to_vec(),
            is_typed: source.is_typed(),
            positions: Vec::new(),
            clocks: BTreeMap::new(),
        }
    }

    /// Whether the source has a column.
    pub(crate) fn find(&mut self, name: &str) -> Option<usize> {
        let position = self.header.iter().position(|column| column == name)?;
        Some(match self.positions.iter().position(|known| *known == position) {
            Some(k) => k,
            None => {
                self.positions.push(position);
                self.positions.len() - 1
            }
        })
    }

    /// A column that must be there.
    pub(crate) fn need(&mut self, column: &At<String>) -> Result<usize> {
        match self.find(&column.value) {
            Some(k) => Ok(k),
            None => Err(self.mapping.text.fault(column.at, self.absent(&column.value))),
        }
    }

    pub(crate) fn absent(&self, name: &str) -> String {
        // cells are shown only if the mapping names one of them: others may be a person's row
        let known: HashSet<String> = self.mapping.columns().map(folded).collect();
        if !self.header.iter().any(|cell| known.contains(&folded(cell))) {
            return format!(
                "found no column {} in {} and no other that the mapping names: the first line looks like a row, expected one with names, skip = … if \
                 it is below, or header = [\"…\", …] beside file",
                quoted_name(name),
                self.files.join(", ")
            );
        }
        let like = |column: &&String| folded(column) == folded(name);
        let tip =
            self.header.iter().find(like).map_or(String::new(), |column| format!(" ({column:?} is there)"));
        let is_name = |cell: &&String| cell.bytes().filter(u8::is_ascii_digit).count() < 6;
        let names = self.header.iter().take(LISTED).filter(is_name);
        let mut names: Vec<String> = names.map(|name| quoted_name(name)).collect();
        if self.header.len() > LISTED {
            names.push("…".into());
        }
        format!(
            "found no column {} in {}{tip}, expected one of {}",
            quoted_name(name),
            self.files.join(", "),
            names.join(", ")
        )
    }

    /// A column of dates.
    pub(crate) fn time(&mut self, rule: &TimeRule) -> Result<usize> {
        let k = self.need(&rule.column)?;
        self.clock(k, rule);
        Ok(k)
    }

    /// Says how a column writes its dates.
    pub(crate) fn clock(&mut self, k: usize, rule: &TimeRule) {
        let mut rule = rule.clone();
        rule.clock.is_typed = self.is_typed;
        self.clocks.insert(k, rule);
    }

    pub(crate) fn positions(&self) -> &[usize] {
        &self.positions
    }

    pub(crate) fn name(&self, k: usize) -> &str {
        &self.header[self.positions[k]]
    }
}

/// Reads dates and keeps account of them.
pub(crate) struct Dates {
    columns: BTreeMap<usize, DateColumn>,
}

struct DateColumn {
    rule: TimeRule,
    read: u64,
    failed: u64,
    /// cells in UTC or with an offset, where no zone is declared to turn them to
    homeless: u64,
    /// cells that are read only with day and month in each other's place
    rescued: u64,
    swapped: Option<DateFormat>,
    /// cells whose day and month could change places, and how often the next one is earlier: as declared, and swapped
    exchangeable: u64,
    earlier: [u64; 2],
    last: [i64; 2],
    /// of cells that no format reads: the patterns that would, how many, and the first cell that two of them read
    candidates: BTreeMap<String, u64>,
    example: Option<(u64, String)>,
}

/// The dates of the columns that have clocks.
pub(crate) fn read_dates(wanted: &Wanted<'_>) -> Dates {
    let column = |(k, rule): (&usize, &TimeRule)| {
        let swapped = match &rule.clock.formats[..] {
            [format] => format.swapped(),
            _ => None,
        };
        let column = DateColumn {
            rule: rule.clone(),
            read: 0,
            failed: 0,
            homeless: 0,
            rescued: 0,
            swapped,
            exchangeable: 0,
            earlier: [0; 2],
            last: [i64::MIN; 2],
            candidates: BTreeMap::new(),
            example: None,
        };
        (*k, column)
    };
    Dates { columns: wanted.clocks.iter().map(column).collect() }
}

impl Dates {
    /// Seconds on the programme's wall clock; none: the cell is no date.
    pub(crate) fn read(&mut self, k: usize, cell: &str, line: u64) -> Option<i64> {
        let column = self.columns.get_mut(&k).expect("a column with a clock");
        let read = column.rule.clock.read(cell);
        match read {
            Some(seconds) => {
                column.read += 1;
                if column.swapped.is_some() {
                    column.compare(seconds);
                }
            }
            None => {
                column.failed += 1;
                column.wonder(cell, line);
            }
        }
        read
    }

    /// Refuses declarations that the columns as a whole speak against.
    pub(crate) fn judge(&self, wanted: &Wanted<'_>) -> Result<()> {
        let refuse = |column: &DateColumn, found: String| {
            Err(wanted.mapping.text.fault(column.rule.column.at, format!("{}: {found}", column.rule.key)))
        };
        for column in self.columns.values() {
            let all = column.read + column.failed;
            let file = wanted.files.join(", ");
            let name = quoted_name(&column.rule.column.value);
            if column.homeless > 0 {
                let found = format!(
                    "found times in UTC or with an offset in column {name} of {file}, expected a line zone = \"Asia/Kolkata\" or the like at \
                     the top: whose days the programme goes by"
                );
                return refuse(column, found);
            }
            if !column.rule.clock.is_declared && column.failed > 0 {
                if let Some((line, cell)) = &column.example {
                    let readings: Vec<String> = Clock::both_readings(cell)
                        .iter()
                        .map(|(pattern, date)| format!("{} as {pattern:?}", long(*date)))
                        .collect();
                    let counts: Vec<String> = column
                        .candidates
                        .iter()
                        .map(|(pattern, count)| format!("{pattern:?} reads {count}"))
                        .collect();
                    let found = format!(
                        "found {cell:?} in line {line} of {file}, which is {}, expected {{ column = {name}, format = … }}; of {} such cells {}",
                        readings.join(" and "),
                        column.failed,
                        counts.join(", ")
                    );
                    return refuse(column, found);
                }
                if column.read == 0 {
                    let found = format!(
                        "found no date with the year first in column {name} of {file}, expected {{ column = {name}, format = … }}"
                    );
                    return refuse(column, found);
                }
            }
            let declared =
                column.rule.clock.formats.iter().map(DateFormat::shown).collect::<Vec<_>>().join(", ");
            if let Some(swapped) = &column.swapped
                && column.rescued > column.read - column.exchangeable
                && column.rescued * 50 > all
            {
                let found = format!(
                    "found {} of {all} cells of column {name} in {file} that {declared:?} does not read and {:?} does, expected the format of the file: are day and month in each other's place?",
                    column.rescued,
                    swapped.shown()
                );
                return refuse(column, found);
            }
            if column.read == 0 && column.failed > 0 {
                let found = format!(
                    "found no cell of column {name} in {file} that {declared:?} reads, expected the format of the file"
                );
                return refuse(column, found);
            }
            let pairs = column.exchangeable;
            if let Some(swapped) = &column.swapped
                && pairs >= 50
                && 2 * pairs > column.read
                && 20 * column.earlier[0] > pairs
                && 100 * column.earlier[1] < pairs
            {
                let found = format!(
                    "found a log in order if its dates are read as {:?}, and out of order {} times as {declared:?}, expected the format of the file: are day and month in each other's place?",
                    swapped.shown(),
                    column.earlier[0]
                );
                return refuse(column, found);
            }
        }
        Ok(())
    }

    /// Cells that were left unread in columns of which others were read.
    pub(crate) fn mixed(&self, wanted: &Wanted<'_>) -> Vec<String> {
        let mixed = self.columns.values().filter(|column| column.rescued > 0 && column.read > 0);
        let note = |column: &DateColumn| {
            format!(
                "{}, column {}: {} read only with day and month in each other's place and are quarantined; others may have been swapped unseen",
                wanted.files.join(", "),
                quoted_name(&column.rule.column.value),
                restive_tables::words::counted(column.rescued, "date")
            )
        };
        mixed.map(note).collect()
    }
}

impl DateColumn {
    /// Follows the order of a log under both readings.
    fn compare(&mut self, seconds: i64) {
        let Some(date) = date_of(seconds.div_euclid(DAY)) else { return };
        if date.day() > 12 {
            return;
        }
        let Ok(swapped) = Date::new(date.year(), date.day(), date.month()) else { return };
        self.exchangeable += 1;
        let readings = [seconds, day_of(swapped) * DAY + seconds.rem_euclid(DAY)];
        for (k, reading) in readings.into_iter().enumerate() {
            // a day earlier: logs are seldom in order to the minute
            self.earlier[k] += u64::from(reading < self.last[k].saturating_sub(DAY));
            self.last[k] = reading;
        }
    }

    /// What a cell that is no date as declared could be.
    fn wonder(&mut self, cell: &str, line: u64) {
        const ENOUGH: u64 = 100_000;
        self.homeless += u64::from(self.rule.clock.home.is_none() && has_offset(cell));
        if let Some(swapped) = &self.swapped {
            self.rescued += u64::from(self.rule.clock.by(swapped, cell).is_some());
        }
        if self.rule.clock.is_declared || self.failed > ENOUGH {
            return;
        }
        let readings = Clock::both_readings(cell);
        let has_two = readings.len() > 1;
        for (pattern, _) in &readings {
            *self.candidates.entry(pattern.clone()).or_default() += 1;
        }
        let is_better = match &self.example {
            None => !readings.is_empty(),
            Some((_, known)) => has_two && Clock::both_readings(known).len() < 2,
        };
        if is_better {
            self.example = Some((line, cell.into()));
        }
    }
}

/// `3 April 2026`.
fn long(date: Date) -> String {
    date.strftime("%-d %B %Y").to_string()
}
