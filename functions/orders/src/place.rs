//! Orders that a merchant or an app places: by telephone, at a counter, from a marketplace.

use axum::extract::State;
use callers::StoreAccess;
use core_types::fields::{Email, Locale, Metadata, TaxNumber};
use core_types::id::{CustomerId, ShippingRateId};
use core_types::key;
use core_types::money::MoneyInput;
use core_types::scope::WriteOrders;
use gateway::app::App;
use gateway::idempotency;
use gateway::idempotency::answering;
use gateway::reply::{Created, Either, Json};
use gateway::request::{Body, Ruled};
use identity::address::{AddressInput, PostalAddress};
use identity::customer::Customer;
use identity::store::Store;
use primitives::fields::{AtMost, Flag, Text};
use primitives::input::{Given, Rules, request};
use primitives::problem::{FieldError, Problem};
use sales::discount::{DiscountCode, MAX_CODES, Shopper};
use sales::gift_card::GiftCardCode;
use sales::order::cart::{
    CustomerInput, LineInput, PaymentInput, contact_details, expected, merge, violation,
};
use sales::order::pricing::{Buyer, QuoteView};
use sales::order::{MAX_GIFT_CARDS, Order, OrderView, cart};
use sales::tax::TaxLocation;
use sales::workflows::place_order::{self, Cart, OrderPlacement, PlacedBy};
use services::Services;

use crate::orders::MAX_TAGS;

/// The payment of an order that is paid already.
#[request]
#[derive(Debug)]
pub struct PaidRequest {
    /// The payment method, such as `cash`, `bank_transfer` or `card`.
    method: Option<Text<1, 50>>,
}

/// An order to place.
#[request]
#[derive(Debug)]
pub struct PlaceRequest {
    /// The lines. Lines of one variant are merged.
    #[schemars(length(min = 1))]
    items: AtMost<LineInput, 200>,
    /// The address that confirmations are sent to; by default the customer's own.
    email: Option<Email>,
    /// The contact details of a shopper without an account; instead of `email`.
    customer: Option<CustomerInput>,
    /// The customer.
    customer_id: Option<CustomerId>,
    /// The language of mails to the shopper; by default the store's.
    locale: Option<Locale>,
    /// The shipping address.
    shipping_address: Option<AddressInput>,
    /// The billing address.
    billing_address: Option<AddressInput>,
    /// A shipping rate of the store.
    shipping_rate_id: Option<ShippingRateId>,
    /// The discount codes, of which one is used.
    discount_codes: Option<AtMost<DiscountCode, MAX_CODES>>,
    /// The codes of gift cards to pay with.
    gift_card_codes: Option<AtMost<GiftCardCode, MAX_GIFT_CARDS>>,
    /// The total that the caller expects.
    expected_total: Option<MoneyInput>,
    /// The buyer's tax registration number, such as a VAT or GST number. It does not change the tax.
    tax_number: Option<TaxNumber>,
    /// The merchant's note.
    note: Option<Text<0, 2000>>,
    /// Key-value pairs of the order.
    metadata: Option<Metadata>,
    /// The payment provider and capture method.
    payment: Option<PaymentInput>,
    /// The tags.
    tags: Option<AtMost<Text<1, 100>, MAX_TAGS>>,
    /// The source: `phone`, `counter`, or the name of a marketplace. By default `admin`.
    source: Option<Text<1, 50>>,
    /// Whether it is a draft, which is not binding. Its stock is held for as long as the store's settings say, by
    /// default seven days, or until it is paid, confirmed or cancelled.
    draft: Flag,
    /// The payment, if it is paid already.
    mark_paid: Option<PaidRequest>,
    /// Whether to return only the quote, without placing the order.
    dry_run: Flag,
}

impl Rules for PlaceRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        if given.is::<Self>() { Vec::new() } else { cart::empty_cart_errors(given) }
    }
}

/// `POST /v1/orders` (`createOrder`): Create an order.
///
/// The merchant or an app places it. It does not expire: its stock is held until it is paid or cancelled (our
/// choice; a shopper's order expires if it is not paid in time). A draft's hold on its stock ends after a time; then
/// it takes the stock when it is paid or confirmed.
///
/// # Errors
/// `insufficient_stock`, `price_changed`, `storefront_not_found`, `version_conflict`. All field errors:
/// `empty_cart`, `unknown_variant`, `unknown_customer`, `mutually_exclusive`, and those of gift cards,
/// discount codes and the shipping rate.
pub async fn create(
    caller: StoreAccess<WriteOrders>,
    State(app): State<App>,
    _: idempotency::Required,
    Ruled(Body(input)): Ruled<Body<PlaceRequest>>,
) -> Result<Either<Json<QuoteView>, Created<OrderView>>, Problem> {
    let store = &caller.store;
    let mut field_errors = Vec::new();
    let customer = input.customer_id.as_ref();
    let account = find_customer(&app, store, customer, &mut field_errors).await?;
    let shipping_address = input.shipping_address.map(PostalAddress::from);
    let billing_address = input.billing_address.map(PostalAddress::from);
    let address = shipping_address.as_ref().or(billing_address.as_ref());
    let country = address.map_or(&store.country, |address| &address.country);
    let (email, contact) = contact_details(input.email, input.customer, country, &mut field_errors);
    let email = email.or_else(|| account.as_ref().and_then(|account| account.email.clone()));
    let shopper = Shopper::of(account.as_ref(), email.as_ref());
    let shopper_ids = shopper.ids(&store.id);
    if let Some(payment) = &input.payment {
        payment.validate(&mut field_errors);
    }
    if input.draft.0 && input.mark_paid.is_some() {
        let detail = "`draft` and `mark_paid` exclude each other.";
        field_errors.push(violation("/draft", "mutually_exclusive", detail));
    }
    let cart = Cart {
        lines: merge(input.items.0, &mut field_errors),
        discount_codes: input.discount_codes.map(|codes| codes.0).unwrap_or_default(),
        shipping_rate_id: input.shipping_rate_id,
        destination: shipping_address.as_ref().map(TaxLocation::from),
        billed_at: billing_address.as_ref().map(TaxLocation::from),
        is_exempt: account.as_ref().is_some_and(|account| account.tax_exempt),
        shopper,
        gift_card_codes: input.gift_card_codes.map(|codes| codes.0).unwrap_or_default(),
        shopper_network: None,
        expected_total: expected(input.expected_total.as_ref(), store, &mut field_errors),
        payment: input.payment.clone(),
        dry_run: input.dry_run.0,
        field_errors,
        ..Cart::default()
    };
    if input.dry_run.0 {
        let priced = place_order::price(&app, store, &cart).await?;
        priced.ensure_sound()?;
        return Ok(Either::Left(Json::new(&priced.quote.view())));
    }
    let has_proven = |account: &Customer| email.as_ref().is_some_and(|to| account.has_proven(to));
    let is_email_proven = account.as_ref().is_some_and(has_proven);
    let placement = OrderPlacement {
        by: PlacedBy::Merchant,
        buyer: Buyer {
            customer_id: input.customer_id,
            is_email_proven,
            email,
            locale: input.locale,
            contact,
            shipping_address,
            billing_address,
            tax_number: input.tax_number,
            note: input.note.map(String::from).filter(|note| !note.is_empty()),
            metadata: input.metadata.map(|metadata| metadata.0).unwrap_or_default(),
            tags: input.tags.into_iter().flat_map(|tags| tags.0).map(String::from).collect(),
            source: input.source.map_or_else(|| "admin".to_owned(), String::from),
            payment: input.payment,
            shopper_ids,
        },
        draft: input.draft.0,
        expires: false,
        order_token_digest: None,
        paid: input.mark_paid.map(|paid| paid.method.map(String::from)),
    };
    let to_response = |order: &Order| Created::new(&OrderView::from(order)).version(order.version);
    let completion = answering(to_response);
    place_order::place(&app, store, &cart, &placement, &completion).await.map(Either::Right)
}

/// Loads the customer; adds a field error if there is none with this id.
async fn find_customer(
    services: &Services,
    store: &Store,
    named: Option<&CustomerId>,
    field_errors: &mut Vec<FieldError>,
) -> Result<Option<Customer>, Problem> {
    let Some(id) = named else { return Ok(None) };
    let found = services.table.get(&key::customer(&store.id, id)).await?;
    if found.is_none() {
        field_errors.push(violation(
            "/customer_id",
            "unknown_customer",
            "There is no such customer in the store.",
        ));
    }
    Ok(found)
}
