//! Recovering the failed deliveries of a subscription, and its delivery statistics.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::State;
use callers::StoreAccess;
use core_types::id::SubscriptionId;
use core_types::key;
use core_types::scope::{ReadWebhooks, WriteWebhooks};
use delivery::delivery::{Delivery, DeliveryStatus};
use delivery::replay::{
    DEFAULT_RATE, MAX_DELIVERIES, MAX_RANGE, ReplayInput, ReplayKind, ReplayView,
};
use delivery::subscription::{HealthStatus, Stats};
use gateway::app::App;
use gateway::reply::{Accepted, Json};
use gateway::request::{Body, Path, RequestRules, Ruled, Validation};
use primitives::clock::{HOUR, Timestamp};
use primitives::input::{Given, request};
use primitives::problem::{FieldError, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use table::Query;
use table::item::Index;

use crate::range::{self, TimeRange};
use crate::runtime;
use crate::subscriptions::find;

/// The time that statistics cover.
const WINDOW: Duration = HOUR.saturating_mul(24);
/// Deliveries of a day that statistics count at most.
const MOST_COUNTED: usize = 1_000;

/// The deliveries to recover.
#[request]
#[derive(Debug)]
pub(crate) struct RecoverRequest {
    /// Deliveries created at or after this time; at most 14 days before `until`.
    since: Timestamp,
    /// Deliveries created at or before this time; now by default.
    until: Option<Timestamp>,
}

impl RequestRules for RecoverRequest {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        if given.has("since") {
            range::violations(given, MAX_RANGE, validation.app.clock.now())
        } else {
            Vec::new()
        }
    }
}

/// The delivery statistics of a subscription over the last 24 hours.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SubscriptionStats {
    /// The subscription.
    subscription_id: SubscriptionId,
    /// The time that the statistics cover, in seconds: 86,400.
    window_seconds: u64,
    /// The health of the receiver now.
    health: HealthStatus,
    /// The deliveries that were counted, without test events.
    total: u64,
    /// The number of deliveries in each status.
    by_status: BTreeMap<&'static str, u64>,
    /// The percentage of deliveries that succeeded, rounded down; `null` without deliveries.
    success_percent: Option<u64>,
    /// The durations of the last attempts of the deliveries.
    duration_ms: Durations,
    /// Whether there are more deliveries than were counted: at most 1,000 of each UTC day are.
    truncated: bool,
    /// The failure counts of the receiver.
    receiver: Stats,
}

/// The response times of a receiver, in milliseconds.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ResponseDurations")]
struct Durations {
    /// The median; `null` without an attempt.
    p50: Option<u64>,
    /// The 95th percentile; `null` without an attempt.
    p95: Option<u64>,
}

/// `POST /v1/operations/webhook-subscriptions/{id}/recover` (`recoverWebhookSubscription`):
/// Replay failed deliveries of a subscription.
///
/// The request starts a replay of the deliveries that were created in the range and are retried, exhausted,
/// cancelled or blocked. It sends up to 10,000 deliveries, at most 100 a second. Follow it with `GET
/// /v1/operations/runtime/replays/{id}`.
///
/// A repeated request sends nothing twice, because a delivery that was replayed no longer matches.
///
/// # Errors
/// `not_found`; `insufficient_scope` for events that the caller cannot read; `invalid_state_transition` while
/// the subscription is not enabled; `replay_running`: a store has one replay at a time; `range_too_wide` as a
/// field error.
pub(crate) async fn recover(
    caller: StoreAccess<WriteWebhooks>,
    State(app): State<App>,
    Path(id): Path<SubscriptionId>,
    Ruled(Body(input)): Ruled<Body<RecoverRequest>>,
) -> Result<Accepted<ReplayView>, Problem> {
    let now = app.clock.now();
    let floor = caller.store.created_at;
    let range = TimeRange::of(Some(input.since), input.until, MAX_RANGE, floor, now)?;
    let input = ReplayInput {
        kind: ReplayKind::Recover,
        subscription_id: Some(id),
        event_types: Vec::new(),
        range: Some(range),
        delivery_ids: Vec::new(),
        max_count: MAX_DELIVERIES,
        rate_per_second: DEFAULT_RATE,
    };
    runtime::begin(&app, &caller, input, now).await
}

/// `GET /v1/operations/webhook-subscriptions/{id}/stats` (`getWebhookSubscriptionStats`):
/// Get delivery statistics of a subscription.
///
/// The response counts the deliveries of the last 24 hours by status, without test events, and has the
/// response times of the receiver. At most 1,000 deliveries of each UTC day are counted; `truncated` says
/// whether there are more.
///
/// # Errors
/// `not_found`.
pub(crate) async fn stats(
    caller: StoreAccess<ReadWebhooks>,
    State(app): State<App>,
    Path(id): Path<SubscriptionId>,
) -> Result<Json<SubscriptionStats>, Problem> {
    let subscription = find(&app, &caller, &id).await?;
    let now = app.clock.now();
    let range = TimeRange::of(Some(now.minus(WINDOW)), None, WINDOW, caller.store.created_at, now)?;
    let mut counts: BTreeMap<&'static str, u64> =
        DeliveryStatus::ALL.iter().map(|status| (status.as_str(), 0)).collect();
    let tenant = key::event_tenant(Some(&caller.store.id), None);
    let (mut durations, mut total, mut truncated) = (Vec::new(), 0_u64, false);
    for day in range.days() {
        let query = Query::index(Index::Gsi5, key::deliveries_on(&tenant, day))
            .ends_with(key::to_subscription(&id))
            .without_read_limit();
        let is_meant = |delivery: &Delivery| range.holds(delivery.created_at) && !delivery.test;
        let page = app.table.page::<Delivery>(&query, MOST_COUNTED, None, is_meant).await?;
        truncated |= page.next.is_some();
        for delivery in page.items {
            let count = counts.entry(delivery.status.as_str()).or_default();
            *count = count.saturating_add(1);
            total = total.saturating_add(1);
            durations.extend(delivery.last_duration_ms);
        }
    }
    durations.sort_unstable();
    let succeeded = counts.get(DeliveryStatus::Succeeded.as_str()).copied().unwrap_or(0);
    Ok(Json::new(&SubscriptionStats {
        subscription_id: id,
        window_seconds: WINDOW.as_secs(),
        health: subscription.health.word(),
        total,
        by_status: counts,
        success_percent: succeeded.saturating_mul(100).checked_div(total),
        duration_ms: Durations { p50: percentile(&durations, 50), p95: percentile(&durations, 95) },
        truncated,
        receiver: Stats::from(&subscription),
    }))
}

/// The percentile of sorted values, by the nearest-rank method.
fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = sorted.len().saturating_mul(percent).div_ceil(100).saturating_sub(1);
    sorted.get(rank).copied()
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(percentile(&hundred, 50), Some(50));
        assert_eq!(percentile(&hundred, 95), Some(95));
        assert_eq!((percentile(&[7], 95), percentile(&[], 50)), (Some(7), None));
    }
}
