//! The limit of subscriptions per store.

use core_types::id::{AppId, StoreId};
use core_types::key;
use primitives::problem::Code;
use table::item::{Item, Key};
use table::{Change, Condition, Write};

use super::{MAX_PER_STORE, Subscription};

/// Counts a new subscription of the store, which has at most [`MAX_PER_STORE`]. The counter changes only
/// in the transaction that creates or deletes a subscription, so that no race exceeds the limit.
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

/// Counts a deleted subscription.
pub fn release_quota(write: Write, store: &StoreId) -> Write {
    let change = Change::new("SET #count = #count - :one")
        .only_if("#count > :none")
        .name("#count", "count")
        .value(":none", 0)
        .value(":one", 1);
    write.update(&key::subscription_count(store), change, Code::VersionConflict)
}

/// Deletes the subscriptions that an app created on a store, and counts them as deleted: part of the
/// app's uninstallation. Pending deliveries find no subscription, and are cancelled. If one of the
/// subscriptions was deleted meanwhile, the whole write is rejected with `version_conflict`: read them
/// again.
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
    // Each must still exist: a deletion of its own has already lowered the counter.
    for key in &own {
        write = write.delete_if(key, Condition::exists(), Code::VersionConflict);
    }
    let change = Change::new("SET #count = #count - :own")
        .only_if("#count >= :own")
        .name("#count", "count")
        .value(":own", own.len());
    write.update(&key::subscription_count(store), change, Code::VersionConflict)
}
