//! A payment and its order as they are, and the events of providers that were handled.

use gateway::app::App;
use gateway::clock::{DAY, Timestamp};
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use ground::id::{PaymentId, StoreId};
use ground::key;
use ground::provider::ProviderName;
use serde::{Deserialize, Serialize};

use super::{Payment, ProviderReference};
use crate::order::Order;

/// How long a provider's events are kept: longer than any of them sends one again.
const EVENTS_KEPT: std::time::Duration = DAY.saturating_mul(30);

/// A provider's event that was handled.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProviderEvent {
    /// The provider.
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
    /// Counts writes.
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
        Some(self.created_at.plus(EVENTS_KEPT))
    }
}

/// The store is part of it: what one store's account is told says nothing to another's.
fn event_key(store: &StoreId, provider: ProviderName, event: &str) -> Key {
    key::provider_event(provider.as_str(), &format!("{store}#{event}"))
}

/// A payment and its order, as they are.
#[derive(Debug, Clone)]
pub struct Known {
    /// The payment.
    pub payment: Payment,
    /// Its order.
    pub order: Order,
}

/// Reads a payment and its order in one round trip.
///
/// # Errors
/// `not_found`.
pub async fn load(app: &App, locator: &ProviderReference) -> Result<Known, Problem> {
    read(app, locator, None).await.map(|(known, _)| known)
}

/// Reads a payment and its order, and whether an event has been handled.
pub(crate) async fn read(
    app: &App,
    locator: &ProviderReference,
    event: Option<&ProviderEvent>,
) -> Result<(Known, bool), Problem> {
    let payment_key = key::payment(&locator.store_id, &locator.order_id, &locator.payment_id);
    let order_key = key::order(&locator.store_id, &locator.order_id);
    let event_key = event.map(Item::key);
    let keys: Vec<&Key> = [&payment_key, &order_key].into_iter().chain(&event_key).collect();
    let mut found = app.table.get_many(&keys).await?;
    let payment = found.take(&payment_key)?.ok_or(Code::NotFound)?;
    let order = found.take(&order_key)?.ok_or(Code::NotFound)?;
    let handled = match &event_key {
        None => None,
        Some(key) => found.take::<ProviderEvent>(key)?,
    };
    Ok((Known { payment, order }, handled.is_some()))
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
