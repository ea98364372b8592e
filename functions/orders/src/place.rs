//! Orders that a merchant or an app makes: by telephone, at a counter, from a marketplace.

use axum::extract::State;
use commerce::address::{AddressInput, PostalAddress};
use commerce::caller::StoreAccess;
use commerce::fields::Email;
use commerce::gift_card::GiftCardCode;
use commerce::id::CustomerId;
use commerce::key;
use commerce::money::AskedMoney;
use commerce::order::checkout::{self, Cart, Placing};
use commerce::order::place::{Buyer, LineInput, merge};
use commerce::order::{MAX_GIFT_CARDS, Order, OrderView};
use commerce::scope::WriteOrders;
use commerce::store::Store;
use deserr::Deserr;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::idempotency;
use gateway::problem::{FieldError, Problem};
use gateway::request::{AtMost, Body, FieldErrors, Flag, Text};
use serde_json::json;

use crate::orders::MAX_TAGS;

/// How an order was paid already.
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct PaidRequest {
    /// `cash`, `bank_transfer`, a card at the counter.
    #[deserr(default)]
    method: Option<Text<1, 50>>,
}

/// An order to be made.
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct PlaceRequest {
    /// The lines; those of one variant become one.
    items: AtMost<LineInput, 200>,
    /// Where confirmations go.
    #[deserr(default)]
    email: Option<Email>,
    /// The customer it is for.
    #[deserr(default)]
    customer_id: Option<CustomerId>,
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
    /// What the caller believes it comes to.
    #[deserr(default)]
    expected_total: Option<AskedMoney>,
    /// In the merchant's words.
    #[deserr(default)]
    note: Option<Text<0, 2000>>,
    /// Labels.
    #[deserr(default)]
    tags: Option<AtMost<Text<1, 100>, MAX_TAGS>>,
    /// Where it was made: `phone`, `counter`, a marketplace's name.
    #[deserr(default)]
    source: Option<Text<1, 50>>,
    /// Not binding yet; its stock is held until it is paid or called off.
    #[deserr(default)]
    draft: Flag,
    /// It was paid already.
    #[deserr(default)]
    mark_paid: Option<PaidRequest>,
    /// Only says what it would come to.
    #[deserr(default)]
    dry_run: Flag,
}

/// `POST /v1/orders`: an order made by the merchant or an app. It does not expire: its stock is
/// held until it is paid or called off (our choice; a shopper's order has a payment window).
///
/// # Errors
/// `insufficient_stock`, `price_changed`; `empty_cart`, `unknown_variant`, `unknown_customer` and
/// the faults of gift cards as faults of their fields.
pub async fn place(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    _: idempotency::Required,
    Body(ask): Body<PlaceRequest>,
) -> Result<Answer, Problem> {
    let store = &caller.store;
    let PlaceRequest { items, draft, dry_run, .. } = ask;
    let cart = Cart {
        lines: merge(items.0)?,
        gift_card_codes: ask.gift_card_codes.map(|codes| codes.0).unwrap_or_default(),
        expected_total: expected(ask.expected_total.as_ref(), store)?,
        everything: true,
    };
    if ask.shipping_rate_id.is_some() {
        return Err(unknown_rate());
    }
    if draft.0 && ask.mark_paid.is_some() {
        let detail = "An order that was paid is not a draft.";
        return Err(Problem::field("/draft", "mutually_exclusive", detail));
    }
    check_customer(&app, store, ask.customer_id.as_ref()).await?;
    if dry_run.0 {
        let quote = checkout::price(&app, store, &cart).await?.quote;
        let answer = json!({"totals": quote.totals, "availability": quote.availability()});
        return Ok(Answer::ok(&answer));
    }
    let placing = Placing {
        buyer: Buyer {
            customer_id: ask.customer_id,
            email: ask.email,
            shipping_address: ask.shipping_address.map(PostalAddress::from),
            billing_address: ask.billing_address.map(PostalAddress::from),
            note: ask.note.map(String::from).filter(|note| !note.is_empty()),
            tags: ask
                .tags
                .map(|tags| tags.0.into_iter().map(String::from).collect())
                .unwrap_or_default(),
            source: ask.source.map_or_else(|| "admin".to_owned(), String::from),
            payment_provider: None,
        },
        draft: draft.0,
        expires: false,
        order_token_digest: None,
        paid: ask.mark_paid.map(|paid| paid.method.map(String::from)),
    };
    let shown = |order: &Order| Answer::created(&OrderView::from(order)).version(order.version);
    checkout::place(&app, store, &cart, &placing, |_| Ok(()), shown).await
}

/// The total that the caller believes in, in the store's currency.
fn expected(
    asked: Option<&AskedMoney>,
    store: &Store,
) -> Result<Option<commerce::money::Money>, Problem> {
    let Some(asked) = asked else { return Ok(None) };
    let fault = |fault| FieldError { pointer: "/expected_total/currency".into(), fault };
    asked
        .in_currency(&store.currency)
        .map(Some)
        .map_err(|wrong| Problem::invalid(vec![fault(wrong)]))
}

/// The store has no shipping rates, so none can be named.
fn unknown_rate() -> Problem {
    let detail = "The store has no such shipping rate.";
    Problem::field("/shipping_rate_id", "unknown_shipping_rate", detail)
}

async fn check_customer(
    app: &App,
    store: &Store,
    customer: Option<&CustomerId>,
) -> Result<(), Problem> {
    let Some(id) = customer else { return Ok(()) };
    let found: Option<commerce::customer::Customer> =
        app.table.get(&key::customer(&store.id, id)).await?;
    if found.is_some() {
        return Ok(());
    }
    Err(Problem::field("/customer_id", "unknown_customer", "The store has no such customer."))
}
