//! The only user of the DynamoDB client: typed reads, and writes as transactions.
//!
//! - Every business write is a `TransactWriteItems`, also of one item: the SDK keeps one
//!   `ClientRequestToken` over its own retries, so a lost reply neither doubles a write nor
//!   reports a writer's own success as a rejected condition (docs/platform.md §1). Deliveries, which
//!   are by far the most frequent, and state changes of events are written by single calls
//!   ([`Table::put_new`], [`Table::put_next`], [`Table::change`]).
//! - `TransactionConflict` is retried here, with full jitter. A conflict of a single call is retried by the SDK
//!   ([`Conflicts`]; docs/platform.md §1).
//! - Every call has a time limit (docs/platform.md §1). Every page loop is bounded
//!   (docs/platform.md §1).
//! - Round trips and capacity units are counted into the request's [`Context`].

pub mod canary;
// `#[derive(Item)]` names the crate.
extern crate self as table;

mod completion;
mod conflict;
mod consistency;
mod counter;
pub mod cursor;
pub mod item;
mod meter;
pub mod outbox;
mod permits;
mod query;
mod rate_limit;
mod read;
mod slots;
mod write;

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::ConsumedCapacity;
use futures_util::FutureExt;

pub use completion::{CommitOnly, Completion};
pub use conflict::{Conflicts, Throttles};
pub use consistency::{
    Attempt, ReadConsistency, needs_strong_read, retry, retry_attempts, retry_eventual_first,
    retry_up_to,
};
pub use meter::{Metered, metered};
pub use permits::Permit;
pub use query::Query;
pub use rate_limit::Pass;
pub use read::{Batch, ReadLimit, Scanned, WalkPosition};
pub use write::{Change, Changed, Condition, Puts, Write};

use primitives::clock::Clock;
use primitives::context::Context;
use primitives::problem::Problem;
use primitives::setting::RequiredSetting;
use read::Recent;

/// A cache of values that were read from the table. Each write of this process invalidates it.
pub trait Invalidate: std::fmt::Debug + Send + Sync {
    /// Drops the values of these partitions. They were written, or may have been: a reply can be lost.
    fn invalidate(&self, partitions: &mut dyn Iterator<Item = &str>);
}

/// The table. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Table {
    client: Client,
    name: Arc<RequiredSetting<String>>,
    cache: Arc<dyn Invalidate>,
    recent: Recent,
    /// The clock that decides when an injected fault ends.
    pub(crate) clock: Clock,
}

impl Table {
    /// A table of this name behind the client. Each transaction invalidates `cache`.
    pub fn new(
        client: Client,
        name: RequiredSetting<String>,
        cache: Arc<dyn Invalidate>,
        clock: Clock,
    ) -> Self {
        Self { client, name: Arc::new(name), cache, recent: Recent::default(), clock }
    }

    /// The client, for the rate bucket and the idempotency record: their writes are single
    /// conditional updates with an attempt id, and are not counted as round trips.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The table's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the table answers: `GET /health?deep=1`.
    pub async fn ping(&self) -> Result<(), Problem> {
        let key = crate::item::Key::new("HEALTH", "A").attributes();
        let request = self.client.get_item().table_name(self.name()).set_key(Some(key));
        request.send().boxed().await.map(drop).map_err(|error| unavailable(&error))
    }
}

/// The table calls of a request so far. The idempotency record is excluded, and rate buckets are
/// counted apart.
#[derive(Debug, Clone, Copy, Default)]
pub struct TableUse {
    /// Round trips.
    pub trips: u32,
    /// In tenths of a capacity unit: eventually consistent reads cost halves.
    pub capacity_tenths: u64,
    /// Writes of rate buckets: a unit each.
    pub charges: u32,
    /// The number of throttled calls, whether or not a retry succeeded.
    pub throttles: u32,
}

/// The reads for the list that a request returns.
#[derive(Debug, Clone, Copy, Default)]
pub struct Listed {
    /// Queries made.
    pub queries: u32,
    /// Items read, whether they are returned or not.
    pub items: usize,
}

impl Listed {
    /// Counts the reads for the current request's list.
    pub fn count(queries: u32, items: usize) {
        Context::update(|listed: &mut Self| {
            listed.queries = listed.queries.saturating_add(queries);
            listed.items = listed.items.saturating_add(items);
        });
    }

    /// Counts items that were read for a list by their ids, and not by a query. Not all of them may be
    /// returned.
    pub fn count_read(items: usize) {
        Self::count(0, items);
    }
}

/// Counts a round trip with its capacity units.
fn count<'a>(capacity: impl IntoIterator<Item = &'a ConsumedCapacity>) {
    let units = capacity.into_iter().filter_map(ConsumedCapacity::capacity_units);
    let consumed = units.map(tenths).fold(0, u64::saturating_add);
    Context::update(|used: &mut TableUse| {
        used.trips = used.trips.saturating_add(1);
        used.capacity_tenths = used.capacity_tenths.saturating_add(consumed);
    });
}

/// Capacity units come as a float; they are multiples of a half.
#[expect(
    clippy::float_arithmetic,
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a meter for the log, never money"
)]
fn tenths(units: f64) -> u64 {
    (units * 10.0) as u64
}

/// A failed call as 503. The SDK's error is only logged.
pub fn unavailable<E, R>(error: &SdkError<E, R>) -> Problem
where
    E: ProvideErrorMetadata + std::fmt::Debug,
    R: std::fmt::Debug,
{
    let cause = match error {
        SdkError::ServiceError(inner) => format!(
            "{}: {}",
            inner.err().code().unwrap_or("unknown"),
            inner.err().message().unwrap_or_default()
        ),
        SdkError::TimeoutError(_) => "time-out".to_owned(),
        SdkError::DispatchFailure(failure) => format!("dispatch failure: {failure:?}"),
        other => format!("{other:?}"),
    };
    if is_invalid(error) { Problem::internal(cause) } else { Problem::unavailable(cause) }
}

/// DynamoDB's error codes of requests that it never accepts: malformed ones, and those with an item
/// that is too large.
const INVALID: [&str; 2] = ["ValidationException", "SerializationException"];

/// Whether the same call would fail again in the same way. Such a call is a defect of ours, and a retry
/// does not help ([`Problem::is_permanent`]).
fn is_invalid<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> bool {
    let code = error.as_service_error().and_then(ProvideErrorMetadata::code);
    matches!(error, SdkError::ConstructionFailure(_))
        || code.is_some_and(|code| INVALID.contains(&code))
}

/// Waits between 0 and the smaller of `cap` and `base * 2^attempt`: full jitter.
pub async fn back_off(attempt: u32, base: Duration, cap: Duration) {
    let ceiling = base.saturating_mul(2_u32.saturating_pow(attempt)).min(cap);
    tokio::time::sleep(random_up_to(ceiling)).await;
}

/// A uniformly random duration up to `ceiling`.
pub fn random_up_to(ceiling: Duration) -> Duration {
    let mut bytes = [0_u8; 4];
    let _ = getrandom::fill(&mut bytes);
    let draw = u128::from(u32::from_be_bytes(bytes));
    let nanos = ceiling.as_nanos().saturating_mul(draw) >> 32_u32;
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
