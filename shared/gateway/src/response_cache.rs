//! Public answers that are kept for a moment: what everybody looks at is read once in [`LIFE`], and
//! not once for each who looks.
//!
//! A row says whether its answers may be kept ([`crate::row::Row::is_kept`]); an answer that is
//! kept says itself that anybody may keep it. It is kept by store, path and query, and served to
//! whoever asks the same without a credential. What is the caller's own is never part of it: ids and
//! cost are written where every answer gets them, and the caller pays as if it had been read.
//!
//! Whoever asks while it is being read waits for that, and reads nothing. A write of this process to
//! a store ends what is kept of it, also what is still being read: a process sees its own writes.
//! Others' it sees when [`LIFE`] is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::{BodyExt, Collected};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, Weighter};

use crate::bridged;
use crate::budget;
use crate::budget::{ActualCost, Charge};
use crate::request::Inbound;
use primitives::clock::{Clock, Timestamp};
use primitives::context::Context;
use table::Invalidate;

/// How old an answer may be when it is asked for (our choice): a change is seen by everybody so soon.
pub const LIFE: Duration = Duration::from_secs(2);
/// Bytes that are kept at most, with names and headers (our choice).
const MOST_BYTES: u64 = 16 << 20;
/// The longest body that is kept (our choice): half of what the smallest part of the memory holds.
const LONGEST: usize = 1 << 20;
/// Answers that are expected: as many as there is room for at 64 KiB each. The memory has at most one
/// part for 32 of them.
const EXPECTED: usize = 256;
/// What an answer takes beside its text.
const OVERHEAD: usize = 512;
/// Stores whose state is remembered; of one more all are forgotten, with what is kept of them.
const MOST_STORES: usize = 10_000;
/// Headers that say who asks, for which order, or to see which draft.
const CREDENTIALS: [&str; 4] =
    ["authorization", "cookie", "x-service-order-token", "x-service-preview-token"];

/// The answers that a process keeps. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ResponseCache(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    answers: Cache<Name, Outcome, Bytewise>,
    states: Mutex<States>,
}

/// What is kept of a request: nothing where its answer is nobody else's.
type Outcome = Option<Arc<Moment>>;

/// The states of stores: a new one with each write.
#[derive(Debug, Default)]
struct States {
    last: u64,
    by_store: HashMap<String, u64>,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    store: String,
    /// Which state of the store the answer shows.
    state: u64,
    path: String,
    /// In the order of names and values.
    query: String,
}

/// An answer as it was at a moment.
#[derive(Debug)]
struct Moment {
    /// When it was begun to be read.
    at: Timestamp,
    headers: HeaderMap,
    body: Bytes,
    /// What reading it cost, where that was less than was charged ahead.
    cost: Option<ActualCost>,
}

#[derive(Debug, Clone)]
struct Bytewise;

impl Weighter<Name, Outcome> for Bytewise {
    fn weight(&self, name: &Name, outcome: &Outcome) -> u64 {
        let name = [&name.store, &name.path, &name.query].map(String::len);
        let answer = outcome.iter().map(|moment| moment.len());
        let all = name.into_iter().chain(answer).fold(OVERHEAD, usize::saturating_add);
        u64::try_from(all).unwrap_or(u64::MAX)
    }
}

impl Default for ResponseCache {
    fn default() -> Self {
        let (hasher, life) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
        let answers = Cache::with(EXPECTED, MOST_BYTES, Bytewise, hasher, life);
        Self(Arc::new(Inner { answers, states: Mutex::default() }))
    }
}

impl Invalidate for ResponseCache {
    /// Drops the stored answers of each store that a partition names.
    fn invalidate(&self, partitions: &mut dyn Iterator<Item = &str>) {
        let mut states = self.0.states.lock().unwrap_or_else(PoisonError::into_inner);
        for named in partitions.flat_map(|partition| partition.split('#')) {
            states.by_store.remove(named);
        }
    }
}

impl ResponseCache {
    /// Answers a request of a row whose answers may be stored: with the stored answer, or with the one that
    /// `load` reads.
    pub(crate) async fn answer(
        &self,
        inbound: &Inbound,
        clock: &Clock,
        load: impl Future<Output = Response>,
    ) -> Response {
        let Some(name) = self.name(inbound) else { return load.await };
        self.serve(&name, &|| clock.now(), load).await
    }

    /// What is asked for, by somebody unknown, of a store.
    fn name(&self, inbound: &Inbound) -> Option<Name> {
        let is_known = CREDENTIALS.iter().any(|name| inbound.headers.contains_key(*name));
        // A bridged page ends earlier.
        if is_known || inbound.headers.contains_key(bridged::MARK) {
            return None;
        }
        let store = Context::current()?.store()?;
        let mut pairs: Vec<_> = form_urlencoded::parse(inbound.query.as_bytes()).collect();
        pairs.sort();
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        let state = self.state(&store);
        Some(Name { store, state, path: inbound.path.clone(), query })
    }

    /// The state that a store is in.
    fn state(&self, store: &str) -> u64 {
        let mut states = self.0.states.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = states.by_store.get(store) {
            return *state;
        }
        if states.by_store.len() >= MOST_STORES {
            states.by_store.clear();
        }
        states.last = states.last.saturating_add(1);
        let state = states.last;
        states.by_store.insert(store.to_owned(), state);
        state
    }

    async fn serve(
        &self,
        name: &Name,
        clock: &(impl Fn() -> Timestamp + Sync),
        load: impl Future<Output = Response>,
    ) -> Response {
        let asked = clock();
        let is_old = |outcome: &Outcome| {
            outcome.as_ref().is_some_and(|moment| asked >= moment.at.plus(LIFE))
        };
        self.0.answers.remove_if(name, is_old);
        let guard = match self.0.answers.get_value_or_guard_async(name).await {
            Ok(Some(moment)) if asked < moment.at.plus(LIFE) => return moment.served(clock()),
            // Who asked first got an answer for themselves, or was too long about it.
            Ok(_) => return load.await,
            Err(guard) => guard,
        };
        let at = clock();
        let response = load.await;
        let (response, outcome) = Moment::of(response, at).await;
        let is_kept = outcome.is_some();
        // Whoever waits for it is told either way.
        let _ = guard.insert(outcome);
        if !is_kept {
            self.0.answers.remove_if(name, Option::is_none);
        }
        response
    }
}

impl Moment {
    /// The response, and what may be kept of it: only what is whole, small enough and said to be
    /// anybody's.
    async fn of(response: Response, at: Timestamp) -> (Response, Outcome) {
        if response.status() != StatusCode::OK || !is_anybodys(response.headers()) {
            return (response, None);
        }
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
        let outcome = (body.len() <= LONGEST).then(|| {
            let cost = Context::current().and_then(|context| context.kept());
            Arc::new(Self { at, headers: parts.headers.clone(), body: body.clone(), cost })
        });
        (Response::from_parts(parts, Body::from(body)), outcome)
    }

    /// As it is served again: to a caller who is charged what it cost.
    fn served(&self, now: Timestamp) -> Response {
        if let Some(ActualCost(cost)) = self.cost {
            let charge: Option<Charge> = Context::current().and_then(|context| context.kept());
            budget::settle(charge.map_or(cost, |charge| cost.min(charge.requested())));
        }
        let mut response = Response::new(Body::from(self.body.clone()));
        *response.headers_mut() = self.headers.clone();
        let age = HeaderValue::from(self.at.until(now).as_secs());
        response.headers_mut().insert(header::AGE, age);
        response
    }

    fn len(&self) -> usize {
        let headers = self
            .headers
            .iter()
            .map(|(name, value)| name.as_str().len().saturating_add(value.len()));
        headers.fold(self.body.len(), usize::saturating_add)
    }
}

/// Whether an answer says that anybody may keep it.
fn is_anybodys(headers: &HeaderMap) -> bool {
    let control = headers.get(header::CACHE_CONTROL);
    let is_public = control.is_some_and(|value| value.as_bytes().starts_with(b"public, max-age="));
    is_public && !headers.contains_key(header::SET_COOKIE)
}

#[cfg(test)]
mod tests;
