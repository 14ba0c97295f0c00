//! What a form asks of lists: columns, how many lists, and a floor.

use restive_programme::fairness::{FairnessAsked, WhichLists};
use std::collections::BTreeMap;

/// Lists that can be looked at together.
pub(super) const LISTS: [usize; 3] = [1, 4, 13];
/// Columns at a time.
const MOST: usize = 12;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    /// columns; none: the usual ones
    pub(super) by: Vec<String>,
    /// how many lists
    pub(super) last: usize,
    /// column and group, and at least so many places
    pub(super) floor: Option<([String; 2], usize)>,
}

impl Asked {
    /// Of the fields of a form: `by:COLUMN`, `last`, `group` as `COLUMN=GROUP`, `places`. Or what is wrong with it.
    pub(super) fn of(fields: &BTreeMap<String, String>) -> Result<Self, String> {
        let by: Vec<String> =
            fields.keys().filter_map(|key| key.strip_prefix("by:")).map(String::from).collect();
        if by.len() > MOST {
            return Err(format!("found {} columns, expected at most {MOST} at a time", by.len()));
        }
        let field = |name: &str| fields.get(name).map_or("", |text| text.trim());
        let last = match field("last") {
            "" => 1,
            text => text.parse().ok().filter(|last| LISTS.contains(last)).ok_or_else(|| {
                format!("lists: found {:?}, expected 1, 4 or 13", text.chars().take(20).collect::<String>())
            })?,
        };
        let floor = match (field("group"), field("places")) {
            ("", _) => None,
            (group, places) => {
                let pair =
                    group.split_once('=').filter(|(column, value)| !column.is_empty() && !value.is_empty());
                let (column, value) =
                    pair.ok_or("group: found no group, expected one of those on the page")?;
                let places =
                    places.parse().map_err(|_| "places: found no whole number, expected one from 1 on")?;
                Some(([column.into(), value.into()], places))
            }
        };
        Ok(Self { by, last, floor })
    }

    /// What is asked of the programme.
    pub(super) fn asked(&self) -> FairnessAsked {
        FairnessAsked {
            by: self.by.clone(),
            lists: if self.last == 1 { WhichLists::Latest } else { WhichLists::Last(self.last) },
            floors: self.floor.iter().map(|(group, _)| group.clone()).collect(),
            ..FairnessAsked::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &[(&str, &str)]) -> Result<Asked, String> {
        Asked::of(&fields.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect())
    }

    #[test]
    fn a_form_is_read_or_refused() {
        assert_eq!(of(&[]), Ok(Asked { by: vec![], last: 1, floor: None }));
        let asked =
            of(&[("by:centre", "on"), ("last", "4"), ("group", "centre=a=b"), ("places", " 3 ")]).unwrap();
        assert_eq!(asked.floor, Some((["centre".into(), "a=b".into()], 3)));
        assert_eq!((asked.by, asked.last), (vec!["centre".into()], 4));
        for wrong in [
            [("last", "5"), ("group", "")],
            [("group", "centre"), ("places", "3")],
            [("group", "centre=north"), ("places", "-1")],
            [("group", "centre=north"), ("places", "many")],
        ] {
            assert!(of(&wrong).unwrap_err().contains("expected"), "{wrong:?}");
        }
    }
}
