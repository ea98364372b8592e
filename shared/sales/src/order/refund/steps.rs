//! The first and the last step of a refund, on the refund, its order and its payments.

use catalogue::inventory::StockStep;
use core_types::id::{OrderItemId, PaymentId, RefundId};
use core_types::money::Money;
use primitives::clock::Timestamp;
use primitives::problem::Problem;

use super::{Refund, RefundPlan, RefundStatus, RestockType};
use crate::order::aggregate::OrderAggregate;
use crate::order::{ORDER_REFUNDED, ORDER_UPDATED, Order, OrderChange, RefundChange, Units};
use crate::payment::provider::RefundResult;
use crate::payment::{Capabilities, PaymentChange, Transition};

impl OrderAggregate {
    /// The first step: refunds the parts to gift cards, and reserves the rest on the payments. `change` is
    /// another change of the order in the same version, such as its cancellation.
    ///
    /// # Errors
    /// `refund_exceeds_captured`, `payment_not_captured`, `amount_not_supported`.
    pub fn begin_refund(
        &self,
        change: OrderChange,
        plan: &RefundPlan,
        mut refund: Refund,
        now: Timestamp,
    ) -> Result<OrderChange, Problem> {
        let version = self.order.version.saturating_add(1);
        let order = Order { version, ..change.order.reserve_refund(plan, now)? };
        let mut change = OrderChange { order, units: plan.units(), ..change };
        change.cards.extend(plan.to_gift_cards.iter().cloned());
        for (id, amount) in refund.pending() {
            change.payments.push(self.reserve(&mut refund, &id, &amount, now)?);
        }
        let is_done = refund.status == RefundStatus::Succeeded;
        if is_done && !self.has_pending_refund(&refund.id) {
            change.uses.extend(change.order.release_uses());
        }
        change.refund = Some(RefundChange { refund, before: None });
        Ok(change.announced(if is_done { &ORDER_REFUNDED } else { &ORDER_UPDATED }))
    }

    /// Whether a refund other than this one is pending.
    fn has_pending_refund(&self, except: &RefundId) -> bool {
        let mut others = self.refunds.iter().filter(|refund| refund.id != *except);
        others.any(|refund| refund.status == RefundStatus::Pending)
    }

    /// Reserves a part of a refund on its payment. A manual payment is refunded manually, so its part
    /// succeeds at once.
    fn reserve(
        &self,
        refund: &mut Refund,
        id: &PaymentId,
        amount: &Money,
        now: Timestamp,
    ) -> Result<PaymentChange, Problem> {
        let found = self.payment(id)?;
        let reserved = found.begin_refund(&refund.id, amount, now)?;
        if Capabilities::of(found.provider).is_online {
            return Ok(PaymentChange::of(reserved, Transition::RefundBegun));
        }
        let done = Ok(refund.id.to_string());
        refund.mark(id, &done);
        let change = reserved.finish_refund(&refund.id, &done, now);
        let mut change = change
            .ok_or_else(|| Problem::internal("the refund to be completed was not reserved"))?;
        change.payment.version = reserved.version;
        Ok(change)
    }

    /// The last step: records the providers' results. `None` if all of them are known. The order has no refund for
    /// unapplied money; its entry of the payment changes if the refund failed.
    pub fn record_refund(
        &self,
        id: &RefundId,
        results: &[(PaymentId, RefundResult)],
        now: Timestamp,
    ) -> Option<OrderChange> {
        let found = self.refunds.iter().find(|refund| refund.id == *id);
        let mut refund = found.map(|found| found.changed(now));
        let (mut payments, mut rejected) = (Vec::new(), Vec::new());
        let mut is_final = false;
        for (payment, result) in results {
            let Ok(found) = self.payment(payment) else { continue };
            let outcome = match result {
                RefundResult::Pending(reference) => {
                    payments.extend(found.await_refund(id, reference, now));
                    continue;
                }
                RefundResult::Done(reference) => Ok(reference.clone()),
                RefundResult::Rejected(code) => Err(code.clone()),
            };
            let Some(change) = found.finish_refund(id, &outcome, now) else { continue };
            payments.push(change);
            is_final = true;
            if let Some(refund) = &mut refund {
                refund.mark(payment, &outcome);
            }
            if outcome.is_err() {
                rejected.push(payment.clone());
            }
        }
        if payments.is_empty() {
            return None;
        }
        let change = OrderChange { payments, ..OrderChange::none(&self.order) };
        Some(if let Some((refund, found)) = refund.zip(found).filter(|_| is_final) {
            let is_last = !self.has_pending_refund(&refund.id);
            let change = change.with_refund(refund, found.status, &rejected, now);
            if is_last { change.giving_back_uses(now) } else { change }
        } else {
            let unapplied: Vec<_> =
                change.payments.iter().map(|change| change.payment.clone()).collect();
            unapplied.iter().fold(change, |change, payment| change.and_unapplied(payment, now))
        })
    }
}

impl OrderChange {
    /// Adds the new status of a refund, and releases the amounts reserved for `rejected` parts.
    fn with_refund(
        mut self,
        refund: Refund,
        before: RefundStatus,
        rejected: &[PaymentId],
        now: Timestamp,
    ) -> Self {
        if !rejected.is_empty() {
            self.order = self.order.refund_rejected(&refund, rejected, now);
        }
        let is_changed = refund.status != before;
        let topic = match refund.status {
            RefundStatus::Succeeded if is_changed => Some(&ORDER_REFUNDED),
            RefundStatus::Failed if is_changed => Some(&ORDER_UPDATED),
            _ => self.is_order_changed().then_some(&ORDER_UPDATED),
        };
        self.topics.extend(topic);
        self.refund = Some(RefundChange { refund, before: Some(before) });
        self
    }

    /// Gives the order's uses of discounts back if its last refund has succeeded after it ended.
    fn giving_back_uses(mut self, now: Timestamp) -> Self {
        let succeeded = |change: &RefundChange| change.refund.status == RefundStatus::Succeeded;
        if !self.refund.as_ref().is_some_and(succeeded) {
            return self;
        }
        let mut order = self.order.clone();
        let uses = order.release_uses();
        if !uses.is_empty() {
            self.order = if self.is_order_changed() { order } else { order.changed(now) };
            self.uses.extend(uses);
        }
        self
    }
}

impl RefundPlan {
    /// The stock movements of its cancelled and returned units.
    fn units(&self) -> Vec<(StockStep, OrderItemId, Vec<Units>)> {
        let units = self.items.iter().filter_map(|line| {
            let step = match line.restock_type {
                RestockType::NoRestock => return None,
                RestockType::Cancel => StockStep::ReleaseCommitted,
                RestockType::Return => StockStep::Restock,
            };
            Some((step, line.order_item_id.clone(), line.restocked_at.clone()))
        });
        units.collect()
    }
}
