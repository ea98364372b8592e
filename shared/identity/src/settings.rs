//! A store's settings: groups of options, each with a default, in one item.

use std::time::Duration;

use core_types::event::{EXAMPLE_TIME, EventSubject, Example};
use core_types::fields::{CartLinkTemplate, LinkTemplate};
use core_types::id::StoreId;
use core_types::key;
use core_types::provider::ProviderName;
use core_types::resource::Resource;
use core_types::sample_id;
use primitives::clock::{DAY, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};

use crate::store::Store;

core_types::topics! {
    STORE_SETTINGS_UPDATED = "store.settings_updated", "settings", Some("read_store"), SettingsView,
        "A store's settings changed.";
}

/// The sort key of the one item with all groups: they are small, and read together.
const EVERY_GROUP: &str = "all";
/// The default period in which an unpaid order reserves its stock, in minutes (our choice): shoppers pay at
/// once.
const PAYMENT_WINDOW_MINUTES: u64 = 30;
/// The maximum of that period, in minutes (our choice).
pub const LONGEST_PAYMENT_WINDOW: i64 = 1_440;
/// The default period for an order that is paid manually, in minutes (our choice): seven days, because a
/// bank transfer takes days and the merchant has to notice it.
const MANUAL_PAYMENT_WINDOW_MINUTES: u64 = 10_080;
/// The maximum of that period, if limited, in minutes (our choice): 30 days.
pub const LONGEST_MANUAL_PAYMENT_WINDOW: i64 = 43_200;

/// The default period in which a draft holds its stock, in days (our choice).
const DRAFT_HOLD_DAYS: u64 = 7;
/// The maximum of that period, if limited, in days (our choice).
pub const LONGEST_DRAFT_HOLD_DAYS: i64 = 365;

/// The default delay of a redaction in days (our choice), as at Shopify.
const REDACTION_DAYS: u64 = 10;
/// The maximum delay of a redaction: a request for erasure is answered within a month (Regulation (EU)
/// 2016/679, article 12, paragraph 3).
pub const LONGEST_REDACTION_DAYS: i64 = 28;

/// The settings of the checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Checkout {
    /// The period in which an unpaid order reserves its stock, in minutes.
    pub payment_window_minutes: u64,
    /// The period in which an order with manual payment, by bank transfer or on delivery, reserves its
    /// stock, in minutes. With 0, it does so until it is paid or cancelled.
    pub manual_payment_window_minutes: u64,
    /// The period for which a draft order reserves its stock, in days. With 0, until it is paid, confirmed or
    /// cancelled.
    pub draft_hold_days: u64,
    /// Whether customers can order without an account.
    pub guest_checkout: bool,
    /// Whether customers must give a telephone number.
    pub require_phone: bool,
}

impl Default for Checkout {
    fn default() -> Self {
        Self {
            payment_window_minutes: PAYMENT_WINDOW_MINUTES,
            manual_payment_window_minutes: MANUAL_PAYMENT_WINDOW_MINUTES,
            draft_hold_days: DRAFT_HOLD_DAYS,
            guest_checkout: true,
            require_phone: false,
        }
    }
}

impl Checkout {
    /// The period in which an order can be paid by this provider, or by one not chosen yet; none means
    /// without a limit.
    pub fn payment_window(&self, provider: Option<ProviderName>) -> Option<Duration> {
        let minutes = match provider {
            Some(ProviderName::Manual) => self.manual_payment_window_minutes,
            _ => self.payment_window_minutes,
        };
        (minutes > 0).then(|| Duration::from_secs(minutes.saturating_mul(60)))
    }

    /// The period in which a draft holds its stock; none means without a limit.
    pub fn draft_hold(&self) -> Option<Duration> {
        let days = u32::try_from(self.draft_hold_days).unwrap_or(u32::MAX);
        (days > 0).then(|| DAY.saturating_mul(days))
    }
}

/// The settings of mails to customers.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "NotificationSettings")]
pub struct Notifications {
    /// Whether a mail confirms an order.
    pub order_confirmation: bool,
    /// Whether a mail announces a shipment.
    pub shipping_confirmation: bool,
    /// Whether a mail reports a delivery.
    pub delivery_confirmation: bool,
    /// Whether a mail reports a refund.
    pub refund_confirmation: bool,
    /// Whether a mail reports that an order was cancelled or not paid in time.
    pub cancellation_confirmation: bool,
    /// Whether the owner is mailed about new orders, messages and requests for data.
    pub owner_alerts: bool,
    /// The sender's name in mails; the store's name if null.
    pub sender_name: Option<String>,
    /// The store's page that shows an order by its token. Mails about orders link to it.
    pub order_status_url: Option<LinkTemplate>,
    /// The store's page on which an order is paid by its token; `order_status_url` if null.
    pub payment_url: Option<LinkTemplate>,
    /// The store's page that shows a cart by its token. With it, customers who accept marketing are reminded
    /// of carts that they left.
    pub cart_url: Option<CartLinkTemplate>,
    /// The store's terms and other legal notices, at the end of mails that confirm an order.
    pub terms: Option<String>,
}

impl Default for Notifications {
    fn default() -> Self {
        Self {
            order_confirmation: true,
            shipping_confirmation: true,
            delivery_confirmation: true,
            refund_confirmation: true,
            cancellation_confirmation: true,
            owner_alerts: false,
            sender_name: None,
            order_status_url: None,
            payment_url: None,
            cart_url: None,
            terms: None,
        }
    }
}

impl Notifications {
    /// The page that shows an order. A page to which the store may not lead any more is ignored.
    pub fn order_status_page(
        &self,
        is_allowed: impl Fn(&LinkTemplate) -> bool,
    ) -> Option<&LinkTemplate> {
        self.order_status_url.as_ref().filter(|page| is_allowed(page))
    }

    /// The page on which an order is paid, or else the one of [`Notifications::order_status_page`].
    pub fn payment_page(
        &self,
        is_allowed: impl Fn(&LinkTemplate) -> bool,
    ) -> Option<&LinkTemplate> {
        let page = self.payment_url.as_ref().filter(|page| is_allowed(page));
        page.or_else(|| self.order_status_page(is_allowed))
    }
}

/// The settings of product reviews.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Reviews {
    /// Whether only customers who have bought a product may review it.
    pub purchase_required: bool,
    /// Whether a review is published at once, without the store's approval.
    pub auto_publish: bool,
}

primitives::string_enum! {
    /// The rates by which shipping is taxed.
    ShippingTax {
        /// The rates of the goods, in proportion to their totals.
        ProRata = "pro_rata",
        /// The rates of the goods with the largest total.
        Dominant = "dominant",
    }
}

/// The settings of taxes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Taxes {
    /// Whether prices of products and shipping include tax, so that it is not added to them.
    pub prices_include_tax: bool,
    /// Whether the store's own tax is deducted from prices that include it for buyers who pay no tax: exempt
    /// customers, and buyers in places without tax.
    pub deducts_tax_when_exempt: bool,
    /// The rates by which shipping is taxed.
    pub shipping: ShippingTax,
}

impl Default for Taxes {
    fn default() -> Self {
        Self {
            prices_include_tax: false,
            deducts_tax_when_exempt: true,
            shipping: ShippingTax::ProRata,
        }
    }
}

/// The settings of privacy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "PrivacySettings")]
pub struct Privacy {
    /// The delay between the request for a customer's redaction and its start, in days. Meanwhile it can be
    /// cancelled, and apps can prepare. With 0, it starts at once.
    pub redaction_days: u64,
}

impl Default for Privacy {
    fn default() -> Self {
        Self { redaction_days: REDACTION_DAYS }
    }
}

/// The settings of the store's shop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shop {
    /// Whether visitors need a password. The store's own item repeats it
    /// ([`Store::password_protected`]).
    pub password_protected: bool,
    /// The Argon2id hash of the password, in PHC form. Secret.
    pub password_hash: Option<String>,
    /// What the password page tells visitors.
    pub password_message: Option<String>,
}

impl Shop {
    /// Whether nothing was set: it is not stored then.
    fn is_untouched(&self) -> bool {
        *self == Self::default()
    }

    /// Whether visitors need a password that nobody has set.
    pub const fn lacks_password(&self) -> bool {
        self.password_protected && self.password_hash.is_none()
    }
}

core_types::view! {
    /// The settings of the store's shop.
    ShopSettings of shop: Shop {
        /// Whether visitors need the password.
        password_protected: bool,
        /// Whether a password is set. It is never returned.
        has_password: bool = shop.password_hash.is_some(),
        /// What the password page tells visitors.
        password_message: Option<String>,
    }
}

/// A store's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "settings", key = Self::key_of(&self.store_id))]
pub struct Settings {
    /// The store; it has one set of them.
    pub store_id: StoreId,
    /// The settings of the checkout.
    #[serde(default)]
    pub checkout: Checkout,
    /// The settings of mails to customers.
    #[serde(default)]
    pub notifications: Notifications,
    /// The settings of product reviews.
    #[serde(default)]
    pub reviews: Reviews,
    /// The settings of taxes.
    #[serde(default)]
    pub taxes: Taxes,
    /// The settings of privacy.
    #[serde(default)]
    pub privacy: Privacy,
    /// The settings of the shop.
    #[serde(default, skip_serializing_if = "Shop::is_untouched")]
    pub shop: Shop,
    /// When the store was created.
    pub created_at: Timestamp,
    /// When they were last changed.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write; 0 before the first.
    pub version: u64,
}

impl Settings {
    /// The key of a store's settings.
    pub fn key_of(store: &StoreId) -> Key {
        key::settings(store, EVERY_GROUP)
    }

    /// The default settings of a store: version 0, not in the table.
    pub fn of(store: &Store) -> Self {
        Self {
            store_id: store.id.clone(),
            checkout: Checkout::default(),
            notifications: Notifications::default(),
            reviews: Reviews::default(),
            taxes: Taxes::default(),
            privacy: Privacy::default(),
            shop: Shop::default(),
            created_at: store.created_at,
            updated_at: store.created_at,
            version: 0,
        }
    }

    /// Returns the settings at their next version with the changes of `wanted`; `None` if nothing changes.
    pub fn next_version(&self, wanted: Self, now: Timestamp) -> Option<Self> {
        let version = self.version.saturating_add(1);
        (wanted != *self).then_some(Self { updated_at: now, version, ..wanted })
    }
}

impl Resource for Settings {
    type View = SettingsView;
    fn event_subject(&self) -> EventSubject<'_> {
        let (store, entity) = (Some(&self.store_id), self.store_id.as_str());
        EventSubject { store, app: None, entity, version: self.version }
    }
}

core_types::view! {
    /// A store's settings.
    SettingsView of settings: Settings {
        /// The store's id: it has one set of settings.
        id: StoreId = settings.store_id.clone(),
        /// The settings of the checkout.
        checkout: Checkout,
        /// The settings of mails to customers.
        notifications: Notifications,
        /// The settings of product reviews.
        reviews: Reviews,
        /// The settings of taxes.
        taxes: Taxes,
        /// The settings of privacy.
        privacy: Privacy,
        /// The settings of the shop.
        shop: ShopSettings = ShopSettings::from(&settings.shop),
        /// When the store was created.
        created_at: Timestamp,
        /// When they were last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`; 0 before the first change.
        version: u64,
    }
}

impl Example for SettingsView {
    fn example() -> Self {
        Self {
            id: sample_id!(StoreId),
            checkout: Checkout::default(),
            notifications: Notifications::default(),
            reviews: Reviews::default(),
            taxes: Taxes::default(),
            privacy: Privacy::default(),
            shop: ShopSettings::from(&Shop::default()),
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        let now = Timestamp::from_millis(0);
        Settings {
            store_id: StoreId::mint(now),
            checkout: Checkout::default(),
            notifications: Notifications::default(),
            reviews: Reviews::default(),
            taxes: Taxes::default(),
            privacy: Privacy::default(),
            shop: Shop::default(),
            created_at: now,
            updated_at: now,
            version: 0,
        }
    }

    #[test]
    fn unchanged_settings_are_not_a_new_version() {
        let before = settings();
        let now = Timestamp::from_millis(1);
        assert_eq!(before.next_version(before.clone(), now), None);
        let mut wanted = before.clone();
        wanted.checkout.guest_checkout = false;
        let after = before.next_version(wanted, now).unwrap();
        assert_eq!(
            (after.version, after.updated_at, after.created_at),
            (1, now, before.created_at)
        );
    }

    #[test]
    fn manual_payments_have_a_longer_window_or_none() {
        let mut checkout = Checkout::default();
        let minutes = |checkout: &Checkout, provider| {
            checkout.payment_window(provider).map(|window| window.as_secs() / 60)
        };
        for provider in [None, Some(ProviderName::Stripe), Some(ProviderName::Razorpay)] {
            assert_eq!(minutes(&checkout, provider), Some(30));
        }
        assert_eq!(minutes(&checkout, Some(ProviderName::Manual)), Some(7 * 24 * 60));
        checkout.manual_payment_window_minutes = 0;
        assert_eq!(minutes(&checkout, Some(ProviderName::Manual)), None);
    }

    #[test]
    fn settings_absent_from_the_stored_item_have_defaults() {
        let mut stored = serde_json::to_value(settings()).unwrap();
        stored["checkout"] = serde_json::json!({"guest_checkout": false});
        stored.as_object_mut().unwrap().remove("notifications");
        let read: Settings = serde_json::from_value(stored).unwrap();
        assert_eq!(read.checkout, Checkout { guest_checkout: false, ..Checkout::default() });
        assert_eq!(read.notifications, Notifications::default());
    }
}
