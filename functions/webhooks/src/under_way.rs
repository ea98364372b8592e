//! The attempts that this process has under way.
//!
//! A queue may deliver a message twice. What reaches another process at the same moment is sent twice, and recorded
//! once; what reaches the same process is recognized here, without asking the table.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use core_types::id::DeliveryId;
use delivery::delivery::DeliveryMessage;

type Attempt = (DeliveryId, u32);

static ATTEMPTS: Mutex<BTreeSet<Attempt>> = Mutex::new(BTreeSet::new());

/// Those of them that wait for their receivers.
static SENT: AtomicUsize = AtomicUsize::new(0);

/// The number of attempts under way that wait for this process, and not for a receiver.
pub fn busy() -> usize {
    let all = attempts().len();
    all.saturating_sub(SENT.load(Ordering::Relaxed))
}

fn attempts() -> MutexGuard<'static, BTreeSet<Attempt>> {
    ATTEMPTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An attempt that is under way until this is dropped.
#[derive(Debug)]
pub(crate) struct UnderWay(Attempt);

impl UnderWay {
    /// Enters the attempt of a message; none when it is under way already.
    pub(crate) fn enter(message: &DeliveryMessage) -> Option<Self> {
        let attempt = (message.delivery_id.clone(), message.attempt);
        let is_new = attempts().insert(attempt.clone());
        // Made only then: what is dropped ends an attempt.
        is_new.then(|| Self(attempt))
    }

    /// Waits for the receiver.
    pub(crate) async fn sent<T>(&self, sending: impl Future<Output = T>) -> T {
        let waiting = Waiting::begin();
        let answer = sending.await;
        drop(waiting);
        answer
    }
}

/// An attempt waits for its receiver until this is dropped.
struct Waiting;

impl Waiting {
    fn begin() -> Self {
        SENT.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        SENT.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        attempts().remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use core_types::id::{EventId, SubscriptionId};

    use super::*;

    #[test]
    fn an_attempt_is_under_way_once() {
        let message = |attempt| DeliveryMessage {
            delivery_id: DeliveryId::derive(&["under", "way"]),
            attempt,
            event_id: EventId::derive(&["event"]),
            subscription_id: SubscriptionId::derive(&["subscription"]),
            store_id: None,
            app_id: None,
        };
        let first = UnderWay::enter(&message(1));
        assert!(first.is_some() && UnderWay::enter(&message(1)).is_none());
        assert!(UnderWay::enter(&message(2)).is_some(), "another attempt");
        drop(first);
        assert!(UnderWay::enter(&message(1)).is_some());
    }
}
