//! The names by which the desk may be asked.
//!
//! A page of somebody else can let its own name lead to 127.0.0.1 and then read what is answered there, as if it were its own. The
//! request says by which name it was asked: one that is not on the list is refused, before anything is looked at, with what to do.

use crate::desk::App;
use crate::look::refusal::Refusal;
use axum::extract::{Request, State};
use axum::http::header::HOST;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::SocketAddr;

/// The names that are answered to.
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    /// Those of an address, and others that were said; one without a port is meant with this one.
    pub(crate) fn new(address: SocketAddr, others: &[String]) -> Self {
        let port = address.port();
        let mut names = vec![address.to_string()];
        if address.ip().is_loopback() {
            names.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        for name in others {
            let name = name.to_ascii_lowercase();
            let has_port = name.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
            names.push(if has_port { name.clone() } else { format!("{name}:{port}") });
            if !has_port {
                // behind a proxy, or at the port that needs no saying
                names.push(name);
            }
        }
        Self(names)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// The first one, for people.
    pub(crate) fn first(&self) -> &str {
        &self.0[0]
    }
}

/// Refuses whatever was asked by another name.
pub(crate) async fn check(State(desk): State<App>, request: Request, next: Next) -> Response {
    let name = request.headers().get(HOST).and_then(|name| name.to_str().ok()).unwrap_or("");
    match desk.doors.hosts.has(name) {
        true => next.run(request).await,
        false => Refusal::host(name, desk.doors.hosts.first()).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_names_are_answered() {
        let hosts = Hosts::new("127.0.0.1:8421".parse().unwrap(), &["Desk.Example".into(), "a.b:99".into()]);
        for known in
            ["127.0.0.1:8421", "LOCALHOST:8421", "[::1]:8421", "desk.example:8421", "desk.example", "a.b:99"]
        {
            assert!(hosts.has(known), "{known}");
        }
        for other in
            ["", "127.0.0.1", "127.0.0.1:80", "evil.example:8421", "localhost:8421.evil.example", "a.b"]
        {
            assert!(!hosts.has(other), "{other}");
        }
        // another address than loopback has no names but its own
        assert!(!Hosts::new("10.0.0.5:80".parse().unwrap(), &[]).has("localhost:80"));
    }
}
