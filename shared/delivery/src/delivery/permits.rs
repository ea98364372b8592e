//! Concurrency permits: how many attempts at one host, and of one store or app, are under way at once. A
//! queue counts as a host.
//!
//! An attempt takes a permit of its host and one of the store, or app, of the subscription, unless its
//! receiver is known to be prompt. Each limit is counted per queue. An attempt that gets no permit is
//! postponed, and holds none meanwhile. So neither a host that hangs, however many stores send to it, nor
//! a store whose receivers hang, on however many hosts, occupies most of a queue's workers.
//!
//! - *A crash while permits are held*: they are free after the lease of the attempt, a minute.
//! - *A repeated message*: each worker takes permits before it claims, and the one that loses the claim
//!   returns them.
//! - *The table fails after permits were taken*: as after a crash.

use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use services::Services;
use table::Permit;
use table::item::Key;

use super::{Delivery, LEASE, Speed};
use crate::subscription::Subscription;

/// The most concurrent attempts at one host (our choice): many stores may share it, such as those of an
/// app.
pub const MAX_ATTEMPTS_TO_HOST: u32 = 40;
/// The most concurrent attempts for one store's subscriptions, or an app's own (our choice): two stores
/// fit on a host that they share.
pub const MAX_ATTEMPTS_OF_TENANT: u32 = 20;

/// The concurrency permits of an attempt; empty when its receiver is prompt.
#[derive(Debug, Default)]
#[must_use = "permits that are not released stay taken until the lease ends"]
pub struct Permits(Vec<Permit>);

impl Permits {
    /// Takes the permits of an attempt at this delivery; none when a limit is reached.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn acquire(
        services: &Services,
        delivery: &Delivery,
        subscription: &Subscription,
        speed: Speed,
        now: Timestamp,
    ) -> Result<Option<Self>, Problem> {
        let mut held = Self::default();
        if subscription.health.is_prompt() {
            return Ok(Some(held));
        }
        for (key, limit) in limits(delivery, subscription, speed) {
            match services.table.take_permit(&key, limit, now.plus(LEASE), now).await {
                Ok(Some(permit)) => held.0.push(permit),
                Ok(None) => {
                    held.release(services).await;
                    return Ok(None);
                }
                Err(problem) => {
                    held.release(services).await;
                    return Err(problem);
                }
            }
        }
        Ok(Some(held))
    }

    /// Whether the attempt holds permits; without them its receiver is prompt.
    pub fn are_held(&self) -> bool {
        !self.0.is_empty()
    }

    /// Returns the permits. One that cannot be returned is free when the lease ends.
    pub async fn release(self, services: &Services) {
        for permit in self.0 {
            if let Err(problem) = services.table.return_permit(permit).await {
                tracing::warn!(
                    cause = %problem,
                    "concurrency permit not released; its lease ends by itself"
                );
            }
        }
    }
}

/// The limits that count an attempt, the smaller one first.
fn limits(delivery: &Delivery, subscription: &Subscription, speed: Speed) -> [(Key, u32); 2] {
    let tenant = key::event_tenant(delivery.store_id.as_ref(), delivery.app_id.as_ref());
    let host = subscription.receiver();
    [
        (key::permits_of_tenant(&tenant, speed.as_str()), MAX_ATTEMPTS_OF_TENANT),
        (key::permits_of_host(&host, speed.as_str()), MAX_ATTEMPTS_TO_HOST),
    ]
}
