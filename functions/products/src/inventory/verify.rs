//! Whether a level is what its ledger adds up to, however long that is.
//!
//! A ledger is only appended to, so what was added up stays added up: an answer that ends before
//! the ledger does has a cursor, which holds the sum so far. Movements that are written at the same
//! moment may come to lie in another order than they were made in; so no cursor is placed behind
//! movements that are not a minute old, as long as there are others.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::State;
use catalogue::inventory::{Delta, Level, Movement, Quantities};
use core_types::id::{LocationId, VariantId};
use core_types::key;
use core_types::resource::load;
use core_types::scope::ReadInventory;
use gateway::app::App;
use gateway::page::{Paging, position_of, recall};
use gateway::reply::Page;
use gateway::request::{Path, Query, request};
use platform::caller::StoreAccess;
use primitives::clock::{MINUTE, Timestamp};
use primitives::fields::{Int, Written};
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::{Attributes, Item, Key};
use table::{Scanned, retry};

use super::movements_of;

/// Movements read in one round trip.
const CHUNK: usize = 1_000;
/// Movements that one answer adds up at most: in some seconds.
const MOST: i64 = 200_000;
/// How old a movement is before no older one can come to lie before it.
const IN_FLIGHT: Duration = MINUTE;

/// How much to add up at once.
#[request]
#[derive(Debug)]
pub struct VerifyQuery {
    /// Movements that this answer adds up at most; 200,000 unless said otherwise.
    max_movements: Option<Written<Int<1, MOST>>>,
}

/// What was added up.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    delta: Delta,
    movements: u64,
}

impl Sum {
    fn of(opening: i64) -> Self {
        Self { delta: Delta { available: opening, ..Delta::default() }, movements: 0 }
    }

    fn and(self, movement: &Movement) -> Self {
        Self { delta: self.delta.plus(movement.delta), movements: self.movements.saturating_add(1) }
    }

    /// The cursor's position in a walk that has come to this movement.
    fn position(self, at: &Key) -> Attributes {
        let Delta { available, reserved, committed, held } = self.delta;
        let notes = [
            ("available", available.to_string()),
            ("reserved", reserved.to_string()),
            ("committed", committed.to_string()),
            ("held", held.to_string()),
            ("movements", self.movements.to_string()),
        ];
        position_of(at, notes)
    }

    /// The sum that such a position remembers.
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
                held: count("held")?,
            },
            movements: text("movements")?.parse().map_err(|_| Code::InvalidCursor)?,
        })
    }
}

/// What a level should be by its ledger, and what it is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LedgerCheck {
    /// Whether the two agree, and add up; null until the whole ledger was added up.
    consistent: Option<bool>,
    /// What the ledger adds up to, so far.
    expected: Quantities,
    /// What the level says.
    actual: Quantities,
    /// Movements that were added up, so far.
    movements: u64,
    /// The level's version that was verified.
    level_version: u64,
}

/// `GET /v1/inventory/levels/{item}/{location}/verify` (`verifyInventoryLevel`):
/// Verify a level against its movements.
///
/// Adds the ledger up, 200,000 movements at once; a longer one goes on with the page's cursor, and its last
/// page holds the verdict. Movements are written with the changes they record, so anything but `consistent`
/// is a defect of ours. A level that changes while the end of its ledger is read is read again.
///
/// # Errors
/// `not_found`, `invalid_cursor`; `version_conflict` when the level does not stand still.
pub async fn verify(
    caller: StoreAccess<ReadInventory>,
    State(app): State<App>,
    Path((item, location)): Path<(VariantId, LocationId)>,
    Query(input): Query<VerifyQuery>,
    paging: Paging,
) -> Result<Page<(), LedgerCheck>, Problem> {
    let key = key::level(&caller.store.id, &item, &location);
    let most = input.max_movements.map_or(MOST, |most| most.0.0);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let (check, next) = retry(|| async {
        let level: Level = load(&app, &key).await?;
        let (sum, next) = add_up(&app, &level, paging.start().as_ref(), most).await?;
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
    paging.with(check).finish(&app, Scanned::<()>::at(next), |nothing| nothing).await
}

/// The sum of a level's movements from `start` on, or of as many as there may be: then with the
/// position to go on from.
async fn add_up(
    services: &Services,
    level: &Level,
    start: Option<&Attributes>,
    most: usize,
) -> Result<(Sum, Option<Attributes>), Problem> {
    let query = movements_of(level);
    let (mut start, mut sum) = match start {
        None => (None, Sum::of(level.opening)),
        Some(position) => {
            let (start, notes) = recall(position, &["PK", "SK"])?;
            (Some(start), Sum::at(&notes)?)
        }
    };
    let recent: Timestamp = services.clock.now().minus(IN_FLIGHT);
    let (mut left, mut last, mut safe) = (most, None, None);
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
    let (sum, at) = safe.or(last).ok_or_else(|| Problem::internal("a chunk without movements"))?;
    Ok((sum, Some(sum.position(&at))))
}
