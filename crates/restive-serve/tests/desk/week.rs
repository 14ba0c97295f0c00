//! The page *This week*: seen, filtered, changed, final, by two people at once.

use crate::harness::{WebUi, assert_main, assert_words, part};
use restive_programme::Programme;
use restive_testkit::{HttpClient, HttpResponse, form_encoded};

fn ids(page: &HttpResponse) -> Vec<String> {
    let cells = page.body.split("do=up&amp;id=").skip(1);
    cells.map(|rest| rest.split_once('"').unwrap().0.to_string()).collect()
}

/// Sends the form of a change of the list that `page` shows.
pub fn change(client: &mut HttpClient, page: &HttpResponse, what: &str, id: &str, why: &str) -> HttpResponse {
    let (plan, version) = (page.hidden("plan"), page.hidden("version"));
    let fields = [("do", what), ("id", id), ("why", why), ("plan", &plan), ("version", &version)];
    client.post("/week/edit", &fields)
}

/// Makes the list final.
pub fn finalise(client: &mut HttpClient) -> HttpResponse {
    let page = client.get("/week");
    let (plan, version) = (page.hidden("plan"), page.hidden("version"));
    client.post("/week/final", &[("plan", &plan), ("version", &version)])
}

#[test]
fn the_list_is_shown_and_filtered() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let page = planner.get("/week");
    let list = Programme::open(&ui.folder).unwrap().list(None).unwrap();
    assert_eq!(ids(&page), list.rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>());
    assert!(page.body.contains("<svg class=\"chances\""));
    assert_main("week", &page);
    // phone numbers are in the files, and on no page
    assert!(!page.body.contains("99999"));
    let worker = list.rows[0].sheet.clone().unwrap();
    let some = planner.get(&format!("/week?worker={}", form_encoded(&worker)));
    let of: Vec<String> = list
        .rows
        .iter()
        .filter(|row| row.sheet.as_ref() == Some(&worker))
        .map(|row| row.id.clone())
        .collect();
    assert!(ids(&some) == of && of.len() < list.rows.len());
    let found = planner.get(&format!("/week?find={}&page=x", list.rows[1].id));
    assert_eq!(ids(&found), [list.rows[1].id.clone()]);
    let none = planner.get("/week?household=nowhere");
    assert!(ids(&none).is_empty());
    assert_words("week_nobody", part(&none.body, "<div class=\"empty\"", "</div>"));
    for only in ["new", "overdue", "drawn", "by_hand", "open", "told", "nonsense"] {
        assert_eq!(planner.get(&format!("/week?only={only}&state=0")).status, 200, "{only}");
    }
    let print = planner.get("/week/print").body;
    assert!(print.contains("99999") && print.contains(&list.rows[0].id));
    assert_words("week_print", &print);
}

#[test]
fn a_list_is_changed_with_reasons_and_becomes_final() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let page = planner.get("/week");
    let before = ids(&page);
    let (last, first) = (before[before.len() - 1].clone(), before[0].clone());
    assert_main("week_leave_out", &planner.get(&format!("/week/edit?do=out&id={first}")));
    // no reason, no change
    let no_reason = change(&mut planner, &page, "up", &last, " ");
    assert_eq!(no_reason.status, 422);
    assert_main("week_move_up_without_reason", &no_reason);
    let nobody = change(&mut planner, &page, "add", "MB-99999", "x");
    assert_eq!(nobody.status, 422);
    assert_main("week_add_unknown_id", &nobody);
    assert_eq!(change(&mut planner, &page, "up", &last, "asked for it").status, 303);
    let page = planner.get("/week");
    assert_eq!(ids(&page)[0], last);
    assert_eq!(change(&mut planner, &page, "out", &first, "has moved").status, 303);
    let page = planner.get("/week");
    assert!(!ids(&page).contains(&first));
    assert_eq!(change(&mut planner, &page, "add", &first, "is back").status, 303);
    let page = planner.get("/week");
    assert!(ids(&page).contains(&first));

    assert_eq!(finalise(&mut planner).status, 303);
    let done = planner.get("/week");
    assert!(done.body.contains("class=\"tag good\"") && ids(&done).is_empty());
    let parts = [("<div class=\"heading\"", "</div>"), ("<ul class=\"changes\"", "</ul>")];
    assert_words("week_final", &parts.map(|(from, to)| part(&done.body, from, to)).concat());
    // what was opened before is too late
    assert_eq!(change(&mut planner, &page, "out", &first, "late").status, 409);
    let ledger = restive_ledger::Ledger::read(&ui.folder.join("ledger.db")).unwrap();
    assert!(ledger.verify().unwrap().faults.is_empty());
    let notes = std::fs::read_to_string(ui.folder.join("desk.jsonl")).unwrap();
    assert_eq!(notes.matches("\"who\":\"Asha\"").count(), 5, "{notes}");
}

#[test]
fn two_editors_see_each_other() {
    let ui = WebUi::start();
    let (mut one, mut other) = (ui.planner(), ui.planner());
    let (seen, also_seen) = (one.get("/week"), other.get("/week"));
    let all = ids(&seen);
    assert_eq!(change(&mut one, &seen, "out", &all[0], "has moved").status, 303);
    let stale = change(&mut other, &also_seen, "up", &all[2], "asked");
    assert_eq!(stale.status, 409);
    assert!(stale.body.contains(&all[0]));
    assert_main("week_stale", &stale);
    let now = other.get("/week");
    assert_eq!(ids(&now)[0], all[1]);
    assert_eq!(change(&mut other, &now, "up", &all[2], "asked").status, 303);
}

#[test]
fn what_another_program_writes_is_seen() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let all = ids(&planner.get("/week"));
    let programme = Programme::open(&ui.folder).unwrap();
    let removed = restive_programme::Change::Removed;
    programme.change(removed, None, &all[0], "Meera", "moved", jiff::Timestamp::now()).unwrap();
    for _ in 0..50 {
        if !ids(&planner.get("/week")).contains(&all[0]) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    panic!("the page has not changed");
}

#[test]
fn pages_speak_another_language() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    assert_eq!(
        planner.post("/language", &[("language", "es"), ("back", "/week?state=0")]).header("location"),
        Some("/week?state=0")
    );
    let page = planner.get("/week");
    assert!(page.body.contains("<html lang=\"es\">"));
    assert_main("week_es", &page);
}
