//! Names from files that want to be more than names: they move the cursor, turn the text around, start a formula, never end.
//!
//! Every command that reads a study or a model is shown them, sound and broken; nothing that reaches the terminal may hold a control
//! character other than a new line or a tab, or a mark of direction.

use super::Tally;
use super::folder::{Prepared, copy, restive};
use super::kills::note_panic;
use std::fs;
use std::path::Path;
use std::process::Stdio;

const NAMES: [&str; 10] = [
    "\u{1b}[2J\u{1b}[31mred",
    "\u{7}bell",
    "\u{202e}desrever",
    "\u{2066}isolated\u{2069}",
    "two\rlines",
    "\u{9b}31m",
    "=HYPERLINK(\"x\")",
    "\u{200b}\u{feff}invisible",
    "\u{0}nothing",
    "q\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
];

const COMMANDS: [&str; 9] = [
    "study study",
    "study study --json",
    "train study --epochs 2 --out OUT",
    "train study --predictor effect --profile published --out OUT",
    "plan model study",
    "plan model study --instance NAME",
    "plan model study --out OUT.csv",
    "evaluate model study --estimators published --part all --runs 20",
    "index arms.csv",
];

pub(crate) fn run(prepared: &Prepared, tally: &mut Tally) {
    let long = "x".repeat(70_000);
    for (k, name) in NAMES.iter().copied().chain([long.as_str()]).enumerate() {
        let folder = prepared.copied();
        let here = folder.path();
        // an arm, an instance, a column and its values, a card's words
        rename(&here.join("study/arms.csv"), name);
        rename(&here.join("study/trajectories.csv"), name);
        rename(&here.join("study/truth.csv"), name);
        rename(&here.join("arms.csv"), name);
        let card = here.join("model/card.json");
        let text = fs::read_to_string(&card).expect("a card");
        let escaped = serde_json::to_string(name).expect("a string");
        fs::write(&card, text.replace("\"f_00\"", &escaped)).expect("a card");
        copy(&here.join("study"), &here.join("broken"));
        fs::write(here.join("broken/study.toml"), format!("budget = {name}\n[{name}\n")).expect("a study");
        for (n, arguments) in COMMANDS.iter().chain(&["study broken", "plan broken study"]).enumerate() {
            let arguments = arguments.replace("OUT", &format!("out{n}"));
            let words: Vec<String> =
                arguments.split_whitespace().map(|word| word.replace("NAME", name)).collect();
            if words.iter().any(|word| word.contains('\0') || word.len() > 60_000) {
                continue; // no argument can hold it
            }
            let mut command = restive(here, "");
            command.args(&words).stdout(Stdio::piped()).stderr(Stdio::piped());
            let done = command.output().expect("the program");
            tally.runs += 1;
            let context = format!("{arguments} with name {k}");
            note_panic(done.status, &context, tally);
            for (stream, bytes) in [("output", &done.stdout), ("error", &done.stderr)] {
                let text = String::from_utf8_lossy(bytes);
                if let Some(found) = text.chars().find(|c| paints(*c)) {
                    tally.painted.push(format!("{context}: {found:?} on standard {stream}"));
                }
                if text.lines().any(|line| line.len() > 20_000) && !arguments.contains("json") {
                    tally.painted.push(format!("{context}: a line without end on standard {stream}"));
                }
            }
        }
    }
}

/// Puts a name in the place of the first arm, group and column of a table, quoted as a CSV field.
fn rename(path: &Path, name: &str) {
    let text = fs::read_to_string(path).expect("a table");
    let field = format!("\"{}\"", name.replace('"', "\"\""));
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    let header: Vec<String> = lines[0].split(',').map(String::from).collect();
    lines[0] = lines[0].replace("f_00", &field);
    for column in ["arm", "instance"] {
        let Some(at) = header.iter().position(|found| found == column) else { continue };
        let first = lines[1].split(',').nth(at).expect("as the header").to_string();
        for line in &mut lines[1..] {
            let mut cells: Vec<&str> = line.split(',').collect();
            if cells[at] == first {
                cells[at] = &field;
                *line = cells.join(",");
                // a field with a comma or a new line can be split no more
                if name.contains([',', '\n']) {
                    break;
                }
            }
        }
    }
    fs::write(path, lines.join("\n") + "\n").expect("a table");
}

/// Whether a character does more than stand there.
fn paints(c: char) -> bool {
    let is_mark =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    is_mark || c.is_control() && c != '\n' && c != '\t'
}
