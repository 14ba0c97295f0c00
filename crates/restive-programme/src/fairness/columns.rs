//! From columns to groups: what is kept of people, the features of the study, and `state`.
//!
//! A column kept of people hides a feature of the same name, and both hide `state`, as in rules. Texts are groups as they are. Numbers are
//! groups as they are while there are few of them; more are cut at their quartiles, into ranges that are named. A column with
//! very many values tells people apart instead of grouping them, names and telephone numbers above all: it is refused.

use crate::error::{Error, Result};
use restive::data::features::Column;
use restive::fairness::Groups;
use restive_tables::{Contacts, Study, show};
use std::collections::BTreeSet;

/// The most values of a column that groups people.
const MOST: usize = 30;

/// Numbers up to which each is a group, and values up to which a feature is looked at unasked.
const FEW: usize = 10;

/// The column of everybody's state.
const STATE: &str = "state";

/// What people without a value are called.
const MISSING: &str = "not known";

/// Everybody, and what is known of each.
pub(super) struct Everybody<'a> {
    pub(super) study: &'a Study,
    pub(super) contacts: Option<&'a Contacts>,
    /// `[N]`: what the study calls each
    pub(super) arms: Vec<String>,
    /// `[N]`: instance and position in the study; nothing where it does not know her any more
    pub(super) place: Vec<Option<[usize; 2]>>,
    /// `[N]`: the last state that was seen
    pub(super) state: Vec<Option<u16>>,
    /// what states are called; empty: by number
    pub(super) state_names: Vec<String>,
}

enum Cells {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

impl Everybody<'_> {
    /// The names of all columns.
    fn names(&self) -> Vec<&str> {
        let kept = self.contacts.map_or(&[][..], |contacts| &contacts.kept).iter();
        kept.chain(self.features()).map(String::as_str).chain([STATE]).collect()
    }

    fn features(&self) -> &[String] {
        self.study.instances.first().map_or(&[], |instance| instance.features.names())
    }

    /// The columns that are looked at where none is named: features of few values, and the state, as far as they group people.
    pub(super) fn usual(&self) -> Vec<String> {
        let values = |name: &String| match self.feature(name) {
            Cells::Numbers(of) => of.iter().flatten().map(|x| x.to_bits()).collect::<BTreeSet<_>>().len(),
            Cells::Texts(of) => of.iter().flatten().collect::<BTreeSet<_>>().len(),
        };
        let mut usual: Vec<String> =
            self.features().iter().filter(|name| (2..=FEW).contains(&values(name))).cloned().collect();
        usual.push(STATE.into());
        usual.retain(|name| self.groups(name).is_ok());
        usual
    }

    /// All columns that group people, each once.
    pub(super) fn grouping(&self) -> Vec<String> {
        let mut known = BTreeSet::new();
        let names = self.names().into_iter().filter(|name| known.insert(*name) && self.groups(name).is_ok());
        names.map(String::from).collect()
    }

    /// The groups of a column.
    pub(super) fn groups(&self, name: &str) -> Result<Groups> {
        let (names, of) = match self.cells(name)? {
            Cells::Numbers(of) => by_number(&of),
            Cells::Texts(of) => by_text(&of),
        };
        let people = self.arms.len();
        let refused = |found: String, expected: &str| {
            Err(Error::Refused(format!("column {}: found {found}, expected {expected}", show::name(name))))
        };
        if names.len() > MOST {
            let found = format!("{} values", names.len());
            return refused(found, &format!("at most {MOST}: a column with more tells people apart"));
        }
        let mut sizes = vec![0; names.len()];
        of.iter().flatten().for_each(|g| sizes[*g as usize] += 1);
        if people > 0 && sizes.iter().all(|size| *size < 2) {
            return refused(
                "groups of one person".into(),
                "groups of several: a table of one is about that one",
            );
        }
        Ok(Groups::new(names, &of, MISSING).map_err(restive_pipeline::Error::from)?)
    }

    fn cells(&self, name: &str) -> Result<Cells> {
        if let Some((contacts, k)) = self
            .contacts
            .and_then(|contacts| Some((contacts, contacts.kept.iter().position(|kept| kept == name)?)))
        {
            let cell = |arm: &String| {
                let person = contacts.person(arm).ok()?;
                Some(person.kept[k].trim().to_string()).filter(|text| !text.is_empty())
            };
            return Ok(Cells::Texts(self.arms.iter().map(cell).collect()));
        }
        if self.features().iter().any(|known| known == name) {
            return Ok(self.feature(name));
        }
        if name == STATE {
            let word = |state: u16| match self.state_names.get(usize::from(state)) {
                Some(name) => name.clone(),
                None => state.to_string(),
            };
            return Ok(Cells::Texts(self.state.iter().map(|state| state.map(word)).collect()));
        }
        let known: Vec<String> = self.names().into_iter().map(show::name).collect();
        Err(Error::Refused(format!(
            "column {}: found no such column, expected one of {}",
            show::name(name),
            known.join(", ")
        )))
    }

    fn feature(&self, name: &str) -> Cells {
        let columns: Vec<Option<&Column>> =
            self.study.instances.iter().map(|instance| instance.features.column(name)).collect();
        let is_text = columns.iter().flatten().any(|column| matches!(column, Column::Text(_)));
        let at =
            |place: &Option<[usize; 2]>| place.and_then(|[instance, arm]| Some((columns[instance]?, arm)));
        let text = |place| match at(place)? {
            (Column::Text(values), arm) => values[arm].clone(),
            (Column::Number(values), arm) => (!values[arm].is_nan()).then(|| values[arm].to_string()),
        };
        let number = |place| match at(place)? {
            (Column::Number(values), arm) => Some(values[arm] + 0.0).filter(|x| !x.is_nan()),
            (Column::Text(_), _) => None,
        };
        match is_text {
            true => Cells::Texts(self.place.iter().map(text).collect()),
            false => Cells::Numbers(self.place.iter().map(number).collect()),
        }
    }
}

type Grouped = (Vec<String>, Vec<Option<u32>>);

fn by_text(of: &[Option<String>]) -> Grouped {
    let names: Vec<String> = of.iter().flatten().collect::<BTreeSet<_>>().into_iter().cloned().collect();
    let place = |text: &String| names.partition_point(|name| name < text) as u32;
    let of = of.iter().map(|text| text.as_ref().map(place)).collect();
    (names, of)
}

fn by_number(of: &[Option<f64>]) -> Grouped {
    let mut sorted: Vec<f64> = of.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let mut values = sorted.clone();
    values.dedup();
    // the upper ends of all groups but the last
    let (ends, names): (Vec<f64>, Vec<String>) = if values.len() <= FEW {
        let names = values.iter().map(f64::to_string).collect();
        values.pop();
        (values, names)
    } else {
        let mut ends: Vec<f64> = (1..4).map(|k| sorted[(k * sorted.len()).div_ceil(4) - 1]).collect();
        ends.dedup();
        ends.retain(|end| *end < sorted[sorted.len() - 1]);
        let first = ends.first().map(|end| format!("up to {end}"));
        let middle = ends.windows(2).map(|pair| format!("over {} to {}", pair[0], pair[1]));
        let last = ends.last().map(|end| format!("over {end}"));
        let names = first.into_iter().chain(middle).chain(last).collect();
        (ends, names)
    };
    let place = |x: f64| ends.partition_point(|end| *end < x) as u32;
    let of = of.iter().map(|x| x.map(place)).collect();
    (names, of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_numbers_are_groups_and_many_are_cut_at_their_quartiles() {
        let (names, of) = by_number(&[Some(2.0), None, Some(-1.5), Some(2.0)]);
        assert_eq!((names, of), (vec!["-1.5".into(), "2".into()], vec![Some(1), None, Some(0), Some(1)]));
        let many: Vec<Option<f64>> = (1..=20).map(|x| Some(f64::from(x))).collect();
        let (names, of) = by_number(&many);
        assert_eq!(names, ["up to 5", "over 5 to 10", "over 10 to 15", "over 15"]);
        for (x, group) in (1..=20).zip(of) {
            assert_eq!(group, Some((x - 1) / 5), "{x}");
        }
    }

    #[test]
    fn quartiles_that_fall_together_are_one() {
        // three of four are 0
        let many: Vec<Option<f64>> = (0..48).map(|i| Some(if i < 36 { 0.0 } else { f64::from(i) })).collect();
        let (names, of) = by_number(&many);
        assert_eq!(names, ["up to 0", "over 0"]);
        assert_eq!(of.iter().filter(|group| **group == Some(0)).count(), 36);
        let (names, of) = by_number(&[]);
        assert!(names.is_empty() && of.is_empty());
    }
}
