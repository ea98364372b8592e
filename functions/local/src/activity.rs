//! The latest requests of the API, in memory: what the log says of each, with headers and small bodies. They
//! are stored as they came, and redacted before anything of them is shown ([`redact`]).

pub(crate) mod body;
pub(crate) mod redact;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use gateway::budget::Unmetered;
use gateway::routes::RequestSummary;
use http::{HeaderMap, Method, StatusCode, Uri};
use primitives::clock::{Clock, Timestamp};

use body::{Captured, Tee};

/// Requests that are stored; a further one replaces the oldest.
pub(crate) const CAPACITY: usize = 500;

/// The paths that sign a merchant in.
const SIGN_IN: [&str; 2] = ["/v1/auth/signin", "/v1/auth/signin/otp/verify"];

/// Marks a request that a page of a shop sends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FromShop;

/// A request with its answer.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Counts the requests since the start.
    pub(crate) number: u64,
    pub(crate) at: Timestamp,
    pub(crate) summary: RequestSummary,
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    /// Whether a page of a shop has sent it.
    pub(crate) is_of_shop: bool,
    pub(crate) status: StatusCode,
    pub(crate) request: Message,
    pub(crate) response: Message,
}

/// A request or a response: its headers, and its body if that is small.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Captured,
}

/// The latest requests.
#[derive(Debug)]
pub(crate) struct Activity {
    clock: Clock,
    ring: Mutex<Ring>,
    /// Whether anybody has signed in since the start.
    has_sign_in: AtomicBool,
}

#[derive(Debug, Default)]
struct Ring {
    last: u64,
    entries: VecDeque<Arc<Entry>>,
}

impl Activity {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, ring: Mutex::default(), has_sign_in: AtomicBool::new(false) }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stored requests, the newest first.
    pub(crate) fn entries(&self) -> Vec<Arc<Entry>> {
        self.ring().entries.iter().rev().cloned().collect()
    }

    /// The newest request with this id.
    pub(crate) fn find(&self, request_id: &str) -> Option<Arc<Entry>> {
        let ring = self.ring();
        let is_it = |entry: &&Arc<Entry>| entry.summary.request_id == request_id;
        ring.entries.iter().rev().find(is_it).cloned()
    }

    /// Notes that somebody has signed in.
    pub(crate) fn note_sign_in(&self) {
        self.has_sign_in.store(true, Ordering::Relaxed);
    }

    /// Whether anybody has signed in since the start.
    pub(crate) fn has_sign_in(&self) -> bool {
        self.has_sign_in.load(Ordering::Relaxed)
    }

    fn push(&self, entry: impl FnOnce(u64) -> Entry) {
        let mut ring = self.ring();
        ring.last = ring.last.saturating_add(1);
        let entry = entry(ring.last);
        if entry.status.is_success() && SIGN_IN.contains(&entry.uri.path()) {
            self.note_sign_in();
        }
        if ring.entries.len() >= CAPACITY {
            ring.entries.pop_front();
        }
        ring.entries.push_back(Arc::new(entry));
    }
}

/// Records a request, unless the local system sends it to itself.
pub(crate) async fn record(
    State(activity): State<Arc<Activity>>,
    request: Request,
    next: Next,
) -> Response {
    if request.extensions().get::<Unmetered>().is_some() {
        return next.run(request).await;
    }
    let is_of_shop = request.extensions().get::<FromShop>().is_some();
    let at = activity.clock.now();
    let (parts, body) = request.into_parts();
    let (method, uri, headers) = (parts.method.clone(), parts.uri.clone(), parts.headers.clone());
    let (body, seen) = Tee::of(body);
    let mut response = next.run(Request::from_parts(parts, body)).await;
    // What no function has answered was not handled.
    let Some(summary) = response.extensions_mut().remove::<RequestSummary>() else {
        return response;
    };
    let (parts, body) = response.into_parts();
    let (body, answer) = body::captured(body).await;
    activity.push(|number| Entry {
        number,
        at,
        summary,
        method,
        uri,
        is_of_shop,
        status: parts.status,
        request: Message { headers, body: seen.captured() },
        response: Message { headers: parts.headers.clone(), body: answer },
    });
    Response::from_parts(parts, body)
}
