//! Responses about stores.

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::fields::{Country, Currency, Locale, Subdomain, TaxNumber, TimeZone};
use core_types::id::{MerchantId, StoreId};
use core_types::sample_id;
use primitives::clock::Timestamp;

use super::branding::BrandingView;
use super::{Contact, InventoryPolicy, Store, StoreStatus};
use crate::domain::Host;

core_types::view! {
    /// A store, as its members and apps see it.
    StoreView of (store: Store, base_url: &str) {
        /// The id.
        id: StoreId,
        /// The name customers see.
        name: String,
        /// The storefront's subdomain.
        subdomain: Subdomain,
        /// The verified host to redirect customers to.
        primary_domain: Option<Host>,
        /// The currency of all its prices.
        currency: Currency,
        /// The number of decimal digits of the currency: 0, 2 or 3.
        currency_exponent: u16 = store.currency.exponent(),
        /// The country that it trades from.
        country: Country,
        /// The region of the country that it trades from, in ISO 3166-2 without the country.
        region: Option<String>,
        /// The default language.
        locale: Locale,
        /// The time zone of its reports and its shop.
        timezone: TimeZone,
        /// The contact details for customers.
        contact: Contact,
        /// The tax registration number, which orders and mails about them show.
        tax_number: Option<TaxNumber>,
        /// Its logo, colors, texts and social profiles.
        branding: BrandingView = BrandingView::of(&store.branding, base_url, &store.subdomain),
        /// The prefix of order numbers.
        order_prefix: String,
        /// The treatment of an order line that exceeds the available stock.
        inventory_policy: InventoryPolicy,
        /// The state.
        status: StoreStatus,
        /// The owner's reason for the last change of state.
        status_reason: Option<String>,
        /// The platform plan; there is one so far.
        plan: &'static str = "standard",
        /// The merchant who owns it.
        owner_id: MerchantId,
        /// The version of the storefront's configuration, for caches.
        config_version: u64 = store.config_version(),
        /// The actions that the state allows.
        allowed_actions: Vec<&'static str> = store.allowed_actions(),
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
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
            region: Some("KA".into()),
            locale: sample("en"),
            timezone: sample("Asia/Kolkata"),
            contact: Contact { email: Some(sample("hello@example.com")), ..Contact::default() },
            tax_number: None,
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
