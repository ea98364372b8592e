//! A store's settings: groups of choices, each with a default, in one item.

use std::time::Duration;

use core_types::event::{EXAMPLE_TIME, EventSubject, Example};
use core_types::fields::LinkTemplate;
use core_types::id::StoreId;
use core_types::key;
use core_types::provider::ProviderName;
use core_types::resource::Resource;
use core_types::sample_id;
use primitives::clock::Timestamp;
use table::item::{Item, Key};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::store::Store;

core_types::topics! {
    STORE_SETTINGS_UPDATED = "store.settings_updated", "settings", Some("read_store"), SettingsView,
        "A store's settings changed.";
}

/// The one item that all groups are in: they are small, and read together.
const EVERY_GROUP: &str = "all";
/// How long an unpaid order keeps its stock, in minutes (our choice): a shopper pays at once.
const PAYMENT_WINDOW_MINUTES: u64 = 30;
/// The longest that a store may let it, in minutes (our choice).
pub const LONGEST_PAYMENT_WINDOW: i64 = 1_440;
/// The same for one that is paid manually (our choice): seven days, since a bank transfer takes days
/// and the merchant has to notice it.
const MANUAL_PAYMENT_WINDOW_MINUTES: u64 = 10_080;
/// The longest that a store may let such an order wait, but for ever (our choice): 30 days.
pub const LONGEST_MANUAL_PAYMENT_WINDOW: i64 = 43_200;

/// Days that a redaction waits (our choice), as long as at Shopify.
const REDACTION_DAYS: u64 = 10;
/// The longest that a store may let it: who asks to be forgotten is answered within a month (Regulation
/// (EU) 2016/679, article 12, paragraph 3).
pub const LONGEST_REDACTION_DAYS: i64 = 28;

/// How customers check out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Checkout {
    /// Minutes for which an unpaid order keeps its stock.
    pub payment_window_minutes: u64,
    /// Minutes for which an order that is to be paid manually, by bank transfer or on delivery,
    /// keeps its stock; 0: until it is paid or cancelled.
    pub manual_payment_window_minutes: u64,
    /// Whether customers can order without an account.
    pub guest_checkout: bool,
    /// Whether customers must leave a telephone number.
    pub require_phone: bool,
}

impl Default for Checkout {
    fn default() -> Self {
        Self {
            payment_window_minutes: PAYMENT_WINDOW_MINUTES,
            manual_payment_window_minutes: MANUAL_PAYMENT_WINDOW_MINUTES,
            guest_checkout: true,
            require_phone: false,
        }
    }
}

impl Checkout {
    /// How long an order waits that is to be paid in this way, or in one not chosen yet; none: for
    /// ever.
    pub fn payment_window(&self, provider: Option<ProviderName>) -> Option<Duration> {
        let minutes = match provider {
            Some(ProviderName::Manual) => self.manual_payment_window_minutes,
            _ => self.payment_window_minutes,
        };
        (minutes > 0).then(|| Duration::from_secs(minutes.saturating_mul(60)))
    }
}

/// What customers are told by mail.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "NotificationSettings")]
pub struct Notifications {
    /// Whether an order is confirmed.
    pub order_confirmation: bool,
    /// Whether a shipment is announced.
    pub shipping_confirmation: bool,
    /// Whether it is told that a parcel arrived.
    pub delivery_confirmation: bool,
    /// Whether it is told that money went back.
    pub refund_confirmation: bool,
    /// Whether it is told that an order was called off, or was not paid in time.
    pub cancellation_confirmation: bool,
    /// Whom customers see mails from; the store's name when none is set.
    pub sender_name: Option<String>,
    /// The store's page that shows an order to whoever has its token: mails about orders lead there.
    pub order_status_url: Option<LinkTemplate>,
    /// The store's page on which an order is paid by whoever has its token; the page that shows it
    /// unless set.
    pub payment_url: Option<LinkTemplate>,
}

impl Default for Notifications {
    fn default() -> Self {
        Self {
            order_confirmation: true,
            shipping_confirmation: true,
            delivery_confirmation: true,
            refund_confirmation: true,
            cancellation_confirmation: true,
            sender_name: None,
            order_status_url: None,
            payment_url: None,
        }
    }
}

impl Notifications {
    /// Where an order is shown. A page that customers may not be led to any more is as good as none.
    pub fn shows_at(&self, may_lead_to: impl Fn(&LinkTemplate) -> bool) -> Option<&LinkTemplate> {
        self.order_status_url.as_ref().filter(|page| may_lead_to(page))
    }

    /// Where an order is paid, as [`Notifications::shows_at`].
    pub fn pays_at(&self, may_lead_to: impl Fn(&LinkTemplate) -> bool) -> Option<&LinkTemplate> {
        let page = self.payment_url.as_ref().filter(|page| may_lead_to(page));
        page.or_else(|| self.shows_at(may_lead_to))
    }
}

/// How products are reviewed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Reviews {
    /// Whether only who has bought a product may review it.
    pub purchase_required: bool,
    /// Whether a review is shown at once, without the store's approval.
    pub auto_publish: bool,
}

/// How orders are taxed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Taxes {
    /// Whether prices, of goods and of shipping, hold their tax: it is taken out of them, not added.
    pub prices_include_tax: bool,
}

/// How people are forgotten who ask for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "PrivacySettings")]
pub struct Privacy {
    /// Days from when a redaction of a customer is asked for to when it begins: so long it can be called
    /// off, and apps can prepare; 0: at once.
    pub redaction_days: u64,
}

impl Default for Privacy {
    fn default() -> Self {
        Self { redaction_days: REDACTION_DAYS }
    }
}

/// A store's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The store; it has one set of them.
    pub store_id: StoreId,
    /// How customers check out.
    #[serde(default)]
    pub checkout: Checkout,
    /// What customers are told by mail.
    #[serde(default)]
    pub notifications: Notifications,
    /// How products are reviewed.
    #[serde(default)]
    pub reviews: Reviews,
    /// How orders are taxed.
    #[serde(default)]
    pub taxes: Taxes,
    /// How people are forgotten.
    #[serde(default)]
    pub privacy: Privacy,
    /// When the store was made.
    pub created_at: Timestamp,
    /// When they were changed last.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write; 0 while none was made.
    pub version: u64,
}

impl Item for Settings {
    const KIND: &'static str = "settings";
    fn key(&self) -> Key {
        Self::key_of(&self.store_id)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl Settings {
    /// The key of a store's settings.
    pub fn key_of(store: &StoreId) -> Key {
        key::settings(store, EVERY_GROUP)
    }

    /// The settings of a store that has changed none: version 0, not in the table.
    pub fn of(store: &Store) -> Self {
        Self {
            store_id: store.id.clone(),
            checkout: Checkout::default(),
            notifications: Notifications::default(),
            reviews: Reviews::default(),
            taxes: Taxes::default(),
            privacy: Privacy::default(),
            created_at: store.created_at,
            updated_at: store.created_at,
            version: 0,
        }
    }

    /// The settings at their next version with what `wanted` says; `None` when that is what they
    /// are.
    pub fn revised(&self, wanted: Self, now: Timestamp) -> Option<Self> {
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
    /// A store's settings as its owner sees them.
    SettingsView of settings: Settings {
        /// The store's id: it has one set of settings.
        id: StoreId = settings.store_id.clone(),
        /// How customers check out.
        checkout: Checkout,
        /// What customers are told by mail.
        notifications: Notifications,
        /// How products are reviewed.
        reviews: Reviews,
        /// How orders are taxed.
        taxes: Taxes,
        /// How people are forgotten.
        privacy: Privacy,
        /// When the store was made.
        created_at: Timestamp,
        /// When they were changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes; 0 while nothing was ever changed.
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
            created_at: now,
            updated_at: now,
            version: 0,
        }
    }

    #[test]
    fn what_changes_nothing_is_no_new_version() {
        let before = settings();
        let now = Timestamp::from_millis(1);
        assert_eq!(before.revised(before.clone(), now), None);
        let mut wanted = before.clone();
        wanted.checkout.guest_checkout = false;
        let after = before.revised(wanted, now).unwrap();
        assert_eq!(
            (after.version, after.updated_at, after.created_at),
            (1, now, before.created_at)
        );
    }

    #[test]
    fn what_is_paid_manually_waits_longer_or_for_ever() {
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
    fn a_setting_that_was_stored_before_it_existed_has_its_default() {
        let mut stored = serde_json::to_value(settings()).unwrap();
        stored["checkout"] = serde_json::json!({"guest_checkout": false});
        stored.as_object_mut().unwrap().remove("notifications");
        let read: Settings = serde_json::from_value(stored).unwrap();
        assert_eq!(read.checkout, Checkout { guest_checkout: false, ..Checkout::default() });
        assert_eq!(read.notifications, Notifications::default());
    }
}
