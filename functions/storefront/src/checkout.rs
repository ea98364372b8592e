//! Checkout: a shopper's cart becomes an order; the order can be looked up and called off with
//! the token that came with it, or by the customer it belongs to.

use axum::extract::State;
use commerce::address::{AddressInput, PostalAddress};
use commerce::caller::Shopper;
use commerce::event::{Event, ORDER_CANCELLED};
use commerce::fields::Email;
use commerce::gift_card::GiftCardCode;
use commerce::id::OrderId;
use commerce::money::{AskedMoney, Money};
use commerce::order::checkout::{self, Cart, Placing, Priced};
use commerce::order::place::{Buyer, LineInput, merge};
use commerce::order::shopper::{ShopperFulfillmentView, ShopperOrderView};
use commerce::order::{MAX_GIFT_CARDS, Order, OrderView, parts, settle};
use commerce::payment::{CaptureMethod, ProviderName};
use commerce::store::{Store, StoreStatus};
use deserr::Deserr;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::idempotency;
use gateway::problem::{Code, FieldError, Problem};
use gateway::request::{AtMost, Body, Fault, FieldErrors, Flag, Inbound, Path, Raw, Text};
use gateway::seal;
use gateway::table::retry;
use serde::Serialize;
use serde_json::{Value, json};

/// The header that carries an order's token.
const ORDER_TOKEN: &str = "x-service-order-token";
/// Why a shopper's order was called off, when they do not say.
const BY_SHOPPER: &str = "cancelled by the customer";

/// How the shopper wants to pay.
#[derive(Debug, Clone, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct PaymentRequest {
    /// Through whom.
    provider: ProviderName,
    /// A wish: the store's account with the provider decides when money is taken.
    #[deserr(default, rename = "capture_method")]
    _capture_method: Option<CaptureMethod>,
}

/// A cart to be ordered.
#[derive(Debug, Clone, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct OrderRequest {
    /// The lines; those of one variant become one.
    items: AtMost<LineInput, 200>,
    /// Where the confirmation goes; a customer's own unless said otherwise.
    #[deserr(default)]
    email: Option<Email>,
    /// Where it goes.
    #[deserr(default)]
    shipping_address: Option<AddressInput>,
    /// Who is billed.
    #[deserr(default)]
    billing_address: Option<AddressInput>,
    /// A shipping rate of the store.
    #[deserr(default)]
    shipping_rate_id: Option<Text<1, 100>>,
    /// Gift cards to pay with.
    #[deserr(default)]
    gift_card_codes: Option<AtMost<GiftCardCode, MAX_GIFT_CARDS>>,
    /// What the shopper believes it comes to.
    #[deserr(default)]
    expected_total: Option<AskedMoney>,
    /// A word to the merchant.
    #[deserr(default)]
    note: Option<Text<0, 2000>>,
    /// How the shopper wants to pay.
    #[deserr(default)]
    payment: Option<PaymentRequest>,
    /// Only says what it would come to, and whether it can be had.
    #[deserr(default)]
    dry_run: Flag,
}

/// `POST /v1/storefront/{subdomain}/orders`: orders a cart at the server's prices. Nothing is
/// charged yet: the order holds its stock while it waits for its payment.
///
/// # Errors
/// `insufficient_stock`, `price_changed`, `store_not_accepting_orders`, `account_required`;
/// `empty_cart`, `unknown_variant`, `required` and the faults of gift cards as faults of their
/// fields.
pub async fn order(
    caller: Shopper,
    State(app): State<App>,
    _: idempotency::Required,
    Body(ask): Body<OrderRequest>,
) -> Result<Answer, Problem> {
    let store = caller.store();
    let cart = Cart {
        lines: merge(ask.items.0.clone())?,
        gift_card_codes: ask.gift_card_codes.clone().map(|codes| codes.0).unwrap_or_default(),
        expected_total: expected(ask.expected_total.as_ref(), store)?,
        everything: false,
    };
    let judge = |priced: &Priced| check(&caller, &ask, priced);
    if ask.dry_run.0 {
        let priced = checkout::price(&app, store, &cart).await?;
        takes_orders(&priced.store)?;
        let quote = &priced.quote;
        let answer = json!({"totals": quote.totals, "availability": quote.availability()});
        return Ok(Answer::ok(&answer));
    }
    let token = seal::random_secret();
    let placing = Placing {
        buyer: buyer(&caller, &ask),
        draft: false,
        expires: true,
        order_token_digest: Some(seal::digest(&token)),
        paid: None,
    };
    checkout::place(&app, store, &cart, &placing, judge, |order| placed(order, &token)).await
}

/// The answer to a checkout: the only one that holds the token.
fn placed(order: &Order, token: &str) -> Answer {
    let view = ShopperOrderView::of(order, order.created_at);
    let answer = json!({
        "payment_required": view.payment_required,
        "expires_at": view.expires_at,
        "order": view,
        "order_token": token,
    });
    Answer::created(&answer).version(order.version).no_store()
}

fn buyer(caller: &Shopper, ask: &OrderRequest) -> Buyer {
    let account = caller.customer.as_ref().map(|customer| &customer.account);
    Buyer {
        customer_id: account.map(|account| account.id.clone()),
        email: ask.email.clone().or_else(|| account.map(|account| account.email.clone())),
        shipping_address: ask.shipping_address.clone().map(PostalAddress::from),
        billing_address: ask.billing_address.clone().map(PostalAddress::from),
        note: ask.note.clone().map(String::from).filter(|note| !note.is_empty()),
        tags: Vec::new(),
        source: "storefront".to_owned(),
        payment_provider: ask.payment.as_ref().map(|payment| payment.provider.to_string()),
    }
}

/// # Errors
/// `store_not_accepting_orders`.
fn takes_orders(store: &Store) -> Result<(), Problem> {
    if store.status == StoreStatus::Active {
        return Ok(());
    }
    Err(Code::StoreNotAcceptingOrders.with("storefront_status", store.status.as_str()))
}

/// Whether the store takes this cart from this shopper.
fn check(caller: &Shopper, ask: &OrderRequest, priced: &Priced) -> Result<(), Problem> {
    takes_orders(&priced.store)?;
    let settings = &priced.settings.checkout;
    if caller.customer.is_none() && !settings.guest_checkout {
        return Err(Code::AccountRequired.into());
    }
    let mut errors = Vec::new();
    let mut missing = |pointer: &str, code: &'static str, detail: &'static str| {
        errors.push(FieldError { pointer: pointer.to_owned(), fault: Fault::new(code, detail) });
    };
    if caller.customer.is_none() && ask.email.is_none() {
        missing("/email", "required", "Say where the confirmation goes.");
    }
    if ask.shipping_rate_id.is_some() {
        missing("/shipping_rate_id", "unknown_shipping_rate", "There is no such shipping rate.");
    }
    match &ask.shipping_address {
        None if priced.quote.requires_shipping() => {
            missing("/shipping_address", "required", "Say where it goes.");
        }
        Some(address) if settings.require_phone && address.phone.is_none() => {
            missing("/shipping_address/phone", "required", "The store asks for a number.");
        }
        _ => {}
    }
    if errors.is_empty() { Ok(()) } else { Err(Problem::invalid(errors)) }
}

/// The total that the shopper believes in, in the store's currency.
fn expected(asked: Option<&AskedMoney>, store: &Store) -> Result<Option<Money>, Problem> {
    let Some(asked) = asked else { return Ok(None) };
    asked.in_currency(&store.currency).map(Some).map_err(|fault| {
        Problem::invalid(vec![FieldError { pointer: "/expected_total/currency".into(), fault }])
    })
}

/// An order with its parcels.
#[derive(Debug, Serialize)]
struct ShopperPage {
    #[serde(flatten)]
    order: ShopperOrderView,
    fulfillments: Vec<ShopperFulfillmentView>,
}

/// `GET /v1/storefront/{subdomain}/orders/{id}`: an order, for whoever has its token, or for its
/// customer.
///
/// # Errors
/// `not_found`: unknown, foreign, or without the right token.
pub async fn show(
    caller: Shopper,
    State(app): State<App>,
    Path((_, id)): Path<(Text<0, 100>, OrderId)>,
    Raw(inbound): Raw,
) -> Result<Answer, Problem> {
    let parts = parts::load(&app, &caller.store().id, &id).await?;
    admit(&caller, &inbound, &parts.order)?;
    let page = ShopperPage {
        order: ShopperOrderView::of(&parts.order, app.clock.now()),
        fulfillments: parts.fulfillments.iter().map(ShopperFulfillmentView::from).collect(),
    };
    Ok(Answer::ok(&page).version(parts.order.version).no_store())
}

/// # Errors
/// `not_found`.
pub(crate) fn admit(caller: &Shopper, inbound: &Inbound, order: &Order) -> Result<(), Problem> {
    let customer = caller.customer.as_ref().map(|customer| &customer.account.id);
    let is_theirs = customer.is_some() && customer == order.customer_id.as_ref();
    // Digests are compared, not tokens: where they first differ says nothing about the token.
    let shown = inbound.header(ORDER_TOKEN).map(seal::digest);
    let has_token = shown.is_some() && shown == order.order_token_digest;
    if is_theirs || has_token { Ok(()) } else { Err(Code::NotFound.into()) }
}

/// Why a shopper calls an order off.
#[derive(Debug, Clone, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct CancelRequest {
    /// In their words.
    #[deserr(default)]
    reason: Option<Text<1, 500>>,
}

/// `POST /v1/storefront/{subdomain}/orders/{id}/cancel`: calls an unpaid order off.
///
/// # Errors
/// `not_found`; `invalid_state_transition`: it was paid, promised, confirmed, or is over.
pub async fn cancel(
    caller: Shopper,
    State(app): State<App>,
    Path((_, id)): Path<(Text<0, 100>, OrderId)>,
    Raw(inbound): Raw,
    Body(ask): Body<CancelRequest>,
) -> Result<Answer, Problem> {
    retry(|| async {
        let now = app.clock.now();
        let key = commerce::key::order(&caller.store().id, &id);
        let before: Order = app.table.get(&key).await?.ok_or(Code::NotFound)?;
        admit(&caller, &inbound, &before)?;
        if !before.is_cancellable_by_shopper() {
            let view = ShopperOrderView::of(&before, now);
            return Err(Problem::state(before.status.as_str(), &view.allowed_actions)
                .with("financial_status", before.financial_status.as_str()));
        }
        let reason = ask.reason.clone().map_or_else(|| BY_SHOPPER.to_owned(), String::from);
        let ended = before.cancel(Some(reason), true, now)?;
        let event =
            Event::new(&ORDER_CANCELLED, ended.order.about(), &OrderView::from(&ended.order), now);
        settle::end(app.table.write(), &ended, now)
            .emit(event)
            .answer(Answer::ok(&seen(&ended.order, now)).version(ended.order.version), now)
            .await
    })
    .await
}

fn seen(order: &Order, now: Timestamp) -> Value {
    serde_json::to_value(ShopperOrderView::of(order, now)).unwrap_or_default()
}
