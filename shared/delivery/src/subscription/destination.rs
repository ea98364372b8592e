//! Destinations of events: a URL that is posted to, or a queue that its owner polls.

use egress::Destination;
use schemars::JsonSchema;
use serde::Serialize;

use super::{QueueChallenge, Subscription, SubscriptionStatus};

primitives::string_enum! {
    /// The type of a destination.
    #[derive(Default)]
    DestinationKind {
        /// A URL that is posted to.
        #[default]
        Https = "https",
        /// An SQS queue of another account.
        Sqs = "sqs",
    }
}

/// The destination of a subscription's events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum DestinationView {
    /// A URL that is posted to.
    Https {
        /// The URL.
        url: String,
    },
    /// An SQS queue of another account.
    Sqs {
        /// The queue's URL.
        queue_url: String,
    },
}

impl From<&Subscription> for DestinationView {
    fn from(subscription: &Subscription) -> Self {
        let url = subscription.url.clone();
        match subscription.destination {
            DestinationKind::Https => Self::Https { url },
            DestinationKind::Sqs => Self::Sqs { queue_url: url },
        }
    }
}

/// The receiver at a destination: all paths of a host are one receiver, each queue is one of its own.
fn receiver_of(kind: DestinationKind, url: &str) -> String {
    match kind {
        DestinationKind::Https => Destination::receiver_of(url),
        DestinationKind::Sqs => url.to_owned(),
    }
}

impl Subscription {
    /// The receiver of its events, by which health and limits are counted.
    pub fn receiver(&self) -> String {
        receiver_of(self.destination, &self.url)
    }

    /// Whether `url` leads to another receiver, of which nothing is known. Another path on the same host
    /// keeps the health: it is no reason to forget failures.
    pub fn is_elsewhere(&self, url: &str) -> bool {
        receiver_of(self.destination, url) != self.receiver()
    }

    /// The subscription with this destination: a URL, or a queue that is yet to be confirmed
    /// ([`Subscription::to_be_confirmed`]). For another receiver the health starts anew.
    #[must_use]
    pub fn sent_to(&self, kind: DestinationKind, url: String) -> Self {
        let is_elsewhere = kind != self.destination || self.is_elsewhere(&url);
        let health = if is_elsewhere { self.health.of_another() } else { self.health.clone() };
        let moved = Self { destination: kind, url, health, ..self.clone() };
        match kind {
            DestinationKind::Https => moved.without_confirmation(),
            DestinationKind::Sqs => moved,
        }
    }

    /// The subscription without a confirmation: a URL needs none.
    fn without_confirmation(self) -> Self {
        let status = match (&self.confirmation, self.status) {
            (Some(QueueChallenge { then, .. }), SubscriptionStatus::Unconfirmed) => *then,
            (_, status) => status,
        };
        Self { status, confirmation: None, ..self }
    }
}
