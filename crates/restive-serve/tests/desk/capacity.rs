//! The page *Capacity*: tried without a trace, then decided whole or not at all.

use crate::harness::{WebUi, assert_main, assert_words, done_job, failed_job, field_error, notices, part};
use crate::world::{WorldOptions, world};
use restive_ledger::Ledger;
use restive_programme::{Programme, seen};
use restive_serve::Role;
use restive_testkit::{HttpClient, HttpResponse};
use std::path::Path;

fn rules(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("rules.toml")).unwrap()
}

fn plans(folder: &Path) -> Vec<(String, u32)> {
    let ledger = Ledger::read(&folder.join("ledger.db")).unwrap();
    let count = |plan: restive_ledger::Plan| (plan.id, plan.facts.budget);
    ledger.plans().unwrap().into_iter().map(count).collect()
}

/// Returns the numbers that the form of the page shows.
pub fn numbers(page: &HttpResponse) -> Vec<String> {
    let fields = page.body.split("<input id=\"n").skip(1);
    fields.map(|rest| rest.split_once(" value=\"").unwrap().1.split_once('"').unwrap().0.into()).collect()
}

/// Sends the numbers of the form; `again` asks for a new list.
pub fn send_numbers(
    client: &mut HttpClient,
    path: &str,
    page: &HttpResponse,
    numbers: &[&str],
    again: bool,
) -> HttpResponse {
    let rules = page.hidden("rules");
    let names: Vec<String> = (0..numbers.len()).map(|k| format!("n{k}")).collect();
    let mut fields: Vec<(&str, &str)> =
        names.iter().map(String::as_str).zip(numbers.iter().copied()).collect();
    fields.push(("rules", &rules));
    if again {
        fields.push(("again", "on"));
    }
    client.post(path, &fields)
}

#[test]
fn numbers_are_tried_without_a_trace_and_then_set_with_a_new_list() {
    let files = world(&WorldOptions::default());
    let folder = files.path("programme");
    // as somebody wrote them, with words of their own
    let written = rules(&folder).replacen("budget", "# as agreed in March\nbudget", 1) + "# the end\n";
    std::fs::write(folder.join("rules.toml"), &written).unwrap();
    let ui = WebUi::start_in(files, |_| {});
    let before = plans(&ui.folder);
    let mut planner = ui.planner();
    let page = planner.get("/capacity");
    assert_eq!(page.status, 200);
    let shown = numbers(&page);
    let now: usize = shown[0].parse().unwrap();
    assert_eq!((shown.len(), now as u32), (3, before.last().unwrap().1));
    assert!(page.body.contains("<svg class=\"chart wide\"") && !page.body.contains("style=\""));
    // the rules were written since the list was made: a notice says so
    assert_main("capacity", &page);

    // no number, no try
    let wrong = send_numbers(&mut planner, "/capacity/try", &page, &["many", &shown[1], &shown[2]], false);
    assert!(wrong.status == 422 && wrong.body.contains("value=\"many\""));
    assert_words("capacity_wrong_number", field_error(&wrong, "n0"));
    assert_eq!(send_numbers(&mut planner, "/capacity/try", &page, &["-1", "2", "3"], false).status, 422);

    let (budget, cap) = ((now + 3).to_string(), (now + 3).to_string());
    let try_it = send_numbers(&mut planner, "/capacity/try", &page, &[&budget, &cap, &shown[2]], false);
    done_job(&mut planner, &try_it);
    let page = planner.get("/capacity");
    assert_main("capacity_tried", &page);
    assert!(page.body.contains(&format!("{now} → <strong>{budget}</strong>")));
    assert_eq!((plans(&ui.folder), rules(&ui.folder)), (before.clone(), written.clone()));
    assert_eq!(numbers(&page)[0], budget);

    let set = send_numbers(&mut planner, "/capacity/set", &page, &[&budget, &cap, &shown[2]], true);
    assert_main("job_capacity_set", &done_job(&mut planner, &set));
    let after = plans(&ui.folder);
    assert_eq!((after.len(), after.last().unwrap().1.to_string()), (before.len() + 1, budget.clone()));
    let expected = written.replacen(&format!("budget = {now}"), &format!("budget = {budget}"), 1).replacen(
        &format!("at_most = {}", shown[1]),
        &format!("at_most = {cap}"),
        1,
    );
    assert_eq!(rules(&ui.folder), expected);
    let notes = std::fs::read_to_string(ui.folder.join("desk.jsonl")).unwrap();
    assert!(
        notes.contains(&format!("budget {now} to {budget}, worker at most {} to {cap}", shown[1])),
        "{notes}"
    );
    let ledger = Ledger::read(&ui.folder.join("ledger.db")).unwrap();
    assert!(ledger.verify().unwrap().faults.is_empty());
    // the list that is there is the one that was tried
    let page = planner.get("/capacity");
    assert_words("capacity_after_set", &notices(&page));
    let verified = Programme::open(&ui.folder).unwrap().audit_list().unwrap();
    assert_eq!(verified.len(), after.len());
}

#[test]
fn rules_that_changed_meanwhile_are_not_written_over() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let page = planner.get("/capacity");
    let shown = numbers(&page);
    let changed = rules(&ui.folder) + "\n[[leave_out]]\nif = \"calls >= 20\"\n";
    std::fs::write(ui.folder.join("rules.toml"), &changed).unwrap();
    for path in ["/capacity/try", "/capacity/set"] {
        for again in [false, true] {
            let answer = send_numbers(&mut planner, path, &page, &["3", &shown[1], &shown[2]], again);
            assert_eq!(answer.status, 409, "{path}");
            assert_words("capacity_stale", &notices(&answer));
        }
    }
    assert_eq!(rules(&ui.folder), changed);
    // without a new list they are written at once
    let page = planner.get("/capacity");
    let before = plans(&ui.folder);
    assert_eq!(
        send_numbers(&mut planner, "/capacity/set", &page, &["3", &shown[1], &shown[2]], false).status,
        303
    );
    assert_eq!(numbers(&planner.get("/capacity"))[0], "3");
    assert!(rules(&ui.folder).contains("budget = 3\n") && rules(&ui.folder).contains("calls >= 20"));
    assert_eq!(plans(&ui.folder), before);
    for broken in [&["x", "1", "1"][..], &["1"], &["4294967296", "1", "1"], &["20000000", "1", "1"]] {
        let page = planner.get("/capacity");
        assert_eq!(
            send_numbers(&mut planner, "/capacity/set", &page, broken, false).status,
            422,
            "{broken:?}"
        );
    }
    assert!(rules(&ui.folder).contains("budget = 3\n"));
}

#[test]
fn a_list_with_outcomes_or_a_final_one_stays() {
    let ui = WebUi::start();
    let programme = Programme::open(&ui.folder).unwrap();
    let draft = programme.draft(&programme.backdrop().unwrap(), None).unwrap().unwrap();
    let (plan, id) = (draft.record.id.clone(), draft.rows[0].contact.id.clone());
    let mut planner = ui.planner();
    let told = [("plan", plan.as_str()), ("id", &id), ("code", "reached"), ("seen", &seen(None))];
    assert_eq!(planner.post("/outcomes", &told).status, 303);
    let page = planner.get("/capacity");
    let (shown, before) = (numbers(&page), rules(&ui.folder));
    let set = send_numbers(&mut planner, "/capacity/set", &page, &["3", &shown[1], &shown[2]], true);
    assert_main("job_capacity_failed", &failed_job(&mut planner, &set));
    // whole or not at all
    assert_eq!((rules(&ui.folder), plans(&ui.folder).last().unwrap().0.clone()), (before, plan));
    // and the page does not offer it
    let try_it = send_numbers(&mut planner, "/capacity/try", &page, &["3", &shown[1], &shown[2]], false);
    done_job(&mut planner, &try_it);
    let page = planner.get("/capacity");
    assert!(!page.body.contains("name=\"again\""), "{}", page.body);
    assert_words("capacity_list_stays", part(&page.body, "<section class=\"decide\"", "</section>"));
}

#[test]
fn a_viewer_sees_counts_and_no_names_and_a_caller_nothing() {
    let ui = WebUi::start_with_users();
    let mut planner = ui.user(Role::Planner);
    let page = planner.get("/capacity");
    let shown = numbers(&page);
    let fewer = (shown[0].parse::<usize>().unwrap() - 1).to_string();
    let tried = send_numbers(&mut planner, "/capacity/try", &page, &[&fewer, &shown[1], &shown[2]], false);
    done_job(&mut planner, &tried);
    let seen = planner.get("/capacity").body;
    assert!(seen.contains("MB-"), "{seen}");
    let mut viewer = ui.user(Role::Viewer);
    let page = viewer.get("/capacity");
    assert_eq!(page.status, 200);
    assert_main("capacity_viewer", &page);
    assert!(!page.body.contains("MB-") && !page.body.contains("<form method=\"post\" action=\"/capacity"));
    let mut caller = ui.user(Role::Caller);
    assert_eq!(caller.get("/capacity").status, 403);
    for client in [&mut viewer, &mut caller] {
        for path in ["/capacity/try", "/capacity/set"] {
            assert_eq!(client.post(path, &[("rules", "x"), ("n0", "1")]).status, 403, "{path}");
        }
    }
    let script = planner.get(seen.split("<script src=\"").nth(1).unwrap().split('"').next().unwrap());
    assert!(script.status == 200 && script.header("content-type").unwrap().starts_with("text/javascript"));
}

/// Sends what a form has beside the numbers that are there.
fn more(client: &mut HttpClient, path: &str, page: &HttpResponse, more: &[(&str, &str)]) -> HttpResponse {
    let (rules, shown) = (page.hidden("rules"), numbers(page));
    let names: Vec<String> = (0..shown.len()).map(|k| format!("n{k}")).collect();
    let mut fields: Vec<(&str, &str)> =
        names.iter().map(String::as_str).zip(shown.iter().map(String::as_str)).collect();
    fields.push(("rules", &rules));
    fields.extend(more);
    client.post(path, &fields)
}

#[test]
fn a_new_floor_and_another_share_by_lot_are_tried_priced_and_set() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let page = planner.get("/capacity");
    let written = rules(&ui.folder);
    assert!(page.body.contains("now 10 %") && page.body.contains("<option value=\"centre\">"));
    // nobody's name is a group, and neither is a number
    assert!(
        !page.body.contains("optgroup label=\"name\"") && !page.body.contains("optgroup label=\"phone\"")
    );
    let group =
        page.body.split("<option value=\"centre=").nth(1).unwrap().split('"').next().unwrap().to_string();
    let of = format!("centre={group}");

    // what cannot be is refused, with what was written
    let mut errors = String::new();
    for (fields, wrong_field) in [
        (&[("explore", "120")][..], "explore"),
        (&[("of", "name"), ("kind", "most"), ("limit", "1")], "of"),
        (&[("of", &of), ("kind", "least"), ("limit", "few")], "limit"),
    ] {
        let wrong = more(&mut planner, "/capacity/try", &page, fields);
        assert_eq!(wrong.status, 422, "{wrong_field}");
        errors += field_error(&wrong, wrong_field);
    }
    // one that was not tried is not set
    let floor = [("of", of.as_str()), ("kind", "least"), ("limit", "2"), ("explore", "20")];
    let early = more(&mut planner, "/capacity/set", &page, &floor);
    assert_eq!(early.status, 409);
    assert_words("capacity_errors", &(errors + &notices(&early)));

    let begun = more(&mut planner, "/capacity/try", &page, &floor);
    done_job(&mut planner, &begun);
    let page = planner.get("/capacity");
    assert_eq!(rules(&ui.folder), written);
    for change in ["→ <strong>2</strong>", "10 % → <strong>20 %</strong>"] {
        assert!(page.body.contains(change), "{}", page.body);
    }
    // its price stands beside those that hold now
    let changes = part(&page.body, "<ul class=\"turned\"", "</ul>");
    let last_table = &page.body[page.body.rfind("<table").unwrap()..];
    assert_words("capacity_floor_tried", &[changes, part(last_table, "<table", "</table>")].concat());

    // the form that sets it has all of it
    let form = page.body.split("action=\"/capacity/set\"").nth(1).unwrap();
    for (name, value) in [("of", of.as_str()), ("kind", "least"), ("limit", "2"), ("explore", "20")] {
        assert!(form.contains(&format!("name=\"{name}\" value=\"{value}\"")), "{name}: {form}");
    }
    let set = more(&mut planner, "/capacity/set", &page, &[&floor[..], &[("again", "on")]].concat());
    done_job(&mut planner, &set);
    let now = rules(&ui.folder);
    let expected = written.replace("explore = 0.1", "explore = 0.2");
    assert_eq!(now, format!("{expected}\n[[limit]]\nby = \"centre\"\nat_least = {{ \"{group}\" = 2 }}\n"));
    let notes = std::fs::read_to_string(ui.folder.join("desk.jsonl")).unwrap();
    assert!(notes.contains(&format!("by lot 0.1 to 0.2, new: centre {group} at least 2")), "{notes}");
    let programme = Programme::open(&ui.folder).unwrap();
    let draft = programme.draft(&programme.backdrop().unwrap(), None).unwrap().unwrap();
    let at = programme.backdrop().unwrap().contacts.kept.iter().position(|name| name == "centre").unwrap();
    assert!(draft.rows.iter().filter(|row| row.contact.kept[at] == group).count() >= 2);
    // from now on it is a number like the others
    let page = planner.get("/capacity");
    assert_eq!(numbers(&page).len(), 4);
    assert_words("capacity_floor_set", part(&page.body, "<label for=\"n3\"", "</label>"));
    // a floor that nobody could meet is told by the job, and nothing is written
    let begun = more(
        &mut planner,
        "/capacity/try",
        &page,
        &[("of", "language"), ("kind", "least"), ("limit", "5000")],
    );
    assert_main("job_floor_impossible", &failed_job(&mut planner, &begun));
    assert_eq!(rules(&ui.folder), now);
}
