//! The last failover drill, load test and replay, in short.

use gateway::app::App;
use gateway::clock::{DAY, Timestamp};
use gateway::item::{Item, Key};
use gateway::problem::Problem;
use gateway::table::Query;
use ground::id::StoreId;
use ground::key;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A drill, a load test or a replay in short: what the items of all say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunBrief {
    /// The id.
    pub id: String,
    /// How far it has come.
    pub status: String,
    /// What came of it, when it is over; none of what has no verdict.
    #[serde(default)]
    pub verdict: Option<String>,
    /// When it was asked for.
    pub created_at: Timestamp,
}

/// Read from a list alone: others write it.
impl Item for RunBrief {
    const KIND: &'static str = "run";
    fn key(&self) -> Key {
        Key::new(self.id.clone(), "A")
    }
    fn version(&self) -> u64 {
        1
    }
}

/// The last of a kind, of this month or the one before; none when there is none.
///
/// # Errors
/// 503.
pub async fn last(app: &App, kind: &str) -> Result<Option<RunBrief>, Problem> {
    let now = app.clock.now();
    // The day before the month's first is of the month before.
    let days = now.day().chars().skip(6).collect::<String>().parse().unwrap_or(31);
    for at in [now, now.minus(DAY.saturating_mul(days))] {
        let (index, partition) = key::operations_of_month(kind, at);
        let query = Query::index(index, partition).newest_first();
        let found = app.table.all::<RunBrief>(&query, 1).await?;
        if let Some(last) = found.into_iter().next() {
            return Ok(Some(last));
        }
    }
    Ok(None)
}

/// A store's last replay; none when there is none.
///
/// # Errors
/// 503.
pub async fn last_replay(app: &App, store: &StoreId) -> Result<Option<RunBrief>, Problem> {
    let (index, partition) = key::replays_of(store);
    let query = Query::index(index, partition).newest_first();
    Ok(app.table.all::<RunBrief>(&query, 1).await?.into_iter().next())
}
