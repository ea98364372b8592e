//! The route that mails a payment link to the shopper of an order.

use axum::extract::State;
use callers::StoreAccess;
use core_types::fields::LinkTemplate;
use core_types::id::OrderId;
use core_types::key;
use core_types::mail::Notice;
use core_types::resource::{Resource, load_with_consistency};
use core_types::scope::WriteOrders;
use delivery::mail::allowance;
use gateway::app::App;
use gateway::idempotency;
use gateway::idempotency::Commit;
use gateway::reply::Json;
use gateway::request::{Body, IfMatch, Path};
use identity::domain::Domains;
use identity::settings::Settings;
use primitives::clock::Timestamp;
use primitives::input::NoFields;
use primitives::problem::{Code, Problem};
use replies::ResourceReply;
use sales::order::{FinancialStatus, ORDER_PAYMENT_REQUESTED, Order, OrderView};
use table::retry_eventual_first;

/// `POST /v1/orders/{id}/send-payment-link` (`sendPaymentLink`): Send the payment link of an order.
///
/// The shopper is mailed a link to the store's payment page (`notifications.payment_url` of the settings), at
/// most five times a day. An order that a merchant confirms is mailed without this request.
///
/// # Errors
/// `not_found`; `email_unverified`: the owner of the store has no proven address; `order_already_paid`;
/// `invalid_state_transition`: the order is a draft, has ended, awaits no payment, or has no e-mail address;
/// `payment_page_missing`, `mail_limit`, `precondition_failed`, `version_conflict`.
pub async fn send_payment_link(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    Path(id): Path<OrderId>,
    if_match: IfMatch,
    _: idempotency::Required,
    Body(_): Body<NoFields>,
) -> Result<Json<OrderView>, Problem> {
    let store = &caller.store;
    let (settings_key, domains_key) = (Settings::key_of(&store.id), key::domains(&store.id));
    let mut found = app.table.get_many(&[&settings_key, &domains_key]).await?;
    let settings: Option<Settings> = found.take(&settings_key)?;
    let domains = Domains::of(&store.id, found.take(&domains_key)?);
    let is_allowed =
        |page: &LinkTemplate| domains.is_allowed_link(page.as_str(), &app.config.base_url);
    let has_page = store.is_open()
        || settings
            .is_some_and(|settings| settings.notifications.payment_page(is_allowed).is_some());
    let is_proven = store.is_owner_proven(&app).await?;
    let (app, key, if_match) = (&app, &key::order(&store.id, &id), &if_match);
    retry_eventual_first(|consistency| async move {
        let now = app.clock.now();
        let before: Order = load_with_consistency(app, key, consistency).await?;
        if_match.check(before.version)?;
        ensure_payable(&before, now)?;
        if !has_page {
            return Err(Code::PaymentPageMissing.into());
        }
        // A store sends no mails before its owner has proven an address.
        if !is_proven {
            return Err(Code::EmailUnverified.into());
        }
        let order = before.changed(now);
        let event = order.event(&ORDER_PAYMENT_REQUESTED, now);
        let write = app.table.write().replace(&order, Code::VersionConflict);
        allowance::count_repeated_request(write, &order.id, now)
            .emit(event.with_mail(Notice::PaymentRequested))
            .answer(order.to_response(), now)
            .await
    })
    .await
}

/// Ensures that the order awaits a payment and has an e-mail address.
///
/// # Errors
/// `order_already_paid`, `invalid_state_transition`.
fn ensure_payable(order: &Order, now: Timestamp) -> Result<(), Problem> {
    if !order.is_over() && order.financial_status == FinancialStatus::Paid {
        return Err(Code::OrderAlreadyPaid.with("financial_status", "paid"));
    }
    let can_be_requested = order.email.is_some() && order.is_payable(now);
    if can_be_requested { Ok(()) } else { Err(order.rejects()) }
}
