//! What somebody else tries: refused or harmless, each with its message.

use crate::harness::WebUi;
use crate::world::{WorldOptions, world};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[test]
fn another_name_is_not_answered_to() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let port = ui.server.address().port();
    for host in [
        "evil.example",
        "127.0.0.1",
        "",
        &format!("evil.example:{port}"),
        &format!("127.0.0.1:{port}.evil.example"),
    ] {
        let answer = planner.request("GET", "/week", &[("Host", host)], "");
        assert!([400, 421].contains(&answer.status), "{host}: {}", answer.status);
        assert!(!answer.body.contains("MB-"));
        assert!(host.is_empty() || answer.body.contains("--host NAME adds a name"), "{}", answer.body);
    }
    assert_eq!(planner.request("GET", "/week", &[("Host", &format!("localhost:{port}"))], "").status, 200);
}

#[test]
fn writes_from_elsewhere_change_nothing() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let page = planner.get("/week");
    let form = format!("plan={}&version=0", page.hidden("plan"));
    let own = format!("http://{}", ui.server.address());
    let foreign: [&[(&str, &str)]; 6] = [
        &[],
        &[("Origin", "http://evil.example")],
        &[("Origin", "null")],
        &[("Sec-Fetch-Site", "cross-site"), ("Origin", &own)],
        &[("Sec-Fetch-Site", "same-site")],
        &[("Sec-Fetch-Site", "none")],
    ];
    for headers in foreign {
        let answer = planner.request("POST", "/week/final", headers, &form);
        assert_eq!(answer.status, 403, "{headers:?}");
        assert!(answer.body.contains("nothing was changed"), "{}", answer.body);
    }
    assert!(planner.get("/week").body.contains("draft"));
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        assert!([403, 405].contains(&planner.request(method, "/week", &[], "").status), "{method}");
    }
    // an older browser that says its origin alone
    assert_eq!(planner.request("POST", "/week/final", &[("Origin", &own)], &form).status, 303);
}

#[test]
fn every_answer_tells_the_browser_what_it_may_do() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    for path in ["/week", "/nothing", "/week/list.xlsx"] {
        let answer = planner.get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'self'; script-src 'self'"), "{policy}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert!(answer.header("access-control-allow-origin").is_none());
    }
    // no inline style, script or foreign address is in a page
    let page = planner.get("/week").body;
    for word in ["<script", "style=", " onclick", "http://", "https://"] {
        assert!(!page.contains(word), "{word}");
    }
    let print = planner.get("/week/print");
    assert!(
        print
            .header("content-security-policy")
            .unwrap()
            .starts_with("default-src 'none'; style-src 'unsafe-inline'")
    );
    let style = page.split_once("href=\"/assets/").unwrap().1.split_once('"').unwrap().0;
    let style = ui.visitor().get(&format!("/assets/{style}"));
    assert!(style.status == 200 && style.header("cache-control").unwrap().contains("immutable"));
}

#[test]
fn paths_lead_nowhere_else() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    for path in [
        "/../Cargo.toml",
        "/assets/../ledger.db",
        "/assets/..%2f..%2fledger.db",
        "/assets/%2e%2e/ledger.db",
        "/ledger.db",
        "/assets/",
        "//evil.example/",
        "/week/",
        "/WEEK",
        "/week%00",
        "/job/..",
        "/job/-1",
        "/job/99999999999999999999",
    ] {
        let status = planner.get(path).status;
        assert!((400..500).contains(&status), "{path}: {status}");
    }
    assert_eq!(planner.get(&format!("/week?find={}", "a".repeat(5000))).status, 404);
    let answer = planner.post("/language", &[("language", "es"), ("back", "//evil.example")]);
    assert_eq!(answer.header("location"), Some("/"));
}

#[test]
fn what_is_too_large_is_not_read() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let announced = [("Sec-Fetch-Site", "same-origin"), ("Content-Length", "1000000000")];
    assert_eq!(planner.request("POST", "/week/edit", &announced, "").status, 413);
    let long = "a".repeat(70 * 1024);
    assert_eq!(planner.post("/week/edit", &[("why", &long)]).status, 413);
    // without a length, in pieces: well formed, so that it is refused for its size
    let mut stream = TcpStream::connect(planner.address).unwrap();
    let cookies: Vec<String> =
        planner.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let head = format!(
        "POST /week/edit HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nSec-Fetch-Site: same-origin\r\nCookie: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n",
        planner.address,
        cookies.join("; ")
    );
    let _ = stream.write_all(format!("{head}11170\r\n{}\r\n0\r\n\r\n", "a".repeat(0x11170)).as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(
        answer.starts_with(b"HTTP/1.1 413"),
        "{}",
        String::from_utf8_lossy(&answer[..answer.len().min(80)])
    );
    let head = "a".repeat(40 * 1024);
    let status = planner.request("GET", "/week", &[("X-Long", &head)], "").status;
    assert!([413, 431].contains(&status), "{status}");
}

#[test]
fn slow_clients_lose_their_place_and_keep_nobody_waiting() {
    let ui = WebUi::start();
    let slow: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = TcpStream::connect(ui.server.address()).unwrap();
            stream.write_all(b"GET /week HTTP/1.1\r\nHost: ").unwrap();
            stream
        })
        .collect();
    let begun = Instant::now();
    assert_eq!(ui.planner().get("/week").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(5));
    for mut stream in slow {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // closed by the desk, with a word or without
        assert!(stream.read_to_end(&mut Vec::new()).is_ok());
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn script_in_names_and_formulas_are_words() {
    let files = world(&WorldOptions::default());
    let folder = files.path("programme");
    let programme = restive_programme::Programme::open(&folder).unwrap();
    let table = restive_tables::Contacts::read(&programme.people()).unwrap();
    let listed = programme.list(None).unwrap().rows[0].id.clone();
    assert!(table.arm(&listed).is_some());
    let ui = WebUi::start_in(files, |asked| asked.planner = "<script>alert(1)</script>".into());
    let mut planner = ui.planner();
    let page = planner.get("/week");
    assert!(page.body.contains("&#60;script&#62;") && !page.body.contains("<script"), "{}", page.body);
    let (plan, version) = (page.hidden("plan"), page.hidden("version"));
    let why = "=cmd|' /C calc'!A0 <img src=x onerror=alert(1)>";
    let fields = [("do", "up"), ("id", &listed), ("why", why), ("plan", &plan), ("version", &version)];
    assert_eq!(planner.post("/week/edit", &fields).status, 303);
    let page = planner.get("/week").body;
    assert!(!page.contains("<img") && page.contains("&#60;img"), "{page}");
    let asked = planner.get("/week?find=%22%3E%3Cscript%3E&worker=%3Cb%3E");
    assert!(asked.status == 200 && !asked.body.contains("<script") && !asked.body.contains("<b>"));
    assert!(planner.get("/week/list.xlsx").bytes.starts_with(b"PK"));
}

#[test]
fn no_name_and_no_number_is_in_what_the_desk_notes() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    planner.get("/week/list.xlsx");
    planner.get("/week/print");
    let notes = std::fs::read_to_string(ui.folder.join("desk.jsonl")).unwrap();
    for word in ["\"enter\"", "\"download\"", "\"print\"", "\"Asha\""] {
        assert!(notes.contains(word), "{notes}");
    }
    for word in ["Namunekar", "99999", "Caller A"] {
        assert!(!notes.contains(word), "{notes}");
    }
}
