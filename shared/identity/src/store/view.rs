//! Stores as they are shown.

use gateway::clock::Timestamp;
use ground::event::{EXAMPLE_TIME, Example, sample};
use ground::fields::{Country, Currency, Locale, Subdomain, TimeZone};
use ground::id::{MerchantId, StoreId};
use ground::sample_id;
use schemars::JsonSchema;
use serde::Serialize;

use super::branding::BrandingView;
use super::{Contact, InventoryPolicy, Store, StoreStatus};

/// A store as its owner and its apps see it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StoreView {
    /// The id.
    pub id: StoreId,
    /// The name customers see.
    pub name: String,
    /// The storefront's subdomain.
    pub subdomain: Subdomain,
    /// The host customers should be led to.
    pub primary_domain: Option<String>,
    /// The currency of all its prices.
    pub currency: Currency,
    /// Where it trades from.
    pub country: Country,
    /// The default language.
    pub locale: Locale,
    /// The time zone of its reports.
    pub timezone: TimeZone,
    /// How customers reach it.
    pub contact: Contact,
    /// How it presents itself.
    pub branding: BrandingView,
    /// What order numbers begin with.
    pub order_prefix: String,
    /// What happens to an order line whose stock is short.
    pub inventory_policy: InventoryPolicy,
    /// Where it is in its life.
    pub status: StoreStatus,
    /// Why, in the owner's words.
    pub status_reason: Option<String>,
    /// The platform plan; there is one so far.
    pub plan: &'static str,
    /// The merchant who owns it.
    pub owner_id: MerchantId,
    /// Counts changes that a storefront caches by.
    pub config_version: u64,
    /// What the owner can do to its state.
    pub allowed_actions: Vec<&'static str>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// What `If-Match` takes.
    pub version: u64,
}

impl StoreView {
    /// A store whose public pictures are found below this URL.
    pub fn of(store: &Store, base_url: &str) -> Self {
        Self {
            id: store.id.clone(),
            name: store.name.clone(),
            subdomain: store.subdomain.clone(),
            primary_domain: None,
            currency: store.currency.clone(),
            country: store.country.clone(),
            locale: store.locale.clone(),
            timezone: store.timezone.clone(),
            contact: store.contact.clone(),
            branding: BrandingView::of(&store.branding, base_url, &store.subdomain),
            order_prefix: store.order_prefix.clone(),
            inventory_policy: store.inventory_policy,
            status: store.status,
            status_reason: store.status_reason.clone(),
            plan: "standard",
            owner_id: store.owner_id.clone(),
            config_version: store.config_version(),
            allowed_actions: store.allowed_actions(),
            created_at: store.created_at,
            updated_at: store.updated_at,
            version: store.version,
        }
    }
}

impl Example for StoreView {
    fn example() -> Self {
        Self {
            id: sample_id!(StoreId),
            name: "Blue Bottle Books".into(),
            subdomain: sample("blue-bottle"),
            primary_domain: None,
            currency: sample("INR"),
            country: sample("IN"),
            locale: sample("en"),
            timezone: sample("Asia/Kolkata"),
            contact: Contact { email: Some(sample("hello@example.com")), phone: None },
            branding: BrandingView::default(),
            order_prefix: "BB-".into(),
            inventory_policy: InventoryPolicy::Deny,
            status: StoreStatus::Active,
            status_reason: None,
            plan: "standard",
            owner_id: sample_id!(MerchantId),
            config_version: 2,
            allowed_actions: vec!["pause", "close", "delete"],
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 2,
        }
    }
}
