//! A small invented programme, made once, of which every test has a copy: eight weeks of messages, and a list for the ninth.

use jiff::{Timestamp, ToSpan};
use restive_import::{ImportAsked, Input, Mapping};
use restive_pipeline::{Asked, FolderTraining, PredictorName, Progressed};
use restive_programme::{Code, Entered, OneOutcome, Programme, WeekAsked, grow, seen};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

const MAPPING: &str = r#"period = { every = "week" }
study = { unit = "engaged weeks" }
state = { at_least = 30, silence = "lowest", names = ["not engaged", "engaged"] }
[people]
file = "registry.csv"
id = "id"
keep = ["name", "phone", "worker"]
do_not_call = { column = "dnd", is = "yes" }
features.age = { number = "age" }
features.phone_owner = "text"
[[events]]
file = "messages.csv"
person = "id"
time = "sent"
value = "seconds"
[actions]
file = "calls.csv"
person = "id"
time = "called"
"#;

const RULES: &str = "budget = 6\nworker = \"worker\"\n\n[[cool_down]]\nperiods = 2\n";

/// How many people there are.
pub const PEOPLE: usize = 40;
/// Weeks of the study.
pub const WEEKS: usize = 8;

/// When everything happens.
pub fn now() -> Timestamp {
    "2026-03-02T08:00:00Z".parse().unwrap()
}

/// Whether somebody listened in a week, and whether she was called in it.
pub fn lived(person: usize, week: usize) -> (bool, bool) {
    let mix = (person * 7919 + week * 104_729) % 101;
    (mix < 35 + (person % 5) * 8, week > 0 && (person + 3 * week).is_multiple_of(9))
}

fn write(folder: &Path) {
    let monday = jiff::civil::date(2026, 1, 5);
    let mut registry = String::from("id,name,phone,worker,age,phone_owner,dnd\n");
    let (mut messages, mut calls) = (String::from("id,sent,seconds\n"), String::from("id,called\n"));
    for k in 0..PEOPLE {
        let (owner, never) = (["own", "shared"][k % 2], if k == 39 { "yes" } else { "" });
        let worker = ["Asha", "Bela"][k % 3 % 2];
        writeln!(registry, "MB-{k:03},Name {k},99999000{k:02},{worker},{},{owner},{never}", 20 + k % 17)
            .unwrap();
        for week in 0..WEEKS {
            let day = |weekday: i64| monday + (week as i64 * 7 + weekday).days();
            let (listened, called) = lived(k, week);
            writeln!(messages, "MB-{k:03},{},{}", day(4), if listened { 60 } else { 3 }).unwrap();
            if called {
                writeln!(calls, "MB-{k:03},{}", day(1)).unwrap();
            }
        }
    }
    for (name, text) in [("registry.csv", registry), ("messages.csv", messages), ("calls.csv", calls)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    std::fs::write(folder.join("mapping.toml"), MAPPING).unwrap();
}

fn original() -> &'static Path {
    static ONE: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    &ONE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path());
        let out = folder.path().join("programme");
        let mapping = Mapping::read(&folder.path().join("mapping.toml")).unwrap();
        let asked = ImportAsked { out: Some(out.clone()), ..ImportAsked::default() };
        grow(&mapping, &Input::Files { base: mapping.text.base() }, &asked, |_, _| {}).unwrap();
        let programme = Programme::open(&out).unwrap();
        let asked = Asked { predictor: Some(PredictorName::Effect), ..Asked::default() };
        let training = FolderTraining::new(&programme.study(), &asked, "study", |_| {}).unwrap();
        let done = training.run::<restive_pipeline::Error>(Progressed::default(), |_| Ok(())).unwrap();
        let model = programme.new_model(jiff::civil::date(2026, 3, 1)).unwrap();
        training.model(done.members, done.histories).unwrap().write(&model, false).unwrap();
        std::fs::write(out.join("rules.toml"), RULES).unwrap();
        programme.init().unwrap();
        programme.plan(&WeekAsked::default(), now()).unwrap();
        (folder, out)
    })
    .1
}

/// A copy of the programme, which goes with the folder.
pub fn programme() -> (TempDir, Programme) {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("programme");
    copy(original(), &to);
    // where the mapping lies is noted from the programme's folder
    for name in ["mapping.toml", "registry.csv", "messages.csv", "calls.csv"] {
        std::fs::copy(original().with_file_name(name), folder.path().join(name)).unwrap();
    }
    let programme = Programme::open(&to).unwrap();
    (folder, programme)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => _ = std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap(),
        }
    }
}

/// What Bela tells of a call of the list, having seen what is known of it.
pub fn tell(
    programme: &Programme,
    id: &str,
    code: Code,
    note: Option<&str>,
) -> restive_programme::Result<Entered> {
    let backdrop = programme.backdrop()?;
    let draft = programme.draft(&backdrop, None)?.expect("a list");
    let known = draft.rows.iter().find(|row| row.contact.id == id).and_then(|row| row.outcome.as_ref());
    let told =
        OneOutcome { plan: &draft.record.id, id, code, day: Some(jiff::civil::date(2026, 3, 2)), note };
    programme.tell(&told, &seen(known.map(std::sync::Arc::as_ref)), "Bela", now())
}
