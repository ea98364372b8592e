//! Responses about customers.

use std::collections::BTreeMap;

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::fields::{E164, Email, Phone};
use core_types::id::{AddressId, CustomerId, StoreId};
use core_types::money::{self, Money};
use core_types::sample_id;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{BY_CUSTOMER, Customer, CustomerStatus, MarketingConsent};

core_types::view! {
    /// A customer, as the store and its apps see them.
    CustomerView of customer: Customer {
        /// The id.
        id: CustomerId,
        /// The address; null for a customer who has no account and is identified by their telephone number.
        email: Option<Email>,
        /// The person's name.
        name: Option<String>,
        /// The person's telephone number, as it was written.
        phone: Option<Phone>,
        /// The telephone number in E.164; none if it is no number of the store's country, nor one with a country
        /// code.
        phone_e164: Option<E164>,
        /// Whether the account may be used.
        status: CustomerStatus,
        /// Whether the store may send marketing.
        accepts_marketing: bool,
        /// When and where that was last said.
        marketing_consent: Option<MarketingConsent>,
        /// The store's own labels.
        tags: Vec<String>,
        /// The groups to which the store has assigned them.
        groups: Vec<String>,
        /// The store's note about them; not returned to them.
        note: Option<String>,
        /// Whether their orders are not taxed.
        tax_exempt: bool,
        /// Metadata of apps and merchants; not returned to them.
        metadata: BTreeMap<String, String>,
        /// The number of orders placed.
        orders_count: u64,
        /// The total paid for orders.
        total_spent: Money,
        /// When the account was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// From 1, one more with each write except those of counters.
        version: u64,
    }
}

core_types::view! {
    /// An account, as its owner sees it: without the store's labels, groups, note and metadata.
    AccountView of customer: Customer {
        /// The id.
        id: CustomerId,
        /// The store.
        store_id: StoreId,
        /// The address. Whoever signs in has one.
        email: Option<Email>,
        /// The person's name.
        name: Option<String>,
        /// The person's telephone number, as it was written.
        phone: Option<Phone>,
        /// The telephone number in E.164; none if it is no number of the store's country, nor one with a country
        /// code.
        phone_e164: Option<E164>,
        /// Whether the store may send marketing.
        accepts_marketing: bool,
        /// Whether there is a password to sign in with.
        has_password: bool = customer.password_hash.is_some(),
        /// The default address, which a checkout suggests first.
        default_address_id: Option<AddressId>,
        /// The number of orders placed.
        orders_count: u64,
        /// When the account was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}

/// The deletion of a customer's account and its data.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CustomerDeleted {
    /// The customer's id.
    pub id: CustomerId,
    /// When the account was deleted.
    pub deleted_at: Timestamp,
}

impl Example for CustomerView {
    fn example() -> Self {
        Self {
            id: sample_id!(CustomerId),
            email: Some(sample::<Email>("cleo@example.com")),
            name: Some("Cleo Cruz".into()),
            phone: Some(sample::<Phone>("022/55501234")),
            phone_e164: Some(sample::<E164>("+912255501234")),
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
