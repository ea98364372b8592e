//! Checkout: turns a shopper's cart into an order. The order's token, or its customer's session, gives
//! access to it.

use axum::extract::State;
use callers::Shopper;
use core_types::fields::{Email, Locale, Metadata, TaxNumber};
use core_types::id::{OrderId, ShippingRateId};
use core_types::money::MoneyInput;
use crypto::seal;
use gateway::app::App;
use gateway::idempotency;
use gateway::idempotency::answering;
use gateway::reply::{Created, Either, Json, NoStore};
use gateway::request::{Body, Path, Raw, Ruled};
use identity::address::{AddressInput, PostalAddress};
use identity::customer::Customer;
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, Flag, Text};
use primitives::input::{Given, Rules, request};
use primitives::problem::{FieldError, Problem};
use sales::discount::{self, DiscountCode, MAX_CODES};
use sales::gift_card::GiftCardCode;
use sales::order::cart::{
    CustomerInput, LineInput, PaymentInput, contact_details, expected, merge,
};
use sales::order::pricing::{Buyer, QuoteView};
use sales::order::shopper::{ShopperFulfillmentView, ShopperOrderView};
use sales::order::{MAX_GIFT_CARDS, Order, cart, load};
use sales::tax::TaxLocation;
use sales::workflows::cancel_order::{self, CancelByShopper};
use sales::workflows::place_order::{self, Cart, OrderPlacement, PlacedBy};
use schemars::JsonSchema;
use serde::Serialize;

use crate::order_token::OrderToken;

/// The cancellation reason if the shopper gives none.
const BY_SHOPPER: &str = "cancelled by the customer";

/// An order to place.
#[request]
#[derive(Debug, Clone)]
pub struct OrderRequest {
    /// The lines; those of the same variant are merged.
    #[schemars(length(min = 1))]
    items: AtMost<LineInput, 200>,
    /// The address for the confirmation; by default that of the signed-in customer.
    email: Option<Email>,
    /// The address with a name and a telephone number; instead of `email`.
    customer: Option<CustomerInput>,
    /// The language of mails about the order; by default the store's.
    locale: Option<Locale>,
    /// The shipping address.
    shipping_address: Option<AddressInput>,
    /// The billing address.
    billing_address: Option<AddressInput>,
    /// A shipping rate of the store.
    shipping_rate_id: Option<ShippingRateId>,
    /// Discount codes; at most one is applied.
    discount_codes: Option<AtMost<DiscountCode, MAX_CODES>>,
    /// Gift cards to pay with.
    gift_card_codes: Option<AtMost<GiftCardCode, MAX_GIFT_CARDS>>,
    /// The total that the shopper expects; another one is rejected with `price_changed`.
    expected_total: Option<MoneyInput>,
    /// The buyer's tax registration number, such as a VAT or GST number. It does not change the tax.
    tax_number: Option<TaxNumber>,
    /// A note to the merchant.
    note: Option<Text<0, 2000>>,
    /// Metadata to store with the order.
    metadata: Option<Metadata>,
    /// The payment method.
    payment: Option<PaymentInput>,
    /// Whether only to validate and price the cart, without placing an order.
    dry_run: Flag,
}

impl Rules for OrderRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        if given.is::<Self>() { Vec::new() } else { cart::empty_cart_errors(given) }
    }
}

/// An order that was placed.
#[derive(Serialize, JsonSchema)]
pub struct PlacedOrder {
    /// The order.
    order: ShopperOrderView,
    /// The token with which the order can be read, paid and cancelled. Returned once.
    order_token: String,
    /// Whether a payment is required.
    payment_required: bool,
    /// When the order expires unless it is paid.
    expires_at: Option<Timestamp>,
}

/// `POST /v1/storefront/{subdomain}/orders` (`placeOrder`): Place an order for a cart.
///
/// Places an order at the server's prices. Nothing is charged yet: the order reserves its stock until it is
/// paid or expires.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential; `storefront_not_found`, `insufficient_stock`,
/// `price_changed`, `store_not_accepting_orders`, `account_required`, `version_conflict`;
/// `empty_cart`, `unknown_variant`, `required`, `unknown_shipping_rate`, `shipping_rate_unavailable`,
/// `no_shipping_to_address` and the errors of gift cards and discount codes as field errors;
/// `too_many_attempts`, after five wrong gift cards, or codes, in a minute.
pub async fn create_order(
    caller: Shopper,
    State(app): State<App>,
    Raw(inbound): Raw,
    _: idempotency::Required,
    Ruled(Body(input)): Ruled<Body<OrderRequest>>,
) -> Result<Either<Json<QuoteView>, NoStore<Created<PlacedOrder>>>, Problem> {
    let store = caller.store();
    let mut field_errors = Vec::new();
    let buyer = buyer(&caller, &input, &mut field_errors);
    let shopper = shopper(&caller, buyer.email.as_ref());
    let buyer = Buyer { shopper_ids: shopper.ids(&store.id), ..buyer };
    let cart = Cart {
        lines: merge(input.items.0.clone(), &mut field_errors),
        discount_codes: input.discount_codes.clone().map(|codes| codes.0).unwrap_or_default(),
        shipping_rate_id: input.shipping_rate_id.clone(),
        destination: buyer.shipping_address.as_ref().map(TaxLocation::from),
        billed_at: buyer.billing_address.as_ref().map(TaxLocation::from),
        is_exempt: is_exempt(&caller),
        shopper,
        gift_card_codes: input.gift_card_codes.clone().map(|codes| codes.0).unwrap_or_default(),
        shopper_network: Some(inbound.client_prefix()),
        expected_total: expected(input.expected_total.as_ref(), store, &mut field_errors),
        payment: input.payment.clone(),
        dry_run: input.dry_run.0,
        field_errors,
        ..Cart::default()
    };
    if input.dry_run.0 {
        let priced = place_order::price(&app, store, &cart).await?;
        priced.store.ensure_takes_orders()?;
        priced.ensure_sound()?;
        return Ok(Either::Left(Json::new(&priced.quote.view())));
    }
    let token = seal::random_secret();
    let placement = OrderPlacement {
        by: PlacedBy::Shopper,
        buyer,
        draft: false,
        expires: true,
        order_token_digest: Some(seal::digest(&token)),
        paid: None,
    };
    let completion = answering(|order: &Order| placed(order, &token));
    place_order::place(&app, store, &cart, &placement, &completion).await.map(Either::Right)
}

/// The response to a checkout, the only one with the token.
pub(crate) fn placed(order: &Order, token: &str) -> NoStore<Created<PlacedOrder>> {
    let view = ShopperOrderView::of(order, order.created_at);
    let placed = PlacedOrder {
        payment_required: view.payment_required,
        expires_at: view.expires_at,
        order: view,
        order_token: token.to_owned(),
    };
    Created::new(&placed).version(order.version).no_store()
}

/// The buyer: a guest with an e-mail address, or the signed-in customer.
fn buyer(caller: &Shopper, input: &OrderRequest, field_errors: &mut Vec<FieldError>) -> Buyer {
    let account = caller.customer.as_ref().map(|customer| &customer.account);
    let shipping_address = input.shipping_address.clone().map(PostalAddress::from);
    let billing_address = input.billing_address.clone().map(PostalAddress::from);
    let address = shipping_address.as_ref().or(billing_address.as_ref());
    let country = address.map_or(&caller.store().country, |address| &address.country);
    let (email, contact) =
        contact_details(input.email.clone(), input.customer.clone(), country, field_errors);
    if let Some(payment) = &input.payment {
        payment.validate(field_errors);
    }
    let email = email.or_else(|| account.and_then(|account| account.email.clone()));
    let has_proven = |account: &Customer| email.as_ref().is_some_and(|to| account.has_proven(to));
    Buyer {
        customer_id: account.map(|account| account.id.clone()),
        is_email_proven: account.is_some_and(has_proven),
        email,
        locale: input.locale.clone(),
        contact,
        shipping_address,
        billing_address,
        tax_number: input.tax_number.clone(),
        note: input.note.clone().map(String::from).filter(|note| !note.is_empty()),
        metadata: input.metadata.clone().map(|metadata| metadata.0).unwrap_or_default(),
        tags: Vec::new(),
        source: "storefront".to_owned(),
        payment: input.payment.clone(),
        shopper_ids: discount::ShopperIds::default(),
    }
}

/// Whether the caller's account is exempt from tax.
pub(crate) fn is_exempt(caller: &Shopper) -> bool {
    caller.customer.as_ref().is_some_and(|customer| customer.account.tax_exempt)
}

/// The shopper, as the rules of discounts see them.
pub(crate) fn shopper(caller: &Shopper, email: Option<&Email>) -> discount::Shopper {
    discount::Shopper::of(caller.customer.as_ref().map(|customer| &customer.account), email)
}

/// An order with its fulfillments.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShopperOrderDetails {
    /// The order.
    #[serde(flatten)]
    order: ShopperOrderView,
    /// Its fulfillments, oldest first.
    fulfillments: Vec<ShopperFulfillmentView>,
}

/// `GET /v1/storefront/{subdomain}/orders/{id}` (`getStorefrontOrder`): Get an order by token or as its customer.
///
/// A guest sends the order's token; a signed-in customer needs none for their own orders.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential; `storefront_not_found`; `not_found`: unknown,
/// another shopper's, or without the right token.
pub async fn get_order(
    caller: Shopper,
    State(app): State<App>,
    Path((_, id)): Path<(Text<0, 100>, OrderId)>,
    token: OrderToken,
) -> Result<NoStore<Json<ShopperOrderDetails>>, Problem> {
    let aggregate = load::aggregate(&app, &caller.store().id, &id).await?;
    let customer = caller.customer.as_ref().map(|customer| &customer.account.id);
    let token = token.presented(&app, None).await?;
    aggregate.order.ensure_shown_to(customer, token.as_ref())?;
    let details = ShopperOrderDetails {
        order: ShopperOrderView::of(&aggregate.order, app.clock.now()),
        fulfillments: aggregate.fulfillments.iter().map(ShopperFulfillmentView::from).collect(),
    };
    Ok(Json::new(&details).version(aggregate.order.version).no_store())
}

/// A cancellation by a shopper.
#[request]
#[derive(Debug, Clone)]
pub struct CancelRequest {
    /// The shopper's reason.
    reason: Option<Text<1, 500>>,
}

/// `POST /v1/storefront/{subdomain}/orders/{id}/cancel` (`cancelStorefrontOrder`):
/// Cancel an unpaid order as its shopper.
///
/// Its stock, discounts and gift cards are released.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential; `storefront_not_found`, `not_found`,
/// `already_fulfilled`, `version_conflict`; `invalid_state_transition`: it is paid, authorized, confirmed,
/// or in a final state.
pub async fn cancel_order(
    caller: Shopper,
    State(app): State<App>,
    Path((_, id)): Path<(Text<0, 100>, OrderId)>,
    token: OrderToken,
    Body(input): Body<CancelRequest>,
) -> Result<Json<ShopperOrderView>, Problem> {
    let token = token.presented(&app, None).await?;
    let input = CancelByShopper {
        customer: caller.customer.as_ref().map(|customer| &customer.account.id),
        token: token.as_ref(),
        reason: input.reason.as_ref().map_or(BY_SHOPPER, Text::as_str),
    };
    let store = &caller.store().id;
    let completion = answering(|order: &Order| {
        let view = ShopperOrderView::of(order, app.clock.now());
        Json::new(&view).version(order.version)
    });
    Box::pin(cancel_order::cancel_by_shopper(&app, store, &id, input, &completion)).await
}
