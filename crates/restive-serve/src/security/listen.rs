//! Connections: how many at a time, and how slow they may be.
//!
//! A connection has one of the [`places`](super::places). A client has [`HEADERS`] for the handshake of TLS and for the head of each request,
//! also between one request and the next, and [`WRITE`] to read some of a response; no connection lives longer than [`LONGEST`]. After a
//! response to a request without a session the connection is closed: requests that a stranger sends ahead are not computed. Only HTTP/1.1
//! is spoken: pages are few and small.

use super::places::{Place, Places};
use super::tls::Tls;
use super::write_limit::WriteLimit;
use axum::Router;
use axum::extract::ConnectInfo;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tower::ServiceExt;

/// For the head of a request, and for the handshake of TLS.
pub(crate) const HEADERS: Duration = Duration::from_secs(10);
/// Without a byte of a response that the client takes.
const WRITE: Duration = Duration::from_secs(15);
/// A connection, in all.
const LONGEST: Duration = Duration::from_secs(600);
/// Bytes of the head of a request.
const HEAD: usize = 32 * 1024;

/// Answers until the program ends.
pub(crate) async fn listen(listener: TcpListener, router: Router, tls: Option<Tls>) {
    let places = Arc::new(Places::default());
    loop {
        let (stream, from) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(_) => {
                // too many open files, a client that is gone: neither is for ever
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some((place, lost)) = places.enter(from.ip()).await else { continue };
        let (router, tls, place) = (router.clone(), tls.clone(), Arc::new(place));
        let _ = stream.set_nodelay(true);
        let stream = WriteLimit::new(stream, WRITE);
        tokio::spawn(async move {
            tokio::select! {
                _ = timeout(LONGEST, answer(stream, from, router, tls, place)) => {}
                _ = lost => {}
            }
        });
    }
}

async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    from: SocketAddr,
    router: Router,
    tls: Option<Tls>,
    place: Arc<Place>,
) {
    match tls {
        None => speak(stream, from, router, place).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(HEADERS, tls.accept(stream)).await {
                speak(stream, from, router, place).await;
            }
        }
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    from: SocketAddr,
    router: Router,
    place: Arc<Place>,
) {
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(ConnectInfo(from));
        request.extensions_mut().insert(place.clone());
        let (router, place) = (router.clone(), place.clone());
        async move {
            let mut response = router.oneshot(request).await?;
            place.set_working(false);
            if !place.has_session() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(HEAD);
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}
