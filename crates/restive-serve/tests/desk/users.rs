//! The file of users while the server runs, and wrong passwords from one address.

use crate::harness::{PASSWORD, WebUi, assert_main};
use restive_serve::{Role, Users};
use std::path::PathBuf;

fn users_file(ui: &WebUi) -> PathBuf {
    ui.folder.with_file_name("users.toml")
}

fn status_of_login(ui: &WebUi, role: Role) -> u16 {
    ui.visitor().post("/login", &[("name", role.word()), ("password", PASSWORD)]).status
}

#[test]
fn user_taken_out_of_the_file_is_out_at_the_next_request() {
    let ui = WebUi::start_with_users();
    let (mut planner, mut viewer, mut caller) =
        (ui.user(Role::Planner), ui.user(Role::Viewer), ui.user(Role::Caller));
    assert_eq!((viewer.get("/week").status, caller.get("/outcomes").status), (200, 200));
    let mut users = Users::read(&users_file(&ui)).unwrap();
    users.user.retain(|user| user.name != "viewer");
    users.add("caller", Role::Caller, Some("Caller B"), false, PASSWORD).unwrap();
    users.write(&users_file(&ui)).unwrap();
    assert_eq!(viewer.get("/week").status, 401);
    assert_eq!(status_of_login(&ui, Role::Viewer), 401);
    // another worker: the session of the earlier one has ended, and a new one begins
    assert_eq!(caller.get("/outcomes").status, 401);
    assert_eq!(ui.user(Role::Caller).get("/outcomes").status, 200);
    assert_eq!(planner.get("/week").status, 200);
}

#[test]
fn damaged_file_of_users_lets_nobody_in_until_it_is_repaired() {
    let ui = WebUi::start_with_users();
    let (file, mut planner) = (users_file(&ui), ui.user(Role::Planner));
    let whole = std::fs::read(&file).unwrap();
    for damage in [&b"[[user]]\nname = "[..], b"\xff\xfe"] {
        std::fs::write(&file, damage).unwrap();
        let refused = planner.get("/week");
        assert_eq!((refused.status, status_of_login(&ui, Role::Planner)), (503, 503));
        assert_main("refusal_users", &refused);
        assert!(!refused.body.contains("MB-") && !refused.body.contains("users.toml"), "{}", refused.body);
        std::fs::write(&file, &whole).unwrap();
        assert_eq!(planner.get("/week").status, 200);
    }
    std::fs::remove_file(&file).unwrap();
    assert_eq!((planner.get("/week").status, status_of_login(&ui, Role::Planner)), (503, 503));
}

#[cfg(unix)]
#[test]
fn file_of_users_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let ui = WebUi::start_with_users();
    let (file, mut planner) = (users_file(&ui), ui.user(Role::Planner));
    let set_mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o644);
    assert_eq!(planner.get("/week").status, 503);
    let options = restive_serve::Opened {
        port: Some(0),
        users: Some(file.clone()),
        ..restive_serve::Opened::new(&ui.folder)
    };
    let Err(error) = restive_serve::Server::open(&options) else { panic!("opened") };
    let error = error.to_string();
    assert!(error.contains("found mode 0644") && error.contains("chmod 600 "), "{error}");
    set_mode(0o600);
    assert_eq!(planner.get("/week").status, 200);
}

#[cfg(target_os = "linux")]
#[test]
fn wrong_passwords_from_one_address_keep_out_no_other() {
    use std::io::{Read, Write};
    let ui = WebUi::start_with_users();
    let address = ui.server.address();
    // the loopback network has more addresses than one
    let login_from = |from: &str, password: &str| -> u16 {
        let from = format!("{from}:0").parse().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let stream = runtime.block_on(async {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.bind(from).unwrap();
            socket.connect(address).await.unwrap().into_std().unwrap()
        });
        stream.set_nonblocking(false).unwrap();
        let form = format!("name=planner&password={}", restive_testkit::form_encoded(password));
        let request = format!(
            "POST /login HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nConnection: close\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
            form.len()
        );
        let (mut stream, mut response) = (stream, String::new());
        stream.write_all(request.as_bytes()).unwrap();
        stream.read_to_string(&mut response).unwrap();
        response.split(' ').nth(1).unwrap().parse().unwrap()
    };
    for _ in 0..5 {
        assert_eq!(login_from("127.0.0.1", "wrong"), 401);
    }
    for _ in 0..3 {
        // each further try doubles the wait, so that a slow machine is not let in
        assert_ne!(login_from("127.0.0.1", "wrong"), 303);
    }
    assert_eq!(login_from("127.0.0.2", PASSWORD), 303);
    assert_eq!(ui.user(Role::Viewer).get("/week").status, 200);
}
