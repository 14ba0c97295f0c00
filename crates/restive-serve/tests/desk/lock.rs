//! The lock of the programme: a write of the web UI waits for another process, and refuses if that does not end.

use crate::harness::WebUi;
use crate::outcomes::{finalise, ids, known, press};
use crate::world::{WorldOptions, world};
use restive_ledger::{Code, Ledger, Lock};
use restive_programme::{Programme, WeekAsked};
use std::time::Duration;

#[test]
fn write_waits_for_another_process_and_then_refuses_with_its_name() {
    let files = world(&WorldOptions::default());
    let draft = finalise(&files.path("programme"));
    let ui = WebUi::start_in(files, |_| {});
    let all: Vec<String> = draft.list.rows.iter().map(|row| row.id.clone()).collect();
    let mut planner = ui.planner();
    let path = format!("/outcomes?plan={}&id={}", draft.record.id, all[0]);
    let page = planner.get(&path);
    assert_eq!(page.status, 200, "{}", page.body);
    // the web UI holds no lock while nobody writes
    let lock = Lock::take_within(&ui.folder.join("ledger.db"), Duration::ZERO).unwrap();
    // reading waits for nobody
    assert_eq!(planner.get("/week").status, 200);
    let refused = press(&mut planner, &page, "reached", &[]);
    assert_eq!(refused.status, 503, "{}", refused.body);
    let process = format!("process {} (", std::process::id());
    assert!(refused.body.contains(&process), "{}", refused.body);
    assert_eq!(known(&ui.folder, &draft.record.id, &all[0]), None);
    // a process that ends within ten seconds is waited for
    let waiting = std::thread::spawn(move || press(&mut planner, &page, "reached", &[]).status);
    std::thread::sleep(Duration::from_millis(300));
    drop(lock);
    assert_eq!(waiting.join().unwrap(), 303);
    assert_eq!(known(&ui.folder, &draft.record.id, &all[0]).unwrap().code, Code::Reached);
}

#[test]
fn program_and_web_ui_at_once_record_all_of_both() {
    let files = world(&WorldOptions::default());
    let draft = finalise(&files.path("programme"));
    let ui = WebUi::start_in(files, |_| {});
    let all: Vec<String> = ids(&draft, "", false);
    let programme = Programme::open(&ui.folder).unwrap();
    let now = draft.record.facts.made_at.parse().unwrap();
    let plans = || Ledger::read(&ui.folder.join("ledger.db")).unwrap().plans().unwrap();
    let before = plans();
    std::thread::scope(|scope| {
        // a final list is not replaced, whichever comes first: the plan is refused, and no outcome is lost
        let plan =
            scope.spawn(|| programme.plan(&WeekAsked { again: true, ..WeekAsked::default() }, now).is_err());
        for id in &all {
            let mut planner = ui.planner();
            let page = planner.get(&format!("/outcomes?plan={}&id={id}", draft.record.id));
            assert_eq!(press(&mut planner, &page, "no_answer", &[]).status, 303);
        }
        assert!(plan.join().unwrap());
    });
    assert_eq!(plans(), before);
    for id in &all {
        assert_eq!(known(&ui.folder, &draft.record.id, id).unwrap().code, Code::NoAnswer);
    }
}
