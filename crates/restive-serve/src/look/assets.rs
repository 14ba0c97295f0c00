//! The stylesheet, in the program: the colours of the reports, then the desk's own rules.
//!
//! Its address has a digest of it, so that a browser may keep it for ever and never shows a page in yesterday's clothes.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use std::sync::OnceLock;

const STYLE: &str = include_str!("../../assets/desk.css");

fn style() -> &'static (String, String) {
    static ONE: OnceLock<(String, String)> = OnceLock::new();
    ONE.get_or_init(|| {
        let text = restive_report::colours() + STYLE + restive_report::chart_style();
        let digest: String =
            crate::security::random::digest(&text)[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        (format!("/assets/desk-{digest}.css"), text)
    })
}

/// Where it is.
pub(crate) fn style_path() -> &'static str {
    &style().0
}

/// The stylesheet.
pub(crate) async fn show() -> Response {
    let headers =
        [(CONTENT_TYPE, "text/css; charset=utf-8"), (CACHE_CONTROL, "public, max-age=31536000, immutable")];
    (headers, style().1.as_str()).into_response()
}
