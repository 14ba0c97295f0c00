//! The numbers in `rules.toml` that decide how many are called: the budget, and the caps.
//!
//! They are found by their places in the text, and a new number is put at the place of the old one, so that comments, order and everything
//! else stay as somebody wrote them. A budget that is not there is put before everything else.
//!
//! ```toml
//! budget = 60                # the budget
//! [[limit]]
//! by = "worker"
//! at_most = 15               # a cap: 15 of each worker
//! [[limit]]
//! by = "centre"
//! at_most = { north = 15, "*" = 20 }   # two caps
//! ```

use crate::error::{Error, Result};
use restive_pipeline::Rules;
use std::ops::Range;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// The most that a number may be.
const MOST: usize = 10_000_000;

/// A number in the rules that can be turned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dial {
    /// the column of a cap; nothing: the budget
    pub by: Option<String>,
    /// the value of that column; nothing: each, or each other one
    pub of: Option<String>,
    /// how many; nothing: the rules have no budget, and that of the study holds
    pub value: Option<usize>,
    at: Option<Range<usize>>,
}

/// The dials of a file: the budget first, then caps in their order.
pub(crate) fn read(path: &Path, text: &str) -> Result<Vec<Dial>> {
    // what is wrong with the rules is told as ever
    Rules::parse(path, text)?;
    let table = DeTable::parse(text).map_err(|error| Error::Refused(error.to_string()))?;
    let table = table.get_ref();
    let budget = table.get("budget").and_then(number);
    let at = budget.as_ref().map(|(_, at)| at.clone());
    let mut dials = vec![Dial { by: None, of: None, value: budget.map(|(value, _)| value), at }];
    let limits = table.get("limit").and_then(|limits| limits.get_ref().as_array());
    for limit in limits.into_iter().flatten().filter_map(|limit| limit.get_ref().as_table()) {
        let by = limit.get("by").and_then(|by| by.get_ref().as_str()).map(str::to_owned);
        let Some(cap) = limit.get("at_most") else { continue };
        let mut push = |of: Option<String>, cap: &toml::Spanned<DeValue<'_>>| {
            if let Some((value, at)) = number(cap) {
                dials.push(Dial { by: by.clone(), of, value: Some(value), at: Some(at) });
            }
        };
        match cap.get_ref().as_table() {
            None => push(None, cap),
            Some(each) => each.iter().for_each(|(name, cap)| {
                let name = name.get_ref();
                push((name != "*").then(|| name.to_string()), cap);
            }),
        }
    }
    Ok(dials)
}

fn number(value: &toml::Spanned<DeValue<'_>>) -> Option<(usize, Range<usize>)> {
    let found = value.get_ref().as_integer()?;
    let number = usize::from_str_radix(found.as_str(), found.radix()).ok()?;
    Some((number, value.span()))
}

/// The same text with other numbers, one for each dial. Nothing else in it changes.
pub(crate) fn write(path: &Path, text: &str, numbers: &[usize]) -> Result<String> {
    let dials = read(path, text)?;
    if dials.len() != numbers.len() {
        return Err(Error::Refused(format!(
            "{}: found {} numbers, expected {}: one for the budget and one for each cap",
            restive_tables::show::path(path),
            numbers.len(),
            dials.len()
        )));
    }
    if let Some(found) = numbers.iter().find(|number| **number > MOST) {
        return Err(Error::Refused(format!("found {found}, expected a number of at most {MOST}")));
    }
    let mut changes: Vec<(Range<usize>, usize)> = Vec::new();
    let mut new = String::new();
    for (dial, number) in dials.iter().zip(numbers) {
        match &dial.at {
            _ if dial.value == Some(*number) => {}
            Some(at) => changes.push((at.clone(), *number)),
            None => {
                let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
                new = format!("budget = {number}{end}");
            }
        }
    }
    changes.sort_by_key(|(at, _)| at.start);
    let mut from = 0;
    for (at, number) in changes {
        new.push_str(&text[from..at.start]);
        new.push_str(&number.to_string());
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
        write(Path::new("rules.toml"), text, numbers).unwrap()
    }

    #[test]
    fn dials_are_found_and_nothing_but_their_numbers_changes() {
        let dials = read(Path::new("rules.toml"), RULES).unwrap();
        let of: Vec<_> = dials.iter().map(|dial| (dial.by.as_deref(), dial.of.as_deref())).collect();
        assert_eq!(
            of,
            [(None, None), (Some("worker"), None), (Some("centre"), None), (Some("centre"), Some("north"))]
        );
        assert_eq!(values(RULES), [Some(10), Some(5), Some(4), Some(3)]);
        assert_eq!(changed(RULES, &[10, 5, 4, 3]), RULES);
        let new = changed(RULES, &[120, 5, 7, 31]);
        assert_eq!(
            new,
            RULES.replace("1_0 ", "120 ").replace("north = 3, \"*\" = 4", "north = 31, \"*\" = 7")
        );
        assert_eq!(values(&new), [Some(120), Some(5), Some(7), Some(31)]);
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
    fn what_cannot_be_is_refused() {
        let path = Path::new("rules.toml");
        for (text, numbers, part) in [
            (RULES, &[1, 2][..], "found 2 numbers, expected 4"),
            ("", &[MOST + 1], "expected a number of at most"),
            ("budget = -1", &[1], "line 1, column 10"),
        ] {
            let said = write(path, text, numbers).unwrap_err().to_string();
            assert!(said.contains(part), "{said}");
        }
    }
}
