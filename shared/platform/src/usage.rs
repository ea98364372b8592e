//! Usage: how often things happened to an app, counted by UTC day.
//!
//! The dispatcher counts an event in the transaction that publishes it, and an event is published
//! once: the counters need no deduplication of their own (docs/platform.md §1, §2).

use gateway::app::App;
use gateway::clock::{DAY, Timestamp};
use gateway::item::{Item, Key};
use gateway::outbox::SHARDS;
use gateway::problem::{Code, Problem};
use gateway::table::{Change, Query, Write};
use ground::event::Event;
use ground::id::AppId;
use ground::key;
use serde::{Deserialize, Serialize};

use crate::installation::{APP_AUTHORIZED, APP_INSTALLED, APP_TOKEN_ISSUED, APP_UNINSTALLED};

/// How long counters are kept (our choice).
const KEPT: std::time::Duration = DAY.saturating_mul(730);
/// The most counters one dashboard reads of one app: 92 days of 16 shards, and some.
const MAX_COUNTERS: usize = 1_600;

/// What happened to an app on a day, as one shard counted it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// The app that the events were about.
    pub app_id: AppId,
    /// The UTC day, `yyyymmdd`.
    pub day: String,
    /// The shard: a hex digit.
    pub shard: char,
    /// Stores that chose the app.
    #[serde(default)]
    pub installs: u64,
    /// Stores that removed it.
    #[serde(default)]
    pub uninstalls: u64,
    /// Authorizations, first and repeated.
    #[serde(default)]
    pub authorizations: u64,
    /// Access tokens issued.
    #[serde(default)]
    pub token_exchanges: u64,
    /// One more with each event that is counted.
    pub version: u64,
}

impl Item for Counter {
    const KIND: &'static str = "app_usage";
    fn key(&self) -> Key {
        Key::new(key::app_usage_of(&self.app_id), format!("{}#{}", self.day, self.shard))
    }
    fn version(&self) -> u64 {
        self.version
    }
}

/// The attribute that counts events of this name.
fn counted_as(name: &str) -> Option<&'static str> {
    match name {
        _ if name == APP_INSTALLED.name => Some("installs"),
        _ if name == APP_UNINSTALLED.name => Some("uninstalls"),
        _ if name == APP_AUTHORIZED.name => Some("authorizations"),
        _ if name == APP_TOKEN_ISSUED.name => Some("token_exchanges"),
        _ => None,
    }
}

/// Counts an event in the transaction that publishes it; does nothing for events that are not
/// about an app, or that nobody counts.
pub fn count(write: Write, event: &Event) -> Write {
    let (Some(app), Some(field)) = (&event.app_id, counted_as(&event.name)) else { return write };
    let last = event.id.as_str().chars().last();
    let shard = last.filter(|digit| SHARDS.contains(*digit)).unwrap_or('0');
    let at = event.created_at;
    // `ADD` is safe here alone: in a transaction, which the client token makes happen once.
    let change = Change::new(
        "SET app_id = :app, #day = :day, #shard = :shard, entity = :kind, #ttl = :ttl \
         ADD #field :one, #version :one",
    )
    .name("#day", "day")
    .name("#shard", "shard")
    .name("#ttl", "ttl")
    .name("#field", field)
    .name("#version", "version")
    .value(":app", app)
    .value(":day", at.day())
    .value(":shard", shard)
    .value(":kind", Counter::KIND)
    .value(":ttl", at.plus(KEPT).seconds())
    .value(":one", 1_u64);
    // The change has no condition that could be refused.
    write.update(&key::app_usage(app, at, shard), change, Code::VersionConflict)
}

/// An app's counters from the day of `since` to that of `until`, both included, by day.
///
/// # Errors
/// When the table does not answer.
pub async fn of_app(
    app: &App,
    id: &AppId,
    since: Timestamp,
    until: Timestamp,
) -> Result<Vec<Counter>, Problem> {
    let query = Query::partition(key::app_usage_of(id))
        .between(format!("{}#", since.day()), format!("{}#~", until.day()));
    app.table.all(&query, MAX_COUNTERS).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_life_of_an_installation_is_counted_and_nothing_else() {
        assert_eq!(counted_as("app.installed"), Some("installs"));
        assert_eq!(counted_as("app.token_issued"), Some("token_exchanges"));
        assert_eq!(counted_as("app.approved"), None);
        assert_eq!(counted_as("store.created"), None);
    }
}
