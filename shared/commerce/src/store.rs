//! Stores: their states, and who may do what in which.

mod subdomain;
mod view;

use gateway::clock::{DAY, Timestamp};
use gateway::item::{Item, Key};
use gateway::outbox::Due;
use gateway::problem::{Code, Problem};
use gateway::request::{Fault, FromText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fields::{Country, Currency, Email, Locale, Subdomain, TimeZone};
use crate::id::{LocationId, MerchantId, StoreId};
use crate::key::{self, IndexKey};

pub use subdomain::UniqueSubdomain;
pub use view::StoreView;

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

gateway::text_field!(OrderPrefix);

/// What the order numbers of a new store begin with.
const FIRST_ORDER_PREFIX: &str = "#";

/// How customers reach the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contact {
    /// Shown to customers, and the `Reply-To` of mails.
    pub email: Option<Email>,
    /// Shown to customers.
    pub phone: Option<String>,
}

/// What a merchant says about a store to open.
#[derive(Debug, Clone)]
pub struct Opening {
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
    /// Its active locations that fulfil online orders, in priority order: kept here so that a
    /// checkout need not read the locations.
    #[serde(default)]
    pub online_locations: Vec<LocationId>,
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
        let listed = (self.status != StoreStatus::Deleted).then(|| {
            let storefront = key::store_by_subdomain(self.subdomain.as_str());
            [key::stores_of(&self.owner_id, self.created_at), storefront]
        });
        listed.into_iter().flatten().chain(due).collect()
    }
}

impl Store {
    /// A new store of `owner`, as a draft.
    pub fn open(owner: &MerchantId, opening: Opening, now: Timestamp) -> Self {
        Self {
            id: StoreId::mint(now),
            owner_id: owner.clone(),
            name: opening.name,
            subdomain: opening.subdomain,
            currency: opening.currency,
            country: opening.country,
            locale: opening.locale.unwrap_or_default(),
            timezone: opening.timezone.unwrap_or_default(),
            contact: Contact::default(),
            order_prefix: FIRST_ORDER_PREFIX.to_owned(),
            inventory_policy: InventoryPolicy::Deny,
            online_locations: Vec::new(),
            status: StoreStatus::Draft,
            status_reason: None,
            config_version: 1,
            redact_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The store at its next version with what `wanted` says; `None` when that is what it is.
    ///
    /// # Errors
    /// `currency_locked`: prices may exist once the store has left its draft.
    pub fn revised(&self, wanted: &Self, now: Timestamp) -> Result<Option<Self>, Problem> {
        if wanted == self {
            return Ok(None);
        }
        if wanted.currency != self.currency && self.status != StoreStatus::Draft {
            return Err(Code::CurrencyLocked.with("currency", self.currency.as_str()));
        }
        Ok(Some(wanted.changed(now)))
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

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

    fn text<T: FromText>(text: &str) -> T {
        T::from_text(text).unwrap()
    }

    fn store(status: StoreStatus) -> Store {
        let opening = Opening {
            name: "Blue Bottle Books".into(),
            subdomain: text("blue-bottle"),
            currency: text("INR"),
            country: text("IN"),
            locale: None,
            timezone: None,
        };
        Store { status, ..Store::open(&MerchantId::mint(NOW), opening, NOW) }
    }

    #[test]
    fn every_state_takes_exactly_its_own_actions() {
        use StoreAction::{Activate, Close, Delete, Pause, Reopen};
        use StoreStatus::{Active, Closed, Deleted, Draft, Paused};
        let allowed = [
            (Draft, Activate, Active),
            (Draft, Close, Closed),
            (Draft, Delete, Deleted),
            (Active, Pause, Paused),
            (Active, Close, Closed),
            (Active, Delete, Deleted),
            (Paused, Activate, Active),
            (Paused, Close, Closed),
            (Paused, Delete, Deleted),
            (Closed, Reopen, Paused),
            (Closed, Delete, Deleted),
        ];
        for status in StoreStatus::ALL {
            for action in StoreAction::ALL {
                let expected = allowed
                    .iter()
                    .find(|row| (row.0, row.1) == (*status, *action))
                    .map(|row| row.2);
                let before = store(*status);
                let after = before.act(*action, Some("why".into()), NOW.plus(DAY));
                assert_eq!(after.as_ref().ok().map(|store| store.status), expected);
                let listed = before.allowed_actions().contains(&action.as_str());
                assert_eq!(listed, expected.is_some(), "{status} {action}");
                match after {
                    Ok(after) => {
                        assert_eq!((after.version, after.config_version), (2, 2));
                        assert_eq!(after.status_reason.as_deref(), Some("why"));
                        let redacted = (*action == Delete).then(|| NOW.plus(DAY).plus(GRACE));
                        assert_eq!(after.redact_at, redacted);
                    }
                    Err(problem) => assert_eq!(problem.code, Code::InvalidStateTransition),
                }
            }
        }
    }

    #[test]
    fn a_deleted_store_is_in_no_list_and_due_for_redaction() {
        assert_eq!(store(StoreStatus::Draft).indexes().len(), 2);
        let deleted = store(StoreStatus::Active).act(StoreAction::Delete, None, NOW).unwrap();
        let [(index, _)] = <[IndexKey; 1]>::try_from(deleted.indexes()).unwrap();
        assert_eq!(index, gateway::item::Index::Gsi3);
    }

    #[test]
    fn the_currency_changes_only_while_the_store_is_a_draft() {
        for status in StoreStatus::ALL {
            let before = store(*status);
            let wanted = Store { currency: text("EUR"), ..before.clone() };
            let after = before.revised(&wanted, NOW).map(|after| after.map(|store| store.version));
            match status {
                StoreStatus::Draft => assert_eq!(after.unwrap(), Some(2)),
                _ => assert_eq!(after.unwrap_err().code, Code::CurrencyLocked),
            }
        }
    }

    #[test]
    fn what_changes_nothing_is_no_new_version() {
        let before = store(StoreStatus::Active);
        assert!(before.revised(&before, NOW.plus(DAY)).unwrap().is_none());
        let wanted = Store { name: "Red Bottle Books".into(), ..before.clone() };
        let after = before.revised(&wanted, NOW.plus(DAY)).unwrap().unwrap();
        assert_eq!((after.version, after.config_version), (2, 2));
        assert_eq!((after.created_at, after.updated_at), (NOW, NOW.plus(DAY)));
    }

    #[test]
    fn order_prefixes_are_short_and_plain() {
        for good in ["", "#", "BB-", "a_1"] {
            assert!(OrderPrefix::from_text(good).is_ok(), "{good}");
        }
        for bad in ["12345678901", "a b", "é", "<b>"] {
            assert!(OrderPrefix::from_text(bad).is_err(), "{bad}");
        }
    }
}
