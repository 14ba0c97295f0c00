//! Clients that hold connections: silent, slow, or never reading.

use crate::harness::WebUi;
use restive_testkit::HttpClient;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Longest time that a test waits for the server.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns a request for a page as a browser without or with a session sends it, over a connection that stays open.
fn request(client: &HttpClient, path: &str) -> String {
    let cookies: Vec<String> = client.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("GET {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n", client.address, cookies.join("; "))
}

fn connect(ui: &WebUi) -> TcpStream {
    let stream = TcpStream::connect(ui.server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    stream
}

/// Sends three requests at once and returns the number of responses.
fn responses(ui: &WebUi, client: &HttpClient) -> usize {
    let mut stream = connect(ui);
    let one = request(client, "/person");
    let last = one.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    stream.write_all((one.repeat(2) + &last).as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).matches("HTTP/1.1 ").count()
}

#[test]
fn stranger_gets_one_response_for_each_connection() {
    let ui = WebUi::start();
    assert_eq!(responses(&ui, &ui.visitor()), 1);
    assert_eq!(responses(&ui, &ui.planner()), 3);
}

#[test]
fn pipelines_that_are_never_read_keep_nobody_out() {
    let ui = WebUi::start();
    let requests = request(&ui.visitor(), "/login").repeat(1500);
    let attack: Vec<TcpStream> = (0..256)
        .map(|_| {
            let mut stream = connect(&ui);
            // the server may have closed the connection already
            let _ = stream.write_all(requests.as_bytes());
            stream
        })
        .collect();
    let mut planner = ui.planner();
    assert_eq!(planner.get("/week").status, 200);
    drop(attack);
}

#[test]
fn slow_bodies_lose_their_places_to_new_connections() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let head = format!(
        "POST /language HTTP/1.1\r\nHost: {}\r\nSec-Fetch-Site: same-origin\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 60000\r\n\r\n",
        planner.address
    );
    let attack: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut stream = connect(&ui);
            let _ = stream.write_all(head.as_bytes());
            stream
        })
        .collect();
    assert_eq!(planner.get("/week").status, 200);
    // closed for a newer connection, and not answered after a time limit
    let is_closed = |mut stream: &TcpStream| match stream.read(&mut [0]) {
        Ok(bytes) => bytes == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    };
    assert!(attack.iter().take(50).any(is_closed));
}

#[test]
fn client_with_a_session_that_never_reads_is_dropped() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let page = planner.get("/week").body;
    let style = page.split_once("href=\"/assets/").unwrap().1.split_once('"').unwrap().0;
    let requests = request(&planner, &format!("/assets/{style}")).repeat(100);
    let mut stream = connect(&ui);
    let begin = Instant::now();
    // writes are taken until all buffers are full, and fail for good when the server has closed the connection
    let error = loop {
        match stream.write_all(requests.as_bytes()) {
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                break error;
            }
            _ => assert!(begin.elapsed() < PATIENCE, "the connection is still open"),
        }
    };
    assert!(matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{error}");
}
