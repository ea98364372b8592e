//! Shipping rates for a cart.

use axum::extract::{FromRequestParts, State};
use callers::Shopper;
use catalogue::location::Location;
use core_types::fields::{Country, Phone};
use core_types::id::{LocationId, ShippingRateId};
use core_types::key;
use core_types::money::Money;
use gateway::app::App;
use gateway::reply::{Json, NoStore};
use gateway::request::{Argument, Body, KnownCodes, Raw, Ruled};
use http::request::Parts;
use identity::address;
use identity::store::Store;
use primitives::fields::{AtMost, Text};
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use sales::discount::{DiscountCode, MAX_CODES};
use sales::order::cart::{LineInput, merge};
use sales::shipping::{self, ShippingRate, ShippingRateKind, ShippingZone};
use sales::tax::TaxLocation;
use sales::workflows::place_order::{self, Cart, PricedCart};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::checkout;

/// A shipping destination: an address, as far as it is known.
#[request]
#[derive(Debug, Clone)]
#[expect(dead_code, reason = "an address is taken as it is; three of its members decide")]
#[schemars(rename = "ShippingDestination")]
pub struct DestinationRequest {
    /// The recipient's given name.
    first_name: Option<Text<1, 100>>,
    /// The recipient's family name.
    last_name: Option<Text<1, 100>>,
    /// The recipient's company.
    company: Option<Text<1, 200>>,
    /// Street and number.
    line1: Option<Text<1, 255>>,
    /// Floor, building, district.
    line2: Option<Text<1, 255>>,
    /// City.
    city: Option<Text<1, 120>>,
    /// State or province.
    region: Option<Text<1, 120>>,
    /// Postal code.
    postal_code: Option<Text<1, 20>>,
    /// The country, ISO 3166-1 alpha-2.
    country: Country,
    /// The telephone number for the carrier.
    phone: Option<Phone>,
}

impl From<DestinationRequest> for TaxLocation {
    fn from(input: DestinationRequest) -> Self {
        let country = input.country.as_str();
        let named = |region: Text<1, 120>| {
            address::region_of(country, region.as_str()).unwrap_or_else(|_| region.into())
        };
        let region = input.region.map(named);
        let code = input.postal_code.map(|code| address::postal_code_of(country, code.as_str()));
        Self { region, postal_code: code, country: input.country }
    }
}

/// A cart to be shipped.
#[request]
#[derive(Debug, Clone)]
pub struct RatesRequest {
    /// The lines; those of the same variant are merged.
    #[schemars(length(min = 1))]
    items: AtMost<LineInput, 200>,
    /// The destination: the country, and the fields by which its shipping zones and taxes differ.
    shipping_address: DestinationRequest,
    /// Discount codes: a discount changes the cart's value, on which rates may depend.
    discount_codes: Option<AtMost<DiscountCode, MAX_CODES>>,
}

impl Rules for RatesRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        let mut field_errors = sales::order::cart::empty_cart_errors(given);
        if given.is::<Self>() {
            field_errors.clear();
        }
        let Some(place) = given.get::<Value>("shipping_address") else { return field_errors };
        let is_text =
            |field: &str| place.get(field).is_none_or(|value| value.is_null() || value.is_string());
        let wrong = address::errors_in_country(&place).into_iter();
        let wrong =
            wrong.filter(|(field, violation)| is_text(field) && violation.code != "required");
        let at =
            |(field, violation)| FieldError::at(format!("/shipping_address/{field}"), violation);
        field_errors.extend(wrong.map(at));
        field_errors
    }
}

/// A shipping rate that is available for a cart.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OfferedRate {
    /// The id, for `shipping_rate_id` at checkout.
    id: ShippingRateId,
    /// The name that shoppers see.
    name: String,
    /// The kind of the rate; with `pickup` the customer collects the order.
    kind: ShippingRateKind,
    /// The price for this cart, before discounts on shipping; with or without tax, as in the order, and a pickup
    /// as at the store.
    price: Money,
    /// The minimum delivery time in days.
    min_days: Option<u32>,
    /// The maximum delivery time in days.
    max_days: Option<u32>,
    /// The location where a pickup is collected.
    location_id: Option<LocationId>,
}

impl From<(&ShippingRate, Money)> for OfferedRate {
    fn from((rate, price): (&ShippingRate, Money)) -> Self {
        Self {
            id: rate.id.clone(),
            name: rate.name.clone(),
            kind: rate.kind,
            price,
            min_days: rate.min_days,
            max_days: rate.max_days,
            location_id: rate.location_id.clone(),
        }
    }
}

/// The rates for a cart.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OfferedRates {
    /// The rates, cheapest first. Empty if nothing needs shipping, or the store has no shipping zones.
    data: Vec<OfferedRate>,
}

/// Whether the discount codes are those of a cart, of a request that a shop sends for its visitor.
pub struct HasKnownCodes(bool);

impl Argument for HasKnownCodes {}

impl<S: Sync> FromRequestParts<S> for HasKnownCodes {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(parts.extensions.get::<KnownCodes>().is_some()))
    }
}

/// `POST /v1/storefront/{subdomain}/shipping-rates` (`listShippingRates`): List shipping rates for a cart.
///
/// Rates come cheapest first. A pickup is listed if all goods are at its location. A checkout computes the
/// price of its rate again.
///
/// # Errors
/// `unauthenticated` with an expired or revoked credential; `storefront_not_found`,
/// `no_shipping_to_address`, `too_many_attempts`; `unknown_variant`, `empty_cart` and the errors of
/// discount codes and of the address as field errors.
pub async fn list(
    caller: Shopper,
    State(app): State<App>,
    Raw(inbound): Raw,
    HasKnownCodes(has_known_codes): HasKnownCodes,
    Ruled(Body(input)): Ruled<Body<RatesRequest>>,
) -> Result<NoStore<Json<OfferedRates>>, Problem> {
    let mut field_errors = Vec::new();
    let place = TaxLocation::from(input.shipping_address);
    let cart = Cart {
        lines: merge(input.items.0, &mut field_errors),
        discount_codes: input.discount_codes.map(|codes| codes.0).unwrap_or_default(),
        shopper: checkout::shopper(&caller, None),
        // An incomplete place is none where no tax is levied.
        destination: Some(place.clone()).filter(TaxLocation::is_complete),
        is_exempt: checkout::is_exempt(&caller),
        shopper_network: Some(inbound.client_prefix()),
        has_known_codes,
        field_errors,
        dry_run: true,
        ..Cart::default()
    };
    let priced = place_order::price(&app, caller.store(), &cart).await?;
    // The payment method is not chosen yet.
    let cart_errors =
        priced.field_errors.iter().filter(|violation| !violation.pointer.starts_with("/payment"));
    let cart_errors: Vec<FieldError> = cart_errors.cloned().collect();
    if !cart_errors.is_empty() {
        return Err(Problem::invalid(cart_errors));
    }
    let mut data = Vec::new();
    if priced.quote.requires_shipping() && !priced.zones.is_empty() {
        let zone = shipping::find(&priced.zones, &place).ok_or(Code::NoShippingToAddress)?.clone();
        let offered = priced.quote.offered(&zone, &priced.taxes).into_iter();
        data.extend(offered.filter(|(rate, _)| !is_pickup(rate)).map(OfferedRate::from));
        if zone.rates.iter().any(is_pickup) {
            data.extend(pickups(&app, cart, priced, &zone).await?);
        }
        data.sort_by_key(|rate| rate.price.amount);
    }
    Ok(Json::new(&OfferedRates { data }).no_store())
}

fn is_pickup(rate: &ShippingRate) -> bool {
    rate.kind == ShippingRateKind::Pickup
}

/// The pickups of a zone where all goods are. They are priced as at the store, wherever the buyer lives.
async fn pickups(
    app: &App,
    cart: Cart,
    mut priced: PricedCart,
    zone: &ShippingZone,
) -> Result<Vec<OfferedRate>, Problem> {
    if priced.quote.is_net(&priced.taxes) && !cart.is_exempt {
        let at_store = Cart { destination: None, ..cart };
        priced = place_order::price(app, &priced.store, &at_store).await?;
    }
    place_order::load_pickup_stock(app, &mut priced, &zone.rates).await?;
    let quote = &priced.quote;
    let is_there =
        |rate: &ShippingRate| rate.pickup_location().is_none_or(|location| quote.is_at(location));
    let offered = quote.offered(zone, &priced.taxes).into_iter();
    let there = offered.filter(|(rate, _)| is_pickup(rate) && is_there(rate));
    Ok(there.map(OfferedRate::from).collect())
}

/// The name and address of a store's location, where an order is collected; none if it is not there any more.
///
/// # Errors
/// 503.
pub async fn pickup_place(app: &App, store: &Store, id: &str) -> Result<Option<Value>, Problem> {
    let Some(id) = LocationId::parse(id) else { return Ok(None) };
    let found = app.table.peek::<Location>(&key::location(&store.id, &id)).await?;
    Ok(found.map(|place| json!({ "name": place.name, "address": place.address })))
}
