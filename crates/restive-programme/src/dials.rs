//! The numbers in `rules.toml` that decide how many are called: the budget, caps and floors, and the share that is drawn by lot.
//!
//! They are found by their places in the text, and a new number is put at the place of the old one, so that comments, order and everything
//! else stay as somebody wrote them. A budget or a share that is not there is put before everything else, a new cap or floor after it.
//!
//! ```toml
//! budget = 60                # the budget
//! [[limit]]
//! by = "worker"
//! at_most = 15               # a cap: 15 of each worker
//! at_least = 2               # a floor
//! [[limit]]
//! by = "centre"
//! at_most = { north = 15, "*" = 20 }   # two caps
//! ```

use crate::error::{Error, Result};
use restive_pipeline::Rules;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// The most that a number may be.
const MOST: usize = 10_000_000;

/// A number in the rules that can be turned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dial {
    /// the column of a cap or a floor; nothing: the budget
    pub by: Option<String>,
    /// the value of that column; nothing: each, or each other one
    pub of: Option<String>,
    /// whether it is a floor
    pub is_floor: bool,
    /// how many; nothing: the rules have no budget, and that of the study holds
    pub value: Option<usize>,
    at: Option<Range<usize>>,
}

/// How dials are turned, and what comes beside them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Turned {
    /// a number for each dial
    pub numbers: Vec<usize>,
    /// another share of places that is drawn by lot; absent: as it is
    pub explore: Option<f64>,
    /// one more cap or floor
    pub add: Option<NewLimit>,
}

/// A cap or a floor that the rules do not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewLimit {
    /// the column
    pub by: String,
    /// the value of it; absent: each
    pub of: Option<String>,
    /// whether it is a floor
    pub is_floor: bool,
    /// how many
    pub number: usize,
}

impl NewLimit {
    /// As a table of the rules has it: `by = "centre"` and `at_least = { "north" = 3 }`.
    fn written(&self) -> [String; 2] {
        let quoted = |text: &str| toml::Value::String(text.into()).to_string();
        let key = if self.is_floor { "at_least" } else { "at_most" };
        let bound = match &self.of {
            None => self.number.to_string(),
            Some(of) => format!("{{ {} = {} }}", quoted(of), self.number),
        };
        [format!("by = {}", quoted(&self.by)), format!("{key} = {bound}")]
    }
}

/// The dials of a file: the budget first, then limits in their order, of each its cap before its floor.
pub(crate) fn read(path: &Path, text: &str) -> Result<Vec<Dial>> {
    // what is wrong with the rules is told as ever
    Rules::parse(path, text)?;
    let table = DeTable::parse(text).map_err(|error| Error::Refused(error.to_string()))?;
    let table = table.get_ref();
    let budget = table.get("budget").and_then(number);
    let at = budget.as_ref().map(|(_, at)| at.clone());
    let value = budget.map(|(value, _)| value);
    let mut dials = vec![Dial { by: None, of: None, is_floor: false, value, at }];
    let limits = table.get("limit").and_then(|limits| limits.get_ref().as_array());
    for limit in limits.into_iter().flatten().filter_map(|limit| limit.get_ref().as_table()) {
        let by = limit.get("by").and_then(|by| by.get_ref().as_str()).map(str::to_owned);
        for (key, is_floor) in [("at_most", false), ("at_least", true)] {
            let Some(bound) = limit.get(key) else { continue };
            let mut push = |of: Option<String>, bound: &toml::Spanned<DeValue<'_>>| {
                if let Some((value, at)) = number(bound) {
                    dials.push(Dial { by: by.clone(), of, is_floor, value: Some(value), at: Some(at) });
                }
            };
            match bound.get_ref().as_table() {
                None => push(None, bound),
                Some(each) => each.iter().for_each(|(name, bound)| {
                    let name = name.get_ref();
                    push((name != "*").then(|| name.to_string()), bound);
                }),
            }
        }
    }
    Ok(dials)
}

fn number(value: &toml::Spanned<DeValue<'_>>) -> Option<(usize, Range<usize>)> {
    let found = value.get_ref().as_integer()?;
    let number = usize::from_str_radix(found.as_str(), found.radix()).ok()?;
    Some((number, value.span()))
}

/// The same text with dials turned. Nothing else in it changes.
pub(crate) fn write(path: &Path, text: &str, turned: &Turned) -> Result<String> {
    let (dials, numbers) = (read(path, text)?, &turned.numbers);
    if dials.len() != numbers.len() {
        return Err(Error::Refused(format!(
            "{}: found {} numbers, expected {}: one for the budget and one for each cap and floor",
            restive_tables::show::path(path),
            numbers.len(),
            dials.len()
        )));
    }
    let added = turned.add.iter().map(|add| &add.number);
    if let Some(found) = numbers.iter().chain(added).find(|number| **number > MOST) {
        return Err(Error::Refused(format!("found {found}, expected a number of at most {MOST}")));
    }
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let table = DeTable::parse(text).map_err(|error| Error::Refused(error.to_string()))?;
    let table = table.get_ref();
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    for (dial, number) in dials.iter().zip(numbers) {
        match &dial.at {
            _ if dial.value == Some(*number) => {}
            Some(at) => changes.push((at.clone(), number.to_string())),
            None => changes.push((0..0, format!("budget = {number}{end}"))),
        }
    }
    if let Some(share) = turned.explore {
        match table.get("explore") {
            Some(there) => changes.push((there.span(), share.to_string())),
            None => changes.push((0..0, format!("explore = {share}{end}"))),
        }
    }
    if let Some(add) = &turned.add {
        let is_it = |dial: &&Dial| {
            dial.by.as_deref() == Some(&*add.by) && dial.of == add.of && dial.is_floor == add.is_floor
        };
        if dials.iter().any(|dial| is_it(&dial)) {
            return Err(Error::Refused(format!(
                "{}: found such a rule on {} already, expected a new one: change its number",
                restive_tables::show::path(path),
                restive_tables::show::name(&add.by)
            )));
        }
        let [by, bound] = add.written();
        // where limits stand in a list, the new one is the first of it
        let list = table.get("limit").map(toml::Spanned::span);
        match list.filter(|at| text[at.start..].starts_with('[') && !text[at.start..].starts_with("[[")) {
            Some(at) => changes.push((at.start + 1..at.start + 1, format!("{{ {by}, {bound} }}, "))),
            None => {
                let before = if text.is_empty() || text.ends_with('\n') { "" } else { end };
                let block = format!("{before}{end}[[limit]]{end}{by}{end}{bound}{end}");
                changes.push((text.len()..text.len(), block));
            }
        }
    }
    changes.sort_by_key(|(at, _)| at.start);
    let (mut new, mut from) = (String::new(), 0);
    for (at, written) in changes {
        new.push_str(&text[from..at.start]);
        new.push_str(&written);
        from = at.end;
    }
    new.push_str(&text[from..]);
    Rules::parse(path, &new)?;
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "# ours\nexplore = 0.1 # a tenth\nbudget = 1_0   # places\n\n[[limit]] # of workers\nby = \"worker\"\nat_least = 1\nat_most = 5\n\n\
         [[limit]]\nby = \"centre\"\nat_most = { north = 3, \"*\" = 4 } # two\n\n[[cool_down]]\nperiods = 2\n";

    fn values(text: &str) -> Vec<Option<usize>> {
        read(Path::new("rules.toml"), text).unwrap().iter().map(|dial| dial.value).collect()
    }

    fn changed(text: &str, numbers: &[usize]) -> String {
        turned(text, &Turned { numbers: numbers.to_vec(), ..Turned::default() })
    }

    fn turned(text: &str, turned: &Turned) -> String {
        write(Path::new("rules.toml"), text, turned).unwrap()
    }

    fn limit(by: &str, of: Option<&str>, is_floor: bool, number: usize) -> Option<NewLimit> {
        Some(NewLimit { by: by.into(), of: of.map(Into::into), is_floor, number })
    }

    #[test]
    fn dials_are_found_and_nothing_but_their_numbers_changes() {
        let dials = read(Path::new("rules.toml"), RULES).unwrap();
        let of: Vec<_> = dials.iter().map(|dial| (dial.by.as_deref(), dial.of.as_deref())).collect();
        assert_eq!(
            of,
            [
                (None, None),
                (Some("worker"), None),
                (Some("worker"), None),
                (Some("centre"), None),
                (Some("centre"), Some("north"))
            ]
        );
        assert_eq!(
            dials.iter().map(|dial| dial.is_floor).collect::<Vec<_>>(),
            [false, false, true, false, false]
        );
        assert_eq!(values(RULES), [Some(10), Some(5), Some(1), Some(4), Some(3)]);
        assert_eq!(changed(RULES, &[10, 5, 1, 4, 3]), RULES);
        let new = changed(RULES, &[120, 5, 2, 7, 31]);
        assert_eq!(
            new,
            RULES
                .replace("1_0 ", "120 ")
                .replace("at_least = 1\n", "at_least = 2\n")
                .replace("north = 3, \"*\" = 4", "north = 31, \"*\" = 7")
        );
        assert_eq!(values(&new), [Some(120), Some(5), Some(2), Some(7), Some(31)]);
        let inline = "limit = [{ by = \"worker\", at_most = 0x10 }]";
        assert_eq!(values(inline), [None, Some(16)]);
        assert_eq!(changed(inline, &[8, 9]), "budget = 8\nlimit = [{ by = \"worker\", at_most = 9 }]");
    }

    #[test]
    fn a_budget_that_is_not_there_comes_first() {
        for text in ["", "# nothing\r\n", "[[cool_down]]\nperiods = 2\n", crate::init::RULES] {
            let new = changed(text, &[30]);
            assert!(new.ends_with(text) && values(&new) == [Some(30)], "{new}");
        }
    }

    #[test]
    fn a_share_and_a_new_limit_find_their_places() {
        let same = || vec![10, 5, 1, 4, 3];
        let share = |explore| Turned { numbers: same(), explore: Some(explore), add: None };
        assert_eq!(turned(RULES, &share(0.25)), RULES.replace("explore = 0.1 ", "explore = 0.25 "));
        let none =
            Turned { numbers: vec![7], explore: Some(0.05), add: limit("ward", Some("a \"b\""), true, 3) };
        let new = turned("# ours", &none);
        assert!(new.starts_with("budget = 7\nexplore = 0.05\n# ours\n\n[[limit]]\nby = \"ward\"\n"), "{new}");
        let dials = read(Path::new("rules.toml"), &new).unwrap();
        assert_eq!(
            (dials[1].of.as_deref(), dials[1].is_floor, dials[1].value),
            (Some("a \"b\""), true, Some(3))
        );
        let each = Turned { numbers: same(), explore: None, add: limit("language", None, false, 2) };
        let new = turned(RULES, &each);
        assert_eq!(new, format!("{RULES}\n[[limit]]\nby = \"language\"\nat_most = 2\n"));
        for inline in [
            "limit = [{ by = \"worker\", at_most = 16 }]",
            "limit = [\n  { by = \"worker\", at_most = 16 },\n]",
        ] {
            let more = Turned { numbers: vec![8, 9], explore: None, add: limit("worker", None, true, 1) };
            assert_eq!(values(&turned(inline, &more)), [Some(8), Some(1), Some(9)]);
        }
        let windows = Turned { numbers: vec![8], explore: None, add: limit("x", None, true, 1) };
        assert!(!turned("# a\r\n", &windows).replace("\r\n", "").contains('\n'));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let path = Path::new("rules.toml");
        let turned = |numbers: &[usize], add| Turned { numbers: numbers.to_vec(), explore: None, add };
        for (text, turned, part) in [
            (RULES, turned(&[1, 2], None), "found 2 numbers, expected 5"),
            ("", turned(&[MOST + 1], None), "expected a number of at most"),
            ("", turned(&[1], limit("x", None, false, MOST + 1)), "expected a number of at most"),
            ("budget = -1", turned(&[1], None), "line 1, column 10"),
            (RULES, turned(&[10, 5, 1, 4, 3], limit("worker", None, true, 3)), "already, expected a new one"),
            ("", Turned { explore: Some(1.5), ..turned(&[1], None) }, "expected a share from 0 to 1"),
        ] {
            let said = write(path, text, &turned).unwrap_err().to_string();
            assert!(said.contains(part), "{said}");
        }
    }
}
