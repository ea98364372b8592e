//! Payments of orders: creating one with a provider, verifying it after the redirect, and webhooks.

mod verify;
mod webhook;

use axum::extract::State;
use callers::Shopper;
use core_types::fields::{Currency, Handle, Subdomain, WebUrl};
use core_types::id::{OrderId, PaymentId};
use core_types::key;
use core_types::money::{MAX_AMOUNT, Money, MoneyInput};
use core_types::provider::ProviderName;
use core_types::resource::Resource;
use crypto::seal::SealKey;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, NoStore, Page};
use gateway::request::{Body, Path, Query, Ruled};
use identity::settings::Settings;
use primitives::clock::Timestamp;
use primitives::fields::{Exact, Flag, FromText, Int, Text, Written};
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use sales::order::{ORDER_UPDATED, Order, OrderStatus, PresentedToken};
use sales::payment::account::{MethodView, ProviderAccount};
use sales::payment::manual_method::payment_window;
use sales::payment::provider::{ClientParameters, Provider};
use sales::payment::provider_client::ProviderClient;
use sales::payment::{
    NewPayment, PAYMENT_CREATED, Payment, PaymentStatus, ProviderReference, can_take, load,
};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::item::Item;
use table::{Condition, Write, retry};

use crate::order_token::OrderToken;

pub use verify::{ask_provider, verify};
pub use webhook::receive;

/// The provider's segment of a route, not yet validated.
type Segment = Text<1, 64>;

/// Parses the provider's name.
///
/// # Errors
/// `unknown_provider`.
fn parse_provider(segment: &Segment) -> Result<ProviderName, Problem> {
    ProviderName::from_text(segment.as_str()).map_err(|_| Code::UnknownProvider.into())
}

/// A payment to create.
#[request]
#[derive(Debug, Clone)]
pub struct CreateRequest {
    /// The order to pay.
    order_id: OrderId,
    /// The order's token; or send it as `X-Service-Order-Token`.
    order_token: Option<Exact<200>>,
    /// The amount that the shopper expects to pay. The payment is not opened for another one.
    expected_amount: Option<MoneyInput>,
    /// The manual payment method; by default that of the order, or the only one.
    method: Option<Handle>,
    /// The URL to which the provider redirects the customer's browser.
    return_url: Option<WebUrl>,
    /// Whether the provider should store the payment method; `true` is not supported yet.
    #[expect(dead_code, reason = "nothing but `false` passes the rules")]
    save_method: Flag,
}

impl Rules for CreateRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        let requested = given.get::<Flag>("save_method").filter(|flag| flag.0);
        let detail = "Must be `false`: saving payment methods is not supported.";
        let rejected = |_| FieldError::new("/save_method", "not_supported", detail);
        requested.map(rejected).into_iter().collect()
    }
}

/// An opened payment, with the data with which the browser pays.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CreatedPaymentView {
    /// The payment's id.
    payment_id: PaymentId,
    /// The order that it pays.
    order_id: OrderId,
    /// The payment provider.
    provider: ProviderName,
    /// The provider's reference: a Razorpay order or a Stripe payment intent.
    provider_order_id: String,
    /// The amount to pay.
    amount: Money,
    /// The state of the payment.
    status: PaymentStatus,
    /// The parameters with which the browser pays.
    client: ClientParameters,
    /// The deadline for payment, after which the order expires.
    expires_at: Option<Timestamp>,
}

/// `POST /v1/storefront/{subdomain}/payments/{provider}/order` (`createPayment`): Create a payment for an order.
///
/// Creates a payment of an order's outstanding amount. A repetition returns the open payment.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential;
/// `storefront_not_found`, `unknown_provider`, `provider_not_connected`, `order_already_paid`,
/// `price_changed` if the amount is not the expected one,
/// `order_expired`, `invalid_state_transition` while a payment is processed, `amount_not_supported`,
/// `version_conflict`, `provider_error`, `provider_timeout`; `not_supported`, and `required`,
/// `not_applicable` and `payment_method_unavailable` for the method, as field errors; `not_found` for an
/// order that is not the caller's.
pub async fn create(
    caller: Shopper,
    State(app): State<App>,
    token: OrderToken,
    Path((_, provider)): Path<(Subdomain, Segment)>,
    Ruled(Body(input)): Ruled<Body<CreateRequest>>,
) -> Result<NoStore<Created<CreatedPaymentView>>, Problem> {
    let provider = parse_provider(&provider)?;
    let token = token.presented(&app, input.order_token.as_ref().map(Exact::as_str)).await?;
    let token = token.as_ref();
    let key = app.secrets.payment_key().await?;
    retry(|| open_once(&app, &caller, provider, token, &input, &key)).await
}

/// Makes one attempt: returns the open payment, or opens a new one.
async fn open_once(
    services: &Services,
    caller: &Shopper,
    provider: ProviderName,
    token: Option<&PresentedToken>,
    input: &CreateRequest,
    key: &SealKey,
) -> Result<NoStore<Created<CreatedPaymentView>>, Problem> {
    let now = services.clock.now();
    let Snapshot { order, account, method, waiting } =
        snapshot(services, caller, input, provider, token, now).await?;
    ensure_payable(&order, now)?;
    let provider_client = account.connect(key)?;
    let new_payment = NewPayment {
        store_id: order.store_id.clone(),
        order_id: order.id.clone(),
        order_number: order.number.clone(),
        amount: waiting.as_ref().unwrap_or(&order).outstanding(),
        expires_at: waiting.as_ref().unwrap_or(&order).expires_at,
    };
    let expected = input.expected_amount.as_ref();
    if expected.is_some_and(|expected| {
        expected.in_currency(&order.currency).as_ref() != Ok(&new_payment.amount)
    }) {
        let totals = serde_json::to_value(&order.totals).unwrap_or_default();
        return Err(Code::PriceChanged.with("totals", totals));
    }
    if !can_take(provider, &new_payment.amount) {
        return Err(Code::AmountNotSupported.with("provider", provider.as_str()));
    }
    let before = load::payments_of(services, &order.store_id, &order.id).await?;
    let of_provider = || before.iter().filter(|payment| payment.provider == provider);
    let open = of_provider().find(|payment| {
        payment.is_open()
            && payment.mode == account.mode
            && payment.key_id == account.key_id
            && payment.capture_method == account.capture_method
            && payment.amount == new_payment.amount
            && (method.is_none() || payment.method == method)
    });
    if let Some(payment) = open {
        return Ok(to_response(&provider_client, payment, input, key));
    }
    let id = account.payment_id(&new_payment, of_provider().count());
    let at_provider = provider_client.create_payment(services, &id, &new_payment).await?;
    let begun = Payment::begun(id, &account, new_payment, at_provider, key, now);
    let payment = Payment { method, ..begun };
    let has_keys = (account.version > 0).then_some(&account);
    let write = services
        .table
        .write()
        .create(&payment, Code::VersionConflict)
        .create(&ProviderReference::from(&payment), Code::VersionConflict)
        .when_some(has_keys, |write, account| {
            // The account must not have been disabled or removed meanwhile.
            write.check(&account.key(), account.version_condition(), Code::VersionConflict)
        });
    require_unchanged(write, &order, waiting.as_ref(), now)
        .emit(payment.event(&PAYMENT_CREATED, now))
        .answer(to_response(&provider_client, &payment, input, key), now)
        .await
}

/// Adds the condition that the order has not changed meanwhile; or replaces it by the order with a later
/// expiry for this payment.
fn require_unchanged(
    write: Write,
    order: &Order,
    waiting: Option<&Order>,
    now: Timestamp,
) -> Write {
    if let Some(waiting) = waiting {
        let event = waiting.event(&ORDER_UPDATED, now);
        return write.replace(waiting, Code::VersionConflict).emit(event);
    }
    write.check(&order.key(), Condition::is_at(order.version), Code::VersionConflict)
}

/// The items from which a payment is opened.
struct Snapshot {
    order: Order,
    account: ProviderAccount,
    /// The id of the manual method.
    method: Option<String>,
    /// The order with a later expiry, if this payment method has a longer payment window, or with its amount
    /// due rounded to what the provider can count.
    waiting: Option<Order>,
}

/// Loads the order, if it is the caller's, and the store's account with the provider, if it is enabled, in
/// one round trip.
async fn snapshot(
    services: &Services,
    caller: &Shopper,
    input: &CreateRequest,
    provider: ProviderName,
    token: Option<&PresentedToken>,
    now: Timestamp,
) -> Result<Snapshot, Problem> {
    let store = caller.store();
    let order_key = key::order(&store.id, &input.order_id);
    let account_key = key::payment_provider(&store.id, provider.as_str());
    let settings_key = Settings::key_of(&store.id);
    let mut found = services.table.get_many(&[&order_key, &account_key, &settings_key]).await?;
    let account: Option<ProviderAccount> = found.take(&account_key)?;
    let cash = (provider == ProviderName::Manual).then(|| ProviderAccount::manual(store));
    let account = account.or(cash).filter(ProviderAccount::is_offered);
    let account = account.ok_or(Code::ProviderNotConnected)?;
    let order: Option<Order> = found.take(&order_key)?;
    let customer = caller.customer.as_ref().map(|customer| &customer.account.id);
    let order = order.filter(|order| order.is_shown_to(customer, token)).ok_or(Code::NotFound)?;
    let account = account.for_order(&order);
    let of_order = order.payment_method.as_ref().filter(|_| provider == ProviderName::Manual);
    let id = input.method.as_ref().or(of_order.map(|method| &method.id));
    let chosen = account.choose_method(id, "/method");
    let chosen = chosen.map_err(|error| Problem::invalid(vec![error]))?.cloned();
    let settings = found.take(&settings_key)?.unwrap_or_else(|| Settings::of(store));
    let window = payment_window(&settings.checkout, Some(provider), chosen.as_ref());
    let manual = (provider == ProviderName::Manual).then(|| order.with_payment_window(window, now));
    Ok(Snapshot {
        waiting: manual.flatten().or_else(|| order.rounded_for(provider, now)),
        order,
        method: chosen.as_ref().map(|method| method.id.as_str().to_owned()),
        account: account.for_method(chosen.as_ref()),
    })
}

/// Ensures that the order can be paid.
///
/// # Errors
/// `order_already_paid`, `order_expired`.
fn ensure_payable(order: &Order, now: Timestamp) -> Result<(), Problem> {
    let is_late = !order.is_processing() && order.expires_at.is_some_and(|at| at <= now);
    if order.is_over() || is_late || order.status == OrderStatus::Closed {
        return Err(Code::OrderExpired.with("order_status", order.status.as_str()));
    }
    if order.is_payable(now) {
        return Ok(());
    }
    if order.is_processing() {
        return Err(order.rejects());
    }
    Err(Code::OrderAlreadyPaid.with("financial_status", order.financial_status.as_str()))
}

/// The response: 201, also for a payment that was open already, so that repetitions get the same response.
fn to_response(
    provider_client: &ProviderClient,
    payment: &Payment,
    input: &CreateRequest,
    key: &SealKey,
) -> NoStore<Created<CreatedPaymentView>> {
    let mut client = provider_client.client_parameters(payment, payment.client_secret(key));
    if let (Some(url), Some(options)) = (&input.return_url, client.options.as_object_mut()) {
        options.insert("return_url".to_owned(), url.as_str().into());
    }
    let created = CreatedPaymentView {
        payment_id: payment.id.clone(),
        order_id: payment.order_id.clone(),
        provider: payment.provider,
        provider_order_id: payment.provider_reference.clone(),
        amount: payment.amount.clone(),
        status: payment.status,
        client,
        expires_at: payment.expires_at,
    };
    Created::new(&created).no_store()
}

/// The filter of payment methods.
#[request]
#[derive(Debug)]
pub struct MethodsQuery {
    /// The currency; a store accepts its own alone.
    currency: Option<Currency>,
    /// The amount in minor units, because some providers do not support every amount of every currency.
    amount: Option<Written<Int<0, MAX_AMOUNT>>>,
}

/// `GET /v1/storefront/{subdomain}/payments/methods` (`listPaymentMethods`): List payment methods of a storefront.
///
/// Providers come with their public keys. For another currency than the store's, or an amount of 0, there
/// is none.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential; `storefront_not_found`, `invalid_cursor`.
pub async fn list_methods(
    caller: Shopper,
    State(app): State<App>,
    Query(query): Query<MethodsQuery>,
    paging: Paging,
) -> Result<Page<MethodView>, Problem> {
    let store = caller.store();
    let is_own_currency =
        query.currency.as_ref().is_none_or(|currency| *currency == store.currency);
    let has_amount = query.amount.is_some();
    let amount = query.amount.map_or(0, |amount| amount.0.0);
    let due = Money { amount, currency: store.currency.clone() };
    let accounts = load::accounts(&app, store).await?;
    let usable = accounts.iter().filter(|account| {
        account.is_offered() && is_own_currency && (!has_amount || can_take(account.provider, &due))
    });
    let methods = usable.flat_map(MethodView::all_of).collect();
    paging.slice(&app, methods, |method: &MethodView| method.id.clone()).await
}
