//! Summaries of the last failover drill, load test and replay.

use std::time::Duration;

use core_types::id::StoreId;
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use services::Services;
use table::Query;
use table::item::{Index, Item, Key};

/// A summary of a drill, a load test or a replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Item)]
#[item(kind = "run", key = Key::new(self.id.clone(), "A"), version = 1)]
pub struct RunBrief {
    /// The id.
    pub id: String,
    /// The status.
    pub status: String,
    /// The verdict of a finished drill; `null` for everything else.
    #[serde(default)]
    pub verdict: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
}

/// Only read, from an index: it is a projection of items that have other types.
/// The number of months that a list goes back: its items are retained for 400 days.
pub const MONTHS: usize = 14;

/// The queries of the operations of a kind, one a month, the newest first, back to the month of `since`.
pub fn by_month(kind: &str, now: Timestamp, since: Option<Timestamp>) -> Vec<Query> {
    let mut months: Vec<Query> = Vec::new();
    let mut at = now;
    while months.len() < MONTHS {
        let (index, partition) = key::operations_of_month(kind, at);
        months.push(Query::index(index, partition).newest_first());
        let first = at.to_string().chars().take(8).collect::<String>() + "01T00:00:00.000Z";
        let Some(first) = Timestamp::parse(&first) else { break };
        if since.is_some_and(|since| since >= first) {
            break;
        }
        at = first.minus(Duration::from_secs(1));
    }
    months
}

/// Loads the last run of a kind from this month or the one before, if there is one.
///
/// # Errors
/// 503.
pub async fn last(services: &Services, kind: &str) -> Result<Option<RunBrief>, Problem> {
    for query in by_month(kind, services.clock.now(), None).iter().take(2) {
        let found = services.table.all::<RunBrief>(query, 1).await?;
        if let Some(last) = found.into_iter().next() {
            return Ok(Some(last));
        }
    }
    Ok(None)
}

/// Loads a store's last replay, if there is one.
///
/// # Errors
/// 503.
pub async fn last_replay(
    services: &Services,
    store: &StoreId,
) -> Result<Option<RunBrief>, Problem> {
    let query = Query::index(Index::Gsi5, key::replays_on(store)).newest_first();
    Ok(services.table.all::<RunBrief>(&query, 1).await?.into_iter().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_go_back_across_the_year_or_to_since() {
        let now = Timestamp::parse("2026-03-31T10:00:00Z").unwrap();
        let names = |since: Option<&str>| {
            let months = by_month("drill", now, since.and_then(Timestamp::parse));
            months.iter().map(|query| format!("{query:?}")).collect::<Vec<_>>()
        };
        let all = names(None);
        assert_eq!(all.len(), MONTHS);
        for (place, month) in [(0, "202603"), (1, "202602"), (3, "202512"), (13, "202502")] {
            assert!(all[place].contains(&format!("OPS#drill#{month}")), "{}", all[place]);
        }
        assert_eq!(names(Some("2026-03-01T00:00:00Z")).len(), 1);
        assert_eq!(names(Some("2026-02-28T23:59:59Z")).len(), 2);
    }
}
