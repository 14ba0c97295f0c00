//! What lasts: answers of jobs over a restart, a job that is stopped without anybody else, lines of the record that the disk refuses.

use crate::data::{add_person, exports};
use crate::harness::{JobEnd, WebUi, assert_words, done_job, finished_job, job_end, notices, part};
use crate::world::{WorldOptions, world};
use restive_programme::Programme;
use restive_serve::{Opened, Server};
use restive_testkit::HttpClient;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// A planner of another server on the programme, as after a restart.
fn again(folder: &Path) -> HttpClient {
    let asked = Opened { port: Some(0), planner: "Asha".into(), ..Opened::new(folder) };
    let server = Server::open(&asked).unwrap();
    let (running, entrance) = (server.clone(), server.entrance().unwrap());
    std::thread::spawn(move || _ = running.run());
    let mut client = HttpClient::new(server.address());
    let path = entrance.split_once(&server.address().to_string()).unwrap().1;
    assert_eq!(client.get(path).status, 303);
    client
}

#[test]
fn answers_outlast_the_program_with_their_date() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let rules = planner.get("/capacity").hidden("rules");
    let numbers = [("rules", rules.as_str()), ("n0", "4"), ("n1", "3"), ("n2", "1"), ("explore", "25")];
    for (path, fields) in [
        ("/data/doctor", &[][..]),
        ("/evidence/judge", &[]),
        ("/fairness", &[("last", "1")]),
        ("/capacity/try", &numbers),
        ("/record/verify", &[]),
    ] {
        let begun = planner.post(path, fields);
        done_job(&mut planner, &begun);
    }
    let pages = ["/data", "/evidence", "/fairness", "/capacity", "/record"];
    let before: Vec<String> = pages.iter().map(|path| planner.get(path).body).collect();
    let mut later = again(&ui.folder);
    for (path, before) in pages.iter().zip(&before) {
        let page = later.get(path).body;
        let told = |page: &str| match *path {
            "/record" => part(page, "class=\"notice\" role=\"status\"", "</p>").to_string(),
            "/capacity" => part(page, "<p class=\"muted\">", "</main>").to_string(),
            _ => part(page, "class=\"verdict\"", "</main>").to_string(),
        };
        assert_eq!(told(&page), told(before), "{path}");
        assert!(
            !page.contains("class=\"notice warn\"") && !page.contains("class=\"notice bad\""),
            "{path}: {page}"
        );
    }
    // what they were found in changes: they are there, and said to be old
    add_person(&exports(&ui.folder));
    let begun = later.post("/data/import", &[]);
    done_job(&mut later, &begun);
    let mut last = again(&ui.folder);
    let old = ["/data", "/evidence", "/fairness", "/capacity"].map(|path| notices(&last.get(path)));
    assert_words("answers_old", &old.concat());
    // something else in their place is not shown, is said, and gives way to nothing
    std::fs::write(ui.folder.join("answers/doctor.toml"), "<script>alert(1)</script>").unwrap();
    let mut other = again(&ui.folder);
    let page = other.get("/data");
    assert_words("answer_not_shown", &notices(&page));
    assert!(
        !page.body.contains("class=\"verdict\"") && !page.body.contains("<script>alert"),
        "{}",
        page.body
    );
    assert!(other.get("/evidence").body.contains("class=\"verdict\""));
}

#[test]
fn a_job_that_is_stopped_stops_nobody_else() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let ids: Vec<String> = {
        let list = Programme::open(&ui.folder).unwrap().list(None).unwrap();
        list.rows.into_iter().map(|row| row.id).collect()
    };
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let readers: Vec<_> = (0..3)
            .map(|k| {
                let (mut reader, ids, is_over) = (ui.planner(), &ids, &is_over);
                threads.spawn(move || {
                    let mut asked = 0;
                    while !is_over.load(Ordering::Relaxed) || asked < 5 {
                        // what the model says of somebody is computed by kernels
                        let page = reader.get(&format!("/person/{}", ids[(asked + k) % ids.len()]));
                        assert_eq!(page.status, 200, "{}", page.body);
                        asked += 1;
                    }
                    asked
                })
            })
            .collect();
        for _ in 0..4 {
            let begun = planner.post("/evidence/judge", &[]);
            let at = begun.header("location").unwrap().to_string();
            std::thread::sleep(std::time::Duration::from_millis(150));
            assert_eq!(planner.post(&format!("{at}/stop"), &[]).status, 303);
            let page = finished_job(&mut planner, &begun);
            assert_ne!(job_end(&page), JobEnd::Failed, "{}", page.body);
        }
        is_over.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| assert!(reader.join().unwrap() >= 5));
    });
}

#[test]
fn what_was_not_begun_is_said() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let begun = planner.post("/evidence/judge", &[]);
    let at = begun.header("location").unwrap().to_string();
    // the same asked for twice is asked for once
    assert_eq!(planner.post("/evidence/judge", &[]).header("location").unwrap(), at);
    let other = planner.post("/record/verify", &[]);
    assert_eq!(other.header("location").unwrap(), format!("{at}?instead=1"));
    assert_words("job_not_begun", &notices(&planner.get(&format!("{at}?instead=1"))));
    assert_eq!(notices(&planner.get(&at)), "");
    assert_eq!(planner.post(&format!("{at}/stop"), &[]).status, 303);
    finished_job(&mut planner, &begun);
}

#[test]
fn a_line_that_the_disk_refuses_is_told_on_every_page() {
    let files = world(&WorldOptions::default());
    let ui = WebUi::start_in(files, |_| {});
    let mut planner = ui.planner();
    let (file, away) = (ui.folder.join("desk.jsonl"), ui.folder.join("away"));
    std::fs::rename(&file, &away).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert!(!planner.get("/week").body.contains("desk.jsonl"));
    assert_eq!(planner.get("/week/list.xlsx").status, 200);
    for path in ["/week", "/data", "/record", "/capacity"] {
        let page = planner.get(path);
        let notice = part(&page.body, "<div class=\"notice bad\"", "</div>");
        // the download
        assert!(notice.contains("1 lines of desk.jsonl"), "{notice}");
        assert_words("line_not_written", notice);
    }
    // there is room again: whoever looks at the record has it written, and nothing is lost
    std::fs::remove_dir(&file).unwrap();
    std::fs::rename(&away, &file).unwrap();
    planner.get("/record");
    assert!(!planner.get("/week").body.contains("desk.jsonl"));
    let notes = std::fs::read_to_string(&file).unwrap();
    assert_eq!(notes.matches("\"what\":\"download\"").count(), 1, "{notes}");
}

#[test]
fn a_record_of_an_earlier_version_is_brought_up_to_date_with_a_copy_beside_it() {
    let files = world(&WorldOptions::default());
    let folder = files.path("programme");
    let ledger = folder.join("ledger.db");
    // where SQLite keeps the version: what the step does, it can do again
    let mut bytes = std::fs::read(&ledger).unwrap();
    assert_eq!(bytes[60..64], [0, 0, 0, 4]);
    bytes[63] = 3;
    std::fs::write(&ledger, bytes).unwrap();
    let ui = WebUi::start_in(files, |_| {});
    assert_eq!(ui.planner().get("/week").status, 200);
    assert!(ui.folder.join("ledger.db.v3").exists());
    let reader = restive_ledger::Ledger::read(&ui.folder.join("ledger.db")).unwrap();
    assert!(reader.verify().unwrap().faults.is_empty());
}
