//! The rules of a programme, `rules.toml`: how many may be called, who may not, how many of whom.
//!
//! ```toml
//! budget = 60                          # places in all; default: the study's
//! explore = 0.1                        # the share of places that is drawn by lot; default 0
//! must_call = ["MB-00012"]             # by id
//! never_call = ["MB-00040"]
//! wrong_numbers = "leave out"          # default; or "call"
//!
//! [[limit]]                            # caps and floors: so many of each value of a column
//! by = "worker"
//! at_most = 15
//! at_least = 2
//!
//! [[limit]]
//! by = "centre"
//! at_most = { north = 15, "*" = 20 }   # * : every other value
//!
//! [[cool_down]]                        # periods after a call in which nobody is called again
//! periods = 4
//! after = ["reached"]                  # outcomes; default: any call
//!
//! [[leave_out]]
//! if = "last_seen >= 8"                # see `condition`
//! because = "not seen for 8 weeks"     # optional words for the summary
//!
//! [cost]                               # of a call
//! column = "minutes"                   # or each = 2.5
//! at_most = 600
//! ```
//!
//! Columns are those kept of people (worker, centre, household), the features of the study, and what the log knows: `state`,
//! `last_seen` and `last_call` (periods ago, 0 in the period that has just ended; missing: never), `calls` (so far). Every rule keeps its
//! position in the file, so that an error names its line if the data cannot meet the rule.
//!
//! Each rule is priced by a list without it, and each condition is evaluated for each person. Therefore a file has at most [`MOST_LIMITS`]
//! limits, [`MOST_LEFT_OUT`] rules that leave people out, and [`MOST_VALUES`] comparisons and listed values in all conditions.

pub(crate) mod condition;
pub(crate) mod people;

use crate::error::{Error, Result};
use crate::plan::candidates;
use crate::text_file::read_text_file;
use condition::Condition;
use restive_tables::show;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Largest number of limits.
const MOST_LIMITS: usize = 100;
/// Largest number of cool-downs and conditions. Two other rules can leave people out: wrong numbers and `never_call`.
const MOST_LEFT_OUT: usize = candidates::MOST - 2;
/// Largest number of comparisons and listed values in all conditions.
const MOST_VALUES: usize = 1_000;

/// The rules of a programme.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    path: PathBuf,
    /// as they were written
    pub text: String,
    /// places in all
    pub budget: Option<usize>,
    /// the share of places that is drawn by lot
    pub explore: Option<f64>,
    /// the model to plan with, by name
    pub model: Option<String>,
    /// the column that sheets are made by
    pub worker: Option<String>,
    /// by id
    pub must_call: Vec<String>,
    /// by id
    pub never_call: Vec<String>,
    /// whether people with a wrong number are called all the same
    pub calls_wrong_numbers: bool,
    pub(crate) limits: Vec<Limit>,
    pub(crate) cool_downs: Vec<CoolDown>,
    pub(crate) leave_outs: Vec<LeaveOut>,
    pub(crate) cost: Option<Cost>,
}

impl Rules {
    /// The columns of people and features that the rules read.
    pub fn columns(&self) -> Vec<&str> {
        let limits = self.limits.iter().map(|limit| limit.by.as_str());
        let conditions = self.leave_outs.iter().flat_map(|leave_out| leave_out.condition.columns());
        let cost = self.cost.iter().filter_map(|cost| cost.column.as_deref());
        limits.chain(conditions).chain(cost).chain(self.worker.as_deref()).collect()
    }

    /// The ids that the rules name.
    pub fn ids(&self) -> Vec<String> {
        self.must_call.iter().chain(&self.never_call).cloned().collect()
    }

    /// How many lists from the next one on cool-downs keep somebody off, whose last call was so many periods ago and came to this; 0: none.
    pub fn waits(&self, last_call: Option<usize>, last_outcome: &str) -> usize {
        let (Some(ago), came) = (last_call, folded(last_outcome)) else { return 0 };
        let applies = |one: &&CoolDown| one.after.is_empty() || one.after.contains(&came);
        self.cool_downs.iter().filter(applies).map(|one| one.periods.saturating_sub(ago)).max().unwrap_or(0)
    }

    /// Whether places go by rank alone, among those who may have one: no limits, no costs, nobody who has to be called, no draws.
    pub fn is_by_rank_alone(&self) -> bool {
        let has_draws = self.explore.is_some_and(|share| share > 0.0);
        self.limits.is_empty() && self.cost.is_none() && self.must_call.is_empty() && !has_draws
    }
}

/// So many of each value of a column.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    pub(crate) at: usize,
    pub(crate) by: String,
    pub(crate) at_least: Bounds,
    pub(crate) at_most: Bounds,
}

/// A number for each value of a column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bounds {
    /// of values without one of their own
    pub(crate) other: Option<usize>,
    pub(crate) named: BTreeMap<String, usize>,
}

impl Bounds {
    pub(crate) fn of(&self, value: &str) -> Option<usize> {
        self.named.get(value).copied().or(self.other)
    }

    fn words(&self, what: &str) -> Vec<String> {
        let named =
            self.named.iter().map(|(value, bound)| format!("{what} {bound} of {}", show::name(value)));
        let other = self.other.map(|bound| match self.named.is_empty() {
            true => format!("{what} {bound}"),
            false => format!("{what} {bound} of others"),
        });
        named.chain(other).collect()
    }
}

/// Periods after a call in which a person is not called again.
#[derive(Debug, Clone)]
pub(crate) struct CoolDown {
    pub(crate) periods: usize,
    /// folded outcomes; empty: any call
    pub(crate) after: Vec<String>,
}

/// Whoever satisfies a condition is left out.
#[derive(Debug, Clone)]
pub(crate) struct LeaveOut {
    pub(crate) at: usize,
    pub(crate) condition: Condition,
    pub(crate) because: String,
}

/// What a call costs, and what all of them may.
#[derive(Debug, Clone)]
pub(crate) struct Cost {
    pub(crate) at: usize,
    pub(crate) column: Option<String>,
    pub(crate) each: f64,
    pub(crate) at_most: f64,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Written {
    budget: Option<usize>,
    explore: Option<Spanned<f64>>,
    model: Option<String>,
    worker: Option<String>,
    #[serde(default)]
    must_call: Vec<String>,
    #[serde(default)]
    never_call: Vec<String>,
    wrong_numbers: Option<Spanned<String>>,
    #[serde(default)]
    limit: Vec<Spanned<WrittenLimit>>,
    #[serde(default)]
    cool_down: Vec<Spanned<WrittenCoolDown>>,
    #[serde(default)]
    leave_out: Vec<WrittenLeaveOut>,
    cost: Option<Spanned<WrittenCost>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLimit {
    by: String,
    at_least: Option<WrittenBounds>,
    at_most: Option<WrittenBounds>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a whole number, or a table such as { north = 15, \"*\" = 20 }")]
enum WrittenBounds {
    All(usize),
    Each(BTreeMap<String, usize>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCoolDown {
    periods: usize,
    after: Option<OneOrMany>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "an outcome or a list of outcomes in quotation marks")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLeaveOut {
    #[serde(rename = "if")]
    condition: Spanned<String>,
    because: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCost {
    column: Option<String>,
    each: Option<f64>,
    at_most: f64,
}

/// An outcome as outcomes are compared: `Wrong number`, `wrong_number` and `wrong-number` are one.
pub(crate) fn folded(outcome: &str) -> String {
    let words = outcome.split(|c: char| c.is_whitespace() || c == '_' || c == '-').filter(|w| !w.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

impl Rules {
    /// Remedy for an empty file of rules.
    pub const IF_EMPTY: &str = "restore it from a backup, or remove it to plan without rules";

    /// Reads a file of rules.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text_file(path, Self::IF_EMPTY)?;
        Self::parse(path, text.strip_prefix('\u{feff}').unwrap_or(&text))
    }

    /// The rules in a text; `path` is what messages call it.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let mut rules = Rules { path: path.into(), text: text.into(), ..Rules::default() };
        let written: Written = toml::from_str(text).map_err(|error| {
            let said = show::sentence(error.message());
            // the parser's words for a number
            let said = said
                .replace(" as i128", "")
                .replace("expected usize", "expected a whole number, not negative");
            rules.fault(error.span().map_or(0, |span| span.start), said)
        })?;
        rules.explore = match &written.explore {
            None => None,
            Some(share) if (0.0..=1.0).contains(share.get_ref()) => Some(*share.get_ref()),
            Some(share) => {
                let found = format!("explore: found {}, expected a share from 0 to 1", share.get_ref());
                return Err(rules.fault(share.span().start, found));
            }
        };
        rules.calls_wrong_numbers = match &written.wrong_numbers {
            None => false,
            Some(word) => match folded(word.get_ref()).as_str() {
                "leave out" => false,
                "call" => true,
                _ => {
                    let found = format!(
                        "wrong_numbers: found {}, expected \"leave out\" or \"call\"",
                        show::quoted_name(word.get_ref())
                    );
                    return Err(rules.fault(word.span().start, found));
                }
            },
        };
        if let Some(limit) = written.limit.get(MOST_LIMITS) {
            let found = format!("found {} [[limit]], expected at most {MOST_LIMITS}", written.limit.len());
            return Err(rules.fault(limit.span().start, found));
        }
        let left_out = written.cool_down.len() + written.leave_out.len();
        if left_out > MOST_LEFT_OUT {
            let last = written.leave_out.last().map(|last| last.condition.span());
            let at = last.or(written.cool_down.last().map(Spanned::span)).map_or(0, |span| span.start);
            let found = format!(
                "found {left_out} [[cool_down]] and [[leave_out]] in all, expected at most {MOST_LEFT_OUT}: one condition can join \
                 several with or"
            );
            return Err(rules.fault(at, found));
        }
        for limit in written.limit {
            let (at, limit) = (limit.span().start, limit.into_inner());
            let bounds = |written: Option<WrittenBounds>| match written {
                None => Bounds::default(),
                Some(WrittenBounds::All(bound)) => Bounds { other: Some(bound), named: BTreeMap::new() },
                Some(WrittenBounds::Each(mut named)) => Bounds { other: named.remove("*"), named },
            };
            let (at_least, at_most) = (bounds(limit.at_least), bounds(limit.at_most));
            let is_empty = |bounds: &Bounds| bounds.other.is_none() && bounds.named.is_empty();
            if is_empty(&at_least) && is_empty(&at_most) {
                let by = show::name(&limit.by);
                let found =
                    format!("limit by {by}: found neither at_most nor at_least, expected one of them");
                return Err(rules.fault(at, found));
            }
            rules.limits.push(Limit { at, by: limit.by, at_least, at_most });
        }
        for cool_down in written.cool_down {
            let cool_down = cool_down.into_inner();
            let after = match cool_down.after {
                None => Vec::new(),
                Some(OneOrMany::One(outcome)) => vec![folded(&outcome)],
                Some(OneOrMany::Many(outcomes)) => outcomes.iter().map(|outcome| folded(outcome)).collect(),
            };
            rules.cool_downs.push(CoolDown { periods: cool_down.periods, after });
        }
        let mut values = 0;
        for leave_out in written.leave_out {
            let at = leave_out.condition.span().start;
            let text = leave_out.condition.into_inner();
            // behind the quotation mark
            let condition =
                Condition::parse(&text).map_err(|(byte, found)| rules.fault(at + 1 + byte, found))?;
            values += condition.values();
            if values > MOST_VALUES {
                let found = format!(
                    "found {values} comparisons and listed values in the conditions so far, expected at most {MOST_VALUES} in all; \
                     never_call takes any number of ids"
                );
                return Err(rules.fault(at, found));
            }
            rules.leave_outs.push(LeaveOut { at, condition, because: leave_out.because.unwrap_or(text) });
        }
        if let Some(cost) = written.cost {
            let (at, cost) = (cost.span().start, cost.into_inner());
            let is_one = cost.column.is_some() != cost.each.is_some();
            let is_number = |x: f64| x >= 0.0 && x.is_finite();
            if !is_one || !is_number(cost.at_most) || !cost.each.is_none_or(is_number) {
                let expected = "column or each (one of them), and at_most, numbers of at least 0";
                return Err(rules.fault(at, format!("cost: found something else, expected {expected}")));
            }
            let each = cost.each.unwrap_or(0.0);
            rules.cost = Some(Cost { at, column: cost.column, each, at_most: cost.at_most });
        }
        rules.budget = written.budget;
        rules.model = written.model;
        rules.worker = written.worker;
        rules.must_call = written.must_call;
        rules.never_call = written.never_call;
        Ok(rules)
    }

    /// An error at a byte of the text.
    pub(crate) fn fault(&self, at: usize, found: impl Into<String>) -> Error {
        let (line, column) = show::line_and_column(&self.text, at);
        let path = show::path(&self.path);
        Error::Data(format!("{path}: line {line}, column {column}: {}", found.into()).into())
    }

    /// The file that messages name.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Limit {
    /// In a few words: `worker: at most 15`.
    pub(crate) fn words(&self) -> String {
        let bounds = [self.at_least.words("at least"), self.at_most.words("at most")].concat();
        format!("{}: {}", show::name(&self.by), bounds.join(", "))
    }
}

impl CoolDown {
    /// In a few words.
    pub(crate) fn words(&self) -> String {
        let periods = crate::words::counted(self.periods as u64, "period");
        match self.after.is_empty() {
            true => format!("{periods} after a call"),
            false => format!("{periods} after: {}", self.after.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Rules::parse(Path::new("rules.toml"), text).unwrap_err().to_string()
    }

    #[test]
    fn rules_are_read() {
        let text = r#"
            budget = 60
            explore = 0.1
            must_call = ["A"]
            wrong_numbers = "call"
            limit = [{ by = "worker", at_most = 15, at_least = { Asha = 2, "*" = 1 } }]
            [[cool_down]]
            periods = 4
            after = "No_answer"
            [[leave_out]]
            if = "last_seen >= 8"
            [cost]
            each = 2
            at_most = 600
        "#;
        let rules = Rules::parse(Path::new("rules.toml"), text).unwrap();
        assert_eq!((rules.budget, rules.explore, rules.calls_wrong_numbers), (Some(60), Some(0.1), true));
        assert_eq!(rules.limits[0].at_least.of("Asha"), Some(2));
        assert_eq!(rules.limits[0].at_least.of("Bela"), Some(1));
        assert_eq!(rules.limits[0].words(), "worker: at least 2 of Asha, at least 1 of others, at most 15");
        assert_eq!(rules.cool_downs[0].after, ["no answer"]);
        assert_eq!(rules.leave_outs[0].because, "last_seen >= 8");
        let waits = |ago, came| rules.waits(ago, came);
        assert_eq!((waits(Some(0), "no answer"), waits(Some(3), "No-Answer")), (4, 1));
        assert_eq!(
            (waits(Some(4), "no answer"), waits(Some(0), "reached"), waits(None, "no answer")),
            (0, 0, 0)
        );
    }

    #[test]
    fn rules_up_to_the_bounds_are_read() {
        let limits = "[[limit]]\nby = \"x\"\nat_most = 3\n".repeat(MOST_LIMITS);
        let waits = "[[cool_down]]\nperiods = 1\n".repeat(MOST_LEFT_OUT - 1);
        let condition = format!("[[leave_out]]\nif = \"x = 1{}\"", " or x = 1".repeat(MOST_VALUES - 1));
        let rules = Rules::parse(Path::new("rules.toml"), &format!("{limits}{waits}{condition}")).unwrap();
        assert_eq!((rules.limits.len(), rules.cool_downs.len(), rules.leave_outs.len()), (100, 61, 1));
    }

    #[test]
    fn a_fault_is_named_by_its_line_and_column() {
        for (text, line, part) in [
            ("budgett = 3", "line 1, column 1", "unknown field `budgett`"),
            ("\nbudget = -3", "line 2, column 10", "expected"),
            ("explore = 1.5", "line 1, column 11", "found 1.5, expected a share from 0 to 1"),
            ("[[limit]]\nby = \"worker\"", "line 1", "found neither at_most nor at_least"),
            ("[[leave_out]]\nif = \"age >\"", "line 2, column 12", "found the end, expected a number"),
            ("[cost]\nat_most = 3", "line 1", "column or each"),
            ("wrong_numbers = \"x\"", "line 1, column 17", "expected \"leave out\" or \"call\""),
            ("limit = [{ by = \"x\", at_most = \"3\" }]", "line 1", "a whole number, or a table"),
            (
                &"[[limit]]\nby = \"x\"\nat_most = 3\n".repeat(101),
                "line 301",
                "found 101 [[limit]], expected at most 100",
            ),
            (
                &"[[cool_down]]\nperiods = 1\n[[leave_out]]\nif = \"x = 1\"\n".repeat(32),
                "line 128",
                "found 64 [[cool_down]] and [[leave_out]] in all, expected at most 62",
            ),
            (
                &format!("[[leave_out]]\nif = \"x = 1{}\"", " or x = 1".repeat(1_000)),
                "line 2",
                "found 1001 comparisons and listed values",
            ),
            (
                &format!("[[leave_out]]\nif = \"not x in (1{})\"\n", ", 1".repeat(500)).repeat(2),
                "line 4",
                "found 1002 comparisons and listed values",
            ),
        ] {
            let said = refused(text);
            assert!(said.starts_with("rules.toml: ") && said.contains(line) && said.contains(part), "{said}");
        }
    }
}
