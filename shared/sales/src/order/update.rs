//! What a merchant changes about an order without moving stock or money.

use std::collections::BTreeMap;

use core_types::fields::Email;
use core_types::id::OrderItemId;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use identity::address::PostalAddress;

use super::{Order, OrderAction, OrderStatus};

/// What is to change; what is none stays.
#[derive(Debug, Clone, Default)]
pub struct OrderUpdate {
    /// The note; `Some(None)` clears it.
    pub note: Option<Option<String>>,
    /// All labels.
    pub tags: Option<Vec<String>>,
    /// All of its metadata.
    pub metadata: Option<BTreeMap<String, String>>,
    /// All metadata of these lines.
    pub lines: Vec<(OrderItemId, BTreeMap<String, String>)>,
    /// Where confirmations go, and what that address is known by ([`Order::guest`]).
    pub email: Option<(Email, String)>,
    /// Where it goes.
    pub shipping_address: Option<PostalAddress>,
}

impl Order {
    /// The order with what `update` says; `None` when that is what it is.
    ///
    /// # Errors
    /// `invalid_state_transition`: another address after something has left, or at its end.
    pub fn updated(&self, update: OrderUpdate, now: Timestamp) -> Result<Option<Self>, Problem> {
        let mut next = self.clone();
        if let Some(note) = update.note {
            next.note = note;
        }
        if let Some(tags) = update.tags {
            next.tags = tags;
        }
        if let Some(metadata) = update.metadata {
            next.metadata = metadata;
        }
        for (place, (id, metadata)) in update.lines.into_iter().enumerate() {
            let line = next.items.iter_mut().find(|line| line.id == id).ok_or_else(|| {
                let pointer = format!("/items/{place}/order_item_id");
                Problem::field(&pointer, "unknown_order_item", "Is no line of this order.")
            })?;
            line.metadata = metadata;
        }
        if let Some((email, guest)) = update.email {
            let is_same = next.email.as_ref().map(Email::normalized) == Some(email.normalized());
            next.is_email_proven &= is_same;
            next.email = Some(email);
            next.guest = Some(guest).filter(|_| next.customer_id.is_none());
        }
        if let Some(address) = update.shipping_address {
            let has_left = self.items.iter().any(|item| item.fulfilled > 0);
            if Some(&address) != self.shipping_address.as_ref() && (has_left || self.is_over()) {
                return Err(self.rejects());
            }
            next.shipping_address = Some(address);
        }
        Ok((next != *self).then(|| next.changed(now)))
    }

    /// The order kept from being fulfilled.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn held(&self, now: Timestamp) -> Result<Self, Problem> {
        self.ensure(OrderAction::Hold)?;
        Ok(Self { on_hold: true, ..self.clone() }.changed(now))
    }

    /// The order that may be fulfilled again.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn released(&self, now: Timestamp) -> Result<Self, Problem> {
        self.ensure(OrderAction::Release)?;
        Ok(Self { on_hold: false, ..self.clone() }.changed(now))
    }

    /// The closed order.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn closed(&self, now: Timestamp) -> Result<Self, Problem> {
        self.ensure(OrderAction::Close)?;
        let (status, closed_at) = (OrderStatus::Closed, Some(now));
        Ok(Self { status, closed_at, on_hold: false, ..self.clone() }.changed(now))
    }

    /// The order opened again. When the authorization that had made it firm has run out meanwhile,
    /// it waits to be paid.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn reopened(&self, now: Timestamp) -> Result<Self, Problem> {
        self.ensure(OrderAction::Reopen)?;
        let status = OrderStatus::Open;
        let mut next = Self { status, closed_at: None, ..self.clone() };
        next.expires_at = next.waits_until(now);
        Ok(next.changed(now))
    }
}
