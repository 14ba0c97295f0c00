//! Words of a column, with their counts, for messages and drafts.
//!
//! A message may show a word of a column that has few of them and repeats them. It must not show a name, a number or a note. A word is
//! shown only if it occurs twice and is short and nearly without digits, in a column of at most [`FEW`] words and twice as many rows.
//! The others are counted, with the line of the first.

use crate::matching::folded;
use restive_tables::words::counted;
use std::collections::BTreeMap;

/// Most different words of a column of categories.
pub(crate) const FEW: usize = 20;

/// Words of a column by their folded text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    words: BTreeMap<String, Word>,
    /// cells with any of the words, those that were not kept too
    cells: u64,
    /// the line of the first cell that was not kept
    many: Option<u64>,
}

#[derive(Debug, Clone)]
struct Word {
    text: String,
    count: u64,
    line: u64,
}

impl Words {
    pub(crate) fn take(&mut self, cell: &str, line: u64) {
        self.cells += 1;
        let plain = folded(cell);
        if let Some(word) = self.words.get_mut(&plain) {
            word.count += 1;
        } else if self.words.len() < FEW {
            self.words.insert(plain, Word { text: cell.into(), count: 1, line });
        } else {
            self.many.get_or_insert(line);
        }
    }

    /// Number of cells.
    pub(crate) fn cells(&self) -> u64 {
        self.cells
    }

    /// Words that may be shown, with their counts, the most frequent first. `rows` is the number of rows of the table.
    pub(crate) fn shown(&self, rows: u64) -> Vec<(&str, u64)> {
        let shown = self.words.values().filter(|word| self.is_shown(word, rows));
        let mut shown: Vec<(&str, u64)> = shown.map(|word| (word.text.as_str(), word.count)).collect();
        shown.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        shown
    }

    fn is_shown(&self, word: &Word, rows: u64) -> bool {
        const LONGEST: usize = 24;
        const MOST_DIGITS: usize = 4;
        let digits = word.text.chars().filter(|c| c.is_numeric()).count();
        let is_short = word.text.chars().count() <= LONGEST && digits <= MOST_DIGITS;
        self.many.is_none() && 2 * self.words.len() as u64 <= rows && word.count > 1 && is_short
    }

    /// The words that may be shown, and how many cells have others: `"Y" (35), 2 others (the first in line 17)`.
    pub(crate) fn described(&self, rows: u64) -> String {
        let shown = self.shown(rows);
        let others = self.cells - shown.iter().map(|(_, count)| count).sum::<u64>();
        let hidden = self.words.values().filter(|word| !self.is_shown(word, rows)).map(|word| word.line);
        let first = hidden.chain(self.many).min();
        let others = first.map(|line| {
            let what =
                if shown.is_empty() { format!("{others} not shown here") } else { counted(others, "other") };
            format!("{what} (the first in line {line})")
        });
        let words = (!shown.is_empty()).then(|| listed(&shown));
        words.into_iter().chain(others).collect::<Vec<_>>().join(", ")
    }
}

/// `"Y" (35), "do not call" (12)`.
pub(crate) fn listed(words: &[(&str, u64)]) -> String {
    let one = |(word, count): &(&str, u64)| format!("{} ({count})", restive_tables::show::quoted_name(word));
    words.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The keys of a mapping that list words: those that are known to mean no, and as a precaution all others as yes.
pub(crate) fn yes_and_no(yes: &[String], no: &[String], words: &[(&str, u64)]) -> String {
    const NO: [&str; 13] =
        ["no", "n", "false", "f", "0", "none", "nil", "null", "na", "n/a", "-", "--", "---"];
    let (mut yes, mut no) = (yes.to_vec(), no.to_vec());
    for (word, _) in words {
        let list = if NO.contains(&&*folded(word)) { &mut no } else { &mut yes };
        list.push(word.to_string());
    }
    let written = |words: &[String]| toml::Value::from(words.to_vec()).to_string();
    format!("yes = {}, no = {}", written(&yes), written(&no))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(cells: &[&str]) -> Words {
        let mut words = Words::default();
        cells.iter().zip(2..).for_each(|(cell, line)| words.take(cell, line));
        words
    }

    #[test]
    fn words_are_counted_without_capitals_and_the_most_frequent_is_first() {
        let words = words(&["no", "Do not call", "do not  call", "no", "do NOT call", "0", "0"]);
        assert_eq!(words.described(8), "\"Do not call\" (3), \"0\" (2), \"no\" (2)");
        assert_eq!(
            yes_and_no(&["Y".into()], &[], &words.shown(8)),
            "yes = [\"Y\", \"Do not call\"], no = [\"0\", \"no\"]"
        );
        assert_eq!(words.cells(), 7);
    }

    #[test]
    fn names_numbers_and_notes_are_not_shown() {
        assert_eq!(words(&["Asha", "no", "no"]).described(90), "\"no\" (2), 1 other (the first in line 2)");
        assert_eq!(words(&["no", "Asha", "no"]).described(3), "3 not shown here (the first in line 2)");
        for text in ["9999912345", "asked her husband to call later"] {
            assert_eq!(words(&[text, text]).described(90), "2 not shown here (the first in line 2)");
        }
        let names: Vec<String> = (0..30).map(|k| format!("Asha {}", "x".repeat(k / 2))).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(words(&names).shown(900).len(), 15);
        let names: Vec<String> = (0..60).map(|k| format!("Asha {}", "x".repeat(k / 2))).collect();
        assert!(words(&names.iter().map(String::as_str).collect::<Vec<_>>()).shown(900).is_empty());
    }
}
