//! What a mapping says of a log: its file, whom a record is about, when it was, what it counts.

use super::text::{At, Section};
use super::{decimal, formats, most_thresholds, zone};
use crate::dates::{Clock, DateFormat};
use crate::error::Result;
use crate::matching::{Form, folded};
use crate::phones::Numbering;
use crate::source::Reading;
use jiff::tz::TimeZone;

/// What the whole mapping says and its sections go by.
pub(crate) struct Context<'m> {
    pub(crate) home: Option<TimeZone>,
    pub(crate) country: Option<&'static Numbering>,
    pub(crate) decimal: u8,
    /// words for nothing
    pub(crate) missing: &'m [String],
}

impl Context<'_> {
    /// Refuses a word that is given a meaning though `missing` takes a cell with it for empty.
    pub(super) fn refuse_missing(
        &self,
        section: &Section<'_>,
        key: &str,
        word: &str,
        at: usize,
    ) -> Result<()> {
        let plain = folded(word);
        if self.missing.iter().all(|missing| folded(missing) != plain) {
            return Ok(());
        }
        let others: Vec<&String> = self.missing.iter().filter(|missing| folded(missing) != plain).collect();
        let found = format!(
            "{key}: found {word:?}, which is also a word for missing and would be read as empty; if it is a word of its own, write missing \
             = {others:?} at the top of the mapping"
        );
        Err(section.text.fault(at, found))
    }
}

/// The keys that say how a file is read.
pub(crate) const READING: [&str; 6] = ["file", "delimiter", "encoding", "escape", "skip", "header"];

/// The keys of a log, and more.
pub(crate) fn log_keys<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut keys: Vec<&str> = READING.to_vec();
    keys.extend(["person", "time", "key", "where", "through"]);
    keys.extend(more);
    keys
}

pub(crate) fn reading(section: &Section<'_>) -> Result<At<Reading>> {
    let file = section.need_text("file", "the name of a file, beside the mapping or by its path")?;
    let encoding = section.text("encoding")?;
    if let Some(label) = &encoding
        && encoding_rs::Encoding::for_label(label.value.as_bytes()).is_none()
    {
        let found = format!(
            "encoding: found {:?}, expected one such as \"utf-8\", \"utf-16le\" or \"iso-8859-1\"",
            label.value
        );
        return Err(section.text.fault(label.at, found));
    }
    let names = |names: Vec<At<String>>| names.into_iter().map(|name| name.value).collect();
    let value = Reading {
        file: file.value,
        delimiter: section.letter("delimiter")?.map(|letter| letter.value),
        encoding: encoding.map(|label| label.value),
        escape: section.letter("escape")?.map(|letter| letter.value),
        skip: section.whole("skip")?.map_or(0, |skip| skip.value),
        header: section.texts("header")?.map(names),
    };
    Ok(At { value, at: file.at })
}

/// How a column is compared: `as = "phone"`.
pub(crate) fn form(section: &Section<'_>, context: &Context<'_>) -> Result<Form> {
    let Some(word) = section.text("as")? else { return Ok(Form::Exact) };
    match (&*word.value, context.country) {
        ("exact", _) => Ok(Form::Exact),
        ("folded", _) => Ok(Form::Folded),
        ("phone", Some(country)) => Ok(Form::Phone(country)),
        ("phone", None) => Err(section.text.fault(
            word.at,
            "as: found \"phone\" and no country, expected a line country = \"IN\" or the like at the top: numbers are written without their country",
        )),
        (other, _) => Err(section.text.fault(
            word.at,
            format!("as: found {other:?}, expected \"exact\", \"folded\" (without capitals and spaces) or \"phone\""),
        )),
    }
}

/// A column of dates.
#[derive(Debug, Clone)]
pub(crate) struct TimeRule {
    pub(crate) column: At<String>,
    pub(crate) clock: Clock,
    /// what the key was
    pub(crate) key: String,
}

impl TimeRule {
    pub(crate) fn parse(section: &Section<'_>, key: &str, context: &Context<'_>) -> Result<Option<Self>> {
        Self::parse_beside(section, key, &[], context)
    }

    /// Parses a table that may have other keys too.
    pub(crate) fn parse_beside(
        section: &Section<'_>,
        key: &str,
        others: &[&str],
        context: &Context<'_>,
    ) -> Result<Option<Self>> {
        let (column, formats, zone) = match section.text_or_section(key)? {
            None => return Ok(None),
            Some(Ok(column)) => (column, Vec::new(), None),
            Some(Err(inner)) => {
                inner.only(&[&["column", "format", "zone"], others].concat())?;
                (inner.need_text("column", "a column of dates")?, formats(&inner)?, zone(&inner)?)
            }
        };
        Self::of(section, key, column, formats, zone, context).map(Some)
    }

    /// The declared format and zone, as a mapping has them before further keys.
    pub(crate) fn written(&self) -> String {
        let Clock { formats, is_declared, zone, .. } = &self.clock;
        let shown: Vec<&str> = formats.iter().map(DateFormat::shown).collect();
        let format = match &shown[..] {
            _ if !is_declared => String::new(),
            [one] => format!("format = {one:?}, "),
            several => format!("format = {several:?}, "),
        };
        let zone = zone.as_ref().and_then(TimeZone::iana_name);
        format + &zone.map_or_else(String::new, |zone| format!("zone = {zone:?}, "))
    }

    pub(crate) fn of(
        section: &Section<'_>,
        key: &str,
        column: At<String>,
        formats: Vec<At<DateFormat>>,
        zone: Option<TimeZone>,
        context: &Context<'_>,
    ) -> Result<Self> {
        if context.home.is_none()
            && let Some(at) = formats
                .iter()
                .find(|format| format.value.is_absolute())
                .map(|format| format.at)
                .or(zone.as_ref().map(|_| column.at))
        {
            let found = format!(
                "{key}: found times with a zone of their own, expected a line zone = \"Asia/Kolkata\" or the like at the top: whose days the programme goes by"
            );
            return Err(section.text.fault(at, found));
        }
        let is_declared = !formats.is_empty();
        let mut all: Vec<DateFormat> = formats.into_iter().map(|format| format.value).collect();
        if !is_declared {
            all.push(DateFormat::Iso);
        }
        let clock = Clock { formats: all, is_declared, zone, home: context.home.clone(), is_typed: false };
        Ok(Self { column, clock, key: key.into() })
    }
}

/// Whom a record is about.
#[derive(Debug, Clone)]
pub(crate) struct PersonRule {
    pub(crate) column: At<String>,
    /// the column of the registry that it is compared with; none: the id
    pub(crate) is: Option<At<String>>,
    pub(crate) form: Form,
    /// what stands before the id in a cell ends in this
    pub(crate) after: Option<String>,
}

impl PersonRule {
    /// The part of a cell that names somebody: `6f2a` of `Patient/6f2a`.
    pub(crate) fn named<'c>(&self, cell: &'c str) -> &'c str {
        let found = self.after.as_ref().and_then(|after| cell.rsplit_once(after.as_str()));
        found.map_or(cell, |(_, rest)| rest.trim())
    }

    fn parse(section: &Section<'_>, context: &Context<'_>) -> Result<Self> {
        match section.text_or_section("person")? {
            None => Err(section.missing("person", "the column that says whom a record is about")),
            Some(Ok(column)) => Ok(Self { column, is: None, form: Form::Exact, after: None }),
            Some(Err(inner)) => {
                inner.only(&["column", "is", "as", "after"])?;
                let column = inner.need_text("column", "the column that says whom a record is about")?;
                let expected = "what ids stand after, such as \"/\"";
                let after = inner.read("after", expected, |value| {
                    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
                })?;
                let (is, form) = (inner.text("is")?, form(&inner, context)?);
                Ok(Self { column, is, form, after: after.map(|after| after.value) })
            }
        }
    }
}

/// A file whose columns a log has too.
#[derive(Debug, Clone)]
pub(crate) struct Through {
    pub(crate) reading: At<Reading>,
    /// the column of the log
    pub(crate) here: At<String>,
    /// the column of the other file
    pub(crate) there: At<String>,
}

/// A log.
#[derive(Debug, Clone)]
pub(crate) struct LogRule {
    pub(crate) reading: At<Reading>,
    pub(crate) person: PersonRule,
    pub(crate) time: Option<TimeRule>,
    pub(crate) key: Vec<At<String>>,
    /// records are used where each column has one of the words
    pub(crate) filter: Vec<(At<String>, Vec<String>)>,
    pub(crate) through: Option<Through>,
}

impl LogRule {
    pub(crate) fn parse(section: &Section<'_>, context: &Context<'_>, needs_time: bool) -> Result<Self> {
        let reading = reading(section)?;
        let person = PersonRule::parse(section, context)?;
        let time = TimeRule::parse(section, "time", context)?;
        if time.is_none() && needs_time {
            return Err(section.missing("time", "the column that says when it was"));
        }
        let mut filter = Vec::new();
        if let Some(inner) = section.section("where")? {
            for key in inner.table.keys() {
                let words = inner.texts(key.get_ref())?.unwrap_or_default();
                let words = words.into_iter().map(|word| folded(&word.value)).collect();
                filter.push((At { value: key.get_ref().to_string(), at: key.span().start }, words));
            }
        }
        let through = match section.section("through")? {
            None => None,
            Some(inner) => {
                let mut known = READING.to_vec();
                known.push("on");
                inner.only(&known)?;
                let mut on = inner.texts("on")?.unwrap_or_default().into_iter();
                let (Some(here), there, None) = (on.next(), on.next(), on.next()) else {
                    return Err(inner.missing("on", "on = [\"the column here\", \"the column there\"]"));
                };
                let there = there.unwrap_or_else(|| here.clone());
                Some(Through { reading: self::reading(&inner)?, here, there })
            }
        };
        Ok(Self { reading, person, time, key: section.texts("key")?.unwrap_or_default(), filter, through })
    }

    /// The columns of the log, those of the registry and of the joined file too.
    pub(super) fn columns(&self) -> impl Iterator<Item = &At<String>> {
        let through = self.through.iter().flat_map(|through| [&through.here, &through.there]);
        let filter = self.filter.iter().map(|(column, _)| column);
        [&self.person.column]
            .into_iter()
            .chain(&self.person.is)
            .chain(self.time.iter().map(|time| &time.column))
            .chain(&self.key)
            .chain(filter)
            .chain(through)
    }
}

/// A log of what people did.
#[derive(Debug, Clone)]
pub(crate) struct EventRule {
    pub(crate) name: At<String>,
    pub(crate) log: LogRule,
    pub(crate) value: Option<ValueRule>,
}

/// What a record counts.
#[derive(Debug, Clone)]
pub(crate) struct ValueRule {
    pub(crate) column: At<String>,
    pub(crate) decimal: u8,
    /// what words count, folded
    pub(crate) levels: Option<Vec<(String, f64)>>,
}

impl EventRule {
    pub(crate) fn parse(section: &Section<'_>, context: &Context<'_>) -> Result<Self> {
        section.only(&log_keys(&["name", "value"]))?;
        let log = LogRule::parse(section, context, true)?;
        let name = match section.text("name")? {
            Some(name) => name,
            // what the file is called, without folders, ending and stars
            None => {
                let file = log.reading.value.file.split('#').next().unwrap_or_default();
                let stem =
                    std::path::Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file);
                let stem =
                    stem.split('.').next().unwrap_or(stem).trim_matches(|c: char| !c.is_alphanumeric());
                At { value: stem.to_string(), at: log.reading.at }
            }
        };
        let value = match section.text_or_section("value")? {
            None => None,
            Some(Ok(column)) => Some(ValueRule { column, decimal: context.decimal, levels: None }),
            Some(Err(inner)) => {
                inner.only(&["column", "decimal", "levels"])?;
                let column = inner.need_text("column", "a column of numbers")?;
                let decimal = decimal(&inner)?.unwrap_or(context.decimal);
                let levels = match inner.section("levels")? {
                    None => None,
                    Some(words) => {
                        let level = |key: &str, at: usize| {
                            context.refuse_missing(&words, "levels", key, at)?;
                            let number =
                                words.numbers(key)?.and_then(|numbers| numbers.first().map(|x| x.value));
                            Ok((folded(key), number.unwrap_or(0.0)))
                        };
                        Some(
                            words
                                .table
                                .keys()
                                .map(|key| level(key.get_ref(), key.span().start))
                                .collect::<Result<Vec<_>>>()?,
                        )
                    }
                };
                Some(ValueRule { column, decimal, levels })
            }
        };
        Ok(Self { name, log, value })
    }
}

/// What the values of a period are summed up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    Largest,
    Sum,
    Mean,
    Last,
    Count,
}

impl Measure {
    const ALL: [(&str, Self); 5] = [
        ("largest", Self::Largest),
        ("sum", Self::Sum),
        ("mean", Self::Mean),
        ("last", Self::Last),
        ("count", Self::Count),
    ];

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, measure)| *measure == self).map_or("", |(name, _)| name)
    }
}

/// What a period without a record means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence {
    /// the lowest state
    Lowest,
    /// the state is not known
    Unknown,
    /// before the first record: nobody there yet; afterwards the lowest state
    NotEnrolled,
}

/// From the records of a period to a state.
#[derive(Debug, Clone)]
pub(crate) struct StateRule {
    /// the logs that count, by position
    pub(crate) from: Vec<usize>,
    pub(crate) measure: Measure,
    pub(crate) at_least: Vec<f64>,
    pub(crate) silence: Silence,
    pub(crate) names: Vec<String>,
    /// where the section stands
    pub(crate) at: usize,
}

impl StateRule {
    pub(crate) fn parse(section: &Section<'_>, events: &[EventRule]) -> Result<Self> {
        section.only(&["from", "measure", "at_least", "silence", "names"])?;
        let known = || events.iter().map(|rule| rule.name.value.clone()).collect::<Vec<_>>().join(", ");
        let from = match section.texts("from")? {
            None => (0..events.len()).collect(),
            Some(names) => {
                let find = |name: &At<String>| {
                    events.iter().position(|rule| rule.name.value == name.value).ok_or_else(|| {
                        let found =
                            format!("from: found {:?}, expected the name of a log: {}", name.value, known());
                        section.text.fault(name.at, found)
                    })
                };
                names.iter().map(find).collect::<Result<Vec<_>>>()?
            }
        };
        let word = |key: &str, expected: &str| {
            section.read(key, expected, |value| value.as_str().map(str::to_owned))
        };
        let expected = "\"largest\", \"sum\", \"mean\", \"last\" or \"count\"";
        let measure = match word("measure", expected)? {
            None => Measure::Largest,
            Some(name) => Measure::ALL
                .iter()
                .find(|(known, _)| *known == name.value)
                .map(|(_, measure)| *measure)
                .ok_or_else(|| {
                    section
                        .text
                        .fault(name.at, format!("measure: found {:?}, expected {expected}", name.value))
                })?,
        };
        let at_least = section.numbers("at_least")?.ok_or_else(|| {
            section.missing("at_least", "at_least = [30], the measures from which a state is the next one")
        })?;
        most_thresholds(section, &at_least)?;
        for pair in at_least.windows(2) {
            if !(pair[0].value < pair[1].value) {
                let found = format!(
                    "at_least: found {} after {}, expected rising numbers",
                    pair[1].value, pair[0].value
                );
                return Err(section.text.fault(pair[1].at, found));
            }
        }
        if at_least.is_empty() {
            return Err(section.missing("number in at_least", "at least one"));
        }
        let expected = "\"lowest\", \"unknown\" or \"not enrolled\"";
        let silence = match word("silence", expected)? {
            None => {
                return Err(section.missing("silence", "what a period without any record means: \"lowest\" (not engaged), \"unknown\" or \"not enrolled\" (until the first record)"));
            }
            Some(name) => match &*name.value {
                "lowest" => Silence::Lowest,
                "unknown" => Silence::Unknown,
                "not enrolled" => Silence::NotEnrolled,
                other => {
                    return Err(section
                        .text
                        .fault(name.at, format!("silence: found {other:?}, expected {expected}")));
                }
            },
        };
        let names: Vec<At<String>> = section.texts("names")?.unwrap_or_default();
        if let Some(first) = names.first()
            && names.len() != at_least.len() + 1
        {
            let found =
                format!("names: found {}, expected {}: one for each state", names.len(), at_least.len() + 1);
            return Err(section.text.fault(first.at, found));
        }
        let names = match names.is_empty() {
            true => (0..=at_least.len()).map(|state| format!("in state {state}")).collect(),
            false => names.into_iter().map(|name| name.value).collect(),
        };
        let at_least = at_least.into_iter().map(|number| number.value).collect();
        Ok(Self { from, measure, at_least, silence, names, at: section.at })
    }

    /// M
    pub(crate) fn states(&self) -> usize {
        self.at_least.len() + 1
    }

    /// The state of a measure.
    pub(crate) fn state(&self, measure: f64) -> u16 {
        self.at_least.iter().filter(|threshold| measure >= **threshold).count() as u16
    }
}

/// What counts as a call.
#[derive(Debug, Clone)]
pub(crate) struct ActionRule {
    pub(crate) log: LogRule,
    pub(crate) outcome: Option<At<String>>,
    pub(crate) meanings: Vec<Meaning>,
    /// whether a call counts only where the person was reached
    pub(crate) counts_reached: bool,
}

/// What an outcome means.
#[derive(Debug, Clone)]
pub(crate) struct Meaning {
    /// folded
    pub(crate) plain: String,
    /// as the mapping writes it
    pub(crate) word: String,
    /// [`NOT_MADE`], [`MADE`], [`REACHED`], or NaN where it is not known
    pub(crate) value: f64,
}

/// No call.
pub(crate) const NOT_MADE: f64 = 0.0;
/// A call.
pub(crate) const MADE: f64 = 1.0;
/// A call that reached the person.
pub(crate) const REACHED: f64 = 2.0;

impl ActionRule {
    pub(crate) fn parse(section: &Section<'_>, context: &Context<'_>) -> Result<Self> {
        section.only(&log_keys(&["outcome", "counts"]))?;
        let log = LogRule::parse(section, context, true)?;
        let counts = section.text("counts")?;
        let counts_reached = match counts.as_ref().map(|counts| &*counts.value) {
            None | Some("made") => false,
            Some("reached") => true,
            Some(other) => {
                let found = format!("counts: found {other:?}, expected \"made\" (every call) or \"reached\"");
                return Err(section.text.fault(counts.map_or(section.at, |counts| counts.at), found));
            }
        };
        let mut meanings: Vec<Meaning> = Vec::new();
        let expected = "outcome = { column = \"…\", reached = [\"reached\", …], made = [\"no answer\", …], not_made = […], unknown = […] }: is an unanswered call a call?";
        let inner = match section.text_or_section("outcome")? {
            None if counts_reached => {
                return Err(section.missing(
                    "outcome",
                    "outcome = { column = …, reached = […], … }: who counts as reached",
                ));
            }
            None => return Ok(Self { log, outcome: None, meanings, counts_reached }),
            Some(Ok(column)) => {
                let found = format!("outcome: found a column alone, expected {expected}");
                return Err(section.text.fault(column.at, found));
            }
            Some(Err(inner)) => inner,
        };
        inner.only(&["column", "reached", "made", "not_made", "unknown"])?;
        let outcome = Some(inner.need_text("column", "the column of outcomes")?);
        let lists = [("reached", REACHED), ("made", MADE), ("not_made", NOT_MADE), ("unknown", f64::NAN)];
        for (key, value) in lists {
            for word in inner.texts(key)?.unwrap_or_default() {
                let plain = folded(&word.value);
                if meanings.iter().any(|known| known.plain == plain) {
                    let found = format!(
                        "{key}: found {:?} a second time, expected each outcome in one list",
                        word.value
                    );
                    return Err(section.text.fault(word.at, found));
                }
                meanings.push(Meaning { plain, word: word.value, value });
            }
        }
        let least = if counts_reached { REACHED } else { MADE };
        if !meanings.iter().any(|meaning| meaning.value >= least) {
            let found = format!("outcome: found no outcome that is a call, expected {expected}");
            return Err(section.text.fault(inner.at, found));
        }
        Ok(Self { log, outcome, meanings, counts_reached })
    }

    /// Whether a record of such a value is a call that counts.
    pub(crate) fn is_call(&self, value: f64) -> bool {
        value == REACHED || (value == MADE && !self.counts_reached)
    }
}
