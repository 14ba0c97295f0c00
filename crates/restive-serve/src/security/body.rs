//! Bodies of requests, read before their handler runs: no handler waits for a slow client.

use super::places::Place;
use crate::look::refusal::Refusal;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a form.
pub(crate) const MOST: usize = 64 * 1024;
/// Time in which a body has to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);

/// Reads the body; refuses one that is too long, comes too slowly or is cut off.
pub(crate) async fn read(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = match tokio::time::timeout(ARRIVAL, Limited::new(body, MOST).collect()).await {
        Ok(Ok(collected)) => collected.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return Refusal::too_large().into_response(),
        Ok(Err(_)) => {
            return Refusal::form("found a body that is cut off, expected all of it").into_response();
        }
        Err(_) => return Refusal::too_slow().into_response(),
    };
    // the server does not wait for the client from here on
    if let Some(place) = parts.extensions.get::<Arc<Place>>() {
        place.set_working(true);
    }
    next.run(Request::from_parts(parts, Body::from(bytes))).await
}
