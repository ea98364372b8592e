//! Events of providers that were handled: one that is sent again is known by its id.

use core_types::id::{PaymentId, StoreId};
use core_types::key;
use core_types::provider::ProviderName;
use primitives::clock::{DAY, Timestamp};
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};

/// How long a provider's events are kept: longer than any of them sends one again.
const EVENT_RETENTION: std::time::Duration = DAY.saturating_mul(30);

/// A provider's event that was handled.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProviderEvent {
    /// `manual`, `razorpay` or `stripe`.
    pub provider: ProviderName,
    /// Its event id.
    pub event_id: String,
    /// The store whose account it came to.
    pub store_id: StoreId,
    /// The payment it is about, if it is one of the store's.
    pub payment_id: Option<PaymentId>,
    /// Its kind, in the provider's word.
    pub kind: String,
    /// The beginning of its body, sealed: it names the customer.
    pub sealed_body: String,
    /// When it came.
    pub created_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Item for ProviderEvent {
    const KIND: &'static str = "provider_event";
    fn key(&self) -> Key {
        event_key(&self.store_id, self.provider, &self.event_id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.created_at.plus(EVENT_RETENTION))
    }
}

/// The store is part of it: what one store's account is told says nothing to another's.
fn event_key(store: &StoreId, provider: ProviderName, event: &str) -> Key {
    key::provider_event(provider.as_str(), &format!("{store}#{event}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payment::tests::NOW;

    #[test]
    fn a_providers_event_is_kept_for_thirty_days() {
        let event = ProviderEvent {
            provider: ProviderName::Stripe,
            event_id: "evt_1".into(),
            store_id: StoreId::derive(&["s"]),
            payment_id: None,
            kind: "charge.updated".into(),
            sealed_body: String::new(),
            created_at: NOW,
            version: 7,
        };
        assert_eq!((event.forget_at(), event.version()), (Some(NOW.plus(30 * DAY)), 7));
    }
}
