//! Harness of the web UI: a server with its own programme folder, browsers that are logged in, and the words of pages.

use crate::world::{WorldOptions, world};
use restive_serve::{Opened, Role, Server, Users};
use restive_testkit::{Folder, HttpClient, HttpResponse, Masks};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

/// Password of all users of [`WebUi::start_with_users`].
pub const PASSWORD: &str = "a long password";

/// A running server.
pub struct WebUi {
    pub server: Server,
    /// Folder of the programme.
    pub folder: PathBuf,
    _files: Folder,
}

impl WebUi {
    /// Starts a server for one planner, who is called Asha, on a copy of the default world.
    pub fn start() -> Self {
        Self::start_in(world(&WorldOptions::default()), |_| {})
    }

    /// Starts a server on `files`, the folder of a world, with changed options.
    pub fn start_in(files: Folder, change: impl FnOnce(&mut Opened)) -> Self {
        let folder = files.path("programme");
        let mut options = Opened { port: Some(0), planner: "Asha".into(), ..Opened::new(&folder) };
        change(&mut options);
        let server = Server::open(&options).unwrap();
        let running = server.clone();
        std::thread::spawn(move || _ = running.run());
        Self { server, folder, _files: files }
    }

    /// Starts a server with one user of each role. The name of a user is the word of the role; the caller is Caller A.
    pub fn start_with_users() -> Self {
        static USERS: OnceLock<Users> = OnceLock::new();
        let users = USERS.get_or_init(|| {
            let mut users = Users::default();
            for role in Role::ALL {
                let worker = (role == Role::Caller).then_some("Caller A");
                users.add(role.word(), role, worker, false, PASSWORD).unwrap();
            }
            users
        });
        let files = world(&WorldOptions::default());
        let file = files.path("users.toml");
        users.write(&file).unwrap();
        Self::start_in(files, |options| options.users = Some(file))
    }

    /// Returns a browser that is not logged in.
    pub fn visitor(&self) -> HttpClient {
        HttpClient::new(self.server.address())
    }

    /// Returns a browser of the one planner, logged in with a token.
    pub fn planner(&self) -> HttpClient {
        let mut client = self.visitor();
        let entrance = self.server.entrance().unwrap();
        let path = entrance.split_once(&self.server.address().to_string()).unwrap().1;
        assert_eq!(client.get(path).status, 303);
        client
    }

    /// Returns a browser of the user of a role, logged in with the password.
    pub fn user(&self, role: Role) -> HttpClient {
        let mut client = self.visitor();
        let response = client.post("/login", &[("name", role.word()), ("password", PASSWORD)]);
        assert_eq!(response.status, 303, "{}", response.body);
        client
    }
}

/// Waits until the job to which a response redirects has ended; returns the page of the job.
pub fn finished_job(client: &mut HttpClient, response: &HttpResponse) -> HttpResponse {
    assert_eq!(response.status, 303, "{}", response.body);
    let path = response.header("location").unwrap();
    assert!(path.starts_with("/job/"), "{path}");
    for _ in 0..2400 {
        let page = client.get(path);
        if !page.body.contains("http-equiv=\"refresh\"") {
            return page;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{path} has not ended");
}

/// End of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEnd {
    Done,
    Failed,
    Stopped,
}

/// Returns the end of the job of a page.
pub fn job_end(page: &HttpResponse) -> JobEnd {
    let ends = [
        ("It is done.", JobEnd::Done),
        ("It could not be done. Nothing was written.", JobEnd::Failed),
        ("It was stopped. Nothing was written.", JobEnd::Stopped),
    ];
    let found = ends.iter().find(|(sentence, _)| page.body.contains(sentence));
    found.unwrap_or_else(|| panic!("{}", page.body)).1
}

/// Waits for the job to which a response redirects; returns its page.
///
/// # Panics
/// If the job has not been done.
pub fn done_job(client: &mut HttpClient, response: &HttpResponse) -> HttpResponse {
    let page = finished_job(client, response);
    assert_eq!(job_end(&page), JobEnd::Done, "{}", page.body);
    page
}

/// Waits for the job to which a response redirects; returns its page.
///
/// # Panics
/// If the job has not failed.
pub fn failed_job(client: &mut HttpClient, response: &HttpResponse) -> HttpResponse {
    let page = finished_job(client, response);
    assert_eq!(job_end(&page), JobEnd::Failed, "{}", page.body);
    page
}

/// Returns the part of a page from a mark to the first end after it.
pub fn part<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let start = page.find(from).unwrap_or_else(|| panic!("no {from}: {page}"));
    let length = page[start..].find(to).unwrap_or_else(|| panic!("no {to} after {from}: {page}"));
    &page[start..start + length]
}

/// Returns the notices of a page.
pub fn notices(page: &HttpResponse) -> String {
    let starts = page.body.match_indices("<div class=\"notice");
    starts.map(|(at, mark)| part(&page.body[at..], mark, "</div>")).collect()
}

/// Returns the message at a field of a form.
pub fn field_error<'a>(page: &'a HttpResponse, field: &str) -> &'a str {
    part(&page.body, &format!("<p class=\"error\" id=\"{field}-error\""), "</p>")
}

/// Compares the words of a page without its navigation and footer with the snapshot of a name.
pub fn assert_main(name: &str, page: &HttpResponse) {
    assert_words(name, part(&page.body, "<main", "</main>"));
}

/// Compares the words of a page or of a part of it with the snapshot of a name.
pub fn assert_words(name: &str, html: &str) {
    let masks = Masks::new()
        // differ between days, operating systems and file systems
        .pattern(r"\b\d+ days? old\b", "<age>")
        .pattern(r": [^:()]* \(os error \d+\)", ": <cause>")
        .pattern(r"there is [\w., ]+", "there is <files>")
        // the id after a number is not an amount of memory
        .pattern(r"(\d) (MB-\d)", "$1, $2");
    restive_testkit::assert_page!(name, html, masks);
}

/// Returns text as it is escaped in a page.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&#38;")
        .replace('<', "&#60;")
        .replace('>', "&#62;")
        .replace('"', "&#34;")
        .replace('\'', "&#39;")
}
