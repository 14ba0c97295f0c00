//! The page *Outcomes*: one person at a time, her own people only, undo, late entry, two callers at once.

use crate::harness::{WebUi, assert_main, assert_words, field_error, notices, part};
use jiff::Timestamp;
use restive_ledger::{Code, Ledger, Outcome};
use restive_programme::{Draft, Programme};
use restive_serve::Role;
use restive_testkit::{HttpClient, HttpResponse, form_encoded};
use std::path::Path;

fn draft(folder: &Path) -> Draft {
    let programme = Programme::open(folder).unwrap();
    programme.draft(&programme.backdrop().unwrap(), None).unwrap().unwrap()
}

/// Says that the list is final, as a planner would.
pub fn finalise(folder: &Path) -> Draft {
    let before = draft(folder);
    Programme::open(folder).unwrap().finalise(&before.record.id, 0, "Asha", Timestamp::now()).unwrap();
    draft(folder)
}

/// The ids of a list, of one worker or of all others.
pub fn ids(draft: &Draft, worker: &str, is_hers: bool) -> Vec<String> {
    let rows = draft.list.rows.iter().filter(|row| (row.sheet.as_deref() == Some(worker)) == is_hers);
    rows.map(|row| row.id.clone()).collect()
}

pub fn known(folder: &Path, plan: &str, id: &str) -> Option<Outcome> {
    let ledger = Ledger::read(&folder.join("ledger.db")).unwrap();
    let programme = Programme::open(folder).unwrap();
    let backdrop = programme.backdrop().unwrap();
    let arm = backdrop.contacts.arm(id).unwrap();
    ledger.outcomes(plan).unwrap().into_iter().find(|one| one.arm == arm)
}

/// Sends the form of an outcome with the button of a code.
pub fn press(
    client: &mut HttpClient,
    page: &HttpResponse,
    code: &str,
    more: &[(&str, &str)],
) -> HttpResponse {
    let hidden = ["plan", "id", "worker"].map(|name| field(page, "tell", name));
    let seen = field(page, "tell", "seen");
    let mut fields = vec![
        ("plan", hidden[0].as_str()),
        ("id", &hidden[1]),
        ("worker", &hidden[2]),
        ("seen", &seen),
        ("code", code),
    ];
    fields.extend(more);
    client.post("/outcomes", &fields)
}

/// Sends the form that takes an outcome back.
pub fn undo(client: &mut HttpClient, page: &HttpResponse) -> HttpResponse {
    let fields = ["plan", "id", "worker", "seen"].map(|name| (name, field(page, "/outcomes/undo", name)));
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    client.post("/outcomes/undo", &fields)
}

/// Returns the value of a hidden field of the form whose class or action contains `form`.
fn field(page: &HttpResponse, form: &str, name: &str) -> String {
    let (_, rest) = page.body.split_once(form).unwrap_or_else(|| panic!("no form {form}"));
    let start = format!("name=\"{name}\" value=\"");
    rest.split_once(&start).and_then(|(_, rest)| rest.split_once('"')).unwrap().0.into()
}

#[test]
fn a_caller_sees_her_own_people_and_nobody_elses_whatever_address_she_guesses() {
    let ui = WebUi::start_with_users();
    let mut caller = ui.user(Role::Caller);
    assert_eq!(caller.get("/").header("location"), Some("/outcomes"));
    // a draft is not for callers yet
    let page = caller.get("/outcomes");
    let now = draft(&ui.folder);
    assert_eq!(page.status, 200);
    assert_main("outcomes_not_final", &page);
    for id in ids(&now, "Caller A", true).iter().chain(&ids(&now, "Caller A", false)) {
        assert!(!page.body.contains(&format!("id={id}")), "{id}");
        assert_eq!(caller.get(&format!("/outcomes?id={id}")).status, 404);
    }
    let now = finalise(&ui.folder);
    let (mine, others) = (ids(&now, "Caller A", true), ids(&now, "Caller A", false));
    assert!(!mine.is_empty() && !others.is_empty());
    let mut page = caller.get("/outcomes");
    for _ in 0..50 {
        if page.body.contains("class=\"tell\"") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
        page = caller.get("/outcomes");
    }
    assert_eq!(field(&page, "tell", "id"), mine[0]);
    // one number at a time
    assert_eq!(page.body.matches("href=\"tel:").count(), 1);
    for id in &mine {
        assert_eq!(caller.get(&format!("/outcomes?id={id}")).status, 200, "{id}");
    }
    let plan = &now.record.id;
    for id in &others {
        for path in [
            format!("/outcomes?id={id}"),
            format!("/outcomes?plan={plan}&id={id}"),
            format!("/outcomes?worker=Caller+B&id={id}"),
        ] {
            let answer = caller.get(&path);
            assert_eq!(answer.status, 404, "{path}");
        }
        for path in [
            "/outcomes?worker=Caller+B",
            &format!("/outcomes?done={id}"),
            &format!("/outcomes?undone={id}&after={id}"),
        ] {
            let answer = caller.get(path);
            assert!(answer.status == 200 && !answer.body.contains(&format!("\"{id}\"")), "{path}");
        }
        let fields = [("plan", plan.as_str()), ("id", id), ("code", "reached"), ("seen", "none")];
        assert_eq!(caller.post("/outcomes", &fields).status, 404, "{id}");
        assert_eq!(caller.post("/outcomes/undo", &fields).status, 404, "{id}");
        assert_eq!(known(&ui.folder, plan, id), None);
    }
    // earlier lists, of which only her own people are hers
    let ledger = Ledger::read(&ui.folder.join("ledger.db")).unwrap();
    let contacts = Programme::open(&ui.folder).unwrap().backdrop().unwrap().contacts;
    let column = contacts.kept.iter().position(|name| name == "worker").unwrap();
    for earlier in ledger.plans().unwrap().iter().filter(|one| one.id != *plan) {
        for person in ledger.listed(&earlier.id).unwrap() {
            let contact = contacts.person(&person.arm).unwrap();
            let path = format!("/outcomes?plan={}&id={}", earlier.id, contact.id);
            let expected = if contact.kept[column] == "Caller A" { 200 } else { 404 };
            assert_eq!(caller.get(&path).status, expected, "{path}");
        }
    }
    assert_eq!(caller.get("/outcomes?plan=2020-01-06").status, 404);
    assert_eq!(ui.user(Role::Viewer).get("/outcomes").status, 403);
    assert_eq!(ui.visitor().get("/outcomes").status, 401);
}

#[test]
fn outcomes_are_told_undone_and_told_again() {
    let ui = WebUi::start();
    let now = draft(&ui.folder);
    let mut planner = ui.planner();
    let page = planner.get("/outcomes");
    let all: Vec<String> = now.list.rows.iter().map(|row| row.id.clone()).collect();
    let first = field(&page, "tell", "id");
    assert_eq!(first, all[0]);
    assert!(page.body.contains(&format!("{} people left to call", all.len())));
    assert_main("outcomes", &page);
    // broken fields keep what was written
    let wrong =
        press(&mut planner, &page, "reached", &[("day", "yesterday"), ("note", "asked for her sister")]);
    assert!(wrong.status == 422 && wrong.body.contains("asked for her sister"));
    let late = press(&mut planner, &page, "reached", &[("day", "2035-01-01")]);
    assert_eq!(late.status, 422);
    assert_words("outcomes_errors", &[&wrong, &late].map(|page| field_error(page, "day")).concat());
    assert_eq!(press(&mut planner, &page, "reached", &[("day", "1999-01-01")]).status, 422);
    assert_eq!(press(&mut planner, &page, "spoken", &[]).status, 422);
    assert_eq!(press(&mut planner, &page, "reached", &[("note", &"x".repeat(501))]).status, 422);
    assert_eq!(known(&ui.folder, &now.record.id, &first), None);

    let told = press(&mut planner, &page, "no_answer", &[("note", "rang ten times")]);
    assert_eq!(told.status, 303);
    let next = planner.get(told.header("location").unwrap());
    assert_eq!(field(&next, "tell", "id"), all[1]);
    let mut told_notices = notices(&next);
    let outcome = known(&ui.folder, &now.record.id, &first).unwrap();
    assert_eq!((outcome.code, outcome.note.as_deref()), (Code::NoAnswer, Some("rang ten times")));
    assert_eq!(outcome.source, "desk: Asha");

    // taken back: she is open once more, and what was said stays on record
    let back = undo(&mut planner, &next);
    assert_eq!(back.status, 303);
    let again = planner.get(back.header("location").unwrap());
    assert_eq!(field(&again, "tell", "id"), first);
    told_notices += &notices(&again);
    assert!(again.body.contains(&format!("{} people left to call", all.len())));
    assert_eq!(known(&ui.folder, &now.record.id, &first), None);
    let withdrawn = Ledger::read(&ui.folder.join("ledger.db")).unwrap().withdrawn(&now.record.id).unwrap();
    assert_eq!(
        (withdrawn.len(), withdrawn[0].outcome.code, withdrawn[0].who.as_str()),
        (1, Code::NoAnswer, "Asha")
    );
    let week = planner.get(&format!("/record/{}", now.record.id));
    assert_words(
        "record_week_withdrawn",
        part(&week.body, "<section aria-labelledby=\"came\"", "</section>"),
    );
    // twice is too late
    assert_eq!(undo(&mut planner, &next).status, 409);

    // told again, amended, and taken back to what was before
    assert_eq!(press(&mut planner, &again, "later", &[]).status, 303);
    let page = planner.get(&format!("/outcomes?id={first}"));
    told_notices += &notices(&page);
    assert_eq!(press(&mut planner, &page, "reached", &[]).status, 303);
    let page = planner.get(&format!("/outcomes?id={first}"));
    let back = undo(&mut planner, &page);
    told_notices += &notices(&planner.get(back.header("location").unwrap()));
    assert_words("outcomes_notices", &told_notices);
    assert_eq!(known(&ui.folder, &now.record.id, &first).unwrap().code, Code::Later);

    let ledger = Ledger::read(&ui.folder.join("ledger.db")).unwrap();
    assert!(ledger.verify().unwrap().faults.is_empty());
    let notes = std::fs::read_to_string(ui.folder.join("desk.jsonl")).unwrap();
    assert_eq!(notes.matches("\"what\":\"outcome\"").count(), 3, "{notes}");
    assert_eq!(notes.matches("\"what\":\"take back\"").count(), 2, "{notes}");
}

#[test]
fn two_callers_do_not_overwrite_each_other() {
    let ui = WebUi::start();
    let (mut one, mut other) = (ui.planner(), ui.planner());
    let (seen, also_seen) = (one.get("/outcomes"), other.get("/outcomes"));
    let (plan, id) = (field(&seen, "tell", "plan"), field(&seen, "tell", "id"));
    assert_eq!(press(&mut one, &seen, "reached", &[]).status, 303);
    let stale = press(&mut other, &also_seen, "no_answer", &[("note", "mine")]);
    assert_eq!(stale.status, 409);
    assert!(stale.body.contains("value=\"mine\""));
    assert_words("outcomes_stale", &notices(&stale));
    assert_eq!(known(&ui.folder, &plan, &id).unwrap().code, Code::Reached);
    // having seen it, she may say otherwise
    assert_eq!(press(&mut other, &stale, "refused", &[]).status, 303);
    assert_eq!(known(&ui.folder, &plan, &id).unwrap().code, Code::Refused);
}

#[test]
fn an_earlier_week_is_entered_late_with_its_day() {
    let ui = WebUi::start();
    let now = draft(&ui.folder);
    let list = now.open_lists().next().expect("the demo leaves some outcomes out");
    let mut planner = ui.planner();
    let page = planner.get("/outcomes");
    assert!(page.body.contains(list.start), "{}", page.body);
    let page = planner.get(&format!("/outcomes?plan={}", list.plan));
    assert_main("outcomes_earlier_week", &page);
    // nobody guesses a day
    assert_eq!(
        page.body.split("id=\"day\"").nth(1).unwrap().split("value=\"").nth(1).unwrap().split('"').next(),
        Some("")
    );
    let id = field(&page, "tell", "id");
    assert_eq!(press(&mut planner, &page, "reached", &[("day", list.start)]).status, 303);
    let outcome = known(&ui.folder, list.plan, &id).unwrap();
    assert_eq!((outcome.code, outcome.day.as_deref()), (Code::Reached, Some(list.start)));
    let later = draft(&ui.folder);
    let left = later.open_lists().find(|one| one.plan == list.plan).map_or(0, |one| one.arms.len());
    assert_eq!(left, list.arms.len() - 1);
}

#[test]
fn a_planner_sees_all_by_worker() {
    let ui = WebUi::start();
    let now = draft(&ui.folder);
    let mut planner = ui.planner();
    let page = planner.get("/outcomes");
    let mut workers: Vec<&str> = now.list.rows.iter().filter_map(|row| row.sheet.as_deref()).collect();
    workers.sort_unstable();
    workers.dedup();
    assert!(workers.len() > 1);
    for worker in workers {
        assert!(page.body.contains(&format!("<bdi>{worker}</bdi></a></th>")), "{worker}");
        let some = planner.get(&format!("/outcomes?worker={}", form_encoded(worker)));
        assert_eq!(field(&some, "tell", "id"), ids(&now, worker, true)[0]);
        // and goes on with that worker's people
        let told = press(&mut planner, &some, "reached", &[]);
        let next = planner.get(told.header("location").unwrap());
        let hers = ids(&now, worker, true);
        match hers.get(1) {
            Some(second) => assert_eq!(&field(&next, "tell", "id"), second),
            None => assert_words("outcomes_all_done", part(&next.body, "<div class=\"empty\"", "</div>")),
        }
    }
    planner.post("/language", &[("language", "es"), ("back", "/outcomes")]);
    assert_main("outcomes_es", &planner.get("/outcomes"));
}
