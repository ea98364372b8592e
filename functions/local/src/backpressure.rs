//! Backpressure: requests that write wait while the relay of events is behind.
//!
//! In a deployment the relay has machines of its own, and there are more of them when there is more to do. Here requests
//! and relay share the cores, and the one writer of the table. One order causes as many deliveries as it has
//! subscribers, each with two writes: unhindered, requests write faster than the relay can follow, and the deliveries of
//! what was accepted are minutes late. So a request that writes is admitted when little is waiting: what is accepted
//! arrives within a second. What waits for a receiver is no reason to wait, because that takes no time of this machine.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use primitives::problem::Problem;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// Concurrent batches of the stream, as in the event source mapping; records of one partition stay in order.
pub(crate) const STREAM_WORKERS: usize = 4;
/// The maximum number of attempts that wait for this process (our choice): what it makes in a tenth of a second.
const MAX_WAITING_ATTEMPTS: usize = 48;
/// The longest time that an event waits to be handed on (our choice).
const MAX_EVENT_DELAY: Duration = Duration::from_millis(100);
/// How long a request waits before it is rejected (our choice): less than clients and proxies wait.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// The time between two checks of the relay.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// The time between two requests that have waited: the work that the first one causes is not there at once.
const SPACING: Duration = Duration::from_millis(4);

/// What the relay of events has to do.
#[derive(Debug, Default)]
pub(crate) struct Relay {
    /// Since when each worker's first event has been read.
    events: [Since; STREAM_WORKERS],
    /// Messages in the queue of deliveries, when they were last counted.
    messages: AtomicUsize,
}

/// Since when something has been waiting; none if nothing is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Since(Arc<Mutex<Option<Instant>>>);

impl Since {
    pub(crate) fn set(&self, since: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    fn elapsed(&self) -> Option<Duration> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).map(|since| since.elapsed())
    }
}

impl Relay {
    /// The time of this worker.
    pub(crate) fn events_since(&self, worker: usize) -> Since {
        self.events.get(worker).cloned().unwrap_or_default()
    }

    /// Notes how many messages wait to be received.
    pub(crate) fn messages_wait(&self, count: usize) {
        self.messages.store(count, Ordering::Relaxed);
    }

    /// Whether it is behind what was accepted.
    fn is_behind(&self) -> bool {
        let is_late =
            |since: &Since| since.elapsed().is_some_and(|waited| waited > MAX_EVENT_DELAY);
        self.events.iter().any(is_late)
            || is_crowded(webhooks::busy(), self.messages.load(Ordering::Relaxed))
    }
}

/// Whether too many attempts wait: those that were begun, and those whose messages were not received. If every
/// attempt that was begun waits for its receiver, so do those behind them.
fn is_crowded(begun: usize, messages: usize) -> bool {
    begun > 0 && begun.saturating_add(messages) > MAX_WAITING_ATTEMPTS
}

/// Admits requests that write, one after the other while the relay is behind.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    relay: Arc<Relay>,
    /// How long a request waits before it is rejected.
    max_wait: Duration,
    /// Held by the request that is admitted next; when the last one was that waited.
    turn: Arc<tokio::sync::Mutex<Option<Instant>>>,
}

impl Gate {
    pub(crate) fn new(relay: Arc<Relay>) -> Self {
        Self { relay, max_wait: MAX_WAIT, turn: Arc::default() }
    }

    /// Waits until the relay is not behind.
    ///
    /// # Errors
    /// 503 when that takes too long.
    async fn admit(&self) -> Result<(), Problem> {
        let nobody_waits = self.turn.try_lock().is_ok();
        if nobody_waits && !self.relay.is_behind() {
            return Ok(());
        }
        let in_time = timeout(self.max_wait, self.wait()).await;
        in_time.map_err(|_| Problem::unavailable("the relay of events is behind"))
    }

    async fn wait(&self) {
        let mut last = self.turn.lock().await;
        if let Some(last) = *last {
            sleep_until(last.checked_add(SPACING).unwrap_or(last)).await;
        }
        while self.relay.is_behind() {
            sleep(POLL_INTERVAL).await;
        }
        *last = Some(Instant::now());
    }
}

/// Admits a request, if it may write.
pub(crate) async fn admit(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    if !request.method().is_safe()
        && let Err(problem) = gate.admit().await
    {
        return problem.into_response();
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_that_wait_for_their_receivers_are_no_crowd() {
        assert!(!is_crowded(0, 0) && !is_crowded(MAX_WAITING_ATTEMPTS, 0));
        assert!(is_crowded(MAX_WAITING_ATTEMPTS, 1) && is_crowded(1, MAX_WAITING_ATTEMPTS));
        assert!(!is_crowded(0, 10_000), "all workers wait for receivers");
    }

    #[tokio::test]
    async fn requests_wait_while_an_event_does_and_then_pass_one_by_one() {
        let relay = Arc::new(Relay::default());
        let max_wait = MAX_EVENT_DELAY.saturating_mul(8);
        let gate = Gate { max_wait, ..Gate::new(Arc::clone(&relay)) };
        let event = relay.events_since(1);
        event.set(Some(Instant::now()));
        // It has not waited for long.
        gate.admit().await.unwrap();
        sleep(MAX_EVENT_DELAY.saturating_add(POLL_INTERVAL)).await;
        let begun = Instant::now();
        let admitted = async {
            let both = tokio::join!(gate.admit(), gate.admit());
            (both, begun.elapsed())
        };
        let ended = async {
            sleep(MAX_EVENT_DELAY).await;
            event.set(None);
        };
        let ((both, took), ()) = tokio::join!(admitted, ended);
        assert!(both.0.is_ok() && both.1.is_ok());
        assert!(took >= MAX_EVENT_DELAY.saturating_add(SPACING) && took < max_wait, "{took:?}");
        event.set(Some(Instant::now()));
        sleep(MAX_EVENT_DELAY.saturating_add(POLL_INTERVAL)).await;
        let rejected = gate.admit().await.unwrap_err();
        assert_eq!(rejected.code.status(), 503);
    }
}
