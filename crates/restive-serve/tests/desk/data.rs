//! The page *Data*: what an import took and left, an import again, what the data can answer; and who may ask for it.

use crate::harness::{
    WebUi, assert_main, assert_words, done_job, escaped, failed_job, finished_job, notices, part,
};
use crate::world::{WorldOptions, world};
use restive_import::ImportedFolder;
use restive_pipeline::Doctor;
use restive_programme::{Programme, findings_page};
use restive_serve::Role;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The exports beside a programme, so that a test may change them, and where they are.
pub(crate) fn exports(folder: &Path) -> PathBuf {
    let noted = Programme::open(folder).unwrap().exports().unwrap().unwrap();
    let (from, to) = (noted.mapping.parent().unwrap(), folder.parent().unwrap().join("exports"));
    assert_eq!(from, to.canonicalize().unwrap());
    to
}

/// Adds a person to the registry.
pub(crate) fn add_person(exports: &Path) {
    let mut registry = std::fs::read_to_string(exports.join("registry.csv")).unwrap();
    let mut cells: Vec<&str> = registry.lines().nth(1).unwrap().split(',').collect();
    (cells[0], cells[1], cells[2]) = ("NEW-1", "Zenobia", "+919999000001");
    let new = cells.join(",");
    writeln!(registry, "{new}").unwrap();
    std::fs::write(exports.join("registry.csv"), registry).unwrap();
}

/// What the last import of a programme wrote.
fn imported(folder: &Path) -> ImportedFolder {
    Programme::open(folder).unwrap().imported().clone()
}

#[test]
fn an_import_tells_where_every_row_went_and_is_made_again() {
    let files = world(&WorldOptions::default());
    let folder = files.path("programme");
    let exports = exports(&folder);
    let ui = WebUi::start_in(files, |_| {});
    let mut planner = ui.planner();
    let page = planner.get("/data");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("action=\"/data/import\"") && page.body.contains("mapping.toml"));
    assert_main("data", &page);
    // a new person, and two rows that cannot be used
    add_person(&exports);
    let mut messages = std::fs::read_to_string(exports.join("messages.csv")).unwrap();
    let last: Vec<String> = messages.lines().last().unwrap().split(',').map(Into::into).collect();
    for (column, cell) in [(6, "yesterday"), (3, "Zenobia Secret")] {
        let mut cells = last.clone();
        cells[column] = cell.into();
        writeln!(messages, "{}", cells.join(",")).unwrap();
    }
    std::fs::write(exports.join("messages.csv"), messages).unwrap();
    let begun = planner.post("/data/import", &[]);
    assert_main("job_import", &done_job(&mut planner, &begun));
    let page = planner.get("/data");
    assert!(page.body.contains("new people 1"), "{}", page.body);
    assert_main("data_with_refused_rows", &page);
    let written = std::fs::read_to_string(imported(&ui.folder).quarantine()).unwrap();
    assert_eq!(written.lines().count(), 1 + 2);
    for line in written.lines().skip(1) {
        let reason = line.split(',').nth(3).unwrap().trim_matches('"');
        assert!(page.body.contains(&escaped(reason)), "{reason}");
    }
    // nobody's cells, neither of rows that were used nor of those that were refused
    assert!(!page.body.contains("Zenobia") && !page.body.contains("yesterday"));
    let notes = std::fs::read_to_string(ui.folder.join("desk.jsonl")).unwrap();
    assert!(notes.contains("job.import"), "{notes}");
}

#[test]
fn an_import_that_cannot_be_says_why_and_leaves_everything() {
    let files = world(&WorldOptions::default());
    let folder = files.path("programme");
    let exports = exports(&folder);
    let before = imported(&folder).folder().to_path_buf();
    std::fs::remove_file(exports.join("messages.csv")).unwrap();
    let ui = WebUi::start_in(files, |_| {});
    let mut planner = ui.planner();
    let begun = planner.post("/data/import", &[]);
    let job = failed_job(&mut planner, &begun);
    assert!(job.body.contains("messages.csv"), "{}", job.body);
    assert_main("job_import_failed", &job);
    assert_eq!(imported(&ui.folder).folder(), before);
    std::fs::remove_file(exports.join("mapping.toml")).unwrap();
    let begun = planner.post("/data/import", &[]);
    assert!(finished_job(&mut planner, &begun).body.contains("found no mapping"));
    std::fs::remove_file(ui.folder.join("exports.toml")).unwrap();
    let page = planner.get("/data");
    assert!(!page.body.contains("/data/import"));
    assert_words("data_without_mapping", part(&page.body, "<section class=\"beside\"", "</section>"));
}

#[test]
fn what_the_data_can_answer_is_looked_at_kept_and_old_when_they_change() {
    let files = world(&WorldOptions::default());
    let exports = exports(&files.path("programme"));
    let ui = WebUi::start_in(files, |_| {});
    let mut planner = ui.planner();
    assert!(!planner.get("/data").body.contains("class=\"verdict\""));
    let begun = planner.post("/data/doctor", &[]);
    done_job(&mut planner, &begun);
    let page = planner.get("/data");
    let (doctor, _) = Doctor::of_folder(&imported(&ui.folder).study()).unwrap();
    assert!(page.body.contains(&escaped(&doctor.verdict())));
    for section in &findings_page(&doctor, "").sections {
        assert!(page.body.contains(&section.fragment(3)), "{}", section.heading);
    }
    assert!(!page.body.contains("class=\"notice"));
    assert_words("data_doctor", part(&page.body, "<section id=\"doctor\"", "</main>"));
    add_person(&exports);
    let begun = planner.post("/data/import", &[]);
    done_job(&mut planner, &begun);
    assert_words("data_doctor_old", &notices(&planner.get("/data")));
}

#[test]
fn whoever_may_not_ask_is_told_so() {
    let ui = WebUi::start_with_users();
    let mut viewer = ui.user(Role::Viewer);
    for path in ["/data", "/evidence", "/fairness"] {
        let page = viewer.get(path);
        assert_eq!(page.status, 200, "{path}");
        assert!(!page.body.contains("action=\"/data") && !page.body.contains("action=\"/evidence"), "{path}");
        assert!(!page.body.contains("action=\"/fairness") && !page.body.contains("mapping.toml"), "{path}");
        let mut caller = ui.user(Role::Caller);
        assert_eq!(caller.get(path).status, 403, "{path}");
        assert_ne!(ui.visitor().get(path).status, 200, "{path}");
    }
    let writes = ["/data/import", "/data/doctor", "/evidence/judge", "/evidence/train", "/fairness"];
    for path in writes {
        for mut client in [ui.user(Role::Viewer), ui.user(Role::Caller)] {
            assert_eq!(client.post(path, &[]).status, 403, "{path}");
        }
        let mut planner = ui.user(Role::Planner);
        let foreign = planner.request("POST", path, &[("Sec-Fetch-Site", "cross-site")], "");
        assert_eq!(foreign.status, 403, "{path}");
        assert_ne!(ui.visitor().post(path, &[]).status, 200, "{path}");
    }
}
