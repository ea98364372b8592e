use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;

use axum::response::IntoResponse;
use tokio::sync::Semaphore;

use super::*;
use crate::answer::Answer;
use primitives::clock::Clock;

const PAGE: &str = "/v1/storefront/shop/products";

/// A storefront whose pages are numbered as they are read.
struct Front {
    cache: ResponseCache,
    clock: Clock,
    reads: AtomicU32,
}

impl Front {
    fn new() -> Self {
        let clock = Clock::default();
        clock.stop();
        Self { cache: ResponseCache::default(), clock, reads: AtomicU32::new(0) }
    }

    fn name(&self, query: &str) -> Name {
        let state = self.cache.state("sto_1");
        Name { store: "sto_1".into(), state, path: PAGE.into(), query: query.into() }
    }

    fn read(&self) -> Response {
        let number = self.reads.fetch_add(1, Ordering::Relaxed);
        Answer::ok(&number).cached(Duration::from_secs(30)).into_response()
    }

    async fn request(&self, query: &str) -> (String, Option<String>) {
        self.ask_for(&self.name(query), async { self.read() }).await
    }

    /// The body, and the age that it says it has.
    async fn ask_for(
        &self,
        name: &Name,
        load: impl Future<Output = Response>,
    ) -> (String, Option<String>) {
        let response = self.cache.serve(name, &|| self.clock.now(), load).await;
        let age = response.headers().get(header::AGE);
        let age = age.map(|age| age.to_str().unwrap().to_owned());
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (String::from_utf8(body.to_vec()).unwrap(), age)
    }

    fn reads(&self) -> u32 {
        self.reads.load(Ordering::Relaxed)
    }
}

fn expected(body: &str, age: Option<&str>) -> (String, Option<String>) {
    (body.to_owned(), age.map(str::to_owned))
}

#[tokio::test]
async fn a_response_is_cached_for_two_seconds_with_its_age() {
    let front = Front::new();
    assert_eq!(front.request("").await, expected("0", None));
    assert_eq!(front.request("").await, expected("0", Some("0")));
    front.clock.advance(Duration::from_millis(1_999));
    assert_eq!(front.request("").await, expected("0", Some("1")));
    front.clock.advance(Duration::from_millis(1));
    assert_eq!(front.request("").await, expected("1", None));
    assert_eq!(front.request("limit=1").await, expected("2", None), "another query");
    assert_eq!(front.request("").await, expected("1", Some("0")));
}

#[tokio::test]
async fn a_write_invalidates_the_cache_of_its_store_only() {
    let front = Front::new();
    front.request("").await;
    front.cache.invalidate(&mut ["STO#sto_2#PRD#prd_1", "MER#mer_1"].into_iter());
    assert_eq!(front.request("").await, expected("0", Some("0")));
    front.cache.invalidate(&mut ["UQ#EMAIL#a@example.com", "STO#sto_1#PRD#prd_1"].into_iter());
    assert_eq!(front.request("").await, expected("1", None));
}

#[tokio::test]
async fn a_read_begun_before_a_write_is_not_served_after_it() {
    let front = Front::new();
    let (name, go) = (front.name(""), Semaphore::new(0));
    let slow = front.ask_for(&name, async {
        let _ = go.acquire().await;
        front.read()
    });
    let meanwhile = async {
        front.cache.invalidate(&mut ["STO#sto_1"].into_iter());
        let after = front.request("").await;
        go.add_permits(1);
        after
    };
    let (before, after) = tokio::join!(slow, meanwhile);
    assert_eq!((after, before), (expected("0", None), expected("1", None)));
    assert_eq!(front.request("").await, expected("0", Some("0")), "the one that was read after it");
}

#[tokio::test]
async fn concurrent_requests_share_one_read() {
    let front = Front::new();
    let (name, go) = (front.name(""), Semaphore::new(0));
    let one = || {
        front.ask_for(&name, async {
            let _ = go.acquire().await;
            front.read()
        })
    };
    let all = futures_util::future::join_all((0..20).map(|_| one()));
    let (all, ()) = tokio::join!(all, async { go.add_permits(20) });
    assert_eq!(front.reads(), 1);
    assert!(all.iter().all(|(body, _)| body == "0"));
    assert_eq!(all.iter().filter(|(_, age)| age.is_none()).count(), 1);
}

/// Whether a future waits for something when it is looked at.
async fn is_pending<F: Future + Unpin>(future: &mut F) -> bool {
    std::future::poll_fn(|task| Poll::Ready(Pin::new(&mut *future).poll(task).is_pending())).await
}

#[tokio::test]
async fn an_abandoned_read_is_taken_over_by_another_request() {
    let front = Front::new();
    let name = front.name("");
    let never = front.ask_for(&name, std::future::pending());
    let mut never = Box::pin(never);
    assert!(is_pending(&mut never).await);
    let mut waits = Box::pin(front.request(""));
    assert!(is_pending(&mut waits).await);
    drop(never);
    assert_eq!(waits.await, expected("0", None));
}

#[tokio::test]
async fn only_public_responses_are_cached_and_others_are_read_in_parallel() {
    let front = Front::new();
    let (month, ok) = (Duration::from_secs(30), StatusCode::OK);
    let public = || Answer::ok(&"x").cached(month);
    let not_found = Answer::json(StatusCode::NOT_FOUND, &"x").cached(month);
    let long = Answer::bytes("text/plain", vec![b'x'; LONGEST.saturating_add(1)]).cached(month);
    let cases = [
        (Answer::ok(&"x"), ok),
        (Answer::ok(&"x").no_store(), ok),
        (Answer::ok(&"x").header(header::CACHE_CONTROL, "private, no-cache"), ok),
        (public().header(header::SET_COOKIE, "a=b"), ok),
        (not_found, StatusCode::NOT_FOUND),
        (long, ok),
    ];
    let name = front.name("");
    for (answer, status) in cases {
        for _ in 0..2 {
            let (now, load) = (|| front.clock.now(), answer.clone());
            let reply = front.cache.serve(&name, &now, async { load.into_response() }).await;
            assert_eq!((reply.status(), reply.headers().get(header::AGE)), (status, None));
        }
    }
    assert!(front.cache.0.answers.is_empty());
    // Two who ask at once both read, side by side: each waits for the other to have begun.
    let both = tokio::sync::Barrier::new(2);
    let missing = || async {
        both.wait().await;
        StatusCode::NOT_FOUND.into_response()
    };
    let (go, first) = (Semaphore::new(0), async { StatusCode::NOT_FOUND.into_response() });
    let first = front.ask_for(&name, async {
        let _ = go.acquire().await;
        first.await
    });
    let others = async {
        let others = (front.ask_for(&name, missing()), front.ask_for(&name, missing()));
        tokio::join!(others.0, others.1)
    };
    let (_, _, ()) = tokio::join!(first, others, async { go.add_permits(1) });
}

#[tokio::test]
async fn the_memory_has_a_bound_in_bytes() {
    let front = Front::new();
    let body = vec![b'x'; 256 << 10];
    for number in 0..200 {
        let name = front.name(&number.to_string());
        let answer = Answer::bytes("text/plain", body.clone()).cached(Duration::from_secs(30));
        front.ask_for(&name, async { answer.into_response() }).await;
    }
    let weight = front.cache.0.answers.weight();
    assert!((1..=MAX_BYTES).contains(&weight), "{weight}");
    assert!(front.cache.0.answers.shard_capacity() >= u64::try_from(LONGEST).unwrap());
    for number in 0..MAX_STORES {
        front.cache.state(&format!("sto_{number}"));
    }
    assert!(front.cache.0.states.lock().unwrap().by_store.len() <= MAX_STORES);
}
