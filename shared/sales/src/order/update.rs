//! A merchant's changes of an order that move neither stock nor money.

use std::collections::BTreeMap;

use core_types::fields::Email;
use core_types::id::OrderItemId;
use identity::address::PostalAddress;
use primitives::clock::Timestamp;
use primitives::problem::Problem;

use super::{Order, OrderAction, OrderStatus};

/// The fields to change; a field that is none stays.
#[derive(Debug, Clone, Default)]
pub struct OrderUpdate {
    /// The note; `Some(None)` clears it.
    pub note: Option<Option<String>>,
    /// All tags.
    pub tags: Option<Vec<String>>,
    /// All metadata.
    pub metadata: Option<BTreeMap<String, String>>,
    /// All metadata of these lines.
    pub lines: Vec<(OrderItemId, BTreeMap<String, String>)>,
    /// The address that confirmations are sent to, and its keyed hash ([`Order::guest`]).
    pub email: Option<(Email, String)>,
    /// The shipping address.
    pub shipping_address: Option<PostalAddress>,
}

impl Order {
    /// The order with these changes; `None` if nothing changes.
    ///
    /// # Errors
    /// `invalid_state_transition`: another shipping address after units were fulfilled, or after the order
    /// has ended. `unknown_order_item` as a field error.
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
                Problem::field(
                    &pointer,
                    "unknown_order_item",
                    "There is no such line in the order.",
                )
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

    /// Puts fulfilment on hold.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn held(&self, now: Timestamp) -> Result<Self, Problem> {
        self.ensure(OrderAction::Hold)?;
        Ok(Self { on_hold: true, ..self.clone() }.changed(now))
    }

    /// Releases the hold.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn released(&self, now: Timestamp) -> Result<Self, Problem> {
        self.ensure(OrderAction::Release)?;
        Ok(Self { on_hold: false, ..self.clone() }.changed(now))
    }

    /// Closes the order.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn closed(&self, now: Timestamp) -> Result<Self, Problem> {
        self.ensure(OrderAction::Close)?;
        let (status, closed_at) = (OrderStatus::Closed, Some(now));
        Ok(Self { status, closed_at, on_hold: false, ..self.clone() }.changed(now))
    }

    /// Reopens the order. If the authorization that made it firm was voided meanwhile, it awaits payment.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn reopened(&self, now: Timestamp) -> Result<Self, Problem> {
        self.ensure(OrderAction::Reopen)?;
        let status = OrderStatus::Open;
        let mut next = Self { status, closed_at: None, ..self.clone() };
        next.expires_at = next.new_expiry(now);
        Ok(next.changed(now))
    }
}
