//! Transitions by payment: authorization, capture, voiding, confirmation by the merchant, expiry,
//! cancellation.
//!
//! A payment is recorded in the order by its id, and the order is written on condition of its version. So of
//! a verification, a webhook and a sync that race, one writes and the others find the payment recorded: one
//! capture, one event, one move of stock.

use std::time::Duration;

use core_types::event::Topic;
use core_types::id::PaymentId;
use core_types::money::Money;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};

use super::stock::{OrderStock, StockMove};
use super::{Order, OrderAction, OrderChange, OrderPayment, OrderStatus, OrderView};
use crate::order::{
    ORDER_AUTHORIZED, ORDER_CANCELLED, ORDER_CONFIRMED, ORDER_EXPIRED, ORDER_PAID, ORDER_UPDATED,
};
use crate::payment::PROCESSING_WINDOW;

/// A payment that a provider reports.
#[derive(Debug, Clone, Copy)]
pub struct IncomingPayment<'a> {
    /// The payment.
    pub payment_id: &'a PaymentId,
    /// Its provider.
    pub provider: &'a str,
    /// The amount authorized or captured.
    pub amount: &'a Money,
}

impl Order {
    /// Records an authorization. `None` if the order has this payment already.
    pub fn authorize(&self, receipt: IncomingPayment<'_>, now: Timestamp) -> Option<OrderChange> {
        let entry = self.payment(receipt.payment_id);
        if entry.is_some_and(|entry| !entry.voided || !entry.captured.is_zero()) {
            return None;
        }
        let mut next = self.clone();
        next.payments.retain(|entry| entry.payment_id != *receipt.payment_id);
        next.payments.push(OrderPayment {
            payment_id: receipt.payment_id.clone(),
            provider: receipt.provider.to_owned(),
            authorized: receipt.amount.clone(),
            captured: Money::zero(&self.currency),
            refunded: Money::zero(&self.currency),
            disputed_amount: None,
            voided: false,
        });
        Some(self.with_money(next, &ORDER_AUTHORIZED, now))
    }

    /// Records a capture, authorized before or not. `Ok(None)` if this payment was captured already.
    ///
    /// # Errors
    /// `internal_error` if the captured sum is out of the range of money.
    pub fn apply_payment(
        &self,
        receipt: IncomingPayment<'_>,
        now: Timestamp,
    ) -> Result<Option<OrderChange>, Problem> {
        let mut next = self.clone();
        let entry = next.payments.iter_mut().find(|entry| entry.payment_id == *receipt.payment_id);
        match entry {
            Some(entry) if !entry.captured.is_zero() => return Ok(None),
            Some(entry) => {
                entry.captured = receipt.amount.clone();
                entry.voided = false;
            }
            None => next.payments.push(OrderPayment {
                payment_id: receipt.payment_id.clone(),
                provider: receipt.provider.to_owned(),
                authorized: receipt.amount.clone(),
                captured: receipt.amount.clone(),
                refunded: Money::zero(&self.currency),
                disputed_amount: None,
                voided: false,
            }),
        }
        let sum = self.captured.plus(receipt.amount);
        next.captured = sum
            .ok_or_else(|| Problem::internal("the captured amount of an order is out of range"))?;
        let topic = if next.outstanding().is_zero() { &ORDER_PAID } else { &ORDER_UPDATED };
        Ok(Some(self.with_money(next, topic, now)))
    }

    /// The change to `next` after an authorization or a capture. A draft becomes open, and reserved stock is
    /// committed. An ended order only records the payment, so that it can be refunded.
    fn with_money(
        &self,
        mut next: Self,
        topic: &'static Topic<OrderView>,
        now: Timestamp,
    ) -> OrderChange {
        next.payment_failed = false;
        if self.is_over() {
            return OrderChange::new(self, next.changed(now)).announced(&ORDER_UPDATED);
        }
        let stock = next.make_firm();
        OrderChange::new(self, next.changed(now)).moving(stock).announced(topic)
    }

    /// Makes the order firm: it no longer expires, and its stock is committed. A draft whose hold has ended takes
    /// its stock again.
    pub(super) fn make_firm(&mut self) -> Option<StockMove> {
        let was_draft = self.status == OrderStatus::Draft;
        if was_draft {
            self.status = OrderStatus::Open;
        }
        self.expires_at = None;
        self.stock_held_until = None;
        let how = match self.stock {
            OrderStock::Reserved => StockMove::Commit,
            OrderStock::Released if was_draft => StockMove::Retake,
            OrderStock::Released | OrderStock::Committed => return None,
        };
        self.stock = OrderStock::Committed;
        Some(how)
    }

    /// Records that an authorization was voided or has expired. An order that was firm by nothing else
    /// awaits payment again, for its payment window. `None` if there is no open authorization.
    pub fn void_payment(&self, payment: &PaymentId, now: Timestamp) -> Option<OrderChange> {
        let mut next = self.clone();
        let entry = next.payments.iter_mut().find(|entry| entry.payment_id == *payment)?;
        entry.is_open_authorization().then_some(())?;
        entry.voided = true;
        let stock = next.await_payment(now);
        let change = OrderChange::new(self, next.changed(now)).moving(stock);
        Some(change.announced(&ORDER_UPDATED))
    }

    /// Voids all authorizations.
    pub(super) fn void_authorizations(&mut self) {
        let authorized = self.payments.iter_mut().filter(|entry| entry.is_open_authorization());
        authorized.for_each(|entry| entry.voided = true);
    }

    /// Makes the order await payment again, unless something other than this authorization makes it firm:
    /// another payment, the merchant's confirmation, or fulfilled units. A closed order awaits payment from
    /// its reopening.
    fn await_payment(&mut self, now: Timestamp) -> Option<StockMove> {
        let is_firm_otherwise = self.has_money()
            || self.confirmed
            || self.outstanding().is_zero()
            || self.items.iter().any(|item| item.fulfilled > 0);
        let is_active = matches!(self.status, OrderStatus::Open | OrderStatus::Closed);
        (is_active && self.is_firm() && !is_firm_otherwise).then_some(())?;
        self.stock = OrderStock::Reserved;
        self.expires_at = self.new_expiry(now);
        Some(StockMove::Uncommit)
    }

    /// When an open order that is not firm expires, if it awaits payment from now on.
    pub(super) fn new_expiry(&self, now: Timestamp) -> Option<Timestamp> {
        let awaits_payment = self.status == OrderStatus::Open && self.stock == OrderStock::Reserved;
        let window = self.payment_window.map(Duration::from_secs).filter(|_| awaits_payment)?;
        let least = if self.is_processing() { PROCESSING_WINDOW } else { Duration::ZERO };
        Some(now.plus(window.max(least)))
    }

    /// Extends the expiry to the payment window of the chosen provider; without a window it never expires.
    /// `None` if that is no extension, or the order does not expire.
    pub fn with_payment_window(&self, window: Option<Duration>, now: Timestamp) -> Option<Self> {
        let present = self.expires_at.filter(|_| self.status == OrderStatus::Open)?;
        let until = window.map(|window| now.plus(window));
        let payment_window = window.map(|window| window.as_secs());
        let is_longer = until.is_none_or(|until| until > present);
        (is_longer && payment_window != self.payment_window)
            .then(|| Self { expires_at: until, payment_window, ..self.clone() }.changed(now))
    }

    /// Records that a provider is processing a payment: the order waits for that, as long as
    /// [`PROCESSING_WINDOW`]. `None` if it waits for it already, or has ended.
    pub fn payment_processing(&self, payment: &PaymentId, now: Timestamp) -> Option<OrderChange> {
        (!self.is_over() && !self.processing.contains(payment)).then_some(())?;
        let mut next = self.clone();
        next.processing.push(payment.clone());
        next.was_processing = true;
        next.payment_failed = false;
        let until = now.plus(PROCESSING_WINDOW);
        next.expires_at = next.expires_at.map(|at| at.max(until));
        Some(OrderChange::new(self, next.changed(now)).announced(&ORDER_UPDATED))
    }

    /// The order without this payment among those that are processed, or `None` if it is not. If it waits for
    /// no other, it awaits payment for its payment window again. The version is the same.
    pub(crate) fn without_processing(&self, payment: &PaymentId, now: Timestamp) -> Option<Self> {
        self.processing.contains(payment).then_some(())?;
        let mut next = self.clone();
        next.processing.retain(|one| one != payment);
        if !next.is_processing() && next.expires_at.is_some() {
            next.expires_at = next.new_expiry(now).or(next.expires_at);
        }
        Some(next)
    }

    /// Records a failed payment attempt; the shopper may try again. `None` if that changes nothing.
    pub fn payment_failed(&self, now: Timestamp) -> Option<Self> {
        let awaits = matches!(self.status, OrderStatus::Open | OrderStatus::Draft)
            && !self.has_money()
            && !self.payment_failed;
        awaits.then(|| Self { payment_failed: true, ..self.clone() }.changed(now))
    }

    /// Confirms an order that is paid later, on delivery or by bank transfer. Its stock is committed, and it
    /// no longer expires.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn confirm(&self, now: Timestamp) -> Result<OrderChange, Problem> {
        self.ensure(OrderAction::Confirm)?;
        let mut next = self.clone();
        next.confirmed = true;
        let stock = next.make_firm();
        let change = OrderChange::new(self, next.changed(now)).moving(stock);
        let change = change.announced(&ORDER_CONFIRMED);
        // Gift cards may cover a whole draft: confirming it makes it paid.
        let is_paid = change.order.outstanding().is_zero();
        Ok(if is_paid { change.announced(&ORDER_PAID) } else { change })
    }

    /// Expires an order that was not paid in time. `None` if it is not due.
    pub fn expire(&self, now: Timestamp) -> Option<OrderChange> {
        let is_due = self.expires_at.is_some_and(|at| at <= now);
        let awaits = self.status == OrderStatus::Open && !self.has_money() && !self.is_processing();
        (is_due && awaits).then_some(())?;
        let ended = self.ended(OrderStatus::Expired, None, StockMove::Release, now);
        Some(ended.announced(&ORDER_EXPIRED))
    }

    /// Cancels the order and releases its stock. Without `restock`, committed stock is written off instead;
    /// reserved stock is always released.
    ///
    /// # Errors
    /// `already_fulfilled`, `invalid_state_transition`.
    pub fn cancel(
        &self,
        reason: Option<String>,
        restock: bool,
        now: Timestamp,
    ) -> Result<OrderChange, Problem> {
        if self.items.iter().any(|item| item.fulfilled > 0) && self.status == OrderStatus::Open {
            return Err(Code::AlreadyFulfilled.into());
        }
        self.ensure(OrderAction::Cancel)?;
        let how = if restock { StockMove::Release } else { StockMove::WriteOff };
        let ended = self.ended(OrderStatus::Cancelled, reason, how, now);
        Ok(ended.announced(&ORDER_CANCELLED))
    }

    /// Ends the order before fulfilment. If it was not paid, its gift cards are refunded in full and its uses of
    /// discounts given back. Those of a paid order come back when all of its money has been refunded.
    fn ended(
        &self,
        status: OrderStatus,
        reason: Option<String>,
        how: StockMove,
        now: Timestamp,
    ) -> OrderChange {
        let mut next = self.clone();
        next.status = status;
        next.on_hold = false;
        next.expires_at = None;
        next.stock_held_until = None;
        next.processing = Vec::new();
        next.cancel_reason = reason;
        next.cancelled_at = Some(now);
        // Authorizations end with the order; the provider is called afterwards.
        next.void_authorizations();
        next.schedule_closing(now);
        let mut cards = Vec::new();
        // A paid order is refunded by a refund of its own.
        if !next.has_money() && !self.totals.due.is_zero() {
            for card in &mut next.gift_cards {
                let back = card.refundable();
                if !back.is_zero() {
                    next.refunded = next.refunded.plus(&back).unwrap_or(next.refunded);
                    card.refunded = card.amount.clone();
                    cards.push((card.card_id.clone(), back));
                }
            }
        }
        let uses = next.release_uses();
        next.stock = OrderStock::Released;
        // Reserved stock is released even if committed stock is written off.
        let is_written_off = how == StockMove::WriteOff && self.stock == OrderStock::Committed;
        for item in &mut next.items {
            let remaining = item.remaining();
            item.cancel_units(remaining);
            if is_written_off {
                item.discarded = item.discarded.saturating_add(remaining);
            }
        }
        OrderChange { cards, uses, ..OrderChange::new(self, next.changed(now)).moving(Some(how)) }
    }
}
