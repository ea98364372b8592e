//! Webhook subscriptions: the destination of events, their types, and the health of the receiver
//! (docs/conventions.md §10).
//!
//! Two kinds share one type. A *store's* subscription is created by its owner or by an app, lies in the
//! store's partition and receives the store's events. An *app's own* subscription belongs to the app's
//! `webhook_url`: it lies in the app's partition and receives `app.*` events about that app, on any
//! store.
//!
//! Two counters guard writes. `version` counts changes by people, and is the value for `If-Match`;
//! `health.revision` counts reports of deliveries. Every write requires both as it read them
//! ([`Subscription::save`]). So neither side overwrites the other, and a failing receiver does not make
//! its owner's version stale.

mod confirmation;
mod destination;
mod filter;
mod health;
mod input;
mod quota;
mod secrets;
mod transitions;
mod view;

use std::time::Duration;

use core_types::event::{self, Event};
use core_types::id::{AppId, StoreId, SubscriptionId};
use core_types::key;
use core_types::scope::Scopes;
use platform::installation::{Installation, InstallationStatus};
use primitives::clock::Timestamp;
use primitives::problem::Code;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};
use table::{Condition, Write};

pub use confirmation::{CHALLENGE, Challenge, ConfirmOutcome, ConfirmationView, QueueChallenge};
pub use destination::{DestinationKind, DestinationView};
pub use filter::{Payload, PayloadFilter};
pub use health::{Circuit, Gate, HealthStatus, PROMPT, ReceiverHealth, SLOW};
pub use input::{CustomHeaders, OwnSecret};
pub use quota::{claim_quota, release_quota, remove_of_app};
pub use secrets::{SigningKeys, hint, seal_secret};
pub use view::{
    EVENT_SCHEMAS, RotationView, Stats, SubscriptionView, TOPICS, WEBHOOK_SUBSCRIPTION_DISABLED,
};

/// The most subscriptions of one store.
pub const MAX_PER_STORE: u64 = 50;
/// The time for which both secrets sign after a rotation, unless the request says otherwise.
pub const DEFAULT_GRACE: Duration = primitives::clock::DAY;

primitives::string_enum! {
    /// Whether a subscription receives events.
    SubscriptionStatus {
        /// It receives events.
        Enabled = "enabled",
        /// Its queue is not confirmed: it gets challenges, and no events.
        Unconfirmed = "unconfirmed",
        /// It was disabled by request.
        Disabled = "disabled",
        /// It was disabled by the service. It can be enabled again.
        DisabledBySystem = "disabled_by_system",
    }
}

primitives::string_enum! {
    /// The reason why the service disabled a subscription.
    DisabledReason {
        /// The receiver answered 410.
        Gone = "gone",
        /// No attempt succeeded for 120 hours, and at least 20 deliveries were exhausted.
        Failing = "failing",
    }
}

primitives::string_enum! {
    /// The order of deliveries.
    #[derive(Default)]
    Ordering {
        /// No order: deliveries are attempted concurrently.
        #[default]
        None = "none",
        /// Deliveries about one entity are made one after the other, in the order of its changes.
        Entity = "entity",
    }
}

/// A subscription.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "webhook_subscription")]
#[item(key = key_of(self.store_id.as_ref(), self.app_id.as_ref(), &self.id))]
pub struct Subscription {
    /// `whs_…`; later ones sort after it.
    pub id: SubscriptionId,
    /// The store whose events it receives; none for an app's own.
    pub store_id: Option<StoreId>,
    /// The app that created it, or whose own it is.
    pub app_id: Option<AppId>,
    /// The scopes of the app's token when it created or changed the subscription: events beyond them are
    /// not sent. None when the store's owner created it, and for an app's own.
    pub scopes: Option<Scopes>,
    /// The merchant or app that created it: `mer_…` or `app_…`.
    pub created_by: String,
    /// The URL that events are posted to, or the URL of the queue.
    pub url: String,
    /// Whether `url` is posted to, or is a queue's.
    #[serde(default)]
    pub destination: DestinationKind,
    /// The last challenge of the queue, and whether it was confirmed; none for a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<QueueChallenge>,
    /// A note by its creator: what it is for.
    pub description: Option<String>,
    /// The event types that it receives: names, `noun.*` or `*`.
    pub event_types: Vec<String>,
    /// Conditions that the payload must meet.
    #[serde(default)]
    pub filter: Option<PayloadFilter>,
    /// The order of deliveries.
    #[serde(default)]
    pub ordering: Ordering,
    /// The most attempts begun in any second; none for no limit.
    #[serde(default)]
    pub max_rate_per_second: Option<u32>,
    /// The names of custom headers.
    pub header_names: Vec<String>,
    /// Custom headers, sealed: their values often are credentials.
    pub sealed_headers: Option<String>,
    /// Whether it receives events.
    pub status: SubscriptionStatus,
    /// The reason why the service disabled it.
    pub disabled_reason: Option<DisabledReason>,
    /// The signing secret, sealed under the subscription's id.
    pub sealed_secret: String,
    /// The secret's last characters, to recognize it.
    pub secret_hint: Option<String>,
    /// The rotation of the secret, while both secrets sign.
    pub rotation: Option<Rotation>,
    /// The health of the receiver.
    pub health: ReceiverHealth,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its owner or the service last changed it.
    pub updated_at: Timestamp,
    /// Counts changes by its owner, and status changes.
    pub version: u64,
}

/// A rotation: the old secret, while it still signs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// The old secret, sealed as the new one is.
    pub sealed_secret: String,
    /// The old secret signs until this time.
    pub expires_at: Timestamp,
}

/// The key of a subscription: in its store's partition, or, without a store, in its app's.
pub fn key_of(store: Option<&StoreId>, app: Option<&AppId>, id: &SubscriptionId) -> Key {
    match (store, app) {
        (Some(store), _) => key::subscription(store, id),
        (None, Some(app)) => key::app_subscription(app, id),
        // Unreachable by construction: no item has such a key.
        (None, None) => Key::new(format!("WHS#{id}"), "A"),
    }
}

impl Subscription {
    /// A store's new subscription.
    pub fn for_store(
        store: &StoreId,
        created_by: &str,
        id: SubscriptionId,
        url: String,
        event_types: Vec<String>,
        sealed_secret: String,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            store_id: Some(store.clone()),
            app_id: None,
            scopes: None,
            created_by: created_by.to_owned(),
            url,
            destination: DestinationKind::Https,
            confirmation: None,
            description: None,
            event_types,
            filter: None,
            ordering: Ordering::None,
            max_rate_per_second: None,
            header_names: Vec::new(),
            sealed_headers: None,
            status: SubscriptionStatus::Enabled,
            disabled_reason: None,
            sealed_secret,
            secret_hint: None,
            rotation: None,
            health: ReceiverHealth::default(),
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The subscription behind an app's own `webhook_url`: `app.*` events about the app, on any
    /// store. `sealed_secret` is [`seal_secret`] of a fresh secret under `id`.
    pub fn for_app(
        app_id: &AppId,
        id: SubscriptionId,
        url: String,
        sealed_secret: String,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            store_id: None,
            app_id: Some(app_id.clone()),
            scopes: None,
            created_by: app_id.to_string(),
            url,
            destination: DestinationKind::Https,
            confirmation: None,
            description: None,
            event_types: vec!["app.*".to_owned()],
            filter: None,
            ordering: Ordering::None,
            max_rate_per_second: None,
            header_names: Vec::new(),
            sealed_headers: None,
            status: SubscriptionStatus::Enabled,
            disabled_reason: None,
            sealed_secret,
            secret_hint: None,
            rotation: None,
            health: ReceiverHealth::default(),
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The subscription at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The subscription with this health; its version stays.
    #[must_use]
    pub fn with_health(&self, health: ReceiverHealth) -> Self {
        Self { health, ..self.clone() }
    }

    /// Whether it receives events.
    pub fn is_enabled(&self) -> bool {
        self.status == SubscriptionStatus::Enabled
    }

    /// The actions that its status allows.
    pub fn allowed_actions(&self) -> Vec<&'static str> {
        if !self.is_confirmed() {
            return vec!["confirm", "challenge", "rotate_secret", "delete"];
        }
        let toggle = if self.is_enabled() { "disable" } else { "enable" };
        vec![toggle, "test", "rotate_secret", "delete"]
    }

    /// Whether this event is sent to the subscription. `installation` is that of the app that created the
    /// subscription, on the event's store: the app may read what it could when it subscribed, as far as
    /// that is still granted. `scope` is the scope that reads the event's topic.
    pub fn matches_event(
        &self,
        event: &Event,
        scope: Option<&str>,
        installation: Option<&Installation>,
    ) -> bool {
        let wanted = self.event_types.iter().any(|filter| event::matches(filter, &event.name));
        if !self.is_enabled() || !wanted {
            return false;
        }
        match &self.store_id {
            None => self.app_id.is_some() && self.app_id == event.app_id,
            Some(store) => {
                event.store_id.as_ref() == Some(store) && self.may_read(scope, installation)
            }
        }
    }

    /// Whether the app that created the subscription may read events of this scope now. This is checked
    /// at fan-out and again before each attempt, because a merchant may revoke scopes in between. A
    /// store's subscription without an app always may.
    pub fn may_read(&self, scope: Option<&str>, installation: Option<&Installation>) -> bool {
        let Some(scopes) = &self.scopes else { return true };
        let granted = installation
            .filter(|found| found.status == InstallationStatus::Active)
            .map(|found| scopes.intersection(&found.scopes));
        scope.zip(granted).is_some_and(|(scope, granted)| granted.cover(scope))
    }

    /// Adds the write of `self` in place of `before`, on condition that neither its owner nor a delivery
    /// has changed it meanwhile.
    pub fn save(&self, write: Write, before: &Self) -> Write {
        let unchanged = Condition::new("#version = :version AND #health.#revision = :revision")
            .name("#version", "version")
            .name("#health", "health")
            .name("#revision", "revision")
            .value(":version", before.version)
            .value(":revision", before.health.revision);
        write.put_if(self, unchanged, Code::VersionConflict)
    }
}

#[cfg(test)]
mod tests;
