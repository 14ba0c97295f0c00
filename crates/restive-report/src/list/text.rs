//! Text that others wrote, made fit for a file: legal, short enough, and told apart.
//!
//! Characters that XML forbids are dropped, a carriage return becomes a line feed, and what is too long ends in an ellipsis. Lengths are
//! counted as spreadsheets count them, in units of UTF-16.
//!
//! Names that must differ are made to: the second of two gets a number, `note (2)`, and loses of its end what that takes. Names that
//! differ only by the size of their letters count as the same, as they do for spreadsheets.

use std::collections::HashMap;

/// As much as a cell of a spreadsheet holds.
pub(super) const CELL: usize = 32_767;

/// Whether XML allows the character; of control characters, tab and line feed alone.
fn is_legal(c: char) -> bool {
    !matches!(c, '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

/// The text without what XML forbids.
pub(super) fn clean(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").chars().filter(|c| is_legal(*c)).collect()
}

/// The same on one line, without space around it.
pub(super) fn line(text: &str) -> String {
    clean(text)
        .split(['\t', '\n'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// At most that many units of UTF-16, the last of them an ellipsis where something was cut.
pub(super) fn cut(text: &str, longest: usize) -> String {
    // no character has fewer bytes than units
    if text.len() <= longest || text.encode_utf16().count() <= longest {
        return text.into();
    }
    let mut left = longest.saturating_sub(1);
    let fits = |c: &char| {
        let units = c.len_utf16();
        let fits = units <= left;
        left = left.saturating_sub(units);
        fits
    };
    let mut out: String = text.chars().take_while(fits).collect();
    out.truncate(out.trim_end().len());
    out + "…"
}

/// Names given so far.
pub(super) struct Distinct {
    longest: usize,
    /// names in small letters, and the number that the next of the same name may get
    given: HashMap<String, usize>,
}

impl Default for Distinct {
    /// As long as a cell may be.
    fn default() -> Self {
        Self::new(CELL)
    }
}

impl Distinct {
    /// Of at most that many units.
    pub fn new(longest: usize) -> Self {
        Self { longest, given: HashMap::new() }
    }

    /// The name, or the name with a number.
    pub fn name(&mut self, wanted: &str) -> String {
        self.with(wanted, |number| format!(" ({number})"))
    }

    /// The name, or the name with an ending that is made of a number.
    pub fn with(&mut self, wanted: &str, ending: impl Fn(usize) -> String) -> String {
        let first = cut(wanted, self.longest);
        let mut number = self.given.get(&folded(&first)).copied().unwrap_or(1);
        let mut name = first.clone();
        while self.given.contains_key(&folded(&name)) {
            number += 1;
            let ending = ending(number);
            name = cut(wanted, self.longest.saturating_sub(ending.len())) + &ending;
        }
        self.given.insert(folded(&name), 1);
        self.given.insert(folded(&first), number);
        name
    }
}

/// In small letters, by way of capitals: ſ and s are the same.
fn folded(name: &str) -> String {
    name.to_uppercase().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_forbids_is_dropped() {
        assert_eq!(clean("a\0b\u{b}c\u{1f}\u{7f}\u{85}\u{ffff}d\te\r\nf\rg"), "abcd\te\nf\ng");
        assert_eq!(line(" a \r\n\t b\0 "), "a b");
    }

    #[test]
    fn lengths_are_counted_in_units() {
        assert_eq!(cut("abcd", 4), "abcd");
        assert_eq!(cut("abcde", 4), "abc…");
        assert_eq!(cut("ab cde", 4), "ab…");
        assert_eq!(cut("नमस्ते", 6), "नमस्ते"); // 18 bytes, 6 units
        assert_eq!(cut("😀😀😀", 6), "😀😀😀");
        assert_eq!(cut("😀😀😀", 5), "😀😀…");
        assert_eq!(cut("😀😀😀", 4), "😀…"); // no half of a character
        assert_eq!(cut("ab", 0), "…"); // nothing fits: the reader should know
    }

    #[test]
    fn names_are_told_apart() {
        let mut names = Distinct::new(8);
        let given = ["Asha", "ASHA", "Asha (2)", "asha", "Asha Devi", "Asha Dev…", "Asha Devi"]
            .map(|n| names.name(n));
        assert_eq!(given[..4], ["Asha", "ASHA (2)", "Ash… (2)", "asha (3)"].map(String::from));
        assert_eq!(given[4..], ["Asha De…", "Ash… (3)", "Ash… (4)"].map(String::from));
    }
}
