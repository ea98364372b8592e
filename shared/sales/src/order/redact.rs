//! Redacts orders: removes names, addresses and texts, keeps amounts.

use std::collections::BTreeMap;

use core_types::event::{EXAMPLE_TIME, Event, Example};
use core_types::id::{CustomerId, OrderId};
use core_types::resource::Resource;
use core_types::sample_id;
use identity::address::PostalAddress;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::fulfillment::{Fulfillment, Tracking};
use super::refund::Refund;
use super::{ORDER_REDACTED, Order, OrderItem, OrderStatus};

/// The payload of a redaction: receivers must delete the personal data that they store about the order.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OrderRedacted {
    /// The order.
    pub id: OrderId,
    /// The customer, if it has one.
    pub customer_id: Option<CustomerId>,
    /// When it was redacted.
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
    /// Whether something is left to do: it is a draft, or open with units to fulfil or an amount to pay.
    pub fn is_unfinished(&self) -> bool {
        match self.status {
            OrderStatus::Draft => true,
            OrderStatus::Open => self.remaining() > 0 || !self.outstanding().is_zero(),
            OrderStatus::Closed | OrderStatus::Cancelled | OrderStatus::Expired => false,
        }
    }

    /// The order without contact details, addresses, notes, properties and metadata; of addresses, country and region
    /// stay. None if there is nothing to remove.
    pub fn redacted(&self, now: Timestamp) -> Option<Self> {
        let address =
            |address: &Option<PostalAddress>| address.as_ref().map(PostalAddress::redacted);
        let silent = |line: &OrderItem| OrderItem {
            properties: BTreeMap::new(),
            metadata: BTreeMap::new(),
            ..line.clone()
        };
        let next = Self {
            items: self.items.iter().map(silent).collect(),
            metadata: BTreeMap::new(),
            email: None,
            contact: None,
            shipping_address: address(&self.shipping_address),
            billing_address: address(&self.billing_address),
            note: None,
            tax_number: None,
            cancel_reason: None,
            order_token_digest: None,
            guest: None,
            is_email_proven: false,
            ..self.clone()
        };
        (next != *self).then(|| next.changed(now))
    }

    /// The event of its redaction.
    pub fn redacted_event(&self, now: Timestamp) -> Event {
        let (id, customer_id) = (self.id.clone(), self.customer_id.clone());
        let data = OrderRedacted { id, customer_id, redacted_at: now };
        Event::new(&ORDER_REDACTED, self.event_subject(), &data, now)
    }
}

impl Fulfillment {
    /// The fulfilment without its tracking number and page; none if it has neither.
    pub fn redacted(&self, now: Timestamp) -> Option<Self> {
        let tracking = Tracking { number: None, url: None, ..self.tracking.clone() };
        (tracking != self.tracking).then(|| Self { tracking, ..self.changed(now) })
    }
}

impl Refund {
    /// The refund without its note; none if it has none.
    pub fn redacted(&self, now: Timestamp) -> Option<Self> {
        self.note.is_some().then(|| Self { note: None, ..self.changed(now) })
    }
}
