//! Every route, and who may take it: whoever adds one says so here, or this fails.

use crate::harness::WebUi;
use restive_serve::Role;
use restive_testkit::{HttpClient, HttpResponse};
use std::collections::BTreeSet;

/// Who may: nobody who has not entered, unless it says so.
#[derive(Clone, Copy, PartialEq)]
enum May {
    /// also whoever has not entered
    Stranger,
    Anybody,
    Planner,
    /// planners and viewers
    Viewer,
    /// planners and callers
    Caller,
}

use May::{Anybody, Caller, Planner, Stranger, Viewer};

/// Method, route, an address of it, who may.
const ROUTES: &[(&str, &str, &str, May)] = &[
    ("GET", "/", "/", Anybody),
    ("GET", "/enter/{token}", "/enter/0000", Stranger),
    ("GET", "/login", "/login", Stranger),
    ("POST", "/login", "/login", Stranger),
    ("POST", "/logout", "/logout", Anybody),
    ("POST", "/language", "/language", Stranger),
    ("GET", "/week", "/week", Viewer),
    ("GET", "/week/edit", "/week/edit?do=add", Planner),
    ("POST", "/week/edit", "/week/edit", Planner),
    ("POST", "/week/final", "/week/final", Planner),
    ("POST", "/week/plan", "/week/plan", Planner),
    ("GET", "/week/list.xlsx", "/week/list.xlsx", Planner),
    ("GET", "/week/print", "/week/print", Planner),
    ("GET", "/outcomes", "/outcomes", Caller),
    ("POST", "/outcomes", "/outcomes", Caller),
    ("POST", "/outcomes/undo", "/outcomes/undo", Caller),
    ("GET", "/capacity", "/capacity", Viewer),
    ("POST", "/capacity/try", "/capacity/try", Planner),
    ("POST", "/capacity/set", "/capacity/set", Planner),
    ("GET", "/evidence", "/evidence", Viewer),
    ("POST", "/evidence/judge", "/evidence/judge", Planner),
    ("POST", "/evidence/train", "/evidence/train", Planner),
    ("GET", "/fairness", "/fairness", Viewer),
    ("POST", "/fairness", "/fairness", Planner),
    ("GET", "/data", "/data", Viewer),
    ("POST", "/data/doctor", "/data/doctor", Planner),
    ("POST", "/data/import", "/data/import", Planner),
    ("GET", "/person", "/person", Anybody),
    ("POST", "/person", "/person", Anybody),
    ("GET", "/person/{id}", "/person/MB-99999", Anybody),
    ("GET", "/record", "/record", Viewer),
    ("POST", "/record/verify", "/record/verify", Planner),
    ("GET", "/record/{plan}", "/record/2020-01-06", Viewer),
    ("GET", "/record/{plan}/archive.zip", "/record/2020-01-06/archive.zip", Planner),
    ("GET", "/job/{id}", "/job/1", Planner),
    ("POST", "/job/{id}/stop", "/job/1/stop", Planner),
];

/// What the router says, read as text: axum does not tell its routes.
fn routed() -> BTreeSet<(String, String)> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/pages/mod.rs");
    let text = std::fs::read_to_string(file).unwrap();
    let mut found = BTreeSet::new();
    for route in text.split(".route(").skip(1) {
        // up to the next call on the router
        let route = route.split("\n        .").next().unwrap();
        let Some((path, handlers)) = route.strip_prefix('"').and_then(|rest| rest.split_once('"')) else {
            // stylesheet and script, whose addresses have digests in them
            assert!(route.starts_with("assets::"), "{route}");
            continue;
        };
        for (word, method) in [("get(", "GET"), ("post(", "POST"), ("put(", "PUT"), ("delete(", "DELETE")] {
            if handlers.contains(word) {
                found.insert((method.to_string(), path.to_string()));
            }
        }
    }
    assert!(!text.contains(".nest(") && !text.contains(".merge("), "routes that are not looked at here");
    found
}

#[test]
fn every_route_says_who_may_take_it() {
    let listed: BTreeSet<(String, String)> =
        ROUTES.iter().map(|(method, route, ..)| (method.to_string(), route.to_string())).collect();
    let routed = routed();
    let missing: Vec<_> = routed.difference(&listed).collect();
    assert!(missing.is_empty(), "routes of which nobody has said who may take them: {missing:?}");
    let gone: Vec<_> = listed.difference(&routed).collect();
    assert!(gone.is_empty(), "no such routes any more: {gone:?}");
}

fn ask(client: &mut HttpClient, method: &str, path: &str) -> HttpResponse {
    match method {
        "POST" => client.post(path, &[]),
        _ => client.get(path),
    }
}

#[test]
fn nobody_takes_a_route_that_is_not_theirs() {
    let ui = WebUi::start_with_users();
    for (method, route, path, may) in ROUTES {
        let mut stranger = ui.visitor();
        let answer = ask(&mut stranger, method, path);
        match may {
            // the way to the door
            _ if *path == "/" => assert_eq!(answer.header("location"), Some("/login")),
            Stranger => {}
            _ => assert_eq!(answer.status, 401, "{method} {route} by somebody who has not entered"),
        }
        assert!(!answer.body.contains("MB-"), "{method} {route} tells strangers of people");
    }
    for role in Role::ALL {
        for (method, route, path, may) in ROUTES {
            // what a planner may begin is begun elsewhere: here it would only take its time
            let begins = [
                "/logout",
                "/week/plan",
                "/evidence/judge",
                "/evidence/train",
                "/data/doctor",
                "/data/import",
                "/record/verify",
            ];
            if *may == Stranger || (begins.contains(path) && (role == Role::Planner || *path == "/logout")) {
                continue;
            }
            let mut client = ui.user(role);
            let answer = ask(&mut client, method, path);
            let is_theirs = match may {
                Planner => role == Role::Planner,
                Viewer => role != Role::Caller,
                Caller => role != Role::Viewer,
                Anybody | Stranger => true,
            };
            match is_theirs {
                true => assert!(
                    ![401, 403].contains(&answer.status),
                    "{method} {route} by a {role}: {}",
                    answer.status
                ),
                false => {
                    assert_eq!(answer.status, 403, "{method} {route} by a {role}");
                    assert!(answer.body.contains("not for your role"), "{method} {route}: {}", answer.body);
                }
            }
        }
    }
}

#[test]
fn writes_without_a_session_are_answered_in_one_way() {
    let ui = WebUi::start();
    for (_, route, path, may) in ROUTES.iter().filter(|(method, ..)| *method == "POST") {
        if *route == "/language" {
            continue;
        }
        let fields = [("plan", "x"), ("version", "0"), ("do", "out"), ("id", "MB-00001"), ("why", "x")];
        let answer = ui.visitor().post(path, &fields);
        assert_eq!(answer.status, 401, "{route}");
        assert!(answer.body.contains("Open the address that the terminal shows"), "{route}: {}", answer.body);
        // nor with a cookie that somebody made up, nor with a word that they are ours and no session
        let mut forger = ui.visitor();
        let name = format!("restive-{}", ui.server.address().port());
        for value in ["", "0", &"0".repeat(64), "../../etc/passwd", &"f".repeat(3000)] {
            forger.cookies.insert(name.clone(), value.into());
            assert_eq!(forger.post(path, &fields).status, 401, "{route} with {value:.9}");
        }
        // from elsewhere it is not even asked who they are
        let elsewhere = ui.visitor().request("POST", path, &[("Sec-Fetch-Site", "cross-site")], "");
        assert_eq!(elsewhere.status, 403, "{route}");
        assert!(*may == Stranger || elsewhere.body.contains("did not come from one of our pages"), "{route}");
    }
    let ledger = restive_ledger::Ledger::read(&ui.folder.join("ledger.db")).unwrap();
    let plan = ledger.latest().unwrap().unwrap().id;
    assert!(ledger.list_changes(&plan).unwrap().is_empty());
}
