//! A small invented programme, made once for all tests, and a client that speaks plain HTTP over a real socket.
//!
//! [`programme`] is a copy of the programme for one test, to do with as it likes; [`Desk::open`] opens its desk. [`Client`] is one browser:
//! it keeps cookies and says what a browser would say.

use restive_serve::demo::{DemoAsked, make};
use restive_serve::{Opened, Role, Server, Users};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;

/// The programme of all tests, of which each has a copy: this week's list is a draft, two weeks before it have outcomes.
fn original() -> &'static Path {
    static ONE: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    &ONE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let asked = DemoAsked { people: 90, weeks: 8, played: 2, planned: true, seed: 3 };
        let made = make(&folder.path().join("demo"), &asked, |_, _| {}).unwrap();
        (folder, made)
    })
    .1
}

/// A copy of the programme, which goes with the folder.
pub fn programme() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("programme");
    copy(original(), &to);
    // where the mapping lies is noted from the programme's folder
    copy(&original().with_file_name("exports"), &folder.path().join("exports"));
    (folder, to)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => _ = std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap(),
        }
    }
}

/// A desk that is open.
pub struct Desk {
    pub server: Server,
    pub folder: PathBuf,
    _kept: TempDir,
}

/// The password of everybody in [`Desk::with_users`].
pub const PASSWORD: &str = "a long password";

impl Desk {
    /// Of one planner.
    pub fn open() -> Self {
        let (kept, folder) = programme();
        Self::of(kept, folder, |_| {})
    }

    /// Of a programme that was changed first.
    pub fn of(kept: TempDir, folder: PathBuf, change: impl FnOnce(&mut Opened)) -> Self {
        let mut asked = Opened { port: Some(0), planner: "Asha".into(), ..Opened::new(&folder) };
        change(&mut asked);
        let server = Server::open(&asked).unwrap();
        let running = server.clone();
        std::thread::spawn(move || _ = running.run());
        Self { server, folder, _kept: kept }
    }

    /// Of users, each called by her role, with [`PASSWORD`]; the caller is Caller A.
    pub fn with_users() -> Self {
        static FILE: OnceLock<Users> = OnceLock::new();
        let users = FILE.get_or_init(|| {
            let mut users = Users::default();
            for role in Role::ALL {
                let worker = (role == Role::Caller).then_some("Caller A");
                users.add(role.word(), role, worker, PASSWORD).unwrap();
            }
            users
        });
        let (kept, folder) = programme();
        let file = kept.path().join("users.toml");
        users.write(&file).unwrap();
        Self::of(kept, folder, |asked| asked.users = Some(file))
    }

    /// A browser that has not entered.
    pub fn stranger(&self) -> Client {
        Client { address: self.server.address(), cookies: BTreeMap::new() }
    }

    /// A browser that has entered, as the one planner.
    pub fn planner(&self) -> Client {
        let mut client = self.stranger();
        let entrance = self.server.entrance().unwrap();
        let path = entrance.split_once(&self.server.address().to_string()).unwrap().1;
        assert_eq!(client.get(path).status, 303);
        client
    }

    /// A browser that has entered by a password.
    pub fn user(&self, role: Role) -> Client {
        let mut client = self.stranger();
        let answer = client.post("/login", &[("name", role.word()), ("password", PASSWORD)]);
        assert_eq!(answer.status, 303, "{}", answer.body);
        client
    }
}

/// One browser.
#[derive(Clone)]
pub struct Client {
    pub address: SocketAddr,
    pub cookies: BTreeMap<String, String>,
}

/// What was answered.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
    pub bytes: Vec<u8>,
}

impl Answer {
    /// A header, where it is there.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find_map(|(key, value)| key.eq_ignore_ascii_case(name).then(|| value.trim()))
    }

    /// The value of a hidden field, the first of that name.
    pub fn hidden(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let found = self.body.split_once(&start).and_then(|(_, rest)| rest.split_once('"'));
        found.unwrap_or_else(|| panic!("no field {name}")).0.into()
    }
}

impl Client {
    pub fn get(&mut self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    /// A form of our own page.
    pub fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let form: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        self.ask("POST", path, &[("Sec-Fetch-Site", "same-origin")], &form.join("&"))
    }

    /// Whatever one likes; a header `Host` takes the place of the right one.
    pub fn ask(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
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
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
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
        Answer { status, body: String::from_utf8_lossy(&bytes).into_owned(), head, bytes }
    }
}

/// As a form has it.
pub fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte.is_ascii_alphanumeric() {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}
