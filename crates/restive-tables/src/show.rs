//! How text from files is shown to people: on one line, cut where it is long, and with what the eye would miss.
//!
//! A name is whatever a file says, and a terminal obeys some characters: a name with an escape sequence could colour the screen, move
//! the cursor or turn the text after it around, and a line break could forge a line of its own. So such characters ([`is_hostile`])
//! are never printed, but spelt: `\u{1b}`. Letters of every script stay as they are, with the joiners that some of them need.
//!
//! A name of an arm or an instance is compared character by character, so `17` and `17 ` are two names. Where a name begins or ends
//! with white space, or holds a character without ink, [`name`] puts it in quotes and says so in words.

use std::path::Path;

/// The longest name, and the longest words of a parser, that are shown in full, in characters.
const LONGEST_NAME: usize = 60;
const LONGEST_SENTENCE: usize = 240;

/// Whether a terminal or an editor would obey a character instead of drawing it: control characters, line breaks and tabs among them,
/// marks that turn the direction of writing, invisible separators and tags.
pub fn is_hostile(c: char) -> bool {
    let is_mark = matches!(c,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    c.is_control() || is_mark
}

/// The line and the character of a byte of a text, both from 1; of one within a character or behind the end, that of what stands there.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// Text without anything that is obeyed: such characters are spelt.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hostile(c) { plain.extend(c.escape_default()) } else { plain.push(c) }
    }
    plain
}

/// A name in a table on the terminal: plain, cut where it is long.
pub fn cell(name: &str) -> String {
    cut(&plain(cut(name, LONGEST_NAME).0), LONGEST_NAME).0.to_string()
        + if is_long(name) { "…" } else { "" }
}

/// A path within a sentence.
pub fn path(path: &Path) -> String {
    plain(&path.display().to_string())
}

/// What a parser says of a file: its words, on one line, plain, cut where they are many.
pub fn sentence(words: &str) -> String {
    let text = plain(&words.split_whitespace().collect::<Vec<_>>().join(" "));
    let (short, is_cut) = cut(&text, LONGEST_SENTENCE);
    if is_cut { format!("{short}…") } else { text }
}

/// A cell: quoted, cut where it is long.
pub(crate) fn quoted(cell: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(cell);
    let (short, is_cut) = cut(&text, LONGEST);
    in_quotes(short, is_cut)
}

/// A name within a sentence: as it is, or quoted with what cannot be seen of it.
pub fn name(name: &str) -> String {
    match unseen(name) {
        None if is_long(name) => format!("{} ({} characters)", cell(name), name.chars().count()),
        None => plain(name),
        Some(_) => quoted_name(name),
    }
}

/// A name that was found: quoted, with what cannot be seen of it.
pub fn quoted_name(name: &str) -> String {
    let (short, is_cut) = cut(name, LONGEST_NAME);
    let long = is_cut.then(|| format!("{} characters", name.chars().count()));
    let words: Vec<String> = long.into_iter().chain(unseen(name)).collect();
    match &words[..] {
        [] => in_quotes(short, false),
        words => format!("{} ({})", in_quotes(short, is_cut), words.join(", ")),
    }
}

fn is_long(name: &str) -> bool {
    cut(name, LONGEST_NAME).1
}

/// The first so many characters, and whether there are more.
fn cut(text: &str, longest: usize) -> (&str, bool) {
    match text.char_indices().nth(longest) {
        Some((end, _)) => (&text[..end], true),
        None => (text, false),
    }
}

/// As Rust writes text, which spells what has no ink.
fn in_quotes(text: &str, is_cut: bool) -> String {
    let quoted = format!("{text:?}");
    if is_cut { format!("{}…\"", &quoted[..quoted.len() - 1]) } else { quoted }
}

/// Of names that a table has, one that looks the same as this one but is another.
pub(crate) fn lookalike<'a>(name: &str, mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let ink =
        |name: &str| name.chars().filter(|c| !c.is_whitespace() && called(*c).is_none()).collect::<String>();
    let wanted = ink(name);
    names.find(|other| *other != name && !wanted.is_empty() && ink(other) == wanted)
}

/// What the eye misses in a name, in words.
fn unseen(name: &str) -> Option<String> {
    let (first, last) = (name.chars().next(), name.chars().next_back());
    let white = |c: char| called(c).or_else(|| (c == ' ').then(|| "a space".to_string()));
    let starts = first.and_then(white).map(|what| format!("starts with {what}"));
    let ends = last.and_then(white).map(|what| format!("ends with {what}"));
    let inside = || name.chars().find_map(called).map(|what| format!("holds {what}"));
    let found: Vec<String> = starts.into_iter().chain(ends).collect();
    if found.is_empty() { inside() } else { Some(found.join(", ")) }
}

/// What a character is called that nobody sees, a space apart.
fn called(c: char) -> Option<String> {
    let word = match c {
        '\t' => return Some("a tab".into()),
        '\n' | '\r' => return Some("a line break".into()),
        '\u{a0}' => "a no-break space",
        '\u{ad}' => "a soft hyphen",
        '\u{200b}' => "a zero-width space",
        '\u{200c}' | '\u{200d}' => "a zero-width joiner",
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            "a mark of direction"
        }
        '\u{202f}' => "a narrow no-break space",
        '\u{2060}' => "a word joiner",
        '\u{feff}' => "a byte-order mark",
        ' ' => return None,
        c if c.is_whitespace() => "white space",
        c if c.is_control() => "a control character",
        _ => return None,
    };
    Some(format!("{word} U+{:04X}", u32::from(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_ink_is_said() {
        assert_eq!(name("Ñandú 鳥"), "Ñandú 鳥");
        assert_eq!(name("a b"), "a b");
        assert_eq!(name("17 "), "\"17 \" (ends with a space)");
        assert_eq!(name("\t17"), "\"\\t17\" (starts with a tab)");
        assert_eq!(
            name("\u{a0}17 "),
            "\"\\u{a0}17 \" (starts with a no-break space U+00A0, ends with a space)"
        );
        assert_eq!(name("1\u{200b}7"), "\"1\\u{200b}7\" (holds a zero-width space U+200B)");
        assert_eq!(quoted_name("17"), "\"17\"");
        assert_eq!(quoted_name("17\u{feff}"), "\"17\\u{feff}\" (ends with a byte-order mark U+FEFF)");
    }

    #[test]
    fn nothing_that_a_terminal_obeys_comes_through() {
        let hostile = "a\u{1b}[31mb\rc\nd\te\u{202e}f\u{2066}g\u{9b}h\u{7f}i\u{2028}j\u{e0041}k\u{feff}";
        for shown in [
            plain(hostile),
            cell(hostile),
            sentence(hostile),
            name(hostile),
            quoted_name(hostile),
            quoted(hostile.as_bytes()),
        ] {
            assert!(!shown.contains(is_hostile), "{shown:?}");
        }
        assert_eq!(plain("\u{1b}[0m\n"), "\\u{1b}[0m\\n");
        // names of people: quotes, vowel signs, joiners
        for name in ["O'Brien \"Bob\"", "अनिता", "കെ\u{200d}", "Ñandú 鳥"] {
            assert_eq!((plain(name), cell(name)), (name.to_string(), name.to_string()));
        }
    }

    #[test]
    fn what_is_long_is_cut() {
        let long = "é".repeat(65_536);
        let sixty = "é".repeat(60);
        assert_eq!(cell(&long), format!("{sixty}…"));
        assert_eq!(name(&long), format!("{sixty}… (65536 characters)"));
        assert_eq!(quoted_name(&long), format!("\"{sixty}…\" (65536 characters)"));
        assert_eq!(cell(&"\n".repeat(65_536)).chars().count(), 61);
        assert_eq!(sentence(&long).chars().count(), 241);
        assert_eq!(quoted("x".repeat(41).as_bytes()), format!("\"{}…\"", "x".repeat(40)));
    }

    #[test]
    fn a_lookalike_differs_in_nothing_that_can_be_seen() {
        let names = ["7", "17\u{a0}", "a b"];
        let find = |name| lookalike(name, names.into_iter());
        assert_eq!((find("17"), find(" 7"), find("ab")), (Some("17\u{a0}"), Some("7"), Some("a b")));
        assert_eq!((find("7"), find("8"), find("")), (None, None, None));
    }
}
