//! Request bodies that are unread when the response is ready: of an unknown path, a method that is not
//! allowed, or a request that is too large.
//!
//! The rest of such a body would be parsed as the next request of the connection. A short rest is read to its
//! end. Otherwise the response has `Connection: close`, and the connection is closed in stages: first the
//! sending side, then reading until the client closes, too. Closing a connection with unread bytes resets it,
//! and the response is lost (RFC 9112 §9.6). In a deployment API Gateway reads every body.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::extract::connect_info::Connected;
use axum::middleware::Next;
use axum::response::Response;
use axum::serve::{IncomingStream, Listener};
use http::{HeaderMap, HeaderValue, header};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep, timeout};

/// Bytes that are read and discarded before or after a response at most (our choice): twice the largest
/// body of any route.
const MOST: u64 = 8 << 20;
/// The longest time for that (our choice).
const LONGEST: Duration = Duration::from_secs(2);

/// A body that can still be read when its reader has dropped it.
#[derive(Clone)]
struct Shared(Arc<Mutex<State>>);

struct State {
    body: Body,
    /// Whether reading it has begun.
    is_begun: bool,
    /// Whether it was read to its end.
    is_ended: bool,
}

impl Shared {
    fn new(body: Body) -> Self {
        let is_ended = body.is_end_stream();
        Self(Arc::new(Mutex::new(State { body, is_begun: false, is_ended })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the rest; false if it is too long, takes too long, or fails.
    async fn drain(mut self) -> bool {
        let drained = async {
            let mut left = MOST;
            loop {
                let frame = std::future::poll_fn(|cx| Pin::new(&mut self).poll_frame(cx)).await;
                let size = match frame {
                    None => return true,
                    Some(Err(_)) => return false,
                    Some(Ok(frame)) => frame.data_ref().map_or(0, Bytes::len),
                };
                match left.checked_sub(u64::try_from(size).unwrap_or(u64::MAX)) {
                    Some(rest) => left = rest,
                    None => return false,
                }
            }
        };
        timeout(LONGEST, drained).await.unwrap_or(false)
    }
}

impl HttpBody for Shared {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        let mut state = self.state();
        state.is_begun = true;
        let frame = ready!(Pin::new(&mut state.body).poll_frame(cx));
        state.is_ended = state.is_ended || frame.is_none() || state.body.is_end_stream();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.state().body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.state().body.size_hint()
    }
}

/// Reads the unread rest of a request's body, or closes the connection.
pub(crate) async fn finish_reading(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let waits = waits_to_be_asked(&parts.headers);
    let body = Shared::new(body);
    let rest = body.clone();
    let mut response = next.run(Request::from_parts(parts, Body::new(body))).await;
    let (is_begun, is_ended, announced) = {
        let state = rest.state();
        (state.is_begun, state.is_ended, state.body.size_hint().lower())
    };
    if is_ended {
        return response;
    }
    // A client that waits for `100 Continue` has not sent the body, and need not any more.
    let is_unasked = waits && !is_begun;
    if is_unasked || announced > MOST || !rest.drain().await {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Whether the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
fn waits_to_be_asked(headers: &HeaderMap) -> bool {
    let expected = headers.get(header::EXPECT).and_then(|value| value.to_str().ok());
    expected.is_some_and(|expected| expected.eq_ignore_ascii_case("100-continue"))
}

/// A listener whose connections are closed in stages.
pub(crate) struct Patient(pub(crate) TcpListener);

/// The address of the client of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

impl Connected<IncomingStream<'_, Patient>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Patient>) -> Self {
        Self(*stream.remote_addr())
    }
}

impl Listener for Patient {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, peer) = Listener::accept(&mut self.0).await;
        (Connection { stream, closing: None }, peer)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// A connection.
pub(crate) struct Connection {
    stream: TcpStream,
    /// Once the sending side is closed: the deadline for the client's close, and how many bytes are still
    /// read.
    closing: Option<(Pin<Box<Sleep>>, u64)>,
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, closing } = self.get_mut();
        if closing.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(cx))?;
        }
        let (until, left) = closing.get_or_insert_with(|| (Box::pin(sleep(LONGEST)), MOST));
        let mut bytes = [0; 8192];
        loop {
            if until.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut buffer = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer));
            let size = u64::try_from(buffer.filled().len()).unwrap_or(u64::MAX);
            match left.checked_sub(size) {
                Some(rest) if read.is_ok() && size > 0 => *left = rest,
                _ => return Poll::Ready(Ok(())),
            }
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
