//! How many subscriptions a store may have.

use core_types::id::{AppId, StoreId};
use core_types::key;
use primitives::problem::Code;
use table::item::{Item, Key};
use table::{Change, Condition, Write};

use super::{MAX_PER_STORE, Subscription};

/// Counts a subscription of the store, which has at most [`MAX_PER_STORE`]: a counter that moves
/// only with the subscription it counts, in one transaction, so that no race passes the limit.
pub fn claim_quota(write: Write, store: &StoreId) -> Write {
    let change = Change::new("SET #count = if_not_exists(#count, :none) + :one, entity = :kind")
        .only_if("attribute_not_exists(#count) OR #count < :most")
        .name("#count", "count")
        .value(":none", 0)
        .value(":one", 1)
        .value(":kind", "webhook_subscription_count")
        .value(":most", MAX_PER_STORE);
    let limit = Code::SubscriptionLimit.with("maximum", MAX_PER_STORE);
    write.update(&key::subscription_count(store), change, limit)
}

/// Counts a subscription less.
pub fn release_quota(write: Write, store: &StoreId) -> Write {
    let change = Change::new("SET #count = #count - :one")
        .only_if("#count > :none")
        .name("#count", "count")
        .value(":none", 0)
        .value(":one", 1);
    write.update(&key::subscription_count(store), change, Code::VersionConflict)
}

/// Removes the subscriptions that an app made on a store, and counts them no more: part of
/// the app's uninstallation. Deliveries under way find no subscription, and are cancelled. When one
/// of them is gone by then, the whole write is rejected with `version_conflict`: read them anew.
pub fn remove_of_app(
    mut write: Write,
    store: &StoreId,
    app: &AppId,
    all: &[Subscription],
) -> Write {
    let own: Vec<Key> =
        all.iter().filter(|known| known.app_id.as_ref() == Some(app)).map(Item::key).collect();
    if own.is_empty() {
        return write;
    }
    // Each must still be there: one that its own deletion took meanwhile is counted no more.
    for key in &own {
        write = write.delete_if(key, Condition::exists(), Code::VersionConflict);
    }
    let change = Change::new("SET #count = #count - :own")
        .only_if("#count >= :own")
        .name("#count", "count")
        .value(":own", own.len());
    write.update(&key::subscription_count(store), change, Code::VersionConflict)
}
