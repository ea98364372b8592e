//! Orders that a merchant or an app makes: by telephone, at a counter, from a marketplace.

use axum::extract::State;
use core_types::fields::{Email, Locale, Metadata};
use core_types::id::{CustomerId, ShippingRateId};
use core_types::key;
use core_types::money::MoneyInput;
use core_types::scope::WriteOrders;
use gateway::app::App;
use gateway::idempotency;
use gateway::reply::{Created, Either, Json};
use gateway::request::{Body, Given, Ruled, Rules, Validation, request};
use identity::address::{AddressInput, PostalAddress};
use identity::customer::Customer;
use identity::store::Store;
use platform::caller::StoreAccess;
use primitives::fields::{AtMost, Flag, Text};
use primitives::problem::{FieldError, Problem};
use sales::discount::{DiscountCode, MAX_CODES, Shopper};
use sales::gift_card::GiftCardCode;
use sales::order::cart::{CustomerInput, LineInput, PaymentInput, expected, fault, merge, who};
use sales::order::pricing::{Buyer, QuoteView};
use sales::order::{MAX_GIFT_CARDS, Order, OrderView, cart};
use sales::tax::TaxLocation;
use sales::workflows::place_order::{self, Cart, Placing};
use services::Services;

use crate::orders::MAX_TAGS;

/// How an order was paid already.
#[request]
#[derive(Debug)]
pub struct PaidRequest {
    /// `cash`, `bank_transfer`, a card at the counter.
    method: Option<Text<1, 50>>,
}

/// An order to be made.
#[request]
#[derive(Debug)]
pub struct PlaceRequest {
    /// The lines; those of one variant become one.
    #[schemars(length(min = 1))]
    items: AtMost<LineInput, 200>,
    /// Where confirmations go; to the customer's own address unless said otherwise.
    email: Option<Email>,
    /// Whom it is for, when they have no account; instead of `email`.
    customer: Option<CustomerInput>,
    /// The customer it is for.
    customer_id: Option<CustomerId>,
    /// The language in which they are written to; the store's unless said otherwise.
    locale: Option<Locale>,
    /// Where it goes.
    shipping_address: Option<AddressInput>,
    /// Who is billed.
    billing_address: Option<AddressInput>,
    /// A shipping rate of the store.
    shipping_rate_id: Option<ShippingRateId>,
    /// Discount codes; one counts.
    discount_codes: Option<AtMost<DiscountCode, MAX_CODES>>,
    /// Gift cards to pay with.
    gift_card_codes: Option<AtMost<GiftCardCode, MAX_GIFT_CARDS>>,
    /// What the caller believes it comes to.
    expected_total: Option<MoneyInput>,
    /// In the merchant's words.
    note: Option<Text<0, 2000>>,
    /// What is kept with the order.
    metadata: Option<Metadata>,
    /// How it is to be paid.
    payment: Option<PaymentInput>,
    /// Labels.
    tags: Option<AtMost<Text<1, 100>, MAX_TAGS>>,
    /// Where it was made: `phone`, `counter`, a marketplace's name.
    source: Option<Text<1, 50>>,
    /// Not binding yet; its stock is held until it is paid or cancelled.
    draft: Flag,
    /// It was paid already.
    mark_paid: Option<PaidRequest>,
    /// Only says what it would come to.
    dry_run: Flag,
}

impl Rules for PlaceRequest {
    async fn broken(given: Given<'_>, _: &Validation<'_>) -> Vec<FieldError> {
        if given.is::<Self>() { Vec::new() } else { cart::broken(given) }
    }
}

/// `POST /v1/orders` (`createOrder`): Create an order.
///
/// The merchant or an app places it. It does not expire: its stock is held until it is paid or cancelled (our
/// choice; a shopper's order has a payment window).
///
/// # Errors
/// `insufficient_stock`, `price_changed`, `store_not_found`, `version_conflict`; `empty_cart`,
/// `unknown_variant`, `unknown_customer`,
/// `mutually_exclusive` and the faults of gift cards, discount codes and the shipping rate as faults of
/// their fields, all at once.
pub async fn place(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    _: idempotency::Required,
    Ruled(Body(input)): Ruled<Body<PlaceRequest>>,
) -> Result<Either<Json<QuoteView>, Created<OrderView>>, Problem> {
    let store = &caller.store;
    let mut faults = Vec::new();
    let customer = input.customer_id.as_ref();
    let account = find_customer(&app, store, customer, &mut faults).await?;
    let (email, contact) = who(input.email, input.customer, &mut faults);
    let email = email.or_else(|| account.as_ref().map(|account| account.email.clone()));
    let shopper = Shopper {
        account: account.as_ref().map(|account| (account.id.clone(), account.orders_count)),
        email: email.clone(),
    };
    let who = shopper.who(&store.id);
    let shipping_address = input.shipping_address.map(PostalAddress::from);
    let billing_address = input.billing_address.map(PostalAddress::from);
    if let Some(payment) = &input.payment {
        payment.validate(&mut faults);
    }
    if input.draft.0 && input.mark_paid.is_some() {
        let detail = "An order that was paid is not a draft.";
        faults.push(fault("/draft", "mutually_exclusive", detail));
    }
    let cart = Cart {
        lines: merge(input.items.0, &mut faults),
        discount_codes: input.discount_codes.map(|codes| codes.0).unwrap_or_default(),
        shipping_rate_id: input.shipping_rate_id,
        destination: shipping_address.as_ref().map(TaxLocation::from),
        billed_at: billing_address.as_ref().map(TaxLocation::from),
        is_exempt: account.as_ref().is_some_and(|account| account.tax_exempt),
        shopper,
        gift_card_codes: input.gift_card_codes.map(|codes| codes.0).unwrap_or_default(),
        shopper_network: None,
        expected_total: expected(input.expected_total.as_ref(), store, &mut faults),
        payment: input.payment.clone(),
        dry_run: input.dry_run.0,
        faults,
    };
    if input.dry_run.0 {
        let priced = place_order::price(&app, store, &cart).await?;
        priced.ensure_sound()?;
        return Ok(Either::Left(Json::new(&priced.quote.view())));
    }
    let has_proven = |account: &Customer| email.as_ref().is_some_and(|to| account.has_proven(to));
    let is_email_proven = account.as_ref().is_some_and(has_proven);
    let placing = Placing {
        buyer: Buyer {
            customer_id: input.customer_id,
            is_email_proven,
            email,
            locale: input.locale,
            contact,
            shipping_address,
            billing_address,
            note: input.note.map(String::from).filter(|note| !note.is_empty()),
            metadata: input.metadata.map(|metadata| metadata.0).unwrap_or_default(),
            tags: input.tags.into_iter().flat_map(|tags| tags.0).map(String::from).collect(),
            source: input.source.map_or_else(|| "admin".to_owned(), String::from),
            payment: input.payment,
            who,
        },
        draft: input.draft.0,
        expires: false,
        order_token_digest: None,
        paid: input.mark_paid.map(|paid| paid.method.map(String::from)),
    };
    let shown = |order: &Order| Created::new(&OrderView::from(order)).version(order.version);
    let placed = place_order::place(&app, store, &cart, &placing, |_| Ok(Vec::new()), shown);
    placed.await.map(Either::Right)
}

/// The customer it is for; that there is no such one is a fault.
async fn find_customer(
    services: &Services,
    store: &Store,
    named: Option<&CustomerId>,
    faults: &mut Vec<FieldError>,
) -> Result<Option<Customer>, Problem> {
    let Some(id) = named else { return Ok(None) };
    let found = services.table.get(&key::customer(&store.id, id)).await?;
    if found.is_none() {
        faults.push(fault("/customer_id", "unknown_customer", "The store has no such customer."));
    }
    Ok(found)
}
