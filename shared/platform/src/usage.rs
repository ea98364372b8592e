//! Usage counters of apps, by UTC day.
//!
//! The dispatcher counts an event in the transaction that publishes it. An event is published once, so
//! the counters need no deduplication of their own (docs/platform.md §1, §2).

use std::collections::BTreeMap;

use core_types::event::Event;
use core_types::id::AppId;
use core_types::key;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::outbox::SHARDS;
use table::{Change, Query, Write};

use crate::installation::{APP_AUTHORIZED, APP_INSTALLED, APP_TOKEN_ISSUED, APP_UNINSTALLED};

/// The retention of counters (our choice).
const RETENTION: std::time::Duration = DAY.saturating_mul(730);
/// The most counters that one dashboard reads of one app: 92 days of 16 shards, with a margin.
const MAX_COUNTERS: usize = 1_600;

/// The events of an app on a day, counted by one shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "app_usage")]
#[item(key = Key::new(key::app_usage_of(&self.app_id), format!("{}#{}", self.day, self.shard)))]
pub struct Counter {
    /// The app.
    pub app_id: AppId,
    /// The UTC day, `yyyymmdd`.
    pub day: String,
    /// The shard: a hex digit.
    pub shard: char,
    /// The number of installations.
    #[serde(default)]
    pub installs: u64,
    /// The number of uninstallations.
    #[serde(default)]
    pub uninstalls: u64,
    /// The number of authorizations, first and repeated.
    #[serde(default)]
    pub authorizations: u64,
    /// The number of access tokens issued.
    #[serde(default)]
    pub token_exchanges: u64,
    /// The version, incremented with each event that is counted.
    pub version: u64,
}

/// The attribute that counts events of this name; none if they are not counted.
fn counted_as(name: &str) -> Option<&'static str> {
    match name {
        _ if name == APP_INSTALLED.name => Some("installs"),
        _ if name == APP_UNINSTALLED.name => Some("uninstalls"),
        _ if name == APP_AUTHORIZED.name => Some("authorizations"),
        _ if name == APP_TOKEN_ISSUED.name => Some("token_exchanges"),
        _ => None,
    }
}

/// The counts for the events of one item, by app and attribute.
fn counts<'a>(events: &[&'a Event]) -> BTreeMap<&'a AppId, BTreeMap<&'static str, u64>> {
    let mut counts: BTreeMap<_, BTreeMap<_, u64>> = BTreeMap::new();
    for event in events {
        if let (Some(app), Some(field)) = (&event.app_id, counted_as(&event.name)) {
            let count = counts.entry(app).or_default().entry(field).or_default();
            *count = count.saturating_add(1);
        }
    }
    counts
}

/// Whether an event is counted.
pub fn is_counted(event: &Event) -> bool {
    event.app_id.is_some() && counted_as(&event.name).is_some()
}

/// Counts the events of one item in the transaction that publishes them. Events that are not about an
/// app, or that no counter counts, are ignored.
pub fn count(write: Write, events: &[&Event]) -> Write {
    let Some(first) = events.first() else { return write };
    let last = key::event_group(&first.id).chars().last();
    let shard = last.filter(|digit| SHARDS.contains(*digit)).unwrap_or('0');
    let add = |write: Write, (app, counts)| {
        let (key, change) = addition(app, first.created_at, shard, &counts);
        // The update has no condition that could be rejected.
        write.update(&key, change, Code::VersionConflict)
    };
    counts(events).into_iter().fold(write, add)
}

/// The update that adds these counts to an app's counter.
fn addition(
    app: &AppId,
    at: Timestamp,
    shard: char,
    counts: &BTreeMap<&'static str, u64>,
) -> (Key, Change) {
    let fields = (0..counts.len()).map(|number| format!("#f{number} :f{number}"));
    let fields = fields.collect::<Vec<_>>().join(", ");
    // `ADD` is safe only here: in a transaction, which its client token makes idempotent.
    let mut change = Change::new(format!(
        "SET app_id = :app, #day = :day, #shard = :shard, entity = :kind, #ttl = :ttl \
         ADD {fields}, #version :all"
    ))
    .name("#day", "day")
    .name("#shard", "shard")
    .name("#ttl", "ttl")
    .name("#version", "version")
    .value(":app", app)
    .value(":day", at.day())
    .value(":shard", shard)
    .value(":kind", Counter::KIND)
    .value(":ttl", at.plus(RETENTION).seconds())
    .value(":all", counts.values().sum::<u64>());
    for (number, (field, count)) in counts.iter().enumerate() {
        change = change.name(&format!("#f{number}"), field).value(&format!(":f{number}"), count);
    }
    (key::app_usage(app, at, shard), change)
}

/// Loads an app's counters from the day of `since` to that of `until`, both included, by day.
///
/// # Errors
/// 503 when the table cannot be reached.
pub async fn of_app(
    services: &Services,
    id: &AppId,
    since: Timestamp,
    until: Timestamp,
) -> Result<Vec<Counter>, Problem> {
    let query = Query::partition(key::app_usage_of(id))
        .between(format!("{}#", since.day()), format!("{}#~", until.day()));
    services.table.all(&query, MAX_COUNTERS).await
}

#[cfg(test)]
mod tests {
    use core_types::event::{EXAMPLE_TIME, EventSubject};
    use core_types::id::StoreId;

    use super::*;

    #[test]
    fn events_of_one_item_are_counted_in_one_update() {
        let (store, app) = (StoreId::derive(&["here"]), AppId::derive(&["app"]));
        let event = |name: &'static str, app: Option<&AppId>| {
            let entry = crate::installation::TOPICS.iter().find(|topic| topic.name == name);
            let subject = EventSubject { store: Some(&store), app, entity: "ins_1", version: 1 };
            Event::untyped(entry.unwrap(), subject, serde_json::json!({}), EXAMPLE_TIME)
        };
        let events = [
            event("app.installed", Some(&app)),
            event("app.authorized", Some(&app)),
            event("app.authorized", Some(&app)),
            event("app.installed", None),
        ];
        let found = counts(&events.each_ref());
        let expected = BTreeMap::from([("installs", 1), ("authorizations", 2)]);
        assert_eq!(found, BTreeMap::from([(&app, expected)]));
        assert!(is_counted(&events[0]) && !is_counted(&events[3]));
    }

    #[test]
    fn only_events_of_installations_are_counted() {
        assert_eq!(counted_as("app.installed"), Some("installs"));
        assert_eq!(counted_as("app.token_issued"), Some("token_exchanges"));
        assert_eq!(counted_as("app.approved"), None);
        assert_eq!(counted_as("store.created"), None);
    }
}
