//! Who comes in, and how far.

use crate::harness::{PASSWORD, WebUi, assert_words};
use restive_serve::Role;
use restive_testkit::{HttpClient, form_encoded};

#[test]
fn a_token_opens_once_and_leaves_no_secret_in_the_address() {
    let ui = WebUi::start();
    let entrance = ui.server.entrance().unwrap();
    let path = &entrance[entrance.find("/enter").unwrap()..];
    let mut client = ui.visitor();
    let answer = client.get(path);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert_eq!(client.get("/week").status, 200);
    // replayed, by somebody else and by oneself
    let replayed = ui.visitor().get(path);
    assert_eq!((replayed.status, replayed.header("set-cookie")), (403, None));
    assert!(replayed.body.contains("This address has been used"), "{}", replayed.body);
    assert_eq!(ui.visitor().get("/enter/0000").status, 403);
}

#[test]
fn without_a_token_there_is_nothing_to_see() {
    let ui = WebUi::start();
    for path in
        ["/", "/week", "/week/list.xlsx", "/week/print", "/week/edit?do=out&id=MB-00001", "/job/1", "/login"]
    {
        let answer = ui.visitor().get(path);
        assert_eq!(answer.status, 401, "{path}");
        assert!(answer.body.contains("Open the address that the terminal shows"), "{path}");
        assert!(!answer.body.contains("MB-"), "{path}");
    }
    for path in ["/week/edit", "/week/final", "/week/plan", "/logout"] {
        assert!([401, 422].contains(&ui.visitor().post(path, &[]).status), "{path}");
    }
}

#[test]
fn roles_end_where_they_end() {
    let ui = WebUi::start_with_users();
    let mut viewer = ui.user(Role::Viewer);
    let page = viewer.get("/week");
    assert_eq!(page.status, 200);
    // ids and no names, nothing to change, no file with numbers
    let list = restive_programme::Programme::open(&ui.folder).unwrap().list(None).unwrap();
    let Some(restive_report::list::Cell::Text(name)) = list.rows[0].cells.first() else { panic!("no name") };
    let name = name.as_str();
    assert!(page.body.contains("MB-") && !page.body.contains(name) && !page.body.contains("/week/edit"));
    assert!(!viewer.get(&format!("/week?find={}", form_encoded(name))).body.contains("<tbody>"));
    for path in ["/week/list.xlsx", "/week/print", "/week/edit?do=out&id=MB-00001", "/job/1"] {
        assert_eq!(viewer.get(path).status, 403, "{path}");
    }
    let mut caller = ui.user(Role::Caller);
    for path in ["/week", "/week/list.xlsx", "/week/print"] {
        assert_eq!(caller.get(path).status, 403, "{path}");
    }
    for client in [&mut viewer, &mut caller] {
        let plan = [("plan", "x"), ("version", "0"), ("do", "out"), ("id", "MB-00001"), ("why", "x")];
        for path in ["/week/edit", "/week/final", "/week/plan", "/job/1/stop"] {
            assert_eq!(client.post(path, &plan).status, 403, "{path}");
        }
    }
    let mut planner = ui.user(Role::Planner);
    assert!(planner.get("/week").body.contains(name));
    // navigation of each role
    for (name, client) in [("planner", &mut planner), ("viewer", &mut viewer), ("caller", &mut caller)] {
        let page = client.get("/nothing");
        assert_eq!(page.status, 404);
        assert_words(&format!("not_found_{name}"), &page.body);
    }
}

#[test]
fn wrong_passwords_are_slow_and_sessions_end() {
    let ui = WebUi::start_with_users();
    let mut client = ui.visitor();
    assert_eq!(client.get("/").header("location"), Some("/login"));
    assert_words("login", &client.get("/login").body);
    let login = |client: &mut HttpClient, password: &str| {
        client.post("/login", &[("name", "planner"), ("password", password)])
    };
    for _ in 0..5 {
        let wrong = login(&mut client, "wrong");
        assert_eq!(wrong.status, 401);
        assert_words("login_wrong", &wrong.body);
    }
    let early = login(&mut client, PASSWORD);
    assert_eq!(early.status, 429);
    assert_words("login_wait", &early.body);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(login(&mut client, PASSWORD).status, 303);
    let mut before = client.clone();
    assert_eq!(before.get("/week").status, 200);
    assert_eq!(client.post("/logout", &[]).status, 303);
    assert_eq!(before.get("/week").status, 401);
}
