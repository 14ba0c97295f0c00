//! What is agreed on before a trial: `protocol.toml`, written by a design, read and signed by people.
//!
//! ```toml
//! id = "2026-03-16"                # of the trial
//! weeks = 8                        # lists, one a week
//! share = 0.5                      # of the people, in the group that lists are made of
//! by = "worker"                    # clusters that are dealt together; absent, or "": people
//! strata = ["district"]            # people are dealt within; absent: among all
//! control = "no calls"             # what the other group gets
//! primary = "adjusted subgroup"    # the estimator that counts
//! interval = 0.95
//! counts = "engaged weeks"         # what is counted: the study's unit
//! rewards = [0, 1]                 # of a week that ends in each state
//! detectable = 41.2                # the effect that such a trial finds in four of five cases
//! seed = 0                         # of the draw
//! model = "5bdcc1460b5e8f7a"       # what tells the model from any other
//! ```
//!
//! The file is registered as it is, byte for byte, with its SHA-256: whatever is changed later is another plan.

use super::pool::{ONE_BY_ONE, shares};
use crate::error::{Error, Result};
use restive::trial::Estimator;
use restive_tables::{recognise_bytes, show};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt::Write;
use std::path::Path;
use toml::Spanned;

/// What is agreed on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Protocol {
    /// the name of the trial
    pub id: String,
    /// how many lists it has
    pub weeks: usize,
    /// the share of the people in the group that lists are made of
    pub share: f64,
    /// Column of clusters. `None`, or empty if the study declares clusters: people.
    pub by: Option<String>,
    /// columns of strata
    pub strata: Vec<String>,
    /// the estimator that counts
    #[serde(serialize_with = "named")]
    pub primary: Estimator,
    /// the study's unit
    pub counts: String,
    /// the reward of a week that ends in each state
    pub rewards: Vec<f64>,
    /// the effect that such a trial finds in four of five cases
    pub detectable: Option<f64>,
    /// of the draw
    pub seed: u64,
    /// what tells the model from any other
    pub model: String,
}

pub(crate) fn named<S: Serializer>(
    estimator: &Estimator,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(estimator.name())
}

/// As it stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    id: Spanned<String>,
    weeks: Spanned<usize>,
    share: Spanned<f64>,
    by: Option<String>,
    #[serde(default)]
    strata: Vec<String>,
    control: Spanned<String>,
    primary: Spanned<String>,
    interval: Spanned<f64>,
    counts: String,
    rewards: Vec<f64>,
    detectable: Option<f64>,
    seed: u64,
    model: String,
}

/// The most weeks of a trial.
pub(super) const MOST_WEEKS: usize = 520;
const CONTROL: &str = "no calls";
/// How the file begins, so that it is known again.
const FIRST: &str = "# The plan of a trial, agreed on before it begins.";

impl Protocol {
    /// Reads a text; `path` is what messages call it.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let fault = |at: usize, found: String| {
            let (line, column) = show::line_and_column(text, at);
            Error::Refused(format!("{}: line {line}, column {column}: {found}", show::path(path)))
        };
        let written: Written = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let said = show::sentence(error.message());
            // the parser's words for a wrong value do not say of which key
            match key_at(text, at).filter(|key| !said.contains(*key)) {
                Some(key) => fault(at, format!("{key}: {said}")),
                None => fault(at, said),
            }
        })?;
        if written.id.get_ref().trim().is_empty() {
            return Err(fault(written.id.span().start, "id: found nothing, expected a name".into()));
        }
        if !(1..=MOST_WEEKS).contains(written.weeks.get_ref()) {
            let found = format!("weeks: found {}, expected 1 to {MOST_WEEKS}", written.weeks.get_ref());
            return Err(fault(written.weeks.span().start, found));
        }
        shares(*written.share.get_ref())
            .map_err(|error| fault(written.share.span().start, error.to_string()))?;
        if written.control.get_ref() != CONTROL {
            let found = show::quoted_name(written.control.get_ref());
            let found = format!("control: found {found}, expected \"{CONTROL}\"");
            return Err(fault(written.control.span().start, found));
        }
        if *written.interval.get_ref() != 0.95 {
            let found = format!("interval: found {}, expected 0.95", written.interval.get_ref());
            return Err(fault(written.interval.span().start, found));
        }
        let primary = estimator(written.primary.get_ref())
            .map_err(|found| fault(written.primary.span().start, format!("primary: {found}")))?;
        Ok(Self {
            id: written.id.into_inner(),
            weeks: written.weeks.into_inner(),
            share: written.share.into_inner(),
            by: written.by,
            strata: written.strata,
            primary,
            counts: written.counts,
            rewards: written.rewards,
            detectable: written.detectable,
            seed: written.seed,
            model: written.model,
        })
    }

    /// The file, with what each line means.
    pub fn text(&self, people: usize, noun: &str) -> String {
        let quoted = |text: &str| toml::Value::String(text.into()).to_string();
        let mut text = format!(
            "{FIRST}\n# Whoever agrees signs at the end. From restive trial assign on, nothing in this file may be changed: the analysis is\n\
             # refused if it was, down to a comment. Before that, everything may be.\n\n"
        );
        let mut line = |key: &str, value: String, why: &str| {
            let _ = writeln!(text, "{:<40} # {why}", format!("{key} = {value}"));
        };
        line("id", quoted(&self.id), "the name of the trial");
        line("weeks", self.weeks.to_string(), &format!("lists that it lasts, one a {noun}"));
        line(
            "share",
            number(self.share),
            &format!(
                "of the people ({people} when this was written) from whom lists are made; nobody calls the others"
            ),
        );
        if let Some(by) = &self.by {
            line(
                "by",
                quoted(by),
                match by.as_str() {
                    ONE_BY_ONE => "people are drawn one by one, although the study declares clusters",
                    _ => "people with the same value are in the same group",
                },
            );
        }
        if !self.strata.is_empty() {
            let all: Vec<String> = self.strata.iter().map(|name| quoted(name)).collect();
            line("strata", format!("[{}]", all.join(", ")), "groups are drawn within these");
        }
        line("control", quoted(CONTROL), "what the other group gets");
        line("primary", quoted(self.primary.name()), "the estimator that counts, whatever the others say");
        line("interval", "0.95".into(), "of its interval");
        line("counts", quoted(&self.counts), "what is counted, over all weeks and people");
        let rewards: Vec<String> = self.rewards.iter().map(|x| number(*x)).collect();
        line(
            "rewards",
            format!("[{}]", rewards.join(", ")),
            &format!("what a {noun} counts that ends in each state, lowest first"),
        );
        if let Some(detectable) = self.detectable {
            line(
                "detectable",
                number((detectable * 10.0).round() / 10.0),
                "the total effect that it finds in four of five cases",
            );
        }
        line("seed", self.seed.to_string(), "of the draw: it is made once");
        line("model", quoted(&self.model), "what tells the model from any other");
        text + "\n# agreed (names, date):\n#\n#\n"
    }
}

/// The key of the line in which a byte is.
fn key_at(text: &str, at: usize) -> Option<&str> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let (key, _) = text[start..].lines().next()?.split_once('=')?;
    let is_key = |key: &&str| key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    Some(key.trim()).filter(is_key).filter(|key| !key.is_empty())
}

/// A number as TOML has it: with a point.
fn number(x: f64) -> String {
    toml::Value::Float(x).to_string()
}

/// The estimator of a name, or what was found and expected.
fn estimator(name: &str) -> std::result::Result<Estimator, String> {
    Estimator::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| {
        let all: Vec<String> = Estimator::ALL.iter().map(|one| format!("\"{}\"", one.name())).collect();
        format!("found {}, expected one of {}", show::quoted_name(name), all.join(", "))
    })
}

/// Refuses a file that is no protocol.
pub fn recognise_protocol(path: &Path) -> restive_tables::Result<()> {
    recognise_bytes(path, "something else", "the plan of a trial", |bytes| {
        bytes.starts_with(FIRST.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protocol() -> Protocol {
        Protocol {
            id: "a \"b\"".into(),
            weeks: 8,
            share: 0.5,
            by: Some("worker".into()),
            strata: vec!["district".into(), "é\n".into()],
            primary: Estimator::Lin,
            counts: "engaged weeks".into(),
            rewards: vec![0.0, 1.0],
            detectable: Some(41.2),
            seed: 7,
            model: "5bdcc146".into(),
        }
    }

    #[test]
    fn a_protocol_is_read_as_it_was_written() {
        let text = protocol().text(240, "week");
        assert_eq!(Protocol::parse(Path::new("p.toml"), &text).unwrap(), protocol());
        let plain = Protocol { by: None, strata: vec![], detectable: None, ..protocol() };
        assert_eq!(Protocol::parse(Path::new("p.toml"), &plain.text(4, "month")).unwrap(), plain);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_key() {
        let text = protocol().text(240, "week");
        for (from, to, expected) in [
            ("weeks = 8", "weeks = 0", "line 6, column 9: weeks: found 0, expected 1 to 520"),
            ("weeks = 8", "wekes = 8", "line 6, column 1: unknown field `wekes`"),
            ("share = 0.5", "share = 1.0", "line 7, column 9: share: found 1, expected"),
            ("\"no calls\"", "\"usual\"", "control: found \"usual\", expected \"no calls\""),
            ("\"regression\"", "\"best\"", "primary: found \"best\", expected one of \"adjusted subgroup\""),
            ("interval = 0.95", "interval = 0.9", "interval: found 0.9, expected 0.95"),
            ("seed = 7", "seed = -7", "seed: "),
            ("weeks = 8", "weeks = \"8\"", "line 6, column 9: weeks: "),
            ("weeks = 8", "# weeks = 8", "missing field `weeks`"),
        ] {
            let wrong = text.replace(from, to);
            assert_ne!(wrong, text, "{from}");
            let said = Protocol::parse(Path::new("p.toml"), &wrong).unwrap_err().to_string();
            assert!(said.starts_with("p.toml: line ") && said.contains(expected), "{said}");
        }
    }
}
