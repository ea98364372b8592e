//! Customers as they are shown.

use std::collections::BTreeMap;

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::fields::{Email, Phone};
use core_types::id::{AddressId, CustomerId, StoreId};
use core_types::money::{self, Money};
use core_types::sample_id;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{BY_CUSTOMER, Customer, CustomerStatus, MarketingConsent};

core_types::view! {
    /// A customer as the store and its apps see them.
    CustomerView of customer: Customer {
        /// The id.
        id: CustomerId,
        /// The address.
        email: Email,
        /// The person's name.
        name: Option<String>,
        /// The person's telephone number.
        phone: Option<Phone>,
        /// Whether the account may be used.
        status: CustomerStatus,
        /// Whether the store may send advertisements.
        accepts_marketing: bool,
        /// When that was said last, and where.
        marketing_consent: Option<MarketingConsent>,
        /// The store's own labels.
        tags: Vec<String>,
        /// The groups that the store has put them into.
        groups: Vec<String>,
        /// What the store notes about them; they are not shown it.
        note: Option<String>,
        /// Whether their orders are not taxed.
        tax_exempt: bool,
        /// What apps and merchants keep with them; they are not shown it.
        metadata: BTreeMap<String, String>,
        /// Orders placed.
        orders_count: u64,
        /// What was paid for them.
        total_spent: Money,
        /// When the account was made.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// Counts writes.
        version: u64,
    }
}

core_types::view! {
    /// An account as its owner sees it: without the store's labels.
    AccountView of customer: Customer {
        /// The id.
        id: CustomerId,
        /// The store.
        store_id: StoreId,
        /// The address.
        email: Email,
        /// The person's name.
        name: Option<String>,
        /// The person's telephone number.
        phone: Option<Phone>,
        /// Whether the store may send advertisements.
        accepts_marketing: bool,
        /// Whether there is a password to sign in with.
        has_password: bool = customer.password_hash.is_some(),
        /// The address a checkout suggests first.
        default_address_id: Option<AddressId>,
        /// Orders placed.
        orders_count: u64,
        /// When the account was made.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
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
            marketing_consent: Some(MarketingConsent {
                at: EXAMPLE_TIME,
                source: BY_CUSTOMER.into(),
            }),
            tags: vec!["vip".into()],
            groups: Vec::new(),
            note: None,
            tax_exempt: false,
            metadata: BTreeMap::new(),
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
