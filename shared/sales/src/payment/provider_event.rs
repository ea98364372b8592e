//! The events of providers that were handled, so that a repeated one is recognized by its id.

use core_types::id::{PaymentId, StoreId};
use core_types::key;
use core_types::provider::ProviderName;
use primitives::clock::{DAY, Timestamp};
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};

/// The retention of a provider's events: longer than any provider repeats one.
const EVENT_RETENTION: std::time::Duration = DAY.saturating_mul(30);

/// A provider's event that was handled.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "provider_event", key = event_key(&self.store_id, self.provider, &self.event_id))]
#[item(forget_at = Some(self.created_at.plus(EVENT_RETENTION)))]
pub struct ProviderEvent {
    /// The payment provider: `manual`, `razorpay` or `stripe`.
    pub provider: ProviderName,
    /// The provider's event id.
    pub event_id: String,
    /// The store whose account received it.
    pub store_id: StoreId,
    /// The payment that it is about, if it is one of the store's.
    pub payment_id: Option<PaymentId>,
    /// The provider's type of the event.
    pub kind: String,
    /// The beginning of its body, sealed because it has data of the customer.
    pub sealed_body: String,
    /// When it was received.
    pub created_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

/// The key of an event. It includes the store, so that an event of one store's account never counts as
/// handled for another's.
fn event_key(store: &StoreId, provider: ProviderName, event: &str) -> Key {
    key::provider_event(provider.as_str(), &format!("{store}#{event}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payment::tests::NOW;

    #[test]
    fn a_providers_event_is_stored_for_thirty_days() {
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
