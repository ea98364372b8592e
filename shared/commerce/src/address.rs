//! Addresses: where something goes. One shape for address books, checkouts and locations.

use deserr::Deserr;
use gateway::clock::Timestamp;
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use gateway::request::{FieldErrors, Patch, Text};
use gateway::table::{Change, Condition, Write};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::customer::Customer;
use crate::fields::{Country, Phone};
use crate::id::{AddressId, CustomerId, StoreId};
use crate::key;

/// Addresses that one customer may keep.
pub const MAX_ADDRESSES: u32 = 50;

/// An address as it is asked for: by an address book and by a checkout alike.
#[derive(Debug, Clone, PartialEq, Eq, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct AddressInput {
    /// The recipient's given name.
    #[deserr(default)]
    pub first_name: Option<Text<1, 100>>,
    /// The recipient's family name.
    #[deserr(default)]
    pub last_name: Option<Text<1, 100>>,
    /// The recipient's company.
    #[deserr(default)]
    pub company: Option<Text<1, 200>>,
    /// Street and number.
    pub line1: Text<1, 255>,
    /// Floor, building, district.
    #[deserr(default)]
    pub line2: Option<Text<1, 255>>,
    /// City.
    pub city: Text<1, 120>,
    /// State or province.
    #[deserr(default)]
    pub region: Option<Text<1, 120>>,
    /// Postal code; not every country has them.
    #[deserr(default)]
    pub postal_code: Option<Text<1, 20>>,
    /// ISO 3166-1.
    pub country: Country,
    /// Whom the carrier calls.
    #[deserr(default)]
    pub phone: Option<Phone>,
}

/// What changes about an address: what is left out stays, `null` clears what may be absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub struct AddressPatch {
    /// The recipient's given name.
    #[deserr(default)]
    pub first_name: Patch<Text<1, 100>>,
    /// The recipient's family name.
    #[deserr(default)]
    pub last_name: Patch<Text<1, 100>>,
    /// The recipient's company.
    #[deserr(default)]
    pub company: Patch<Text<1, 200>>,
    /// Street and number.
    #[deserr(default)]
    pub line1: Option<Text<1, 255>>,
    /// Floor, building, district.
    #[deserr(default)]
    pub line2: Patch<Text<1, 255>>,
    /// City.
    #[deserr(default)]
    pub city: Option<Text<1, 120>>,
    /// State or province.
    #[deserr(default)]
    pub region: Patch<Text<1, 120>>,
    /// Postal code.
    #[deserr(default)]
    pub postal_code: Patch<Text<1, 20>>,
    /// ISO 3166-1.
    #[deserr(default)]
    pub country: Option<Country>,
    /// Whom the carrier calls.
    #[deserr(default)]
    pub phone: Patch<Phone>,
}

/// An address as it is kept: in an address book, and frozen in an order.
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
    /// ISO 3166-1.
    pub country: Country,
    /// Whom the carrier calls.
    pub phone: Option<Phone>,
}

impl From<AddressInput> for PostalAddress {
    fn from(input: AddressInput) -> Self {
        Self {
            first_name: input.first_name.map(String::from),
            last_name: input.last_name.map(String::from),
            company: input.company.map(String::from),
            line1: input.line1.into(),
            line2: input.line2.map(String::from),
            city: input.city.into(),
            region: input.region.map(String::from),
            postal_code: input.postal_code.map(String::from),
            country: input.country,
            phone: input.phone,
        }
    }
}

impl PostalAddress {
    /// The address with what a patch says.
    #[must_use]
    pub fn patched(&self, patch: AddressPatch) -> Self {
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
        next
    }
}

/// An address in a customer's address book. Which one is the default, and how many there are, the
/// customer's own item says ([`crate::customer::Customer`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The id.
    pub id: AddressId,
    /// The store.
    pub store_id: StoreId,
    /// Whose it is.
    pub customer_id: CustomerId,
    /// Where that is.
    pub place: PostalAddress,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Counts writes.
    pub version: u64,
}

impl Item for Address {
    const KIND: &'static str = "address";
    fn key(&self) -> Key {
        key::address(&self.store_id, &self.customer_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl Address {
    /// A new address of a customer.
    pub fn add(
        store: &StoreId,
        customer: &CustomerId,
        place: PostalAddress,
        now: Timestamp,
    ) -> Self {
        Self {
            id: AddressId::mint(now),
            store_id: store.clone(),
            customer_id: customer.clone(),
            place,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The address at its next version, at this place.
    #[must_use]
    pub fn moved(&self, place: PostalAddress, now: Timestamp) -> Self {
        let version = self.version.saturating_add(1);
        Self { place, updated_at: now, version, ..self.clone() }
    }
}

/// Adds an address to a customer's book: the first one becomes the default, and so does every later
/// one that is asked to. Ends in `version_conflict` when the book has changed in what matters.
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

/// Makes an address of the book the one a checkout suggests first.
pub fn prefer(write: Write, customer: &Customer, address: &AddressId) -> Write {
    let change = Change::new("SET default_address_id = :id")
        .only_if("attribute_exists(PK)")
        .value(":id", address);
    write.update(&customer.key(), change, Code::VersionConflict)
}

/// Takes an address out of a customer's book. When it is the default, the newest of the `book`'s
/// others becomes that. Ends in `version_conflict` when the book has changed in what matters.
pub fn remove(write: Write, customer: &Customer, address: &Address, book: &[Address]) -> Write {
    let is_there = || Condition::new("attribute_exists(PK)");
    let write = write.delete_if(&address.key(), is_there(), Code::VersionConflict);
    let others = book.iter().filter(|other| other.id != address.id);
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
            (change, write.check(&newest.key(), is_there(), Code::VersionConflict))
        }
    };
    let change = change.value(":one", 1).value(":gone", &address.id);
    write.update(&customer.key(), change, Code::VersionConflict)
}

/// An address as its owner sees it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AddressView {
    /// The id.
    pub id: AddressId,
    /// Where that is.
    #[serde(flatten)]
    pub place: PostalAddress,
    /// Whether a checkout suggests it first.
    pub is_default: bool,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

impl AddressView {
    /// An address, while this one is the default.
    pub fn of(address: Address, default: Option<&AddressId>) -> Self {
        Self {
            is_default: default == Some(&address.id),
            id: address.id,
            place: address.place,
            created_at: address.created_at,
            updated_at: address.updated_at,
            version: address.version,
        }
    }
}

#[cfg(test)]
mod tests {
    use gateway::request::read;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_patch_keeps_clears_and_sets() {
        let input = read::<AddressInput>(json!({
            "first_name": "Ann", "line1": "1 Main Street", "line2": "Floor 2", "city": "Pune",
            "country": "IN",
        }));
        let place = PostalAddress::from(input.unwrap());
        let text = |text: &str| gateway::request::FromText::from_text(text).unwrap();
        let patch = AddressPatch {
            line2: Patch::Clear,
            region: Patch::Set(text("Maharashtra")),
            city: Some(gateway::request::FromText::from_text("Mumbai").unwrap()),
            ..AddressPatch::default()
        };
        let next = place.patched(patch);
        assert_eq!((next.line2, next.region.as_deref()), (None, Some("Maharashtra")));
        assert_eq!((next.city.as_str(), next.first_name.as_deref()), ("Mumbai", Some("Ann")));
    }

    #[test]
    fn every_fault_of_an_address_is_named() {
        let refused = read::<AddressInput>(json!({"line1": "", "country": "XX"})).unwrap_err();
        let mut codes: Vec<_> = refused.errors().iter().map(|error| error.fault.code).collect();
        codes.sort_unstable();
        assert_eq!(codes, ["invalid_country", "required", "too_short"]);
    }
}
