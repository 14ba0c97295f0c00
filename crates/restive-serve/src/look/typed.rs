//! What somebody typed, as it may stand on record: without characters that ring a bell or turn around the text that stands beside them.

/// The text without control characters and without marks of direction that outlive it.
pub(crate) fn plain(text: &str) -> String {
    let is_mark = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| !c.is_control() && !is_mark(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn letters_of_every_script_stay_and_marks_go() {
        assert_eq!(plain("\u{202e}आशा نعم é 👩‍🍼\u{7}\n!"), "आशा نعم é 👩‍🍼!");
    }
}
