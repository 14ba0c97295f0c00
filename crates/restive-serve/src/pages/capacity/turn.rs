//! What a form says: a number for each dial, the share by lot, and one more rule where somebody wants to see its price.

use super::dial::field;
use crate::desk::Column;
use restive_programme::{Capacity, NewLimit, Turned};
use std::collections::HashMap;

/// What a form has: `rules`, a field for each number, `explore`, and `of`, `kind` and `limit` of a new rule.
pub(crate) type Fields = HashMap<String, String>;

/// What was written, as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// of the dials
    pub(super) numbers: Vec<String>,
    /// in per cent
    pub(super) explore: String,
    /// `column`, `column=group`, or empty: no new rule
    pub(super) of: String,
    pub(super) is_floor: bool,
    pub(super) limit: String,
}

/// Fields in which something else was written than there can be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Faults {
    pub(super) numbers: bool,
    pub(super) explore: bool,
    pub(super) of: bool,
    pub(super) limit: bool,
}

/// A whole number.
pub(super) fn whole(text: &str) -> Option<usize> {
    text.trim().parse::<u32>().ok().map(|number| number as usize)
}

/// A share in per cent, as people write it.
pub(super) fn percent(share: f64) -> String {
    ((share * 1e8).round() / 1e6).to_string()
}

fn share(text: &str) -> Option<f64> {
    let number: f64 = text.trim().trim_end_matches('%').trim_end().replace(',', ".").parse().ok()?;
    (0.0..=100.0).contains(&number).then(|| (number * 1e6).round() / 1e8 + 0.0)
}

impl Written {
    /// Of a form with so many dials.
    pub(super) fn of(fields: &Fields, dials: usize) -> Self {
        let text = |name: &str, most| {
            fields.get(name).map_or(String::new(), |text| text.chars().take(most).collect::<String>())
        };
        Self {
            numbers: (0..dials).map(|k| text(&field(k), 20)).collect(),
            explore: text("explore", 20),
            of: text("of", 500),
            is_floor: text("kind", 20) == "least",
            limit: text("limit", 20),
        }
    }

    /// What was tried, as a form has it.
    pub(super) fn again(turned: &Turned, explore: f64) -> Self {
        let add = turned.add.as_ref();
        Self {
            numbers: turned.numbers.iter().map(ToString::to_string).collect(),
            explore: percent(turned.explore.unwrap_or(explore)),
            of: add.map_or(String::new(), |add| match &add.of {
                None => add.by.clone(),
                Some(of) => format!("{}={of}", add.by),
            }),
            is_floor: add.is_some_and(|add| add.is_floor),
            limit: add.map_or(String::new(), |add| add.number.to_string()),
        }
    }

    /// What it asks for, of columns that there are; or what is wrong with it.
    pub(super) fn turned(&self, now: &Capacity, columns: &[Column]) -> Result<Turned, Faults> {
        let numbers: Option<Vec<usize>> = self.numbers.iter().map(|text| whole(text)).collect();
        let explore = match self.explore.trim() {
            "" => Some(now.explore),
            text => share(text),
        };
        let (limit, of) = (self.limit.trim(), self.find(columns));
        let faults = Faults {
            numbers: numbers.is_none(),
            explore: explore.is_none(),
            of: of.is_none() || (self.of.is_empty() && !limit.is_empty()),
            limit: !self.of.is_empty() && whole(limit).is_none(),
        };
        let (Some(numbers), Some(explore), Some(of), true) =
            (numbers, explore, of, faults == Faults::default())
        else {
            return Err(faults);
        };
        let number = whole(limit).unwrap_or(0);
        let add = of.map(|(by, of)| NewLimit { by, of, is_floor: self.is_floor, number });
        Ok(Turned { numbers, explore: Some(explore).filter(|share| *share != now.explore), add })
    }

    /// The column and the group that a new rule is of: nothing at all where there is no such column or group.
    fn find(&self, columns: &[Column]) -> Option<Option<(String, Option<String>)>> {
        if self.of.is_empty() {
            return Some(None);
        }
        let (by, of) = match self.of.split_once('=') {
            None => (self.of.as_str(), None),
            Some((by, of)) => (by, Some(of)),
        };
        let column = columns.iter().find(|column| column.name == by)?;
        let is_there = of.is_none_or(|of| column.groups.iter().any(|group| group == of));
        is_there.then(|| Some((by.to_string(), of.map(Into::into))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        vec![Column { name: "centre".into(), groups: vec!["north".into(), "a=b".into()] }]
    }

    fn turned(fields: &[(&str, &str)]) -> Result<Turned, Faults> {
        let fields = fields.iter().map(|(key, text)| (key.to_string(), text.to_string())).collect();
        let now = Capacity { dials: Vec::new(), explore: 0.1, rules: String::new() };
        Written::of(&fields, 1).turned(&now, &columns())
    }

    #[test]
    fn a_form_is_read_or_its_fields_are_named() {
        let plain = turned(&[("n0", " 7 ")]).unwrap();
        assert_eq!(plain, Turned { numbers: vec![7], ..Turned::default() });
        assert_eq!(turned(&[("n0", "7"), ("explore", "10 %")]).unwrap().explore, None);
        for (text, expected) in [("12,5", 0.125), ("7%", 0.07), ("0", 0.0), ("100", 1.0)] {
            assert_eq!(turned(&[("n0", "7"), ("explore", text)]).unwrap().explore, Some(expected));
            assert_eq!(share(&percent(expected)), Some(expected));
        }
        let new = [("n0", "7"), ("of", "centre=a=b"), ("kind", "least"), ("limit", "3")];
        let add = turned(&new).unwrap().add.unwrap();
        assert_eq!(
            (add.by.as_str(), add.of.as_deref(), add.is_floor, add.number),
            ("centre", Some("a=b"), true, 3)
        );
        let again = Written::again(&turned(&new).unwrap(), 0.1);
        assert_eq!((again.of.as_str(), again.limit.as_str(), again.is_floor), ("centre=a=b", "3", true));
        assert_eq!(turned(&[("n0", "7"), ("of", "centre"), ("limit", "3")]).unwrap().add.unwrap().of, None);
        let none = Faults::default();
        for (fields, faults) in [
            (&[("n0", "x")][..], Faults { numbers: true, ..none }),
            (&[], Faults { numbers: true, ..none }),
            (&[("n0", "1"), ("explore", "101")], Faults { explore: true, ..none }),
            (&[("n0", "1"), ("explore", "NaN")], Faults { explore: true, ..none }),
            (&[("n0", "1"), ("of", "name"), ("limit", "1")], Faults { of: true, ..none }),
            (&[("n0", "1"), ("of", "centre=south"), ("limit", "1")], Faults { of: true, ..none }),
            (&[("n0", "1"), ("of", "centre")], Faults { limit: true, ..none }),
            (&[("n0", "1"), ("limit", "4")], Faults { of: true, ..none }),
        ] {
            assert_eq!(turned(fields), Err(faults), "{fields:?}");
        }
    }
}
