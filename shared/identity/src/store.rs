//! Stores: their states, and who may do what in which.

pub mod branding;
mod counted;
mod subdomain;
mod topics;
mod view;

use std::collections::BTreeSet;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use core_types::event::{Event, EventSubject, Topic};
use core_types::fields::{Country, Currency, Email, Handle, Locale, Subdomain, TimeZone};
use core_types::id::{LocationId, MerchantId, OrderId, StoreId};
use core_types::key::{self, IndexKey};
use gateway::app::App;
use primitives::clock::{DAY, Timestamp};
use table::item::{Item, Key, Packing};
use table::outbox::Due;
use primitives::problem::{Code, Problem};
use primitives::fields::{Fault, FromText};
use crypto::seal;
use crypto::seal::hmac_sha256;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::Host;
use crate::merchant::Merchant;

pub use branding::Branding;
pub use counted::{
    configured, keep_currency, menu_made, menu_removed, replace, theme_installed, theme_published,
    theme_uninstalled,
};
pub use subdomain::UniqueSubdomain;
pub use topics::*;
pub use view::StoreView;

/// Stores one merchant may own (our choice).
pub const MAX_STORES: usize = 100;
/// Menus one store may have (our choice).
pub const MAX_MENUS: usize = 50;
/// Themes one store may have installed (our choice).
pub const MAX_THEMES: usize = 20;
/// Bytes of what a guest's address is known by: it finds orders, and proves nothing.
const GUEST_KEY: usize = 12;
/// How long after its deletion a store is announced as redacted. The platform keeps what it must
/// of it; whoever holds a copy removes theirs then.
pub const GRACE: std::time::Duration = DAY.saturating_mul(30);
/// How long an old subdomain leads to the new one (our choice).
pub const MOVED_FOR: std::time::Duration = DAY.saturating_mul(90);

primitives::string_enum! {
    /// Where a store is in its life.
    StoreStatus {
        /// Being set up; the storefront is not open.
        Draft = "draft",
        /// Open.
        Active = "active",
        /// Visible, but takes no orders.
        Paused = "paused",
        /// Shut; can be opened again.
        Closed = "closed",
        /// Deleted: nobody reaches it any more; announced as redacted when the grace ends.
        Deleted = "deleted",
    }
}

primitives::string_enum! {
    /// What an owner can do to a store's state.
    StoreAction {
        /// Open it.
        Activate = "activate",
        /// Stop taking orders.
        Pause = "pause",
        /// Shut it.
        Close = "close",
        /// Bring a shut store back as paused, so that its owner looks at it before it sells.
        Reopen = "reopen",
        /// Give it up.
        Delete = "delete",
    }
}

primitives::string_enum! {
    /// What happens to an order line whose stock is short.
    InventoryPolicy {
        /// The order is rejected.
        Deny = "deny",
        /// The order is taken.
        Continue = "continue",
    }
}

/// What order numbers begin with: `BB-` makes the order `BB-1001`. May be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPrefix(String);

impl FromText for OrderPrefix {
    const EXPECTS: &'static str = "a string";

    fn from_text(text: &str) -> Result<Self, Fault> {
        let clean = |c: char| c.is_ascii_alphanumeric() || matches!(c, '#' | '-' | '_');
        if text.len() <= 10 && text.chars().all(clean) {
            Ok(Self(text.to_owned()))
        } else {
            let detail = "Must be at most 10 letters, digits, `#`, `-` and `_`.";
            Err(Fault::new("invalid_order_prefix", detail))
        }
    }
}

impl From<OrderPrefix> for String {
    fn from(prefix: OrderPrefix) -> Self {
        prefix.0
    }
}

primitives::text_field!(OrderPrefix);
primitives::string_schema!(OrderPrefix: {"pattern": "^[A-Za-z0-9#_-]{0,10}$"});

/// What the order numbers of a new store begin with.
const FIRST_ORDER_PREFIX: &str = "#";

/// How customers reach the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contact {
    /// Shown to customers, and the `Reply-To` of the mails they get.
    pub email: Option<Email>,
    /// Shown to customers.
    pub phone: Option<String>,
}

/// The theme that a storefront is shown in, and which of its releases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveTheme {
    /// The theme's name in URLs.
    pub slug: String,
    /// The release's number: of the theme's on this store the newest.
    pub release: u64,
}

/// What a merchant says about a store to open.
#[derive(Debug, Clone)]
pub struct NewStore {
    /// The name customers see.
    pub name: String,
    /// The storefront's subdomain.
    pub subdomain: Subdomain,
    /// The currency of all its prices.
    pub currency: Currency,
    /// Where it trades from.
    pub country: Country,
    /// The default language; English unless said otherwise.
    pub locale: Option<Locale>,
    /// The time zone of its reports; UTC unless said otherwise.
    pub timezone: Option<TimeZone>,
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
    /// The verified host that customers should be led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_domain: Option<Host>,
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
    pub branding: Branding,
    /// What order numbers begin with.
    pub order_prefix: String,
    /// What the ids of its orders follow from besides their numbers, so that nobody else can tell
    /// them: never shown, and never changed.
    pub order_secret: String,
    /// What happens to an order line whose stock is short, unless the variant says otherwise.
    pub inventory_policy: InventoryPolicy,
    /// Its active locations that fulfil online orders, in priority order: kept here so that a
    /// checkout need not read the locations.
    #[serde(default)]
    pub online_locations: Vec<LocationId>,
    /// The handles of its menus: kept here so that they have a number, and so that the store's page
    /// need not read the menus; written by [`menu_made`] and [`menu_removed`] alone.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub menus: BTreeSet<Handle>,
    /// The slugs of the themes that are installed on it: kept here so that they have a number, and so
    /// that a list of them needs no query; written by [`theme_installed`] and [`theme_uninstalled`]
    /// alone.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub themes: BTreeSet<String>,
    /// What its storefront is shown in: kept here so that whoever looks at the storefront has read
    /// it; written by [`theme_published`] alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_theme: Option<LiveTheme>,
    /// Where it is in its life.
    pub status: StoreStatus,
    /// Why it is in that state, in the owner's words.
    pub status_reason: Option<String>,
    /// Counts changes of what a storefront shows or obeys besides the store itself; written by
    /// [`configured`] and what is named with the menus alone.
    pub config_changes: u64,
    /// Whether something is priced in its currency; written by [`keep_currency`] alone.
    pub currency_locked: bool,
    /// When it is announced as redacted, once deleted.
    pub redact_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write but those of counters.
    pub version: u64,
}

impl Item for Store {
    const KIND: &'static str = "store";
    /// Packed but for what others write in passing, and what that is on condition of.
    const PACKING: Option<Packing> = Some(Packing {
        plain: &[
            "owner_id",
            "status",
            "currency",
            "config_changes",
            "menus",
            "themes",
            "live_theme",
            "currency_locked",
        ],
        text: None,
    });
    fn key(&self) -> Key {
        key::store(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let due = self.redact_at.map(|at| Due::Redaction.mark(self.id.as_str(), at));
        let listed = (self.status != StoreStatus::Deleted).then(|| {
            let storefront = key::store_by_subdomain(self.subdomain.as_str());
            [key::stores_of(&self.owner_id, self.created_at), storefront]
        });
        listed.into_iter().flatten().chain(due).collect()
    }
}

/// The id of the location that a store begins with.
pub fn first_location(store: &StoreId) -> LocationId {
    LocationId::derive(&[store.as_str(), "default"])
}

impl Store {
    /// Whether the owner has proven to receive mail at their address: without that, the store mails nobody who
    /// has not proven their own.
    ///
    /// # Errors
    /// 503.
    pub async fn is_owner_proven(&self, app: &App) -> Result<bool, Problem> {
        let owner: Option<Merchant> = app.table.get(&key::merchant(&self.owner_id)).await?;
        Ok(owner.is_some_and(|owner| owner.email_verified))
    }

    /// Ensures that the store may mail people who have not proven their address to it.
    ///
    /// # Errors
    /// `owner_unverified`; 503.
    pub async fn ensure_owner_proven(&self, app: &App) -> Result<(), Problem> {
        let is_proven = self.is_owner_proven(app).await?;
        if is_proven { Ok(()) } else { Err(Code::OwnerUnverified.into()) }
    }

    /// A new store of `owner`, as a draft; its first location comes with it
    /// ([`catalogue::location::with_new_store`]).
    pub fn open(owner: &MerchantId, opening: NewStore, now: Timestamp) -> Self {
        let id = StoreId::mint(now);
        Self {
            online_locations: vec![first_location(&id)],
            id,
            owner_id: owner.clone(),
            name: opening.name,
            subdomain: opening.subdomain,
            primary_domain: None,
            currency: opening.currency,
            country: opening.country,
            locale: opening.locale.unwrap_or_default(),
            timezone: opening.timezone.unwrap_or_default(),
            contact: Contact::default(),
            branding: Branding::default(),
            order_prefix: FIRST_ORDER_PREFIX.to_owned(),
            order_secret: seal::random_secret(),
            inventory_policy: InventoryPolicy::Deny,
            menus: BTreeSet::new(),
            themes: BTreeSet::new(),
            live_theme: None,
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

    /// The id of its order with this number, if it has one.
    pub fn order_id(&self, number: u64) -> OrderId {
        OrderId::numbered(&self.id, &self.order_secret, number)
    }

    /// What the orders of guests with this address are found by: HMAC-SHA256 of the address under
    /// what only the store's item holds, cut to 96 bits, so that no key says whose they are.
    pub fn guest_key(&self, email: &Email) -> String {
        let address = email.normalized();
        let parts: [&[u8]; 2] = [b"guest\n", address.as_bytes()];
        let digest = hmac_sha256(self.order_secret.as_bytes(), &parts);
        BASE64_URL_SAFE_NO_PAD.encode(digest.get(..GUEST_KEY).unwrap_or_default())
    }

    /// The store at its next version with what `wanted` says; `None` when that is what it is.
    ///
    /// # Errors
    /// `currency_locked`: the store has left its draft, or something is priced already.
    pub fn revised(&self, wanted: &Self, now: Timestamp) -> Result<Option<Self>, Problem> {
        if wanted == self {
            return Ok(None);
        }
        let is_fixed = self.currency_locked || self.status != StoreStatus::Draft;
        if wanted.currency != self.currency && is_fixed {
            return Err(Code::CurrencyLocked.with("currency", self.currency.as_str()));
        }
        Ok(Some(wanted.changed(now)))
    }

    /// Counts changes that a storefront caches by: those of the store, and those of what belongs
    /// to it.
    pub fn config_version(&self) -> u64 {
        self.version.saturating_add(self.config_changes)
    }

    /// What the owner can do now.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        StoreAction::ALL
            .iter()
            .filter(|action| self.status.after(**action).is_some())
            .map(|action| action.as_str())
            .collect()
    }

    /// The store after `action`.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn act(
        &self,
        action: StoreAction,
        reason: Option<String>,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        let Some(status) = self.status.after(action) else {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        };
        Ok(Self {
            status,
            status_reason: reason,
            redact_at: (status == StoreStatus::Deleted).then(|| now.plus(GRACE)),
            ..self.changed(now)
        })
    }

    /// What happened to the store, with the store as it is now; its public pictures are found
    /// below `base_url`.
    pub fn event(&self, topic: &Topic<StoreView>, base_url: &str, now: Timestamp) -> Event {
        let (store, entity) = (Some(&self.id), self.id.as_str());
        let about = EventSubject { store, app: None, entity, version: self.version };
        Event::new(topic, about, &StoreView::of(self, base_url), now)
    }

    /// The store at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }
}

impl StoreStatus {
    /// The state that `action` leads to from this one.
    fn after(self, action: StoreAction) -> Option<Self> {
        use StoreAction::{Activate, Close, Delete, Pause, Reopen};
        match (self, action) {
            (Self::Draft | Self::Paused, Activate) => Some(Self::Active),
            (Self::Active, Pause) | (Self::Closed, Reopen) => Some(Self::Paused),
            (Self::Draft | Self::Active | Self::Paused, Close) => Some(Self::Closed),
            (Self::Draft | Self::Active | Self::Paused | Self::Closed, Delete) => {
                Some(Self::Deleted)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
