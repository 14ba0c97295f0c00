//! The desk as a user opens it: `restive user add`, `restive serve`, and what is left of it when it is killed.

use crate::harness::{Cli, Run, assert_output, cli, stderr};
use crate::running::{Running, command};
use restive_ledger::{Done, Ledger, Lock};
use restive_serve::Users;
use restive_testkit::HttpClient;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A desk that runs, its host and the way in.
pub(crate) struct Desk {
    running: Running,
    pub(crate) host: String,
    entrance: String,
}

pub(crate) fn serve(folder: &Cli, arguments: &str) -> Desk {
    let mut running = Running::new(
        command(folder, &format!("serve {arguments} --no-open --port 0")).stdout(Stdio::piped()),
    );
    let mut line = String::new();
    BufReader::new(running.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().split_once("http://").expect(&line).1;
    let (host, path) = address.split_once('/').unwrap();
    Desk { running, host: host.into(), entrance: format!("/{path}") }
}

/// Asks, and gives back status, cookie and body; nothing where the desk is gone.
pub(crate) fn ask(
    desk: &str,
    cookie: &str,
    method: &str,
    path: &str,
    form: &str,
) -> Option<(u16, String, String)> {
    let mut stream = TcpStream::connect(desk).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {desk}\r\nConnection: close\r\nSec-Fetch-Site: same-origin\r\nCookie: {cookie}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next());
    Some((status, cookie.unwrap_or("").into(), body.into()))
}

pub(crate) fn enter(desk: &Desk) -> String {
    let (status, cookie, _) = ask(&desk.host, "", "GET", &desk.entrance, "").unwrap();
    assert_eq!(status, 303);
    cookie
}

/// Returns a browser of the only planner, logged in.
pub(crate) fn planner(desk: &Desk) -> HttpClient {
    let mut planner = HttpClient::new(desk.host.parse().unwrap());
    assert_eq!(planner.get(&desk.entrance).status, 303);
    planner
}

fn hidden(page: &str, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    page.split_once(&start).unwrap().1.split_once('"').unwrap().0.into()
}

fn add(folder: &Cli, arguments: &str, password: &str) -> Run {
    folder.clone().stdin(password).run(&format!("user add {arguments}"))
}

#[test]
fn users_are_added_and_enter() {
    let folder = cli();
    let asha = add(&folder, "users.toml Asha --role planner", "a long password\n").success();
    let meera =
        add(&folder, "users.toml Meera --role caller --worker Hindi", "another password\r\n").success();
    assert_output("user-add", &[&asha, &meera]);
    for (arguments, password, expected) in [
        ("users.toml Lata --role king", "a long password\n", "expected planner, caller or viewer"),
        ("users.toml Lata --role viewer", "short\n", "expected"),
        ("users.toml Lata --role viewer", "", "expected"),
        ("users.toml Lata --role viewer --worker Hindi", "a long password\n", "expected"),
        ("users.toml Lata --role caller", "a long password\n", "--worker NAME"),
    ] {
        let run = add(&folder, arguments, password).failure();
        let said = run.stdout + &run.stderr;
        assert!(said.contains(expected), "{said}");
        assert!(password.is_empty() || !said.contains(password.trim_end()), "{said}");
    }
    let file = std::fs::read_to_string(folder.path("users.toml")).unwrap();
    assert!(file.contains("$argon2id$") && !file.contains("a long password") && !file.contains("Lata"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder.path("users.toml")).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
    }

    let desk = serve(&folder, "--demo desk --people 40 --users users.toml");
    assert_eq!(desk.entrance, "/login");
    let login = |name: &str, password: &str| {
        ask(&desk.host, "", "POST", "/login", &format!("name={name}&password={password}")).unwrap()
    };
    let (status, cookie, _) = login("Asha", "a+long+password");
    assert_eq!(status, 303);
    assert_eq!(ask(&desk.host, &cookie, "GET", "/week", "").unwrap().0, 200);
    let (_, caller, _) = login("Meera", "another+password");
    assert_eq!(ask(&desk.host, &caller, "GET", "/week", "").unwrap().0, 403);
    // guesses: the sixth has to wait, and whatever is right meanwhile as well
    for _ in 0..5 {
        assert_eq!(login("Asha", "wrong").0, 401);
    }
    assert_eq!(login("Asha", "a+long+password").0, 429);
    // who was in stays in
    assert_eq!(ask(&desk.host, &cookie, "GET", "/week", "").unwrap().0, 200);
}

#[test]
fn users_added_by_several_processes_at_once_are_all_in_the_file() {
    let folder = cli();
    let password = |k: usize| format!("the password of user {k}");
    std::thread::scope(|scope| {
        for k in 0..8 {
            let folder = &folder;
            scope.spawn(move || {
                add(folder, &format!("users.toml User{k} --role viewer"), &password(k)).success();
            });
        }
    });
    let users = Users::read(&folder.path("users.toml")).unwrap();
    let mut names: Vec<&str> = users.user.iter().map(|user| user.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["User0", "User1", "User2", "User3", "User4", "User5", "User6", "User7"]);
    let waiting = Lock::of_file(&folder.path("users.toml")).unwrap();
    let said = stderr(&add(&folder, "users.toml User8 --role viewer", &password(8)).code(1));
    let process = format!("users.toml: process {} (", std::process::id());
    assert!(
        said.contains(&process) && said.contains("is writing to this file; wait until it ends"),
        "{said}"
    );
    drop(waiting);
    add(&folder, "users.toml User8 --role viewer", &password(8)).success();
}

#[test]
fn other_machines_need_users_and_a_kept_way() {
    let folder = cli();
    add(&folder, "users.toml Asha --role planner", "a long password\n");
    let desk = serve(&folder, "--demo desk --people 40");
    drop(desk);
    for (arguments, expected) in [
        ("serve desk/programme --no-open --port 0 --address 0.0.0.0", "found no --users, expected them"),
        (
            "serve desk/programme --no-open --port 0 --address 0.0.0.0 --insecure-http",
            "found no --users, expected them",
        ),
        (
            "serve desk/programme --no-open --port 0 --address 0.0.0.0 --users users.toml",
            "found no --tls-cert and --tls-key",
        ),
        ("serve desk/programme --no-open --port 0 --users absent.toml", "absent.toml"),
        ("serve desk --no-open --port 0", "expected the folder of a programme"),
    ] {
        let done = command(&folder, arguments).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(!done.status.success() && said.contains(expected), "{arguments}: {said}");
    }
}

/// Changes the list until the desk is gone; how many changes were answered with yes, and whether the last was that it is final.
fn edit(host: &str, cookie: &str, edits: usize) -> (usize, bool) {
    let (mut done, mut is_final) = (0, false);
    while let Some((200, _, page)) = ask(host, cookie, "GET", "/week", "") {
        if is_final {
            continue;
        }
        let (plan, version) = (hidden(&page, "plan"), hidden(&page, "version"));
        let ids: Vec<&str> =
            page.split("do=up&amp;id=").skip(1).map(|rest| rest.split_once('"').unwrap().0).collect();
        let answer = match done < edits {
            true => {
                let form =
                    format!("do=up&id={}&why=asked&plan={plan}&version={version}", ids[done % ids.len()]);
                ask(host, cookie, "POST", "/week/edit", &form)
            }
            false => ask(host, cookie, "POST", "/week/final", &format!("plan={plan}&version={version}")),
        };
        match answer {
            Some((303, ..)) if done < edits => done += 1,
            Some((303, ..)) => is_final = true,
            _ => break,
        }
    }
    (done, is_final)
}

#[test]
#[cfg(unix)]
fn killed_at_any_instant_nothing_that_was_said_is_lost() {
    let folder = cli();
    drop(serve(&folder, "--demo desk --people 40"));
    let ledger = folder.path("desk/programme/ledger.db");
    let (mut acknowledged, mut finals) = (0, 0);
    for round in 0..10 {
        let copy = format!("round{round}");
        let copied =
            Command::new("cp").arg("-r").arg(folder.path("desk/programme")).arg(folder.path(&copy)).status();
        assert!(copied.unwrap().success() && ledger.exists());
        let mut desk = serve(&folder, &copy);
        let cookie = enter(&desk);
        let (host, edits) = (desk.host.clone(), 3 + 2 * round);
        let (send, done) = mpsc::channel();
        let editor = std::thread::spawn(move || _ = send.send(edit(&host, &cookie, edits)));
        // later and later, in the middle of whatever it does
        let begun = Instant::now();
        std::thread::sleep(Duration::from_millis(37 * (round as u64 + 1)));
        desk.running.kill().unwrap();
        desk.running.wait().unwrap();
        let (changes, is_final) = done.recv_timeout(Duration::from_secs(60)).unwrap();
        editor.join().unwrap();
        let found = Ledger::read(&folder.path(&copy).join("ledger.db")).unwrap();
        assert!(found.verify().unwrap().faults.is_empty(), "round {round} after {:?}", begun.elapsed());
        let plan = found.latest().unwrap().unwrap().id;
        let on_record = found.list_changes(&plan).unwrap();
        let moved = on_record.iter().filter(|change| change.done == Done::MovedUp).count();
        // the last one may be on record, and its answer lost
        assert!((changes..=changes + 1).contains(&moved), "round {round}: {changes} said, {moved} on record");
        assert!(!is_final || on_record.iter().any(|change| change.done == Done::Final), "round {round}");
        drop(found);
        // it opens again, and says the same
        let desk = serve(&folder, &copy);
        let (status, _, page) = ask(&desk.host, &enter(&desk), "GET", "/week", "").unwrap();
        assert!(status == 200 && (!is_final || !page.contains("do=up")));
        let notes = std::fs::read_to_string(folder.path(&copy).join("desk.jsonl")).unwrap();
        assert!(notes.matches("\"move up\"").count() >= changes, "round {round}");
        (acknowledged, finals) = (acknowledged + changes, finals + usize::from(is_final));
    }
    assert!(acknowledged > 10, "{acknowledged} changes, {finals} final lists: too few to tell");
}
