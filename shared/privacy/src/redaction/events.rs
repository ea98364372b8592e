//! Removing what events say of a person.

use core_types::event::{Event, EventGroup, OutboxState};
use core_types::id::StoreId;
use core_types::key;
use identity::customer::CUSTOMER_DELETED;
use primitives::problem::{Code, Problem};
use sales::order::ORDER_REDACTED;
use services::Services;
use table::Query;

use crate::merge::CUSTOMER_MERGED;

use super::{
    CUSTOMER_DATA_REQUESTED, CUSTOMER_REDACTED, CUSTOMER_REDACTION_CANCELLED,
    CUSTOMER_REDACTION_REQUESTED,
};

/// Items of events that are looked at together.
const PAGE: usize = 50;

/// Whether an event may name somebody. These say ids alone, and are what apps act on.
fn names_somebody(event: &Event) -> bool {
    let told = [
        CUSTOMER_DELETED.name,
        CUSTOMER_MERGED.name,
        CUSTOMER_DATA_REQUESTED.name,
        CUSTOMER_REDACTED.name,
        CUSTOMER_REDACTION_CANCELLED.name,
        CUSTOMER_REDACTION_REQUESTED.name,
        ORDER_REDACTED.name,
    ];
    !event.is_expunged() && !told.contains(&event.name.as_str())
}

/// Removes the payloads of the events about something; answers whether none is left, because one that is
/// on its way out keeps its own until it has gone.
///
/// # Errors
/// `version_conflict` when one of them has moved on meanwhile; 503.
pub(super) async fn expunge(
    services: &Services,
    store: &StoreId,
    subject: &str,
) -> Result<bool, Problem> {
    let (index, partition) = key::timeline_on(store, subject);
    let timeline = [Query::index(index, partition)];
    let (mut place, mut is_all) = (None, true);
    loop {
        let (groups, next): (Vec<EventGroup>, _) =
            services.table.walk(&timeline, PAGE, place.as_ref(), |_| true).await?;
        for group in &groups {
            let named = || group.events().iter().filter(|event| names_somebody(event));
            if named().any(|event| event.state == OutboxState::Pending) {
                is_all = false;
                continue;
            }
            if named().next().is_some() {
                let silent = group.with(named().map(Event::expunged));
                services.table.write().replace(&silent, Code::VersionConflict).commit().await?;
            }
        }
        if next.is_none() {
            return Ok(is_all);
        }
        place = next;
    }
}
