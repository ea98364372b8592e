//! Verifies that a level equals the sum of its ledger, of any length.
//!
//! A ledger is append-only, so a partial sum stays valid: a response that ends before the ledger does has
//! a cursor with the sum so far. Concurrent movements may appear in another order than that of their
//! keys. So no cursor is placed behind movements that are less than a minute old, unless there are no
//! older ones.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::State;
use callers::StoreAccess;
use catalogue::inventory::{Delta, Level, Movement, Quantities};
use core_types::id::{LocationId, VariantId};
use core_types::key;
use core_types::resource::load;
use core_types::scope::ReadInventory;
use gateway::app::App;
use gateway::page::Paging;
use gateway::reply::Page;
use gateway::request::{Path, Query};
use primitives::clock::{MINUTE, Timestamp};
use primitives::fields::{Int, Written};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::cursor::{position_of, recall};
use table::item::{Attributes, Item, Key};
use table::{Scanned, retry};

use super::movements_of;

/// Movements read in one round trip.
const CHUNK: usize = 1_000;
/// The most movements that one response adds up, which takes a few seconds.
const MAX_MOVEMENTS: i64 = 200_000;
/// The age from which no movement can still appear before a movement.
const IN_FLIGHT: Duration = MINUTE;

/// The size of a page of the verification.
#[request]
#[derive(Debug)]
pub struct VerifyQuery {
    /// The maximum number of movements that this response adds up; 200,000 by default.
    max_movements: Option<Written<Int<1, MAX_MOVEMENTS>>>,
}

/// The sum of movements.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    delta: Delta,
    movements: u64,
}

impl Sum {
    fn of(initial: i64) -> Self {
        Self { delta: Delta { available: initial, ..Delta::default() }, movements: 0 }
    }

    fn and(self, movement: &Movement) -> Self {
        Self { delta: self.delta.plus(movement.delta), movements: self.movements.saturating_add(1) }
    }

    /// The cursor's position behind this movement, with the sum so far.
    fn position(self, at: &Key) -> Attributes {
        let Delta { available, reserved, committed, set_aside } = self.delta;
        let notes = [
            ("available", available.to_string()),
            ("reserved", reserved.to_string()),
            ("committed", committed.to_string()),
            ("held", set_aside.to_string()),
            ("movements", self.movements.to_string()),
        ];
        position_of(at, notes)
    }

    /// The sum in the notes of a position.
    ///
    /// # Errors
    /// `invalid_cursor`.
    fn at(notes: &BTreeMap<&str, &str>) -> Result<Self, Problem> {
        let text = |name: &str| notes.get(name).copied().ok_or(Code::InvalidCursor);
        let count = |name: &str| text(name)?.parse::<i64>().map_err(|_| Code::InvalidCursor);
        Ok(Self {
            delta: Delta {
                available: count("available")?,
                reserved: count("reserved")?,
                committed: count("committed")?,
                set_aside: count("held")?,
            },
            movements: text("movements")?.parse().map_err(|_| Code::InvalidCursor)?,
        })
    }
}

/// The result of a verification: the quantities by the ledger, and those of the level.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LedgerCheck {
    /// Whether both are equal, and `on_hand` is the sum of the others; null until the whole ledger was
    /// added up.
    consistent: Option<bool>,
    /// The sum of the ledger so far.
    expected: Quantities,
    /// The quantities of the level.
    actual: Quantities,
    /// The number of movements added up so far.
    movements: u64,
    /// The version of the level that was verified.
    level_version: u64,
}

/// `GET /v1/inventory/levels/{item}/{location}/verify` (`verifyInventoryLevel`):
/// Verify a level against its movements.
///
/// Adds up the ledger, at most 200,000 movements per page; the last page has the result. Movements are
/// written in the transaction of the change that they record, so a level that is not `consistent` is a
/// defect of the platform. A level that changes while the end of its ledger is read is read again.
///
/// # Errors
/// `not_found`, `invalid_cursor`; `version_conflict` when the level keeps changing.
pub async fn verify_ledger(
    caller: StoreAccess<ReadInventory>,
    State(app): State<App>,
    Path((item, location)): Path<(VariantId, LocationId)>,
    Query(input): Query<VerifyQuery>,
    paging: Paging,
) -> Result<Page<(), LedgerCheck>, Problem> {
    let key = key::level(&caller.store.id, &item, &location);
    let limit = input.max_movements.map_or(MAX_MOVEMENTS, |limit| limit.0.0);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (check, next) = retry(|| async {
        let level: Level = load(&app, &key).await?;
        let (sum, next) = add_up(&app, &level, paging.start().as_ref(), limit).await?;
        let mut check = LedgerCheck {
            consistent: None,
            expected: sum.delta.into(),
            actual: Quantities::from(&level),
            movements: sum.movements,
            level_version: level.version,
        };
        if next.is_none() {
            let after: Level = load(&app, &key).await?;
            if after.version != level.version {
                return Err(Code::VersionConflict.into());
            }
            let agrees = sum.delta == level.counters() && sum.delta.on_hand() == level.on_hand;
            check.consistent = Some(agrees);
        }
        Ok((check, next))
    })
    .await?;
    paging.with_extras(check).finish(&app, Scanned::<()>::at(next), |nothing| nothing).await
}

/// Adds up a level's movements from `start`, at most `limit`. If movements remain, returns the position to
/// continue from.
async fn add_up(
    services: &Services,
    level: &Level,
    start: Option<&Attributes>,
    limit: usize,
) -> Result<(Sum, Option<Attributes>), Problem> {
    let query = movements_of(level);
    let (mut start, mut sum) = match start {
        None => (None, Sum::of(level.initial_available)),
        Some(position) => {
            let (start, notes) = recall(position, &["PK", "SK"])?;
            (Some(start), Sum::at(&notes)?)
        }
    };
    let recent: Timestamp = services.clock.now().minus(IN_FLIGHT);
    let (mut left, mut last, mut safe) = (limit, None, None);
    while left > 0 {
        let chunk =
            services.table.page::<Movement>(&query, CHUNK.min(left), start, |_| true).await?;
        for movement in &chunk.items {
            sum = sum.and(movement);
            let position = (sum, movement.key());
            if movement.created_at <= recent {
                safe = Some(position);
            } else {
                last = Some(position);
            }
        }
        left = left.saturating_sub(chunk.items.len());
        start = chunk.next;
        if start.is_none() {
            return Ok((sum, None));
        }
    }
    let (sum, at) =
        safe.or(last).ok_or_else(|| Problem::internal("a page of movements is empty"))?;
    Ok((sum, Some(sum.position(&at))))
}
