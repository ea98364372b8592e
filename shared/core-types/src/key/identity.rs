//! Keys of identity: merchants, their credentials, stores, customers.

use primitives::clock::Timestamp;
use table::item::Key;

use super::{IndexKey, gsi2, list};
use crate::id::{
    AddressId, ChallengeId, CustomerId, CustomerSessionId, MerchantId, SessionId, StoreId,
};

// Merchants: the account, its developer profile (of the platform) and its sessions share a
// partition.

/// A merchant.
pub fn merchant(id: &MerchantId) -> Key {
    Key::new(format!("MER#{id}"), "A")
}
/// A session: in its merchant's partition, so that the list is one consistent query.
pub fn session(merchant: &MerchantId, id: &SessionId) -> Key {
    Key::new(format!("MER#{merchant}"), format!("SES#{id}"))
}
/// A merchant's second factor.
pub fn mfa(merchant: &MerchantId) -> Key {
    Key::new(format!("MER#{merchant}"), "MFA")
}
/// The prefix of sessions' sort keys.
pub const SESSIONS: &str = "SES#";
/// The uniqueness item of a merchant's e-mail address.
pub fn unique_email(normalized: &str) -> Key {
    Key::new(format!("UQ#EMAIL#{normalized}"), "U")
}
/// A one-time-code challenge.
pub fn challenge(id: &ChallengeId) -> Key {
    Key::new(format!("OTP#{id}"), "A")
}
/// A reset or verification link, by the digest of its token.
pub fn link(digest: &str) -> Key {
    Key::new(format!("RST#{digest}"), "A")
}
/// A sign-in throttle, by the digest of its subject.
pub fn throttle(kind: &str, digest: &str) -> Key {
    Key::new(format!("THR#{kind}#{digest}"), "A")
}

// Stores: items that the admin and the storefront both read share a partition.

/// A store.
pub fn store(id: &StoreId) -> Key {
    Key::new(format!("STO#{id}"), "A")
}
/// A merchant's stores, by creation.
pub fn stores_of(owner: &MerchantId, created: Timestamp) -> IndexKey {
    list::stores_of(owner).entry(created.to_string())
}
/// A store by its subdomain, for eventually consistent reads.
pub fn store_by_subdomain(subdomain: &str) -> IndexKey {
    gsi2(format!("SDM#{subdomain}"), "A")
}
/// The uniqueness item of a store's subdomain.
pub fn unique_subdomain(subdomain: &str) -> Key {
    Key::new(format!("UQ#SUB#{subdomain}"), "U")
}
/// The members of a store.
pub fn members(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "MBR")
}
/// The domains of a store.
pub fn domains(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "DMN")
}
/// The uniqueness item of a verified host: one store for each.
pub fn unique_host(host: &str) -> Key {
    Key::new(format!("UQ#HOST#{host}"), "U")
}
/// A group of settings.
pub fn settings(store: &StoreId, group: &str) -> Key {
    Key::new(format!("STO#{store}"), format!("SET#{group}"))
}

// Customers: a customer, their addresses and their wishlist are one query.

/// A customer.
pub fn customer(store: &StoreId, id: &CustomerId) -> Key {
    Key::new(format!("STO#{store}#CUS#{id}"), "A")
}
/// A store's customers, by time.
pub fn customers_of_store(store: &StoreId, created: Timestamp, id: &CustomerId) -> IndexKey {
    list::customers_of_store(store).entry(format!("{created}#{id}"))
}
/// An address.
pub fn address(store: &StoreId, customer: &CustomerId, id: &AddressId) -> Key {
    Key::new(format!("STO#{store}#CUS#{customer}"), format!("ADR#{id}"))
}
/// The prefix of the sort keys of addresses.
pub const ADDRESSES: &str = "ADR#";
/// The uniqueness item of a customer's e-mail address, on a store.
pub fn unique_customer_email(store: &StoreId, normalized: &str) -> Key {
    Key::new(format!("UQ#{store}#CEM#{normalized}"), "U")
}
/// The uniqueness item of the telephone number of a customer without an e-mail address, on a store.
pub fn unique_customer_phone(store: &StoreId, e164: &str) -> Key {
    Key::new(format!("UQ#{store}#CTL#{e164}"), "U")
}
/// A customer's session: in the customer's partition, as a merchant's is.
pub fn customer_session(store: &StoreId, customer: &CustomerId, id: &CustomerSessionId) -> Key {
    Key::new(format!("STO#{store}#CUS#{customer}"), format!("SES#{id}"))
}
