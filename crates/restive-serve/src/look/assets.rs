//! The stylesheet and the script, in the program: the colours of the reports, then the desk's own rules; and what makes pages handier, on which
//! nothing depends.
//!
//! Their addresses have a digest of them, so that a browser may keep them for ever and never shows a page in yesterday's clothes.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use std::sync::OnceLock;

const STYLE: &str = include_str!("../../assets/desk.css");
const SCRIPT: &str = include_str!("../../assets/desk.js");

fn style() -> &'static (String, String) {
    static ONE: OnceLock<(String, String)> = OnceLock::new();
    ONE.get_or_init(|| {
        let text = restive_report::colours() + STYLE + restive_report::chart_style();
        (format!("/assets/desk-{}.css", digest(&text)), text)
    })
}

fn digest(text: &str) -> String {
    crate::security::random::digest(text)[..6].iter().map(|byte| format!("{byte:02x}")).collect()
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

/// Where the script is.
pub(crate) fn script_path() -> &'static str {
    static ONE: OnceLock<String> = OnceLock::new();
    ONE.get_or_init(|| format!("/assets/desk-{}.js", digest(SCRIPT)))
}

/// The script.
pub(crate) async fn show_script() -> Response {
    let headers = [
        (CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, SCRIPT).into_response()
}
