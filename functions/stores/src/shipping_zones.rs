//! Handlers of shipping zones: the places to which a store ships, and the rates there.

use std::collections::HashMap;

use axum::extract::State;
use callers::StoreAccess;
use catalogue::location::Location;
use core_types::fields::{Country, PostalPrefix};
use core_types::id::{LocationId, ShippingRateId, ShippingZoneId, StoreId};
use core_types::key;
use core_types::money::{MAX_AMOUNT, Money, MoneyInput};
use core_types::scope::{ReadShipping, WriteShipping};
use gateway::app::App;
use gateway::idempotency::answering;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoContent, Page};
use gateway::request::{Body, IfMatch, Path};
use identity::address;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, Int, Patch, Text};
use primitives::input::request;
use primitives::problem::{FieldError, Problem};
use sales::pricing_document::{self, PricingDocument};
use sales::shipping::{
    MAX_RATES, MAX_REGIONS, SHIPPING_ZONE_CREATED, SHIPPING_ZONE_DELETED, SHIPPING_ZONE_UPDATED,
    ShippingRate, ShippingRateKind, ShippingZone, ShippingZoneView, ZoneArea,
};
use services::Services;
use table::item::Key;

use crate::entries::{created, to_response};

/// The most countries of one zone; there are about 250.
const MAX_COUNTRIES: usize = 300;
/// The longest delivery time of a rate, in days.
const MAX_DAYS: i64 = 365;

/// `GET /v1/stores/{id}/shipping-zones` (`listShippingZones`): List shipping zones of a store.
///
/// Zones come in the order in which they were created.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadShipping>,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<ShippingZoneView>, Problem> {
    let document = PricingDocument::load(&app, key::shipping_zones(&caller.store.id)).await?;
    let views = document.entries.iter().map(ShippingZoneView::from).collect();
    paging.slice(&app, views, |view: &ShippingZoneView| view.id.to_string()).await
}

/// `GET /v1/stores/{id}/shipping-zones/{zone_id}` (`getShippingZone`): Get a shipping zone and its rates.
///
/// The response has all of its rates.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: StoreAccess<ReadShipping>,
    State(app): State<App>,
    Path((_, id)): Path<(StoreId, ShippingZoneId)>,
) -> Result<Json<ShippingZoneView>, Problem> {
    let document =
        PricingDocument::<ShippingZone>::load(&app, key::shipping_zones(&caller.store.id)).await?;
    document.entry(id.as_str()).map(to_response)
}

/// A rate of a shipping zone.
#[request]
#[derive(Debug, Clone)]
pub struct RateRequest {
    /// The id of an existing rate to keep; without one, the rate is new.
    id: Option<ShippingRateId>,
    /// The name that shoppers see.
    name: Text<1, 100>,
    /// The kind of the rate, which says to which parcels it applies.
    kind: ShippingRateKind,
    /// The price, in the store's currency.
    price: MoneyInput,
    /// The lower bound: of `by_weight` in grams, of `by_subtotal` in minor units.
    min: Option<Int<0, MAX_AMOUNT>>,
    /// The upper bound: of `by_weight` in grams, of `by_subtotal` in minor units.
    max: Option<Int<0, MAX_AMOUNT>>,
    /// The subtotal from which shipping is free.
    free_over: Option<MoneyInput>,
    /// The shortest delivery time, in days.
    min_days: Option<Int<0, MAX_DAYS>>,
    /// The longest delivery time, in days.
    max_days: Option<Int<0, MAX_DAYS>>,
    /// The location at which a `pickup` order is collected.
    location_id: Option<LocationId>,
}

/// A shipping zone to create.
#[request]
#[derive(Debug, Clone)]
pub struct CreateRequest {
    /// The merchant's name for it.
    name: Text<1, 100>,
    /// Its countries; an empty list for every country that no other zone covers.
    countries: AtMost<Country, MAX_COUNTRIES>,
    /// Only these regions; allowed if the zone has one country.
    regions: Option<AtMost<Text<1, 120>, MAX_REGIONS>>,
    /// Only postal codes with these prefixes; allowed if the zone has one country. A blank at the end of a prefix
    /// says that a part of the code ends there: `NG1 ` does not cover `NG10 1AA`.
    postal_prefixes: Option<AtMost<PostalPrefix, MAX_REGIONS>>,
    /// The shipping rates of the zone.
    rates: Option<AtMost<RateRequest, MAX_RATES>>,
}

/// `POST /v1/stores/{id}/shipping-zones` (`createShippingZone`): Create a shipping zone.
///
/// A zone has countries and rates; a zone without countries covers all others.
///
/// # Errors
/// `zone_limit`, `zone_overlap`; `not_applicable`, `invalid_region`, `currency_mismatch`,
/// `invalid_range`, `unknown_location` and `too_many` as field errors.
pub async fn create(
    caller: StoreAccess<WriteShipping>,
    State(app): State<App>,
    Body(input): Body<CreateRequest>,
) -> Result<Created<ShippingZoneView>, Problem> {
    let (store, now) = (&caller.store, app.clock.now());
    let mut field_errors = Vec::new();
    let places_input = PlacesRequest {
        countries: Some(input.countries),
        regions: input.regions.map_or(Patch::Keep, Patch::Set),
        postal_prefixes: input.postal_prefixes.map_or(Patch::Keep, Patch::Set),
    };
    let places = places_input.apply(ZoneArea::default(), &mut field_errors);
    let rates = input.rates.map(|rates| rates.0).unwrap_or_default();
    let rates = read_rates(&app, store, rates, &[], &mut field_errors).await?;
    sound(field_errors)?;
    let zone = ShippingZone {
        id: ShippingZoneId::mint(now),
        store_id: store.id.clone(),
        name: input.name.into(),
        places,
        rates,
        created_at: now,
        updated_at: now,
        version: 1,
    };
    pricing_document::add(&app, zone, &SHIPPING_ZONE_CREATED, &answering(created)).await
}

/// The changes of a shipping zone.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The merchant's name for it.
    name: Option<Text<1, 100>>,
    /// Its countries; an empty list for every country that no other zone covers.
    countries: Option<AtMost<Country, MAX_COUNTRIES>>,
    /// Only these regions; `null` for all of them.
    regions: Patch<AtMost<Text<1, 120>, MAX_REGIONS>>,
    /// Only postal codes with these prefixes; `null` for all of them.
    postal_prefixes: Patch<AtMost<PostalPrefix, MAX_REGIONS>>,
    /// The shipping rates, which replace all current ones. A rate with the `id` of a current one keeps it.
    rates: Option<AtMost<RateRequest, MAX_RATES>>,
}

/// `PATCH /v1/stores/{id}/shipping-zones/{zone_id}` (`updateShippingZone`): Update a shipping zone.
///
/// Omitted fields keep their values; `rates` is replaced as a whole.
///
/// # Errors
/// `not_found`, `precondition_failed`, and those of `createShippingZone`.
pub async fn update(
    caller: StoreAccess<WriteShipping>,
    State(app): State<App>,
    Path((_, id)): Path<(StoreId, ShippingZoneId)>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<ShippingZoneView>, Problem> {
    let store = &caller.store;
    let at = key::shipping_zones(&store.id);
    let document = PricingDocument::<ShippingZone>::load(&app, at.clone()).await?;
    let known = document.entry(id.as_str())?.rates.clone();
    let mut field_errors = Vec::new();
    let rates = match input.rates {
        Some(rates) => Some(read_rates(&app, store, rates.0, &known, &mut field_errors).await?),
        None => None,
    };
    let places_input = PlacesRequest {
        countries: input.countries,
        regions: input.regions,
        postal_prefixes: input.postal_prefixes,
    };
    let next = |zone: &ShippingZone| {
        let mut field_errors = field_errors.clone();
        let places = places_input.clone().apply(zone.places.clone(), &mut field_errors);
        sound(field_errors)?;
        let name = input.name.clone().map_or_else(|| zone.name.clone(), String::from);
        let rates = rates.clone().unwrap_or_else(|| zone.rates.clone());
        Ok(ShippingZone { name, places, rates, ..zone.clone() })
    };
    let (at, topic) = ((at, id.as_str()), &SHIPPING_ZONE_UPDATED);
    pricing_document::change(&app, at, if_match.0, topic, next, &answering(to_response)).await
}

/// `DELETE /v1/stores/{id}/shipping-zones/{zone_id}` (`deleteShippingZone`): Delete a shipping zone and its rates.
///
/// Existing orders keep the shipping with which they were placed.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub async fn delete(
    caller: StoreAccess<WriteShipping>,
    State(app): State<App>,
    Path((_, id)): Path<(StoreId, ShippingZoneId)>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let at = key::shipping_zones(&caller.store.id);
    let (at, topic) = ((at, id.as_str()), &SHIPPING_ZONE_DELETED);
    let completion = answering(|_: &ShippingZone| NoContent::default());
    pricing_document::remove(&app, at, if_match.0, topic, &completion).await
}

fn sound(field_errors: Vec<FieldError>) -> Result<(), Problem> {
    if field_errors.is_empty() { Ok(()) } else { Err(Problem::invalid(field_errors)) }
}

/// The changes of a zone's places.
#[derive(Debug, Clone)]
struct PlacesRequest {
    countries: Option<AtMost<Country, MAX_COUNTRIES>>,
    regions: Patch<AtMost<Text<1, 120>, MAX_REGIONS>>,
    postal_prefixes: Patch<AtMost<PostalPrefix, MAX_REGIONS>>,
}

impl PlacesRequest {
    /// The places with these changes; adds field errors to `field_errors`.
    fn apply(self, before: ZoneArea, field_errors: &mut Vec<FieldError>) -> ZoneArea {
        let texts = |change: Patch<AtMost<Text<1, 120>, MAX_REGIONS>>, before| match change {
            Patch::Keep => before,
            Patch::Clear => Vec::new(),
            Patch::Set(given) => given.0.into_iter().map(String::from).collect(),
        };
        let prefixes = match self.postal_prefixes {
            Patch::Keep => before.postal_prefixes,
            Patch::Clear => Vec::new(),
            Patch::Set(given) => given.0.into_iter().map(String::from).collect(),
        };
        let mut countries = self.countries.map_or(before.countries, |given| given.0);
        let mut seen = std::collections::HashSet::new();
        countries.retain(|country| seen.insert(country.clone()));
        let mut places = ZoneArea {
            countries,
            regions: texts(self.regions, before.regions),
            postal_prefixes: prefixes,
        }
        .normalized();
        // Letters of other scripts may leave nothing.
        if places.postal_prefixes.iter().any(String::is_empty) {
            let detail = "A prefix must have at least one letter or digit of A to Z and 0 to 9.";
            field_errors.push(FieldError::new("/postal_prefixes", "invalid_postal_code", detail));
        }
        let [country] = places.countries.as_slice() else {
            let parts =
                [("/regions", &places.regions), ("/postal_prefixes", &places.postal_prefixes)];
            for (pointer, _) in parts.iter().filter(|(_, named)| !named.is_empty()) {
                let detail = "Only allowed in a zone of exactly one country.";
                field_errors.push(FieldError::new(*pointer, "not_applicable", detail));
            }
            return places;
        };
        for (at, region) in places.regions.iter_mut().enumerate() {
            match address::region_of(country.as_str(), region) {
                Ok(code) => *region = code,
                Err(violation) => {
                    field_errors.push(FieldError::at(format!("/regions/{at}"), violation));
                }
            }
        }
        places
    }
}

/// Validates the rates of a zone; adds field errors to `field_errors`. `known` are the zone's current rates, whose
/// ids the new ones may keep.
async fn read_rates(
    services: &Services,
    store: &Store,
    inputs: Vec<RateRequest>,
    known: &[ShippingRate],
    field_errors: &mut Vec<FieldError>,
) -> Result<Vec<ShippingRate>, Problem> {
    let now = services.clock.now();
    let named = inputs.iter().filter_map(|rate| rate.location_id.as_ref());
    let keys: HashMap<&LocationId, Key> =
        named.map(|id| (id, key::location(&store.id, id))).collect();
    let mut found = services.table.get_many(&keys.values().collect::<Vec<_>>()).await?;
    let mut missing = Vec::new();
    for (id, key) in &keys {
        if found.take::<Location>(key)?.is_none() {
            missing.push((*id).clone());
        }
    }
    let mut rates: Vec<ShippingRate> = Vec::new();
    for (at, rate) in inputs.into_iter().enumerate() {
        let mut reject = |field: &str, code, detail: &'static str| {
            field_errors.push(FieldError::new(format!("/rates/{at}/{field}"), code, detail));
        };
        if let Some(id) = &rate.id {
            if !known.iter().any(|known| known.id == *id) {
                reject("id", "unknown_shipping_rate", "There is no such rate in the zone.");
            } else if rates.iter().any(|other| other.id == *id) {
                reject("id", "duplicate", "Another rate of the request has this id.");
            }
        }
        if rate.location_id.as_ref().is_some_and(|id| missing.contains(id)) {
            reject("location_id", "unknown_location", "There is no such location in the store.");
        }
        rates.push(rate.read(store, at, now, field_errors));
    }
    Ok(rates)
}

impl RateRequest {
    /// The rate with the index `at`; adds field errors to `field_errors`.
    fn read(
        self,
        store: &Store,
        at: usize,
        now: Timestamp,
        field_errors: &mut Vec<FieldError>,
    ) -> ShippingRate {
        let mut amount = |field: &str, input: &MoneyInput| match input.in_currency(&store.currency)
        {
            Ok(money) => money,
            Err(violation) => {
                field_errors
                    .push(FieldError::at(format!("/rates/{at}/{field}/currency"), violation));
                Money::zero(&store.currency)
            }
        };
        let price = amount("price", &self.price);
        let free_over = self.free_over.as_ref().map(|input| amount("free_over", input));
        let mut reject = |field: &str, code, detail: &'static str| {
            field_errors.push(FieldError::new(format!("/rates/{at}/{field}"), code, detail));
        };
        let (min, max) = (self.min.map(|min| min.0), self.max.map(|max| max.0));
        let is_measured =
            matches!(self.kind, ShippingRateKind::ByWeight | ShippingRateKind::BySubtotal);
        for (field, given) in [("min", min), ("max", max)] {
            if given.is_some() && !is_measured {
                reject(field, "not_applicable", "Only for `by_weight` and `by_subtotal`.");
            }
        }
        if min.zip(max).is_some_and(|(min, max)| max < min) {
            reject("max", "invalid_range", "Must be at least `min`.");
        }
        let days =
            |days: Option<Int<0, MAX_DAYS>>| days.and_then(|days| u32::try_from(days.0).ok());
        let (min_days, max_days) = (days(self.min_days), days(self.max_days));
        if min_days.zip(max_days).is_some_and(|(min, max)| max < min) {
            reject("max_days", "invalid_range", "Must be at least `min_days`.");
        }
        if self.location_id.is_some() && self.kind != ShippingRateKind::Pickup {
            reject("location_id", "not_applicable", "Only for rates of kind `pickup`.");
        }
        ShippingRate {
            id: self.id.unwrap_or_else(|| ShippingRateId::mint(now)),
            name: self.name.into(),
            kind: self.kind,
            price,
            min,
            max,
            free_over,
            min_days,
            max_days,
            location_id: self.location_id,
        }
    }
}
