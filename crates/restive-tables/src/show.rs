//! How messages show cells and names: on one line, and with what the eye would miss.
//!
//! A name of an arm or an instance is compared character by character, so `17` and `17 ` are two names. Where a name begins or ends
//! with white space, or holds a character without ink, [`name`] puts it in quotes and says so in words.

/// A cell: quoted, cut where it is long.
pub(crate) fn quoted(cell: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(cell);
    let short: String = text.chars().take(LONGEST).collect();
    let dots = if short.len() < text.len() { "…" } else { "" };
    format!("\"{}{dots}\"", short.escape_debug())
}

/// A name within a sentence: as it is, or quoted with what cannot be seen of it.
pub(crate) fn name(name: &str) -> String {
    match unseen(name) {
        None => name.escape_debug().to_string(),
        Some(_) => quoted_name(name),
    }
}

/// A name that was found: quoted, with what cannot be seen of it.
pub(crate) fn quoted_name(name: &str) -> String {
    match unseen(name) {
        None => format!("{name:?}"),
        Some(words) => format!("{name:?} ({words})"),
    }
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
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' => "a mark of direction",
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
    fn a_lookalike_differs_in_nothing_that_can_be_seen() {
        let names = ["7", "17\u{a0}", "a b"];
        let find = |name| lookalike(name, names.into_iter());
        assert_eq!((find("17"), find(" 7"), find("ab")), (Some("17\u{a0}"), Some("7"), Some("a b")));
        assert_eq!((find("7"), find("8"), find("")), (None, None, None));
    }
}
