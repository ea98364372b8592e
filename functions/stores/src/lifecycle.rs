//! A store's life: open, paused, shut, brought back, given up.

use axum::extract::State;
use commerce::caller::Owner;
use commerce::event::{
    Event, STORE_ACTIVATED, STORE_CLOSED, STORE_DELETED, STORE_PAUSED, STORE_REOPENED, Topic,
};
use commerce::id::OrderId;
use commerce::key;
use commerce::order::{Order, OrderStatus};
use commerce::store::{GRACE, Store, StoreAction, StoreView};
use deserr::Deserr;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::problem::{Code, Problem};
use gateway::request::{Body, FieldErrors, IfMatch, Query, Text};
use gateway::table;
use serde_json::json;

use crate::stores::{about, give_up, shown};

/// Why a store changes its state.
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct ActRequest {
    /// In the owner's words; shown with the state.
    #[deserr(default)]
    reason: Option<Text<1, 500>>,
}

/// `POST /v1/stores/{id}/activate`: opens the storefront for orders.
///
/// # Errors
/// `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn activate(
    caller: Owner,
    State(app): State<App>,
    if_match: IfMatch,
    Body(ask): Body<ActRequest>,
) -> Result<Answer, Problem> {
    act(&caller, &app, if_match, ask, StoreAction::Activate, &STORE_ACTIVATED).await
}

/// `POST /v1/stores/{id}/pause`: the storefront stays visible and takes no orders.
///
/// # Errors
/// `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn pause(
    caller: Owner,
    State(app): State<App>,
    if_match: IfMatch,
    Body(ask): Body<ActRequest>,
) -> Result<Answer, Problem> {
    act(&caller, &app, if_match, ask, StoreAction::Pause, &STORE_PAUSED).await
}

/// `POST /v1/stores/{id}/close`: shuts the store; it can come back.
///
/// # Errors
/// `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn close(
    caller: Owner,
    State(app): State<App>,
    if_match: IfMatch,
    Body(ask): Body<ActRequest>,
) -> Result<Answer, Problem> {
    act(&caller, &app, if_match, ask, StoreAction::Close, &STORE_CLOSED).await
}

/// `POST /v1/stores/{id}/reopen`: brings a shut store back, paused.
///
/// # Errors
/// `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn reopen(
    caller: Owner,
    State(app): State<App>,
    if_match: IfMatch,
    Body(ask): Body<ActRequest>,
) -> Result<Answer, Problem> {
    act(&caller, &app, if_match, ask, StoreAction::Reopen, &STORE_REOPENED).await
}

async fn act(
    caller: &Owner,
    app: &App,
    if_match: IfMatch,
    ask: ActRequest,
    action: StoreAction,
    topic: &Topic<StoreView>,
) -> Result<Answer, Problem> {
    if_match.check(caller.store.version)?;
    let now = app.clock.now();
    let store = caller.store.act(action, ask.reason.map(String::from), now)?;
    app.table
        .write()
        .replace(&store, Code::VersionConflict)
        .emit(Event::new(topic, about(&store), &StoreView::from(&store), now))
        .answer(shown(&store), now)
        .await
}

/// The proof that the owner means this store.
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct DeleteRequest {
    /// The store's subdomain. In the body, or, for clients whose `DELETE` carries none, in the
    /// query.
    #[deserr(default)]
    confirm: Option<Text<0, 100>>,
}

/// `DELETE /v1/stores/{id}`: gives the store up. From the next request on it is gone for its
/// owner and its apps; its data is removed, and its subdomain free for others, in 30 days.
///
/// # Errors
/// `open_orders`, `precondition_failed`, `version_conflict`; `required` and `confirmation_mismatch` as faults of
/// `confirm`.
pub async fn delete(
    caller: Owner,
    State(app): State<App>,
    if_match: IfMatch,
    Query(query): Query<DeleteRequest>,
    Body(body): Body<DeleteRequest>,
) -> Result<Answer, Problem> {
    let before = &caller.store;
    let Some(confirm) = body.confirm.or(query.confirm) else {
        return Err(Problem::field("/confirm", "required", "Repeat the store's subdomain here."));
    };
    if confirm.as_str() != before.subdomain.as_str() {
        let detail = "Must be the store's subdomain.";
        return Err(Problem::field("/confirm", "confirmation_mismatch", detail));
    }
    if_match.check(before.version)?;
    let now = app.clock.now();
    let store = before.act(StoreAction::Delete, None, now)?;
    refuse_open_orders(&app, before).await?;
    let answer = json!({"id": store.id, "status": store.status, "redact_at": store.redact_at});
    let write = app.table.write().replace(&store, Code::VersionConflict);
    let write = give_up(write, &store, now.plus(GRACE));
    caller
        .account
        .one_store_less(write, Code::VersionConflict)
        .emit(Event::new(&STORE_DELETED, about(&store), &StoreView::from(&store), now))
        .answer(Answer::accepted(&answer), now)
        .await
}

/// Orders looked at in one read, newest first: open ones are among the newest.
const ORDERS_AT_ONCE: usize = 100;

/// Customers who wait for something keep the store. From the index: an order placed in this very
/// moment may slip through, and the 30 days of grace are there for it.
async fn refuse_open_orders(app: &App, store: &Store) -> Result<(), Problem> {
    let (index, place) = key::orders_of_store(&store.id, store.created_at, &OrderId::derive(&[]));
    let orders = table::Query::index(index, place.pk).newest_first();
    let is_open = |order: &Order| order.status == OrderStatus::Open;
    let open = app.table.page(&orders, ORDERS_AT_ONCE, None, is_open).await?.items;
    if open.is_empty() {
        return Ok(());
    }
    Err(Code::OpenOrders.with("open_orders", open.len()))
}
