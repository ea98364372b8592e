//! Customers: people whom one store knows, most of them with an account there.
//!
//! An account is created when its owner proves to receive mail at its address, or by the store. The store
//! creates it without a password, so that the first sign-in proves the address. Nobody can set a password for
//! somebody else's address. A customer whom the store has created without an address has no account: they are
//! identified by their telephone number ([`Identifier`]), and nobody signs in. Counters ([`COUNTED`]) are
//! changed in place by other writes, without a new version.

mod account;
mod claim;
mod erase;
mod merge;
mod save;
mod session;
mod topics;
mod view;

use std::collections::BTreeMap;

use core_types::event::EventSubject;
use core_types::fields::{Country, Currency, E164, Email, Phone};
use core_types::id::{AddressId, CustomerId, ExportId, StoreId};
use core_types::key;
use core_types::money::Money;
use core_types::resource::Resource;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::Item;
use table::{Change, Write};

use crate::account::Account;
use crate::challenge_subject::Application;
use crate::phone;

pub use claim::{Identifier, UniqueCustomerEmail, UniqueCustomerPhone};
pub use erase::{erase_items_except, remove};
pub use save::{CreateRequest, UpdateRequest, create, update, update_with};
pub use session::{CustomerSession, UnverifiedCustomerToken};
pub use topics::*;
pub use view::{AccountView, CustomerDeleted, CustomerView};

/// The attributes that other writes change in place.
pub const COUNTED: &[&str] =
    &["orders_count", "total_spent", "addresses_count", "default_address_id", "wishes_count"];

/// The maximum number of former addresses, which limits the number of accounts merged into one.
pub const MAX_FORMER_EMAILS: usize = 20;

/// The generation of a new account's credentials.
pub const FIRST_GENERATION: u64 = 1;

primitives::string_enum! {
    /// Whether a customer's account may be used.
    CustomerStatus {
        /// It may be used.
        Active = "active",
        /// The store has closed it.
        Disabled = "disabled",
    }
}

/// The source of a consent that the customer gave themselves.
pub const BY_CUSTOMER: &str = "customer";

/// When and where a customer accepted or declined marketing. A store must be able to prove it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MarketingConsent {
    /// When it was given.
    pub at: Timestamp,
    /// The source: `customer`, on the storefront, or a source that the store names, like `counter` or
    /// `import`.
    pub source: String,
}

/// A request of a customer for a copy of their data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRequest {
    /// The export with the data.
    pub export_id: ExportId,
    /// When it was requested.
    pub at: Timestamp,
}

impl DataRequest {
    /// From when on another one can follow (our choice).
    pub fn next_at(&self) -> Timestamp {
        self.at.plus(DAY)
    }
}

/// A customer of a store.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "customer", key = key::customer(&self.store_id, &self.id))]
#[item(indexes = vec![key::customers_of_store(&self.store_id, self.created_at, &self.id)])]
pub struct Customer {
    /// `cus_…`; later ones sort after it.
    pub id: CustomerId,
    /// The store of the account. Other stores have no access to it.
    pub store_id: StoreId,
    /// The address as it was given. Its owner has proven to receive mail there. For an account that the
    /// store has created, the first sign-in proves it. None if the store knows none: there is no account then.
    #[serde(default)]
    pub email: Option<Email>,
    /// Whether the address is proven by a code or a link ([`Customer::is_proven`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_email_proven: bool,
    /// The person's name.
    pub name: Option<String>,
    /// The person's telephone number, as it was written.
    pub phone: Option<Phone>,
    /// The telephone number in E.164; without a country code it is one of the store's country.
    #[serde(default)]
    pub phone_e164: Option<E164>,
    /// The Argon2id hash of the password, in PHC form. Secret. None if they only sign in by one-time code.
    pub password_hash: Option<String>,
    /// Whether the account may be used.
    pub status: CustomerStatus,
    /// Whether the store may send marketing.
    pub accepts_marketing: bool,
    /// When and where that was last said.
    #[serde(default)]
    pub marketing_consent: Option<MarketingConsent>,
    /// The store's own labels.
    pub tags: Vec<String>,
    /// The groups to which the store has assigned them.
    #[serde(default)]
    pub groups: Vec<String>,
    /// The store's note about them; not returned to them.
    #[serde(default)]
    pub note: Option<String>,
    /// Whether their orders are not taxed.
    #[serde(default)]
    pub tax_exempt: bool,
    /// Metadata of apps and merchants; not returned to them.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// The number of orders placed.
    pub orders_count: u64,
    /// The total paid for orders, in the store's currency.
    pub total_spent: Money,
    /// The number of addresses in the address book.
    #[serde(default)]
    pub addresses_count: u32,
    /// The default address, which a checkout suggests first.
    #[serde(default)]
    pub default_address_id: Option<AddressId>,
    /// The number of wishes on the wishlist.
    #[serde(default)]
    pub wishes_count: u32,
    /// The proven addresses of accounts that were merged into this one, normalized.
    #[serde(default)]
    pub former_emails: Vec<String>,
    /// The newest request for a copy of their data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_request: Option<DataRequest>,
    /// Counts events that end every session: sessions of an earlier generation are invalid.
    pub credential_generation: u64,
    /// Counts passwords: a reset link sent before the newest password was set is invalid.
    pub password_generation: u64,
    /// When the account was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write except those of counters.
    pub version: u64,
}

impl Customer {
    /// Creates the account of an application after the proof of its address.
    pub fn register(
        store: &StoreId,
        currency: &Currency,
        application: Application,
        now: Timestamp,
    ) -> Self {
        Self {
            email: Some(application.email),
            is_email_proven: true,
            name: application.name,
            phone: application.phone,
            phone_e164: application.phone_e164,
            password_hash: application.password_hash,
            ..Self::unknown(store, currency, now)
        }
        .with_consent(application.accepts_marketing, BY_CUSTOMER, now)
    }

    /// Somebody of whom nothing is known yet.
    fn unknown(store: &StoreId, currency: &Currency, now: Timestamp) -> Self {
        Self {
            id: CustomerId::mint(now),
            store_id: store.clone(),
            email: None,
            is_email_proven: false,
            name: None,
            phone: None,
            phone_e164: None,
            password_hash: None,
            status: CustomerStatus::Active,
            accepts_marketing: false,
            marketing_consent: None,
            tags: Vec::new(),
            groups: Vec::new(),
            note: None,
            tax_exempt: false,
            metadata: BTreeMap::new(),
            orders_count: 0,
            total_spent: Money::zero(currency),
            addresses_count: 0,
            default_address_id: None,
            wishes_count: 0,
            former_emails: Vec::new(),
            data_request: None,
            credential_generation: FIRST_GENERATION,
            password_generation: FIRST_GENERATION,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The account with another telephone number, or none; without a country code it is one of the store's.
    #[must_use]
    pub fn reached_at(self, phone: Option<Phone>, country: &Country) -> Self {
        let phone_e164 = phone::e164_of(phone.as_ref(), country);
        Self { phone, phone_e164, ..self }
    }

    /// The account at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// As [`Self::with_consent`], of a consent or withdrawal whose time is known. The later of two records holds.
    #[must_use]
    pub fn with_consent_of(self, accepts: bool, source: &str, at: Timestamp) -> Self {
        if self.marketing_consent.as_ref().is_some_and(|known| known.at >= at) {
            return self;
        }
        let consent = MarketingConsent { at, source: source.to_owned() };
        Self { accepts_marketing: accepts, marketing_consent: Some(consent), ..self }
    }

    /// The account with a consent to marketing, or its withdrawal, and its source. Without a change the
    /// earlier record stays.
    #[must_use]
    pub fn with_consent(self, accepts: bool, source: &str, now: Timestamp) -> Self {
        if self.accepts_marketing == accepts {
            return self;
        }
        let consent = MarketingConsent { at: now, source: source.to_owned() };
        Self { accepts_marketing: accepts, marketing_consent: Some(consent), ..self }
    }

    /// The account with another address, which its owner has proven. Its sessions end, and so do codes and
    /// links that were sent before.
    #[must_use]
    pub fn moved(&self, email: Email, now: Timestamp) -> Self {
        Self { email: Some(email), is_email_proven: true, ..self.with_sessions_ended(now) }
    }

    /// The account with its address proven; none if it was proven before.
    pub fn newly_proven(&self, now: Timestamp) -> Option<Self> {
        (self.email.is_some() && !self.is_proven())
            .then(|| Self { is_email_proven: true, ..self.changed(now) })
    }

    /// The request for a copy of their data that no other one can follow yet.
    pub fn current_data_request(&self, now: Timestamp) -> Option<&DataRequest> {
        self.data_request.as_ref().filter(|request| now < request.next_at())
    }

    /// The account with a request for a copy of its data.
    #[must_use]
    pub fn with_data_request(&self, export_id: ExportId, now: Timestamp) -> Self {
        Self { data_request: Some(DataRequest { export_id, at: now }), ..self.changed(now) }
    }

    /// The addresses at which its owner has proven to receive mail, normalized. Data of an address
    /// belongs to the customer only if they have proven it.
    pub fn proven_emails(&self) -> Vec<String> {
        let own = self.email.as_ref().filter(|_| self.is_proven()).map(Email::normalized);
        own.into_iter().chain(self.former_emails.clone()).collect()
    }

    /// Whether they have proven to receive mail at this address.
    pub fn has_proven(&self, email: &Email) -> bool {
        self.proven_emails().contains(&email.normalized())
    }
}

impl Resource for Customer {
    type View = CustomerView;
    fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.id.as_str());
        EventSubject { store, app: None, entity, version: self.version }
    }
    fn replace(&self, write: Write, rejected: impl Into<Problem>) -> Write {
        self.save(write, rejected)
    }
}

/// Counts an order of a customer, and the amount already paid for it, in minor units.
pub fn count_order(brought_in: i64) -> Change {
    Change::new(
        "SET orders_count = orders_count + :one, total_spent.amount = total_spent.amount + :spent",
    )
    .value(":one", 1)
    .value(":spent", brought_in)
}

/// Adds a payment to a customer's total; a refund is negative. Rejected if the account does not exist.
pub fn count_spent(
    write: Write,
    store: &StoreId,
    customer: &CustomerId,
    minor_units: i64,
    rejected: impl Into<Problem>,
) -> Write {
    let change = Change::new("SET total_spent.amount = total_spent.amount + :paid")
        .only_if("attribute_exists(PK)")
        .value(":paid", minor_units);
    write.update(&key::customer(store, customer), change, rejected)
}

#[cfg(test)]
pub(crate) mod tests {
    use primitives::fields::FromText;

    use super::*;

    /// A customer's account for tests.
    pub(crate) fn cleo(now: Timestamp) -> Customer {
        let application = Application {
            email: Email::from_text("Cleo@example.com").unwrap(),
            password_hash: Some("$argon2id$".into()),
            name: Some("Cleo".into()),
            phone: None,
            phone_e164: None,
            accepts_marketing: false,
        };
        let currency = Currency::from_text("INR").unwrap();
        Customer::register(&StoreId::mint(now), &currency, application, now)
    }

    #[test]
    fn a_new_password_ends_the_sessions_and_other_changes_do_not() {
        let now = Timestamp::from_millis(0);
        let customer = cleo(now);
        let generations = |customer: &Customer| {
            (customer.version, customer.credential_generation, customer.password_generation)
        };
        assert_eq!(generations(&customer.with_password("new".into(), now)), (2, 2, 2));
        assert_eq!(generations(&customer.with_password_alone("new".into(), now)), (2, 1, 2));
        assert_eq!(generations(&customer.with_sessions_ended(now)), (2, 2, 1));
        assert_eq!(generations(&customer.changed(now)), (2, 1, 1));
    }

    #[test]
    fn the_counted_attributes_exist_in_the_item() {
        let customer = cleo(Timestamp::from_millis(0));
        let all = serde_json::to_value(&customer).unwrap();
        assert!(COUNTED.iter().all(|name| all.get(name).is_some()));
    }
}
