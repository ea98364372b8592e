//! Routes of an order: with its fulfilments and refunds, its updates, and its timeline.

use std::collections::BTreeMap;

use axum::extract::State;
use callers::StoreAccess;
use commerce::topics;
use core_types::event::Event;
use core_types::fields::{Email, Metadata};
use core_types::id::{EventId, OrderId, OrderItemId};
use core_types::key;
use core_types::resource::load_with_consistency;
use core_types::scope::{ReadOrders, WriteOrders};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Json, Page};
use gateway::request::{Body, IfMatch, Path};
use identity::address::{AddressInput, PostalAddress};
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, Patch, Text};
use primitives::input::request;
use primitives::problem::Problem;
use replies::{ResourceReply, change};
use sales::guest;
use sales::order::fulfillment::FulfillmentView;
use sales::order::refund::RefundView;
use sales::order::update::OrderUpdate;
use sales::order::{
    MAX_LINES, ORDER_UPDATED, Order, OrderChange, OrderPaymentView, OrderView, load,
};
use sales::workflows::tax_order;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use table::{Query as Search, retry_eventual_first};

/// The most tags of one order.
pub(crate) const MAX_TAGS: usize = 50;

/// An order with its fulfilments and refunds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OrderDetails {
    /// The order.
    #[serde(flatten)]
    order: OrderView,
    /// The fulfilments, oldest first.
    fulfillments: Vec<FulfillmentView>,
    /// The refunds, oldest first.
    refunds: Vec<RefundView>,
    /// The payments that the order did not accept and that are refunded, because they came late or twice. They are in
    /// no other amount.
    unapplied_payments: Vec<OrderPaymentView>,
}

/// `GET /v1/orders/{id}` (`getOrder`): Get an order.
///
/// Its fulfillments and refunds are part of the response, and payments that it did not accept.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: StoreAccess<ReadOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
) -> Result<Json<OrderDetails>, Problem> {
    let aggregate = load::aggregate(&app, &caller.store.id, &id).await?;
    let details = OrderDetails {
        order: OrderView::from(&aggregate.order),
        fulfillments: aggregate.fulfillments.iter().map(FulfillmentView::from).collect(),
        refunds: aggregate.all_refunds().iter().map(RefundView::from).collect(),
        unapplied_payments: aggregate.order.unapplied.iter().map(OrderPaymentView::from).collect(),
    };
    Ok(Json::new(&details).version(aggregate.order.version))
}

/// The changes of a line.
#[request]
#[derive(Debug, Clone)]
pub struct LineUpdate {
    /// The line.
    order_item_id: OrderItemId,
    /// The new metadata, which replaces the old; `null` clears it.
    metadata: Patch<Metadata>,
}

/// The changes of an order.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The note; `null` clears it.
    note: Patch<Text<0, 2000>>,
    /// The new tags, which replace the old.
    tags: Option<AtMost<Text<1, 100>, MAX_TAGS>>,
    /// The new metadata, which replaces the old; `null` clears it.
    metadata: Patch<Metadata>,
    /// The changes of lines.
    items: Option<AtMost<LineUpdate, MAX_LINES>>,
    /// The address that confirmations are sent to.
    email: Option<Email>,
    /// The shipping address, which can be changed until something is fulfilled.
    shipping_address: Option<AddressInput>,
}

impl LineUpdate {
    /// The line and its new metadata; none if that stays.
    fn all(self) -> Option<(OrderItemId, BTreeMap<String, String>)> {
        Some((self.order_item_id, metadata_of(self.metadata)?))
    }
}

/// The new metadata; none if it stays.
fn metadata_of(metadata: Patch<Metadata>) -> Option<BTreeMap<String, String>> {
    match metadata {
        Patch::Keep => None,
        Patch::Clear => Some(BTreeMap::new()),
        Patch::Set(metadata) => Some(metadata.0),
    }
}

impl UpdateRequest {
    /// The update of an order of this store.
    fn at(self, store: &Store) -> OrderUpdate {
        let input = self;
        OrderUpdate {
            note: match input.note {
                Patch::Keep => None,
                Patch::Clear => Some(None),
                Patch::Set(note) => Some(Some(String::from(note)).filter(|note| !note.is_empty())),
            },
            metadata: metadata_of(input.metadata),
            lines: input
                .items
                .map(|lines| lines.0)
                .unwrap_or_default()
                .into_iter()
                .filter_map(LineUpdate::all)
                .collect(),
            tags: input.tags.map(|tags| tags.0.into_iter().map(String::from).collect()),
            email: input.email.map(|email| {
                let guest = store.guest_key(&email);
                (email, guest)
            }),
            shipping_address: input.shipping_address.map(PostalAddress::from),
        }
    }
}

/// `PATCH /v1/orders/{id}` (`updateOrder`): Update an order.
///
/// Note, tags, metadata and e-mail can change, and the shipping address until something was fulfilled. An order
/// that is not paid is taxed again at its new address; the tax of a paid one stays, and `tax_is_outdated` says so.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn update(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<OrderView>, Problem> {
    let key = key::order(&caller.store.id, &id);
    if input.shipping_address.is_none() && input.email.is_none() {
        return change(&app, &key, if_match, &ORDER_UPDATED, |order: &Order, now| {
            order.updated(input.clone().at(&caller.store), now)
        })
        .await;
    }
    let (app, key, if_match, input, store) = (&app, &key, &if_match, &input, &caller.store);
    retry_eventual_first(|consistency| async move {
        let now = app.clock.now();
        let before: Order = load_with_consistency(app, key, consistency).await?;
        if_match.check(before.version)?;
        let Some(changed) = before.updated(input.clone().at(store), now)? else {
            consistency.ensure_strong()?;
            return Ok(before.to_response());
        };
        let change = match input.shipping_address {
            Some(_) => tax_order::taxed(app, store, &before, changed).await?,
            None => OrderChange::new(&before, changed).announced(&ORDER_UPDATED),
        };
        let after = &change.order;
        let write = change.save(app, app.table.write(), consistency.into(), now).await?;
        guest::reassign(app, write, (&before, after)).await?.answer(after.to_response(), now).await
    })
    .await
}

/// An event of a timeline.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "OrderTimelineEntry")]
pub struct TimelineEntry {
    /// The id: `evt_` and 32 hexadecimal digits.
    id: EventId,
    /// The event type.
    r#type: String,
    /// The description of the event type; null for a type that is no longer in the catalogue.
    about: Option<&'static str>,
    /// The principal that caused it; null for the service itself.
    actor: Option<String>,
    /// The request that caused it.
    request_id: String,
    /// The object that it is about, with its version; null after its payload was removed.
    entity: Option<Value>,
    /// The object after the change; null after its payload was removed.
    data: Option<Value>,
    /// When it happened.
    created_at: Timestamp,
    /// When it was published.
    updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    version: u64,
}

impl TimelineEntry {
    fn of(event: Event, about: Option<&'static str>) -> Self {
        let mut body: Value = serde_json::from_str(&event.body).unwrap_or_default();
        let mut member = |name| body.get_mut(name).map(Value::take);
        Self {
            entity: member("entity"),
            data: member("data"),
            id: event.id,
            r#type: event.name,
            about,
            actor: event.actor,
            request_id: event.request_id,
            created_at: event.created_at,
            updated_at: event.published_at.unwrap_or(event.created_at),
            version: event.version,
        }
    }
}

/// `GET /v1/orders/{id}/events` (`listOrderEvents`): List events of an order.
///
/// Events of the order, its payments, refunds and fulfilments come newest first, as long as events are
/// retained. An app only gets the events that its scopes allow it to read.
///
/// # Errors
/// `not_found`, `invalid_cursor`.
pub async fn list_events(
    caller: StoreAccess<ReadOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    paging: Paging,
) -> Result<Page<TimelineEntry>, Problem> {
    let order = load::order(&app, &caller.store.id, &id).await?;
    let (index, timeline) = key::timeline_on(&order.store_id, order.id.as_str());
    let search = Search::index(index, timeline).newest_first();
    let topics = topics::catalogue();
    let topic = |event: &Event| topics.iter().find(|topic| topic.name == event.name);
    let may_read = |event: &Event| {
        let scope = topic(event).and_then(|topic| topic.scope);
        scope.is_none_or(|scope| caller.actor.may(scope))
    };
    let view = |event: Event| {
        let about = topic(&event).map(|topic| topic.summary);
        TimelineEntry::of(event, about)
    };
    paging.query(&app, &search, may_read, view).await
}
