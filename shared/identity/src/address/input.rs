//! Addresses in requests.

use core_types::fields::{Country, Phone};
use deserr::{Deserr, IntoValue, Value, ValuePointerRef};
use primitives::fields::{FieldErrors, FromText, Text, Violation};
use primitives::input::request;
use schemars::JsonSchema;

use super::{PostalAddress, formats};

/// An address in a request, of an address book and a checkout alike. It has the fields that its
/// country requires: `required`, `invalid_region` and `invalid_postal_code` are reported with all
/// other field errors.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub struct AddressInput(Fields);

/// The fields of an address, before its country's rules.
#[request]
#[derive(Debug, Clone, PartialEq, Eq)]
#[schemars(rename = "AddressFields")]
struct Fields {
    /// The recipient's given name.
    first_name: Option<Text<1, 100>>,
    /// The recipient's family name.
    last_name: Option<Text<1, 100>>,
    /// The recipient's company.
    company: Option<Text<1, 200>>,
    /// Street and number.
    line1: Text<1, 255>,
    /// Floor, building, district.
    line2: Option<Text<1, 255>>,
    /// City.
    city: Text<1, 120>,
    /// State or province.
    region: Option<Text<1, 120>>,
    /// Postal code; not every country has them.
    postal_code: Option<Text<1, 20>>,
    /// The country, ISO 3166-1 alpha-2.
    country: Country,
    /// The telephone number for the carrier.
    phone: Option<Phone>,
}

impl Deserr<FieldErrors> for AddressInput {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let json = serde_json::Value::from(value);
        let field_errors = errors_in_country(&json);
        let read = Fields::deserialize_from_value(json.into_value(), location);
        let mut all = read.as_ref().err().cloned().unwrap_or_default();
        let known: Vec<String> = all.iter().map(|error| error.pointer.clone()).collect();
        for (field, violation) in field_errors {
            let here = FieldErrors::at(location.push_key(field), violation);
            all.extend(here.iter().filter(|error| !known.contains(&error.pointer)).cloned());
        }
        match read {
            Ok(fields) if all.is_empty() => Ok(Self(fields)),
            _ => Err(all),
        }
    }
}

/// The field errors of an address by its country's rules, if it names a country.
pub fn errors_in_country(json: &serde_json::Value) -> Vec<(&'static str, Violation)> {
    let text = |field: &str| json.get(field).and_then(serde_json::Value::as_str);
    let country = text("country").and_then(|country| Country::from_text(country).ok());
    let Some(country) = country else { return Vec::new() };
    let validated = formats::validate(country.as_str(), text("region"), text("postal_code"));
    validated.err().unwrap_or_default()
}

impl From<AddressInput> for PostalAddress {
    fn from(AddressInput(fields): AddressInput) -> Self {
        let postal = Self {
            first_name: fields.first_name.map(String::from),
            last_name: fields.last_name.map(String::from),
            company: fields.company.map(String::from),
            line1: fields.line1.into(),
            line2: fields.line2.map(String::from),
            city: fields.city.into(),
            region: fields.region.map(String::from),
            postal_code: fields.postal_code.map(String::from),
            country: fields.country,
            phone: fields.phone,
            phone_e164: None,
        };
        postal.clone().in_its_country().unwrap_or(postal)
    }
}
