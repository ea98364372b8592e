//! Whether the session of a visitor is over: known once a call of the API has said so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderValue, header};

use crate::fault::SIGNED_OUT;

/// The state of the session that a request's cookie names.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionState(Arc<AtomicBool>);

impl SessionState {
    /// Notes that it is over.
    pub(super) fn end(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is over.
    pub(super) fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Removes the cookie of a session that was found to be over, whatever the response is, unless it begins another.
pub(crate) async fn end_session(mut request: Request, next: Next) -> Response {
    let session = SessionState::default();
    request.extensions_mut().insert(session.clone());
    let mut response = next.run(request).await;
    let mut set = response.headers().get_all(header::SET_COOKIE).iter();
    let is_set = set.any(|cookie| cookie.as_bytes().starts_with(b"shop_session="));
    if session.is_over() && !is_set {
        response.headers_mut().append(header::SET_COOKIE, HeaderValue::from_static(SIGNED_OUT));
    }
    response
}
