//! Writes come from our own pages.
//!
//! A page of somebody else can send a form here, and the browser would add what it knows of us. It also says where a request comes from:
//! `Sec-Fetch-Site` must be `same-origin`. A browser that does not say so says at least the `Origin`, which must be the name by which we
//! were asked. A write that says neither is refused.

use crate::look::refusal::Refusal;
use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Refuses writes that come from elsewhere.
pub(crate) async fn check(request: Request, next: Next) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    match is_read || is_own(request.headers()) {
        true => next.run(request).await,
        false => Refusal::origin().into_response(),
    }
}

fn is_own(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    if let Some(site) = text("sec-fetch-site") {
        return site == "same-origin";
    }
    let host = text(HOST.as_str()).unwrap_or("");
    let origin = text(ORIGIN.as_str()).and_then(|origin| origin.split_once("://"));
    !host.is_empty()
        && origin.is_some_and(|(scheme, name)| {
            ["http", "https"].contains(&scheme) && name.eq_ignore_ascii_case(host)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_say_that_they_are_our_own() {
        let with = |pairs: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            pairs.iter().for_each(|(name, value)| _ = headers.insert(*name, value.parse().unwrap()));
            is_own(&headers)
        };
        let host = ("host", "127.0.0.1:1");
        assert!(with(&[host, ("sec-fetch-site", "same-origin")]));
        assert!(with(&[host, ("origin", "http://127.0.0.1:1")]));
        assert!(!with(&[host]));
        for site in ["cross-site", "same-site", "none", ""] {
            // what the browser says of the site counts, whatever the origin says
            assert!(!with(&[host, ("sec-fetch-site", site), ("origin", "http://127.0.0.1:1")]), "{site}");
        }
        for origin in
            ["null", "http://evil.example", "http://127.0.0.1:2", "127.0.0.1:1", "ftp://127.0.0.1:1"]
        {
            assert!(!with(&[host, ("origin", origin)]), "{origin}");
        }
    }
}
