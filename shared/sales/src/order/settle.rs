//! Money comes in, or does not: promise, payment, confirmation by hand, expiry, calling off.
//!
//! Each settlement is recorded in the order under its payment's id. The order is written under
//! its version, so of a verification, a webhook and a sync that race, one writes and the others
//! find the payment settled: one capture, one event, one move of the stock.

use std::time::Duration;

use gateway::clock::Timestamp;
use gateway::problem::{Code, Problem};
use gateway::table::Write;
use ground::event::{Event, Topic};
use ground::id::{GiftCardId, PaymentId, RefundId};
use ground::money::Money;

use super::desk_refund::DeskRefund;
use super::stock::{self, Move, StockHold};
use super::{Order, OrderAction, OrderPayment, OrderStatus, OrderView};
use crate::gift_card;
use crate::order::{ORDER_AUTHORIZED, ORDER_CONFIRMED, ORDER_EXPIRED, ORDER_PAID, ORDER_UPDATED};

/// What a provider says about a payment.
#[derive(Debug, Clone, Copy)]
pub struct Receipt<'a> {
    /// The payment.
    pub payment_id: &'a PaymentId,
    /// Its provider.
    pub provider: &'a str,
    /// How much was promised or taken.
    pub amount: &'a Money,
}

/// What a settlement means for the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The money was promised.
    Authorized,
    /// Some of the money came in.
    PartlyPaid,
    /// All the money came in.
    Paid,
    /// A promise was given up or ran out.
    Lapsed,
    /// The money came after the order was called off or had expired: it is recorded, so that it
    /// can go back, and nothing else happens.
    Late,
}

/// A settled order, and what has to happen with it.
#[derive(Debug, Clone)]
pub struct Settled {
    /// The order at its next version.
    pub order: Order,
    /// What it means.
    pub outcome: Outcome,
    stock: Option<Move>,
}

impl Settled {
    /// The same, with all that is promised besides let go of: the order is paid without it.
    #[must_use]
    pub fn without_promises(mut self) -> Self {
        self.order.void_promises();
        self.order.derive();
        self
    }

    /// The same, with money that has gone back already, at the provider's own desk: one new
    /// version of the order tells both.
    #[must_use]
    pub fn and_refunded(
        self,
        payment: &PaymentId,
        id: &RefundId,
        amount: &Money,
        now: Timestamp,
    ) -> (Self, Option<DeskRefund>) {
        let Some(done) = self.order.refunded_at_desk(payment, id, amount, now) else {
            return (self, None);
        };
        let order = Order { version: self.order.version, ..done.order };
        let done = DeskRefund { order: order.clone(), refund: done.refund };
        (Self { order, ..self }, Some(done))
    }
}

/// Adds a settlement to a transaction: the order, its stock, its event.
pub fn settle(write: Write, settled: &Settled, now: Timestamp) -> Write {
    let write = write.replace(&settled.order, Code::VersionConflict);
    let write = match settled.stock {
        Some(how) => stock::move_all(write, &settled.order, how, now),
        None => write,
    };
    let topic: &Topic<OrderView> = match settled.outcome {
        Outcome::Paid => &ORDER_PAID,
        Outcome::Authorized => &ORDER_AUTHORIZED,
        Outcome::PartlyPaid | Outcome::Lapsed | Outcome::Late => &ORDER_UPDATED,
    };
    let view = OrderView::from(&settled.order);
    write.emit(Event::new(topic, settled.order.about(), &view, now))
}

impl Order {
    /// The provider promises the money. `None` when this payment is known already.
    pub fn authorize(&self, receipt: Receipt<'_>, now: Timestamp) -> Option<Settled> {
        let known = self.payment(receipt.payment_id);
        if known.is_some_and(|known| !known.voided || !known.captured.is_zero()) {
            return None;
        }
        let mut next = self.clone();
        next.payments.retain(|known| known.payment_id != *receipt.payment_id);
        next.payments.push(OrderPayment {
            payment_id: receipt.payment_id.clone(),
            provider: receipt.provider.to_owned(),
            authorized: receipt.amount.clone(),
            captured: Money::zero(&self.currency),
            refunded: Money::zero(&self.currency),
            voided: false,
        });
        Some(self.settled(next, Outcome::Authorized, now))
    }

    /// The provider has taken the money, promised before or not. `Ok(None)` when this payment has
    /// been taken already.
    ///
    /// # Errors
    /// `internal_error` when the sum of what was taken is out of the range of money.
    pub fn settle_payment(
        &self,
        receipt: Receipt<'_>,
        now: Timestamp,
    ) -> Result<Option<Settled>, Problem> {
        let mut next = self.clone();
        let known = next.payments.iter_mut().find(|known| known.payment_id == *receipt.payment_id);
        match known {
            Some(known) if !known.captured.is_zero() => return Ok(None),
            Some(known) => {
                known.captured = receipt.amount.clone();
                known.voided = false;
            }
            None => next.payments.push(OrderPayment {
                payment_id: receipt.payment_id.clone(),
                provider: receipt.provider.to_owned(),
                authorized: receipt.amount.clone(),
                captured: receipt.amount.clone(),
                refunded: Money::zero(&self.currency),
                voided: false,
            }),
        }
        let sum = self.captured.plus(receipt.amount);
        next.captured = sum.ok_or_else(|| Problem::internal("captured out of range"))?;
        let outcome =
            if next.outstanding().is_zero() { Outcome::Paid } else { Outcome::PartlyPaid };
        Ok(Some(self.settled(next, outcome, now)))
    }

    /// `next` with what the coming of money does to an order: a draft becomes an order, and the
    /// stock that was held becomes the order's own.
    fn settled(&self, mut next: Self, outcome: Outcome, now: Timestamp) -> Settled {
        next.payment_failed = false;
        if self.is_over() {
            return Settled { order: next.changed(now), outcome: Outcome::Late, stock: None };
        }
        let stock = next.firm_up();
        Settled { order: next.changed(now), outcome, stock }
    }

    /// Makes the order firm: it no longer expires, and its stock is its own.
    fn firm_up(&mut self) -> Option<Move> {
        if self.status == OrderStatus::Draft {
            self.status = OrderStatus::Open;
        }
        self.expires_at = None;
        if self.stock != StockHold::Reserved {
            return None;
        }
        self.stock = StockHold::Committed;
        Some(Move::Commit)
    }

    /// The promise of a payment was given up or ran out. An order that was firm by nothing else
    /// waits to be paid again, as long as when it was placed. `None` when there is no open promise.
    pub fn void_payment(&self, payment: &PaymentId, now: Timestamp) -> Option<Settled> {
        let mut next = self.clone();
        let known = next.payments.iter_mut().find(|known| known.payment_id == *payment)?;
        known.is_open_authorization().then_some(())?;
        known.voided = true;
        let stock = next.await_payment(now);
        Some(Settled { order: next.changed(now), outcome: Outcome::Lapsed, stock })
    }

    fn void_promises(&mut self) {
        let promised = self.payments.iter_mut().filter(|known| known.is_open_authorization());
        promised.for_each(|known| known.voided = true);
    }

    /// Makes the order wait to be paid again, unless something but a promise has made it firm:
    /// money, the merchant's word, goods that have left. One that is closed waits from when it is
    /// reopened.
    fn await_payment(&mut self, now: Timestamp) -> Option<Move> {
        let is_firm_by_itself = self.has_money()
            || self.confirmed
            || self.outstanding().is_zero()
            || self.items.iter().any(|item| item.fulfilled > 0);
        let stands = matches!(self.status, OrderStatus::Open | OrderStatus::Closed);
        (stands && self.is_firm() && !is_firm_by_itself).then_some(())?;
        self.stock = StockHold::Reserved;
        self.expires_at = self.waits_until(now);
        Some(Move::Uncommit)
    }

    /// When an open order that is not firm expires, if it waits to be paid from now on.
    pub(super) fn waits_until(&self, now: Timestamp) -> Option<Timestamp> {
        let waits = self.status == OrderStatus::Open && self.stock == StockHold::Reserved;
        let window = self.payment_window.map(Duration::from_secs).filter(|_| waits);
        window.map(|window| now.plus(window))
    }

    /// The order that waits as long as its shopper's way to pay may take; none: for ever. `None`
    /// when it waits as long already, or does not wait.
    pub fn waits_for(&self, window: Option<Duration>, now: Timestamp) -> Option<Self> {
        let present = self.expires_at.filter(|_| self.status == OrderStatus::Open)?;
        let until = window.map(|window| now.plus(window));
        let payment_window = window.map(|window| window.as_secs());
        let is_longer = until.is_none_or(|until| until > present);
        (is_longer && payment_window != self.payment_window)
            .then(|| Self { expires_at: until, payment_window, ..self.clone() }.changed(now))
    }

    /// An attempt to pay failed; the shopper may try again. `None` when that says nothing new.
    pub fn payment_failed(&self, now: Timestamp) -> Option<Self> {
        let awaits = matches!(self.status, OrderStatus::Open | OrderStatus::Draft)
            && !self.has_money()
            && !self.payment_failed;
        awaits.then(|| Self { payment_failed: true, ..self.clone() }.changed(now))
    }

    /// The order is to be honoured although its money comes later: cash on delivery, a bank
    /// transfer. Its stock becomes its own, and it no longer expires.
    ///
    /// # Errors
    /// `invalid_state_transition`.
    pub fn confirm(&self, now: Timestamp) -> Result<Confirmed, Problem> {
        self.demand(OrderAction::Confirm)?;
        let mut next = self.clone();
        next.confirmed = true;
        let stock = next.firm_up();
        Ok(Confirmed { order: next.changed(now), stock })
    }

    /// The order that was not paid in time; `None` when it is not to expire now.
    pub fn expire(&self, now: Timestamp) -> Option<Ended> {
        let is_due = self.expires_at.is_some_and(|at| at <= now);
        (is_due && self.status == OrderStatus::Open && !self.has_money()).then_some(())?;
        Some(self.ended(OrderStatus::Expired, None, Move::Release, now))
    }

    /// The order called off. What was reserved or committed goes back; with `restock` off, what
    /// was committed is written off instead. An unpaid order's stock was only held: it always goes
    /// back.
    ///
    /// # Errors
    /// `already_fulfilled`, `invalid_state_transition`.
    pub fn cancel(
        &self,
        reason: Option<String>,
        restock: bool,
        now: Timestamp,
    ) -> Result<Ended, Problem> {
        if self.items.iter().any(|item| item.fulfilled > 0) && self.status == OrderStatus::Open {
            return Err(Code::AlreadyFulfilled.into());
        }
        self.demand(OrderAction::Cancel)?;
        let how = if restock { Move::Release } else { Move::WriteOff };
        Ok(self.ended(OrderStatus::Cancelled, reason, how, now))
    }

    /// The order at its end without having been fulfilled, when nothing but gift cards has paid
    /// for it: they get everything back.
    fn ended(
        &self,
        status: OrderStatus,
        reason: Option<String>,
        how: Move,
        now: Timestamp,
    ) -> Ended {
        let mut next = self.clone();
        next.status = status;
        next.on_hold = false;
        next.expires_at = None;
        next.cancel_reason = reason;
        next.cancelled_at = Some(now);
        // A promise outlives no order; the provider is told after it.
        next.void_promises();
        next.attend(now);
        let mut to_gift_cards = Vec::new();
        // A paid order's money goes back by a refund; an unpaid one's was only set aside.
        if !next.has_money() && !self.totals.due.is_zero() {
            for card in &mut next.gift_cards {
                let back = card.refundable();
                if !back.is_zero() {
                    next.refunded = next.refunded.plus(&back).unwrap_or(next.refunded);
                    card.refunded = card.amount.clone();
                    to_gift_cards.push((card.card_id.clone(), back));
                }
            }
        }
        next.stock = StockHold::Released;
        // What was only set aside goes back, whatever becomes of the order's own.
        let is_gone = how == Move::WriteOff && self.stock == StockHold::Committed;
        for item in &mut next.items {
            let remaining = item.remaining();
            item.call_off(remaining);
            if is_gone {
                item.discarded = item.discarded.saturating_add(remaining);
            }
        }
        let order = next.changed(now);
        Ended { order, before: Box::new(self.clone()), how, to_gift_cards }
    }
}

/// An order that was confirmed by hand.
#[derive(Debug, Clone)]
pub struct Confirmed {
    /// The order at its next version.
    pub order: Order,
    stock: Option<Move>,
}

/// Adds a confirmation by hand to a transaction: the order, its stock, its event; and that it is
/// paid, if gift cards have paid for all of it.
pub fn confirm(write: Write, confirmed: &Confirmed, now: Timestamp) -> Write {
    let write = write.replace(&confirmed.order, Code::VersionConflict);
    let write = match confirmed.stock {
        Some(how) => stock::move_all(write, &confirmed.order, how, now),
        None => write,
    };
    let (order, view) = (&confirmed.order, OrderView::from(&confirmed.order));
    // Gift cards may have paid for all of a draft: it is an order, and paid, from now on.
    let is_paid = order.outstanding().is_zero();
    write
        .emit(Event::new(&ORDER_CONFIRMED, order.about(), &view, now))
        .also(is_paid.then_some(()), |write, ()| {
            write.emit(Event::new(&ORDER_PAID, order.about(), &view, now))
        })
}

/// An order that expired or was called off.
#[derive(Debug, Clone)]
pub struct Ended {
    /// The order at its next version.
    pub order: Order,
    pub(super) before: Box<Order>,
    pub(super) how: Move,
    /// What goes back to gift cards with it.
    pub to_gift_cards: Vec<(GiftCardId, Money)>,
}

/// Adds the end of an order to a transaction: the order, its stock, its gift cards. The event is
/// the caller's to emit.
pub fn end(write: Write, ended: &Ended, now: Timestamp) -> Write {
    let write = write.replace(&ended.order, Code::VersionConflict);
    let write = stock::move_all(write, &ended.before, ended.how, now);
    ended
        .to_gift_cards
        .iter()
        .fold(write, |write, (card, amount)| credit(write, &ended.order, card, amount, now))
}

/// Gives a gift card its money back.
pub(super) fn credit(
    write: Write,
    order: &Order,
    card: &GiftCardId,
    amount: &Money,
    now: Timestamp,
) -> Write {
    let gone = Problem::internal("a gift card that paid for an order is gone");
    gift_card::credit(write, card, amount, (&order.store_id, &order.id), gone, now)
}

/// Adds the expiry of an order to a transaction.
pub fn expire(write: Write, ended: &Ended, now: Timestamp) -> Write {
    let event =
        Event::new(&ORDER_EXPIRED, ended.order.about(), &OrderView::from(&ended.order), now);
    end(write, ended, now).emit(event)
}
