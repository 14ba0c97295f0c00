//! `mapping.toml`: what a programme's exports mean, declared once.
//!
//! ```toml
//! zone = "Asia/Kolkata"                    # the programme's wall clock; needed where an export says UTC, an offset or an epoch
//! country = "IN"                           # of telephone numbers without a country
//! missing = ["NA", "-", "?"]               # words for nothing, beside the empty cell; default: NA, N/A, null, nil, NaN, ---
//! decimal = ","                            # default "."
//!
//! [study]                                  # lines of study.toml: budget, discount, horizon, behaviour, assignment, name, unit, rewards, ends,
//!                                          # silenced
//! budget = 60
//!
//! [period]
//! every = "week"                           # from Monday; "week from Sunday", "month", "10 days"
//! from = 2026-01-05                        # default: the period of the first record
//! until = 2026-07-06                       # what happened from here on is left out; default: the last whole period
//!
//! [people]                                 # the registry
//! file = "registry.csv"                    # with delimiter, encoding, escape, skip, header where they are not to be recognised
//! id = "beneficiary_id"
//! joined = { column = "registered", format = "%d/%m/%Y" }
//! left = { column = "exit_date", format = "%d/%m/%Y", no = ["still here"] }   # words beside dates: yes, no
//! do_not_call = { column = "dnd", yes = ["yes"], no = ["no"] }   # every word in one list; an empty cell is no
//! keep = ["name", "phone"]                 # for the list; never learnt from
//! same = { column = "phone", as = "phone" } # people with one number are one person
//! cluster = "household"                    # people with equal cells are one cluster; not a feature
//!
//! [people.features]
//! language = "text"                        # the column of that name
//! income = { number = "income", bins = [5000, 20000] }
//! education = { text = "education", case = "lower", synonyms = { primary = ["prim.", "primry"] } }
//! age = { born = "date_of_birth", format = "%d/%m/%Y" }
//!
//! [[events]]                               # any number of logs
//! name = "messages"
//! file = "messages*.csv"
//! person = { column = "To", is = "phone", as = "phone" }   # `is`: a column of the registry, default its id
//!                                          # after = "/": only what follows the last of it, 6f2a of Patient/6f2a
//! time = "StartTime"
//! key = "CallSid"                          # what a record is known by; default: all of its cells
//! where = { Direction = "outbound-api" }
//! value = "ConversationDuration"           # default: 1 for every record; an empty cell counts 0
//!
//! [state]
//! measure = "largest"                      # of a period's values: "largest", "sum", "mean", "last", "count"
//! at_least = [30]                          # the state is how many of these the measure reaches
//! silence = "lowest"                       # a period without a record; or "unknown", "not enrolled" (until the first record)
//! names = ["not engaged", "engaged"]
//!
//! [actions]
//! file = "calls.csv"
//! person = { column = "Beneficiary", as = "folded" }
//! time = { column = "Call Date", format = "%d-%b-%Y %H:%M" }
//! outcome = { column = "Outcome", made = ["reached", "no answer"], not_made = ["cancelled"], unknown = ["wrong number"] }
//! counts = "made"                          # every call; "reached": only those whose outcome is in a list `reached` of outcome
//!
//! [availability]                           # when people could be called; default: in all periods
//! file = "absences.csv"                    # person, key and where as in [[events]]
//! person = "id"
//! time = "from"
//! until = "back_on"                        # last day of the record; an empty cell: no end. Default: the period of `time` alone
//! is = "unavailable"                       # in the periods of a record; or "available". In all other periods the opposite holds
//! ```
//!
//! `[exits]` (file, person, time) and `[do_not_call]` (file, person) may be files of their own. `through = { file = …, on = ["PARENT_KEY",
//! "KEY"] }` joins a log to another file whose columns it then has too: repeats to their form, events to their enrolment.

mod answers;
mod availability;
mod features;
mod log;
pub(crate) mod text;

pub(crate) use answers::Answers;
pub(crate) use availability::AvailabilityRule;
pub(crate) use features::{Feature, FeatureKind, Synonym, bin};
pub(crate) use log::{
    ActionRule, EventRule, LogRule, MADE, Measure, REACHED, Silence, StateRule, Through, TimeRule, ValueRule,
};
pub use text::{At, MappingText};

use crate::dates::DateFormat;
use crate::error::{Error, Result};
use crate::matching::Form;
use crate::periods::Every;
use crate::phones::Numbering;
use crate::source::{Reading, cell_error};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use log::{Context, log_keys};
use restive_tables::StudySettings;
use std::path::Path;
use text::Section;

/// Words that stand for nothing, where a mapping says nothing of them.
pub(crate) const MISSING: [&str; 11] =
    ["NA", "N/A", "n/a", "NULL", "null", "nil", "Nil", "NIL", "NaN", "nan", "---"];

/// The states that a study may have are fewer than its thresholds would be.
const MOST_THRESHOLDS: usize = 1000;

/// A mapping, read and checked as far as it can be without the files it names.
#[derive(Debug, Clone)]
pub struct Mapping {
    /// as it was written
    pub text: MappingText,
    pub(crate) missing: Vec<String>,
    pub(crate) every: Every,
    pub(crate) from: Option<At<Date>>,
    pub(crate) until: Option<At<Date>>,
    /// where `[period]` stands
    pub(crate) period_at: usize,
    pub(crate) people: PeopleRule,
    pub(crate) events: Vec<EventRule>,
    pub(crate) state: StateRule,
    pub(crate) actions: ActionRule,
    pub(crate) exits: Option<LogRule>,
    pub(crate) never: Option<LogRule>,
    pub(crate) availability: Option<AvailabilityRule>,
    pub(crate) settings: SettingLines,
}

/// The registry.
#[derive(Debug, Clone)]
pub(crate) struct PeopleRule {
    pub(crate) reading: At<Reading>,
    pub(crate) id: At<String>,
    pub(crate) form: Form,
    pub(crate) joined: Option<TimeRule>,
    /// dates of leaving, and words among them
    pub(crate) left: Option<(TimeRule, Answers)>,
    pub(crate) do_not_call: Option<(At<String>, Answers)>,
    pub(crate) keep: Vec<At<String>>,
    pub(crate) same: Option<(At<String>, Form)>,
    /// Column of clusters, which has the same name in the study.
    pub(crate) cluster: Option<At<String>>,
    pub(crate) features: Vec<Feature>,
    /// whether ids may stand in the study though they look like telephone numbers
    pub(crate) has_public_ids: bool,
}

/// The lines of study.toml that the mapping gives, each with its place.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingLines {
    lines: Vec<(String, String, usize)>,
}

impl Mapping {
    /// Reads a mapping.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|answer| restive_tables::Error::Io {
            path: path.into(),
            doing: "read",
            answer,
        })?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Error::Refused(format!("{}: found bytes that are no UTF-8, expected a mapping", path.display()))
        })?;
        Self::parse(MappingText { path: path.into(), text: text.trim_start_matches('\u{feff}').into() })
    }

    /// The same, from its text.
    pub fn parse(text: MappingText) -> Result<Self> {
        let parsed = text.parse()?;
        let whole = Section { text: &text, name: String::new(), at: 0, table: parsed.get_ref() };
        whole.only(&[
            "zone",
            "country",
            "missing",
            "decimal",
            "study",
            "period",
            "people",
            "events",
            "state",
            "actions",
            "exits",
            "do_not_call",
            "availability",
        ])?;
        let home = zone(&whole)?;
        let country = whole.read("country", "two letters such as \"IN\" or \"RW\"", |value| {
            Numbering::of(value.as_str()?)
        })?;
        let decimal = decimal(&whole)?.unwrap_or(b'.');
        let missing: Vec<String> = match whole.texts("missing")? {
            Some(words) => words.into_iter().map(|word| word.value).collect(),
            None => MISSING.map(String::from).to_vec(),
        };
        let country = country.map(|country| country.value);
        let context = Context { home: home.clone(), country, decimal, missing: &missing };

        let period = whole
            .section("period")?
            .ok_or_else(|| whole.missing("[period]", "a section [period] with every = \"week\""))?;
        period.only(&["every", "from", "until"])?;
        let (from, until) = (period.date("from")?, period.date("until")?);
        let every = period.need_text("every", Every::EXPECTED)?;
        let origin = from.as_ref().map(|from| from.value);
        let parsed_every = Every::parse(&every.value, origin).ok_or_else(|| {
            text.fault(every.at, format!("every: found {:?}, expected {}", every.value, Every::EXPECTED))
        })?;
        if let (Every::Days(..), None) = (parsed_every, &from) {
            return Err(period.missing("from", "the day on which the first period begins"));
        }
        if let (Some(from), Some(until)) = (&from, &until)
            && until.value <= from.value
        {
            return Err(text.fault(
                until.at,
                format!("until: found {}, expected a day after from = {}", until.value, from.value),
            ));
        }

        let people = whole
            .section("people")?
            .ok_or_else(|| whole.missing("[people]", "a section [people] with the registry"))?;
        let people = PeopleRule::parse(&people, &context)?;
        let events = whole.sections("events")?;
        if events.is_empty() {
            return Err(whole.missing("[[events]]", "at least one log of what people did"));
        }
        let events: Vec<EventRule> =
            events.iter().map(|section| EventRule::parse(section, &context)).collect::<Result<_>>()?;
        for (k, rule) in events.iter().enumerate() {
            let is_reserved = match &*rule.name.value {
                "actions" => true,
                "availability" => whole.get("availability").is_some(),
                _ => false,
            };
            if is_reserved || events[..k].iter().any(|other| other.name.value == rule.name.value) {
                let found = format!(
                    "name: found {:?} again, expected a name of its own for each log",
                    rule.name.value
                );
                return Err(text.fault(rule.name.at, found));
            }
        }
        let state = whole
            .section("state")?
            .ok_or_else(|| whole.missing("[state]", "a section [state] with at_least = [...]"))?;
        let state = StateRule::parse(&state, &events)?;
        let actions = whole
            .section("actions")?
            .ok_or_else(|| whole.missing("[actions]", "a section [actions] with the log of calls"))?;
        let actions = ActionRule::parse(&actions, &context)?;
        let log = |key: &str, needs_time: bool| {
            let Some(section) = whole.section(key)? else { return Ok(None) };
            section.only(&log_keys(&[]))?;
            LogRule::parse(&section, &context, needs_time).map(Some)
        };
        let (exits, never) = (log("exits", true)?, log("do_not_call", false)?);
        let availability = whole.section("availability")?;
        let availability =
            availability.map(|section| AvailabilityRule::parse(&section, &context)).transpose()?;
        if let (Some((left, _)), Some(_)) = (&people.left, &exits) {
            return Err(text.fault(
                left.column.at,
                "left: found a column beside a section [exits], expected one of them",
            ));
        }
        let settings = match whole.section("study")? {
            None => SettingLines::default(),
            Some(section) => SettingLines::parse(&section)?,
        };
        drop(parsed);
        let mapping = Self {
            missing,
            every: parsed_every,
            from,
            until,
            period_at: every.at,
            people,
            events,
            state,
            actions,
            exits,
            never,
            availability,
            settings,
            text,
        };
        // says what is wrong with them before anything is read
        mapping.settings.study(&mapping, 1)?;
        Ok(mapping)
    }

    /// Whether a cell stands for nothing.
    pub(crate) fn is_missing(&self, cell: &str) -> bool {
        cell.is_empty() || self.missing.iter().any(|word| word == cell)
    }

    /// Reason why a cell holds no value, unless the mapping takes its text for missing.
    pub(crate) fn error_in(&self, cell: &str) -> Option<String> {
        cell_error(cell).filter(|_| !self.is_missing(cell))
    }

    /// Names of all columns that the mapping reads.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        let people = &self.people;
        let times = people.joined.iter().chain(people.left.iter().map(|(time, _)| time));
        let people = [&people.id]
            .into_iter()
            .chain(times.map(|time| &time.column))
            .chain(people.do_not_call.iter().map(|(column, _)| column))
            .chain(&people.keep)
            .chain(people.same.iter().map(|(column, _)| column))
            .chain(&people.cluster)
            .chain(people.features.iter().map(|feature| &feature.column));
        let values = self.events.iter().filter_map(|rule| rule.value.as_ref()).map(|value| &value.column);
        let logs = self.events.iter().map(|rule| &rule.log).chain([&self.actions.log]);
        let logs = logs.chain(&self.exits).chain(&self.never);
        let logs = logs.chain(self.availability.iter().map(|rule| &rule.log)).flat_map(LogRule::columns);
        let ends = self.availability.iter().filter_map(|rule| rule.until.as_ref()).map(|until| &until.column);
        people
            .chain(values)
            .chain(&self.actions.outcome)
            .chain(logs)
            .chain(ends)
            .map(|column| column.value.as_str())
    }

    /// Settings of the study; `budget` is used if the mapping names no budget.
    pub(crate) fn settings(&self, budget: usize) -> Result<StudySettings> {
        self.settings.study(self, budget)
    }

    /// Whether the mapping gives the number of calls in a period.
    pub(crate) fn has_budget(&self) -> bool {
        self.settings.has("budget")
    }
}

fn zone(section: &Section<'_>) -> Result<Option<TimeZone>> {
    let expected = "a zone such as \"Asia/Kolkata\", \"Africa/Kigali\" or \"UTC\"";
    Ok(section.read("zone", expected, |value| TimeZone::get(value.as_str()?).ok())?.map(|zone| zone.value))
}

fn decimal(section: &Section<'_>) -> Result<Option<u8>> {
    let read = section.read("decimal", "\".\" or \",\"", |value| match value.as_str()? {
        "." => Some(b'.'),
        "," => Some(b','),
        _ => None,
    })?;
    Ok(read.map(|decimal| decimal.value))
}

impl PeopleRule {
    fn parse(section: &Section<'_>, context: &Context<'_>) -> Result<Self> {
        let mut known =
            vec!["id", "joined", "left", "do_not_call", "keep", "same", "cluster", "features", "public_ids"];
        known.extend(log::READING);
        section.only(&known)?;
        let reading = log::reading(section)?;
        let (id, form) = match section.text_or_section("id")? {
            None => return Err(section.missing("id", "the column of ids")),
            Some(Ok(column)) => (column, Form::Exact),
            Some(Err(inner)) => {
                inner.only(&["column", "as"])?;
                (inner.need_text("column", "the column of ids")?, log::form(&inner, context)?)
            }
        };
        let joined = TimeRule::parse(section, "joined", context)?;
        let words = match section.text_or_section("left")? {
            Some(Err(inner)) => Answers::parse(&inner)?,
            _ => Answers::default(),
        };
        let left =
            TimeRule::parse_beside(section, "left", &["yes", "no"], context)?.map(|time| (time, words));
        let do_not_call = match section.text_or_section("do_not_call")? {
            None => None,
            Some(Ok(column)) => {
                let expected = format!("{{ column = {:?}, yes = [\"yes\"], no = [\"no\"] }}", column.value);
                return Err(section
                    .text
                    .fault(column.at, format!("do_not_call: found a column alone, expected {expected}")));
            }
            Some(Err(inner)) => {
                inner.only(&["column", "yes", "no"])?;
                if inner.get("yes").is_none() {
                    return Err(inner.missing("yes", "the words that say that a person must not be called"));
                }
                Some((inner.need_text("column", "a column")?, Answers::parse(&inner)?))
            }
        };
        let same = match section.text_or_section("same")? {
            None => None,
            Some(Ok(column)) => Some((column, Form::Exact)),
            Some(Err(inner)) => {
                inner.only(&["column", "as"])?;
                Some((inner.need_text("column", "a column")?, log::form(&inner, context)?))
            }
        };
        let keep = section.texts("keep")?.unwrap_or_default();
        let cluster = section.text("cluster")?;
        let features = features::parse(section, context)?;
        for feature in &features {
            if let Some(kept) = keep.iter().find(|kept| kept.value == feature.column.value)
                && !matches!(feature.kind, FeatureKind::Born { .. } | FeatureKind::Asked)
            {
                let found = format!(
                    "found column {:?} in keep and as the feature {}, expected one of them: what is kept for the list is never learnt from",
                    kept.value, feature.name
                );
                return Err(section.text.fault(feature.column.at, found));
            }
            if let Some(cluster) = &cluster
                && [&feature.column.value, &feature.name].contains(&&cluster.value)
            {
                let found = format!(
                    "cluster: found column {:?} as the cluster and as the feature {}, expected one of them: a cluster is not a feature",
                    cluster.value, feature.name
                );
                return Err(section.text.fault(cluster.at, found));
            }
            if feature.column.value == id.value {
                let found = format!(
                    "found the id as the feature {}, expected something that says more than who it is",
                    feature.name
                );
                return Err(section.text.fault(feature.column.at, found));
            }
        }
        let has_public_ids = section.flag("public_ids")?.is_some_and(|flag| flag.value);
        Ok(Self {
            reading,
            id,
            form,
            joined,
            left,
            do_not_call,
            keep,
            same,
            cluster,
            features,
            has_public_ids,
        })
    }
}

impl SettingLines {
    const KNOWN: [&str; 10] = [
        "name",
        "budget",
        "discount",
        "horizon",
        "behaviour",
        "assignment",
        "unit",
        "rewards",
        "ends",
        "silenced",
    ];

    fn parse(section: &Section<'_>) -> Result<Self> {
        section.only(&Self::KNOWN)?;
        let lines = section.table.iter().map(|(key, value)| {
            let written = section.text.text[value.span()].to_owned();
            (key.get_ref().to_string(), written.replace(['\n', '\r'], " "), value.span().start)
        });
        Ok(Self { lines: lines.collect() })
    }

    fn has(&self, key: &str) -> bool {
        self.lines.iter().any(|(known, ..)| known == key)
    }

    /// Settings of the study. A fault in a line is reported at its place in the mapping.
    fn study(&self, mapping: &Mapping, budget: usize) -> Result<StudySettings> {
        let defaults = [
            ("states", mapping.state.states().to_string()),
            ("budget", budget.to_string()),
            ("discount", "0.99".into()),
            ("horizon", "10".into()),
            ("behaviour", "\"estimated\"".into()),
        ];
        let absent = defaults.into_iter().filter(|(key, _)| !self.has(key));
        let mut all: Vec<(String, String, usize)> = self.lines.clone();
        all.extend(absent.map(|(key, value)| (key.to_string(), value, mapping.state.at)));
        if let Some(cluster) = &mapping.people.cluster {
            let quoted = toml::Value::from(cluster.value.clone()).to_string();
            all.push(("cluster".into(), quoted, cluster.at));
        }
        let text: String = all.iter().map(|(key, value, _)| format!("{key} = {value}\n")).collect();
        StudySettings::from_text(Path::new("study.toml"), &text).map_err(|error| match error {
            restive_tables::Error::Settings { line, found, .. } => {
                let at = |line: usize| all.get(line.saturating_sub(1)).map_or(0, |(_, _, at)| *at);
                mapping.text.fault(at(line), renumbered(&found, |line| mapping.text.line(at(line))))
            }
            other => other.into(),
        })
    }
}

/// Message about lines of study.toml in which the number of the other line, `(line 3)`, is replaced by its number in the mapping.
fn renumbered(found: &str, line: impl Fn(usize) -> usize) -> String {
    let Some((before, rest)) = found.split_once("(line ") else { return found.into() };
    match rest.split_once(')') {
        Some((number, after)) => match number.parse::<usize>() {
            Ok(number) => format!("{before}(line {}){after}", line(number)),
            Err(_) => found.into(),
        },
        None => found.into(),
    }
}

/// Refuses a number of thresholds that no study could have.
fn most_thresholds(section: &Section<'_>, thresholds: &[At<f64>]) -> Result<()> {
    match thresholds.get(MOST_THRESHOLDS) {
        None => Ok(()),
        Some(extra) => Err(section
            .text
            .fault(extra.at, format!("at_least: found more than {MOST_THRESHOLDS} numbers, expected fewer"))),
    }
}

/// A list of formats by their words.
fn formats(section: &Section<'_>) -> Result<Vec<At<DateFormat>>> {
    let parse = |text: At<String>| match DateFormat::parse(&text.value) {
        Some(format) => Ok(At { value: format, at: text.at }),
        None => Err(section.text.fault(
            text.at,
            format!("format: found {:?}, which reads no date, expected {}", text.value, DateFormat::EXPECTED),
        )),
    };
    section.texts("format")?.unwrap_or_default().into_iter().map(parse).collect()
}
