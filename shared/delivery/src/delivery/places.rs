//! Places: how many attempts of one host, and of one subscriber, are under way at once. A queue counts as a
//! host.
//!
//! An attempt whose receiver is not known to be prompt takes a place of the host that it goes to
//! and one of the store, or app, whose subscription it is. There are so many of each, for each
//! queue; who finds none is put off, and holds none meanwhile. So a host that hangs, however many
//! stores send to it, and a store whose receivers hang, on however many hosts, leave most of a
//! queue's workers to the others.
//!
//! - *A crash while places are held*: they are free after the lease of the attempt, a minute.
//! - *A message twice*: each takes places before it claims, and whoever loses the claim gives them
//!   back.
//! - *Places taken and the table gone*: as after a crash.

use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use services::Services;
use table::Permit;
use table::item::Key;

use super::{Delivery, LEASE, Speed};
use crate::subscription::Subscription;

/// Attempts that go to one host at once (our choice): many stores may share it, as those of an
/// app's do.
pub const MOST_TO_HOST: u32 = 40;
/// Attempts for one store's subscriptions, or an app's own, at once (our choice): two stores leave
/// room on a host that they share.
pub const MOST_FOR_SCOPE: u32 = 20;

/// The places that an attempt holds; none when its receiver is prompt.
#[derive(Debug, Default)]
#[must_use = "places that are not left stay taken until the lease ends"]
pub struct Permits(Vec<Permit>);

impl Permits {
    /// The places of an attempt at this delivery; none when all of one kind are taken.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub async fn take(
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
        for (key, most) in limits(delivery, subscription, speed) {
            match services.table.take_place(&key, most, now.plus(LEASE), now).await {
                Ok(Some(place)) => held.0.push(place),
                Ok(None) => {
                    held.leave(services).await;
                    return Ok(None);
                }
                Err(problem) => {
                    held.leave(services).await;
                    return Err(problem);
                }
            }
        }
        Ok(Some(held))
    }

    /// Whether the attempt is counted.
    pub fn are_held(&self) -> bool {
        !self.0.is_empty()
    }

    /// Gives the places back. One that cannot be is free when the lease ends.
    pub async fn leave(self, services: &Services) {
        for place in self.0 {
            if let Err(problem) = services.table.leave_place(place).await {
                tracing::warn!(cause = %problem, "a place stays taken until its lease ends");
            }
        }
    }
}

/// What an attempt takes places of, the one with fewer first.
fn limits(delivery: &Delivery, subscription: &Subscription, speed: Speed) -> [(Key, u32); 2] {
    let scope = key::event_scope(delivery.store_id.as_ref(), delivery.app_id.as_ref());
    let host = subscription.receiver();
    [
        (key::places_of_scope(&scope, speed.as_str()), MOST_FOR_SCOPE),
        (key::places_of_host(&host, speed.as_str()), MOST_TO_HOST),
    ]
}
