//! Customers as they are shown.

use gateway::clock::Timestamp;
use ground::event::{EXAMPLE_TIME, Example, sample};
use ground::fields::{Email, Phone};
use ground::id::{AddressId, CustomerId, StoreId};
use ground::money::{self, Money};
use ground::sample_id;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Customer, CustomerStatus};

/// A customer as the store and its apps see them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CustomerView {
    /// The id.
    pub id: CustomerId,
    /// The address.
    pub email: Email,
    /// The person's name.
    pub name: Option<String>,
    /// The person's telephone number.
    pub phone: Option<Phone>,
    /// Whether the account may be used.
    pub status: CustomerStatus,
    /// Whether the store may send advertisements.
    pub accepts_marketing: bool,
    /// The store's own labels.
    pub tags: Vec<String>,
    /// Orders placed.
    pub orders_count: u64,
    /// What was paid for them.
    pub total_spent: Money,
    /// When the account was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Counts writes.
    pub version: u64,
}

impl From<&Customer> for CustomerView {
    fn from(customer: &Customer) -> Self {
        Self {
            id: customer.id.clone(),
            email: customer.email.clone(),
            name: customer.name.clone(),
            phone: customer.phone.clone(),
            status: customer.status,
            accepts_marketing: customer.accepts_marketing,
            tags: customer.tags.clone(),
            orders_count: customer.orders_count,
            total_spent: customer.total_spent.clone(),
            created_at: customer.created_at,
            updated_at: customer.updated_at,
            version: customer.version,
        }
    }
}

/// An account as its owner sees it: without the store's labels.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AccountView {
    /// The id.
    pub id: CustomerId,
    /// The store.
    pub store_id: StoreId,
    /// The address.
    pub email: Email,
    /// The person's name.
    pub name: Option<String>,
    /// The person's telephone number.
    pub phone: Option<Phone>,
    /// Whether the store may send advertisements.
    pub accepts_marketing: bool,
    /// Whether there is a password to sign in with.
    pub has_password: bool,
    /// The address a checkout suggests first.
    pub default_address_id: Option<AddressId>,
    /// Orders placed.
    pub orders_count: u64,
    /// When the account was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

impl From<&Customer> for AccountView {
    fn from(customer: &Customer) -> Self {
        Self {
            id: customer.id.clone(),
            store_id: customer.store_id.clone(),
            email: customer.email.clone(),
            name: customer.name.clone(),
            phone: customer.phone.clone(),
            accepts_marketing: customer.accepts_marketing,
            has_password: customer.password_hash.is_some(),
            default_address_id: customer.default_address_id.clone(),
            orders_count: customer.orders_count,
            created_at: customer.created_at,
            updated_at: customer.updated_at,
            version: customer.version,
        }
    }
}

/// A customer is gone, and what was known of them with it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CustomerDeleted {
    /// Who it was.
    pub id: CustomerId,
    /// When that was.
    pub deleted_at: Timestamp,
}

impl Example for CustomerView {
    fn example() -> Self {
        Self {
            id: sample_id!(CustomerId),
            email: sample::<Email>("cleo@example.com"),
            name: Some("Cleo Cruz".into()),
            phone: Some(sample::<Phone>("+91 22 5550 1234")),
            status: CustomerStatus::Active,
            accepts_marketing: true,
            tags: vec!["vip".into()],
            orders_count: 2,
            total_spent: money::sample(259_800),
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 2,
        }
    }
}

impl Example for CustomerDeleted {
    fn example() -> Self {
        Self { id: sample_id!(CustomerId), deleted_at: EXAMPLE_TIME }
    }
}
