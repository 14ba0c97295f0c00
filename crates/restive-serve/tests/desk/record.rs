//! The record: lists, changes, who did what, verified, and a week as one file.

use crate::harness::{WebUi, assert_main, assert_words, done_job, notices, part};
use restive_ledger::Ledger;
use restive_programme::{Edit, Programme};
use restive_serve::Role;

fn plans(ui: &WebUi) -> Vec<String> {
    let all = Programme::open(&ui.folder).unwrap().audit_list().unwrap();
    all.into_iter().map(|entry| entry.plan).collect()
}

#[test]
fn lists_changes_and_deeds_are_shown() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let programme = Programme::open(&ui.folder).unwrap();
    let list = programme.list(None).unwrap();
    let (plan, id) = (list.plan.clone(), list.rows[0].id.clone());
    let fields = [("do", "out"), ("id", &id), ("why", "has <moved>"), ("plan", &plan), ("version", "0")];
    assert_eq!(planner.post("/week/edit", &fields).status, 303);
    let page = planner.get("/record");
    assert_eq!(page.status, 200);
    let all = plans(&ui);
    assert_eq!(all.len(), 3);
    for plan in &all {
        assert!(page.body.contains(&format!("href=\"/record/{plan}\"")), "{plan}");
    }
    assert_main("record", &page);
    assert!(page.body.contains(&format!("{plan} {id}")));
    assert!(page.body.contains(&programme.head().unwrap().unwrap()));
    let week = planner.get(&format!("/record/{plan}"));
    assert_eq!(week.status, 200);
    assert!(week.body.contains("has &#60;moved&#62;"), "{}", week.body);
    assert!(week.body.contains(&format!("href=\"/person/{id}\"")));
    assert_main("record_week", &week);
    assert_main("record_week_with_outcomes", &planner.get(&format!("/record/{}", all[0])));
    for odd in ["2020-01-06", "x", "..%2F..%2Fetc"] {
        assert_eq!(planner.get(&format!("/record/{odd}")).status, 404, "{odd}");
        assert_eq!(planner.get(&format!("/record/{odd}/archive.zip")).status, 404, "{odd}");
    }
}

#[test]
fn the_record_is_verified_and_what_is_wrong_is_named() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let head = Programme::open(&ui.folder).unwrap().head().unwrap().unwrap();
    assert_eq!(planner.post("/record/verify", &[("head", "no head")]).status, 422);
    let started = planner.post("/record/verify", &[("head", &head[..12])]);
    assert_eq!(started.status, 303);
    let job = done_job(&mut planner, &started);
    assert!(job.body.contains("3 lists on record, 3 of them"), "{}", job.body);
    assert!(job.body.contains(&head), "{}", job.body);
    assert_main("job_verify", &job);
    assert_words("record_verified", &notices(&planner.get("/record")));
    // one content of every plan is changed behind the program's back
    let programme = Programme::open(&ui.folder).unwrap();
    let plan = Ledger::read(&programme.ledger()).unwrap().latest().unwrap().unwrap();
    let digest = &plan.facts.inputs.iter().find(|input| input.name == "study/study.toml").unwrap().digest;
    std::fs::write(ui.folder.join("records").join(&digest[..2]).join(digest), b"something else").unwrap();
    let started = planner.post("/record/verify", &[]);
    let job = done_job(&mut planner, &started);
    assert!(job.body.contains("was changed"), "{}", job.body);
    assert_main("job_verify_fault", &job);
}

#[test]
fn a_week_is_one_file_and_the_same_again() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let plan = plans(&ui)[0].clone();
    let path = format!("/record/{plan}/archive.zip");
    let one = planner.get(&path);
    assert_eq!((one.status, one.header("content-type")), (200, Some("application/zip")));
    let attached = format!("attachment; filename=\"week-{plan}.zip\"");
    assert_eq!(one.header("content-disposition"), Some(attached.as_str()));
    assert_eq!(
        (one.header("cache-control"), one.header("x-content-type-options")),
        (Some("no-store"), Some("nosniff"))
    );
    assert!(one.bytes.starts_with(b"PK"));
    let programme = Programme::open(&ui.folder).unwrap();
    assert!(one.bytes == programme.archive(&plan).unwrap().bytes);
    // something is said of another week, and this one's file stays as it is
    let list = programme.list(None).unwrap();
    let now = jiff::Timestamp::now();
    programme.edit(&list.plan, 0, Edit::LeaveOut, &list.rows[0].id, "Meera", "away", now).unwrap();
    assert!(planner.get(&path).bytes == one.bytes);
    let notes = std::fs::read_to_string(ui.folder.join("desk.jsonl")).unwrap();
    assert_eq!(notes.matches("\"what\":\"archive\"").count(), 2, "{notes}");
    let deeds = planner.get("/record").body;
    assert_words("record_deeds", part(&deeds, "<section aria-labelledby=\"done\"", "</section>"));
}

#[test]
fn roles_end_where_they_end() {
    let ui = WebUi::start_with_users();
    let plan = plans(&ui)[0].clone();
    let (week, zip) = (format!("/record/{plan}"), format!("/record/{plan}/archive.zip"));
    let mut viewer = ui.user(Role::Viewer);
    let page = viewer.get("/record");
    assert_eq!((page.status, viewer.get(&week).status), (200, 200));
    assert!(!page.body.contains("archive.zip") && !page.body.contains("action=\"/record/verify\""));
    let mut caller = ui.user(Role::Caller);
    assert_eq!((viewer.get(&zip).status, caller.get(&zip).status), (403, 403));
    assert_eq!((caller.get("/record").status, caller.get(&week).status), (403, 403));
    for client in [&mut viewer, &mut caller] {
        assert_eq!(client.post("/record/verify", &[]).status, 403);
    }
    let mut stranger = ui.visitor();
    assert_eq!((stranger.get(&zip).status, stranger.get("/record").status), (401, 401));
    assert_eq!(stranger.post("/record/verify", &[]).status, 401);
}

#[test]
fn pages_speak_another_language() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    planner.post("/language", &[("language", "es"), ("back", "/record")]);
    assert_main("record_es", &planner.get("/record"));
    let id = Programme::open(&ui.folder).unwrap().list(None).unwrap().rows[0].id.clone();
    assert_main("person_es", &planner.get(&format!("/person/{id}")));
}
