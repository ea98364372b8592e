//! Routes of payments: the list, a payment, and its events.

use axum::extract::State;
use callers::StoreAccess;
use core_types::event::Event;
use core_types::id::{EventId, OrderId, PaymentId, StoreId};
use core_types::key;
use core_types::provider::ProviderName;
use core_types::scope::ReadPayments;
use gateway::app::App;
use gateway::page::Paging;
use gateway::reply::{Json, Page};
use gateway::request::{Path, Query};
use primitives::clock::Timestamp;
use primitives::input::request;
use primitives::problem::Problem;
use replies::ResourceReply;
use sales::payment::{Payment, PaymentStatus, PaymentView, load};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// With a selective filter: the payments or events that one round trip reads, and the most round trips for a
/// page. After these the page ends early, with a cursor.
const AHEAD: (usize, u32) = (200, 10);

/// The filters of payments.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only payments of this order.
    order_id: Option<OrderId>,
    /// Only payments with this status.
    status: Option<PaymentStatus>,
    /// Only payments through this provider.
    provider: Option<ProviderName>,
}

/// `GET /v1/payments` (`listPayments`): List payments of a store.
///
/// Payments come newest first. With an order, only its payments are listed, in the order of their ids.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadPayments>,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<PaymentView>, Problem> {
    let store = &caller.store.id;
    let matches = |payment: &Payment| {
        query.status.is_none_or(|status| payment.status == status)
            && query.provider.is_none_or(|provider| payment.provider == provider)
    };
    let partition = match &query.order_id {
        Some(order) => load::of_order(store, order),
        None => payments_of(store).newest_first(),
    };
    let is_narrow = query.status.is_some() || query.provider.is_some();
    let partition = if is_narrow { partition.with_scan_limit(AHEAD.0, AHEAD.1) } else { partition };
    paging.query(&app, &partition, matches, |payment: Payment| PaymentView::from(&payment)).await
}

/// The query of all payments of a store.
fn payments_of(store: &StoreId) -> table::Query {
    table::Query::list(key::list::payments_of_store(store))
}

/// `GET /v1/payments/{id}` (`getPayment`): Get a payment.
///
/// The response has its attempts, receipts, refunds and disputes.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: StoreAccess<ReadPayments>,
    State(app): State<App>,
    Path(id): Path<PaymentId>,
) -> Result<Json<PaymentView>, Problem> {
    Ok(load::payment(&app, &caller.store, &id).await?.to_response())
}

/// An event of a payment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventView {
    /// The id: `evt_` and 32 hexadecimal digits.
    id: EventId,
    /// The event type.
    r#type: String,
    /// The version of the payment after it.
    entity_version: u64,
    /// The request that caused it.
    request_id: String,
    /// The principal of that request; null for the service itself.
    actor: Option<String>,
    /// The payment after the change; null after its payload was removed.
    data: Option<Value>,
    /// When it happened.
    created_at: Timestamp,
}

impl From<Event> for EventView {
    fn from(event: Event) -> Self {
        let body: Option<Value> = serde_json::from_str(&event.body).ok();
        Self {
            id: event.id,
            r#type: event.name,
            entity_version: event.entity_version,
            request_id: event.request_id,
            actor: event.actor,
            data: body.and_then(|mut body| body.get_mut("data").map(Value::take)),
            created_at: event.created_at,
        }
    }
}

/// `GET /v1/payments/{id}/events` (`listPaymentEvents`): List events of a payment.
///
/// Events come newest first, as long as events are retained.
///
/// # Errors
/// `not_found`, `invalid_cursor`.
pub async fn list_events(
    caller: StoreAccess<ReadPayments>,
    State(app): State<App>,
    Path(id): Path<PaymentId>,
    paging: Paging,
) -> Result<Page<EventView>, Problem> {
    let store = &caller.store.id;
    let order = load::payment(&app, &caller.store, &id).await?.order_id;
    let (index, timeline) = key::timeline_on(store, order.as_str());
    let query =
        table::Query::index(index, timeline).newest_first().with_scan_limit(AHEAD.0, AHEAD.1);
    paging
        .query(&app, &query, |event: &Event| event.entity_id == id.as_str(), EventView::from)
        .await
}
