//! Keys of identity: merchants, what they prove and sign in with, stores, customers.

use gateway::clock::Timestamp;
use gateway::item::Key;

use super::{IndexKey, gsi1, gsi2};
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
/// What sort keys of sessions begin with.
pub const SESSIONS: &str = "SES#";
/// The one account of an e-mail address.
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
/// A sign-in throttle, by the digest of who is throttled.
pub fn throttle(kind: &str, digest: &str) -> Key {
    Key::new(format!("THR#{kind}#{digest}"), "A")
}

// Stores: what a store's admin and its storefront read share a partition.

/// A store.
pub fn store(id: &StoreId) -> Key {
    Key::new(format!("STO#{id}"), "A")
}
/// A merchant's stores, by creation.
pub fn stores_of(owner: &MerchantId, created: Timestamp) -> IndexKey {
    gsi1(format!("MER#{owner}#STO"), created.to_string())
}
/// A store, found by its subdomain: for reads that may be a moment old.
pub fn store_by_subdomain(subdomain: &str) -> IndexKey {
    gsi2(format!("SDM#{subdomain}"), "A")
}
/// The one store of a subdomain.
pub fn unique_subdomain(subdomain: &str) -> Key {
    Key::new(format!("UQ#SUB#{subdomain}"), "U")
}
/// The people of a store.
pub fn members(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "MBR")
}
/// The domains of a store.
pub fn domains(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "DMN")
}
/// The one store of a verified host.
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
    gsi1(format!("STO#{store}#CUS"), format!("{created}#{id}"))
}
/// An address.
pub fn address(store: &StoreId, customer: &CustomerId, id: &AddressId) -> Key {
    Key::new(format!("STO#{store}#CUS#{customer}"), format!("ADR#{id}"))
}
/// What sort keys of addresses begin with.
pub const ADDRESSES: &str = "ADR#";
/// The one customer of an e-mail address, on a store.
pub fn unique_customer_email(store: &StoreId, normalized: &str) -> Key {
    Key::new(format!("UQ#{store}#CEM#{normalized}"), "U")
}
/// A customer's session: in the customer's partition, as a merchant's is.
pub fn customer_session(store: &StoreId, customer: &CustomerId, id: &CustomerSessionId) -> Key {
    Key::new(format!("STO#{store}#CUS#{customer}"), format!("SES#{id}"))
}
