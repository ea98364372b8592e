//! Handlers of a store's lifecycle: activate, pause, close, reopen, delete.

use axum::extract::State;
use callers::{Admin, ClosingOwner};
use core_types::event::Topic;
use core_types::id::StoreId;
use core_types::key;
use core_types::resource;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Accepted, Json};
use gateway::request::{Body, IfMatch, Query};
use identity::domain::Domains;
use identity::merchant::Merchant as MerchantAccount;
use identity::settings::LONGEST_MANUAL_PAYMENT_WINDOW;
use identity::store::{
    self, DELETION_GRACE_PERIOD, STORE_ACTIVATED, STORE_CLOSED, STORE_DELETED, STORE_PAUSED,
    STORE_REOPENED, Store, StoreAction, StoreStatus, StoreView,
};
use primitives::clock::{MINUTE, Timestamp};
use primitives::fields::{AtMost, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use sales::order::{Order, OrderStatus};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;

use crate::readiness::{self, Requirement};
use crate::stores::{release_subdomain_at, to_response};

/// A change of a store's status.
#[request]
#[derive(Debug)]
pub struct StatusChangeRequest {
    /// The reason, in the owner's words; returned with the status.
    reason: Option<Text<1, 500>>,
}

/// The opening of a storefront.
#[request]
#[derive(Debug)]
pub struct ActivateRequest {
    /// The reason, in the owner's words; returned with the status.
    reason: Option<Text<1, 500>>,
    /// The requirements that may be missing when the store is activated for the first time.
    accept_missing: Option<AtMost<Requirement, 3>>,
}

/// `POST /v1/stores/{id}/activate` (`activateStore`): Activate a store.
///
/// The storefront accepts orders. The event is `store.activated`. A store that is activated for the first
/// time must have shipping rates, a payment provider and tax rates, or name those that it sells without in
/// `accept_missing`: with free shipping, manual payments, or without tax.
///
/// # Errors
/// `store_not_ready`, with what is missing; `invalid_state_transition`, `precondition_failed`,
/// `version_conflict`.
pub async fn activate(
    caller: Admin,
    State(app): State<App>,
    if_match: IfMatch,
    Body(input): Body<ActivateRequest>,
) -> Result<Json<StoreView>, Problem> {
    if caller.store.status == StoreStatus::Draft {
        if_match.check(caller.store.version)?;
        let accepted = input.accept_missing.map(|missing| missing.0).unwrap_or_default();
        readiness::ensure(&app, &caller, &accepted).await?;
    }
    let input = StatusChangeRequest { reason: input.reason };
    change_status(&caller, &app, if_match, input, StoreAction::Activate, &STORE_ACTIVATED).await
}

/// `POST /v1/stores/{id}/pause` (`pauseStore`): Pause a store.
///
/// The storefront stays visible, but does not accept orders. The event is `store.paused`.
///
/// # Errors
/// `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn pause(
    caller: Admin,
    State(app): State<App>,
    if_match: IfMatch,
    Body(input): Body<StatusChangeRequest>,
) -> Result<Json<StoreView>, Problem> {
    change_status(&caller, &app, if_match, input, StoreAction::Pause, &STORE_PAUSED).await
}

/// `POST /v1/stores/{id}/close` (`closeStore`): Close a store.
///
/// The store is closed, and can be reopened. The event is `store.closed`.
///
/// # Errors
/// `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn close(
    caller: Admin,
    State(app): State<App>,
    if_match: IfMatch,
    Body(input): Body<StatusChangeRequest>,
) -> Result<Json<StoreView>, Problem> {
    change_status(&caller, &app, if_match, input, StoreAction::Close, &STORE_CLOSED).await
}

/// `POST /v1/stores/{id}/reopen` (`reopenStore`): Reopen a closed store.
///
/// The store is paused after that, until it is activated. The event is `store.reopened`.
///
/// # Errors
/// `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn reopen(
    caller: Admin,
    State(app): State<App>,
    if_match: IfMatch,
    Body(input): Body<StatusChangeRequest>,
) -> Result<Json<StoreView>, Problem> {
    change_status(&caller, &app, if_match, input, StoreAction::Reopen, &STORE_REOPENED).await
}

async fn change_status(
    caller: &Admin,
    services: &Services,
    if_match: IfMatch,
    input: StatusChangeRequest,
    action: StoreAction,
    topic: &Topic<StoreView>,
) -> Result<Json<StoreView>, Problem> {
    if_match.check(caller.store.version)?;
    let now = services.clock.now();
    let store = caller.store.after_action(action, input.reason.map(String::from), now)?;
    let base_url = &services.config.base_url;
    store::replace(services.table.write(), &store)
        .emit(store.event(topic, base_url, now))
        .answer(to_response(&StoreView::of(&store, base_url)), now)
        .await
}

/// The confirmation of a store's deletion.
#[request]
#[derive(Debug)]
pub struct DeleteRequest {
    /// The store's subdomain: in the body, or, for clients whose `DELETE` has no body, in the query.
    confirm: Option<Text<0, 100>>,
}

/// A deleted store.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedStore {
    /// The id.
    id: StoreId,
    /// Always `deleted`.
    status: StoreStatus,
    /// When `store.redacted` is sent, which asks apps to delete their copies of its data.
    redact_at: Option<Timestamp>,
}

/// `DELETE /v1/stores/{id}` (`deleteStore`): Delete a store.
///
/// From the next request on, its members and apps no longer have access. Its domains are released. After 30
/// days its subdomain is released too, and `store.redacted` asks apps to delete their copies of its data; the
/// platform retains its own, inaccessible, for the records. A repetition with the same `Idempotency-Key`
/// returns the same response.
///
/// # Errors
/// `open_orders`, `precondition_failed`, `version_conflict`; `required` and
/// `confirmation_mismatch` as field errors of `confirm`.
pub async fn delete(
    ClosingOwner(caller): ClosingOwner,
    State(app): State<App>,
    if_match: IfMatch,
    Query(query): Query<DeleteRequest>,
    Body(body): Body<DeleteRequest>,
) -> Result<Accepted<DeletedStore>, Problem> {
    let before = &caller.store;
    let Some(confirm) = body.confirm.or(query.confirm) else {
        return Err(Problem::field(
            "/confirm",
            "required",
            "Send the store's subdomain as `confirm`.",
        ));
    };
    if confirm.as_str() != before.subdomain.as_str() {
        let detail = "Must be the store's subdomain.";
        return Err(Problem::field("/confirm", "confirmation_mismatch", detail));
    }
    if_match.check(before.version)?;
    let now = app.clock.now();
    let store = before.after_action(StoreAction::Delete, None, now)?;
    reject_open_orders(&app, before).await?;
    let account = owner_account(&app, caller.account, &store).await?;
    let domains = Domains::of(&store.id, app.table.get(&key::domains(&store.id)).await?);
    let store = Store { primary_domain: None, ..store };
    let answer =
        DeletedStore { id: store.id.clone(), status: store.status, redact_at: store.redact_at };
    let write = store::replace(app.table.write(), &store);
    let write = release_subdomain_at(write, &store, now.plus(DELETION_GRACE_PERIOD));
    account
        .count_deleted_store(domains.release_all(write), Code::VersionConflict)
        .emit(store.event(&STORE_DELETED, &app.config.base_url, now))
        .answer(Accepted::new(&answer), now)
        .await
}

/// The account whose stores are counted: that of the store's owner, who need not be the caller.
async fn owner_account(
    services: &Services,
    account: MerchantAccount,
    store: &Store,
) -> Result<MerchantAccount, Problem> {
    if account.id == store.owner_id {
        return Ok(account);
    }
    resource::load(services, &key::merchant(&store.owner_id)).await
}

/// The most open orders that are counted.
const MOST_COUNTED: usize = 100;
/// Orders that one query inspects, as many as fit into its limit of one megabyte.
const ORDERS_AT_ONCE: usize = 1_000;
/// The most queries of recent orders.
const READS: u32 = 20;

/// Ensures that no customer waits for an order. Orders with open obligations have an index of their own,
/// whatever their age. Unpaid orders that expire are searched among the orders of the longest window in which
/// one can be paid, which is that of manual payments. A store with more recent orders than [`READS`] queries
/// inspect is not deleted.
///
/// Indexes are eventually consistent: an order that is placed at this moment may be missed. The grace period
/// of 30 days is for such orders.
async fn reject_open_orders(services: &Services, store: &Store) -> Result<(), Problem> {
    let unfulfilled = table::Query::list(key::list::open_orders_of_store(&store.id)).newest_first();
    let unfulfilled = services.table.keys(&unfulfilled, MOST_COUNTED).await?.len();
    let now = services.clock.now();
    let minutes = u32::try_from(LONGEST_MANUAL_PAYMENT_WINDOW).unwrap_or(u32::MAX);
    let since = now.minus(MINUTE.saturating_mul(minutes));
    let recent = table::Query::list(key::list::orders_of_store(&store.id))
        .between(since.to_string(), "~")
        .newest_first()
        .with_scan_limit(ORDERS_AT_ONCE, READS);
    let is_unpaid = |order: &Order| {
        order.status == OrderStatus::Open
            && !order.is_processing()
            && order.expires_at.is_some_and(|at| now < at)
    };
    let unpaid = services.table.page(&recent, MOST_COUNTED, None, is_unpaid).await?;
    let open = unfulfilled.saturating_add(unpaid.items.len()).min(MOST_COUNTED);
    match (open, unpaid.next) {
        (0, None) => Ok(()),
        (0, Some(_)) => Err(Code::OpenOrders.into()),
        (open, _) => Err(Code::OpenOrders.with("open_orders", open)),
    }
}
