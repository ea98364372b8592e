//! The response for a subscription. It has neither secrets nor values of headers.

use std::collections::BTreeMap;

use core_types::event::{Event, EventSubject, Example};
use core_types::id::{MerchantId, SubscriptionId};
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    ConfirmationView, DestinationView, DisabledReason, HealthStatus, Ordering, PayloadFilter,
    Subscription, SubscriptionStatus,
};

core_types::topics! {
    WEBHOOK_SUBSCRIPTION_DISABLED = "webhook_subscription.disabled", "webhook_subscription",
        Some("read_webhooks"), SubscriptionView,
        "The service disabled a webhook subscription: its receiver is gone, or keeps failing.";
}

/// The replacement for the value of a custom header.
const MASK: &str = "***";

core_types::view! {
    /// A webhook subscription.
    SubscriptionView of (subscription: Subscription, now: Timestamp) {
        /// The id.
        id: SubscriptionId,
        /// The URL that events are posted to, or the URL of the queue.
        url: String,
        /// The same destination with its type.
        destination: DestinationView = DestinationView::from(subscription),
        /// For a queue: whether it was confirmed.
        confirmation: Option<ConfirmationView> = subscription
                .confirmation
                .as_ref()
                .map(ConfirmationView::from),
        /// A note by its creator: what it is for.
        description: Option<String>,
        /// The event types that it receives: names, `noun.*` or `*`.
        event_types: Vec<String>,
        /// Conditions that the payload must meet, by `JSONPath` (RFC 9535).
        filter: Option<Value> = subscription.filter.as_ref().map(PayloadFilter::to_json),
        /// The order in which events are delivered.
        ordering: Ordering,
        /// The maximum number of attempts a second; `null` for no limit.
        max_rate_per_second: Option<u32>,
        /// The custom headers by name; their values are masked as `***`.
        headers: BTreeMap<String, &'static str> = subscription.masked_headers(),
        /// Whether it receives events.
        status: SubscriptionStatus,
        /// The reason why the service disabled it.
        disabled_reason: Option<DisabledReason>,
        /// The health of the receiver.
        health: HealthStatus = subscription.health.word(),
        /// The merchant or app that created it: `mer_…` or `app_…`.
        created_by: String,
        /// The failure counts of the receiver.
        stats: Stats = Stats::from(subscription),
        /// The last characters of the signing secret, to recognize it.
        secret_hint: Option<String>,
        /// The rotation of the signing secret, while both secrets sign.
        rotation: Option<RotationView> = subscription
                .live_rotation(now)
                .map(|rotation| RotationView { expires_at: rotation.expires_at }),
        /// The actions that its status allows.
        allowed_actions: Vec<&'static str> = subscription.allowed_actions(),
        /// When it was created.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}

/// The failure counts of a receiver.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Stats {
    /// When an attempt last succeeded. It may be up to five minutes older than the last success.
    pub last_success_at: Option<Timestamp>,
    /// When an attempt last failed.
    pub last_failure_at: Option<Timestamp>,
    /// The number of attempts that failed since the last success.
    pub consecutive_failures: u32,
    /// The number of deliveries that were exhausted since the last success.
    pub exhausted_since_success: u32,
    /// Deliveries wait until this time, because the circuit is open; `null` when it is closed.
    pub circuit_open_until: Option<Timestamp>,
}

/// A rotation of the signing secret.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RotationView {
    /// The old secret signs as well until this time.
    pub expires_at: Timestamp,
}

impl Subscription {
    /// The event that the service disabled the subscription, with its current state.
    pub fn disabled_event(&self, now: Timestamp) -> Event {
        let (store, app) = (self.store_id.as_ref(), self.app_id.as_ref());
        let subject = EventSubject { store, app, entity: self.id.as_str(), version: self.version };
        let view = SubscriptionView::of(self, now);
        Event::new(&WEBHOOK_SUBSCRIPTION_DISABLED, subject, &view, now)
    }

    /// The custom headers with masked values: these often are credentials.
    pub fn masked_headers(&self) -> BTreeMap<String, &'static str> {
        self.header_names.iter().map(|name| (name.clone(), MASK)).collect()
    }
}

impl From<&Subscription> for Stats {
    fn from(subscription: &Subscription) -> Self {
        let health = &subscription.health;
        Self {
            last_success_at: health.last_success_at,
            last_failure_at: health.last_failure_at,
            consecutive_failures: health.consecutive_failures,
            exhausted_since_success: health.exhausted_since_success,
            circuit_open_until: health.circuit.as_ref().map(|circuit| circuit.open_until),
        }
    }
}

impl Example for SubscriptionView {
    fn example() -> Self {
        let at = Timestamp::from_millis(1_767_225_600_000);
        Self {
            id: SubscriptionId::derive(&["example"]),
            url: "https://hooks.example.com/commerce".into(),
            destination: DestinationView::Https {
                url: "https://hooks.example.com/commerce".into(),
            },
            confirmation: None,
            description: Some("Warehouse".into()),
            event_types: vec!["store.*".into()],
            filter: Some(json!({"$.data.country": ["IN", "AE"]})),
            ordering: Ordering::Entity,
            max_rate_per_second: Some(5),
            headers: BTreeMap::new(),
            status: SubscriptionStatus::DisabledBySystem,
            disabled_reason: Some(DisabledReason::Gone),
            health: HealthStatus::Failing,
            created_by: MerchantId::derive(&["example"]).to_string(),
            stats: Stats {
                last_success_at: Some(at),
                last_failure_at: Some(at),
                consecutive_failures: 1,
                exhausted_since_success: 1,
                circuit_open_until: None,
            },
            secret_hint: Some("whsec_…Hx8=".into()),
            rotation: None,
            allowed_actions: vec!["enable", "test", "rotate_secret", "delete"],
            created_at: at,
            updated_at: at,
            version: 2,
        }
    }
}
