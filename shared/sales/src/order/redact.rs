//! Removing from an order whom it was for: names and addresses go, sums stay.

use std::collections::BTreeMap;

use core_types::event::{EXAMPLE_TIME, Event, Example};
use core_types::id::{CustomerId, OrderId};
use core_types::resource::Resource;
use core_types::sample_id;
use primitives::clock::Timestamp;
use identity::address::PostalAddress;
use schemars::JsonSchema;
use serde::Serialize;

use super::fulfillment::{Fulfillment, Tracking};
use super::refund::Refund;
use super::{ORDER_REDACTED, Order, OrderItem, OrderStatus};

/// Whom an order was for is known no more: remove what you hold of them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OrderRedacted {
    /// The order.
    pub id: OrderId,
    /// Whose account it was placed with.
    pub customer_id: Option<CustomerId>,
    /// When that was.
    pub redacted_at: Timestamp,
}

impl Example for OrderRedacted {
    fn example() -> Self {
        Self {
            id: sample_id!(OrderId),
            customer_id: Some(sample_id!(CustomerId)),
            redacted_at: EXAMPLE_TIME,
        }
    }
}

impl Order {
    /// Whether it is not closed: the store owes goods, or waits for money.
    pub fn is_unfinished(&self) -> bool {
        match self.status {
            OrderStatus::Draft => true,
            OrderStatus::Open => self.remaining() > 0 || !self.outstanding().is_zero(),
            OrderStatus::Closed | OrderStatus::Cancelled | OrderStatus::Expired => false,
        }
    }

    /// The order without whom it was for, where it was sent, and what was written about it; none when
    /// there is nothing of that. Of addresses, country and region stay.
    pub fn redacted(&self, now: Timestamp) -> Option<Self> {
        let address = |kept: &Option<PostalAddress>| kept.as_ref().map(PostalAddress::redacted);
        let silent = |line: &OrderItem| OrderItem { metadata: BTreeMap::new(), ..line.clone() };
        let next = Self {
            items: self.items.iter().map(silent).collect(),
            metadata: BTreeMap::new(),
            email: None,
            contact: None,
            shipping_address: address(&self.shipping_address),
            billing_address: address(&self.billing_address),
            note: None,
            cancel_reason: None,
            order_token_digest: None,
            guest: None,
            is_email_proven: false,
            ..self.clone()
        };
        (next != *self).then(|| next.changed(now))
    }

    /// That it was redacted.
    pub fn redacted_event(&self, now: Timestamp) -> Event {
        let (id, customer_id) = (self.id.clone(), self.customer_id.clone());
        let data = OrderRedacted { id, customer_id, redacted_at: now };
        Event::new(&ORDER_REDACTED, self.event_subject(), &data, now)
    }
}

impl Fulfillment {
    /// The fulfilment without what follows its parcel to somebody's door; none when it has none of that.
    pub fn redacted(&self, now: Timestamp) -> Option<Self> {
        let tracking = Tracking { number: None, url: None, ..self.tracking.clone() };
        (tracking != self.tracking).then(|| Self { tracking, ..self.changed(now) })
    }
}

impl Refund {
    /// The refund without what was written about it; none when nothing was.
    pub fn redacted(&self, now: Timestamp) -> Option<Self> {
        self.note.is_some().then(|| Self { note: None, ..self.changed(now) })
    }
}
