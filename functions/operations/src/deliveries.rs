//! Webhook deliveries: the list, their attempts, redelivery, and deletion of their content.

use axum::extract::State;
use callers::StoreAccess;
use commerce::readers::ensure_reads_event;
use core_types::event::EventGroup;
use core_types::id::{DeliveryId, EventId, ReplayId, StoreId, SubscriptionId};
use core_types::key;
use core_types::scope::{ReadWebhooks, RequiredScope, WriteWebhooks};
use delivery::delivery::{
    AttemptView, Delivery, DeliveryStatus, DeliveryView, OversizedResponse, wake_next,
};
use delivery::subscription::Subscription;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Accepted, Json, NoContent, Page};
use gateway::request::{Path, Query, RequestRules, Ruled, Validation};
use primitives::clock::Timestamp;
use primitives::fields::Text;
use primitives::input::{Given, request};
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::Listed;
use table::item::{Index, Item, Key};

use crate::actions::{DeliveryAnswer, queue};
use crate::range::{self, RETENTION, TimeRange};

/// Recorded answers deleted in one transaction, which takes no more items.
const MOST_AT_ONCE: usize = 100;
/// Keys that one query examines to find those of one subscription.
const AHEAD: usize = 100;

/// Filters of the list of deliveries.
#[request]
#[derive(Debug)]
pub(crate) struct DeliveriesQuery {
    /// Only deliveries in this status.
    status: Option<DeliveryStatus>,
    /// Only deliveries to this subscription.
    subscription_id: Option<SubscriptionId>,
    /// Only deliveries of this event.
    event_id: Option<EventId>,
    /// Only deliveries of events of this type, like `order.created`.
    event_type: Option<Text<1, 100>>,
    /// Only deliveries that this replay created.
    replay_id: Option<ReplayId>,
    /// Only deliveries created at or after this time: at most 30 days before `until`, which is also the
    /// default.
    since: Option<Timestamp>,
    /// Only deliveries created at or before this time; now by default.
    until: Option<Timestamp>,
}

impl RequestRules for DeliveriesQuery {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        range::violations(given, RETENTION, validation.app.clock.now())
    }
}

/// `GET /v1/operations/webhook-deliveries` (`listWebhookDeliveries`): List webhook deliveries.
///
/// The newest delivery comes first. An app sees the deliveries to its own subscriptions only. Deliveries are
/// retained for 30 days.
pub(crate) async fn list(
    caller: StoreAccess<ReadWebhooks>,
    State(app): State<App>,
    Ruled(Query(query)): Ruled<Query<DeliveriesQuery>>,
    paging: Paging,
) -> Result<Page<DeliveryView>, Problem> {
    let store = &caller.store;
    let range =
        TimeRange::of(query.since, query.until, RETENTION, store.created_at, app.clock.now())?;
    let days = days(&store.id, range, query.status, query.subscription_id.as_ref());
    let is_requested = |delivery: &Delivery| {
        is_visible(delivery, &caller)
            && query.status.is_none_or(|status| delivery.status == status)
            && query.subscription_id.as_ref().is_none_or(|id| delivery.subscription_id == *id)
            && query.event_id.as_ref().is_none_or(|id| delivery.event_id == *id)
            && query.replay_id.as_ref().is_none_or(|id| delivery.replay_id.as_ref() == Some(id))
            && query.event_type.as_ref().is_none_or(|name| delivery.event_type == name.as_str())
    };
    paging.query_many(&app, &days, is_requested, |each| DeliveryView::from(&each)).await
}

/// One query for each day of the range. Statuses of trouble have an index of their own. The sort key ends
/// with the subscription, so that deliveries of others are not read.
fn days(
    store: &StoreId,
    range: TimeRange,
    status: Option<DeliveryStatus>,
    subscription: Option<&SubscriptionId>,
) -> Vec<table::Query> {
    let tenant = key::event_tenant(Some(store), None);
    let days = match status.filter(|status| status.is_trouble()) {
        Some(status) => {
            range.queries(Index::Gsi6, |day| key::deliveries_in(&tenant, status.as_str(), day))
        }
        None => range.queries(Index::Gsi5, |day| key::deliveries_on(&tenant, day)),
    };
    match subscription {
        Some(subscription) => days
            .into_iter()
            .map(|day| day.ends_with(key::to_subscription(subscription)).with_scan_limit(AHEAD, 20))
            .collect(),
        None => days,
    }
}

/// Whether the caller may see a delivery.
fn is_visible<S: RequiredScope>(delivery: &Delivery, caller: &StoreAccess<S>) -> bool {
    let app = caller.actor.app();
    delivery.store_id.as_ref() == Some(&caller.store.id)
        && app.is_none_or(|app| delivery.app_id.as_ref() == Some(&app.app_id))
}

/// Loads the delivery of this id, if the caller may see it.
///
/// # Errors
/// `not_found`, both for an unknown one and for another's.
pub(crate) async fn find<S: RequiredScope>(
    services: &Services,
    caller: &StoreAccess<S>,
    id: &DeliveryId,
) -> Result<Delivery, Problem> {
    let found = services.table.get::<Delivery>(&key::delivery(id)).await?;
    found.filter(|delivery| is_visible(delivery, caller)).ok_or_else(|| Code::NotFound.into())
}

/// Loads the delivery of this id, if the caller can read its event, which recorded answers may repeat.
///
/// # Errors
/// `not_found`; `insufficient_scope` for an event that the caller cannot read.
async fn find_readable<S: RequiredScope>(
    services: &Services,
    caller: &StoreAccess<S>,
    id: &DeliveryId,
) -> Result<Delivery, Problem> {
    let found = find(services, caller, id).await?;
    ensure_reads_event(&caller.actor, &found.event_type)?;
    Ok(found)
}

/// `GET /v1/operations/webhook-deliveries/{id}` (`getWebhookDelivery`): Get a webhook delivery.
///
/// The delivery has its status, the outcome of the last attempt and the time of the next one. `held_by` names
/// what else delays it.
///
/// # Errors
/// `not_found`, also for another app's delivery.
pub(crate) async fn get(
    caller: StoreAccess<ReadWebhooks>,
    State(app): State<App>,
    Path(id): Path<DeliveryId>,
) -> Result<Json<DeliveryView>, Problem> {
    let delivery = find(&app, &caller, &id).await?;
    Ok(Json::new(&DeliveryView::from(&delivery)).version(delivery.version))
}

/// `GET /v1/operations/webhook-deliveries/{id}/attempts` (`listWebhookAttempts`):
/// List attempts of a webhook delivery.
///
/// The oldest attempt comes first; the latest 50 are stored. Each has the status, the duration, the class of
/// the failure and the first 16 KiB of the response body.
///
/// # Errors
/// `not_found`, also for another app's delivery; `insufficient_scope` for an event that the caller cannot
/// read.
pub(crate) async fn attempts(
    caller: StoreAccess<ReadWebhooks>,
    State(app): State<App>,
    Path(id): Path<DeliveryId>,
    paging: Paging,
) -> Result<Page<AttemptView>, Problem> {
    let delivery = find_readable(&app, &caller, &id).await?;
    let attempts =
        paging.slice_unfinished(delivery.attempts(), |attempt| attempt.number.to_string())?;
    let keys: Vec<Key> = attempts
        .items
        .iter()
        .filter(|attempt| attempt.is_answer_apart)
        .map(|attempt| key::recorded_answer(&id, attempt.number))
        .collect();
    let mut answers = app.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
    let with_answers = attempts.filter_map(|attempt| {
        let answer = answers.take::<OversizedResponse>(&key::recorded_answer(&id, attempt.number));
        Some(attempt.with_recorded(answer.ok().flatten()))
    });
    Listed::count_read(with_answers.items.len());
    paging.finish(&app, with_answers, |attempt| AttemptView::from(&attempt)).await
}

/// `POST /v1/operations/webhook-deliveries/{id}/redeliver` (`redeliverWebhook`): Redeliver an event.
///
/// The request creates and queues a new delivery of the same event, with the same body and event id, so that
/// receivers can recognize the repetition. The new delivery does not wait for the subscription's `ordering`.
/// The old one is unchanged: pending retries continue.
///
/// # Errors
/// `not_found`; `insufficient_scope` for an event that the caller cannot read; `delivery_in_flight`;
/// `payload_expunged`; `invalid_state_transition` when the subscription is disabled, not confirmed or
/// deleted.
pub(crate) async fn redeliver(
    caller: StoreAccess<WriteWebhooks>,
    State(app): State<App>,
    Path(id): Path<DeliveryId>,
) -> Result<Accepted<DeliveryAnswer>, Problem> {
    let before = find_readable(&app, &caller, &id).await?;
    if before.expunged_at.is_some() {
        return Err(Code::PayloadExpunged.into());
    }
    if before.is_in_flight() {
        return Err(Code::DeliveryInFlight.into());
    }
    let event_key = key::event(&before.event_id);
    let subscription_key = before.message().subscription_key();
    let mut batch = app.table.get_many(&[&event_key, &subscription_key]).await?;
    let group = batch.take::<EventGroup>(&event_key)?;
    let event = group.and_then(|group| group.into_event(&before.event_id));
    let event = event.filter(|event| !event.is_expunged()).ok_or(Code::PayloadExpunged)?;
    let subscription: Subscription = batch
        .take(&subscription_key)?
        .ok_or_else(|| Problem::state("subscription_deleted", &[]))?;
    if !subscription.is_confirmed() {
        let actions = subscription.allowed_actions();
        return Err(Problem::state(subscription.status.as_str(), &actions));
    }
    if !subscription.is_enabled() && !before.test {
        return Err(Problem::state("subscription_disabled", &["enable"]));
    }
    let now = app.clock.now();
    let nonce = primitives::id::mint("", now);
    let again = Delivery {
        test: before.test,
        redelivery_of: Some(before.id),
        ..Delivery::repeated(&event, &subscription, &nonce, now)
    };
    let answer = Accepted::new(&DeliveryAnswer { delivery: DeliveryView::from(&again) });
    let write = app.table.write().create(&again, Code::VersionConflict);
    let answer = write.answer(answer, now).await?;
    queue(&app, &again).await;
    Ok(answer)
}

/// `DELETE /v1/operations/webhook-deliveries/{id}/content` (`deleteWebhookDeliveryContent`):
/// Delete the recorded responses of a delivery.
///
/// The recorded response bodies are removed, and the delivery can never be sent again. If it was not
/// finished, it is cancelled.
///
/// If a member of the store sends the request, the payload of the event is removed as well, for every
/// delivery of it. An app does not remove the payload, because other subscriptions need it.
///
/// # Errors
/// `not_found`; `insufficient_scope` for an event that the caller cannot read; `delivery_in_flight` while it
/// is being attempted.
pub(crate) async fn delete_content(
    caller: StoreAccess<WriteWebhooks>,
    State(app): State<App>,
    Path(id): Path<DeliveryId>,
) -> Result<NoContent, Problem> {
    table::retry(|| async {
        let before = find_readable(&app, &caller, &id).await?;
        if before.status == DeliveryStatus::Delivering {
            return Err(Code::DeliveryInFlight.into());
        }
        remove_answers(&app, &before).await?;
        let now = app.clock.now();
        let after = before.expunged(now);
        let write = app.table.write().replace(&after, Code::VersionConflict);
        let mut write = after.leave_ordering_key(write);
        if caller.actor.app().is_none()
            && let Some(group) = app.table.get::<EventGroup>(&key::event(&before.event_id)).await?
            && let Some(event) = group.event(&before.event_id)
            && !event.is_expunged()
        {
            write = write.replace(&group.with([event.expunged()]), Code::VersionConflict);
        }
        let answer = write.answer(NoContent::default(), now).await?;
        wake_next(&app, &after).await;
        Ok(answer)
    })
    .await
}

/// Deletes the recorded answers that are items of their own, a hundred in one transaction, because a delivery
/// that was recovered often may have more. They are deleted before the delivery is changed. After a crash in
/// between, the request can be repeated; an attempt that begins in between makes the delivery's write fail,
/// and everything is retried.
async fn remove_answers(services: &Services, delivery: &Delivery) -> Result<(), Problem> {
    let all = table::Query::partition(delivery.key().pk).begins_with(key::RECORDED_ANSWERS);
    let mut start = None;
    loop {
        let page =
            services.table.page(&all, MOST_AT_ONCE, start, |_: &OversizedResponse| true).await?;
        let write = page
            .items
            .iter()
            .fold(services.table.write(), |write, answer| write.delete(&answer.key()));
        write.commit().await?;
        start = page.next;
        if start.is_none() {
            return Ok(());
        }
    }
}
