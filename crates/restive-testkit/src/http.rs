//! HTTP client with cookies for the web UI, over a plain socket.
//!
//! The client sends what a browser would send and follows no redirects. A test can send any other request with
//! [`HttpClient::request`].

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longest time without a byte from the server.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// HTTP client that keeps cookies.
#[derive(Debug, Clone)]
pub struct HttpClient {
    /// Address of the server.
    pub address: SocketAddr,
    /// Cookies by name.
    pub cookies: BTreeMap<String, String>,
}

/// Response of the server.
#[derive(Debug)]
pub struct HttpResponse {
    /// Status code; 0 if the connection was closed before a response.
    pub status: u16,
    /// Status line and headers.
    pub head: String,
    /// Body as text; invalid UTF-8 is replaced.
    pub body: String,
    /// Body.
    pub bytes: Vec<u8>,
}

impl HttpResponse {
    /// Returns the value of the first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.find_map(|(key, value)| key.eq_ignore_ascii_case(name).then(|| value.trim()))
    }

    /// Returns the value of the first hidden field of that name.
    ///
    /// # Panics
    /// If the body has no such field.
    pub fn hidden(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let found = self.body.split_once(&start).and_then(|(_, rest)| rest.split_once('"'));
        found.unwrap_or_else(|| panic!("no field {name}")).0.into()
    }
}

impl HttpClient {
    /// Creates a client without cookies.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, cookies: BTreeMap::new() }
    }

    /// Requests a page.
    pub fn get(&mut self, path: &str) -> HttpResponse {
        self.request("GET", path, &[], "")
    }

    /// Submits a form of a page of the server.
    pub fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> HttpResponse {
        let form: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", form_encoded(value))).collect();
        self.request("POST", path, &[("Sec-Fetch-Site", "same-origin")], &form.join("&"))
    }

    /// Sends any request; `headers` replace the default `Host` and `Content-Length`.
    pub fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> HttpResponse {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        if !self.cookies.is_empty() {
            let all: Vec<String> =
                self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            head += &format!("Cookie: {}\r\n", all.join("; "));
        }
        if method == "POST" && !headers.iter().any(|(name, _)| *name == "Content-Length") {
            head += &format!(
                "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
                body.len()
            );
        }
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
        // a server may close the connection before it has read everything
        let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        self.response(&bytes)
    }

    /// Parses a response and keeps its cookies.
    fn response(&mut self, bytes: &[u8]) -> HttpResponse {
        let at = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
        let bytes = bytes.get(at + 4..).unwrap_or_default().to_vec();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        for line in head.lines() {
            let set = line.split_once(": ").filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
            if let Some((name, value)) = set.and_then(|(_, cookie)| cookie.split(';').next()?.split_once('='))
            {
                self.cookies.insert(name.into(), value.into());
            }
        }
        HttpResponse { status, body: String::from_utf8_lossy(&bytes).into_owned(), head, bytes }
    }
}

/// Returns text in the encoding of forms.
pub fn form_encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte.is_ascii_alphanumeric() {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;

    /// Answers each connection with `answer`; returns the request lines and headers that arrived.
    fn serve(answers: Vec<&'static str>) -> (SocketAddr, std::thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = move || {
            let one = |answer: &str| {
                let (mut stream, _) = listener.accept().unwrap();
                let lines = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
                let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                stream.write_all(answer.as_bytes()).unwrap();
                head.join("\n")
            };
            answers.into_iter().map(one).collect()
        };
        (address, std::thread::spawn(requests))
    }

    #[test]
    fn cookies_of_a_response_are_sent_with_the_next_request() {
        let (address, requests) = serve(vec![
            "HTTP/1.1 303 See Other\r\nSet-Cookie: session=abc; Path=/\r\nLocation: /next\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n<input name=\"token\" value=\"t1\">",
        ]);
        let mut client = HttpClient::new(address);
        let first = client.post("/login", &[("name", "a b")]);
        assert_eq!((first.status, first.header("location")), (303, Some("/next")));
        let second = client.get("/next");
        assert_eq!((second.status, second.hidden("token")), (200, "t1".into()));
        let requests = requests.join().unwrap();
        assert!(requests[0].starts_with("POST /login HTTP/1.1\n"), "{}", requests[0]);
        assert!(requests[0].contains("Content-Length: 10"), "{}", requests[0]);
        assert!(!requests[0].contains("Cookie: "), "{}", requests[0]);
        assert!(requests[1].contains("Cookie: session=abc"), "{}", requests[1]);
    }

    #[test]
    fn closed_connection_has_status_zero() {
        let (address, requests) = serve(vec![""]);
        assert_eq!(HttpClient::new(address).get("/").status, 0);
        requests.join().unwrap();
    }
}
