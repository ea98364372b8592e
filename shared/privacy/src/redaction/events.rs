//! Removes the personal data of events.

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

/// Items of events of one page.
const PAGE: usize = 50;

/// Whether an event may have personal data. The excepted ones only have ids, and apps act on them.
fn has_personal_data(event: &Event) -> bool {
    let with_ids_only = [
        CUSTOMER_DELETED.name,
        CUSTOMER_MERGED.name,
        CUSTOMER_DATA_REQUESTED.name,
        CUSTOMER_REDACTED.name,
        CUSTOMER_REDACTION_CANCELLED.name,
        CUSTOMER_REDACTION_REQUESTED.name,
        ORDER_REDACTED.name,
    ];
    !event.is_expunged() && !with_ids_only.contains(&event.name.as_str())
}

/// Removes the payloads of the events about a subject. Returns whether none is left: a pending event keeps
/// its payload until it is published.
///
/// # Errors
/// `version_conflict` if one of them was changed concurrently; 503.
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
            let with_data = || group.events().iter().filter(|event| has_personal_data(event));
            if with_data().any(|event| event.state == OutboxState::Pending) {
                is_all = false;
                continue;
            }
            if with_data().next().is_some() {
                let expunged = group.with(with_data().map(Event::expunged));
                services.table.write().replace(&expunged, Code::VersionConflict).commit().await?;
            }
        }
        if next.is_none() {
            return Ok(is_all);
        }
        place = next;
    }
}
