//! How much a request may hold, and how long it may take.
//!
//! A form is small: more than [`MOST`] is refused by what the request says of its length, before it is read, and by counting where it
//! says nothing ([`body`](super::body)). A request that is not answered within [`PATIENCE`] is given up.

use super::body::MOST;
use crate::look::refusal::Refusal;
use axum::extract::Request;
use axum::http::header::CONTENT_LENGTH;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::time::Duration;

/// Bytes of an address.
const LONGEST: usize = 4096;
/// Bytes of all headers together: the buffer of a connection may hold more.
const HEADERS: usize = 16 * 1024;
/// Of a request, in all.
const PATIENCE: Duration = Duration::from_secs(30);

/// Refuses what is too large, and gives up what takes too long.
pub(crate) async fn check(request: Request, next: Next) -> Response {
    let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if length.is_some_and(|length| length.parse::<u64>().is_ok_and(|length| length > MOST as u64)) {
        return Refusal::too_large().into_response();
    }
    let headers: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers > HEADERS {
        return Refusal::too_large().into_response();
    }
    if request.uri().path_and_query().is_some_and(|path| path.as_str().len() > LONGEST) {
        return Refusal::not_found().into_response();
    }
    match tokio::time::timeout(PATIENCE, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Refusal::too_slow().into_response(),
    }
}
