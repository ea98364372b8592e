//! Stores: their states, and who may do what in which.

use gateway::clock::{DAY, Timestamp};
use gateway::item::{Item, Key};
use gateway::outbox::Due;
use gateway::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::{Country, Currency, Email, Locale, Subdomain, TimeZone};
use crate::id::{MerchantId, StoreId};
use crate::key::{self, IndexKey};

/// Stores one merchant may own (our choice).
pub const MAX_STORES: usize = 100;
/// How long a deleted store can be asked back for before its data is removed.
pub const GRACE: std::time::Duration = DAY.saturating_mul(30);
/// How long an old subdomain leads to the new one (our choice).
pub const MOVED_FOR: std::time::Duration = DAY.saturating_mul(90);

gateway::words! {
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
        /// Deleted; its data is removed when the grace ends.
        Deleted = "deleted",
    }
}

gateway::words! {
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

gateway::words! {
    /// What happens to an order line whose stock is short.
    InventoryPolicy {
        /// The order is refused.
        Deny = "deny",
        /// The order is taken.
        Continue = "continue",
    }
}

/// How customers reach the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contact {
    /// Shown to customers, and the `Reply-To` of mails.
    pub email: Option<Email>,
    /// Shown to customers.
    pub phone: Option<String>,
}

/// A store.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Store {
    /// The id.
    pub id: StoreId,
    /// The merchant who owns it.
    pub owner_id: MerchantId,
    /// The name customers see.
    pub name: String,
    /// The storefront's subdomain.
    pub subdomain: Subdomain,
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
    /// What order numbers begin with.
    pub order_prefix: String,
    /// What happens to an order line whose stock is short, unless the variant says otherwise.
    pub inventory_policy: InventoryPolicy,
    /// Where it is in its life.
    pub status: StoreStatus,
    /// Why it is in that state, in the owner's words.
    pub status_reason: Option<String>,
    /// Counts changes that a storefront caches by.
    pub config_version: u64,
    /// When its data is removed, once deleted.
    pub redact_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Counts writes.
    pub version: u64,
}

impl Item for Store {
    const KIND: &'static str = "store";
    fn key(&self) -> Key {
        key::store(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let due = self.redact_at.map(|at| Due::Redaction.mark(self.id.as_str(), at));
        let listed = (self.status != StoreStatus::Deleted)
            .then(|| key::stores_of(&self.owner_id, self.created_at));
        listed.into_iter().chain(due).collect()
    }
}

impl Store {
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

    /// The store at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self {
            config_version: self.config_version.saturating_add(1),
            updated_at: now,
            version: self.version.saturating_add(1),
            ..self.clone()
        }
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

/// The one store of a subdomain, now or in the recent past.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UniqueSubdomain {
    /// The subdomain.
    pub subdomain: Subdomain,
    /// Whose it is.
    pub store_id: StoreId,
    /// Set when the store has moved on: until then nobody else may take the name, so that links
    /// keep leading to the store.
    pub moved_until: Option<Timestamp>,
    /// Counts writes.
    pub version: u64,
}

impl Item for UniqueSubdomain {
    const KIND: &'static str = "unique_subdomain";
    fn key(&self) -> Key {
        key::unique_subdomain(self.subdomain.as_str())
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        self.moved_until.map(|until| until.plus(DAY))
    }
}

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

impl From<&Store> for StoreView {
    fn from(store: &Store) -> Self {
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
            order_prefix: store.order_prefix.clone(),
            inventory_policy: store.inventory_policy,
            status: store.status,
            status_reason: store.status_reason.clone(),
            plan: "standard",
            owner_id: store.owner_id.clone(),
            config_version: store.config_version,
            allowed_actions: store.allowed_actions(),
            created_at: store.created_at,
            updated_at: store.updated_at,
            version: store.version,
        }
    }
}
