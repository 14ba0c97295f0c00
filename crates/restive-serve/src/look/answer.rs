//! What a handler gives back: a page, a way to go, a file, or a refusal.

use super::refusal::Refusal;
use askama::Template;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};

/// What a handler gives back.
pub type Answer = Result<Response, Refusal>;

/// A page.
pub fn page(template: &impl Template) -> Answer {
    page_with(StatusCode::OK, template)
}

/// A page with another status.
pub fn page_with(status: StatusCode, template: &impl Template) -> Answer {
    let text = template.render().map_err(|_| Refusal::ours())?;
    Ok((status, Html(text)).into_response())
}

/// After a write: the browser asks for a page, and going back sends no form again.
pub fn see(path: &str) -> Answer {
    let place = HeaderValue::from_str(path).map_err(|_| Refusal::ours())?;
    Ok((StatusCode::SEE_OTHER, [(LOCATION, place)]).into_response())
}

/// A file to be saved. The name is ours: letters, digits, points and hyphens.
pub fn file(name: &str, kind: &'static str, bytes: Vec<u8>) -> Answer {
    let name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || ".-_".contains(*c)).collect();
    let attached =
        HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")).map_err(|_| Refusal::ours())?;
    Ok(([(CONTENT_TYPE, HeaderValue::from_static(kind)), (CONTENT_DISPOSITION, attached)], bytes)
        .into_response())
}

/// The kind of a workbook.
pub const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// Whether a text is a way within the desk: never one to another site.
pub(crate) fn is_own_path(path: &str) -> bool {
    path.starts_with('/')
        && !path.starts_with("//")
        && path.bytes().all(|c| (0x21..0x7f).contains(&c) && c != b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_stay_within_the_desk() {
        assert!(is_own_path("/") && is_own_path("/week?state=0&q=a%20b"));
        for other in
            ["", "week", "//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nb", "/é"]
        {
            assert!(!is_own_path(other), "{other}");
        }
    }
}
