//! The context of the current request: ids for logs, events and answers, the principal, and values stored by
//! type until the answer. A task-local carries it, so that the table layer can count round trips and a
//! problem can name its request without parameters.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{Extensions, HeaderMap};

use crate::clock::Timestamp;

tokio::task_local! {
    static CURRENT: Arc<Context>;
}

/// One request, from its arrival to its answer.
#[derive(Debug)]
pub struct Context {
    request_id: String,
    trace_id: String,
    parent_id: String,
    path: String,
    started: Timestamp,
    state: Mutex<State>,
}

/// The part that changes while the request is handled.
#[derive(Debug, Default)]
struct State {
    principal: String,
    store: Option<String>,
    extensions: Extensions,
}

impl Context {
    /// The context of a request: ids from its headers where they are well formed, minted ones
    /// otherwise (`X-Request-Id`, W3C `traceparent`; docs/conventions.md §1).
    pub fn new(headers: &HeaderMap, path: &str, now: Timestamp) -> Arc<Self> {
        let request_id = header(headers, "x-request-id")
            .filter(|id| (1..=128).contains(&id.len()) && id.bytes().all(is_id_byte))
            .map_or_else(|| crate::id::mint("req_", now), str::to_owned);
        let trace_id = header(headers, "traceparent")
            .and_then(trace_id_of)
            .unwrap_or_else(|| crate::id::mint("", now));
        Arc::new(Self {
            request_id,
            trace_id,
            parent_id: crate::id::mint("", now).chars().rev().take(16).collect(),
            path: path.to_owned(),
            started: now,
            state: Mutex::default(),
        })
    }

    /// The same request without stored values, for one part of a batch.
    #[must_use]
    pub fn part(&self) -> Arc<Self> {
        let State { principal, store, .. } = &*self.state();
        let (principal, store) = (principal.clone(), store.clone());
        Arc::new(Self {
            request_id: self.request_id.clone(),
            trace_id: self.trace_id.clone(),
            parent_id: self.parent_id.clone(),
            path: self.path.clone(),
            started: self.started,
            state: Mutex::new(State { principal, store, extensions: Extensions::default() }),
        })
    }

    /// The context of the request that this task handles, if it handles one.
    pub fn current() -> Option<Arc<Self>> {
        CURRENT.try_with(Arc::clone).ok()
    }

    /// Runs `future` with this as the current context.
    pub async fn scope<F: Future>(self: Arc<Self>, future: F) -> F::Output {
        CURRENT.scope(self, future).await
    }

    /// `X-Request-Id`.
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// The W3C trace id, 32 hex digits.
    pub fn trace_id(&self) -> &str {
        &self.trace_id
    }

    /// The `traceparent` to pass on.
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-01", self.trace_id, self.parent_id)
    }

    /// The request path without the query, which may carry a token.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// When the request arrived.
    pub fn started(&self) -> Timestamp {
        self.started
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a value until the request is answered, and replaces one of the same type.
    pub fn insert<T: Clone + Send + Sync + 'static>(&self, value: T) {
        self.state().extensions.insert(value);
    }

    /// The stored value of this type.
    pub fn get<T: Clone + Send + Sync + 'static>(&self) -> Option<T> {
        self.state().extensions.get().cloned()
    }

    /// Takes the stored value of this type.
    pub fn take<T: Clone + Send + Sync + 'static>(&self) -> Option<T> {
        self.state().extensions.remove()
    }

    /// Changes the current request's value of this type, starting from the default.
    pub fn update<T: Clone + Default + Send + Sync + 'static>(change: impl FnOnce(&mut T)) {
        if let Some(context) = Self::current() {
            change(context.state().extensions.get_or_insert_default());
        }
    }

    /// Records the principal and its store.
    pub fn identify(&self, principal: String, store: Option<String>) {
        let mut state = self.state();
        state.principal = principal;
        state.store = store;
    }

    /// The principal: the scope of idempotency keys and cursors.
    pub fn principal(&self) -> String {
        self.state().principal.clone()
    }

    /// The store that the request concerns.
    pub fn store(&self) -> Option<String> {
        self.state().store.clone()
    }
}

/// A header's text; `None` when it is absent or not text.
pub fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':')
}

/// The trace id of a `traceparent` (W3C Trace Context §3.2); all zeroes is invalid.
fn trace_id_of(traceparent: &str) -> Option<String> {
    let mut parts = traceparent.split('-');
    let (version, trace, parent) = (parts.next()?, parts.next()?, parts.next()?);
    let hex = |text: &str| text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let valid = version.len() == 2
        && version != "ff"
        && trace.len() == 32
        && parent.len() == 16
        && hex(trace)
        && hex(parent)
        && trace.bytes().any(|b| b != b'0');
    valid.then(|| trace.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_passed_on_and_a_broken_one_replaced() {
        let mut headers = HeaderMap::new();
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        headers.insert("traceparent", http::HeaderValue::from_static(parent));
        let context = Context::new(&headers, "/", Timestamp::from_millis(0));
        assert_eq!(context.trace_id(), "0af7651916cd43dd8448eb211c80319c");
        for invalid in ["", "00-0-0-0", "00-00000000000000000000000000000000-b7ad6b7169203331-01"] {
            assert_eq!(trace_id_of(invalid), None);
        }
    }
}
