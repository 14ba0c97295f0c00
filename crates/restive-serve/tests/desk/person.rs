//! The page of a person: what it shows, to whom, and to whom not.

use crate::harness::{WebUi, assert_main, assert_words, field_error};
use restive_programme::Programme;
use restive_serve::Role;
use restive_testkit::{HttpClient, HttpResponse, form_encoded};

/// Whoever is on the list; and somebody who never was on any.
fn people(ui: &WebUi) -> (Vec<String>, String) {
    let programme = Programme::open(&ui.folder).unwrap();
    let (backdrop, book) = (programme.backdrop().unwrap(), programme.casebook().unwrap());
    let listed = programme.list(None).unwrap().rows.into_iter().map(|row| row.id).collect();
    let is_new = |id: &String| {
        programme.person(&backdrop, &book, id).unwrap().is_some_and(|person| !person.was_listed())
    };
    let other = (1..=90).map(|k| format!("MB-{k:05}")).find(is_new).unwrap();
    (listed, other)
}

fn kept(ui: &WebUi, id: &str, column: &str) -> String {
    let backdrop = Programme::open(&ui.folder).unwrap().backdrop().unwrap();
    let k = backdrop.contacts.kept.iter().position(|kept| kept == column).unwrap();
    let arm = backdrop.contacts.arm(id).unwrap();
    backdrop.contacts.person(arm).unwrap().kept[k].clone()
}

fn find(client: &mut HttpClient, id: &str) -> HttpResponse {
    client.post("/person", &[("id", id)])
}

#[test]
fn whoever_is_on_the_list_has_a_page_that_the_list_leads_to() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let (listed, _) = people(&ui);
    let week = planner.get("/week").body;
    let draft = {
        let programme = Programme::open(&ui.folder).unwrap();
        programme.draft(&programme.backdrop().unwrap(), None).unwrap().unwrap()
    };
    for (id, row) in listed.iter().zip(&draft.rows).take(5) {
        let link = format!("/person/{id}");
        assert!(week.contains(&format!("href=\"{link}\"")), "{id}");
        let page = planner.get(&link);
        assert_eq!(page.status, 200, "{id}");
        let said = row.said.as_ref().unwrap();
        let effects = said.effects.as_ref().unwrap();
        for part in [
            kept(&ui, id, "name"),
            kept(&ui, id, "phone"),
            format!("{:.0} %", 100.0 * effects.called.value),
            effects.left_alone.interval_text(),
            format!("{:.2}", effects.worth).replace('-', "−"),
            format!("{} of {}", said.rank, draft.record.facts.places),
            "<svg class=\"strip\"".into(),
        ] {
            assert!(page.body.contains(&part), "{id}: {part}");
        }
        assert!(!page.body.contains("style="), "{id}");
        assert!(page.body.contains(&format!("/week/edit?do=out&#38;id={id}")), "{id}");
    }
    assert_main("person", &planner.get(&format!("/person/{}", listed[0])));
}

#[test]
fn whoever_was_never_listed_is_looked_for_by_id_and_noted() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let (_, other) = people(&ui);
    // neither by address nor by name nor by a part of the id
    let unasked = planner.get(&format!("/person/{other}"));
    let nobody = planner.get("/person/MB-99999");
    assert_eq!((unasked.status, nobody.status), (404, 404));
    assert_eq!(unasked.body, nobody.body);
    assert_eq!(find(&mut planner, &other[..6]).status, 404);
    assert_eq!(find(&mut planner, &kept(&ui, &other, "name")).status, 404);
    assert_main("person_find", &planner.get("/person"));
    let empty = find(&mut planner, " ");
    assert_eq!(empty.status, 422);
    assert_words("person_find_empty", field_error(&empty, "id"));
    let found = find(&mut planner, &format!(" {other} "));
    assert_eq!((found.status, found.header("location")), (303, Some(format!("/person/{other}").as_str())));
    let page = planner.get(&format!("/person/{other}"));
    assert_eq!(page.status, 200);
    assert!(page.body.contains(&kept(&ui, &other, "name")));
    // the record has who looked for whom, and nothing of what was written that is no id
    let notes = std::fs::read_to_string(ui.folder.join("desk.jsonl")).unwrap();
    assert!(notes.contains(&format!("\"what\":\"look for\",\"of\":\"{other}\"")), "{notes}");
    assert!(!notes.contains(&kept(&ui, &other, "name")), "{notes}");
}

/// Returns the response to an id without the day and time of its head.
fn closed(client: &mut HttpClient, id: &str) -> String {
    let page = client.get(&format!("/person/{id}"));
    assert_eq!(page.status, 404, "{id}: {}", page.body);
    let head: Vec<&str> = page.head.lines().filter(|line| !line.starts_with("date: ")).collect();
    format!("{}\n\n{}", head.join("\n"), page.body)
}

#[test]
fn closed_pages_have_the_same_bytes_after_the_same_steps() {
    let ui = WebUi::start_with_users();
    let (listed, other) = people(&ui);
    let of_another = listed.iter().find(|id| kept(&ui, id, "worker") != "Caller A").unwrap();
    let lines = || std::fs::read_to_string(ui.folder.join("desk.jsonl")).unwrap().lines().count();
    for (role, hidden) in [(Role::Caller, of_another), (Role::Viewer, &other), (Role::Planner, &other)] {
        let mut client = ui.user(role);
        // of another caller or never on a list; nobody; of another length
        let (computed, before) = (ui.server.people_computed(), lines());
        let pages = [hidden.as_str(), "MB-99999", "nobody at all"].map(|id| {
            let page = closed(&mut client, &form_encoded(id));
            (page, ui.server.people_computed() - computed)
        });
        assert_eq!(pages[0], pages[1], "{role}");
        assert_eq!(pages[0], pages[2], "{role}");
        assert_eq!(pages[0].1, 0, "{role}");
        assert_eq!(lines() - before, 3, "{role}");
    }
    let notes = std::fs::read_to_string(ui.folder.join("desk.jsonl")).unwrap();
    let looks: Vec<&str> = notes.lines().filter(|line| line.contains("\"look for\"")).collect();
    assert!(looks.len() == 9 && looks.iter().all(|line| line.contains("\"of\":\"nobody\"")), "{notes}");
    // a page that is open is computed
    let before = ui.server.people_computed();
    assert_eq!(ui.user(Role::Planner).get(&format!("/person/{}", listed[0])).status, 200);
    assert_eq!(ui.server.people_computed() - before, 1);
}

#[test]
fn requests_for_closed_pages_count_as_looks() {
    let ui = WebUi::start_with_users();
    let (listed, other) = people(&ui);
    let mut viewer = ui.user(Role::Viewer);
    for k in 0..20 {
        let id = if k % 2 == 0 { other.clone() } else { format!("MB-9{k:04}") };
        closed(&mut viewer, &id);
    }
    for id in [other.as_str(), "MB-99999"] {
        assert_eq!(viewer.get(&format!("/person/{id}")).status, 429, "{id}");
        assert_eq!(find(&mut viewer, id).status, 429, "{id}");
    }
    // each user has looks of their own, and those on the list are open as always
    assert_eq!(ui.user(Role::Planner).get("/person/MB-99999").status, 404);
    assert_eq!(viewer.get(&format!("/person/{}", listed[0])).status, 200);
}

#[test]
fn search_by_a_caller_computes_nobody() {
    let ui = WebUi::start_with_users();
    let (listed, _) = people(&ui);
    let of_another = listed.iter().find(|id| kept(&ui, id, "worker") != "Caller A").unwrap();
    let mut caller = ui.user(Role::Caller);
    let pages = [of_another.as_str(), "MB-99999"].map(|id| find(&mut caller, id).body.replace(id, "ID"));
    assert_eq!(pages[0], pages[1]);
    assert_eq!(ui.server.people_computed(), 0);
}

#[test]
fn nobody_goes_through_the_registry() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let mut found = 0;
    for k in 1..=40 {
        match find(&mut planner, &format!("MB-{k:05}")).status {
            303 => found += 1,
            429 => break,
            other => panic!("{other}"),
        }
    }
    assert_eq!(found, 20);
    let refused = find(&mut planner, "MB-00030");
    assert_eq!(refused.status, 429);
    assert_main("refusal_too_many_finds", &refused);
    // those on the list are open as always
    let (listed, _) = people(&ui);
    assert_eq!(planner.get(&format!("/person/{}", listed[0])).status, 200);
}

#[test]
fn a_viewer_sees_no_names_and_no_numbers() {
    let ui = WebUi::start_with_users();
    let (listed, other) = people(&ui);
    let mut viewer = ui.user(Role::Viewer);
    let page = viewer.get(&format!("/person/{}", listed[0]));
    assert_eq!(page.status, 200);
    for column in ["name", "phone"] {
        assert!(!page.body.contains(&kept(&ui, &listed[0], column)), "{column}");
    }
    assert!(page.body.contains(&listed[0]) && !page.body.contains("/week/edit"));
    // what one has found is open to nobody else
    assert_eq!(find(&mut ui.user(Role::Planner), &other).status, 303);
    assert_eq!(viewer.get(&format!("/person/{other}")).status, 404);
}

#[test]
fn a_caller_sees_her_own_people_alone() {
    let ui = WebUi::start_with_users();
    let (listed, other) = people(&ui);
    let mut caller = ui.user(Role::Caller);
    let (mut own, mut others) = (0, 0);
    for id in &listed {
        let page = caller.get(&format!("/person/{id}"));
        match kept(&ui, id, "worker") == "Caller A" {
            true => {
                own += 1;
                assert_eq!(page.status, 200, "{id}");
                assert!(page.body.contains(&kept(&ui, id, "phone")), "{id}");
            }
            false => {
                others += 1;
                assert_eq!(page.status, 404, "{id}");
                assert!(!page.body.contains(&kept(&ui, id, "name")), "{id}");
                assert_eq!(find(&mut caller, id).status, 404, "{id}");
            }
        }
    }
    assert!(own > 0 && others > 0);
    let hers = kept(&ui, &other, "worker") == "Caller A";
    assert_eq!(find(&mut caller, &other).status, if hers { 303 } else { 404 });
}

#[test]
fn a_stranger_sees_nothing_and_odd_ids_lead_nowhere() {
    let ui = WebUi::start();
    let (listed, _) = people(&ui);
    assert_eq!(ui.visitor().get(&format!("/person/{}", listed[0])).status, 401);
    assert_eq!(ui.visitor().get("/person").status, 401);
    assert_eq!(find(&mut ui.visitor(), &listed[0]).status, 401);
    let mut planner = ui.planner();
    for odd in ["<script>alert(1)</script>", "../etc/passwd", "MB-00001' OR 1=1", "\u{202e}x", "%00"] {
        let page = planner.get(&format!("/person/{}", form_encoded(odd)));
        assert_eq!(page.status, 404, "{odd}");
        assert!(!page.body.contains("<script>"), "{odd}");
        assert_eq!(find(&mut planner, odd).status, 404, "{odd}");
    }
}
