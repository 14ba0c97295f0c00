//! Everything that is said goes out here, to standard output and to standard error.
//!
//! Names from files, paths and arguments are on their way to a terminal, which obeys some characters instead of drawing them. Whoever
//! writes a name within a sentence or a table spells them ([`restive_tables::show`]), line breaks among them; this is the door behind which
//! none is left, whatever was forgotten: in text such a character becomes `\u{1b}`, in JSON `\u001b`, which means the same to a parser.

use restive_tables::show::is_hostile;
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, Write};

/// Prints to standard output; a reader that has seen enough (`restive … | head`) is no failure.
pub(crate) fn print(text: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    text(&mut bytes)?;
    put(&spelt(&String::from_utf8_lossy(&bytes), |c| c.escape_default().to_string()))
}

/// Prints an answer as JSON.
pub(crate) fn print_json(answer: &impl Serialize) -> anyhow::Result<()> {
    put(&(json(&serde_json::to_string_pretty(answer)?) + "\n"))
}

/// Prints an answer as one line of JSON.
pub(crate) fn print_json_line(answer: &impl Serialize) -> anyhow::Result<()> {
    put(&(json(&serde_json::to_string(answer)?) + "\n"))
}

/// What is worth knowing, on a line of standard error.
pub(crate) fn note(text: impl Display) {
    line(format_args!("note: {text}"));
}

/// What should be known before an answer is trusted.
pub(crate) fn warning(text: impl Display) {
    line(format_args!("warning: {text}"));
}

/// A line on standard error; nothing that is said can make two of it.
pub(crate) fn line(text: impl Display) {
    let text = spelt(&text.to_string().replace('\n', "\\n"), |c| c.escape_default().to_string());
    // where nobody listens there is nobody to tell
    let _ = writeln!(io::stderr().lock(), "restive: {text}");
}

fn put(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("standard output: cannot write"))
        }
        _ => Ok(()),
    }
}

/// Outside of strings JSON has nothing to spell.
fn json(text: &str) -> String {
    let units = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
    spelt(text, units)
}

/// The text without characters that are obeyed, those of its layout apart.
fn spelt(text: &str, spelling: impl Fn(char) -> String) -> String {
    let mut spelt = String::with_capacity(text.len());
    for c in text.chars() {
        match is_hostile(c) && !matches!(c, '\n' | '\t') {
            true => spelt += &spelling(c),
            false => spelt.push(c),
        }
    }
    spelt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_means_the_same_when_it_is_spelt() {
        let hostile = "a\u{1b}[31m\u{9b}\u{202e}\n\u{e0041}\u{7f}é";
        let said = json(&serde_json::to_string_pretty(&[hostile]).unwrap());
        assert!(!said.contains(|c| is_hostile(c) && c != '\n'), "{said}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&said).unwrap(), [hostile]);
    }
}
