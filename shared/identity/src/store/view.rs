//! Stores as they are shown.

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::fields::{Country, Currency, Locale, Subdomain, TimeZone};
use core_types::id::{MerchantId, StoreId};
use core_types::sample_id;
use primitives::clock::Timestamp;

use super::branding::BrandingView;
use super::{Contact, InventoryPolicy, Store, StoreStatus};
use crate::domain::Host;

core_types::view! {
    /// A store as its owner and its apps see it.
    StoreView of (store: Store, base_url: &str) {
        /// The id.
        id: StoreId,
        /// The name customers see.
        name: String,
        /// The storefront's subdomain.
        subdomain: Subdomain,
        /// The host customers should be led to.
        primary_domain: Option<Host>,
        /// The currency of all its prices.
        currency: Currency,
        /// How many of an amount's digits are behind the point: 0, 2 or 3.
        currency_exponent: u16 = store.currency.exponent(),
        /// Where it trades from.
        country: Country,
        /// The default language.
        locale: Locale,
        /// The time zone of its reports.
        timezone: TimeZone,
        /// How customers reach it.
        contact: Contact,
        /// How it presents itself.
        branding: BrandingView = BrandingView::of(&store.branding, base_url, &store.subdomain),
        /// What order numbers begin with.
        order_prefix: String,
        /// What happens to an order line whose stock is short.
        inventory_policy: InventoryPolicy,
        /// Where it is in its life.
        status: StoreStatus,
        /// Why, in the owner's words.
        status_reason: Option<String>,
        /// The platform plan; there is one so far.
        plan: &'static str = "standard",
        /// The merchant who owns it.
        owner_id: MerchantId,
        /// Counts changes that a storefront caches by.
        config_version: u64 = store.config_version(),
        /// What the owner can do to its state.
        allowed_actions: Vec<&'static str> = store.allowed_actions(),
        /// When it was made.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
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
            currency_exponent: 2,
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
