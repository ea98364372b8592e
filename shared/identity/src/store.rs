//! Stores: their data, and their states with the actions that each allows.

pub mod branding;
mod counted;
mod order_prefix;
mod owner;
mod status;
mod subdomain;
mod topics;
mod view;

use std::collections::BTreeSet;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use core_types::event::{Event, EventSubject, Topic, sample};
use core_types::fields::{
    Country, Currency, E164, Email, Handle, LinkTemplate, Locale, Phone, Subdomain, TaxNumber,
    TimeZone,
};
use core_types::id::{LocationId, MerchantId, OrderId, StoreId};
use core_types::key::{self, IndexKey};
use crypto::seal;
use crypto::seal::hmac_sha256;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use services::config::Config;
use table::item::{Item, Key, Packing};
use table::outbox::DueKind;

use crate::address::PostalAddress;
use crate::domain::Host;

pub use branding::Branding;
pub use counted::{
    add_menu, add_theme, count_config_change, lock_currency, remove_menu, remove_theme, replace,
    set_live_theme, set_password_protection,
};
use order_prefix::FIRST_ORDER_PREFIX;
pub use order_prefix::OrderPrefix;
pub use status::{StoreAction, StoreStatus};
pub use subdomain::UniqueSubdomain;
pub use topics::*;
pub use view::StoreView;

/// The maximum number of stores of one merchant (our choice).
pub const MAX_STORES: usize = 100;
/// The maximum number of menus of one store (our choice).
pub const MAX_MENUS: usize = 50;
/// The maximum number of themes installed on one store (our choice).
pub const MAX_THEMES: usize = 20;
/// The size of a guest's key in bytes: it finds orders, and proves nothing.
const GUEST_KEY: usize = 12;
/// The period after which a deleted store is announced as redacted. Then holders of a copy must delete it;
/// the platform itself retains what it must.
pub const DELETION_GRACE_PERIOD: std::time::Duration = DAY.saturating_mul(30);
/// The period in which a former subdomain leads to the new one (our choice).
pub const OLD_SUBDOMAIN_RETENTION: std::time::Duration = DAY.saturating_mul(90);

primitives::string_enum! {
    /// The treatment of an order line that exceeds the available stock.
    InventoryPolicy {
        /// The order is rejected.
        Deny = "deny",
        /// The order is accepted.
        Continue = "continue",
    }
}

/// The contact details of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contact {
    /// The e-mail address for customers, and the `Reply-To` of mails to them.
    pub email: Option<Email>,
    /// The telephone number for customers, as it was written.
    pub phone: Option<Phone>,
    /// The telephone number in E.164; none if it is no number of the store's country, nor one with a country code.
    #[serde(default)]
    pub phone_e164: Option<E164>,
    /// The postal address, which mails about orders show.
    #[serde(default)]
    pub address: Option<PostalAddress>,
}

/// The live release of a theme, which the storefront shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveTheme {
    /// The theme's name in URLs.
    pub slug: String,
    /// The release's number: the newest of the theme on this store.
    pub release: u64,
}

/// The data of a store to create.
#[derive(Debug, Clone)]
pub struct NewStore {
    /// The name customers see.
    pub name: String,
    /// The storefront's subdomain.
    pub subdomain: Subdomain,
    /// The currency of all its prices.
    pub currency: Currency,
    /// The country that it trades from.
    pub country: Country,
    /// The region of the country, in ISO 3166-2 without the country.
    pub region: Option<String>,
    /// The default language; English unless given.
    pub locale: Option<Locale>,
    /// The time zone of its reports and its shop; UTC unless given.
    pub timezone: Option<TimeZone>,
}

impl NewStore {
    /// A sample, for tests.
    pub fn sample() -> Self {
        Self {
            name: "Blue Bottle Books".into(),
            subdomain: sample("blue-bottle"),
            currency: sample("INR"),
            country: sample("IN"),
            region: None,
            locale: None,
            timezone: None,
        }
    }
}

/// A store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Store {
    /// `sto_…`; later ones sort after it.
    pub id: StoreId,
    /// The merchant who owns it.
    pub owner_id: MerchantId,
    /// The name customers see.
    pub name: String,
    /// The storefront's subdomain.
    pub subdomain: Subdomain,
    /// The verified host to redirect customers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_domain: Option<Host>,
    /// The currency of all its prices.
    pub currency: Currency,
    /// The country that it trades from.
    pub country: Country,
    /// The region of the country that it trades from, in ISO 3166-2 without the country.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The default language.
    pub locale: Locale,
    /// The time zone of its reports and its shop.
    pub timezone: TimeZone,
    /// The contact details for customers.
    pub contact: Contact,
    /// The tax registration number, which orders and mails about them show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tax_number: Option<TaxNumber>,
    /// Its logo, colors, texts and social profiles.
    pub branding: Branding,
    /// The prefix of order numbers.
    pub order_prefix: String,
    /// The secret from which, with their numbers, the ids of its orders are derived, so that nobody else
    /// can compute them. Never returned, and never changed.
    pub order_secret: String,
    /// The treatment of an order line that exceeds the available stock, unless the variant has its own.
    pub inventory_policy: InventoryPolicy,
    /// Its active locations that fulfil online orders, in priority order: stored here so that a checkout
    /// need not read the locations.
    #[serde(default)]
    pub online_locations: Vec<LocationId>,
    /// The handles of its menus: stored here so that their number is bounded, and the store's page need
    /// not read the menus. Written by [`add_menu`] and [`remove_menu`] alone.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub menus: BTreeSet<Handle>,
    /// The slugs of its installed themes: stored here so that their number is bounded, and a list of them
    /// needs no query. Written by [`add_theme`] and [`remove_theme`] alone.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub themes: BTreeSet<String>,
    /// The live release of a theme: stored here so that requests to the storefront need no further read.
    /// Written by [`set_live_theme`] alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_theme: Option<LiveTheme>,
    /// Whether visitors of its shop need a password: stored here so that a page of an open shop need not read the
    /// settings. Written by [`set_password_protection`] alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub password_protected: bool,
    /// The state.
    pub status: StoreStatus,
    /// The owner's reason for the last change of state.
    pub status_reason: Option<String>,
    /// Counts changes of the storefront's configuration outside this item, like menus, policies and
    /// settings. Written by the functions of `counted` alone, such as [`count_config_change`].
    pub config_changes: u64,
    /// Whether something is priced in its currency, which then cannot change. Written by
    /// [`lock_currency`] alone.
    pub currency_locked: bool,
    /// When `store.redacted` of a deleted store is sent, which asks apps to delete their copies of its data.
    pub redact_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write except those of counters.
    pub version: u64,
}

impl Item for Store {
    const KIND: &'static str = "store";
    /// Packed except for the attributes that other writes change, and those in their conditions.
    const PACKING: Option<Packing> = Some(Packing {
        plain: &[
            "owner_id",
            "status",
            "currency",
            "config_changes",
            "menus",
            "themes",
            "live_theme",
            "password_protected",
            "currency_locked",
        ],
        text: None,
        keyed: false,
    });
    fn key(&self) -> Key {
        key::store(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let due = self.redact_at.map(|at| DueKind::Redaction.mark(self.id.as_str(), at));
        let listed = (self.status != StoreStatus::Deleted).then(|| {
            let storefront = key::store_by_subdomain(self.subdomain.as_str());
            [key::stores_of(&self.owner_id, self.created_at), storefront]
        });
        listed.into_iter().flatten().chain(due).collect()
    }
}

/// The id of a store's first location.
pub fn first_location(store: &StoreId) -> LocationId {
    LocationId::derive(&[store.as_str(), "default"])
}

impl Store {
    /// Ensures that the store is active.
    ///
    /// # Errors
    /// `store_not_accepting_orders`.
    pub fn ensure_takes_orders(&self) -> Result<(), Problem> {
        if self.status == StoreStatus::Active {
            return Ok(());
        }
        Err(Code::StoreNotAcceptingOrders.with("storefront_status", self.status.as_str()))
    }

    /// Creates a store of `owner`, as a draft. Its first location is created with it
    /// (`catalogue::location::with_new_store`).
    pub fn create(owner: &MerchantId, new_store: NewStore, now: Timestamp) -> Self {
        let id = StoreId::mint(now);
        Self {
            online_locations: vec![first_location(&id)],
            id,
            owner_id: owner.clone(),
            name: new_store.name,
            subdomain: new_store.subdomain,
            primary_domain: None,
            currency: new_store.currency,
            country: new_store.country,
            region: new_store.region,
            locale: new_store.locale.unwrap_or_default(),
            timezone: new_store.timezone.unwrap_or_default(),
            contact: Contact::default(),
            tax_number: None,
            branding: Branding::default(),
            order_prefix: FIRST_ORDER_PREFIX.to_owned(),
            order_secret: seal::random_secret(),
            inventory_policy: InventoryPolicy::Deny,
            menus: BTreeSet::new(),
            themes: BTreeSet::new(),
            live_theme: None,
            password_protected: false,
            status: StoreStatus::Draft,
            status_reason: None,
            config_changes: 0,
            currency_locked: false,
            redact_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The id of its order with this number.
    pub fn order_id(&self, number: u64) -> OrderId {
        OrderId::numbered(&self.id, &self.order_secret, number)
    }

    /// Whether shoppers can visit it: it is active or paused.
    pub fn is_open(&self) -> bool {
        matches!(self.status, StoreStatus::Active | StoreStatus::Paused)
    }

    /// The page of an order in its shop, while that is open.
    pub fn order_page(&self, config: &Config) -> Option<LinkTemplate> {
        self.is_open().then(|| LinkTemplate::of_shop(&self.shop_origin(config)))
    }

    /// The page of its shop that sets a customer's password, without the token behind it.
    pub fn password_page(&self, config: &Config) -> String {
        format!("{}/account/reset", self.shop_origin(config))
    }

    fn shop_origin(&self, config: &Config) -> String {
        let scheme = if config.base_url.starts_with("http:") { "http" } else { "https" };
        format!("{scheme}://{}.{}", self.subdomain, *config.shop_domain)
    }

    /// The key by which orders of guests with this address are found: HMAC-SHA256 of the address under the
    /// store's order secret, cut to 96 bits, so that a key does not reveal the address.
    pub fn guest_key(&self, email: &Email) -> String {
        let address = email.normalized();
        let parts: [&[u8]; 2] = [b"guest\n", address.as_bytes()];
        let digest = hmac_sha256(self.order_secret.as_bytes(), &parts);
        BASE64_URL_SAFE_NO_PAD.encode(digest.get(..GUEST_KEY).unwrap_or_default())
    }

    /// Returns the store at its next version with the changes of `wanted`; `None` if nothing changes.
    ///
    /// # Errors
    /// `currency_locked`: the store is not a draft any more, or something is priced already.
    pub fn next_version(&self, wanted: &Self, now: Timestamp) -> Result<Option<Self>, Problem> {
        if wanted == self {
            return Ok(None);
        }
        let is_fixed = self.currency_locked || self.status != StoreStatus::Draft;
        if wanted.currency != self.currency && is_fixed {
            return Err(Code::CurrencyLocked.with("currency", self.currency.as_str()));
        }
        Ok(Some(wanted.changed(now)))
    }

    /// The version of the storefront's configuration, for caches: counts changes of the store and of what
    /// its storefront shows.
    pub fn config_version(&self) -> u64 {
        self.version.saturating_add(self.config_changes)
    }

    /// An event of the store, with its present state. URLs of its images begin with `base_url`.
    pub fn event(&self, topic: &Topic<StoreView>, base_url: &str, now: Timestamp) -> Event {
        let (store, entity) = (Some(&self.id), self.id.as_str());
        let subject = EventSubject { store, app: None, entity, version: self.version };
        Event::new(topic, subject, &StoreView::of(self, base_url), now)
    }

    /// Returns the store at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }
}

#[cfg(test)]
mod tests;
