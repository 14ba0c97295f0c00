//! Answers beyond the end of the program: a folder `answers` in that of the programme, a file each.
//!
//! ```toml
//! restive = "0.1.0"
//! answer = "doctor"
//! at = "2026-03-16 08:00"
//! stamp = "5bdc…"
//! [of]
//! ```
//!
//! A file is written whole or not at all, for its owner alone, and takes the place of one of the same kind only. One that cannot be read, that
//! another version wrote, or that is something else is left as it is and not shown, and the desk says so. Nothing in it is more than shown:
//! whoever changes it changes a page, and neither a list nor the record.

use super::answers::Kept;
use restive_tables::{make_private_folders, recognise_bytes, show, write_private_file};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const FOLDER: &str = "answers";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The longest file that is read.
const LONGEST: u64 = 64 << 20;

/// What every file begins with.
#[derive(Deserialize)]
struct Head {
    restive: String,
    answer: String,
}

#[derive(Serialize, Deserialize)]
struct Whole<T> {
    restive: String,
    answer: String,
    at: String,
    stamp: String,
    of: T,
}

fn place(folder: &Path, name: &str) -> PathBuf {
    folder.join(FOLDER).join(format!("{name}.toml"))
}

/// The answer that was kept; nothing where none was, or why what is there is not shown.
pub(super) fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Option<Kept<T>>, String> {
    let path = place(folder, name);
    let wrong = |found: String| {
        let (file, version) = (format!("{FOLDER}/{name}.toml"), VERSION);
        Err(format!("{file}: found {found}, expected an answer of restive {version}: ask again"))
    };
    match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Ok(found) if found.len() > LONGEST => return wrong("a file that is too long".into()),
        _ => {}
    }
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::InvalidData => return wrong("no text".into()),
        Err(error) => return wrong(format!("what cannot be read ({error})")),
        Ok(text) => text,
    };
    match toml::from_str::<Head>(&text) {
        Ok(head) if head.answer != name => {
            return wrong(format!("the answer {:?}", show::name(&head.answer)));
        }
        Ok(head) if head.restive != VERSION => return wrong(format!("one of {}", show::name(&head.restive))),
        Ok(_) => {}
        Err(_) => return wrong("something else".into()),
    }
    match toml::from_str::<Whole<T>>(&text) {
        Ok(whole) => Ok(Some(Kept::new(whole.of, whole.at, whole.stamp))),
        Err(_) => wrong("an answer that is not whole".into()),
    }
}

/// Keeps an answer, or says why it will be gone when the program ends.
pub(super) fn write<T: Serialize + DeserializeOwned>(
    folder: &Path,
    name: &str,
    kept: &Kept<T>,
) -> Result<(), String> {
    let lost =
        |why: String| format!("{FOLDER}/{name}.toml: {why}; the answer is gone when the desk is closed");
    let whole = Whole {
        restive: VERSION.into(),
        answer: name.into(),
        at: kept.at.clone(),
        stamp: kept.stamp.clone(),
        of: &kept.of,
    };
    let text = toml::to_string(&whole).map_err(|error| lost(error.to_string()))?;
    toml::from_str::<Whole<T>>(&text).map_err(|error| lost(show::sentence(error.message())))?;
    make_private_folders([folder.join(FOLDER).as_path()])
        .map_err(|error| lost(format!("cannot make its folder: {error}")))?;
    write_private_file(&place(folder, name), text.as_bytes(), Some(recognise))
        .map_err(|error| lost(error.to_string()))
}

fn recognise(path: &Path) -> restive_tables::Result<()> {
    recognise_bytes(path, "something else", "an answer of the desk", |bytes| {
        std::str::from_utf8(bytes).is_ok_and(|text| toml::from_str::<Head>(text).is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use restive_report::curves::{Line, Panel};
    use restive_report::{Axis, Block, Chart, Curves, Ink, Interval, Page, Section};

    fn page() -> Page {
        let points = vec![(1.0, Interval::new(0.1, -0.2, 0.3)), (2.0, Interval::bare(0.5))];
        let line = Line { name: "a".into(), ink: Ink::Blue, points, continued: vec![(3.0, f64::INFINITY)] };
        let (x, y) = (Axis::linear("x"), Axis::linear("y"));
        let panel = Panel { title: "t".into(), x, y, lines: vec![line] };
        let chart = Chart::Curves(Curves { title: "c".into(), panels: vec![panel] });
        let figure = Block::Figure { chart, caption: "one\n<two>".into() };
        let blocks = vec![figure, Block::Text("said \"so\"".into())];
        let sections = vec![Section { heading: "h".into(), blocks }];
        Page { title: "t".into(), verdict: "v".into(), sections, footer: String::new() }
    }

    #[test]
    fn what_is_kept_is_read_again_numbers_that_are_none_among_it() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read::<Page>(folder.path(), "one").unwrap().is_none());
        write(folder.path(), "one", &Kept::new(page(), "now".into(), "s".into())).unwrap();
        let again = read::<Page>(folder.path(), "one").unwrap().unwrap();
        // a number that is none differs from itself
        assert_eq!(format!("{:?}", again.of), format!("{:?}", page()));
        assert_eq!((again.at.as_str(), again.is_old("s"), again.is_old("t")), ("now", false, true));
        let fragment = |page: &Page| page.sections[0].fragment(3);
        assert_eq!(fragment(&again.of), fragment(&page()));
        #[cfg(unix)]
        for (place, mode) in [("answers", 0o700), ("answers/one.toml", 0o600)] {
            use std::os::unix::fs::PermissionsExt;
            let found = folder.path().join(place).metadata().unwrap().permissions().mode();
            assert_eq!(found & 0o777, mode, "{place}");
        }
    }

    #[test]
    fn what_is_something_else_is_not_shown_and_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "one", &Kept::new(7, "now".into(), "s".into())).unwrap();
        let path = place(folder.path(), "one");
        let whole = std::fs::read_to_string(&path).unwrap();
        let mut cases = vec![
            (whole.replace("\"one\"", "\"two\""), "found the answer"),
            (whole.replace(VERSION, "0.0.0"), "found one of"),
            (whole.replace("of = 7", "of = \"seven\""), "not whole"),
            (whole.replace("stamp", "stump"), "not whole"),
        ];
        cases.extend([("mine", "something else"), ("", "something else")].map(|(a, b)| (a.to_string(), b)));
        for (text, part) in &cases {
            std::fs::write(&path, text).unwrap();
            let why = read::<i32>(folder.path(), "one").map(|_| ()).unwrap_err();
            assert!(why.contains(part) && why.contains("ask again"), "{text}: {why}");
        }
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(read::<i32>(folder.path(), "one").is_err());
        // a file of ours gives way, anybody else's does not
        let new = Kept::new(8, "later".into(), "s".into());
        let why = write(folder.path(), "one", &new).unwrap_err();
        assert!(why.contains("gone when the desk is closed"), "{why}");
        assert_eq!(std::fs::read(&path).unwrap(), [0xff, 0xfe]);
        std::fs::write(&path, &cases[1].0).unwrap();
        write(folder.path(), "one", &new).unwrap();
        assert_eq!(read::<i32>(folder.path(), "one").unwrap().unwrap().of, 8);
        // a folder that cannot be made is told
        let blocked = tempfile::tempdir().unwrap();
        std::fs::write(blocked.path().join(FOLDER), "a file").unwrap();
        assert!(write(blocked.path(), "one", &new).unwrap_err().contains("cannot make its folder"));
    }
}
