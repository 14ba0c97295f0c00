//! Bodies that are too heavy or too slow, addresses that are too long or lead outside, and a job that is stopped.

use crate::harness::{JobEnd, WebUi, assert_main, failed_job, finished_job, job_end};
use crate::world::{WorldOptions, world};
use restive_ledger::Ledger;
use restive_testkit::HttpClient;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn begin(client: &HttpClient, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(client.address).unwrap();
    let cookies: Vec<String> = client.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let (host, cookies) = (client.address, cookies.join("; "));
    let text = format!(
        "POST /week/final HTTP/1.1\r\nHost: {host}\r\nSec-Fetch-Site: same-origin\r\nCookie: {cookies}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n{head}\r\n\r\n"
    );
    stream.write_all(text.as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

fn answer(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn bodies_that_trickle_are_given_up_and_keep_nobody_waiting() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let begun = Instant::now();
    let mut slow: Vec<TcpStream> = (0..40).map(|_| begin(&planner, "Content-Length: 60")).collect();
    for stream in &mut slow {
        stream.write_all(b"plan=").unwrap();
    }
    assert_eq!(planner.get("/week").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    // a letter a second does not make it longer
    for _ in 0..25 {
        std::thread::sleep(Duration::from_secs(1));
        slow.iter_mut().for_each(|stream| _ = stream.write_all(b"2"));
    }
    for stream in &mut slow {
        let said = answer(stream);
        assert!(said.starts_with("HTTP/1.1 408") && said.contains("Nothing was changed"), "{said}");
    }
    assert!(begun.elapsed() < Duration::from_secs(45), "{:?}", begun.elapsed());
    assert!(planner.get("/week").body.contains("action=\"/week/final\""));
}

#[test]
fn bodies_that_are_too_heavy_change_nothing() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let page = planner.get("/week");
    let (plan, version) = (page.hidden("plan"), page.hidden("version"));
    // right in every field, and one more that is heavy
    let heavy = "x".repeat(65 * 1024);
    let fields = [("plan", plan.as_str()), ("version", &version), ("more", &heavy)];
    let refused = planner.post("/week/final", &fields);
    assert_eq!(refused.status, 413);
    assert!(refused.body.contains("Nothing was changed"), "{}", refused.body);
    for head in [
        "Content-Length: 99999999999999999999",
        "Content-Length: -1",
        "Content-Length: 5\r\nContent-Length: 6",
    ] {
        let said = answer(&mut begin(&planner, head));
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{head}: {said}");
    }
    // two ways to say how long it is: a proxy and the desk might read two different requests
    let both = answer(&mut begin(&planner, "Content-Length: 4\r\nTransfer-Encoding: chunked"));
    assert!(!both.contains("303"), "{both}");
    assert!(planner.get("/week").body.contains("action=\"/week/final\""));
    let small = [("plan", plan.as_str()), ("version", &version)];
    assert_eq!(planner.post("/week/final", &small).status, 303);
}

#[test]
fn addresses_lead_to_pages_alone() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let long = format!("/{}", "a/".repeat(3000));
    for path in [
        "/%2e%2e/%2e%2e/etc/passwd",
        "/%252e%252e/etc/passwd",
        "/..%5c..%5cledger.db",
        "/week/..%2f..%2fledger.db",
        "/week%2flist.xlsx",
        "/assets/desk.css%00.html",
        "/assets/%00",
        "/week\0",
        "/week;/../ledger.db",
        "/job/1%00",
        "/job/%31%2f..",
        "/enter/%2e%2e%2fweek",
        "/file:///etc/passwd",
        "/desk.jsonl",
        "/people.parquet",
        "/ledger.db-wal",
        "/.git/config",
        &long,
    ] {
        let answer = planner.get(path);
        assert!((400..500).contains(&answer.status) || answer.status == 0, "{path:.60}: {}", answer.status);
        assert!(!answer.body.contains("root:") && !answer.body.contains("SQLite"), "{path:.60}");
    }
    // whole addresses, as proxies are asked: by our name the desk, by another nothing
    let port = ui.server.address().port();
    for name in ["evil.example", "127.0.0.1"] {
        let answer = planner.get(&format!("http://{name}:{port}/../ledger.db"));
        assert!((400..500).contains(&answer.status), "{name}: {}", answer.status);
    }
    for question in
        ["page=99999999999999999999", "page=-1", "state=%00", "find=%ff%fe", "a=b&a=c", "worker=%"]
    {
        let answer = planner.get(&format!("/week?{question}"));
        assert!([200, 400].contains(&answer.status), "{question}: {}", answer.status);
    }
}

#[test]
fn a_list_is_made_by_a_job_or_not_at_all() {
    let files = world(&WorldOptions { weeks_with_outcomes: 1, is_planned: false });
    let ui = WebUi::start_in(files, |_| {});
    let mut planner = ui.planner();
    let plans = || Ledger::read(&ui.folder.join("ledger.db")).unwrap().plans().unwrap().len();
    assert_eq!(plans(), 1);
    let page = planner.get("/week");
    assert!(page.body.contains("action=\"/week/plan\""));
    assert_main("week_without_list", &page);
    let mut rounds = 0;
    while plans() == 1 {
        rounds += 1;
        let begun = planner.post("/week/plan", &[]);
        let job = begun.header("location").unwrap().to_string();
        // the first is told to stop at once; it may be done before it hears
        if rounds == 1 {
            assert_eq!(planner.post(&format!("{job}/stop"), &[]).status, 303);
        }
        let page = finished_job(&mut planner, &begun);
        assert_eq!(page.status, 200);
        match job_end(&page) {
            JobEnd::Stopped => assert_eq!(plans(), 1),
            end => assert_eq!((end, plans()), (JobEnd::Done, 2), "{}", page.body),
        }
        assert!(rounds < 5);
    }
    assert!(!planner.get("/week").body.contains("action=\"/week/plan\""));
    // a week has one list
    let begun = planner.post("/week/plan", &[]);
    assert_main("job_plan_failed", &failed_job(&mut planner, &begun));
    assert_eq!(plans(), 2);
    assert_eq!(planner.get("/job/99").status, 404);
}
