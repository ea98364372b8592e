//! A run in which the table makes trouble (`SERVICE_FAULTS=5%:42`): what a test's clients do about it, as
//! any client of an SDK does, and what is counted of it for `.ci/faults.py`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use emulators::faults::{Faults, Plan};
use http::Method;
use serde_json::json;

use crate::{Reply, documented, engine};

/// How often a request that can be sent again is.
const TRIES: u32 = 4;

static PLAN: LazyLock<Option<Plan>> =
    LazyLock::new(|| Plan::from_env().unwrap_or_else(|malformed| panic!("{malformed}")));
/// The troubled systems of this process, by their URLs.
static MET: LazyLock<Mutex<HashMap<String, Faults>>> = LazyLock::new(Mutex::default);
static REQUESTS: AtomicU64 = AtomicU64::new(0);
static AGAIN: AtomicU64 = AtomicU64::new(0);
static IN_VAIN: AtomicU64 = AtomicU64::new(0);

/// What goes wrong in the systems of this test; it follows from the test's name.
pub(crate) fn plan() -> Option<Plan> {
    let plan = PLAN.as_ref()?;
    Some(plan.of(std::thread::current().name().unwrap_or_default()))
}

/// Whether this is a run in which the table makes trouble.
pub fn is_troubled() -> bool {
    PLAN.is_some()
}

/// How long is waited for what takes so long at most: in a troubled run until a message that failed has come
/// back twice, for a queue hides it for three minutes at most. Over another engine a call takes some forty times as long.
pub(crate) fn patience(deadline: Duration) -> Duration {
    if PLAN.is_some() {
        return deadline.max(Duration::from_secs(400));
    }
    deadline * if engine::is_used() { 4 } else { 1 }
}

/// Remembers what goes wrong in the system at this URL.
pub(crate) fn meet(url: &str, faults: Option<&Faults>) {
    if let Some(faults) = faults {
        let mut met = MET.lock().unwrap_or_else(PoisonError::into_inner);
        met.insert(url.to_owned(), faults.clone());
    }
}

/// Waits until no index is behind: what is listed, swept or found by its name, or keeps something from being
/// deleted, may be a moment late (docs/conventions.md §3), and tests look at it at once.
pub(crate) async fn settle(url: &str) {
    let faults = {
        let met = MET.lock().unwrap_or_else(PoisonError::into_inner);
        met.get(url).cloned()
    };
    if let Some(faults) = faults {
        faults.settle().await;
    }
}

/// Sends a request as it is; in a troubled run, again when it is told to come back and nothing can be
/// doubled by that.
pub(crate) async fn send(
    request: reqwest::RequestBuilder,
    url: &str,
    method: &Method,
    has_key: bool,
    asked: String,
) -> Result<Reply, reqwest::Error> {
    if PLAN.is_none() {
        return Ok(Reply::of(asked, request.send().await?).await);
    }
    if matches!(*method, Method::GET | Method::DELETE) || asked.contains("/v1/storefront/") {
        settle(url).await;
    }
    let is_repeatable = has_key || matches!(*method, Method::GET | Method::PUT | Method::PATCH);
    REQUESTS.fetch_add(1, Ordering::Relaxed);
    let mut tried = 1;
    loop {
        let copy = request.try_clone().expect("a body in memory");
        let reply = Reply::of(asked.clone(), copy.send().await?).await;
        let wait = reply.header("retry-after").and_then(|wait| wait.parse().ok());
        // Of what is sent again the first attempt may still hold the key.
        let is_passing = reply.json["code"] == "service_unavailable"
            || reply.json["error"] == "temporarily_unavailable" && reply.status == 503
            || tried > 1 && reply.json["code"] == "request_in_progress";
        let (true, Some(wait)) = (is_passing, wait) else { return Ok(reply) };
        if tried == TRIES || !is_repeatable {
            IN_VAIN.fetch_add(1, Ordering::Relaxed);
            return Ok(reply);
        }
        AGAIN.fetch_add(1, Ordering::Relaxed);
        tried += 1;
        tokio::time::sleep(Duration::from_secs(wait)).await;
    }
}

/// Writes down what a system has met, and what this process has sent since it last did.
pub(crate) fn write_down(faults: Option<&Faults>) {
    let Some(faults) = faults else { return };
    let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
    let line = json!({
        "calls": faults.calls(),
        "happened": faults.happened(),
        "requests": take(&REQUESTS),
        "again": take(&AGAIN),
        "in_vain": take(&IN_VAIN),
    });
    documented::write_line("faults", &line.to_string());
}
