//! The language of the pages: a form at their foot, a cookie that says nothing of anybody.

use crate::look::answer::{Answer, is_own_path, see};
use crate::look::refusal::Refusal;
use crate::look::words::{COOKIE, Words};
use axum::Form;
use axum::http::HeaderValue;
use axum::http::header::SET_COOKIE;
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Choice {
    #[serde(default)]
    language: String,
    #[serde(default)]
    back: String,
}

/// Remembers it, and goes back.
pub(crate) async fn choose(Form(choice): Form<Choice>) -> Answer {
    let code = Words::of(&choice.language).code;
    let mut response = see(if is_own_path(&choice.back) { &choice.back } else { "/" })?;
    let cookie = format!("{COOKIE}={code}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Strict");
    response.headers_mut().append(SET_COOKIE, HeaderValue::from_str(&cookie).map_err(|_| Refusal::ours())?);
    Ok(response)
}
