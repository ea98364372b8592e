//! Copies of small bodies.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};

/// Bytes of a body that is copied, at most.
const SMALL: usize = 16 << 10;

/// What is known of a body.
#[derive(Debug, Clone)]
pub(crate) enum Captured {
    /// There was none.
    Empty,
    /// All of it.
    Whole(Bytes),
    /// It was too large to copy; the number of its bytes that were read.
    Large(u64),
}

/// A body that is copied while it is read.
pub(crate) struct Tee {
    body: Body,
    copy: Copied,
}

/// The copy of a body.
#[derive(Clone, Default)]
pub(crate) struct Copied(Arc<Mutex<Copying>>);

#[derive(Default)]
struct Copying {
    bytes: Vec<u8>,
    read: u64,
}

impl Copied {
    fn state(&self) -> MutexGuard<'_, Copying> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, data: &[u8]) {
        let mut state = self.state();
        state.read = state.read.saturating_add(u64::try_from(data.len()).unwrap_or(u64::MAX));
        if state.read <= u64::try_from(SMALL).unwrap_or(u64::MAX) {
            state.bytes.extend_from_slice(data);
        }
    }

    /// What was read so far.
    pub(crate) fn captured(&self) -> Captured {
        let mut state = self.state();
        match state.read {
            0 => Captured::Empty,
            read if read == u64::try_from(state.bytes.len()).unwrap_or_default() => {
                Captured::Whole(std::mem::take(&mut state.bytes).into())
            }
            read => Captured::Large(read),
        }
    }
}

impl Tee {
    /// The body, and its copy.
    pub(crate) fn of(body: Body) -> (Body, Copied) {
        let copy = Copied::default();
        if body.is_end_stream() {
            return (body, copy);
        }
        (Body::new(Self { body, copy: copy.clone() }), copy)
    }
}

impl HttpBody for Tee {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            this.copy.add(data);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a response, and its copy if it is small. The functions' answers are in memory.
pub(crate) async fn captured(body: Body) -> (Body, Captured) {
    match body.size_hint().exact() {
        Some(0) => (body, Captured::Empty),
        Some(size) if usize::try_from(size).is_ok_and(|size| size <= SMALL) => {
            match axum::body::to_bytes(body, SMALL).await {
                Ok(bytes) => (Body::from(bytes.clone()), Captured::Whole(bytes)),
                Err(_) => (Body::empty(), Captured::Empty),
            }
        }
        size => (body, Captured::Large(size.unwrap_or_default())),
    }
}
