//! Settings `cluster` and `assignment` of `study.toml`: units by which evidence counts arms, and how pulls were assigned to them.
//!
//! | setting | values | requires |
//! |---|---|---|
//! | `cluster` | name of a column of the table of arms | `observation = "full"` |
//! | `assignment` | `"per-decision"` (default), `"per-person"` | `"per-person"`: `observation = "full"`, and `behaviour` uniform, logged or estimated |

use super::StudyBehaviour;
use super::lines::Lines;
use crate::error::Result;
use restive::instance::{Assignment, Observation};
use toml::Value;

/// Columns of the table of arms that cannot be the column of clusters.
const RESERVED: [&str; 3] = ["instance", "arm", "split"];

const ALL: [(&str, Assignment); 2] =
    [("per-decision", Assignment::PerDecision), ("per-person", Assignment::PerPerson)];

/// Value of `assignment` in `study.toml`.
pub(in crate::study) fn name(assignment: Assignment) -> &'static str {
    ALL.iter().find(|(_, known)| *known == assignment).map_or("", |(name, _)| name)
}

/// Reads `cluster` and `assignment`.
pub(super) fn read(
    lines: &Lines<'_>,
    behaviour: StudyBehaviour,
    observation: Observation,
) -> Result<(Option<String>, Assignment)> {
    let column = |value: &Value| {
        let name = value.as_str().filter(|name| !name.trim().is_empty() && !RESERVED.contains(name));
        name.map(str::to_owned)
    };
    let cluster = lines.take("cluster", column)?;
    let named =
        |value: &Value| ALL.iter().find(|(name, _)| value.as_str() == Some(*name)).map(|(_, known)| *known);
    let assignment = lines.take("assignment", named)?.unwrap_or_default();
    let is_per_person = assignment == Assignment::PerPerson;
    if observation != Observation::Full {
        let expected = format!(
            "no such line with observation = \"collapsing\"{}: it requires observation = \"full\"",
            at(lines, "observation")
        );
        lines.refuse("cluster", expected.clone())?;
        if is_per_person {
            lines.refuse("assignment", expected)?;
        }
    }
    let is_by_lot =
        matches!(behaviour, StudyBehaviour::Logged | StudyBehaviour::Uniform | StudyBehaviour::Estimated);
    if is_per_person && !is_by_lot {
        let expected = format!(
            "\"per-decision\" with behaviour = \"{}\"{}; \"per-person\" requires \"uniform\", \"logged\" or \"estimated\"",
            behaviour.name(),
            at(lines, "behaviour")
        );
        lines.refuse("assignment", expected)?;
    }
    Ok((cluster, assignment))
}

/// ` (line 6)`: place of a setting.
fn at(lines: &Lines<'_>, name: &str) -> String {
    lines.line(name).map_or_else(String::new, |line| format!(" (line {line})"))
}
