//! Saves a change of an order in one transaction: the order, its stock, gift cards, payments and refund, the
//! total spending of its customer or guest, and the events.
//!
//! The account may have been deleted, and no payment may fail because of that. So the first [`Attempt`] assumes
//! that the account exists, which costs no read. A repeated one loads the account, and skips the spending if
//! there is none. A guest is treated alike.

use catalogue::inventory::StockSteps;
use core_types::event::{Event, Topic};
use core_types::key;
use core_types::mail::Notice;
use core_types::resource::Resource;
use identity::customer::{self, Customer};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::{Item, Key};
use table::{Attempt, Write};

use crate::discount::uses;
use crate::gift_card;
use crate::guest::{self, Guest};
use crate::order::refund::{REFUND_CREATED, REFUND_FAILED, REFUND_SUCCEEDED, RefundStatus};
use crate::order::{
    ORDER_CANCELLED, ORDER_CONFIRMED, ORDER_EXPIRED, Order, OrderChange, OrderStatus, OrderView,
    RefundChange, stock,
};

/// Whether an item is there, or is assumed to be: at the first attempt.
async fn is_there<T: Item>(
    services: &Services,
    key: &Key,
    attempt: Attempt,
) -> Result<bool, Problem> {
    Ok(attempt == Attempt::First || services.table.get::<T>(key).await?.is_some())
}

impl OrderChange {
    /// Adds the whole change to a transaction, with the spending of its customer or guest.
    ///
    /// # Errors
    /// The table does not answer.
    pub async fn save(
        &self,
        services: &Services,
        write: Write,
        attempt: Attempt,
        now: Timestamp,
    ) -> Result<Write, Problem> {
        self.count_spending(services, self.write(write, now), attempt, now).await
    }

    /// Adds the spending by the change to its transaction. An account that was deleted meanwhile leads to
    /// `version_conflict`; a repeated attempt skips it.
    async fn count_spending(
        &self,
        services: &Services,
        write: Write,
        attempt: Attempt,
        now: Timestamp,
    ) -> Result<Write, Problem> {
        let (before, after) = (&self.before, &self.order);
        let more = after.net_revenue().saturating_sub(before.net_revenue());
        let store = &after.store_id;
        match (&after.customer_id, &after.guest) {
            // Who moves to another guest brings the spending along.
            _ if more == 0 || before.guest != after.guest => Ok(write),
            (Some(id), _)
                if is_there::<Customer>(services, &key::customer(store, id), attempt).await? =>
            {
                Ok(customer::count_spent(write, store, id, more, Code::VersionConflict))
            }
            (None, Some(id))
                if is_there::<Guest>(services, &key::guest(store, id), attempt).await? =>
            {
                Ok(guest::count_spent(write, store, id, more, now))
            }
            _ => Ok(write),
        }
    }

    fn write(&self, write: Write, now: Timestamp) -> Write {
        let changed = self.is_order_changed().then_some(&self.order);
        let write =
            write.when_some(changed, |write, order| write.replace(order, Code::VersionConflict));
        let write = self.stock_steps().write(write, now);
        let write = self.payments.iter().fold(write, |write, payment| payment.write(write, now));
        let write = self.cards.iter().fold(write, |write, (card, amount)| {
            let missing = Problem::internal("a gift card that paid for an order is missing");
            let order = (&self.order.store_id, &self.order.id);
            gift_card::credit(write, card, amount, order, missing, now)
        });
        let write = self.uses.iter().fold(write, |write, discount| {
            uses::release(write, &self.order.store_id, &discount.discount_id, &discount.used)
        });
        let write = write
            .when_some(self.refund.as_ref(), |write, refund| refund.write(write, &self.order, now))
            .when_some(self.lines_event.clone(), Write::emit);
        self.topics.iter().fold(write, |write, topic| write.emit(self.event_of(topic, now)))
    }

    /// The steps of its units through stock.
    fn stock_steps(&self) -> StockSteps<'_> {
        let mut steps = StockSteps::new(&self.order.store_id, &self.order.id);
        if let Some(how) = self.stock {
            stock::move_all(&mut steps, &self.before, how);
        }
        for (step, id, units) in &self.units {
            if let Some(item) = self.order.item(id) {
                stock::step_all(&mut steps, *step, item, units);
            }
        }
        steps
    }

    /// The event of a topic, with a mail to the shopper if there is one for it.
    fn event_of(&self, topic: &Topic<OrderView>, now: Timestamp) -> Event {
        let event = self.order.event(topic, now);
        let notice = match topic.name {
            name if name == ORDER_CANCELLED.name => Some(Notice::OrderCancelled),
            name if name == ORDER_EXPIRED.name => Some(Notice::OrderExpired),
            name if self.confirms_with(name) => Some(Notice::OrderPlaced),
            _ => None,
        };
        let notice = notice.filter(|_| self.order.has_listener());
        let requests_payment =
            topic.name == ORDER_CONFIRMED.name && self.order.requires_payment(now);
        match notice.or_else(|| requests_payment.then_some(Notice::PaymentRequested)) {
            Some(notice) => event.with_mail(notice),
            None => event,
        }
    }
}

impl OrderChange {
    /// Whether the event of this name brings the shopper the confirmation that awaited a provider's payment.
    fn confirms_with(&self, name: &str) -> bool {
        let (before, after) = (&self.before, &self.order);
        let is_first = self.topics.first().is_some_and(|first| first.name == name);
        // An authorization that was voided has brought it before, and so has a bank debit that failed.
        let is_confirmed = before.was_processing
            || before.payments.iter().any(|payment| !payment.authorized.is_zero());
        is_first
            && !is_confirmed
            && after.order_token_digest.is_some()
            && after.status == OrderStatus::Open
            && before.awaits_provider()
            && !after.awaits_provider()
    }
}

impl RefundChange {
    fn write(&self, write: Write, order: &Order, now: Timestamp) -> Write {
        let refund = &self.refund;
        let write = match self.before {
            None => {
                write.create(refund, Code::VersionConflict).emit(refund.event(&REFUND_CREATED, now))
            }
            Some(_) => write.replace(refund, Code::VersionConflict),
        };
        match refund.status {
            RefundStatus::Succeeded if self.before != Some(RefundStatus::Succeeded) => {
                let event = refund.event(&REFUND_SUCCEEDED, now);
                let is_mailed = order.has_listener();
                write.emit(if is_mailed { event.with_mail(Notice::OrderRefunded) } else { event })
            }
            RefundStatus::Failed if self.before != Some(RefundStatus::Failed) => {
                write.emit(refund.event(&REFUND_FAILED, now))
            }
            _ => write,
        }
    }
}
