//! What a prediction is worth beside an arm's own record, and what that judgement rests on.
//!
//! Only arms that were not learnt from can say how far predictions are off: the validation arms, or the test arms where those
//! were never seen twice in a state. Where neither were, a documented default stands in, and the answer says so.

use crate::apply::Applied;
use crate::message::{Message, Opt, message};
use crate::words::grouped;
use restive::data::split::Part;
use restive::evaluation::{GRID, Record, Strength, strength};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::json;
use std::fmt;

/// The strength of predictions, for each action.
pub struct History {
    /// passive, active
    pub strength: [Strength; 2],
    /// whose records decided; none: nobody's
    from: Option<Part>,
    /// whether the arms of that part may have been learnt from after all
    is_in_doubt: bool,
}

const ACTIONS: [&str; 2] = ["passive", "active"];

impl Applied<'_> {
    /// What predictions are worth, by the records of arms that were not learnt from.
    pub fn history(&self) -> History {
        let split = self.split().ok();
        let is_in_doubt = !self.is_trained_on && self.study.given_split().is_none();
        for part in [Part::Validation, Part::Test] {
            let groups = split.iter().flat_map(|split| split.part(part));
            let held_out: Vec<_> = groups
                .map(|group| (Record::new(&group.select(&self.instances)), self.prediction(group)))
                .collect();
            let pairs: Vec<_> = held_out.iter().map(|(record, p)| (record, p.view())).collect();
            let strength = strength(&pairs);
            if strength.iter().any(|strength| strength.transitions > 0) {
                return History { strength, from: Some(part), is_in_doubt };
            }
        }
        History { strength: strength(&[]), from: None, is_in_doubt: false }
    }
}

impl History {
    /// What should be known before the record is trusted.
    pub fn warnings(&self) -> Vec<Message> {
        let history = |said: String| message!(Opt("history"), format!(": {said}"));
        let Some(part) = self.from else {
            return vec![history(
                "no arm outside the training part was seen twice in a state, so the strength is a default; \
                 a column split with validation arms lets records decide"
                    .into(),
            )];
        };
        let mut warnings = Vec::new();
        for (strength, action) in self.strength.iter().zip(ACTIONS) {
            if strength.transitions == 0 {
                let part = part.name();
                warnings.push(history(format!(
                    "no {part} arm was seen twice in a state when {action}: its strength is a default"
                )));
            } else if strength.is_at_edge {
                let (end, which) = if strength.value == GRID[0] {
                    ("smallest", "record")
                } else {
                    ("largest", "prediction")
                };
                warnings.push(history(format!(
                    "{} is the {end} strength that is tried for {action} arms: only the {which} counts there",
                    strength.value
                )));
            }
        }
        if self.is_in_doubt {
            let part = part.name();
            warnings.push(history(format!(
                "the study is not the one of the training and has no column split: its {part} arms may have been \
                 learnt from, which makes predictions look better than they are"
            )));
        }
        warnings
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [passive, active] = self.strength.map(|strength| {
            let rests = match (strength.transitions, self.from) {
                (0, _) | (_, None) => "by default".into(),
                (n, Some(part)) => format!("from {} transitions of {} arms", grouped(n as u64), part.name()),
            };
            format!(
                "{} ({rests}{})",
                strength.value,
                if strength.is_at_edge { ", an end of the grid" } else { "" }
            )
        });
        write!(f, "history: a prediction is worth this many transitions: passive {passive}, active {active}")
    }
}

impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("from", &self.from.map(Part::name))?;
        for (Strength { value, transitions, is_at_edge }, action) in self.strength.iter().zip(ACTIONS) {
            let entry = json!({"strength": value, "transitions": transitions, "is_at_edge": is_at_edge});
            map.serialize_entry(action, &entry)?;
        }
        map.end()
    }
}
