//! A subscription as its owner sees it: never a secret, never a header's value.

use std::collections::BTreeMap;

use gateway::clock::Timestamp;
use ground::event::{About, Event, Example};
use ground::id::{MerchantId, SubscriptionId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    ConfirmationView, DestinationView, DisabledReason, HealthWord, Ordering, PayloadFilter,
    Subscription, SubscriptionStatus,
};

ground::topics! {
    WEBHOOK_SUBSCRIPTION_DISABLED = "webhook_subscription.disabled", "webhook_subscription",
        Some("read_webhooks"), SubscriptionView,
        "The service switched a webhook subscription off: its receiver is gone, or keeps failing.";
}

/// What stands for the value of a custom header.
const MASK: &str = "***";

ground::view! {
    /// A subscription as its owner sees it.
    SubscriptionView of (subscription: Subscription, now: Timestamp) {
        /// The id.
        id: SubscriptionId,
        /// Where events go: the URL that is posted to, or the queue's.
        url: String,
        /// The same with its kind.
        destination: DestinationView = DestinationView::from(subscription),
        /// Of a queue: how far the proof is that it is its owner's.
        confirmation: Option<ConfirmationView> = subscription
                .confirmation
                .as_ref()
                .map(ConfirmationView::from),
        /// What it is for.
        description: Option<String>,
        /// Which events.
        event_types: Vec<String>,
        /// What their payload has to say: `JSONPath` (RFC 9535) and condition.
        filter: Option<Value> = subscription.filter.as_ref().map(PayloadFilter::shown),
        /// In which order they are attempted.
        ordering: Ordering,
        /// Attempts that are begun in any second, at most.
        max_rate_per_second: Option<u32>,
        /// Custom headers; their values are not shown.
        headers: BTreeMap<String, &'static str> = subscription.masked_headers(),
        /// Whether it takes events.
        status: SubscriptionStatus,
        /// Why the service switched it off.
        disabled_reason: Option<DisabledReason>,
        /// How well events arrive.
        health: HealthWord = subscription.health.word(),
        /// Who made it: `mer_…` or `app_…`.
        created_by: String,
        /// What deliveries report.
        stats: Stats = Stats::from(subscription),
        /// The end of the secret, to tell it by.
        secret_hint: Option<String>,
        /// Present while two secrets sign.
        rotation: Option<RotationView> = subscription
                .live_rotation(now)
                .map(|rotation| RotationView { expires_at: rotation.expires_at }),
        /// What its owner can do now.
        allowed_actions: Vec<&'static str> = subscription.allowed_actions(),
        /// When it was made.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
    }
}

/// What deliveries report.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Stats {
    /// When an attempt succeeded last, within five minutes.
    pub last_success_at: Option<Timestamp>,
    /// When an attempt failed last.
    pub last_failure_at: Option<Timestamp>,
    /// Attempts that failed since one succeeded.
    pub consecutive_failures: u32,
    /// Deliveries given up since one succeeded.
    pub exhausted_since_success: u32,
    /// Until when deliveries wait, when so many failed.
    pub circuit_open_until: Option<Timestamp>,
}

/// A rotation in progress.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RotationView {
    /// Until when the old secret signs too.
    pub expires_at: Timestamp,
}

impl Subscription {
    /// That the service has switched it off, with the subscription as it is now.
    pub fn disabled_event(&self, now: Timestamp) -> Event {
        let (store, app) = (self.store_id.as_ref(), self.app_id.as_ref());
        let about = About { store, app, entity: self.id.as_str(), version: self.version };
        let view = SubscriptionView::of(self, now);
        Event::new(&WEBHOOK_SUBSCRIPTION_DISABLED, about, &view, now)
    }

    /// The custom headers as they are shown: their values often are credentials.
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
            health: HealthWord::Failing,
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
