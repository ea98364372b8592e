//! Locations to create, and their changes.

use catalogue::location::{LocationAddress, MAX_PRIORITY};
use core_types::fields::{Country, Phone};
use identity::{address, phone};
use primitives::fields::{Flag, Int, Text};
use primitives::input::{Given, Rules, request};
use primitives::problem::FieldError;
use serde_json::Value;

/// A priority: locations with smaller numbers fulfil first.
type Priority = Int<0, MAX_PRIORITY>;

/// A location to create.
#[request]
#[derive(Debug)]
pub struct CreateRequest {
    /// The merchant's name for it.
    pub(super) name: Text<1, 100>,
    /// The address.
    pub(super) address: AddressRequest,
    /// Whether it fulfils online orders; true by default.
    pub(super) fulfills_online_orders: Option<Flag>,
    /// The priority: locations with smaller numbers fulfil first. By default it is after all others.
    pub(super) priority: Option<Priority>,
}

/// The changes of a location.
#[request]
#[derive(Debug)]
pub struct UpdateRequest {
    /// The merchant's name for it.
    pub(super) name: Option<Text<1, 100>>,
    /// The address, which replaces the current one as a whole.
    pub(super) address: Option<AddressRequest>,
    /// Whether it fulfils online orders.
    pub(super) fulfills_online_orders: Option<Flag>,
    /// The priority: locations with smaller numbers fulfil first.
    pub(super) priority: Option<Priority>,
}

/// The address of a location.
#[request]
#[derive(Debug)]
pub struct AddressRequest {
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
    /// ISO 3166-1.
    country: Country,
    /// The phone number for the carrier.
    phone: Option<Phone>,
}

/// The fields of an address whose presence makes it subject to the rules of its country.
const CHECKED_FIELDS: [&str; 5] = ["line1", "line2", "city", "region", "postal_code"];

/// The field errors of a location's address by the rules of its country. An address with only a country
/// is always valid.
fn address_errors(given: Given<'_>) -> Vec<FieldError> {
    let Some(address) = given.get::<Value>("address") else { return Vec::new() };
    let member = |field: &str| address.get(field).filter(|value| !value.is_null());
    if CHECKED_FIELDS.iter().all(|field| member(field).is_none()) {
        return Vec::new();
    }
    let field_errors = address::errors_in_country(&address).into_iter();
    // Values that are not strings have a field error already.
    let field_errors = field_errors.filter(|(field, _)| member(field).is_none_or(Value::is_string));
    let error = |(field, violation)| FieldError::at(format!("/address/{field}"), violation);
    field_errors.map(error).collect()
}

impl Rules for CreateRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        address_errors(given)
    }
}

impl Rules for UpdateRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        address_errors(given)
    }
}

impl From<AddressRequest> for LocationAddress {
    fn from(mut input: AddressRequest) -> Self {
        let (region, postal_code) = (input.region.take(), input.postal_code.take());
        let (region, postal_code) = (region.map(String::from), postal_code.map(String::from));
        let normalized =
            address::validate(input.country.as_str(), region.as_deref(), postal_code.as_deref());
        let (region, postal_code) = normalized.unwrap_or((region, postal_code));
        Self {
            line1: input.line1.map(String::from),
            line2: input.line2.map(String::from),
            city: input.city.map(String::from),
            region,
            postal_code,
            phone_e164: phone::e164_of(input.phone.as_ref(), &input.country),
            country: input.country,
            phone: input.phone,
        }
    }
}
