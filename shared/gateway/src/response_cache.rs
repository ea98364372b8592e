//! The response cache: public pages of a storefront are read once in [`LIFE`], whatever the number of
//! requests.
//!
//! A row declares whether its answers may be cached ([`crate::row::Row::is_cached`]), and a cached answer
//! is `public` by its own `Cache-Control`. Answers are cached by store, path and query, and served to
//! requests without a credential. Nothing of the caller is part of them: ids and cost are headers that
//! every answer gets, and the caller is charged as if the answer had been read.
//!
//! A concurrent request for the same answer waits for the first one, and reads nothing. A write of this
//! process to a store invalidates the store's answers, including those being read: a process sees its
//! own writes. It sees those of others when [`LIFE`] is over.

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

/// The longest age of a cached answer (our choice): a change is visible to everybody after that time.
pub const LIFE: Duration = Duration::from_secs(2);
/// The most bytes in the cache, with names and headers (our choice).
const MAX_BYTES: u64 = 16 << 20;
/// The longest cached body (our choice): half of the smallest part of the cache.
const LONGEST: usize = 1 << 20;
/// The expected number of answers: as many as fit at 64 KiB each. The cache has at most one part for 32 of
/// them.
const EXPECTED: usize = 256;
/// The size of an entry in addition to its text.
const OVERHEAD: usize = 512;
/// The most stores with a state. With one more, all states are dropped, and with them their answers.
const MAX_STORES: usize = 10_000;
/// The headers that identify a caller, an order, a cart or a preview.
const CREDENTIALS: [&str; 5] = [
    "authorization",
    "cookie",
    "x-service-order-token",
    "x-service-cart-token",
    "x-service-preview-token",
];

/// The response cache of a process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ResponseCache(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    answers: Cache<Name, CachedOutcome, Bytewise>,
    states: Mutex<States>,
}

/// The cached response of a request; none if it must not be shared.
type CachedOutcome = Option<Arc<CachedResponse>>;

/// The states of stores: a new one with each write.
#[derive(Debug, Default)]
struct States {
    last: u64,
    by_store: HashMap<String, u64>,
}

/// The key of a cached response.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    store: String,
    /// The state of the store that the answer is from.
    state: u64,
    path: String,
    /// In the order of names and values.
    query: String,
}

/// A cached answer.
#[derive(Debug)]
struct CachedResponse {
    /// The time at which its read began.
    at: Timestamp,
    headers: HeaderMap,
    body: Bytes,
    /// The actual cost of reading it, where that was less than the charge.
    cost: Option<ActualCost>,
}

#[derive(Debug, Clone)]
struct Bytewise;

impl Weighter<Name, CachedOutcome> for Bytewise {
    fn weight(&self, name: &Name, outcome: &CachedOutcome) -> u64 {
        let name = [&name.store, &name.path, &name.query].map(String::len);
        let answer = outcome.iter().map(|moment| moment.len());
        let all = name.into_iter().chain(answer).fold(OVERHEAD, usize::saturating_add);
        u64::try_from(all).unwrap_or(u64::MAX)
    }
}

impl Default for ResponseCache {
    fn default() -> Self {
        let (hasher, life) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
        let answers = Cache::with(EXPECTED, MAX_BYTES, Bytewise, hasher, life);
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

    /// The key of a request without credentials to a store; none for any other.
    fn name(&self, inbound: &Inbound) -> Option<Name> {
        let is_known = CREDENTIALS.iter().any(|name| inbound.headers.contains_key(*name));
        // A bridged page has a smaller size limit.
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
        if states.by_store.len() >= MAX_STORES {
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
        let begun = clock();
        let is_old = |outcome: &CachedOutcome| {
            outcome.as_ref().is_some_and(|moment| begun >= moment.at.plus(LIFE))
        };
        self.0.answers.remove_if(name, is_old);
        let guard = match self.0.answers.get_value_or_guard_async(name).await {
            Ok(Some(moment)) if begun < moment.at.plus(LIFE) => return moment.served(clock()),
            // The answer to the first request must not be shared, or took too long.
            Ok(_) => return load.await,
            Err(guard) => guard,
        };
        let at = clock();
        let response = load.await;
        let (response, outcome) = CachedResponse::of(response, at).await;
        let is_cached = outcome.is_some();
        // Waiting requests continue either way.
        let _ = guard.insert(outcome);
        if !is_cached {
            self.0.answers.remove_if(name, Option::is_none);
        }
        response
    }
}

impl CachedResponse {
    /// The response, and what may be kept of it: only what is whole, small enough and said to be
    /// anybody's.
    async fn of(response: Response, at: Timestamp) -> (Response, CachedOutcome) {
        if response.status() != StatusCode::OK || !is_anybodys(response.headers()) {
            return (response, None);
        }
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
        let outcome = (body.len() <= LONGEST).then(|| {
            let cost = Context::current().and_then(|context| context.get());
            Arc::new(Self { at, headers: parts.headers.clone(), body: body.clone(), cost })
        });
        (Response::from_parts(parts, Body::from(body)), outcome)
    }

    /// The response from the cache, charged with its actual cost.
    fn served(&self, now: Timestamp) -> Response {
        if let Some(ActualCost(cost)) = self.cost {
            let charge: Option<Charge> = Context::current().and_then(|context| context.get());
            budget::record_actual_cost(charge.map_or(cost, |charge| cost.min(charge.requested())));
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
