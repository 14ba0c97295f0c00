//! Text that a spreadsheet would take for a formula, in CSV.
//!
//! A spreadsheet reads a cell that begins with `=`, `+`, `-`, `@`, a tab or a line break as a formula, and a formula can fetch and send.
//! Whoever may choose a name could so reach into the computer of whoever opens the plan. An apostrophe before it makes it text again. So
//! restive writes one there, and takes it away again when it reads a table: a name comes back as it was.
//!
//! Let F be the texts of any number of apostrophes followed by one of those characters. Writing puts an apostrophe before a text of F and
//! leaves others alone, reading takes one away from a text of F that begins with one: the second undoes the first for every text. A sign
//! alone, or a sign and digits (`-5`, `+491701234567`), is no formula, and stays as it is.

/// Whether a text is in F.
fn is_formula(text: &[u8]) -> bool {
    let rest = &text[text.iter().take_while(|byte| **byte == b'\'').count()..];
    match rest {
        [b'+' | b'-', number @ ..] => !number.iter().all(u8::is_ascii_digit),
        [b'=' | b'@' | b'\t' | b'\r' | b'\n', ..] => true,
        _ => false,
    }
}

/// Makes text of the formula that starts at `start`, if there is one.
pub(crate) fn guard(text: &mut Vec<u8>, start: usize) {
    if is_formula(&text[start..]) {
        text.insert(start, b'\'');
    }
}

/// The text of a cell, as it was before [`guard`].
pub(crate) fn unguarded(cell: &[u8]) -> &[u8] {
    match cell {
        [b'\'', rest @ ..] if is_formula(cell) => rest,
        _ => cell,
    }
}

/// The same of a cell of text, for whoever reads tables of his own: `'=A1` is the text `=A1`, kept from being a formula.
pub fn unguarded_cell(cell: &str) -> &str {
    match cell.as_bytes() {
        [b'\'', ..] if is_formula(cell.as_bytes()) => &cell[1..],
        _ => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn guarded(text: &str) -> String {
        let mut all = b"before,".to_vec();
        all.extend(text.as_bytes());
        guard(&mut all, 7);
        String::from_utf8(all[7..].to_vec()).unwrap()
    }

    #[test]
    fn formulas_become_text_and_nothing_else_changes() {
        for text in
            ["=1+1", "+1+1", "-1+1", "-2.5", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1", "''-a", "=", "@"]
        {
            assert_eq!(guarded(text), format!("'{text}"));
        }
        for text in ["", "Ada", "-5", "+491701234567", "-", "+", "O'Brien", "'tis", "'", "17", " =1"] {
            assert_eq!(guarded(text), text);
        }
    }

    proptest! {
        #![proptest_config(proptest::test_runner::Config { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

        #[test]
        fn what_is_written_comes_back(text in "['=+@\t\r\n0-9a-]{0,6}|\\PC{0,6}") {
            let written = guarded(&text);
            prop_assert_eq!(unguarded(written.as_bytes()), text.as_bytes());
            prop_assert!(!written.starts_with(['=', '@', '\t', '\r', '\n']));
        }
    }
}
