//! Postal addresses: one shape for address books, checkouts and locations. [`formats`] has the
//! table of each country's requirements.

pub mod country_names;
mod formats;
mod input;
mod printed;

use core_types::fields::{Country, E164, Phone};
use core_types::id::{AddressId, CustomerId, StoreId};
use core_types::key;
use primitives::clock::Timestamp;
use primitives::fields::{Patch, Text};
use primitives::input::request;
use primitives::problem::{Code, FieldError, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Item;
use table::{Change, Condition, Query, Write};

use crate::customer::Customer;
use crate::phone;

pub use formats::{
    countries, has_postal_codes, is_same_region, postal_code_of, prefix_key, prefix_of, region_key,
    region_of, regions, validate, without_country,
};
pub use input::{AddressInput, errors_in_country};
pub use printed::AddressParts;

/// The maximum number of addresses per customer.
pub const MAX_ADDRESSES: u32 = 50;

/// Changes to an address: omitted fields stay, `null` clears optional ones.
#[request]
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddressPatch {
    /// The recipient's given name.
    pub first_name: Patch<Text<1, 100>>,
    /// The recipient's family name.
    pub last_name: Patch<Text<1, 100>>,
    /// The recipient's company.
    pub company: Patch<Text<1, 200>>,
    /// Street and number.
    pub line1: Option<Text<1, 255>>,
    /// Floor, building, district.
    pub line2: Patch<Text<1, 255>>,
    /// City.
    pub city: Option<Text<1, 120>>,
    /// State or province.
    pub region: Patch<Text<1, 120>>,
    /// Postal code.
    pub postal_code: Patch<Text<1, 20>>,
    /// The country, ISO 3166-1 alpha-2.
    pub country: Option<Country>,
    /// The telephone number for the carrier.
    pub phone: Patch<Phone>,
}

/// A postal address as stored: in an address book, and frozen in an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PostalAddress {
    /// The recipient's given name.
    pub first_name: Option<String>,
    /// The recipient's family name.
    pub last_name: Option<String>,
    /// The recipient's company.
    pub company: Option<String>,
    /// Street and number.
    pub line1: String,
    /// Floor, building, district.
    pub line2: Option<String>,
    /// City.
    pub city: String,
    /// State or province.
    pub region: Option<String>,
    /// Postal code.
    pub postal_code: Option<String>,
    /// The country, ISO 3166-1 alpha-2.
    pub country: Country,
    /// The telephone number for the carrier, as it was written.
    pub phone: Option<Phone>,
    /// The telephone number in E.164; none if it is no number of the country, nor one with a country code.
    #[serde(default)]
    pub phone_e164: Option<E164>,
}

impl PostalAddress {
    /// The address reduced to what accounting needs: the country and region that taxed the order.
    #[must_use]
    pub fn redacted(&self) -> Self {
        Self {
            first_name: None,
            last_name: None,
            company: None,
            line1: String::new(),
            line2: None,
            city: String::new(),
            region: self.region.clone(),
            postal_code: None,
            country: self.country.clone(),
            phone: None,
            phone_e164: None,
        }
    }

    /// Normalizes the address: its region as a code, its postal code as its country writes it, its telephone
    /// number in E.164. Requires the fields that its country needs.
    ///
    /// # Errors
    /// `required`, `invalid_region`, `invalid_postal_code`, as field errors.
    fn in_its_country(self) -> Result<Self, Problem> {
        let (region, postal_code) = (self.region.as_deref(), self.postal_code.as_deref());
        let validated = formats::validate(self.country.as_str(), region, postal_code);
        let (region, postal_code) = validated.map_err(|field_errors| {
            let error = |(field, violation)| FieldError::at(format!("/{field}"), violation);
            Problem::invalid(field_errors.into_iter().map(error).collect::<Vec<_>>())
        })?;
        let phone_e164 = phone::e164_of(self.phone.as_ref(), &self.country);
        Ok(Self { region, postal_code, phone_e164, ..self })
    }

    /// Applies a patch.
    ///
    /// # Errors
    /// `required`, `invalid_region`, `invalid_postal_code`, as field errors, if the patch changes
    /// anything.
    pub fn patched(&self, patch: AddressPatch) -> Result<Self, Problem> {
        let mut next = self.clone();
        patch.first_name.apply(&mut next.first_name);
        patch.last_name.apply(&mut next.last_name);
        patch.company.apply(&mut next.company);
        patch.line2.apply(&mut next.line2);
        patch.region.apply(&mut next.region);
        patch.postal_code.apply(&mut next.postal_code);
        patch.phone.apply(&mut next.phone);
        next.line1 = patch.line1.map_or(next.line1, String::from);
        next.city = patch.city.map_or(next.city, String::from);
        next.country = patch.country.unwrap_or(next.country);
        if next == *self { Ok(next) } else { next.in_its_country() }
    }
}

/// An address in a customer's address book. The customer's own item holds the default and the count
/// ([`crate::customer::Customer`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "address", key = key::address(&self.store_id, &self.customer_id, &self.id))]
pub struct Address {
    /// `adr_…`; later ones sort after it.
    pub id: AddressId,
    /// The store of the customer.
    pub store_id: StoreId,
    /// The customer it belongs to.
    pub customer_id: CustomerId,
    /// The postal address; `place` in the table.
    #[serde(rename = "place")]
    pub postal: PostalAddress,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write.
    pub version: u64,
}

impl Address {
    /// Creates an address of a customer.
    pub fn add(
        store: &StoreId,
        customer: &CustomerId,
        postal: PostalAddress,
        now: Timestamp,
    ) -> Self {
        Self {
            id: AddressId::mint(now),
            store_id: store.clone(),
            customer_id: customer.clone(),
            postal,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The address at its next version, with another postal address.
    #[must_use]
    pub fn moved(&self, postal: PostalAddress, now: Timestamp) -> Self {
        let version = self.version.saturating_add(1);
        Self { postal, updated_at: now, version, ..self.clone() }
    }
}

/// Every address of a customer, newest first.
///
/// # Errors
/// 503.
pub async fn all_of(services: &Services, customer: &Customer) -> Result<Vec<Address>, Problem> {
    let query = Query::partition(customer.key().pk).begins_with(key::ADDRESSES).newest_first();
    services.table.all(&query, usize::try_from(MAX_ADDRESSES).unwrap_or(usize::MAX)).await
}

/// Adds an address of a customer. The first one becomes the default, and so does a later one if
/// requested. Ends in `version_conflict` when the addresses have changed meanwhile.
///
/// # Errors
/// `address_limit`.
pub fn add(
    write: Write,
    customer: &Customer,
    address: &Address,
    as_default: bool,
) -> Result<Write, Problem> {
    if customer.addresses_count >= MAX_ADDRESSES {
        return Err(Code::AddressLimit.with("maximum", MAX_ADDRESSES));
    }
    let is_first = customer.default_address_id.is_none();
    let (set, condition) = match (as_default, is_first) {
        (true, _) => (", default_address_id = :id", ""),
        (false, true) => {
            (", default_address_id = :id", " AND attribute_not_exists(default_address_id)")
        }
        (false, false) => ("", " AND attribute_exists(default_address_id)"),
    };
    let change = Change::new(format!("SET addresses_count = addresses_count + :one{set}"))
        .only_if(format!("addresses_count < :max{condition}"))
        .value(":one", 1)
        .value(":max", MAX_ADDRESSES);
    let change = if set.is_empty() { change } else { change.value(":id", &address.id) };
    Ok(write.create(address, Code::VersionConflict).update(
        &customer.key(),
        change,
        Code::VersionConflict,
    ))
}

/// Moves the addresses of a removed account to another account, unchanged. Ends in `not_found` when
/// that account is gone as well, and in `version_conflict` when an address is.
pub fn hand_over(write: Write, to: &Customer, addresses: &[Address]) -> Write {
    let Some(first) = addresses.first() else { return write };
    let change = Change::new(
        "SET addresses_count = addresses_count + :more, \
         default_address_id = if_not_exists(default_address_id, :first)",
    )
    .only_if("attribute_exists(PK)")
    .value(":more", addresses.len())
    .value(":first", &first.id);
    let write = write.update(&to.key(), change, Code::NotFound);
    addresses.iter().fold(write, |write, address| {
        let moved = Address { customer_id: to.id.clone(), ..address.clone() };
        write
            .delete_if(&address.key(), Condition::exists(), Code::VersionConflict)
            .create(&moved, Code::VersionConflict)
    })
}

/// Makes an address the customer's default.
pub fn prefer(write: Write, customer: &Customer, address: &AddressId) -> Write {
    let change = Change::new("SET default_address_id = :id")
        .only_if("attribute_exists(PK)")
        .value(":id", address);
    write.update(&customer.key(), change, Code::VersionConflict)
}

/// Removes an address of a customer. If it was the default, the newest remaining one becomes the
/// default. Ends in `version_conflict` when the addresses have changed meanwhile.
pub fn remove(write: Write, customer: &Customer, address: &Address, all: &[Address]) -> Write {
    let write = write.delete_if(&address.key(), Condition::exists(), Code::VersionConflict);
    let others = all.iter().filter(|other| other.id != address.id);
    let newest = others.max_by_key(|other| (other.created_at, other.id.clone()));
    let is_default = customer.default_address_id.as_ref() == Some(&address.id);
    let count = "SET addresses_count = addresses_count - :one";
    let (change, write) = match (is_default, newest) {
        (false, _) => (
            Change::new(count).only_if("default_address_id <> :gone AND addresses_count > :one"),
            write,
        ),
        (true, None) => {
            let change = Change::new(format!("{count} REMOVE default_address_id"));
            (change.only_if("default_address_id = :gone AND addresses_count = :one"), write)
        }
        (true, Some(newest)) => {
            let change = Change::new(format!("{count}, default_address_id = :newest"))
                .only_if("default_address_id = :gone AND addresses_count = :count")
                .value(":newest", &newest.id)
                .value(":count", customer.addresses_count);
            (change, write.check(&newest.key(), Condition::exists(), Code::VersionConflict))
        }
    };
    let change = change.value(":one", 1).value(":gone", &address.id);
    write.update(&customer.key(), change, Code::VersionConflict)
}

core_types::view! {
    /// An address of a customer.
    AddressView of (address: Address, default: Option<&AddressId>) {
        /// The address's id.
        id: AddressId,
        /// The postal address.
        #[serde(flatten)]
        postal: PostalAddress,
        /// Whether it is the default, which a checkout suggests first.
        is_default: bool = default == Some(&address.id),
        /// When it was added.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}

#[cfg(test)]
mod tests {
    use primitives::input::read;
    use serde_json::json;

    use super::*;

    fn text<T: primitives::fields::FromText>(text: &str) -> T {
        T::from_text(text).unwrap()
    }

    #[test]
    fn a_patch_keeps_clears_and_sets() {
        let input = read::<AddressInput>(json!({
            "first_name": "Ann", "line1": "1 Main Street", "line2": "Floor 2", "city": "Pune",
            "region": "Goa", "postal_code": "411001", "country": "IN",
        }));
        let postal = PostalAddress::from(input.unwrap());
        let patch = AddressPatch {
            line2: Patch::Clear,
            region: Patch::Set(text("Maharashtra")),
            city: Some(text("Mumbai")),
            ..AddressPatch::default()
        };
        let next = postal.patched(patch).unwrap();
        assert_eq!((next.line2.clone(), next.region.as_deref()), (None, Some("MH")));
        assert_eq!((next.city.as_str(), next.first_name.as_deref()), ("Mumbai", Some("Ann")));
        let abroad = AddressPatch { country: Some(text("CA")), ..AddressPatch::default() };
        let rejected = next.patched(abroad).unwrap_err();
        let at: Vec<_> = rejected.errors().iter().map(|error| error.pointer.as_str()).collect();
        assert_eq!(at, ["/region", "/postal_code"]);
        assert_eq!(next.patched(AddressPatch::default()).unwrap(), next);
        let called =
            AddressPatch { phone: Patch::Set(text("022/55501234")), ..AddressPatch::default() };
        let called = next.patched(called).unwrap();
        assert_eq!(called.phone_e164, Some(text("+912255501234")));
        let silent = AddressPatch { phone: Patch::Clear, ..AddressPatch::default() };
        assert_eq!(called.patched(silent).unwrap().phone_e164, None);
    }

    #[test]
    fn every_field_error_of_an_address_is_reported() {
        let rejected = read::<AddressInput>(json!({"line1": "", "country": "XX"})).unwrap_err();
        let mut codes: Vec<_> =
            rejected.errors().iter().map(|error| error.violation.code).collect();
        codes.sort_unstable();
        assert_eq!(codes, ["invalid_country", "required", "too_short"]);
        let input = json!({"line1": "", "region": "Goa", "postal_code": "12", "country": "US"});
        let rejected = read::<AddressInput>(input).unwrap_err();
        let mut found: Vec<_> = rejected
            .errors()
            .iter()
            .map(|error| (error.pointer.as_str(), error.violation.code))
            .collect();
        found.sort_unstable();
        let expected = [
            ("/city", "required"),
            ("/line1", "too_short"),
            ("/postal_code", "invalid_postal_code"),
            ("/region", "invalid_region"),
        ];
        assert_eq!(found, expected);
    }
}
