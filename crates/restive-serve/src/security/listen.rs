//! Connections: how many at a time, and how slow they may be.
//!
//! At most [`MOST`] are open; others wait in the system's queue. A client has [`HEADERS`] for the head of each request, so that one that
//! says a letter a minute does not hold a place, and no connection lives longer than [`LONGEST`], whatever it does. Only HTTP/1.1 is
//! spoken: pages are few and small.

use super::tls::Tls;
use axum::Router;
use axum::extract::ConnectInfo;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tower::ServiceExt;

/// Open connections.
const MOST: usize = 256;
/// For the head of a request, and for the handshake of TLS.
pub(crate) const HEADERS: Duration = Duration::from_secs(10);
/// A connection, in all.
const LONGEST: Duration = Duration::from_secs(600);
/// Bytes of the head of a request.
const HEAD: usize = 32 * 1024;

/// Answers until the program ends.
pub(crate) async fn listen(listener: TcpListener, router: Router, tls: Option<Tls>) {
    let places = Arc::new(Semaphore::new(MOST));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let (stream, from) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(_) => {
                // too many open files, a client that is gone: neither is for ever
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let (router, tls) = (router.clone(), tls.clone());
        tokio::spawn(async move {
            let _ = timeout(LONGEST, answer(stream, from, router, tls)).await;
            drop(place);
        });
    }
}

async fn answer(stream: TcpStream, from: SocketAddr, router: Router, tls: Option<Tls>) {
    let _ = stream.set_nodelay(true);
    match tls {
        None => speak(stream, from, router).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(HEADERS, tls.accept(stream)).await {
                speak(stream, from, router).await;
            }
        }
    }
}

async fn speak(stream: impl AsyncRead + AsyncWrite + Unpin, from: SocketAddr, router: Router) {
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(ConnectInfo(from));
        router.clone().oneshot(request)
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(HEAD);
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}
